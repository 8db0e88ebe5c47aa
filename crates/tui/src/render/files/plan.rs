//! The file part of a plan: conflicts first, then the changes under the calls that caused them, then what stays. Must never leave
//! out a conflict.

use std::collections::HashMap;

use retake_wire::{AfterChoice, CallLine, Choice, FilesPlan, Grade, PathCause, PathPlan, Verdict, english};

use super::name;
use crate::render::content::sentence;
use crate::render::plan::dim_rest;
use crate::render::words;
use crate::text::style::Style;
use crate::text::styled::text;
use crate::text::{Look, Text, safe, time, width};

/// The most paths shown of each plan, apart from conflicts.
const SHOWN: usize = 20;

/// The most hunks listed individually.
const HUNKS: u32 = 4;

/// The verdicts for files that are left alone, in the order of the plan.
const LEFT: [(Verdict, &str); 5] = [
    (Verdict::Ambiguous, "nobody knows whose these changes are"),
    (Verdict::GitHas, "git has it, which a command moved"),
    (Verdict::NotEmpty, "something else is in it"),
    (Verdict::Foreign, "it was created since then"),
    (Verdict::NotCovered, "not covered"),
];

/// Paths with the same outcome.
#[derive(Debug)]
pub(crate) struct Group<'a> {
    /// The outcome, or the call that changed them.
    title: String,
    /// The paths.
    pub(crate) paths: Vec<&'a PathPlan>,
    /// They would be changed.
    is_done: bool,
}

impl<'a> Group<'a> {
    /// A group of these paths. `None` if there are none.
    fn some(title: String, paths: Vec<&'a PathPlan>) -> Option<Self> {
        (!paths.is_empty()).then_some(Self { title, paths, is_done: false })
    }

    /// Whether the group needs a choice.
    pub(crate) fn is_conflict(&self) -> bool {
        self.paths.iter().any(|path| path.verdict == Verdict::Conflict)
    }

    /// The title as lines.
    pub(crate) fn title(&self, look: &Look) -> Text {
        let style = if self.is_conflict() { Style::Warn } else { Style::Bold };
        sentence(look, &self.title, 0, Some(style))
    }
}

/// What happens without a choice.
pub(crate) const NOTHING: &str = "nothing is done";

/// The same for several steps when only the later ones are refused.
pub(crate) const NOT_ALL: &str = "only the steps before are done";

/// The file part of a plan.
pub fn plan(look: &Look, plan: &FilesPlan) -> Text {
    plan_or(look, plan, NOTHING)
}

/// The same, with what happens without a choice.
pub(crate) fn plan_or(look: &Look, plan: &FilesPlan, otherwise: &str) -> Text {
    let mut text = Text::new();
    let (mut room, mut hidden) = (SHOWN, 0);
    let is_chosen = |path: &PathPlan| path.verdict == Verdict::Unchanged && path.cause.is_some();
    for group in groups(look, plan, otherwise, is_chosen) {
        let all = group.paths.len();
        let fit = if group.is_conflict() { all } else { all.min(room) };
        // Changes are counted once, below the last call that has room.
        if !group.is_done {
            text.push(dim_rest(std::mem::take(&mut hidden), 0));
        }
        if !group.is_done || room > 0 {
            text.push(group.title(look));
        }
        room -= if group.is_conflict() { 0 } else { fit };
        text.push(group.paths[..fit].iter().map(|path| line(look, plan, path)).collect::<Text>());
        hidden += (all - fit) as u64;
    }
    text + dim_rest(hidden, 0) + others(look, plan, room)
}

/// All paths that a plan lists: conflicts, changes, paths left alone, paths that stay by choice, paths that need no change.
pub(crate) fn groups<'a>(
    look: &Look,
    plan: &'a FilesPlan,
    otherwise: &str,
    is_chosen: impl Fn(&PathPlan) -> bool,
) -> Vec<Group<'a>> {
    let before = conflicts(plan, otherwise).into_iter().chain(done(look, plan)).chain(left(plan));
    before.chain(by_choice(plan, &is_chosen)).chain(so_already(plan, is_chosen)).collect()
}

/// The number of files, without folders that are listed by their content.
fn files_of(paths: &[&PathPlan]) -> String {
    words::count(paths.iter().filter(|path| !path.full_folder).count() as u64, "file")
}

/// All conflicts: nobody can choose for one that is not shown.
fn conflicts<'a>(plan: &'a FilesPlan, otherwise: &str) -> Option<Group<'a>> {
    let paths: Vec<_> = plan.paths.iter().filter(|path| path.verdict == Verdict::Conflict).collect();
    let amount = files_of(&paths);
    let title = format!("can't decide about {amount}: choose for each, or {otherwise}");
    Group::some(title, paths)
}

/// The changes, each path under the call that changed it last.
fn done<'a>(look: &Look, plan: &'a FilesPlan) -> Vec<Group<'a>> {
    let files = |amount| words::count(amount, "file");
    let pieces = [
        (plan.counts.reverted, "reverts", ""),
        (plan.counts.deleted, "deletes", ""),
        (plan.counts.recreated, "re-creates", ""),
        (plan.counts.merged, "merges", " with what you or others wrote"),
    ];
    let pieces = pieces.iter().filter(|(amount, ..)| *amount > 0);
    let pieces: Vec<_> =
        pieces.map(|(amount, verb, more)| format!("{verb} {}{more}", files(*amount))).collect();
    if pieces.is_empty() {
        return Vec::new();
    }
    let done = plan.paths.iter().filter(|path| sign(path.verdict).is_some());
    let places: HashMap<&str, usize> =
        plan.calls.iter().enumerate().map(|(at, call)| (call.entry.as_str(), at)).collect();
    let mut rest = Vec::new();
    let mut called_for: Vec<[Vec<&PathPlan>; 2]> = plan.calls.iter().map(|_| Default::default()).collect();
    for path in done {
        match path.calls.first().and_then(|call| places.get(call.as_str())) {
            Some(at) => called_for[*at][usize::from(path.grade != Grade::Written)].push(path),
            None => rest.push(path),
        }
    }
    let mut groups = vec![Group { title: pieces.join(", "), paths: rest, is_done: true }];
    for (call, paths) in plan.calls.iter().zip(called_for) {
        for (did, paths) in ["written by", "changed during"].into_iter().zip(paths) {
            if !paths.is_empty() {
                let title = format!("{did} {}", called(look, call));
                groups.push(Group { title, paths, is_done: true });
            }
        }
    }
    groups
}

fn left(plan: &FilesPlan) -> impl Iterator<Item = Group<'_>> {
    LEFT.iter().filter_map(|(verdict, why)| {
        let paths: Vec<_> = plan.paths.iter().filter(|path| path.verdict == *verdict).collect();
        let amount = files_of(&paths);
        Group::some(format!("leaves alone {amount}: {why}"), paths)
    })
}

/// Paths that the calls changed and that need no change now, such as a file that was created and deleted. Some are listed
/// elsewhere.
fn so_already(plan: &FilesPlan, is_told: impl Fn(&PathPlan) -> bool) -> Option<Group<'_>> {
    let unchanged = |path: &&PathPlan| is_so_already(path) && !is_told(path);
    let paths: Vec<_> = plan.paths.iter().filter(unchanged).collect();
    Group::some(format!("needs no change: {}", files_of(&paths)), paths)
}

/// Paths that stay because a person chose so.
fn by_choice(plan: &FilesPlan, is_chosen: impl Fn(&PathPlan) -> bool) -> Option<Group<'_>> {
    let paths: Vec<_> = plan.paths.iter().filter(|path| is_chosen(path)).collect();
    Group::some(format!("leaves {} as chosen", files_of(&paths)), paths)
}

/// Whether nothing has to be done, without a choice of a person.
fn is_so_already(path: &PathPlan) -> bool {
    path.verdict == Verdict::Unchanged && path.cause.is_none()
}

/// A call and its duration.
fn called(look: &Look, call: &CallLine) -> String {
    let lasted = call.began_ms.zip(call.ended_ms).map(|(began, ended)| ended - began);
    let lasted = lasted.filter(|lasted| *lasted >= 1_000).map(time::lasted);
    let lasted = lasted.map(|lasted| format!(", took {lasted}")).unwrap_or_default();
    if let Some(turn) = call.turn {
        return format!("a call of t{turn}, which is hidden{lasted}");
    }
    let columns = look.columns.saturating_sub(lasted.len() + 22).max(20);
    format!("`{}`{lasted}", width::truncate(&safe::line(&call.line), columns))
}

/// Changes by others, which stay; as many paths as there is room for.
pub(crate) fn others(look: &Look, plan: &FilesPlan, room: usize) -> Text {
    if plan.others.changed == 0 {
        return Text::new();
    }
    let paths = &plan.others.paths[..plan.others.paths.len().min(room)];
    let amount = words::count(plan.others.changed, "file");
    let them = if plan.others.changed == 1 { "it" } else { "them" };
    let title = format!("leaves {amount} as you or others changed {them}");
    let mut text = sentence(look, &title, 0, None);
    for path in paths {
        let line = format!("    {}", name(path));
        text.push(text![(Style::Dim, width::truncate(&line, look.columns)), "\n"]);
    }
    text + dim_rest(plan.others.changed, paths.len())
}

/// The sign of what is done.
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

fn line(look: &Look, plan: &FilesPlan, path: &PathPlan) -> Text {
    let mut text = alone(look, plan, path);
    if let Some(why) = uncertain(path) {
        text.push(text![(Style::Dim, format!("      {why}")), "\n"]);
    }
    for (choice, words) in outcomes(path) {
        let line = format!("      {choice}: {words}");
        text.push(text![(Style::Dim, safe::block(&line)), "\n"]);
    }
    if left_alone(path) {
        text.push(text!["    ", (Style::Dim, IF_NOT_LEFT), "\n"]);
    }
    text + diff(path)
}

/// Why the author of a change that stays is unknown. It has a line of its own, because it must be readable in full.
pub(crate) fn uncertain(path: &PathPlan) -> Option<String> {
    let stays = path.verdict == Verdict::Ambiguous || sign(path.verdict).is_some();
    path.cause.as_ref().filter(|_| stays).map(why)
}

/// The sentence for a cause, on one line.
pub(crate) fn why(cause: &PathCause) -> String {
    safe::line(&english::path_cause(cause)).into_owned()
}

/// The state of a file after a choice, on one line.
pub(crate) fn after_choice(after: &AfterChoice) -> String {
    safe::line(&english::after_choice(after)).into_owned()
}

/// The line before the diff of a path that is left alone.
pub(crate) const IF_NOT_LEFT: &str = "if it were not left alone:";

/// Whether its diff shows what is not done.
pub(crate) fn left_alone(path: &PathPlan) -> bool {
    path.diff.is_some() && matches!(path.verdict, Verdict::Conflict | Verdict::Ambiguous)
}

/// A path and its outcome, without its diff.
pub(crate) fn alone(look: &Look, plan: &FilesPlan, path: &PathPlan) -> Text {
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
        text.push_str(", also what you or others wrote in it");
    }
    if path.kept {
        text.push_str(", kept by an earlier step");
    }
    if path.verdict != Verdict::Conflict {
        text = width::truncate(&text, look.columns).into_owned();
    }
    text![(style, text), "\n"]
}

/// The diff of a path.
pub fn diff(path: &PathPlan) -> Text {
    diff_lines(path.diff.as_deref().unwrap_or_default(), "    ")
}

/// The lines of a diff.
pub fn diff_lines(diff: &str, indent: &str) -> Text {
    let text = diff.strip_suffix('\n').unwrap_or(diff);
    if text.is_empty() {
        return Text::new();
    }
    let styled = text.split('\n').map(|line| {
        let style = match line.as_bytes().first() {
            Some(b'+') => Style::Added,
            Some(b'-') => Style::Removed,
            Some(b'@') => Style::Accent,
            _ => Style::Dim,
        };
        // Tabs stay, so that piped output is a valid patch.
        text![indent, (style, safe::block(line)), "\n"]
    });
    styled.collect()
}

/// The remark after a name.
fn remark(look: &Look, plan: &FilesPlan, path: &PathPlan) -> String {
    let why = path.cause.as_ref().map(why).unwrap_or_default();
    let call = |entry: &String| plan.calls.iter().find(|call| call.entry == *entry);
    match path.verdict {
        Verdict::Conflict => format!(": {why} ({})", choices(path)),
        Verdict::NotCovered | Verdict::Unchanged | Verdict::NotEmpty | Verdict::Foreign
            if !why.is_empty() =>
        {
            format!(": {why}")
        }
        Verdict::Ambiguous | Verdict::Unchanged => match path.calls.first().and_then(call) {
            Some(call) if path.grade == Grade::Written => format!(", written by {}", called(look, call)),
            Some(call) => format!(", changed during {}", called(look, call)),
            None => String::new(),
        },
        Verdict::Merge => ": merged with what you or others wrote".to_owned(),
        Verdict::Part => {
            let numbers: Vec<_> = path.hunks.part.iter().map(ToString::to_string).collect();
            let hunks = if numbers.len() == 1 { "hunk" } else { "hunks" };
            let of = path.hunks.count.map(|all| format!(" of {all}")).unwrap_or_default();
            format!(": {hunks} {}{of}", numbers.join(", "))
        }
        _ => match path.calls.len() {
            0 | 1 => String::new(),
            more => format!(", and in {}", words::count(more as u64 - 1, "earlier call")),
        },
    }
}

/// The state of a conflicting file after each choice, by the choice as typed; the default first.
pub(crate) fn outcomes(path: &PathPlan) -> Vec<(String, String)> {
    let told = path.outcomes.iter().filter(|_| path.verdict == Verdict::Conflict);
    let mut all: Vec<(String, String)> = Vec::new();
    for after in told {
        let (name, words) = (choice_name(&after.choice), after_choice(after));
        // Choices with the same outcome are listed once.
        match all.iter_mut().find(|(_, known)| *known == words) {
            Some((names, _)) => names.push_str(&format!(" or {name}")),
            None => all.push((name, words)),
        }
    }
    all
}

/// The choices for a path, as typed; the default first.
pub fn choices(path: &PathPlan) -> String {
    let mut all: Vec<String> = path.choices.iter().map(choice_name).collect();
    match path.hunks.count {
        Some(hunks @ 2..=HUNKS) => all.push(choice_name(&Choice::Hunks((1..=hunks).collect()))),
        Some(hunks) if hunks > HUNKS => all.push(format!("hunks:1,…,{hunks}")),
        _ => {}
    }
    all.join(", ")
}

/// A choice as typed.
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

#[cfg(test)]
mod tests {
    use retake_wire::{FileCounts, FileName, FilesPlan, Grade, PathCause, PathPlan, UncertainWhen, Verdict};

    use crate::text::Look;

    #[test]
    fn trial_07_reason_for_an_uncertain_change_is_not_truncated() {
        let why = "an uncertain change stays in it: it changed around a call that was cut off: nobody knows whose change it is";
        let cause = PathCause::KeepsUncertain { when: vec![UncertainWhen::CutOff] };
        let path = |verdict| PathPlan {
            name: FileName { path: "f".to_owned(), path_base64: None },
            verdict,
            cause: Some(cause.clone()),
            why: None,
            grade: Grade::Ambiguous,
            calls: Vec::new(),
            choices: Vec::new(),
            hunks: Default::default(),
            renamed: None,
            diff: None,
            theirs: false,
            full_folder: false,
            kept: false,
            against: None,
            outcomes: Vec::new(),
        };
        let look = Look { columns: 40, now_ms: 0, ids: false };
        for verdict in [Verdict::Revert, Verdict::Merge, Verdict::Ambiguous] {
            let counts = FileCounts { reverted: 1, ..FileCounts::default() };
            let plan = FilesPlan { counts, paths: vec![path(verdict)], ..FilesPlan::default() };
            let told = super::plan(&look, &plan).to_string();
            assert!(told.contains(&format!("\n      {why}\n")), "{verdict:?}: {told}");
        }
    }
}
