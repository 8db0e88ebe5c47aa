//! Text that arrives in pieces, broken at spaces so that the edge of the terminal cuts no word. Must never hold back more than
//! the incomplete word, nor change text that fits.

use crate::text::width;

/// A longer word is not waited for.
const LONGEST: usize = 32;

/// Breaks lines as text arrives; the text must be safe already.
#[derive(Debug)]
pub struct Flow {
    columns: usize,
    /// Used columns on this line.
    used: usize,
    /// Spaces that are printed only if a word follows on this line.
    spaces: String,
    /// The incomplete word.
    word: String,
}

impl Flow {
    /// For lines of this many columns.
    pub fn new(columns: usize) -> Self {
        Self { columns, used: 0, spaces: String::new(), word: String::new() }
    }

    /// The text to print for the next piece.
    pub fn push(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                '\n' => {
                    self.complete(&mut out);
                    self.spaces.clear();
                    out.push('\n');
                    self.used = 0;
                }
                ' ' | '\t' => {
                    self.complete(&mut out);
                    self.spaces.push_str(if c == ' ' { " " } else { "    " });
                }
                c => {
                    self.word.push(c);
                    // Chinese and Japanese text can break between any two characters.
                    if is_wide(c) || self.word.len() > LONGEST {
                        self.complete(&mut out);
                    }
                }
            }
        }
        out
    }

    /// The rest to print at the end.
    pub fn finish(&mut self) -> String {
        let mut out = String::new();
        self.complete(&mut out);
        self.spaces.clear();
        self.used = 0;
        out
    }

    fn complete(&mut self, out: &mut String) {
        let word = std::mem::take(&mut self.word);
        if word.is_empty() {
            return;
        }
        let wide = width::columns(&word);
        let spaces = std::mem::take(&mut self.spaces);
        if self.used > 0 && self.used + spaces.len() + wide > self.columns {
            out.push('\n');
            self.used = 0;
        } else {
            out.push_str(&spaces);
            self.used += spaces.len();
        }
        out.push_str(&word);
        self.used += wide;
        if self.used > self.columns {
            // The terminal broke a word that is wider than itself.
            self.used %= self.columns.max(1);
        }
    }
}

fn is_wide(c: char) -> bool {
    width::columns(c.encode_utf8(&mut [0; 4])) > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flowed(columns: usize, pieces: &[&str]) -> String {
        let mut flow = Flow::new(columns);
        let mut out: String = pieces.iter().map(|piece| flow.push(piece)).collect();
        out.push_str(&flow.finish());
        out
    }

    #[test]
    fn lines_break_at_spaces() {
        for (pieces, expected) in [
            (&["the quick", " brown fox"] as &[_], "the quick\nbrown fox"),
            (&["the qui", "ck br", "own"], "the quick\nbrown"),
            (&["  indented\n\ncode"], "  indented\n\ncode"),
            (&["漢字漢字漢字"], "漢字漢字漢\n字"),
            (&["unbreakable"], "unbreakable"),
            (&["ends \n", "here  "], "ends\nhere"),
        ] {
            assert_eq!(flowed(10, pieces), expected, "{pieces:?}");
        }
    }

    #[test]
    fn word_is_held_back_only_until_it_is_complete() {
        let mut flow = Flow::new(80);
        assert_eq!(flow.push("one tw"), "one");
        assert_eq!(flow.push("o "), " two");
        assert_eq!(flow.push(&"x".repeat(LONGEST + 1)).len(), LONGEST + 2);
    }
}
