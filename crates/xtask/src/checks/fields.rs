//! A struct stays small enough to understand: a larger one combines unrelated things.

use crate::finding::Finding;
use crate::lex::{Token, tokens};
use crate::source::Source;

/// The most fields of a struct.
const MOST: usize = 15;

/// The root of the settings file has a field for each table; a table in it is not part of another one.
const ROOT: (&str, &str) = ("crates/engine/src/settings/tables.rs", "Settings");

/// Structs with too many fields.
pub(crate) fn check(source: &Source) -> Vec<Finding> {
    if source.is_test() || !source.path().contains("/src/") {
        return Vec::new();
    }
    let tokens = tokens(&source.production().code);
    let mut found = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let Some(name) = tokens.get(index + 1).filter(|_| token.text == "struct") else { continue };
        let fields = fields(&tokens[index + 1..]);
        if fields > MOST && (source.path(), name.text) != ROOT {
            let what =
                format!("`{}` has {fields} fields, at most {MOST}; let parts of it own them", name.text);
            found.push(source.finding(token.at, what));
        }
    }
    found
}

/// The fields of the struct whose name comes first. A colon between a name and a type is a field, at the depth of the
/// braces.
fn fields(tokens: &[Token<'_>]) -> usize {
    let is_body = |token: &Token<'_>| ["{", ";", "("].contains(&token.text);
    let Some(open) = tokens.iter().position(is_body).filter(|at| tokens[*at].text == "{") else { return 0 };
    let mut depth = 0_usize;
    let mut count = 0;
    for token in &tokens[open..] {
        match token.text {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            ":" if depth == 1 => count += 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::{MOST, check};
    use crate::source::Source;

    fn of(fields: usize) -> Source {
        let fields = "    #[a(b: c)]\n    pub(crate) d: e::F<[u8; 4], fn(g: h)>,\n".repeat(fields);
        Source::new(
            "crates/tui/src/a.rs",
            &format!("struct B<C: D> {{\n{fields}}}\nstruct E;\nstruct F(G);\n"),
        )
    }

    #[test]
    fn a_struct_has_at_most_15_fields() {
        assert_eq!(check(&of(MOST)), []);
        let found = check(&of(MOST + 1));
        assert_eq!(
            found[0].to_string(),
            "crates/tui/src/a.rs:1: `B` has 16 fields, at most 15; let parts of it own them"
        );
    }
}
