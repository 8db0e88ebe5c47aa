//! What was done in one step or in several, as one receipt; and the same again, when the request comes again. Must never do a step.

use std::collections::BTreeMap;

use retake_core::{
    Action, By, Choice, ConversationId, FilePath, Head, Moved, NetChange, OpRange, Operation, PathMove,
    PathPlan, Reason, Receipt, ReceiptDetails, RequestId, Verdict, WorkspaceNo,
};
use retake_engine::{EngineError, FilesApplied, FilesPlanned, FilesWish, shown_in};
use retake_wire::{Problem, reply};

use super::files::cut_off;
use super::files::whose::Whose;
use super::files::words::{OfFiles, besides, count, left};
use super::store_problem;
use crate::InProcess;
use crate::convert::{self, problem, usage};

/// So many calls that can't be taken back are told one by one.
const EFFECTS: usize = 10;

/// What was done, in one step or in several.
#[derive(Default)]
pub(super) struct Done {
    pub(super) receipts: Vec<Receipt>,
    pub(super) left: Vec<String>,
    pub(super) notes: Vec<String>,
    /// What it had to do with files, and what stays besides.
    pub(super) of_files: Option<OfFiles>,
    /// The request has come before, and files may go with it: what stayed was told then.
    pub(super) again: bool,
    pub(super) stays: Vec<String>,
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
        (asked, again): (usize, bool),
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
        Ok(Done { receipts, refused, again, ..Done::default() })
    }

    /// What a step did is done.
    pub(super) async fn add(
        &self,
        of: ConversationId,
        done: &mut Done,
        applied: FilesApplied,
    ) -> Result<(), Problem> {
        self.tell(of, done, &applied).await?;
        done.receipts.push(applied.receipt);
        Ok(())
    }

    /// What a step did, but for its receipt.
    async fn tell(&self, of: ConversationId, done: &mut Done, applied: &FilesApplied) -> Result<(), Problem> {
        let whose = self.whose(of, applied.folders.iter().map(|folder| &folder.plan)).await?;
        done.tell(applied, &whose);
        Ok(())
    }

    /// What waits for a choice first, and why.
    async fn clash(&self, of: ConversationId, planned: &FilesPlanned) -> Result<Option<String>, Problem> {
        let waits = |path: &&PathPlan| matches!(path.verdict, Verdict::Conflict(_));
        let mut folders = planned.files.iter();
        let first = folders.find_map(|folder| Some((folder, folder.plan.paths.iter().find(waits)?)));
        let Some((folder, path)) = first else { return Ok(None) };
        let whose = self.whose(of, [&folder.plan].into_iter()).await?;
        let name = shown_in(folder.folder.as_deref(), &path.path);
        Ok(whose.why(path).map(|why| format!("{name}: {why}")))
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

    /// Which of several planned steps are done before one is refused, as they are taken one at a time, and why that one is. None, where
    /// none is refused, or where the first one is and the plan of all shows that.
    pub(super) async fn refused_step(
        &self,
        of: ConversationId,
        action: &Action,
        wish: FilesWish,
        all: &FilesPlanned,
    ) -> Result<Option<(usize, String)>, Problem> {
        let step: fn(usize) -> Action = match action {
            Action::Undo(_) => Action::Undo,
            Action::Redo(_) => Action::Redo,
            _ => return Ok(None),
        };
        let steps = all.conversation.as_ref().map_or(0, |half| half.ops);
        // Where no file is planned of, no step has one.
        if steps < 2 || all.files.iter().all(|folder| folder.plan.paths.is_empty()) {
            return Ok(None);
        }
        // Hunks are those of the whole plan: they fit no part of it, and several steps are refused with them.
        let mut chosen = wish.chosen.paths.values().chain(wish.elsewhere.values());
        if chosen.any(|choice| matches!(choice, Choice::Hunks(_))) {
            return Ok(None);
        }
        // A step may clash with what is there although all of them together lead to just that.
        for count in 1..steps {
            let planned = self.engine.plan_as_seen(of, step(count), wish.clone()).await.map_err(problem)?;
            if let Some(why) = self.clash(of, &planned).await? {
                // The plan of all shows the clash that is to be chosen for.
                let shown = count == 1 && !all.files.iter().all(|folder| folder.plan.is_clean());
                return Ok((!shown).then_some((count - 1, why)));
            }
        }
        Ok(self.clash(of, all).await?.map(|why| (steps - 1, why)))
    }

    /// The receipt of all steps together: what they came to in all, as their plan said.
    pub(super) async fn told(&self, done: Done, asked: Option<usize>) -> Result<reply::Receipt, Problem> {
        let Done { receipts, left, notes, of_files, again, stays, refused, effects, waited } = done;
        let mut all = receipts.into_iter();
        let mut whole = all.next().expect("BUG: something was done");
        let one = whole.head;
        for next in all {
            let ops = [whole.ops, next.ops].concat();
            let entries = [whole.entries, next.entries].concat();
            let unchanged = whole.unchanged && next.unchanged;
            whole = Receipt { ops, entries, unchanged, ..next };
        }
        if let Some(first) = whole.ops.first().filter(|_| whole.head != one) {
            let net = self.engine.store().net(whole.conversation, *first, whole.head);
            let NetChange { taken_back, brought_back, lifted } = net.await.map_err(store_problem)?;
            whole = Receipt { taken_back, brought_back, lifted, ..whole };
        }
        let mut counts = retake_wire::FileCounts::default();
        let ReceiptDetails { moved, composer } =
            self.engine.store().aftermath(&whole).await.map_err(store_problem)?;
        let any = !moved.is_empty();
        in_all(moved).values().for_each(|folder| count(&mut counts, folder.values()));
        let files = (any || !left.is_empty() || !notes.is_empty()).then_some(retake_wire::FilesDone {
            counts,
            left,
            notes,
        });
        let none = match of_files {
            _ if whole.unchanged => None,
            Some(of_files) => of_files.none(),
            None if again && !any => OfFiles::again([whole.taken_back, whole.brought_back]),
            None => None,
        };
        let stays = none.map(str::to_owned).into_iter().chain(stays).collect();
        let steps = asked.map(|asked| reply::Steps { done: whole.ops.len(), asked, refused });
        Ok(reply::Receipt { steps, files, stays, effects, waited, ..convert::receipt(&whole, composer) })
    }
}

impl InProcess {
    /// The receipt of words that were said in an edit: the step back that they began with is part of it, and so is what that did to
    /// files, and what stayed, where that is still known.
    pub(crate) async fn reworded(
        &self,
        said: &Receipt,
        back: Option<&FilesApplied>,
    ) -> Result<reply::Receipt, Problem> {
        let (of, mut whole) = (said.conversation, said.clone());
        if whole.ops.is_empty() {
            let range = OpRange { before: Some(whole.head.op.next()), limit: 1 };
            let last =
                self.engine.store().ops(of, range).await.map_err(store_problem)?.ops.into_iter().next();
            // The same that a run goes on from which is asked for again.
            let is_back = |op: &Operation| op.reason == Reason::Edit && op.at.0 + 1 == said.head.seq.0;
            if let Some(back) = last.map(|line| line.op).filter(is_back) {
                let to = Head { op: back.no, seq: back.at };
                let net = self.engine.store().net(of, back.no, to).await.map_err(store_problem)?;
                let NetChange { taken_back, lifted, .. } = net;
                whole = Receipt { ops: vec![back.no], taken_back, lifted, ..whole };
            }
        }
        let mut done = Done { receipts: vec![whole], again: back.is_none(), ..Done::default() };
        if let Some(back) = back {
            self.tell(of, &mut done, back).await?;
        }
        self.told(done, None).await
    }
}

impl Done {
    fn tell(&mut self, applied: &FilesApplied, whose: &Whose) {
        for done in &applied.folders {
            let folder = done.folder.as_deref();
            let why = |path: &PathPlan| {
                whose.why(path).map(|why| format!("{}: {why}", shown_in(folder, &path.path)))
            };
            self.left.extend(done.plan.paths.iter().filter_map(why));
            self.left.extend(done.left.iter().map(|it| left(folder, it)));
        }
        let receipt = &applied.receipt;
        let plans = applied.folders.iter().map(|done| &done.plan);
        let of_files = OfFiles::new(applied.scope, plans, [receipt.taken_back, receipt.brought_back]);
        self.of_files = Some(self.of_files.map_or(of_files, |before| before.and(of_files)));
        let cut_off = cut_off(applied.unanswered.iter(), &applied.effects);
        let stays = besides(&cut_off, &applied.unseen).into_iter().chain(applied.stays.iter().cloned());
        // Each of several steps may leave the same.
        let stays: Vec<String> = stays.filter(|line| !self.stays.contains(line)).collect();
        self.stays.extend(stays);
        self.notes.extend(applied.ended.iter().map(|job| format!("the job `{job}` does not run again")));
        // Each step goes further back: what the first ones leave is the newest.
        let more = crate::agent::effects(applied.effects.clone());
        self.effects.count += more.count;
        self.effects.calls.extend(more.calls);
        self.effects.calls.truncate(EFFECTS);
        self.waited.extend(applied.waited.iter().cloned().map(crate::agent::words));
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

/// What several steps did to files: of each path what the first one found and the last one left.
fn in_all(steps: Vec<Moved>) -> BTreeMap<WorkspaceNo, BTreeMap<FilePath, PathMove>> {
    let mut all: BTreeMap<WorkspaceNo, BTreeMap<FilePath, PathMove>> = BTreeMap::new();
    for Moved { workspace, moves } in steps {
        let folder = all.entry(workspace).or_default();
        for made in moves {
            match folder.get_mut(&made.change.path) {
                Some(earlier) => {
                    earlier.change.after = made.change.after;
                    earlier.stack_after = made.stack_after;
                }
                None => drop(folder.insert(made.change.path.clone(), made)),
            }
        }
    }
    all
}
