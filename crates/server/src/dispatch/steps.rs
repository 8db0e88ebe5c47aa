//! What was done in one step or in several, as one receipt; and the same again, when the request comes again. Must never do a step.

use retake_core::{ConversationId, PathPlan, Reason, RequestId, Totals};
use retake_engine::store::{Aftermath, By, OpRange, Receipt};
use retake_engine::{EngineError, shown_in};
use retake_wire::{Problem, reply};

use super::files::words::{count, left, note, why};
use super::store_problem;
use crate::InProcess;
use crate::convert::{self, usage};

/// So many calls that can't be taken back are told one by one.
const EFFECTS: usize = 10;

/// What was done, in one step or in several.
#[derive(Default)]
pub(super) struct Done {
    pub(super) receipts: Vec<Receipt>,
    pub(super) left: Vec<String>,
    pub(super) notes: Vec<String>,
    pub(super) refused: Option<String>,
    pub(super) effects: reply::Effects,
    pub(super) waited: Vec<reply::Words>,
}

impl InProcess {
    /// What a request did that comes again: the steps that are recorded, and no other.
    pub(super) async fn recorded_steps(
        &self,
        of: ConversationId,
        first: Receipt,
        by: &By,
        asked: usize,
    ) -> Result<Done, Problem> {
        let mut receipts = vec![first];
        for at in 2..=asked {
            match self.recorded(of, &step_of(by, at)?).await? {
                Some(receipt) => receipts.push(receipt),
                None => break,
            }
        }
        let done: usize = receipts.iter().map(|receipt| receipt.ops.len()).sum();
        let refused = match done < asked && self.goes_on(of, receipts.last()).await? {
            true => {
                Some("its files were in conflict when this was asked for first; look at its plan".to_owned())
            }
            false => None,
        };
        Ok(Done { receipts, refused, ..Done::default() })
    }

    /// Whether there was a step more after the last one of these.
    async fn goes_on(&self, of: ConversationId, last: Option<&Receipt>) -> Result<bool, Problem> {
        let Some(no) = last.and_then(|receipt| receipt.ops.last()) else {
            return Ok(false);
        };
        let range = OpRange { before: Some(no.next()), limit: 1 };
        let page = self.engine.store().ops(of, range).await.map_err(store_problem)?;
        Ok(page.ops.first().is_some_and(|line| match line.op.reason {
            Reason::Undo(_) => line.op.line_after.done.is_some(),
            Reason::Redo(_) => line.op.line_after.undone.is_some(),
            _ => false,
        }))
    }

    /// The receipt of all steps together.
    pub(super) async fn told(&self, done: Done, asked: Option<usize>) -> Result<reply::Receipt, Problem> {
        let Done { receipts, left, notes, refused, effects, waited } = done;
        let mut all = receipts.into_iter();
        let mut whole = all.next().expect("BUG: something was done");
        for next in all {
            let ops = [whole.ops, next.ops].concat();
            let entries = [whole.entries, next.entries].concat();
            let lifted = [whole.lifted, next.lifted].concat();
            let taken_back = sum(whole.taken_back, next.taken_back);
            let brought_back = sum(whole.brought_back, next.brought_back);
            let unchanged = whole.unchanged && next.unchanged;
            whole = Receipt { ops, entries, lifted, taken_back, brought_back, unchanged, ..next };
        }
        let mut counts = retake_wire::FileCounts::default();
        let mut any = false;
        let Aftermath { moved, composer } =
            self.engine.store().aftermath(&whole).await.map_err(store_problem)?;
        for moved in moved {
            any = true;
            moved.moves.iter().for_each(|made| count(&mut counts, made));
        }
        let files = (any || !left.is_empty() || !notes.is_empty()).then_some(retake_wire::FilesDone {
            counts,
            left,
            notes,
        });
        let steps = asked.map(|asked| reply::Steps { done: whole.ops.len(), asked, refused });
        Ok(reply::Receipt { steps, files, effects, waited, ..convert::receipt(&whole, composer) })
    }
}

impl Done {
    pub(super) fn add(&mut self, applied: retake_engine::FilesApplied) {
        for done in &applied.folders {
            let folder = done.folder.as_deref();
            let why = |path: &PathPlan| {
                why(&path.verdict).map(|why| format!("{}: {why}", shown_in(folder, &path.path)))
            };
            self.left.extend(done.plan.paths.iter().filter_map(why));
            self.left.extend(done.left.iter().map(|it| left(folder, it)));
            self.notes.extend(done.notes.iter().map(|it| note(folder, it)));
        }
        self.notes.extend(super::files::words::unseen(&applied.unseen));
        self.notes.extend(applied.gone);
        self.notes.extend(applied.ended.iter().map(|job| format!("the job `{job}` does not run again")));
        // Each step goes further back: what the first ones leave is the newest.
        let more = crate::agent::effects(applied.effects);
        self.effects.count += more.count;
        self.effects.calls.extend(more.calls);
        self.effects.calls.truncate(EFFECTS);
        self.waited.extend(applied.waited.into_iter().map(crate::agent::words));
        self.receipts.push(applied.receipt);
    }
}

/// The request of a step: the first one has the id as it was given.
pub(super) fn step_of(by: &By, at: usize) -> Result<By, Problem> {
    let Some(id) = by.request.as_ref().filter(|_| at > 1) else {
        return Ok(by.clone());
    };
    let id: RequestId = format!("{id}~{at}")
        .parse()
        .map_err(|_| usage("the request id is too long for several steps: 120 characters are not"))?;
    Ok(By { request: Some(id), ..by.clone() })
}

/// Whether there is simply nothing more.
pub(super) fn is_end(error: &EngineError) -> bool {
    [retake_core::Refusal::NothingToUndo, retake_core::Refusal::NothingToRedo]
        .into_iter()
        .any(|end| error.message == end.to_string())
}

fn sum(one: Totals, other: Totals) -> Totals {
    Totals {
        messages: one.messages + other.messages,
        calls: one.calls + other.calls,
        turns: one.turns + other.turns,
    }
}
