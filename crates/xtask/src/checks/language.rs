//! Text for people is in plain English: short sentences, and no words that readers had to look up. Checked
//! are documents, and in source code the texts for users and all doc comments.

use crate::count::{is_counted, test_files};
use crate::finding::Finding;
use crate::lex;
use crate::source::Source;

/// Longer sentences must be split.
const MOST_WORDS: usize = 30;

/// The most lines of the README.
const MOST_LINES: usize = 150;

/// Words that readers did not understand.
const REFUSED: &[&str] = &[
    "afresh",
    "albeit",
    "all else",
    "amiss",
    "anew",
    "are told",
    "at least not for all of them",
    "be it",
    "besides",
    "by leave",
    "follows it at once",
    "for leave",
    "forthwith",
    "gap or double",
    "gives leave",
    "half done",
    "hither",
    "hitherto",
    "in so many words",
    "in vain",
    "is asked for",
    "is said",
    "is told",
    "leave what is",
    "lest",
    "nobody's",
    "none but",
    "notwithstanding",
    "of a flood",
    "of others",
    "said and not captured",
    "state of things",
    "step back back",
    "the end is told",
    "thence",
    "thereby",
    "therein",
    "thereof",
    "thereupon",
    "thither",
    "upon",
    "what is asked",
    "whence",
    "whereby",
    "wherein",
    "who follows",
    "who is told",
    "whoever",
    "whomever",
    "whosoever",
];

/// Crates whose string literals reach a person or a model.
const SPEAKING: &[&str] = &["cli", "core", "engine", "server", "store", "tools", "tui", "wire", "worktree"];

/// Words that begin SQL statements.
const SQL: &[&str] = &[
    "ALTER", "BEGIN", "CREATE", "DELETE", "DROP", "INSERT", "PRAGMA", "SELECT", "UPDATE", "WITH", "WHERE",
    "FROM",
];

/// Checks the language of a document.
pub(crate) fn check(path: &str, text: &str) -> Vec<Finding> {
    let plain = |(line, paragraph): (usize, String)| {
        faults(&paragraph).into_iter().map(move |what| Finding::new(path, line, what))
    };
    paragraphs(text).into_iter().flat_map(plain).collect()
}

/// The faults of a paragraph. Only `.`, `!` and `?` end a sentence.
fn faults(paragraph: &str) -> Vec<String> {
    let mut found = Vec::new();
    for sentence in paragraph.split_inclusive(['.', '!', '?']).fold(Vec::new(), joined) {
        let words = sentence.split_whitespace().count();
        if words > MOST_WORDS {
            let begin: Vec<&str> = sentence.split_whitespace().take(6).collect();
            found.push(format!("a sentence of {words} words, at most {MOST_WORDS}: {} …", begin.join(" ")));
        }
    }
    // Names in code are not part of the text.
    let prose: Vec<&str> = paragraph.split('`').step_by(2).collect();
    let lower = prose.join("`").to_lowercase();
    let is_there = |word: &&&str| {
        lower.match_indices(**word).any(|(at, _)| {
            let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
            edge(lower[..at].chars().next_back()) && edge(lower[at + word.len()..].chars().next())
        })
    };
    found.extend(REFUSED.iter().filter(is_there).map(|word| format!("`{word}` is not plain English")));
    found
}

/// The findings in the source code of a crate, or of all.
pub(crate) fn sources(sources: &[Source], krate: Option<&str>) -> Vec<Finding> {
    let tests = test_files(sources);
    let wanted =
        |source: &&Source| is_counted(source, &tests) && krate.is_none_or(|krate| krate == source.krate());
    let mut found = Vec::new();
    for source in sources.iter().filter(wanted) {
        found.extend(comments(source));
        if SPEAKING.contains(&source.krate()) {
            found.extend(literals(source));
        }
    }
    found
}

/// Doc comments and headers, in paragraphs.
fn comments(source: &Source) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut block = String::new();
    let mut begin = 0;
    for (number, line) in (1..).zip(source.production().comments.lines().chain([""])) {
        let prose = ["///", "//!"].iter().find_map(|mark| line.trim_start().strip_prefix(mark));
        if let Some(prose) = prose {
            if block.is_empty() {
                begin = number;
            }
            block += prose.strip_prefix(' ').unwrap_or(prose);
            block.push('\n');
        } else {
            let in_block = |(line, paragraph): (usize, String)| {
                let place = begin + line - 1;
                faults(&paragraph).into_iter().map(move |what| Finding::new(source.path(), place, what))
            };
            found.extend(paragraphs(&block).into_iter().flat_map(in_block));
            block.clear();
        }
    }
    found
}

/// String literals of several words.
fn literals(source: &Source) -> Vec<Finding> {
    let mut found = Vec::new();
    for token in lex::tokens(&source.production().literals) {
        if !token.is_literal || token.text.split(' ').count() < 3 {
            continue;
        }
        let text = token.text.trim_matches(['r', '#', '"']).replace("\\n", "\n\n").replace("\\\n", " ");
        if is_sql(&text) {
            continue;
        }
        let what = text.split("\n\n").flat_map(faults);
        found.extend(what.map(|what| source.finding(token.at, what)));
    }
    found
}

/// Whether a text is an SQL statement, not prose.
fn is_sql(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    SQL.contains(&first)
}

/// The README is short.
pub(crate) fn readme(text: &str) -> Vec<Finding> {
    let lines = text.lines().count();
    let what = format!("{lines} lines; at most {MOST_LINES} are read");
    if lines > MOST_LINES { vec![Finding::new("README.md", 0, what)] } else { Vec::new() }
}

/// Joins a piece that ends within a word, such as `0.5`, with the next one.
fn joined(mut sentences: Vec<String>, piece: &str) -> Vec<String> {
    match sentences.last_mut() {
        Some(last) if !piece.starts_with(char::is_whitespace) => last.push_str(piece),
        _ => sentences.push(piece.to_owned()),
    }
    sentences
}

/// Prose with the number of its first line, without code. A list item or a table cell is a paragraph of its own.
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
        if is_code || prose.is_empty() || (!is_open && line.starts_with("    ")) {
            is_open = false;
            continue;
        }
        if prose.starts_with('|') {
            found.extend(prose.split('|').map(|cell| (number, cell.trim().to_owned())));
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
    use super::{check, readme, sources};
    use crate::source::Source;

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
        assert_eq!(check("a.md", "A newcomer renews it: `made anew`."), []);
    }

    #[test]
    fn only_a_full_stop_an_exclamation_mark_and_a_question_mark_end_a_sentence() {
        let half = "word ".repeat(16);
        for (sign, found) in [('.', 0), ('!', 0), ('?', 0), (';', 1), (':', 1), (',', 1)] {
            assert_eq!(check("a.md", &format!("{}{sign} {half}", half.trim())).len(), found, "{sign}");
        }
        assert_eq!(check("a.md", &format!("{half}:\n- {half}\n- {half}\n")), []);
    }

    #[test]
    fn code_is_no_prose_and_a_cell_of_a_table_is_a_paragraph() {
        let long = "word ".repeat(40);
        assert_eq!(check("a.md", &format!("```\n{long}\n```\n\n    {long}\n")), []);
        let half = "word ".repeat(20);
        assert_eq!(check("a.md", &format!("| {half} | {half} |\n")), []);
        assert_eq!(check("a.md", &format!("| {half} | {long} |\n")).len(), 1);
        assert_eq!(check("a.md", &format!("- {long}\n")).len(), 1);
    }

    #[test]
    fn texts_and_doc_comments_of_the_source_are_checked() {
        let text = "//! Made anew.\n\n/// Whoever\n/// reads.\nfn a() { b(\"begin it anew now\", \"SELECT it anew now\"); } // anew\n\
                    #[cfg(test)]\nmod tests { fn c() { d(\"begin it anew now\"); } }\n";
        let all = [Source::new("crates/cli/src/a.rs", text), Source::new("crates/bench/src/a.rs", text)];
        let lines: Vec<_> = sources(&all, Some("cli")).iter().map(ToString::to_string).collect();
        let expected = [
            "crates/cli/src/a.rs:1: `anew` is not plain English",
            "crates/cli/src/a.rs:3: `whoever` is not plain English",
            "crates/cli/src/a.rs:5: `anew` is not plain English",
        ];
        assert_eq!(lines, expected);
        assert_eq!(sources(&all, Some("bench")).len(), 2, "bench says nothing to people by literals");
        assert_eq!(sources(&all, None).len(), 5);
    }

    #[test]
    fn the_readme_is_short() {
        assert_eq!(readme(&"x\n".repeat(150)), []);
        assert_eq!(readme(&"x\n".repeat(151)).len(), 1);
    }
}
