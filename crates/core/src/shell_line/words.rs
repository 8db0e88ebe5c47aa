//! Words of a plain line: quotes, escapes, patterns, variables and command substitutions. Must never accept a character that
//! could end a quote or word in some shell.

use super::{DEPTH, PlainWord, Reader, UNKNOWN, WordKind};

/// The end of a word.
pub(super) enum Ending {
    Command,
    Comment,
    Redirection,
    Word,
}

impl Reader {
    pub(super) fn ending(&self) -> Ending {
        match self.peek() {
            Some('&') if self.peek_at(1) == Some('>') => Ending::Redirection,
            None | Some('\n' | ';' | '|' | '&' | ')') => Ending::Command,
            Some('#') => Ending::Comment,
            Some('<' | '>') => Ending::Redirection,
            Some(c) if c.is_ascii_digit() && matches!(self.peek_at(1), Some('<' | '>')) => {
                Ending::Redirection
            }
            Some(_) => Ending::Word,
        }
    }

    /// A word.
    pub(super) fn word(&mut self, depth: usize) -> Option<PlainWord> {
        let mut word = PlainWord::default();
        let mut has_brace = false;
        while let Some(c) = self.peek().filter(|c| !" \t\n;|&)".contains(*c)) {
            self.at += 1;
            match c {
                '\'' => self.single(&mut word)?,
                '"' => self.double(&mut word, depth)?,
                '$' => self.dollar(&mut word, depth, false)?,
                '\\' => {
                    let escaped = self.peek().filter(|c| c.is_ascii_graphic() || *c == ' ')?;
                    self.at += 1;
                    word.text.push(escaped);
                }
                '~' if !word.text.is_empty() && !word.text.ends_with([':', '=']) => word.text.push(c),
                '*' | '?' | '[' | '{' | '~' => {
                    has_brace |= c == '{';
                    word.kind = word.kind.max(WordKind::Pattern);
                    word.text.push(c);
                }
                _ if c.is_ascii_alphanumeric() || "_./:,@%+-=^!#]}".contains(c) => word.text.push(c),
                // Redirections without a blank before them, brackets, backticks, letters that are blanks in some locale.
                _ => return None,
            }
        }
        // A substitution within braces runs once for each alternative.
        (!has_brace || word.kind != WordKind::Unknown).then_some(word)
    }

    fn single(&mut self, word: &mut PlainWord) -> Option<()> {
        loop {
            let c = self.peek()?;
            self.at += 1;
            match c {
                '\'' => return Some(()),
                c if is_text(c) => word.text.push(c),
                _ => return None,
            }
        }
    }

    fn double(&mut self, word: &mut PlainWord, depth: usize) -> Option<()> {
        let mut before = '"';
        loop {
            let c = self.peek()?;
            self.at += 1;
            match c {
                '"' => return Some(()),
                // In some encodings a backslash is the second half of a letter.
                '\\' if !before.is_ascii() => return None,
                '\\' => self.escape(word)?,
                '$' => self.dollar(word, depth, true)?,
                '`' => return None,
                c if is_text(c) => word.text.push(c),
                _ => return None,
            }
            before = c;
        }
    }

    /// An escape after a backslash in double quotes.
    fn escape(&mut self, word: &mut PlainWord) -> Option<()> {
        match self.peek()? {
            c @ ('$' | '"' | '\\' | '`') => {
                self.at += 1;
                word.text.push(c);
            }
            // Both characters stay; the second one is ordinary.
            c if c.is_ascii_graphic() || c == ' ' => word.text.push('\\'),
            _ => return None,
        }
        Some(())
    }

    /// The expansion after a dollar sign.
    fn dollar(&mut self, word: &mut PlainWord, depth: usize, is_quoted: bool) -> Option<()> {
        let is_name = |c: char| c.is_ascii_alphabetic() || c == '_';
        match self.peek() {
            Some('(') if self.peek_at(1) != Some('(') && depth < DEPTH => {
                self.at += 1;
                self.commands(depth + 1)?;
            }
            Some('{') => {
                self.at += 1;
                self.peek().filter(|c| is_name(*c))?;
                self.variable();
                self.take("}").then_some(())?;
            }
            Some(c) if is_name(c) => self.variable(),
            Some('?') => self.at += 1,
            // No name follows it.
            Some('"' | ' ' | '|') if is_quoted => {
                word.text.push('$');
                return Some(());
            }
            Some(' ') | None if !is_quoted => {
                word.text.push('$');
                return Some(());
            }
            _ => return None,
        }
        word.text.push(UNKNOWN);
        word.kind = WordKind::Unknown;
        // Some shells continue here.
        self.peek().is_none_or(|c| !"([{".contains(c)).then_some(())
    }

    fn variable(&mut self) {
        while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
            self.at += 1;
        }
    }
}

/// Whether a character is literal within quotes. Control characters have special meanings in shells.
fn is_text(c: char) -> bool {
    !c.is_control() || c == '\n' || c == '\t'
}
