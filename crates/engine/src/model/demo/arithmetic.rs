//! The demo's arithmetic: `+ - * /`, or their words, and brackets over decimal numbers.

/// The words for signs.
const WORDS: [(&str, &str); 5] = [
    (" times ", " × "),
    (" multiplied by ", " × "),
    (" divided by ", " ÷ "),
    (" plus ", " + "),
    (" minus ", " − "),
];

/// The first calculation in a text, and its result. `None` if there is none, or it has no result.
pub(super) fn find(text: &str) -> Option<(String, String)> {
    let text = WORDS.iter().fold(text.to_owned(), |text, (word, sign)| text.replace(word, sign));
    let belongs = |c: char| c.is_ascii_digit() || " .+-*/()×·÷−".contains(c);
    let runs = text.split(|c| !belongs(c)).map(|run| run.trim().trim_end_matches('.').trim());
    runs.filter(|run| run.contains(|c: char| c.is_ascii_digit())).find_map(|run| {
        let plain: String = run.chars().filter(|c| *c != ' ').map(ascii).collect();
        let sum = plain.trim_start_matches('-');
        if !sum.contains(['+', '-', '*', '/']) {
            return None;
        }
        Some((run.to_owned(), shown(evaluate(&plain)?)))
    })
}

fn ascii(c: char) -> char {
    match c {
        '×' | '·' => '*',
        '÷' => '/',
        '−' => '-',
        other => other,
    }
}

fn shown(number: f64) -> String {
    let text = format!("{number:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

fn evaluate(text: &str) -> Option<f64> {
    let mut reader = Reader { rest: text, depth: 0 };
    let number = reader.sum()?;
    (reader.rest.is_empty() && number.is_finite()).then_some(number)
}

struct Reader<'a> {
    rest: &'a str,
    depth: u32,
}

impl Reader<'_> {
    fn eat(&mut self, c: char) -> bool {
        let rest = self.rest.strip_prefix(c);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn sum(&mut self) -> Option<f64> {
        let mut left = self.product()?;
        loop {
            if self.eat('+') {
                left += self.product()?;
            } else if self.eat('-') {
                left -= self.product()?;
            } else {
                return Some(left);
            }
        }
    }

    fn product(&mut self) -> Option<f64> {
        let mut left = self.factor()?;
        loop {
            if self.eat('*') {
                left *= self.factor()?;
            } else if self.eat('/') {
                left /= self.factor()?;
            } else {
                return Some(left);
            }
        }
    }

    fn factor(&mut self) -> Option<f64> {
        // A long text of brackets or signs must not overflow the stack.
        self.depth += 1;
        if self.depth > 100 {
            return None;
        }
        let number = if self.eat('-') {
            -self.factor()?
        } else if self.eat('(') {
            let inner = self.sum()?;
            self.eat(')').then_some(inner)?
        } else {
            let end = self.rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(self.rest.len());
            let (number, rest) = self.rest.split_at(end);
            self.rest = rest;
            number.parse().ok()?
        };
        self.depth -= 1;
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_found_and_done() {
        let cases = [
            ("What is 12 * (3 + 4)?", Some(("12 * (3 + 4)", "84"))),
            ("1+1", Some(("1+1", "2"))),
            ("please: 7 / 2.", Some(("7 / 2", "3.5"))),
            ("what is 6 times 7", Some(("6 × 7", "42"))),
            ("8 divided by 2 plus 1 minus 3, please", Some(("8 ÷ 2 + 1 − 3", "2"))),
            ("2 × -3", Some(("2 × -3", "-6"))),
            ("0.1 + 0.2", Some(("0.1 + 0.2", "0.3"))),
            ("in 2024 I wrote 3 books", None),
            ("I said it 3 times already", None),
            ("-5", None),
            ("1 / 0", None),
            ("(1 + 2", None),
        ];
        for (text, expected) in cases {
            let expected = expected.map(|(sum, result)| (sum.to_owned(), result.to_owned()));
            assert_eq!(find(text), expected, "{text}");
        }
        assert_eq!(find(&format!("{}1+1", "(".repeat(100_000))), None);
    }
}
