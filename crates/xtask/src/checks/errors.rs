//! The form of errors (style, habit 17): the cause is `source`, and the message does not contain its text.
//! Otherwise a printer of the chain repeats it.

use crate::finding::Finding;
use crate::lex;
use crate::source::{Source, closing, places};

/// No `#[error("…")]` shows the field that is its source.
pub(crate) fn check(source: &Source) -> Vec<Finding> {
    let code = &source.all().code;
    places(code, "#[error(")
        .into_iter()
        .filter(|at| repeats_source(code, &source.all().literals, *at))
        .map(|at| source.finding(at, "the message repeats its source; a chain printer would say it twice"))
        .collect()
}

fn repeats_source(code: &str, literals: &str, attribute: usize) -> bool {
    let open = attribute + "#[error".len();
    let message = &literals[open..closing(code, open)];
    let mut body = closing(code, attribute + 1);
    while code[body..].trim_start().starts_with("#[") {
        let next = body + code[body..].find('[').unwrap_or_default();
        body = closing(code, next);
    }
    let Some(fields) = code[body..]
        .find(['(', '{', ',', ';', '}'])
        .map(|at| body + at)
        .filter(|at| code[*at..].starts_with(['(', '{']))
    else {
        return false;
    };
    source_fields(&code[fields + 1..closing(code, fields) - 1]).iter().any(|name| shows(message, name))
}

/// Names (or numbers) of the fields that are the source.
fn source_fields(fields: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (index, field) in split_fields(fields).iter().enumerate() {
        let mut rest = field.trim_start();
        let mut marked = false;
        while rest.starts_with('#') {
            let end = closing(rest, 1);
            marked |= ["#[from]", "#[source]"].contains(&&rest[..end]);
            rest = rest[end..].trim_start();
        }
        let name = rest
            .split_once(':')
            .filter(|(_, kind)| !kind.starts_with(':'))
            .map(|(name, _)| name.trim().trim_start_matches("pub ").to_owned());
        if marked || name.as_deref() == Some("source") {
            names.push(name.unwrap_or_else(|| index.to_string()));
        }
    }
    names
}

fn split_fields(fields: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut depth = 0_i32;
    let mut start = 0;
    for (at, c) in fields.char_indices() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&fields[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&fields[start..]);
    parts
}

/// Whether a message shows a field: `{name}`, `{name:?}`, or `.name` as an argument.
fn shows(message: &str, name: &str) -> bool {
    let inline = message.match_indices(&format!("{{{name}")).any(|(at, found)| {
        let after = message[at + found.len()..].chars().next();
        !after.is_some_and(lex::is_word)
    });
    inline || !places(message, &format!(".{name}")).is_empty()
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::source::Source;

    #[test]
    fn a_message_never_repeats_its_source() {
        let rows = [
            ("#[error(\"reading: {0}\")]\nRead(#[from] io::Error),", 1),
            ("#[error(\"reading: {0:?}\")]\nRead(#[source] io::Error),", 1),
            ("#[error(\"reading {path}: {source}\")]\nRead { path: String, source: io::Error },", 1),
            (
                "#[error(\"reading {path}: {cause}\")]\nRead { path: String, #[source] cause: Box<X<A, B>> },",
                1,
            ),
            ("#[error(\"reading {}\", .0)]\nRead(#[from] io::Error),", 1),
            ("#[error(\"reading {}\", .source)]\nRead { source: io::Error },", 1),
            ("#[error(\"reading {0}\")]\n#[doc = \"x\"]\nRead(String, #[source] io::Error),", 0),
            ("#[error(\"reading {0}: {1}\")]\nRead(String, #[source] io::Error),", 1),
            ("#[error(\"reading {path}\")]\nRead { path: String, source: io::Error },", 0),
            ("#[error(transparent)]\nRead(#[from] io::Error),", 0),
            ("#[error(\"nothing\")]\nNothing,\n#[error(\"x {0}\")]\nOther(String),", 0),
            ("#[error(\"config {source}\")]\nstruct A { source: io::Error }", 1),
            ("#[error(\"{0}\")]\nUnknown(String),", 0),
        ];
        for (text, count) in rows {
            let found = check(&Source::new("crates/store/src/error.rs", text));
            assert_eq!(found.len(), count, "{text}: {found:?}");
        }
    }
}
