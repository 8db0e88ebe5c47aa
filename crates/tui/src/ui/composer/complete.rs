//! Completions at the cursor: a command after `/`, a path after `@`. Must never mistake a path at the beginning for a command.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::list::{Item, Value};
use crate::ui::keymap::{Command, Row, TABLE};

/// The command name that is being typed at the start of a text, without its slash.
pub(super) fn command_at(text: &str, cursor: usize) -> Option<&str> {
    let name = text.strip_prefix(['/', ':'])?;
    let is_name = name.chars().all(|c| c.is_alphanumeric() || "-_.:".contains(c));
    (is_name && cursor > 0).then_some(name)
}

/// A typed command with its slash, and its arguments: once its name is complete and something may follow.
pub(super) fn hint(text: &str) -> Option<&'static Row> {
    let (name, _) = text.strip_prefix(['/', ':'])?.split_once(' ')?;
    Some(Command::typed(name)?.row())
}

/// The matching commands: those that begin with the typed text first.
pub(super) fn commands(typed: &str) -> Vec<Item> {
    let rows: Vec<&Row> = TABLE.iter().filter(|row| row.takes.is_some()).collect();
    let names: Vec<&str> = rows.iter().map(|row| row.typed_name()).collect();
    let mut found = rank(typed, &names);
    found.sort_by_key(|at| !names[*at].starts_with(typed));
    found.into_iter().map(|at| item(rows[at])).collect()
}

fn item(row: &'static Row) -> Item {
    let takes = row.takes.filter(|takes| !takes.is_empty()).map(|takes| format!(" {takes}"));
    Item {
        name: format!("/{}{}", row.typed_name(), takes.unwrap_or_default()),
        help: row.help.to_owned(),
        value: Value::Command(row.typed_name()),
    }
}

/// The texts that match the typed one, best first; all in order if nothing was typed.
pub(super) fn rank(typed: &str, texts: &[&str]) -> Vec<usize> {
    if typed.trim().is_empty() {
        return (0..texts.len()).collect();
    }
    let mut matcher = Matcher::new(Config::DEFAULT);
    let pattern = Pattern::parse(typed, CaseMatching::Smart, Normalization::Smart);
    let mut chars = Vec::new();
    let scored = texts.iter().enumerate().filter_map(|(at, text)| {
        pattern.score(Utf32Str::new(text, &mut chars), &mut matcher).map(|score| (score, at))
    });
    let mut scored: Vec<(u32, usize)> = scored.collect();
    scored.sort_by_key(|(score, at)| (std::cmp::Reverse(*score), *at));
    scored.into_iter().map(|(_, at)| at).collect()
}

/// A path that is being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mention {
    /// The position of its `@`.
    pub(super) start: usize,
    /// The text after it.
    pub(super) query: String,
}

/// The path that is being typed at the cursor: after an `@` at the start of a word, also in quotes.
pub(super) fn mention_at(text: &str, cursor: usize) -> Option<Mention> {
    // Here `@` stands for the last message.
    let names_messages = |row: &Row| row.takes.is_some_and(|takes| takes.contains("ENTRY"));
    if hint(text).is_some_and(names_messages) {
        return None;
    }
    let before = &text[..cursor];
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    let quoted = before[line..].rfind("@\"").map(|at| line + at);
    if let Some(start) = quoted
        && begins_word(before, start)
        && !before[start + 2..].contains('"')
    {
        return Some(Mention { start, query: before[start + 2..].to_owned() });
    }
    let word = before
        .rfind(char::is_whitespace)
        .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
    let start = word + before[word..].rfind('@')?;
    let query = &before[start + 1..];
    (begins_word(before, start) && !query.contains('"')).then(|| Mention { start, query: query.to_owned() })
}

fn begins_word(before: &str, start: usize) -> bool {
    before[..start].chars().next_back().is_none_or(|c| c.is_whitespace() || "([{<,;:'\"".contains(c))
}

/// The text of a chosen path: more can follow a folder.
pub(super) fn mention(path: &str, is_folder: bool) -> String {
    let path = if is_folder && !path.ends_with('/') { format!("{path}/") } else { path.to_owned() };
    match (path.contains(char::is_whitespace), is_folder) {
        (true, true) => format!("@\"{path}"),
        (true, false) => format!("@\"{path}\" "),
        (false, true) => format!("@{path}"),
        (false, false) => format!("@{path} "),
    }
}
