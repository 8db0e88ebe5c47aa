//! The engine's API is the server's only access to the system: its types are the engine's own or core's. So no public item of
//! `engine` names a type of `store`, `worktree` or `tools`, and none of them is exported again.

use std::collections::BTreeSet;

use crate::count::{is_counted, test_files};
use crate::finding::Finding;
use crate::lex::{Token, tokens};
use crate::modules::expand;
use crate::source::Source;

/// Crates behind the wall.
const BEHIND: &[&str] = &["retake_store", "retake_tools", "retake_worktree"];

/// Words before the name of an item.
const KEYWORDS: &[&str] =
    &["use", "fn", "async", "const", "type", "static", "struct", "enum", "trait", "mod"];

/// Items that may: fields of what an engine is made of (`Parts` and the configurations in it, settings), and what only tests reach.
/// Each by its file and its name.
const COMPOSITION: &[(&str, &str)] = &[
    ("crates/engine/src/agent.rs", "guarded"),
    ("crates/engine/src/agent.rs", "sandbox"),
    ("crates/engine/src/agent.rs", "secrets"),
    ("crates/engine/src/agent.rs", "tools"),
    ("crates/engine/src/files.rs", "rules"),
    ("crates/engine/src/outbox/hook.rs", "shell"),
    ("crates/engine/src/lib.rs", "kept"),
    ("crates/engine/src/lib.rs", "store"),
    ("crates/engine/src/places.rs", "guarded"),
    ("crates/engine/src/settings.rs", "secrets"),
    ("crates/engine/src/settings/tables.rs", "network"),
];

/// Public items of `engine` that expose a type behind the wall.
pub(crate) fn check(sources: &[Source]) -> Vec<Finding> {
    let tests = test_files(sources);
    let engine = sources.iter().filter(|source| source.krate() == "engine" && is_counted(source, &tests));
    engine.flat_map(of_file).collect()
}

fn of_file(source: &Source) -> Vec<Finding> {
    let tokens = tokens(&source.production().code);
    let mut hidden: BTreeSet<String> = BEHIND.iter().map(|krate| (*krate).to_owned()).collect();
    let mut found = Vec::new();
    for (index, _) in tokens.iter().enumerate().filter(|(_, token)| token.text == "use") {
        let end = index + tokens[index..].iter().position(|token| token.text == ";").unwrap_or(1);
        for (path, name) in expand(&tokens[index + 1..end]) {
            if path.first().is_some_and(|krate| BEHIND.contains(&krate.as_str())) {
                hidden.insert(name);
            }
        }
    }
    for (index, token) in tokens.iter().enumerate() {
        // `pub(crate)` exposes nothing.
        let is_public = token.text == "pub" && tokens.get(index + 1).is_some_and(|next| next.text != "(");
        let item = if is_public { signature(&tokens[index + 1..]) } else { &[] };
        let is_keyword = |token: &&Token<'_>| KEYWORDS.contains(&token.text);
        let at = item.iter().take_while(is_keyword).count();
        // An item's own name may equal that of a type behind the wall; only its definition counts.
        let own = usize::from(item.first().is_some_and(|first| first.text != "use"));
        let shown = item.iter().skip(at + own).find(|token| hidden.contains(token.text));
        let name = item.get(at);
        if let (Some(shown), Some(name)) = (shown, name)
            && !COMPOSITION.contains(&(source.path(), name.text))
        {
            let what = format!("`{}` of the engine shows `{}`, which is behind it", name.text, shown.text);
            found.push(source.finding(token.at, what));
        }
    }
    found
}

/// An item up to its body, or a field up to its end.
fn signature<'a, 'b>(tokens: &'b [Token<'a>]) -> &'b [Token<'a>] {
    let is_use = tokens.first().is_some_and(|first| first.text == "use");
    let is_struct =
        tokens.first().is_some_and(|first| ["struct", "enum", "trait", "mod"].contains(&first.text));
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate() {
        match token.text {
            "{" if !is_use => return &tokens[..index],
            "(" if is_struct => return &tokens[..index],
            "(" | "[" | "<" => depth += 1,
            ")" | "]" | ">" if depth > 0 => depth -= 1,
            ";" | "}" | ")" | "=" if depth == 0 => return &tokens[..index],
            "," if depth == 0 => return &tokens[..index],
            _ => {}
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::{COMPOSITION, check};
    use crate::source::Source;

    #[test]
    fn the_engine_shows_nothing_that_is_behind_it() {
        let rows = [
            ("pub use retake_store::{Store, StoreError};", 1),
            ("use retake_store::Store;\npub fn inner(&self) -> &Store { x }", 1),
            ("use retake_store as rows;\npub fn a(b: Vec<rows::Row>) {}", 1),
            ("pub struct A { pub b: Option<retake_worktree::Apply>, c: retake_tools::D }", 1),
            ("use retake_store::Store;\npub(crate) fn inner(&self) -> &Store { x }", 0),
            ("use retake_store::Store;\npub fn a() -> u8 { Store::b() }", 0),
            ("use retake_store::rows;\npub struct A { pub rows: u64 }", 0),
            ("use retake_tools::Destination;\npub struct File(Destination);", 0),
            ("use retake_core::Head;\npub fn head() -> Head { x }", 0),
            ("use retake_store::Store;\npub fn kept(&self) -> &Store { x }", 1),
        ];
        for (text, count) in rows {
            let found = check(&[Source::new("crates/engine/src/a.rs", text)]);
            assert_eq!(found.len(), count, "{text}: {found:?}");
        }
        assert_eq!(check(&[Source::new("crates/store/src/a.rs", rows[0].0)]), []);
        let (file, name) = COMPOSITION[0];
        let text = format!("use retake_tools::Guarded;\npub struct A {{ pub {name}: Guarded }}");
        assert_eq!(check(&[Source::new(file, &text)]), [], "only this item of this file may");
    }
}
