//! A strict parser of shell lines: it accepts a line only if it is proven which programs the line starts. The accepted
//! language is a small part of the shell's grammar, chosen so that bash and plain POSIX shells agree on it; everything else
//! is refused. Must never guess, and never run or expand anything.

mod words;

use words::Ending;

/// The deepest nesting of command substitutions.
const DEPTH: usize = 3;

/// A line that is proven plain: it starts the programs of its commands, and no others. It writes no file by itself: it
/// redirects only to `/dev/null` and between open descriptors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlainLine {
    /// Its commands in the order in which they start; those of a command substitution come before the command around them.
    pub commands: Vec<PlainCommand>,
    /// Whether it starts commands in the background, which may outlive it.
    pub has_background: bool,
}

/// A command of a plain line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainCommand {
    /// Its words without quotes. The first one is the name of a program, exactly as the shell looks it up, or of a harmless
    /// builtin.
    pub words: Vec<PlainWord>,
}

/// A word of a plain command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlainWord {
    /// Its text. A value that is only known at run time is a NUL character.
    pub text: String,
    /// The kind of expansion.
    pub kind: WordKind,
}

/// The kind of a word's expansion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum WordKind {
    /// None: the text itself.
    #[default]
    Fixed,
    /// One word or several: file names, alternatives of braces, a home folder.
    Pattern,
    /// Anything: it contains the value of a variable or the output of a command.
    Unknown,
}

/// The placeholder for a value that is only known at run time.
pub(crate) const UNKNOWN: char = '\0';

/// Words that the shell interprets itself. A command with such a name is not plain, unless [`is_harmless`] accepts it.
const OWN: &[&str] = &[
    // Reserved words, including those of ksh and zsh.
    "!",
    "[[",
    "]]",
    "{",
    "}",
    "case",
    "coproc",
    "do",
    "done",
    "elif",
    "else",
    "end",
    "esac",
    "fi",
    "for",
    "foreach",
    "function",
    "if",
    "in",
    "namespace",
    "nocorrect",
    "noglob",
    "repeat",
    "select",
    "then",
    "time",
    "until",
    "while",
    // Builtins.
    ".",
    ":",
    "[",
    "alias",
    "autoload",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "cd",
    "chdir",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "declare",
    "dirs",
    "disown",
    "echo",
    "enable",
    "eval",
    "exec",
    "exit",
    "export",
    "false",
    "fc",
    "fg",
    "getopts",
    "hash",
    "help",
    "hist",
    "history",
    "jobs",
    "kill",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "print",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "test",
    "times",
    "trap",
    "true",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "wait",
    "whence",
];

/// The shell's folder at the beginning of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StartFolder {
    /// The workspace's own folder, to which relative names in rules refer.
    AtRoot,
    /// Another one: relative names of programs mean another file.
    Elsewhere,
}

/// Parses a line that begins in the workspace's own folder. None if it is not proven plain.
pub fn plain_line(line: &str) -> Option<PlainLine> {
    plain_line_in(line, StartFolder::AtRoot)
}

/// Parses a line that begins in this folder. None if it is not proven plain.
pub(crate) fn plain_line_in(line: &str, begins: StartFolder) -> Option<PlainLine> {
    let moved = begins == StartFolder::Elsewhere;
    let mut reader = Reader { chars: line.chars().collect(), at: 0, line: PlainLine::default(), moved };
    reader.commands(0)?;
    Some(reader.line)
}

/// Parses a line from its beginning to its end. Every method returns `None` if the line is not plain.
struct Reader {
    chars: Vec<char>,
    at: usize,
    line: PlainLine,
    /// Whether the shell may have left its folder: relative names of programs mean another file then.
    moved: bool,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn take(&mut self, text: &str) -> bool {
        let is_there = text.chars().enumerate().all(|(ahead, c)| self.peek_at(ahead) == Some(c));
        self.at += if is_there { text.chars().count() } else { 0 };
        is_there
    }

    /// A list of commands: to the end of the line, or in a substitution to its closing bracket.
    fn commands(&mut self, depth: usize) -> Option<()> {
        let is_nested = depth > 0;
        let (mut owed, mut any) = (false, false);
        loop {
            self.between(is_nested)?;
            match self.peek() {
                None => return (!is_nested && !owed).then_some(()),
                Some(')') if is_nested && any && !owed => {
                    self.at += 1;
                    return Some(());
                }
                Some(_) => {}
            }
            self.command(depth)?;
            any = true;
            owed = self.operator()?;
        }
    }

    /// Text between commands: blanks, line ends, comments.
    fn between(&mut self, is_nested: bool) -> Option<()> {
        loop {
            self.blanks()?;
            match self.peek() {
                // Shells disagree where a comment within a substitution ends.
                Some('#') if is_nested => return None,
                Some('#') => self.comment(),
                Some('\n') => self.at += 1,
                _ => return Some(()),
            }
        }
    }

    fn comment(&mut self) {
        while self.peek().is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    /// Spaces, tabs, and escaped line ends before a word.
    fn blanks(&mut self) -> Option<()> {
        loop {
            if self.take("\\\n") {
                // Without a blank in between, the next part belongs to the part before.
                let joins = self.peek().is_some_and(|c| "#<>&|;()".contains(c));
                if joins {
                    return None;
                }
            } else if !matches!(self.peek(), Some(' ' | '\t')) {
                return Some(());
            } else {
                self.at += 1;
            }
        }
    }

    /// The operator after a command. Returns whether another command must follow.
    fn operator(&mut self) -> Option<bool> {
        match self.peek() {
            None | Some(')') => return Some(false),
            Some('\n') => self.at += 1,
            Some(';') if !matches!(self.peek_at(1), Some(';' | '&' | '|')) => self.at += 1,
            Some('&') if self.take("&&") => return Some(true),
            Some('&') => {
                self.at += 1;
                self.line.has_background = true;
            }
            Some('|') if self.peek_at(1) == Some('&') => return None,
            Some('|') => {
                let _ = self.take("||") || self.take("|");
                return Some(true);
            }
            Some(_) => return None,
        }
        Some(false)
    }

    /// A simple command: the name of a program, then words and redirections.
    fn command(&mut self, depth: usize) -> Option<()> {
        let name = self.name()?;
        let mut words = vec![PlainWord { text: name, kind: WordKind::Fixed }];
        loop {
            self.blanks()?;
            match self.ending() {
                Ending::Command => break,
                Ending::Comment if depth > 0 => return None,
                Ending::Comment => {
                    self.comment();
                    break;
                }
                Ending::Redirection => self.redirection()?,
                Ending::Word => words.push(self.word(depth)?),
            }
        }
        let name = words[0].text.as_str();
        if self.moved && name.contains('/') && !name.starts_with('/') {
            return None;
        }
        self.moved |= name == "cd";
        if OWN.contains(&name) && !is_harmless(name, &words[1..]) {
            return None;
        }
        self.line.commands.push(PlainCommand { words });
        Some(())
    }

    /// The name of a program: plain letters, which no shell expands or interprets.
    fn name(&mut self) -> Option<String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./+@:,-[".contains(c);
        let from = self.at;
        while self.peek().is_some_and(is_plain) {
            self.at += 1;
        }
        let name: String = self.chars[from..self.at].iter().collect();
        let ends = self.peek().is_none_or(|c| " \t\n;|&)".contains(c));
        let is_name = name == "[" || !name.contains('[');
        // A file descriptor in the place of a name, or an option.
        (ends && is_name && !name.is_empty() && !name.starts_with('-')).then_some(name)
    }

    /// `2>&1`, `>/dev/null`, `&>/dev/null`, `</dev/null` and similar.
    fn redirection(&mut self) -> Option<()> {
        let is_both = self.take("&");
        if !is_both && self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        let reads = match self.peek()? {
            '<' if !is_both => true,
            '>' => false,
            _ => return None,
        };
        self.at += 1;
        let appends = !reads && !is_both && self.take(">");
        if !appends && !is_both && self.take("&") {
            // Other descriptors may be open and unknown here.
            self.peek().filter(|c| "012-".contains(*c))?;
            self.at += 1;
        } else {
            while matches!(self.peek(), Some(' ' | '\t')) {
                self.at += 1;
            }
            self.take("/dev/null").then_some(())?;
        }
        self.peek().is_none_or(|c| " \t\n;|&)".contains(c)).then_some(())
    }
}

/// Whether a builtin of the shell does only what its name says. Names of variables are not accepted as names: bash
/// evaluates the subscript of `a[…]` in them, which may contain a command.
fn is_harmless(name: &str, words: &[PlainWord]) -> bool {
    let all_fixed = words.iter().all(|word| word.kind == WordKind::Fixed);
    match name {
        ":" | "cd" | "echo" | "false" | "pwd" | "true" => true,
        "exit" | "kill" | "type" => all_fixed,
        "test" | "[" => all_fixed && !words.iter().any(|word| matches!(word.text.as_str(), "-v" | "-R")),
        "printf" => words.first().is_some_and(|format| {
            format.kind == WordKind::Fixed && !format.text.starts_with('-') && prints_only(&format.text)
        }),
        _ => false,
    }
}

/// Whether a format of `printf` stores nothing (`%n`), and has explicit widths.
fn prints_only(format: &str) -> bool {
    let mut rest = format;
    while let Some((_, after)) = rest.split_once('%') {
        let conversion = after.trim_start_matches(|c: char| c.is_ascii_digit() || "-+ #.".contains(c));
        let Some(letter) = conversion.chars().next() else { return false };
        if !"%bcdeEfgGioqsuxX".contains(letter) {
            return false;
        }
        rest = &conversion[1..];
    }
    true
}

#[cfg(test)]
mod tests;
