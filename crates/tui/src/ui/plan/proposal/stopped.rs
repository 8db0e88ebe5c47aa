//! A plan that became stale because a run was stopped for it. Must never do more than was agreed to: only what the run itself
//! added until its end.

use std::collections::HashMap;

use retake_wire::reply::{Plan, TimelinePlan, Waiting};
use retake_wire::request::ConversationTarget;
use retake_wire::{FilesPlan, PathPlan, Problem, Reply, Request, Verdict};

use super::{Proposal, ProposalStage, worded};
use crate::render::posts;
use crate::ui::msg::PaneInstruction;
use crate::ui::pane::Cx;

/// A run was stopped for a plan.
#[derive(Debug)]
pub(super) struct Stopped {
    /// The plan that was agreed to.
    seen: Plan,
    /// It has already continued by itself once.
    has_gone_on: bool,
}

impl Stopped {
    pub(super) fn new(seen: Plan) -> Self {
        Self { seen, has_gone_on: false }
    }
}

impl Proposal {
    /// Messages that wait for the stopped run would start another one if the stop makes the plan stale: they are taken back
    /// first. Returns whether there are any.
    pub(super) fn takes_words_back(&mut self, cx: &mut Cx<'_>) -> bool {
        if self.stopped.is_some() || !self.plan.as_ref().is_some_and(|plan| plan.at_work && plan.waiting > 0)
        {
            return false;
        }
        let ticket = cx.ask(Request::Unqueue(ConversationTarget { conversation: cx.id() }));
        (self.unqueued, self.stage) = (Some(ticket), ProposalStage::Applying(ticket, cx.now_ms));
        true
    }

    /// They are back: they go to the composer, and the action is done.
    pub(super) fn words_are_back(&mut self, reply: Result<Reply, Problem>, cx: &mut Cx<'_>) {
        self.stage = ProposalStage::Looking;
        match reply {
            Ok(Reply::Waiting(Waiting { words })) => {
                let parts: Vec<_> = words.into_iter().flat_map(|words| words.parts).collect();
                if !parts.is_empty() {
                    cx.want(PaneInstruction::Returned(parts));
                }
                self.goes_ahead(true, cx);
            }
            Ok(_) => {}
            Err(problem) => self.note = Some(worded(&problem)),
        }
    }

    /// The plan was made again after a stop. If only the run itself has added something, the action goes ahead. Otherwise the
    /// plan is shown, and the next Enter applies it. Returns whether there was a stop.
    pub(super) fn goes_on_stopped(&mut self, cx: &mut Cx<'_>) -> bool {
        // A plan that arrives during the step must not erase the record of the stop.
        if self.stage != ProposalStage::Looking {
            return false;
        }
        let Some(mut stopped) = self.stopped.take() else { return false };
        let Some(plan) = self.plan.as_ref().filter(|_| self.problem.is_none()) else {
            self.note = Some("stopped, and not applied".to_owned());
            return true;
        };
        let refuses = self.refuses();
        if refuses.is_none() && !stopped.has_gone_on && adds_only_the_run(&stopped.seen, plan) {
            stopped.has_gone_on = true;
            self.stopped = Some(stopped);
            self.apply(true, cx);
            return true;
        }
        self.stopped = Some(stopped);
        self.note = Some(match refuses {
            _ if self.stops() => {
                "not applied: something is running again, and this is the new plan".to_owned()
            }
            Some(why) => format!("stopped; {why}"),
            None => "stopped; this is the new plan: press again to apply it".to_owned(),
        });
        if !self.stops() && self.refuses().is_none() && self.asks_twice() {
            self.stage = ProposalStage::Agreeing { stop: false };
        }
        true
    }
}

/// Whether a plan does the same as another one, and otherwise takes back only what the run did until its end. It has no new
/// choice, nothing irreversible, and brings nothing back.
fn adds_only_the_run(seen: &Plan, now: &Plan) -> bool {
    let of_run = |plan: &Plan| Plan {
        head: String::new(),
        at_work: false,
        running: Vec::new(),
        waiting: 0,
        timeline: TimelinePlan { taken_back: Default::default(), gone: Vec::new(), ..plan.timeline.clone() },
        files: None,
        outside: Default::default(),
        conditions: Vec::new(),
        stays: Vec::new(),
        ..plan.clone()
    };
    let none = FilesPlan::default();
    let files = |plan: &Plan| plan.files.clone().unwrap_or_else(|| none.clone());
    of_run(seen) == of_run(now)
        && seen.timeline.gone.iter().all(|line| now.timeline.gone.iter().any(|gone| gone.id == line.id))
        && now.outside.effects.count <= seen.outside.effects.count
        // What the run posted goes with it, unless a post of it stays.
        && (now.outside.posts == seen.outside.posts || !posts::stays(&now.outside.posts.all))
        && now.conditions.iter().all(|it| seen.conditions.contains(it))
        && now.timeline.taken_back.turns == seen.timeline.taken_back.turns
        && files_add_only_the_run(&files(seen), &files(now))
}

fn files_add_only_the_run(seen: &FilesPlan, now: &FilesPlan) -> bool {
    let name = |path: &PathPlan| (path.name.path.clone(), path.name.path_base64.clone());
    let known: HashMap<_, _> = seen.paths.iter().map(|path| (name(path), path.verdict)).collect();
    // The files that the run wrote are reverted completely, and nobody else has changed them.
    let is_own = |verdict| matches!(verdict, Verdict::Revert | Verdict::Delete | Verdict::Recreate);
    now.conflicts == 0
        && now.left <= seen.left
        && now.paths.iter().all(|path| known.get(&name(path)) == Some(&path.verdict) || is_own(path.verdict))
}
