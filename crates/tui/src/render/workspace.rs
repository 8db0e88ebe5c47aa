//! What is stored of a folder, and what was pruned from it. Must never show a name with terminal control
//! characters.

use retake_wire::english;
use retake_wire::reply::{NotCovered, Pruned, WorkspaceShown};
use retake_wire::request::PruneHow;

use super::files::name;
use super::table::{cell, table};
use super::{id, words};
use crate::text::style::Style;
use crate::text::styled::text;
use crate::text::{Look, Text, safe};

/// The most paths, conversations or calls listed.
const LISTED: usize = 20;

/// What is stored of a folder.
pub fn shown(look: &Look, it: &WorkspaceShown) -> Text {
    let mut text = Text::from(format!(
        "{} {}, since {}\n",
        it.workspace.number,
        name(&it.workspace.folder),
        words::when(look, it.workspace.created_ms)
    ));
    if let Some(problem) = &it.problem {
        text.push(text![(Style::Warn, "!"), format!(" {}\n", safe::line(&english::problem(problem)))]);
    }
    if it.unsettled {
        text.push(text![
            (Style::Warn, "!"),
            " a step in this folder is not finished: `retake doctor --mend` finishes it\n"
        ]);
    }
    let ids: Vec<_> = it.conversations.iter().take(LISTED).map(|one| id::short(one)).collect();
    let more = if it.conversations.len() > ids.len() { ", …" } else { "" };
    let count = words::count(it.conversations.len() as u64, "conversation");
    let colon = if ids.is_empty() { "" } else { ": " };
    text.push(format!("{count}{colon}{}{more}\n", ids.join(", ")));
    text.push(format!(
        "keeps {} for {} and {}: {} before compression\n",
        words::count(it.versions, "version"),
        words::count(it.calls, "command"),
        words::count(it.captures, "capture"),
        size(it.bytes)
    ));
    if !it.checkpoints.is_empty() {
        let names: Vec<_> = it.checkpoints.iter().map(|name| safe::line(name).into_owned()).collect();
        text.push(format!("checkpoints: {}\n", names.join(", ")));
    }
    text.push(format!(
        "covers files up to {}, and up to {} where an ignore file excludes them; no folder that one excludes, no \
         installed packages, no cache\n",
        size(it.max_file),
        size(it.max_ignored)
    ));
    if it.not_covered > 0 {
        text.push(format!("does not cover {}\n", words::count(it.not_covered, "path")));
        let listed = it.examples.iter().take(LISTED);
        let row = |one: &NotCovered| {
            let cause = english::uncovered_cause(&one.cause);
            vec![cell(name(&one.path)), cell(safe::line(&cause).into_owned())]
        };
        let rows: Vec<_> = listed.map(row).collect();
        let shown = rows.len() as u64;
        text.push(table(look, &rows));
        if it.not_covered > shown {
            text.push(format!("… and {} more\n", words::number(it.not_covered - shown)));
        }
    }
    text
}

/// What was forgotten with a folder.
pub fn forgotten(it: &WorkspaceShown) -> String {
    format!(
        "forgot {}: {} and what {} changed there; nothing in the folder has changed\n",
        name(&it.workspace.folder),
        words::count(it.captures, "capture"),
        words::count(it.calls, "command"),
    )
}

/// What was pruned from the stored content, or would be.
pub fn pruned(it: &Pruned) -> Text {
    let done = it.how != PruneHow::Look;
    let (verb, about) = if done { ("freed", "") } else { ("would free", "about ") };
    let mut text = Text::from(format!(
        "{verb} {about}{}: {} that nothing needs, {}\n",
        size(it.freed),
        words::count(it.versions, "version"),
        words::count(it.captures, "old capture")
    ));
    text.push(format!("{}{} stay, of {} that are allowed\n", about, size(it.size), size(it.quota)));
    if !it.let_go.is_empty() {
        let what = if it.how == PruneHow::ToQuota {
            "some files that these commands changed can no longer be rewound"
        } else {
            "to stay within the quota, the data of these commands must be deleted: `retake workspace prune --to-quota` deletes it"
        };
        text.push(text![(Style::Warn, "!"), format!(" {what}\n")]);
        for going in &it.let_go {
            let calls: Vec<_> = going.calls.iter().take(LISTED).map(|one| id::short(one)).collect();
            let more = if going.calls.len() > calls.len() { ", …" } else { "" };
            let count = words::count(going.calls.len() as u64, "command");
            text.push(format!(
                "  conversation {}: {count}: {}{more}\n",
                id::short(&going.conversation),
                calls.join(", ")
            ));
        }
    }
    if it.damaged > 0 {
        let damaged = words::count(it.damaged, "version");
        let line = format!(" {damaged} that is needed is damaged: `retake doctor` says more\n");
        text.push(text![(Style::Error, "!"), line]);
    }
    text
}

/// A number of bytes, for people.
fn size(bytes: u64) -> String {
    let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => {
            let tenths = bytes / (unit / 10);
            format!("{}.{} {name}", tenths / 10, tenths % 10)
        }
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        let sizes = [0, 999, 1_000, 1_960_000, 64 << 20, 10_240_000_000].map(size);
        assert_eq!(sizes, ["0 bytes", "999 bytes", "1.0 kB", "1.9 MB", "67.1 MB", "10.2 GB"]);
    }
}
