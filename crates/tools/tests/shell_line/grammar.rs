//! Random lines from every production of bash's grammar, and lines with changed letters. The same seed gives the same lines.

/// Pseudo-random numbers.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn below(&mut self, sides: usize) -> usize {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % sides
    }

    fn one_of<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// Productions. A letter in `«»` stands for another production. `L` is a list, `C` a command, `S` a simple command, `W` a
/// word and `P` a part of a word. `Q` is text in double quotes, `R` a redirection, `N` a name, `E` an expression, `B` a
/// builtin.
const LIST: &[&str] = &[
    "«C»",
    "«C»",
    "«C»",
    "«C»; «L»",
    "«C» && «L»",
    "«C» || «L»",
    "«C»\n«L»",
    "«C» & «L»",
    "«C» &",
    "«C»;",
    "«C» | «L»",
    "«C» |& «L»",
    "«C» # «W»\n«L»",
    "# «W»\n«L»",
    "«C» |\n«L»",
    "«C» \\\n«W»",
    "«C»;;",
    "«C»&&«L»",
    "«C»;«L»",
    "\n«L»",
    "«C» 2>&1 | «L»",
    "! «L»",
    "time «L»",
    "time -p «C»",
];
const COMMAND: &[&str] = &[
    "«S»",
    "«S»",
    "«S»",
    "«S»",
    "«S»",
    "«S»",
    "«S»",
    "«S»",
    "«S»",
    "«S»",
    "«B»",
    "«B»",
    "(«L»)",
    "( «L» ) «R»",
    "{ «L»; }",
    "{ «L»; } «R»",
    "if «L»; then «L»; fi",
    "if «L»; then «L»; elif «L»; then «L»; else «L»; fi",
    "while «L»; do break; done",
    "until «L»; do break; done",
    "for «N» in «W» «W»; do «L»; done",
    "for «N»; do «L»; done",
    "for ((«E»; 0; «E»)); do «L»; done",
    "case «W» in «W») «L»;; esac",
    "case «W» in («W»|«W») «L»;& *) «L»;;& esac",
    "[[ «W» = «W» ]]",
    "[[ «W» -eq «E» ]]",
    "((«E»))",
    "f() { «L»; }; f «W»",
    "function f { «L»; }; f",
    "a() ( «L» )",
    "coproc «S»",
    "coproc f { «L»; }",
];
const SIMPLE: &[&str] = &[
    "a",
    "b «W»",
    "c «W» «W»",
    "a «W» «R»",
    "b «R»",
    "«R» a",
    "«N»=«W» a",
    "«N»=«W»",
    "«N»+=«W»",
    "«N»[«E»]=«W» b",
    "«N»=(«W» «W»)",
    "«W» «W»",
    "a «W» «W» «W»",
    "b -«N» «W»",
    "c --«N»=«W»",
    "./«N»",
    "a «R» «R»",
    "a «W» «R» «W»",
    "'a' «W»",
    "\\a",
    "a\\\n«W»",
    "{«N»}>&1",
    "a <<«W»\n«Q»\n«W»",
    "a <<'X'\n«L»\nX\n«L»",
    "a <<X\n«L»\nX\n«L»",
    "a <<-X\n\t«L»\n\tX",
    "cat",
    "git «W»",
];
const BUILTIN: &[&str] = &[
    "echo «W»",
    "echo «W» «W»",
    "printf «W» «W»",
    "printf -v «W» «W»",
    "printf -- «W»",
    "printf '%s' «W»",
    "test «W» «W»",
    "test «W» «W» «W»",
    "test -v «W»",
    "[ «W» ]",
    "[ -v «W» ]",
    "[ «W» -eq «W» ]",
    "cd «W»",
    "cd «W» && «S»",
    ": «W»",
    "true «W»",
    "false",
    "pwd",
    "exit",
    "exit «W»",
    "eval «W»",
    "eval '«L»'",
    "exec «S»",
    "command «S»",
    "builtin «B»",
    ". «W»",
    "source «W»",
    "read «W»",
    "declare «W»",
    "export «N»=«W»",
    "local «W»",
    "let «E»",
    "unset «W»",
    "trap «W» EXIT",
    "alias «N»=«W»",
    "mapfile «W»",
    "set «W»",
    "shopt -s extglob",
    "shift «W»",
    "wait -p «W»",
    "getopts «W» «W»",
    "type «W»",
    "hash -p «W» «W»",
    "readonly «W»",
    "typeset «W»",
    "kill «W»",
    "return",
    "let «W»",
    "printf '%n' «N»",
    "printf '%b%%%d' «W»",
    "printf \"%«N»\" «W»",
    "test -R «W»",
    "[ «W» = «W» ]",
    "enable «W»",
    "umask",
    "times",
];
const WORD: &[&str] = &["«P»", "«P»", "«P»", "«P»«P»", "«P»«P»«P»", "«N»", "-«N»", "«N»=«P»", "x/«N»"];
const PART: &[&str] = &[
    "a",
    "b",
    "x",
    "1",
    "-n",
    "'«Q»'",
    "\"«Q»\"",
    "\"«Q»\"",
    "\"$(«L»)\"",
    "$(«L»)",
    "`«L»`",
    "$«N»",
    "${«N»}",
    "${«N»:-«W»}",
    "${«N»:=«W»}",
    "${«N»:?«W»}",
    "${«N»:+«W»}",
    "${#«N»}",
    "${«N»#«W»}",
    "${«N»/«W»/«W»}",
    "${«N»:«E»}",
    "${!«N»}",
    "${«N»@P}",
    "${«N»[«E»]}",
    "${«N»^^}",
    "$((«E»))",
    "$[«E»]",
    "<(«L»)",
    ">(«L»)",
    "$'«Q»'",
    "$\"«Q»\"",
    "\\«Q»",
    "\\ ",
    "\\;",
    "*",
    "?",
    "[ab]",
    "{a,b}",
    "{1..3}",
    "~",
    "~a",
    "~+",
    "@(a|b)",
    "!(a)",
    "+(a)",
    "'a[$(boom)]'",
    "a[0]",
    "$?",
    "$$",
    "$!",
    "$@",
    "$*",
    "$1",
    "$#",
    "$-",
    "$0",
    "#",
    "a#b",
    "%",
    "^",
    "!",
    ",",
    ":",
    "=",
    "$",
    "''",
    "\"\"",
    "}",
    "{",
    "]",
    "{}",
    "é",
    "$(a; b)",
    "\"$(a \"b\" 'c')\"",
    "$(a $(b))",
    "$x",
    "\"$x\"",
    "$(",
];
const QUOTED: &[&str] = &[
    "a",
    "a b",
    "a; b",
    "a && b",
    "a | b",
    "$x",
    "${x}",
    "$(«L»)",
    "`«L»`",
    "\\$",
    "\\\"",
    "\\\\",
    "\\a",
    "\\`",
    "'",
    "#",
    "!",
    "\n",
    "\t",
    "a > b",
    "é",
    "$",
    "$ ",
    "«Q»«Q»",
    "$((«E»))",
    "%s\\n",
    "é\\",
    "a\\\nb",
    "$'a'",
    "{a,b}",
    "*",
    ")",
    "(",
];
const REDIRECTION: &[&str] = &[
    ">/dev/null",
    "> /dev/null",
    "2>/dev/null",
    "2>&1",
    ">&2",
    "&>/dev/null",
    "</dev/null",
    ">>/dev/null",
    "2>>/dev/null",
    ">&-",
    "<&0",
    ">f",
    "> «W»",
    ">>f",
    "<f",
    "< «W»",
    ">|f",
    "<>f",
    ">&f",
    ">& «W»",
    "&>f",
    "&>>f",
    "2>f",
    "<<<«W»",
    "<<< \"«Q»\"",
    ">&1f",
    "2>&1f",
    "{«N»}>f",
    "12>/dev/null",
    ">/dev/null«P»",
    "> \\\n/dev/null",
    ">&1«P»",
    "<&-",
    "1>&2",
    ">&$x",
    ">$(«L»)",
    "<&0«P»",
];
const NAME: &[&str] = &["a", "b", "x", "y", "HOME", "PATH", "IFS", "PS4", "BASH_ENV", "x1"];
const EXPRESSION: &[&str] = &["1", "x", "x=1", "a[$(boom)]", "a[«E»]", "«E»+«E»", "$(«L»)", "\"x\""];

/// A random line.
pub(super) fn line(dice: &mut Dice) -> String {
    let mut text = String::from("«L»");
    let mut left = 2 + dice.below(24);
    while let Some(at) = text.find('«') {
        let end = at + text[at..].find('»').expect("it closes") + '»'.len_utf8();
        let from = match &text[at + '«'.len_utf8()..end - '»'.len_utf8()] {
            "L" => LIST,
            "C" => COMMAND,
            "S" => SIMPLE,
            "B" => BUILTIN,
            "W" => WORD,
            "P" => PART,
            "Q" => QUOTED,
            "R" => REDIRECTION,
            "N" => NAME,
            _ => EXPRESSION,
        };
        // At the end the first ones, which are the shortest.
        let production = if left == 0 { from[0] } else { dice.one_of(from) };
        left = left.saturating_sub(1);
        text.replace_range(at..end, production);
    }
    text
}

/// Special characters of the shell, and a few other letters.
const LETTERS: &[&str] = &[
    " ", "\t", "\n", "\\", "'", "\"", "`", "$", "(", ")", "{", "}", "[", "]", "<", ">", "&", "|", ";", "#",
    "*", "?", "~", "!", "=", "%", "^", ",", "-", "+", "@", ":", ".", "/", "0", "1", "2", "b", "x", "é", "\r",
    "\u{1}", "\u{7f}", "\u{a0}",
];

/// A line with one to three letters inserted, removed or replaced.
pub(super) fn changed(dice: &mut Dice, lines: &[String]) -> String {
    let line = &lines[dice.below(lines.len())];
    let mut letters: Vec<String> = line.chars().map(String::from).collect();
    for _ in 0..=dice.below(3) {
        let at = dice.below(letters.len() + 1);
        let new = dice.one_of(LETTERS).to_owned();
        match dice.below(4) {
            0 if at < letters.len() => drop(letters.remove(at)),
            1 if at < letters.len() => letters[at] = new,
            2 => letters.insert(at, line.chars().nth(dice.below(line.len())).map_or(new, String::from)),
            _ => letters.insert(at, new),
        }
    }
    letters.concat()
}

/// Places for a run of letters.
pub(super) const PLACES: [&str; 16] = [
    "◦",
    "a◦",
    "a ◦",
    "a ◦ b",
    "a x◦b",
    "a '◦' b",
    "a \"◦\" b",
    "a \"x◦y\" b",
    "a $(b ◦) c",
    "a \"$(b ◦)\" c",
    "a >◦/dev/null b",
    "a >&1◦ b",
    "a 2>/dev/null◦ b",
    "a $◦x b",
    "a \"$◦x\" b",
    "a ◦\nb",
];

/// All runs of letters up to this length.
pub(super) fn runs(length: usize) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut last = all.clone();
    for _ in 0..length {
        last =
            last.iter().flat_map(|run| LETTERS.iter().map(move |letter| format!("{run}{letter}"))).collect();
        all.extend(last.iter().cloned());
    }
    all
}
