//! A lenient parser of command lines, for rules that deny or ask: it finds the commands that a line seems to run. Its
//! result proves nothing.

use super::Part;
use crate::shell_line::UNKNOWN;

/// The commands that a line seems to run; at least one.
pub(super) fn parts(line: &str) -> Vec<Part> {
    let mut reader = Reader { chars: line.chars().collect(), at: 0, depth: 0, parts: Vec::new() };
    let whole = reader.commands(None) && reader.at == reader.chars.len();
    if !whole || reader.parts.is_empty() {
        reader.parts.push(Part::default());
    }
    reader.parts
}

/// Parses a line from its beginning to its end.
struct Reader {
    chars: Vec<char>,
    at: usize,
    depth: usize,
    parts: Vec<Part>,
}

/// The current command.
#[derive(Default)]
struct Open {
    part: Part,
    word: Option<String>,
    /// Whether the next word is the target of a redirection.
    target: bool,
}

impl Open {
    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else {
            return;
        };
        if !std::mem::take(&mut self.target) {
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

    /// Parses commands up to this character, or to the end. Returns whether they end there.
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

    /// Processes one character. Returns whether the rest can be parsed.
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
            '(' => return self.nested(')', open),
            ')' => return false,
            '<' | '>' => return self.redirection(c, open),
            '#' if open.word.is_none() => {
                while self.peek().is_some_and(|c| c != '\n') {
                    self.at += 1;
                }
            }
            c => open.push(c),
        }
        true
    }

    /// A command line within this one: its commands are parsed, and its output is unknown.
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
            // Quotes of this kind have their own escapes.
            Some('\'' | '"') if !quoted => return false,
            // A variable; braces may contain anything, even a command.
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

    /// `>`, `2>`, `>>`, `<`, `>&1` and similar.
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
            while self.peek().is_some_and(|c| c.is_ascii_digit() || c == '-') {
                self.at += 1;
            }
            return true;
        }
        open.target = true;
        true
    }

    fn close(&mut self, mut open: Open) {
        open.end_word();
        if !open.part.words.is_empty() {
            self.parts.push(open.part);
        }
    }
}
