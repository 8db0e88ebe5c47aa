//! What an action would do, in full, before it is done. Must never leave out what can't be reverted.

use retake_wire::reply::{Composer, Counts, Line, Plan, TimelinePlan};
use retake_wire::{Action, Condition, english};

use super::id::Ids;
use super::{about, content, effects, files, posts, words};
use crate::hint::Audience;
use crate::text::style::Style;
use crate::text::styled::text;
use crate::text::{Look, Text, safe, width};

/// The plan, and the head to apply it with.
pub fn plan(look: &Look, plan: &Plan) -> Text {
    with_head(plan, body(look, plan))
}

/// The same for a known action. Marks are easily confused, so a sentence says first what they do.
pub fn of(look: &Look, action: &Action, plan: &Plan) -> Text {
    let about = about::sentence(action).filter(|_| matches!(action, Action::Mark { .. }));
    let about = about.map(|about| content::block(look, about, 0, None));
    with_head(plan, Text::from(about) + told(look, Some(action), plan))
}

fn with_head(plan: &Plan, body: Text) -> Text {
    text![body, (Style::Dim, format!("head {}", safe::line(&plan.head))), "\n"]
}

/// The plan without the head.
pub fn body(look: &Look, plan: &Plan) -> Text {
    told(look, None, plan)
}

fn told(look: &Look, action: Option<&Action>, plan: &Plan) -> Text {
    if plan.unchanged {
        let files = plan.files.as_ref().map(|plan| files::plan_or(look, plan, files::NOTHING));
        return match files.filter(|files| !files.is_empty()) {
            Some(files) => {
                text!["nothing would change\n", files, stays(look, Audience::Shell, &plan.conditions)]
            }
            None => SO_ALREADY.into(),
        };
    }
    let mut text = steps(look, plan) + conversation(look, action, plan);
    if let Some(files) = &plan.files {
        let refused = plan.steps.as_ref().is_some_and(|steps| steps.refusal.is_some());
        let otherwise = if refused { files::NOT_ALL } else { files::NOTHING };
        text.push(files::plan_or(look, files, otherwise));
    }
    text.push(effects::effects(look, &plan.outside.effects, effects::Files::of_plan(plan)));
    text.push(posts::posts(look, &plan.outside.posts, posts::Step::Planned));
    text.push(ended_first(look, plan));
    text.push(stays(look, Audience::Shell, &plan.conditions));
    if text.is_empty() && !matches!(action, Some(Action::Mark { .. })) {
        text.push(NO_MESSAGE);
    }
    text
}

/// The sentence for a plan that changes nothing.
pub(crate) const SO_ALREADY: &str = "nothing would change: it is already in this state\n";

/// The sentence for a plan about which there is nothing else to report.
pub(crate) const NO_MESSAGE: &str = "no message is added or removed\n";

/// What happens to the conversation: its messages and folds, and the text that returns to the input line.
pub(crate) fn conversation(look: &Look, action: Option<&Action>, plan: &Plan) -> Text {
    let (back, forth) = about::verbs(action);
    let returns = plan.composer.as_ref().map(|composer| returns(look, composer));
    let lines = content::sentences(look, folds(&plan.timeline).into_iter().chain(returns), None);
    messages(look, action, &plan.timeline, [back, forth]) + covered(look, &plan.timeline) + lines
}

/// The conditions of a plan or a receipt, one sentence each.
pub(crate) fn stays(look: &Look, audience: Audience, conditions: &[Condition]) -> Text {
    let told = conditions.iter().map(|it| format!("! {}", safe::line(&audience.condition(it))));
    content::sentences(look, told, Some(Style::Warn))
}

/// The same for the full screen: that no file was changed is no warning, and facts go with their messages.
pub(crate) fn remarks(look: &Look, conditions: &[Condition]) -> Text {
    let is_plain = |it: &Condition| matches!(it, Condition::NoFileChanges | Condition::MemoryChanges { .. });
    let (plain, warnings): (Vec<_>, Vec<_>) = conditions.iter().cloned().partition(is_plain);
    let told = plain.iter().map(|it| safe::line(&Audience::Screen.condition(it)).into_owned());
    content::sentences(look, told, None) + stays(look, Audience::Screen, &warnings)
}

/// The differences between now and the state that a plan leads to, not worded as a plan.
pub(crate) fn comparison(look: &Look, plan: &Plan) -> Text {
    let mut text = messages(look, None, &plan.timeline, ["only here", "only there"]);
    match &plan.files {
        Some(plan) if !plan.paths.is_empty() => {
            text.push("what would have to change for files to be as they were there\n");
            text.push(files::plan(look, plan));
        }
        _ => text.push("no file is different there\n"),
    }
    text
}

/// The messages that leave and enter, under these words.
fn messages(look: &Look, action: Option<&Action>, timeline: &TimelinePlan, verbs: [&str; 2]) -> Text {
    let ids = timeline.gone.iter().chain(&timeline.came).map(|line| line.id.as_str()).collect();
    let mut text = Text::new();
    for (verb, sign, style, counts, lines) in [
        (verbs[0], '-', Style::Removed, timeline.taken_back, &timeline.gone),
        (verbs[1], '+', Style::Added, timeline.brought_back, &timeline.came),
    ] {
        if counts != Counts::default() || !lines.is_empty() {
            let amount = words::counts(about::counts(action, counts));
            text.push(content::sentence(look, &format!("{verb} {amount}"), 0, Some(Style::Bold)));
            for entry in lines {
                text.push(line(look, entry, sign, style, &ids));
            }
            text.push(dim_rest(counts.messages, lines.len()));
        }
    }
    text
}

/// That there are fewer steps than requested, or that one of them is refused.
pub(crate) fn short_of(plan: &Plan) -> Option<String> {
    let steps = plan.steps.as_ref().filter(|steps| steps.done < steps.asked)?;
    if let Some(refusal) = &steps.refusal {
        let why = english::step_refusal(refusal);
        if steps.done == 0 {
            let why = safe::line(&why);
            return Some(format!(
                "nothing would be done: the first step is refused: {why}; plan one step to choose"
            ));
        }
        let (done, asked) = (words::number(steps.done as u64), words::number(steps.asked as u64));
        return Some(format!(
            "{done} of {asked} steps would be done, and the next one is refused: {}",
            safe::line(&why)
        ));
    }
    let there_are = if steps.done == 1 {
        "there is only 1 step".to_owned()
    } else {
        format!("there are only {} steps", words::number(steps.done as u64))
    };
    Some(format!("{there_are}, of {} asked for", words::number(steps.asked as u64)))
}

/// The steps of an undo or a redo: says if there are fewer than requested; several are listed one per line.
pub(crate) fn steps(look: &Look, plan: &Plan) -> Text {
    let short = short_of(plan).map(|line| content::sentence(look, &line, 0, Some(Style::Warn)));
    let steps = english::steps(plan);
    let told = steps.len();
    if told < 2 {
        return short.into();
    }
    let all = plan.steps.as_ref().map_or(told, |steps| steps.done);
    let lines = (1..).zip(&steps).map(|(number, line)| format!("{number}. {}", safe::line(line)));
    Text::from(short) + content::sentences(look, lines, None) + dim_rest(all as u64, told)
}

/// What the summary of a fold replaces.
fn covered(look: &Look, timeline: &TimelinePlan) -> Text {
    if timeline.covered == 0 {
        return Text::new();
    }
    let ids = timeline.covers.iter().map(|line| line.id.as_str()).collect();
    let mut text = content::sentence(
        look,
        &format!("the summary covers {}", words::count(timeline.covered, "message")),
        0,
        None,
    );
    for entry in &timeline.covers {
        text.push(line(look, entry, ' ', Style::Dim, &ids));
    }
    text + dim_rest(timeline.covered, timeline.covers.len())
}

/// What happens to folds, one per line.
fn folds(timeline: &TimelinePlan) -> Vec<String> {
    // A plan that covers messages makes a fold; any other plan restores an existing one.
    let in_force = if timeline.covered > 0 { "in force" } else { "in force again" };
    let both = [(&timeline.lifted, "no longer in force"), (&timeline.in_force, in_force)];
    let some = both.into_iter().filter(|(folds, _)| !folds.is_empty());
    let lines = some.map(|(folds, state)| {
        let (amount, are) = (words::count(folds.len() as u64, "fold"), words::is_are(folds.len()));
        format!("{amount} {are} {state}: {}", safe::line(&folds.join(", ")))
    });
    lines.collect()
}

/// What must end first.
pub(crate) fn ended_first(look: &Look, plan: &Plan) -> Text {
    content::sentences(look, ends(plan, false), Some(Style::Warn))
}

/// What must end first, or will end if that is agreed to; one sentence each.
pub(crate) fn ends(plan: &Plan, agreed: bool) -> Vec<String> {
    let (has, have) = if agreed { ("is", "are") } else { ("has to be", "have to be") };
    let mut all = Vec::new();
    if plan.at_work {
        let comes_back = match plan.waiting {
            0 => String::new(),
            some => {
                format!("; {} that {} to you", words::count(some as u64, "message"), waits(some, agreed))
            }
        };
        all.push(format!("! the agent is at work here: it {has} stopped first{comes_back}"));
    }
    // A person counts a command as one, whatever the number of its processes.
    match plan.running.len() {
        0 => {}
        1 => all.push(format!("! a command still runs: it {has} ended first")),
        more => all.push(format!("! {more} commands still run: they {have} ended first")),
    }
    all
}

/// The plan in one line; a known action has its own words.
pub fn brief(action: Option<&Action>, plan: &Plan) -> String {
    if plan.unchanged {
        return "nothing would change".to_owned();
    }
    let mut pieces = pieces(action, plan, |counts| words::counts(about::counts(action, counts)));
    pieces.extend(plan.files.as_ref().map(files::brief));
    pieces.join("; ")
}

/// What happens to messages and folds, with the amount of each, in a few words.
pub(crate) fn pieces(action: Option<&Action>, plan: &Plan, amount: impl Fn(Counts) -> String) -> Vec<String> {
    let (back, forth) = about::verbs(action);
    let timeline = &plan.timeline;
    let both = [(back, timeline.taken_back), (forth, timeline.brought_back)].into_iter();
    let some = both.filter(|(_, counts)| *counts != Counts::default());
    let lifted = Some(timeline.lifted.len() as u64).filter(|lifted| *lifted > 0);
    let lifted = lifted.map(|lifted| format!("lifts {}", words::count(lifted, "fold")));
    some.map(|(verb, counts)| format!("{verb} {}", amount(counts))).chain(lifted).collect()
}

/// That messages wait and come back; in the conditional if ending the run is not agreed to.
fn waits(amount: usize, agreed: bool) -> &'static str {
    match (amount, agreed) {
        (1, true) => "waits comes back",
        (1, false) => "waits would come back",
        (_, true) => "wait come back",
        (_, false) => "wait would come back",
    }
}

fn line(look: &Look, line: &Line, sign: char, style: Style, ids: &Ids<'_>) -> Text {
    let (speaker, _) = words::said_by(line);
    let preview = safe::line(&line.preview);
    let id = if look.ids { format!("{}  ", ids.short(&line.id)) } else { String::new() };
    let text = format!("  {sign} {id}{speaker:<6} {preview}");
    text![(style, width::truncate(&text, look.columns)), "\n"]
}

/// The number of items beyond those shown.
pub(crate) fn dim_rest(all: u64, shown: usize) -> Text {
    match all.saturating_sub(shown as u64) {
        0 => Text::new(),
        more => text![(Style::Dim, format!("    … and {} more", words::number(more))), "\n"],
    }
}

/// The text that returns to the input line.
pub fn returns(look: &Look, composer: &Composer) -> String {
    let attached =
        content::attached(&composer.parts).map(|attached| format!(" {attached}")).unwrap_or_default();
    let columns = look.columns.saturating_sub(30).max(20);
    format!("to edit:{}{attached}\n", words::quoted(&composer.text, columns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_messages_come_back_once_the_end_of_the_run_is_agreed() {
        for (waiting, agreed, end) in [
            (0, true, "it is stopped first"),
            (1, true, "it is stopped first; 1 message that waits comes back to you"),
            (2, true, "it is stopped first; 2 messages that wait come back to you"),
            (1, false, "it has to be stopped first; 1 message that waits would come back to you"),
            (2, false, "it has to be stopped first; 2 messages that wait would come back to you"),
        ] {
            let plan = Plan { at_work: true, waiting, ..Plan::default() };
            assert_eq!(ends(&plan, agreed), [format!("! the agent is at work here: {end}")]);
        }
    }

    /// A new fold was never in force before.
    #[test]
    fn trial_17_a_new_fold_is_not_in_force_again() {
        let of = |covered| TimelinePlan { covered, in_force: vec!["7".to_owned()], ..Default::default() };
        assert_eq!(folds(&of(3)), ["1 fold is in force: 7"]);
        assert_eq!(folds(&of(0)), ["1 fold is in force again: 7"]);
    }
}
