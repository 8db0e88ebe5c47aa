//! A command line as the commands that it runs, for rules: `a && b | c` is three. It reads as a shell does where that is
//! plain, and says of everything else that it is not: no rule then allows it unasked. Must never run or expand anything.

/// One of the commands of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    /// Its words, without quotes.
    words: Vec<String>,
    /// Whether it is these words and nothing else: it redirects into no file, and is read as every shell reads it.
    pub(super) plain: bool,
}

/// Stands in a word for what is only known when it runs. No rule can hold it.
const UNKNOWN: char = '\0';

/// Commands that run the command that follows, after options of their own.
const WRAPPERS: &[&str] = &[
    "!", "{", "builtin", "chroot", "command", "do", "doas", "elif", "else", "env", "exec", "if", "ionice",
    "nice", "nohup", "setsid", "stdbuf", "sudo", "then", "time", "timeout", "until", "while", "xargs",
];

/// Commands that read a command line from their words.
const SHELLS: &[&str] = &["ash", "bash", "dash", "eval", "fish", "ksh", "sh", "ssh", "su", "watch", "zsh"];

/// How deep command lines within command lines are read; deeper ones are not plain.
const DEPTH: usize = 4;

impl Part {
    /// Whether its first words are these; `*` in one of them stands for any letters.
    pub(super) fn begins(&self, prefix: &str) -> bool {
        begins(&self.words, prefix)
    }

    /// The same for a rule that is to catch it: also behind `sudo`, `env` and the like, and by another path to the program.
    pub(super) fn is_caught(&self, prefix: &str) -> bool {
        let assigned = self.words.iter().take_while(|word| is_assignment(word)).count();
        let words = &self.words[assigned..];
        let wrapped = words.first().is_some_and(|first| WRAPPERS.contains(&base(first)));
        let starts = if wrapped { words.len() } else { 1 };
        (0..starts.min(words.len())).any(|start| {
            let mut based = words[start..].to_vec();
            let found = begins(&based, prefix);
            based[0] = base(&based[0]).to_owned();
            found || begins(&based, prefix)
        })
    }

    /// Its first words, as far as a rule can say them: none that a rule would read otherwise.
    pub(super) fn first_words(&self, count: usize) -> Option<String> {
        let words = self.words.get(..count)?;
        let sayable = |word: &String| {
            !word.is_empty()
                && !word.chars().any(|c| c.is_whitespace() || c.is_control() || matches!(c, '*' | '?'))
        };
        words.iter().all(sayable).then(|| words.join(" "))
    }

    fn is_empty(&self) -> bool {
        self.words.is_empty() && self.plain
    }
}

fn begins(words: &[String], prefix: &str) -> bool {
    let mut words = words.iter();
    prefix.split_whitespace().all(|pattern| words.next().is_some_and(|word| super::glob::word(pattern, word)))
}

fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// The commands of a line.
pub(super) fn parts(line: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    read(line, 0, &mut parts);
    parts
}

fn read(line: &str, depth: usize, parts: &mut Vec<Part>) {
    let first = parts.len();
    let mut reader = Reader { chars: line.chars().collect(), at: 0, depth, parts: Vec::new() };
    let mut whole = reader.commands(None);
    whole &= reader.at == reader.chars.len() && depth <= DEPTH;
    parts.append(&mut reader.parts);
    if !whole {
        // Where the end is not where it seems to be, nothing is what it seems to be.
        parts[first..].iter_mut().for_each(|part| part.plain = false);
        parts.push(Part::default());
    }
    if depth > DEPTH {
        return;
    }
    for at in first..parts.len() {
        let words = &parts[at].words;
        if words.iter().any(|word| SHELLS.contains(&base(word))) {
            let lines: Vec<String> =
                words.iter().filter(|word| word.contains(char::is_whitespace)).cloned().collect();
            for line in lines {
                read(&line, depth + 1, parts);
            }
        }
    }
}

/// Reads a line from its beginning to its end.
struct Reader {
    chars: Vec<char>,
    at: usize,
    depth: usize,
    parts: Vec<Part>,
}

/// The command that is being read.
struct Open {
    part: Part,
    word: Option<String>,
    /// The next word is the target of a redirection.
    target: bool,
}

impl Default for Open {
    fn default() -> Self {
        Self { part: Part { words: Vec::new(), plain: true }, word: None, target: false }
    }
}

impl Open {
    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else {
            return;
        };
        if std::mem::take(&mut self.target) {
            self.part.plain &= word == "/dev/null";
        } else {
            self.part.words.push(word);
        }
    }
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn take(&mut self, c: char) -> bool {
        let is = self.peek() == Some(c);
        self.at += usize::from(is);
        is
    }

    /// Reads commands up to this character, or to the end. Whether they end there.
    fn commands(&mut self, until: Option<char>) -> bool {
        self.depth += 1;
        let mut open = Open::default();
        let mut whole = self.depth < 100;
        while whole {
            let Some(c) = self.next() else {
                break;
            };
            if Some(c) == until {
                self.close(open);
                self.depth -= 1;
                return true;
            }
            whole = self.one(c, &mut open);
        }
        self.close(open);
        self.depth -= 1;
        whole && until.is_none()
    }

    /// Takes up one character. Whether what follows can be read.
    fn one(&mut self, c: char, open: &mut Open) -> bool {
        match c {
            ' ' | '\t' => open.end_word(),
            '\n' | ';' | '|' => self.close(std::mem::take(open)),
            '&' if self.peek() == Some('>') => {}
            '&' => self.close(std::mem::take(open)),
            '\\' => match self.next() {
                Some('\n') => {}
                Some(c) => open.push(c),
                None => return false,
            },
            '\'' => return self.single(open),
            '"' => return self.double(open),
            '`' => return self.nested('`', open),
            '$' => return self.dollar(open, false),
            '(' => {
                open.part.plain = false;
                return self.nested(')', open);
            }
            ')' => return false,
            '<' | '>' => return self.redirection(c, open),
            '#' if open.word.is_none() => {
                while self.peek().is_some_and(|c| c != '\n') {
                    self.at += 1;
                }
                open.part.plain = false;
            }
            c => open.push(c),
        }
        true
    }

    /// A command line within this one: its commands are read, and what it gives is not known.
    fn nested(&mut self, end: char, open: &mut Open) -> bool {
        open.push(UNKNOWN);
        self.commands(Some(end))
    }

    fn dollar(&mut self, open: &mut Open, quoted: bool) -> bool {
        match self.peek() {
            Some('(') => {
                self.at += 1;
                return self.nested(')', open);
            }
            Some('{') => {
                // What stands in braces may be anything, also a command.
                open.part.plain = false;
                open.push(UNKNOWN);
            }
            // Quotes of this kind have escapes of their own.
            Some('\'' | '"') if !quoted => return false,
            _ => open.push(UNKNOWN),
        }
        true
    }

    fn single(&mut self, open: &mut Open) -> bool {
        open.word.get_or_insert_default();
        while let Some(c) = self.next() {
            match c {
                '\'' => return true,
                c => open.push(c),
            }
        }
        false
    }

    fn double(&mut self, open: &mut Open) -> bool {
        open.word.get_or_insert_default();
        while let Some(c) = self.next() {
            let read = match c {
                '"' => return true,
                '`' => self.nested('`', open),
                '$' => self.dollar(open, true),
                '\\' => match self.next() {
                    Some('\n') => true,
                    Some(c) => {
                        open.push(c);
                        true
                    }
                    None => false,
                },
                c => {
                    open.push(c);
                    true
                }
            };
            if !read {
                return false;
            }
        }
        false
    }

    /// `>`, `2>`, `>>`, `<`, `>&1` and their like.
    fn redirection(&mut self, c: char, open: &mut Open) -> bool {
        if open.word.as_ref().is_some_and(|word| word.chars().all(|c| c.is_ascii_digit())) {
            open.word = None;
        }
        open.end_word();
        if self.take('(') {
            return self.nested(')', open);
        }
        while self.take(c) || self.take('|') {}
        if self.take('&') {
            let from = self.at;
            while self.peek().is_some_and(|c| c.is_ascii_digit() || c == '-') {
                self.at += 1;
            }
            open.part.plain &= self.at > from;
            return true;
        }
        // Where no file follows, or what is read follows on lines of its own, nothing is plain.
        open.part.plain &= self.peek().is_some_and(|c| c == ' ' || c == '/');
        open.target = true;
        true
    }

    fn close(&mut self, mut open: Open) {
        open.end_word();
        open.part.plain &= !open.target;
        if !open.part.is_empty() {
            self.parts.push(open.part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> String {
        let part = |part: Part| {
            let words: Vec<_> = part.words.iter().map(|word| word.replace(UNKNOWN, "…")).collect();
            format!("{}{}", words.join("·"), if part.plain { "" } else { "!" })
        };
        parts(line).into_iter().map(part).collect::<Vec<_>>().join(" / ")
    }

    #[test]
    fn lines_are_read_as_a_shell_reads_them() {
        for (line, expected) in [
            ("git push origin", "git·push·origin"),
            ("  git   'push' \"or\"igin ", "git·push·origin"),
            ("a && b || c; d | e & f", "a / b / c / d / e / f"),
            ("a\nb", "a / b"),
            ("a \\\nb", "a·b"),
            ("echo 'a; b' \"c && d\"", "echo·a; b·c && d"),
            ("echo \"$(rm -rf x)\"", "rm·-rf·x / echo·…"),
            ("echo `rm x`", "rm·x / echo·…"),
            ("echo $HOME", "echo·…HOME"),
            ("echo ${x:-$(rm y)}", "rm·y / echo·…{x:-…}!"),
            ("(cd a; rm b)", "cd·a / rm·b / …!"),
            ("diff <(rm a) b", "rm·a / diff·…·b"),
            ("a > b", "a!"),
            ("a >b", "a!"),
            ("a 2>&1 >/dev/null", "a"),
            ("a &> /dev/null", "a"),
            ("a >& b", "a·b!"),
            ("a 2> /dev/null | b", "a / b"),
            ("a < b", "a!"),
            ("a <<EOF\nrm x\nEOF", "a! / rm·x / EOF"),
            ("a # it's\nrm x", "a! / rm·x"),
            ("a#b", "a#b"),
            ("echo 'open", "echo·open! / !"),
            ("echo $'a\\'; rm x'", "echo! / !"),
            ("a ) b", "a! / !"),
            ("sh -c 'rm -rf x; y'", "sh·-c·rm -rf x; y / rm·-rf·x / y"),
            ("eval \"git push\"", "eval·git push / git·push"),
            ("", ""),
        ] {
            assert_eq!(shown(line), expected, "{line}");
        }
    }

    #[test]
    fn what_is_to_be_caught_is_caught_behind_others() {
        let caught = |line: &str| parts(line).iter().any(|part| part.is_caught("git push"));
        for line in [
            "git push",
            "A=1 B=2 git push",
            "sudo -u me git push",
            "/usr/bin/git push",
            "env A=1 /usr/bin/git push",
            "if true; then git push; fi",
            "{ git push; }",
            "bash -c \"cd x && git push\"",
            "sudo sh -c 'git push'",
            "echo $(git push)",
        ] {
            assert!(caught(line), "{line}");
        }
        for line in ["git pushx", "echo git push", "git commit -m 'git push'", "git", "push"] {
            assert!(!caught(line), "{line}");
        }
    }

    #[test]
    fn nesting_without_end_ends() {
        assert!(parts(&"(".repeat(10_000)).iter().all(|part| !part.plain));
        assert!(parts(&"`$(".repeat(10_000)).iter().all(|part| !part.plain));
    }
}
