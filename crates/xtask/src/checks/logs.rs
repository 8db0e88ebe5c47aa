//! What may reach the log: fields of a fixed list, and literal messages. No text of a conversation has a field.

use crate::finding::Finding;
use crate::source::{Source, closing, places};

/// Macros that write to the log, and the fields of `#[instrument]`.
const MACROS: &[&str] =
    &["error!(", "warn!(", "info!(", "debug!(", "trace!(", "info_span!(", "debug_span!(", "fields("];

/// Names of fields. Add one only if its value can never be a text, a path of the user, an argument or a key.
const FIELDS: &[&str] = &[
    "account",
    "action",
    "at",
    "backtrace",
    "cause",
    "code",
    "conversation",
    "data_dir",
    "destination",
    "failure",
    "gone",
    "literal",
    "meaning",
    "ms",
    "operation",
    "outcome",
    "parent",
    "reason",
    "request",
    "requests",
    "seconds",
    "tries",
    "version",
];

/// Every field and message of the log that is not allowed.
pub(crate) fn check(source: &Source) -> Vec<Finding> {
    if source.is_test() || ["xtask", "bench", "fakes", "testkit"].contains(&source.krate()) {
        return Vec::new();
    }
    let views = source.production();
    let mut found = Vec::new();
    for (name, at) in
        MACROS.iter().flat_map(|name| places(&views.code, name).into_iter().map(move |at| (name, at)))
    {
        let is_fields = *name == "fields(";
        if is_fields && !views.code[..at].ends_with("skip_all, ") {
            continue;
        }
        let open = at + name.len() - 1;
        let (mut begin, end) = (open + 1, closing(&views.code, open) - 1);
        for piece in pieces(&views.code[open + 1..end]) {
            let literal = &views.literals[begin..begin + piece.len()];
            begin += piece.len() + 1;
            let field =
                piece.split(['=', ':']).next().unwrap_or_default().trim().trim_start_matches(['%', '?']);
            if field.is_empty() {
                if literal.contains('{') {
                    found.push(
                        source
                            .finding(at, "a message of the log has no values; give them fields of their own"),
                    );
                }
            } else if !FIELDS.contains(&field) {
                let what = format!(
                    "`{field}` is not a field of the log; `checks/logs.rs` has those that hold no text"
                );
                found.push(source.finding(at, what));
            }
        }
    }
    found
}

/// The arguments of a macro.
fn pieces(code: &str) -> Vec<&str> {
    let (mut pieces, mut depth, mut begin) = (Vec::new(), 0_i32, 0);
    for (at, c) in code.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                pieces.push(&code[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    pieces.push(&code[begin..]);
    pieces
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::source::Source;

    #[test]
    fn log_has_fields_of_the_list_and_messages_without_values() {
        let rows = [
            ("tracing::warn!(code, cause = error.for_log(), \"it has failed\");", 0),
            ("tracing::info!(parent: &span, outcome, ms, \"done\");", 0),
            ("info_span!(\"run\", operation = \"run\", %conversation, request);", 0),
            ("tracing::warn!(%error, \"it has failed\");", 1),
            ("tracing::warn!(path = ?path, text, \"it has failed\");", 2),
            ("tracing::warn!(\"it has failed: {error}\");", 1),
            ("#[tracing::instrument(skip_all, fields(operation = \"x\", text = %text))]\nfn a() {}", 1),
            ("#[cfg(test)]\nmod tests { fn a() { tracing::warn!(text); } }", 0),
        ];
        for (code, count) in rows {
            let found = check(&Source::new("crates/engine/src/a.rs", code));
            assert_eq!(found.len(), count, "{code}: {found:?}");
        }
    }
}
