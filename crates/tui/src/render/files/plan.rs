//! The file half of a plan: what waits for a choice first, then what would be done, under the calls that did it, then what stays. Must
//! never leave a conflict out.

use retake_wire::{CallLine, Choice, FilesPlan, Grade, PathPlan, Verdict};

use super::name;
use crate::render::words;
use crate::text::Look;
use crate::text::style::Style;
use crate::text::{safe, time, width};

/// So many paths are shown of each plan, conflicts apart.
const SHOWN: usize = 20;

/// So many hunks are named one by one.
const HUNKS: u32 = 4;

/// What is left alone, in the order of the plan.
const LEFT: [(Verdict, &str); 5] = [
    (Verdict::Ambiguous, "nobody knows whose these changes are"),
    (Verdict::GitHas, "git's HEAD has it, which a command moved"),
    (Verdict::NotEmpty, "others have put something into it"),
    (Verdict::Foreign, "others have made it since"),
    (Verdict::NotCovered, "not covered"),
];

/// The file half of a plan.
pub fn plan(look: &Look, plan: &FilesPlan) -> String {
    let mut text = conflicts(look, plan);
    let mut room = SHOWN;
    text.push_str(&done(look, plan, &mut room));
    for (verdict, why) in LEFT {
        let paths: Vec<_> = plan.paths.iter().filter(|path| path.verdict == verdict).collect();
        if !paths.is_empty() {
            let amount = words::count(paths.len() as u64, "file");
            text.push_str(&format!("leaves alone {amount}: {why}\n"));
            text.push_str(&lines(look, plan, &paths, &mut room));
        }
    }
    text + &others(look, plan, &mut room)
}

/// A conflict that is not seen can't be chosen for: all of them.
fn conflicts(look: &Look, plan: &FilesPlan) -> String {
    let paths: Vec<_> = plan.paths.iter().filter(|path| path.verdict == Verdict::Conflict).collect();
    if paths.is_empty() {
        return String::new();
    }
    let amount = words::count(paths.len() as u64, "file");
    let lines = lines(look, plan, &paths, &mut paths.len());
    format!("can't decide about {amount}: choose for each, or nothing is done\n{lines}")
}

/// What would be done, each path under the call that changed it last.
fn done(look: &Look, plan: &FilesPlan, room: &mut usize) -> String {
    let files = |amount| words::count(amount, "file");
    let pieces = [
        (plan.counts.reverted, "reverts", ""),
        (plan.counts.deleted, "deletes", ""),
        (plan.counts.recreated, "re-creates", ""),
        (plan.counts.merged, "merges", " with what others wrote"),
    ];
    let pieces = pieces.iter().filter(|(amount, ..)| *amount > 0);
    let pieces: Vec<_> =
        pieces.map(|(amount, verb, more)| format!("{verb} {}{more}", files(*amount))).collect();
    if pieces.is_empty() {
        return String::new();
    }
    let mut text = format!("{}\n", pieces.join(", "));
    let done: Vec<&PathPlan> = plan.paths.iter().filter(|path| sign(path.verdict).is_some()).collect();
    let by = |path: &PathPlan| plan.calls.iter().position(|call| Some(&call.entry) == path.calls.first());
    let (called_for, rest): (Vec<_>, Vec<_>) = done.iter().partition(|path| by(path).is_some());
    text.push_str(&shown(look, plan, &rest, room));
    for (at, call) in plan.calls.iter().enumerate() {
        for (written, did) in [(true, "written by"), (false, "changed during")] {
            let is_here =
                |path: &&PathPlan| by(path) == Some(at) && (path.grade == Grade::Written) == written;
            let here: Vec<_> = called_for.iter().copied().filter(is_here).collect();
            if !here.is_empty() && *room > 0 {
                text.push_str(&format!("{did} {}\n", called(look, call)));
                text.push_str(&shown(look, plan, &here, room));
            }
        }
    }
    text + &more(done.len(), SHOWN)
}

/// A call and how long it ran.
fn called(look: &Look, call: &CallLine) -> String {
    let lasted = call.began_ms.zip(call.ended_ms).map(|(began, ended)| ended - began);
    let lasted = lasted.filter(|lasted| *lasted >= 1_000).map(time::lasted);
    let lasted = lasted.map(|lasted| format!(", {lasted}")).unwrap_or_default();
    let columns = look.columns.saturating_sub(lasted.len() + 17).max(20);
    format!("`{}`{lasted}", width::truncate(&safe::line(&call.line), columns))
}

/// What others have changed, and stays.
fn others(look: &Look, plan: &FilesPlan, room: &mut usize) -> String {
    if plan.others.changed == 0 {
        return String::new();
    }
    let changed = usize::try_from(plan.others.changed).unwrap_or(usize::MAX);
    let paths = &plan.others.paths[..plan.others.paths.len().min(*room)];
    let amount = words::count(plan.others.changed, "file");
    let mut text =
        format!("leaves {amount} as others have changed {}\n", if changed == 1 { "it" } else { "them" });
    for path in paths {
        let line = format!("    {}", name(path));
        text.push_str(&format!("{}\n", look.palette.paint(Style::Dim, width::truncate(&line, look.columns))));
    }
    text + &more(changed, paths.len())
}

/// Paths, as many as there is room for, and how many more.
fn lines(look: &Look, plan: &FilesPlan, paths: &[&PathPlan], room: &mut usize) -> String {
    let has_room = *room;
    shown(look, plan, paths, room) + &more(paths.len(), has_room)
}

fn shown(look: &Look, plan: &FilesPlan, paths: &[&PathPlan], room: &mut usize) -> String {
    let fit = paths.len().min(*room);
    *room -= fit;
    paths[..fit].iter().map(|path| line(look, plan, path)).collect()
}

fn more(all: usize, shown: usize) -> String {
    match all.saturating_sub(shown) {
        0 => String::new(),
        more => format!("    … and {} more\n", words::number(more as u64)),
    }
}

/// What is done, as a sign.
fn sign(verdict: Verdict) -> Option<(char, Style)> {
    match verdict {
        Verdict::Revert | Verdict::Part => Some(('~', Style::Removed)),
        Verdict::Delete => Some(('-', Style::Removed)),
        Verdict::Recreate => Some(('+', Style::Added)),
        Verdict::Merge => Some(('~', Style::Added)),
        Verdict::Conflict
        | Verdict::Unchanged
        | Verdict::Ambiguous
        | Verdict::GitHas
        | Verdict::NotEmpty
        | Verdict::Foreign
        | Verdict::NotCovered => None,
    }
}

fn line(look: &Look, plan: &FilesPlan, path: &PathPlan) -> String {
    let (sign, style) = sign(path.verdict).unwrap_or(match path.verdict {
        Verdict::Conflict => ('!', Style::Warn),
        Verdict::Ambiguous => ('?', Style::Dim),
        _ => (' ', Style::Dim),
    });
    let mut text = format!("  {sign} {}", name(&path.name.path));
    if let Some(other) = &path.renamed {
        text.push_str(&format!(" ↔ {}", name(other)));
    }
    text.push_str(&remark(look, plan, path));
    if path.theirs {
        text.push_str(", also what others wrote in it");
    }
    if path.verdict != Verdict::Conflict {
        text = width::truncate(&text, look.columns).into_owned();
    }
    let mut text = format!("{}\n", look.palette.paint(style, text));
    if path.diff.is_some() && matches!(path.verdict, Verdict::Conflict | Verdict::Ambiguous) {
        text.push_str(&format!("    {}\n", look.palette.paint(Style::Dim, "if it were not left alone:")));
    }
    text + &diff(look, path)
}

/// How a path would differ.
pub fn diff(look: &Look, path: &PathPlan) -> String {
    diff_lines(look, path.diff.as_deref().unwrap_or_default(), "    ")
}

/// The lines of a diff.
pub fn diff_lines(look: &Look, diff: &str, indent: &str) -> String {
    let text = diff.strip_suffix('\n').unwrap_or(diff);
    if text.is_empty() {
        return String::new();
    }
    let styled = text.split('\n').map(|line| {
        let style = match line.as_bytes().first() {
            Some(b'+') => Style::Added,
            Some(b'-') => Style::Removed,
            _ => Style::Dim,
        };
        // Tabs stay: who pipes it on has a patch.
        format!("{indent}{}\n", look.palette.paint(style, safe::block(line)))
    });
    styled.collect()
}

/// What is said behind a name.
fn remark(look: &Look, plan: &FilesPlan, path: &PathPlan) -> String {
    let why = path.why.as_deref().map(safe::line).unwrap_or_default();
    let call = |entry: &String| plan.calls.iter().find(|call| call.entry == *entry);
    match path.verdict {
        Verdict::Conflict => format!(": {why} ({})", choices(path)),
        Verdict::NotCovered => format!(": {why}"),
        Verdict::Ambiguous => match path.calls.first().and_then(call) {
            Some(call) => format!(", changed during {}", called(look, call)),
            None => String::new(),
        },
        Verdict::Merge => ": merged with what others wrote".to_owned(),
        Verdict::Part => {
            let numbers: Vec<_> = path.part.iter().map(ToString::to_string).collect();
            let hunks = if numbers.len() == 1 { "hunk" } else { "hunks" };
            let of = path.hunks.map(|all| format!(" of {all}")).unwrap_or_default();
            format!(": {hunks} {}{of}", numbers.join(", "))
        }
        _ => match path.calls.len() {
            0 | 1 => String::new(),
            more => format!(", and in {}", words::count(more as u64 - 1, "earlier call")),
        },
    }
}

/// What can be chosen for a path, as it is typed; the default first.
pub fn choices(path: &PathPlan) -> String {
    let mut all: Vec<String> = path.choices.iter().map(choice_name).collect();
    match path.hunks {
        Some(hunks @ 2..=HUNKS) => all.push(choice_name(&Choice::Hunks((1..=hunks).collect()))),
        Some(hunks) if hunks > HUNKS => all.push(format!("hunks:1,…,{hunks}")),
        _ => {}
    }
    all.join(", ")
}

/// A choice as it is typed.
pub fn choice_name(choice: &Choice) -> String {
    match choice {
        Choice::Disk => "disk".to_owned(),
        Choice::Yours => "yours".to_owned(),
        Choice::Checkpoint => "checkpoint".to_owned(),
        Choice::Merge => "merge".to_owned(),
        Choice::Skip => "skip".to_owned(),
        Choice::Hunks(numbers) => {
            let numbers: Vec<_> = numbers.iter().map(ToString::to_string).collect();
            format!("hunks:{}", numbers.join(","))
        }
    }
}
