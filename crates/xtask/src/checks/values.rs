//! Values of errors are fields: a client makes its own sentence of a code, and cannot read values out of a message.

use crate::finding::Finding;
use crate::source::{Source, closing, places};

/// Makers of errors whose message comes last.
const MAKERS: &[&str] = &["EngineError::new(", "EngineError::usage("];

/// No error of the engine shows a value in its message alone.
pub(crate) fn check(source: &Source) -> Vec<Finding> {
    if source.is_test() || !source.path().contains("/src/") {
        return Vec::new();
    }
    let (code, literals) = (&source.production().code, &source.production().literals);
    let makers =
        MAKERS.iter().flat_map(|maker| places(code, maker).into_iter().map(|at| at + maker.len() - 1));
    let hides = |open: &usize| shows_value(literals, *open, closing(code, *open)) && !has_fields(code, *open);
    let what = "the message shows a value that is no field; add `.with(\"name\", value)`";
    makers.filter(hides).map(|open| source.finding(open, what)).collect()
}

/// Whether the message is made of values: neither a literal, nor a variable that holds one or is a parameter.
fn shows_value(literals: &str, open: usize, close: usize) -> bool {
    let arguments = literals[open + 1..close - 1].trim().trim_end_matches(',');
    if arguments.ends_with('"') {
        return false;
    }
    let last = arguments.rsplit([',', ' ', '\n']).next().unwrap_or_default();
    let before = &literals[literals[..open].rfind("fn ").unwrap_or_default()..open];
    let set = before.rfind(&format!("let {last} = "));
    let set = set.map(|at| before[at..].split_once('=').map_or("", |(_, value)| value.trim_start()));
    set.map_or(arguments.ends_with([')', '?']), |value| !value.starts_with('"'))
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
            (r#"let what = format!("no {name}"); EngineError::usage(what)"#, 1),
            (r#"let what = "no value"; EngineError::usage(what)"#, 0),
            (r#"EngineError::usage(parameter)"#, 0),
            (r#"EngineError { cause, ..EngineError::usage(what()) }.with("name", name)"#, 0),
            (r#"EngineError { cause, fields, ..EngineError::usage(what()) }"#, 0),
            (r#"EngineError { cause, ..EngineError::usage(what()) }"#, 1),
        ];
        for (text, count) in rows {
            let found = check(&Source::new("crates/engine/src/a.rs", &format!("fn a() {{ {text} }}")));
            assert_eq!(found.len(), count, "{text}: {found:?}");
        }
    }
}
