//! The place of a key in a JSON text. The text must already be parsed successfully.

/// The line of the last key of that path.
pub(super) fn line_of(text: &str, path: &[&str]) -> Option<usize> {
    let mut walk = Walk { text, at: 0, found: None };
    walk.value(Some(path));
    walk.found.map(|at| 1 + text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count())
}

struct Walk<'a> {
    text: &'a str,
    at: usize,
    found: Option<usize>,
}

impl Walk<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips blanks and separators.
    fn skip(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace() || byte == b',' || byte == b':') {
            self.at += 1;
        }
    }

    /// Skips a value; `path` is searched for inside, if given.
    fn value(&mut self, path: Option<&[&str]>) {
        self.skip();
        match self.peek() {
            Some(b'{') => self.inside(b'}', path),
            Some(b'[') => self.inside(b']', None),
            Some(b'"') => {
                self.string();
            }
            _ => {
                while self.peek().is_some_and(|byte| !b",]} \t\r\n".contains(&byte)) {
                    self.at += 1;
                }
            }
        }
    }

    fn inside(&mut self, end: u8, path: Option<&[&str]>) {
        self.at += 1;
        loop {
            self.skip();
            match self.peek() {
                None => return,
                Some(byte) if byte == end => {
                    self.at += 1;
                    return;
                }
                Some(_) if end == b']' => self.value(None),
                Some(_) => self.field(path),
            }
        }
    }

    fn field(&mut self, path: Option<&[&str]>) {
        let start = self.at;
        let key = self.string();
        let below = match path {
            Some([first, rest @ ..]) if key.as_deref() == Some(*first) => {
                if rest.is_empty() {
                    self.found = Some(start);
                }
                Some(rest).filter(|rest| !rest.is_empty())
            }
            _ => None,
        };
        self.value(below);
    }

    fn string(&mut self) -> Option<String> {
        let start = self.at;
        self.at += 1;
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'"' => break,
                b'\\' => self.at += 1,
                _ => {}
            }
        }
        serde_json::from_str(self.text.get(start..self.at)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::line_of;

    #[test]
    fn a_key_is_found_on_its_line() {
        let text = "{\n  \"a\": [1, {\"b\": \"}\"}],\n  \"b\": {\n    \"c \\\"\": true,\n    \"d\": null\n  },\n  \"a\": 2\n}";
        let rows = [
            (&["a"][..], Some(7)),
            (&["b"], Some(3)),
            (&["b", "c \""], Some(4)),
            (&["b", "d"], Some(5)),
            (&["d"], None),
            (&["a", "b"], None),
        ];
        for (path, line) in rows {
            assert_eq!(line_of(text, path), line, "{path:?}");
        }
    }
}
