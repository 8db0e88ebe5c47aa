//! The differences in a folder: by author, and line by line. Shows a name with an escape for terminal control characters. Must
//! never list the content of a folder that is not recorded.

use retake_wire::reply::{Changed, Differences, FilesStatus, State};
use retake_wire::{Grade, english};

use super::files::{diff_lines, name};
use super::id::{self, Ids};
use super::words;
use crate::text::style::Style;
use crate::text::styled::text;
use crate::text::{Text, safe};

/// The most paths shown of each group.
const SHOWN: usize = 50;

/// The differences now.
pub fn status(status: &FilesStatus) -> Text {
    let mut text = Text::from(format!("{}\n", name(&status.folder)));
    status.further.iter().for_each(|folder| text.push(format!("also {}\n", name(folder))));
    for gone in &status.gone_folders {
        text.push(format!("{}\n", name(&english::problem(&gone.problem))));
    }
    let ids: Ids<'_> = status.calls.iter().flat_map(|it| it.calls.iter().map(String::as_str)).collect();
    text.push(group("commands of this conversation changed", &status.calls, &ids));
    text.push(group("you or others changed", &status.others, &ids));
    if status.calls.is_empty() && status.others.is_empty() {
        text.push("nothing has changed since the conversation began, as far as it was seen\n");
    }
    for (amount, what) in [
        (status.ahead, "still in the files, though the conversation went back to before them"),
        (status.behind, "not in all the files that they have changed"),
    ] {
        if amount > 0 {
            text.push(format!("{what}: {}\n", words::count(amount, "command")));
        }
    }
    for it in &status.running {
        let processes = words::count(it.processes, "process").replace("processs", "processes");
        let line = format!("still running: {processes} of {}  {}", id::short(&it.call), safe::line(&it.what));
        text.push(text![(Style::Warn, line), "\n"]);
    }
    for it in &status.uncovered {
        let shown: Vec<String> = it.paths.iter().map(|path| name(path)).collect();
        let more = if it.count > shown.len() as u64 { " …" } else { "" };
        let line = format!(
            "not covered: {} ({}): {}{more}",
            words::number(it.count),
            safe::line(&english::uncovered_cause(&it.cause)),
            shown.join(", ")
        );
        text.push(text![(Style::Dim, line), "\n"]);
    }
    text
}

fn group(who: &str, paths: &[Changed], ids: &Ids<'_>) -> Text {
    if paths.is_empty() {
        return Text::new();
    }
    let mut text = Text::from(format!("{who} {}\n", words::count(paths.len() as u64, "file")));
    for path in paths.iter().take(SHOWN) {
        let (sign, style) = match path.state {
            State::Made => ('+', Style::Added),
            State::Changed => ('~', Style::Accent),
            State::Removed => ('-', Style::Removed),
        };
        let mut about = Vec::new();
        if !path.calls.is_empty() {
            let calls: Vec<_> = path.calls.iter().map(|call| ids.short(call)).collect();
            about.push(format!("by {}", calls.join(", ")));
        }
        if path.grade == Some(Grade::Ambiguous) {
            about.push("perhaps".to_owned());
        }
        if path.touched {
            about.push("changed by you or others since".to_owned());
        }
        let about = if about.is_empty() { String::new() } else { format!("  {}", about.join(", ")) };
        let shown = format!("{sign} {}", name(&path.name.path));
        text.push(text!["  ", (style, shown), (Style::Dim, about), "\n"]);
    }
    if paths.len() > SHOWN {
        let more = words::number((paths.len() - SHOWN) as u64);
        text.push(format!("    … and {more} more\n"));
    }
    text
}

/// Differences between files; empty if there are none.
pub fn differences(all: &Differences) -> Text {
    let mut text = Text::new();
    for file in &all.files {
        match &file.diff {
            Some(diff) if diff.starts_with("--- ") => text.push(diff_lines(diff, "")),
            Some(diff) => {
                text.push(format!("{}: ", name(&file.name.path)));
                text.push(diff_lines(diff, ""));
            }
            None => text.push(format!("{}: not shown, the diffs are too long\n", name(&file.name.path))),
        }
    }
    text
}
