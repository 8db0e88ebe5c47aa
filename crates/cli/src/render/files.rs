//! What becomes of files, before and after it is done. A name is shown with escapes for what acts on a terminal. Must never leave a
//! conflict out.

use retake_wire::reply::{Captures, Workspaces};
use retake_wire::{Choice, FileCounts, FilesDone, FilesPlan, PathPlan, Verdict};

use super::table::{cell, table};
use super::words;
use crate::term::style::Style;
use crate::term::{safe, width};
use crate::ui::Look;

/// So many paths are shown of each plan, conflicts apart.
const SHOWN: usize = 20;

/// The groups, in the order of the plan.
const GROUPS: [(Verdict, &str, &str, char, Style); 9] = [
    (Verdict::Conflict, "can't decide about", ": choose for each, or nothing is done", '!', Style::Warn),
    (Verdict::Revert, "reverts", "", '~', Style::Removed),
    (Verdict::Delete, "deletes", "", '-', Style::Removed),
    (Verdict::Recreate, "re-creates", "", '+', Style::Added),
    (Verdict::Merge, "merges", " with what others wrote", '~', Style::Added),
    (Verdict::Ambiguous, "leaves alone", ": nobody knows whose changes these are", '?', Style::Dim),
    (Verdict::GitHas, "leaves alone", ": git's HEAD has these, which a command moved", ' ', Style::Dim),
    (Verdict::NotEmpty, "leaves alone", ": others have put something into it", ' ', Style::Dim),
    (Verdict::NotCovered, "leaves alone", ": not covered", ' ', Style::Dim),
];

/// The file half of a plan, in groups.
pub(crate) fn plan(look: &Look, plan: &FilesPlan) -> String {
    let mut text = String::new();
    let mut room = SHOWN;
    for (verdict, verb, more_of_it, sign, style) in GROUPS {
        let paths: Vec<_> = plan.paths.iter().filter(|path| path.verdict == verdict).collect();
        if paths.is_empty() {
            continue;
        }
        let amount = words::count(paths.len() as u64, "file");
        text.push_str(&format!("{verb} {amount}{more_of_it}\n"));
        // A conflict that is not seen can't be chosen for.
        let shown = if verdict == Verdict::Conflict { paths.len() } else { room.min(paths.len()) };
        room = room.saturating_sub(shown);
        for path in &paths[..shown] {
            text.push_str(&line(look, path, sign, style));
        }
        if paths.len() > shown {
            let more = words::number((paths.len() - shown) as u64);
            text.push_str(&format!("    … and {more} more\n"));
        }
    }
    text
}

fn line(look: &Look, path: &PathPlan, sign: char, style: Style) -> String {
    let mut text = format!("  {sign} {}", name(&path.name.path));
    if let Some(other) = &path.renamed {
        text.push_str(&format!(" ↔ {}", name(other)));
    }
    let own_words = matches!(path.verdict, Verdict::Conflict | Verdict::NotCovered);
    if let (Some(why), true) = (&path.why, own_words) {
        text.push_str(&format!(": {}", safe::line(why)));
    }
    if path.verdict == Verdict::Conflict {
        let choices: Vec<_> = path.choices.iter().map(|choice| choice_name(*choice)).collect();
        text.push_str(&format!(" ({})", choices.join(", ")));
    } else {
        text = width::truncate(&text, look.columns).into_owned();
    }
    let mut text = format!("{}\n", look.palette.paint(style, text));
    for line in path.diff.iter().flat_map(|diff| diff.lines()) {
        let style = match line.as_bytes().first() {
            Some(b'+') => Style::Added,
            Some(b'-') => Style::Removed,
            _ => Style::Dim,
        };
        text.push_str(&format!("    {}\n", look.palette.paint(style, safe::line(line))));
    }
    text
}

/// A path on one line: what is no letter in it is shown as an escape.
pub(crate) fn name(path: &str) -> String {
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

fn choice_name(choice: Choice) -> &'static str {
    match choice {
        Choice::Disk => "disk",
        Choice::Yours => "yours",
        Choice::Checkpoint => "checkpoint",
        Choice::Merge => "merge",
        Choice::Skip => "skip",
    }
}

/// The file half of a plan in a few words.
pub(crate) fn brief(plan: &FilesPlan) -> String {
    let mut pieces = counted(plan.counts);
    if plan.conflicts > 0 {
        pieces.push(format!("{} in conflict", words::number(plan.conflicts)));
    }
    if plan.left > 0 {
        pieces.push(format!("{} left alone", words::number(plan.left)));
    }
    if pieces.is_empty() { "no file changes".to_owned() } else { format!("files: {}", pieces.join(", ")) }
}

/// What became of files, in a few lines.
pub(crate) fn done(look: &Look, done: &FilesDone) -> String {
    let pieces = counted(done.counts);
    let mut text = match pieces.is_empty() {
        true => "files: none changed\n".to_owned(),
        false => format!("files: {}\n", pieces.join(", ")),
    };
    for (title, lines) in [("left alone", &done.left), ("note", &done.notes)] {
        for line in lines.iter().take(SHOWN) {
            let line = format!("  {title}: {}", safe::line(line));
            text.push_str(&format!("{}\n", look.palette.paint(Style::Warn, line)));
        }
        if lines.len() > SHOWN {
            let more = words::number((lines.len() - SHOWN) as u64);
            text.push_str(&format!("    … and {more} more\n"));
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

/// What was seen of a folder.
pub(crate) fn captures(look: &Look, page: &Captures) -> String {
    if page.captures.is_empty() {
        return "nothing was seen yet\n".to_owned();
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

/// The folders that conversations work in.
pub(crate) fn workspaces(look: &Look, all: &Workspaces) -> String {
    if all.workspaces.is_empty() {
        return "no conversation has worked in a folder yet\n".to_owned();
    }
    let rows: Vec<_> = all
        .workspaces
        .iter()
        .map(|it| {
            let when = words::when(look, it.created_ms);
            vec![cell(it.number.to_string()), cell(name(&it.folder)), cell(format!("since {when}"))]
        })
        .collect();
    table(look, &rows)
}
