//! The choices for a file of a plan: which there are, their names, and the list in which a person moves. Must never name two
//! choices alike, nor hide one.

use ratatui::text::Line;
use retake_wire::{AfterChoice, Choice, ChoiceOutcome, Choose, PathPlan, Verdict};

use super::view::PlannedAction;
use crate::render::{content, files};
use crate::text::style::Style as TextStyle;
use crate::text::{Look, Text, width};
use crate::ui::keymap::Command;
use crate::ui::theme::{CURSOR, Theme};
use crate::ui::words as ui_words;

/// The most hunks that can be ticked one by one.
const HUNKS: u32 = 20;

/// The choices for a file, always in the same order: the most wanted one first, postponing last, and before it each hunk, if
/// there are not too many.
pub(crate) fn options(path: &PathPlan) -> Vec<Choice> {
    let mut all = path.choices.clone();
    // If the other author's last version equals the present one, both choices are the same.
    let stays = |choice: &Choice| {
        let mut stays = path.outcomes.iter().filter(|after| after.becomes == ChoiceOutcome::Stays);
        stays.any(|after| after.choice == *choice)
    };
    if stays(&Choice::Disk) && stays(&Choice::Yours) {
        all.retain(|choice| *choice != Choice::Yours);
    }
    all.sort_by_key(|choice| match choice {
        Choice::Disk => 0,
        Choice::Checkpoint => 1,
        Choice::Merge => 2,
        Choice::Yours => 3,
        Choice::Hunks(_) => 4,
        Choice::Skip => 5,
    });
    let hunks = path.hunks.count.filter(|hunks| (2..=HUNKS).contains(hunks)).unwrap_or(0);
    let last = all.iter().position(|choice| *choice == Choice::Skip).unwrap_or(all.len());
    all.splice(last..last, (1..=hunks).map(|hunk| Choice::Hunks(vec![hunk])));
    all
}

/// Whether the choices are shown below a file's name: it needs a choice, has one, or the person requested them.
pub(super) fn is_spread(path: &PathPlan, choose: &[Choose], asked: bool) -> bool {
    asked || path.verdict == Verdict::Conflict || chosen(path, choose).is_some()
}

/// What the person chose for a file.
pub(crate) fn chosen<'a>(path: &PathPlan, choose: &'a [Choose]) -> Option<&'a Choice> {
    choose.iter().find(|choose| choose.name == path.name).map(|choose| &choose.choice)
}

/// Whether a file still needs a choice.
pub(super) fn is_open(path: &PathPlan, choose: &[Choose]) -> bool {
    path.verdict == Verdict::Conflict && chosen(path, choose).is_none()
}

/// Whether an option is in effect: chosen, else the default. A conflict has none. Of a file several hunks can be.
pub(crate) fn holds(path: &PathPlan, choose: &[Choose], option: &Choice) -> bool {
    let default = path.choices.first().filter(|_| path.verdict != Verdict::Conflict);
    match (chosen(path, choose).or(default), option) {
        (Some(Choice::Hunks(all)), Choice::Hunks(one)) => one.iter().all(|hunk| all.contains(hunk)),
        (now, option) => now == Some(option),
    }
}

/// The choice after a tick: an option replaces the choice; a hunk joins the chosen hunks, or leaves them. `None` if nothing is
/// chosen any more.
pub(crate) fn ticked(now: Option<&Choice>, option: &Choice) -> Option<Choice> {
    let Choice::Hunks(hunks) = option else { return Some(option.clone()) };
    let mut all = match now {
        Some(Choice::Hunks(now)) => now.clone(),
        _ => Vec::new(),
    };
    let before = all.len();
    all.retain(|hunk| !hunks.contains(hunk));
    if all.len() == before {
        all.extend(hunks);
    }
    all.sort_unstable();
    (!all.is_empty()).then_some(Choice::Hunks(all))
}

/// Whether it is listed although it is unchanged, because a person chose so.
pub(crate) fn stays_by_choice(path: &PathPlan, choose: &[Choose]) -> bool {
    path.verdict == Verdict::Unchanged && chosen(path, choose).is_some()
}

/// A choice, by what it does to the file.
pub(crate) fn named(path: &PathPlan, choice: &Choice) -> String {
    let after = outcome(path, choice);
    let turn = after.and_then(|after| after.turn);
    match (choice, after.map(|after| after.becomes), turn) {
        (Choice::Disk, ..) => "keep mine".to_owned(),
        (Choice::Yours, ..) => "my last version".to_owned(),
        (Choice::Checkpoint, Some(ChoiceOutcome::Gone), _) => "remove it".to_owned(),
        (Choice::Checkpoint, Some(ChoiceOutcome::Before), Some(turn)) => format!("as before t{turn}"),
        (Choice::Checkpoint, Some(ChoiceOutcome::Left), Some(turn)) => format!("as t{turn} left it"),
        (Choice::Checkpoint, ..) => "as it was then".to_owned(),
        (Choice::Merge, ..) => "merge both".to_owned(),
        (Choice::Skip, ..) => "decide later".to_owned(),
        (Choice::Hunks(hunks), ..) => {
            let numbers: Vec<_> = hunks.iter().map(ToString::to_string).collect();
            format!("{} {}", if hunks.len() == 1 { "hunk" } else { "hunks" }, numbers.join(", "))
        }
    }
}

fn outcome<'a>(path: &'a PathPlan, choice: &Choice) -> Option<&'a AfterChoice> {
    path.outcomes.iter().find(|after| after.choice == *choice)
}

/// The outcome of a choice for a file, in the plan's words if it has some.
fn becomes(path: &PathPlan, choice: &Choice) -> String {
    outcome(path, choice).map_or_else(|| means(choice).to_owned(), files::after_choice)
}

/// The meaning of a choice, for any file.
fn means(choice: &Choice) -> &'static str {
    match choice {
        Choice::Disk => "stays as it is now and counts as yours: not asked again",
        Choice::Checkpoint => "as it was then; undo brings back what you or others wrote since",
        Choice::Merge => "as it was then, with what you or others wrote since",
        Choice::Yours => "the last version that was not written by the agent",
        Choice::Hunks(_) => "only the ticked hunks; the others are asked about again",
        Choice::Skip => "stays as it is now, undecided: a later step asks again",
    }
}

/// The list of choices as lines.
#[derive(Debug, Default)]
pub(super) struct OfferedLines {
    pub(super) lines: Vec<Line<'static>>,
    /// The first line of each choice, and the line after the last one.
    pub(super) starts: Vec<usize>,
}

/// The possible choices, with their outcome; the arrows are at one of them, if the list has the keys.
pub(super) fn offered(
    look: &Look,
    shown: PlannedAction<'_>,
    path: &PathPlan,
    cursor: Option<usize>,
    theme: Theme,
) -> OfferedLines {
    let options = options(path);
    let is_open = !options.iter().any(|option| holds(path, shown.choose, option));
    let head = match (cursor, is_open) {
        (Some(_), _) => "choose:".to_owned(),
        (None, true) => format!("{} chooses; nothing is chosen yet", shown.key),
        (None, false) => format!("{} chooses another", shown.key),
    };
    let head = content::hanging(look, &head, "    ", 4, Some(TextStyle::Dim));
    let mut all = OfferedLines { lines: ui_words::lines(&head, theme), starts: Vec::new() };
    let names: Vec<_> = options.iter().map(|option| named(path, option)).collect();
    let wide = names.iter().map(|name| width::columns(name)).max().unwrap_or(0);
    let signs = if options.iter().any(|option| matches!(option, Choice::Hunks(_))) { 3 } else { 1 };
    let mut told = false;
    for (at, (name, option)) in names.iter().zip(&options).enumerate() {
        let is_held = holds(path, shown.choose, option);
        let is_hunk = matches!(option, Choice::Hunks(_));
        let sign = match (is_hunk, is_held) {
            (false, true) => "●",
            (false, false) => "○",
            (true, true) => "[x]",
            (true, false) => "[ ]",
        };
        let is_here = cursor == Some(at);
        let style = match (is_here, is_held) {
            (true, _) => TextStyle::Bold,
            (false, true) => TextStyle::Accent,
            (false, false) => TextStyle::Dim,
        };
        let pointer = if is_here { CURSOR } else { " " };
        // All hunks mean the same: the first one says it.
        let does =
            if is_hunk && std::mem::replace(&mut told, true) { String::new() } else { becomes(path, option) };
        let before =
            Text::styled(style, format!("  {pointer} {sign:<signs$} {} ", width::fit(name, wide + 1)));
        let margin = width::columns(&before.to_string());
        let text = match does.is_empty() {
            true => before + "\n",
            false => content::hanging(look, &does, before, margin, Some(style)),
        };
        all.starts.push(all.lines.len());
        all.lines.extend(ui_words::lines(&text, theme));
    }
    all.starts.push(all.lines.len());
    all
}

/// Where a key moves among so many choices. `None` if it is another key.
pub(super) fn moved(command: Command, at: usize, all: usize) -> Option<usize> {
    let last = all.saturating_sub(1);
    Some(match command {
        Command::Up => at.saturating_sub(1),
        Command::Down => (at + 1).min(last),
        Command::First => 0,
        Command::Last => last,
        Command::NextChoice => (at + 1) % all.max(1),
        _ => return None,
    })
}
