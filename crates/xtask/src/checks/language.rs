//! Documents for users are in plain English: short sentences, and none of the words that readers had to look up.

use crate::finding::Finding;

/// Sentences of more words are split.
const MOST_WORDS: usize = 30;

/// The README stays short enough to be read at once.
const MOST_LINES: usize = 150;

/// Words that stand in the way of a reader.
const REFUSED: &[&str] =
    &["whoever", "anew", "wherein", "thereof", "thereby", "of others", "gives leave", "amiss", "hither"];

/// Whether the language of a document is plain.
pub(crate) fn check(path: &str, text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    for (line, paragraph) in paragraphs(text) {
        for sentence in paragraph.split_inclusive(['.', '!', '?', ';', ':']).fold(Vec::new(), joined) {
            let words = sentence.split_whitespace().count();
            if words > MOST_WORDS {
                let begin: Vec<&str> = sentence.split_whitespace().take(6).collect();
                let what =
                    format!("a sentence of {words} words, at most {MOST_WORDS}: {} …", begin.join(" "));
                found.push(Finding::new(path, line, what));
            }
        }
        let lower = format!(" {} ", paragraph.to_lowercase());
        let is_there = |word: &&&str| {
            lower.match_indices(**word).any(|(at, _)| {
                let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
                edge(lower[..at].chars().next_back()) && edge(lower[at + word.len()..].chars().next())
            })
        };
        let refused = REFUSED.iter().filter(is_there);
        found.extend(refused.map(|word| Finding::new(path, line, format!("`{word}` is no plain English"))));
    }
    found
}

/// The README is short.
pub(crate) fn readme(text: &str) -> Vec<Finding> {
    let lines = text.lines().count();
    let what = format!("{lines} lines; at most {MOST_LINES} are read");
    if lines > MOST_LINES { vec![Finding::new("README.md", 0, what)] } else { Vec::new() }
}

/// Joins pieces that end within a word, as `0.5` does, with the next one.
fn joined(mut sentences: Vec<String>, piece: &str) -> Vec<String> {
    match sentences.last_mut() {
        Some(last) if !piece.starts_with(char::is_whitespace) => last.push_str(piece),
        _ => sentences.push(piece.to_owned()),
    }
    sentences
}

/// Prose with the number of its first line; without code and tables. An item of a list is a paragraph of its own.
fn paragraphs(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let (mut is_code, mut is_open) = (false, false);
    for (number, line) in (1..).zip(text.lines()) {
        let prose = line.trim();
        if prose.starts_with("```") {
            is_code = !is_code;
            is_open = false;
            continue;
        }
        let begins = ["- ", "* ", "#", "1. ", "2. ", "3. ", "4. ", "5. ", "6. "]
            .iter()
            .any(|it| prose.starts_with(it));
        if is_code || prose.is_empty() || prose.starts_with('|') || (!is_open && line.starts_with("    ")) {
            is_open = false;
            continue;
        }
        match found.last_mut().filter(|_| is_open && !begins) {
            Some((_, paragraph)) => *paragraph += &format!(" {prose}"),
            None => found.push((number, prose.to_owned())),
        }
        is_open = true;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{check, readme};

    #[test]
    fn long_sentences_and_old_words_are_found() {
        let long = "word ".repeat(31);
        assert_eq!(
            check("a.md", &format!("Short.\n\n{long}.\n"))[0].to_string().split(": ").next(),
            Some("a.md:3")
        );
        assert_eq!(
            check("a.md", &format!("{}. {}.", "word ".repeat(30).trim(), "word ".repeat(30).trim())),
            []
        );
        assert_eq!(check("a.md", "Whoever reads this\nbegins anew.").len(), 2);
        assert_eq!(check("a.md", "A newcomer renews it."), []);
    }

    #[test]
    fn code_and_tables_are_no_prose() {
        let long = "word ".repeat(40);
        assert_eq!(check("a.md", &format!("```\n{long}\n```\n\n    {long}\n\n| {long} |\n")), []);
        assert_eq!(check("a.md", &format!("- {long}\n")).len(), 1);
    }

    #[test]
    fn the_readme_is_short() {
        assert_eq!(readme(&"x\n".repeat(150)), []);
        assert_eq!(readme(&"x\n".repeat(151)).len(), 1);
    }
}
