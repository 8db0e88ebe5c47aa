//! What happens to files, before and after an action. Shows a name with an escape for terminal control characters. Must never
//! print a raw name.

use retake_wire::reply::{Captures, Workspaces};
use retake_wire::{FileCounts, FilesDone, FilesPlan, LeftPath, english};

use super::table::{cell, table};
use super::words;
use crate::hint::Audience;
use crate::text::style::Style;
use crate::text::styled::text;
use crate::text::{Look, Text, safe};

mod plan;

pub(crate) use plan::{
    Group, IF_NOT_LEFT, NOT_ALL, NOTHING, after_choice, alone, groups, left_alone, others, plan_or,
    uncertain, why,
};
pub use plan::{choice_name, choices, diff, diff_lines, plan};

/// The most lines shown of files that were left alone.
const SHOWN: usize = 20;

/// A path on one line, with escapes for control characters.
pub fn name(path: &str) -> String {
    let mut shown = String::with_capacity(path.len());
    for c in path.chars() {
        if c.is_control() || safe::acts_on_terminal(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// The number of files that change.
pub(crate) fn changed(counts: FileCounts) -> u64 {
    counts.reverted + counts.deleted + counts.recreated + counts.merged
}

/// The file part of a plan in a few words.
pub fn brief(plan: &FilesPlan) -> String {
    let mut pieces = counted(plan.counts);
    if plan.conflicts > 0 {
        pieces.push(format!("{} in conflict", words::number(plan.conflicts)));
    }
    if plan.left > 0 {
        pieces.push(format!("{} left alone", words::number(plan.left)));
    }
    if pieces.is_empty() { "no file changes".to_owned() } else { format!("files: {}", pieces.join(", ")) }
}

/// What happened to files, in a few lines.
pub fn done(done: &FilesDone) -> Text {
    let pieces = counted(done.counts);
    let mut text = Text::from(match pieces.is_empty() {
        true => "files: none changed\n".to_owned(),
        false => format!("files: {}\n", pieces.join(", ")),
    });
    let left = |it: &LeftPath| english::left_path(&it.name.path, &it.cause, &it.kept);
    let left: Vec<String> = done.left_paths.iter().map(left).collect();
    let notes: Vec<String> = done.conditions.iter().map(|it| Audience::Shell.condition(it)).collect();
    for (title, lines) in [("left alone", &left), ("note", &notes)] {
        for line in lines.iter().take(SHOWN) {
            let line = format!("  {title}: {}", safe::line(line));
            text.push(text![(Style::Warn, line), "\n"]);
        }
        if lines.len() > SHOWN {
            let more = words::number((lines.len() - SHOWN) as u64);
            text.push(format!("    … and {more} more\n"));
        }
    }
    text
}

fn counted(counts: FileCounts) -> Vec<String> {
    let all = [
        (counts.reverted, "reverted"),
        (counts.deleted, "deleted"),
        (counts.recreated, "re-created"),
        (counts.merged, "merged"),
    ];
    let some = all.into_iter().filter(|(amount, _)| *amount > 0);
    some.map(|(amount, what)| format!("{} {what}", words::number(amount))).collect()
}

/// The captures of a folder.
pub fn captures(look: &Look, page: &Captures) -> Text {
    if page.captures.is_empty() {
        return "nothing was seen yet\n".into();
    }
    let rows: Vec<_> = page
        .captures
        .iter()
        .map(|capture| {
            let given = capture.name.as_deref().map(safe::line).unwrap_or_default();
            let names: Vec<String> = capture.paths.iter().map(|path| name(path)).collect();
            let files = match capture.changed {
                0 => "no file changed".to_owned(),
                changed => format!("{}: {}", words::count(changed, "file"), names.join(", ")),
            };
            vec![
                cell(capture.number.to_string()),
                cell(words::when(look, capture.time_ms)),
                cell(given.into_owned()).style(Style::Accent),
                cell(files),
            ]
        })
        .collect();
    let more = if page.more { "… and earlier ones: --before\n" } else { "" };
    table(look, &rows) + more
}

/// The folders of conversations.
pub fn workspaces(look: &Look, all: &Workspaces) -> Text {
    if all.workspaces.is_empty() {
        return "no conversation has worked in a folder yet\n".into();
    }
    let rows: Vec<_> = all
        .workspaces
        .iter()
        .map(|it| {
            let when = words::when(look, it.created_ms);
            vec![cell(it.number.to_string()), cell(name(&it.folder)), cell(format!("since {when}"))]
        })
        .collect();
    let more = all.workspaces.last().filter(|_| all.more);
    let more = more.map(|last| format!("… more: --after {}\n", last.number));
    table(look, &rows) + more
}
