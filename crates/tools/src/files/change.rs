//! Changes of files: checked against what the agent has read, shown as a diff, carried out. All new contents are on disk beside
//! their places before the first one is moved. Must never replace a file that the agent has not read.

use std::fmt::Write;

use retake_core::{EffectClass, Fact, Intent, ToolOutcome};
use rustix::fs::Mode;
use similar::TextDiff;

use super::disk::{self, Staged, Version};
use super::place::{PathBase, Place};
use super::text::{self, LineEnds};
use super::work::blocking;
use crate::call::{Call, Output};
use crate::umask;

/// The most lines of a diff that are shown after the change.
const MOST_LINES: usize = 400;
/// The most lines in an approval request, and the most bytes of each: enough for nearly every change.
const MOST_ASKED: (usize, usize) = (20_000, 20_000);
/// The most lines in a result, and the most bytes of each: the model pays for each.
const MOST_SAID: (usize, usize) = (40, 200);
/// The largest file that is compared for a diff.
const MOST_COMPARED: usize = 2_000_000;

/// The changes of a call.
#[derive(Debug)]
pub(super) struct Plan {
    /// One for each file; no place twice.
    pub(super) changes: Vec<Change>,
    /// For people: `edit src/main.rs (2 places)`.
    pub(super) line: String,
    /// The result for the model.
    pub(super) said: String,
}

/// The change of a file. With two places it is a move.
#[derive(Debug)]
pub(super) struct Change {
    /// The version before; `None` for a new file.
    pub(super) from: Option<(Place, Version)>,
    /// The version after; `None` for a removed file.
    pub(super) to: Option<(Place, NewVersion)>,
}

/// The new version of a file.
#[derive(Debug)]
pub(super) struct NewVersion {
    /// Its content.
    pub(super) bytes: Vec<u8>,
    /// Whether it is executable, if the change sets that.
    pub(super) runs: Option<bool>,
}

/// Computes the changes of a call.
pub(super) type Planner<A> = fn(&A, &PathBase) -> Result<Plan, String>;

impl Change {
    /// New content in one place.
    pub(super) fn content(place: Place, was: Option<Version>, bytes: Vec<u8>) -> Self {
        let from = was.map(|was| (place.clone(), was));
        Self { from, to: Some((place, NewVersion { bytes, runs: None })) }
    }

    fn places(&self) -> impl Iterator<Item = &Place> {
        let from = self.from.as_ref().map(|(place, _)| place);
        let to = self.to.as_ref().map(|(place, _)| place);
        let to = to.filter(|to| from.is_none_or(|from| from.path != to.path));
        [from, to].into_iter().flatten()
    }

    /// Whether it changes nothing.
    fn is_idle(&self) -> bool {
        let (Some((from, was)), Some((to, after))) = (&self.from, &self.to) else { return false };
        from.path == to.path && was.bytes == after.bytes && self.mode() == disk::mode(was)
    }

    fn mode(&self) -> Mode {
        let run = Mode::XUSR | Mode::XGRP | Mode::XOTH;
        let usual = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::WGRP | Mode::ROTH | Mode::WOTH;
        let was = self.from.as_ref().map_or(usual, |(_, was)| disk::mode(was));
        match self.to.as_ref().and_then(|(_, after)| after.runs) {
            Some(true) => was | run,
            Some(false) => was - run,
            None => was,
        }
    }

    /// The version that it replaces at its destination.
    fn replaced(&self) -> Option<&Version> {
        let (from, was) = self.from.as_ref()?;
        let (to, _) = self.to.as_ref()?;
        (from.path == to.path).then_some(was)
    }

    /// The first of two steps: writes the new content to disk.
    fn stage(&self) -> Result<Option<Staged>, String> {
        let Some((place, after)) = &self.to else { return Ok(None) };
        let like = self.from.as_ref().map(|(_, was)| was);
        Staged::stage(place, self.replaced(), like, self.mode(), &after.bytes).map(Some)
    }

    /// The second step: moves it into place, and removes a moved file from its old place.
    fn land(&self, staged: Option<Staged>) -> Result<(), String> {
        if let Some(staged) = staged {
            staged.land()?;
        }
        match &self.from {
            Some((place, was)) if self.replaced().is_none() => {
                disk::remove(place, was).map_err(|why| match self.to {
                    Some(_) => format!("it is in its new place, but the old one is still there: {why}"),
                    None => why,
                })
            }
            _ => Ok(()),
        }
    }

    fn facts(&self) -> impl Iterator<Item = Fact> {
        let gone = self.from.as_ref().filter(|_| self.replaced().is_none());
        let gone = gone.map(|(place, _)| unknown(place));
        let there = self.to.as_ref().map(|(place, after)| seen(place, &after.bytes));
        gone.into_iter().chain(there)
    }

    /// The difference as a unified diff.
    fn diff(&self, ground: &PathBase) -> String {
        let name = |side: &str, place: &Place| format!("{side}/{}", ground.line(&place.path));
        let none = || "/dev/null".to_owned();
        let before = self.from.as_ref().map_or_else(none, |(place, _)| name("a", place));
        let after = self.to.as_ref().map_or_else(none, |(place, _)| name("b", place));
        let old = self.from.as_ref().map_or(&[][..], |(_, was)| &was.bytes);
        let new = self.to.as_ref().map_or(&[][..], |(_, after)| &after.bytes);
        let remark = |why: &str| format!("--- {before}\n+++ {after}\n[{why}]\n");
        if let Err(why) = comparable(old, new) {
            return remark(why);
        }
        if old == new {
            return remark(if self.places().count() == 2 { "moved as it is" } else { "no line differs" });
        }
        let (old, new) = texts(old, new);
        TextDiff::from_lines(&old, &new).unified_diff().header(&before, &after).to_string()
    }
}

/// Whether two versions can be compared, or why not.
fn comparable(old: &[u8], new: &[u8]) -> Result<(), &'static str> {
    if old.contains(&0) || new.contains(&0) {
        return Err("not text");
    }
    if old.len().max(new.len()) > MOST_COMPARED { Err("too large to be compared") } else { Ok(()) }
}

/// Two versions for a comparison by lines; a line break that all lines of both have is left out.
fn texts(old: &[u8], new: &[u8]) -> (String, String) {
    let both = LineEnds::of(old) == LineEnds::CrLf && LineEnds::of(new) == LineEnds::CrLf;
    let text = |bytes| match both {
        true => String::from_utf8_lossy(bytes).replace("\r\n", "\n"),
        false => String::from_utf8_lossy(bytes).into_owned(),
    };
    (text(old), text(new))
}

/// The same, or none if a part of them is not shown.
pub(crate) fn whole_hunks(old: &[u8], new: &[u8]) -> Option<String> {
    comparable(old, new).ok()?;
    let (most_lines, most_of_line) = MOST_SAID;
    let shown = hunks(old, new);
    let lines = || shown.lines().filter(|line| !line.is_empty());
    (lines().count() <= most_lines && lines().all(|line| line.len() <= most_of_line)).then_some(shown)
}

/// An edit's changes with their places, for the end of its result: whole lines with their numbers, and a line around them. Each
/// begins a new line; empty if there is nothing to compare.
pub(crate) fn hunks(old: &[u8], new: &[u8]) -> String {
    if old == new || comparable(old, new).is_err() {
        return String::new();
    }
    let (old, new) = texts(old, new);
    let whole = TextDiff::from_lines(&old, &new).unified_diff().context_radius(1).to_string();
    format!("\n{}", bounded(&whole, MOST_SAID).trim_end_matches('\n'))
}

/// A diff, limited to this many lines with this many bytes each.
fn bounded(whole: &str, (most_lines, most_of_line): (usize, usize)) -> String {
    let mut shown = String::new();
    let mut lines = whole.split_inclusive('\n');
    for line in lines.by_ref().take(most_lines) {
        shown.push_str(&text::cut(line.trim_end_matches('\n').as_bytes(), most_of_line));
        shown.push('\n');
    }
    let left = lines.count();
    if left > 0 {
        // It cannot fail on a string.
        let _ = writeln!(shown, "[{} not shown]", text::count(left, "more line"));
    }
    shown
}

impl Plan {
    /// The differences as one unified diff, limited to this many lines with this many bytes each.
    fn diff(&self, ground: &PathBase, most: (usize, usize)) -> String {
        let whole: String = self.changes.iter().map(|change| change.diff(ground)).collect();
        bounded(&whole, most)
    }

    /// The intent, for an approval request.
    fn intent(self, ground: &PathBase) -> Intent {
        let detail = Some(self.diff(ground, MOST_ASKED));
        let touches = self.changes.iter().flat_map(Change::places).flat_map(Place::written).collect();
        Intent { class: EffectClass::Workspace, touches, line: self.line, detail }
    }
}

/// The key of the fact that records which version of a file the agent knows.
fn key(place: &Place) -> String {
    format!("read/{}", place.path.to_string_lossy())
}

/// The fact that the agent knows this version of a file.
pub(crate) fn seen(place: &Place, bytes: &[u8]) -> Fact {
    Fact::new(key(place), disk::digest(bytes))
}

/// The fact that the agent knows no version of a file.
pub(crate) fn unknown(place: &Place) -> Fact {
    Fact::new(key(place), "")
}

/// The intent of a call, for an approval request.
pub(super) fn intent<A>(planner: Planner<A>, arguments: &A, ground: &PathBase) -> Result<Intent, String> {
    Ok(planner(arguments, ground)?.intent(ground))
}

/// Carries out a call.
pub(super) async fn carry_out<A: Send + 'static>(
    planner: Planner<A>,
    call: &Call,
    arguments: A,
) -> Result<Output, String> {
    let ground = PathBase::new(&call.folder().await, &call.roots);
    let plan = {
        let ground = ground.clone();
        blocking(call, move |_| planner(&arguments, &ground)).await?
    };
    carry_out_plan(plan, call, ground).await
}

async fn carry_out_plan(mut plan: Plan, call: &Call, ground: PathBase) -> Result<Output, String> {
    let idle: Vec<Change> = plan.changes.extract_if(.., |change| change.is_idle()).collect();
    let known: Vec<Fact> = idle.iter().flat_map(Change::facts).collect();
    if plan.changes.is_empty() {
        let names: Vec<_> = idle.iter().flat_map(Change::places).map(|at| ground.shown(&at.path)).collect();
        let content = format!("nothing to do: {} has exactly this content already", names.join(", "));
        return Ok(Output { facts: known, ..Output::ok(content) });
    }
    if let Some(refusal) = elsewhere(call, &plan, &ground) {
        return Err(refusal);
    }
    if let Some(refusal) = unread(call, &plan, &ground).await {
        return Err(refusal);
    }
    let theirs = call.host.environment().and_then(|theirs| theirs.umask());
    let landed = blocking(call, move |_| umask::with(theirs, || land(&plan, &ground))).await;
    let mut output =
        landed.map_err(|error| format!("nothing was written: no thread can be started: {error}"))?;
    output.facts.extend(known);
    Ok(output)
}

/// Why a change is refused: a name has another target now than when rules, or a person, allowed it.
fn elsewhere(call: &Call, plan: &Plan, ground: &PathBase) -> Option<String> {
    let settled = call.writes.as_ref()?;
    let place = plan.changes.iter().flat_map(Change::places).find(|place| !settled.contains(&place.path))?;
    let now = ground.shown(&place.path);
    Some(format!(
        "nothing was changed. The path now leads to {now}, which was not approved: call the tool again if you want that"
    ))
}

/// Why a change is refused: the agent has not read the current version of a file.
async fn unread(call: &Call, plan: &Plan, ground: &PathBase) -> Option<String> {
    let mut reasons = Vec::new();
    for (place, was) in plan.changes.iter().filter_map(|change| change.from.as_ref()) {
        let name = ground.shown(&place.path);
        match call.host.fact(&key(place)).await {
            Some(known) if known == was.digest() => {}
            Some(known) if !known.is_empty() => reasons.push(format!(
                "`{name}` has changed since you read it: read it again, then decide what to change"
            )),
            _ => reasons.push(format!("`{name}` is there and you have not read it: read it first")),
        }
    }
    if reasons.is_empty() { None } else { Some(format!("nothing was changed. {}", reasons.join("; "))) }
}

fn land(plan: &Plan, ground: &PathBase) -> Output {
    let name =
        |change: &Change| change.places().last().map(|place| ground.shown(&place.path)).unwrap_or_default();
    let mut staged = Vec::new();
    for change in &plan.changes {
        match change.stage() {
            Ok(ready) => staged.push(ready),
            Err(why) => {
                // The last one first: it may be in a folder that an earlier one created.
                while staged.pop().is_some() {}
                return Output::failed(format!(
                    "nothing was changed. Cannot write `{}`: {why}",
                    name(change)
                ));
            }
        }
    }
    let mut output = Output::ok(plan.said.clone());
    let mut done = Vec::new();
    for (change, ready) in plan.changes.iter().zip(staged) {
        if let Err(why) = change.land(ready) {
            let rest = match done.is_empty() {
                true => "nothing else was changed".to_owned(),
                false => format!("changed before that: {}", done.join(", ")),
            };
            output.outcome = ToolOutcome::Failed;
            output.content = format!("Cannot change `{}`: {why}; {rest}", name(change));
            break;
        }
        done.push(name(change));
        output.facts.extend(change.facts());
        output.written.extend(change.places().map(|place| place.path.clone()));
    }
    if output.outcome == ToolOutcome::Ok {
        output.shown = Some(plan.diff(ground, (MOST_LINES, text::MOST_OF_LINE)));
    }
    output
}
