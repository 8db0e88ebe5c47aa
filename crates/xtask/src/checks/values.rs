//! Values of errors are fields: a client makes its own sentence of a code, and cannot read values out of a message.

use crate::finding::Finding;
use crate::source::{Source, closing, places};

/// Makers of errors in the folder of a crate, and which of their arguments is the message.
const MAKERS: &[(&str, &str, usize)] = &[
    ("crates/engine/src/", "EngineError::new(", 2),
    ("crates/engine/src/", "EngineError::usage(", 0),
    ("crates/server/src/", "EngineError::new(", 2),
    ("crates/server/src/", "EngineError::usage(", 0),
    ("crates/server/src/", "misused(", 1),
    ("crates/server/src/", "bad(", 1),
    ("crates/server/src/", "bad_request(", 1),
];

/// No error of the engine or the server shows a value in its message alone.
pub(crate) fn check(source: &Source) -> Vec<Finding> {
    if source.is_test() {
        return Vec::new();
    }
    let (code, literals) = (&source.production().code, &source.production().literals);
    let what = "the message shows a value that is not a field; add `.with(\"name\", value)`";
    let mut found = Vec::new();
    for (_, maker, message) in MAKERS.iter().filter(|(folder, ..)| source.path().starts_with(folder)) {
        for at in places(code, maker) {
            let open = at + maker.len() - 1;
            let is_call = !code[..at].ends_with("fn ") && !code[..at].ends_with(is_of_name);
            if is_call && shows_value(code, literals, open, *message) && !has_fields(code, open) {
                found.push(source.finding(open, what));
            }
        }
    }
    found
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether the message is made of values: neither a literal, nor a variable that holds one or is a parameter.
fn shows_value(code: &str, literals: &str, open: usize, message: usize) -> bool {
    let Some(argument) = argument(code, literals, open, message) else { return false };
    if argument.ends_with('"') {
        return false;
    }
    let before = &literals[literals[..open].rfind("fn ").unwrap_or_default()..open];
    let set = before.rfind(&format!("let {argument} = "));
    let set = set.map(|at| before[at..].split_once('=').map_or("", |(_, value)| value.trim_start()));
    set.map_or(argument.ends_with([')', '?']), |value| !value.starts_with('"'))
}

/// The argument with this number of a call, counted from 0.
fn argument<'a>(code: &str, literals: &'a str, open: usize, number: usize) -> Option<&'a str> {
    let close = closing(code, open) - 1;
    let mut depth = 0;
    let commas = code[open + 1..close].char_indices().filter_map(|(at, c)| {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        (depth == 0 && c == ',').then_some(open + 1 + at)
    });
    let ends: Vec<usize> = std::iter::once(open).chain(commas).chain([close]).collect();
    let (from, to) = (ends.get(number)?, ends.get(number + 1)?);
    Some(literals[from + 1..*to].trim()).filter(|argument| !argument.is_empty())
}

/// Whether the expression, or the struct that it completes, sets fields.
fn has_fields(code: &str, open: usize) -> bool {
    let start = code[..open].rfind(';').unwrap_or_default();
    let name = code[..open].trim_end_matches(|c: char| c.is_alphanumeric() || c == ':' || c == '_');
    let mut depth = i32::from(name.ends_with(".."));
    if depth == 1 && code[start..open].contains("fields") {
        return true;
    }
    let end = code[open..].char_indices().find(|(_, c)| {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        depth < 0 || (depth == 0 && matches!(c, ',' | ';'))
    });
    let end = end.map_or(code.len(), |(at, _)| open + at);
    code[open..end].contains(".with(")
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::source::Source;

    #[test]
    fn value_in_a_message_is_a_field_too() {
        let rows = [
            (r#"EngineError::new(kind, "a", "no value")"#, 0),
            (r#"EngineError::new(kind, "a", format!("no {name}"))"#, 1),
            (r#"EngineError::new(kind, "a", format!("no {name}")).with("name", name)"#, 0),
            (r#"EngineError::usage(format!("no {name}")).hint("x"), b.with("name", name)"#, 1),
            (r#"EngineError::usage(error.to_string())"#, 1),
            (r#"Err(EngineError::usage(format!("no {name}, {rest}")))"#, 1),
            (r#"bad("code", format!("no {name}"), "name one")"#, 1),
            (r#"bad("code", "no value", &hint(name))"#, 0),
            (r#"misused("a", name.to_string(), "name one").with("name", name)"#, 0),
            (r#"misused("a", name.to_string(), "name one")"#, 1),
            (r#"bad_request("a", name.to_string(), "name one")"#, 1),
            (r#"is_bad(code, name.to_string())"#, 0),
            (r#"let what = format!("no {name}"); EngineError::usage(what)"#, 1),
            (r#"let what = "no value"; EngineError::usage(what)"#, 0),
            (r#"EngineError::usage(parameter)"#, 0),
            (r#"EngineError { cause, ..EngineError::usage(what()) }.with("name", name)"#, 0),
            (r#"EngineError { cause, fields, ..EngineError::usage(what()) }"#, 0),
            (r#"EngineError { cause, ..EngineError::usage(what()) }"#, 1),
        ];
        for (text, count) in rows {
            let found = check(&Source::new("crates/server/src/a.rs", &format!("fn a() {{ {text} }}")));
            assert_eq!(found.len(), count, "{text}: {found:?}");
        }
    }
}
