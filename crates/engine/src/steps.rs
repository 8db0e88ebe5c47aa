//! Actions as clients request them: with their files, in one step or several, and as repeated requests.
//!
//! Several steps of undo or redo with files are made one at a time: each one is complete or not made.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;

use retake_core::{
    Action, Apply, ChangeOrigin, Choice, ConversationId, FactsChanged, FilePath, Head, Moved, NetChange,
    OpRange, Operation, Part, PathMove, PathPlan, PlacePosts, Plan, Reason, Receipt, ReceiptDetails, Refusal,
    RequestId, Scope, SeenState, StepLine, Verdict, WorkspaceNo,
};

use crate::Engine;
use crate::error::{EngineError, Kind, Result};
use crate::files::{AppliedFiles, FileOptions, ObjectsErased, PlannedFiles};

/// The result of an action.
#[derive(Debug)]
pub enum Done {
    /// Content was erased, and this changed which remembered facts count.
    Erased(Receipt, ObjectsErased, FactsChanged),
    /// The state changed; this action has no files.
    Changed(Receipt),
    /// Steps with their files, in order. `refused` is why the next one was not made.
    Steps {
        /// The result of each step.
        applied: Vec<AppliedFiles>,
        /// Why the next step was not made.
        refused: Option<EngineError>,
    },
    /// A repeated request: its receipts, and whether it stopped before its last step.
    Again {
        /// The receipts.
        receipts: Vec<Receipt>,
        /// Whether a further step was refused then.
        stopped: bool,
        /// Whether the action could change files.
        touches_files: bool,
    },
}

/// The step of a plan of several that would be refused.
#[derive(Debug)]
pub struct RefusedStep {
    /// The number of steps that would be made before it.
    pub done: usize,
    /// The folder of the path; `None` for the conversation's own.
    pub folder: Option<PathBuf>,
    /// The path with the conflict.
    pub path: PathPlan,
}

/// The combined receipt of all steps of a request.
#[derive(Debug)]
pub struct WholeReceipt {
    /// The receipt, with all changes of the steps.
    pub receipt: Receipt,
    /// Their file changes, by workspace: each path with its version before the first step and after the last one.
    pub moves: Vec<Vec<PathMove>>,
    /// The current content for the composer.
    pub composer: Option<Vec<Part>>,
    /// The first steps that it took back or brought back.
    pub steps: Vec<StepLine>,
}

/// The action for a number of steps.
type StepsAction = fn(usize) -> Action;

/// The number of steps that an action requests, and the action for a given number.
fn steps_of(action: &Action) -> Option<(usize, StepsAction)> {
    match action {
        Action::Undo(count) => Some((*count, Action::Undo)),
        Action::Redo(count) => Some((*count, Action::Redo)),
        _ => None,
    }
}

/// Whether single hunks are chosen. They belong to one step's plan and match no other.
fn chooses_hunks(options: &FileOptions) -> bool {
    let mut choices = options.chosen.paths.values().chain(options.elsewhere.values());
    choices.any(|choice| matches!(choice, Choice::Hunks(_)))
}

impl Engine {
    /// Carries out an action, with its files if it has any.
    ///
    /// # Errors
    ///
    /// The first step was refused: nothing has changed.
    pub fn act(
        self: &Arc<Self>,
        of: ConversationId,
        apply: Apply,
        options: FileOptions,
    ) -> BoxFuture<'_, Result<Done>> {
        Box::pin(async move {
            if let Action::Erase { entries, .. } = &apply.action {
                if !entries.is_empty() {
                    self.for_people(of).await?;
                    self.has_own_files(of).await?;
                }
                let (receipt, objects, facts) = self.erase(of, apply).await?;
                return Ok(Done::Erased(receipt, objects, facts));
            }
            self.for_people(of).await?;
            if !apply.action.traits().touches_files {
                return Ok(Done::Changed(self.apply(of, apply).await?));
            }
            match steps_of(&apply.action) {
                Some((count, step))
                    if count > 1
                        && options.scope != Scope::Conversation
                        && self.store().has_changes(of).await? =>
                {
                    self.act_step_by_step(of, apply, options, (count, step)).await
                }
                _ => {
                    let applied = vec![self.apply_both(of, apply, options).await?];
                    Ok(Done::Steps { applied, refused: None })
                }
            }
        })
    }

    async fn act_step_by_step(
        self: &Arc<Self>,
        of: ConversationId,
        apply: Apply,
        options: FileOptions,
        (count, step): (usize, StepsAction),
    ) -> Result<Done> {
        let options = self.as_seen(of, &apply.action, options).await?;
        if chooses_hunks(&options) {
            let error = EngineError::usage("hunks are those of one step's plan: take one step at a time");
            return Err(error.with("what", "hunks_of_several_steps"));
        }
        let (mut applied, mut seen) = (Vec::new(), apply.seen);
        for at in 1..=count {
            let by = by_of_step(&apply.by, at)?;
            match self.apply_both(of, Apply { action: step(1), seen, by }, options.clone()).await {
                Ok(done) => {
                    seen = SeenState::Exactly(done.receipt.head);
                    applied.push(done);
                }
                Err(error) if at == 1 => return Err(error),
                Err(error) if is_end(&error) => break,
                Err(error) => return Ok(Done::Steps { applied, refused: Some(error) }),
            }
        }
        Ok(Done::Steps { applied, refused: None })
    }

    /// The result of a repeated request: only its recorded steps. `first` is the receipt of its first step, `steps` the number
    /// that it requests.
    pub fn act_again<'a>(
        &'a self,
        of: ConversationId,
        by: &'a ChangeOrigin,
        first: Receipt,
        steps: usize,
    ) -> BoxFuture<'a, Result<Done>> {
        Box::pin(async move {
            let mut receipts = vec![first];
            for at in 2..=steps {
                match self.receipt(of, &by_of_step(by, at)?).await? {
                    Some(receipt) => receipts.push(receipt),
                    None => break,
                }
            }
            let touches_files = self.touched_files(&receipts[0]).await?;
            let done: usize = receipts.iter().map(|receipt| receipt.ops.len()).sum();
            let stopped = done < steps && self.goes_on(of, receipts.last()).await?;
            Ok(Done::Again { receipts, stopped, touches_files })
        })
    }

    /// The result of an earlier request with this id, in a conversation or for creating one. The receipts are those of that
    /// request.
    ///
    /// # Errors
    ///
    /// No request with this id was carried out there.
    pub fn earlier_request<'a>(
        &'a self,
        of: Option<ConversationId>,
        id: &'a RequestId,
    ) -> BoxFuture<'a, Result<Done>> {
        Box::pin(async move {
            let first = match self.receipt_of(of, id.clone()).await? {
                // The request that created a conversation is stored with it.
                None if of.is_some() => {
                    let made = self.receipt_of(None, id.clone()).await?;
                    made.filter(|receipt| Some(receipt.conversation) == of)
                }
                found => found,
            };
            let first = first.ok_or_else(|| unknown_request(id))?;
            // Only an undo or redo has further steps; each stored one has an operation.
            let is_step = |receipt: &Receipt| receipt.entries.is_empty() && !receipt.ops.is_empty();
            // Only a request that stored a message can be an edit.
            let mut receipts = vec![match first.entries.is_empty() {
                true => first.clone(),
                false => self.edit_receipt(&first).await?,
            }];
            for at in 2.. {
                let Some(step) = id.of_step(at).ok().filter(|_| is_step(&first)) else { break };
                match self.receipt_of(Some(first.conversation), step).await?.filter(is_step) {
                    Some(receipt) => receipts.push(receipt),
                    None => break,
                }
            }
            let touches_files = self.touched_files(&receipts[0]).await?;
            Ok(Done::Again { receipts, stopped: false, touches_files })
        })
    }

    /// Whether a request could change files.
    async fn touched_files(&self, done: &Receipt) -> Result<bool> {
        let Some(no) = done.ops.first() else { return Ok(false) };
        let range = OpRange { before: Some(no.next()), limit: 1 };
        let page = self.store().ops(done.conversation, range).await?;
        Ok(page.ops.first().is_some_and(|line| line.op.reason.traits().touches_files))
    }

    /// Whether another step was possible after the last one of these.
    async fn goes_on(&self, of: ConversationId, last: Option<&Receipt>) -> Result<bool> {
        let Some(no) = last.and_then(|receipt| receipt.ops.last()) else {
            return Ok(false);
        };
        let page = self.store().ops(of, OpRange { before: Some(no.next()), limit: 1 }).await?;
        Ok(page.ops.first().is_some_and(|line| match line.op.reason {
            Reason::Undo(_) => line.op.history_after.done.is_some(),
            Reason::Redo(_) => line.op.history_after.undone.is_some(),
            _ => false,
        }))
    }

    /// The first of several planned steps that would be refused, made one at a time. `None` if none would be, or if it is the
    /// first one and the plan of all steps shows its conflict.
    pub async fn refused_step(
        &self,
        of: ConversationId,
        action: &Action,
        options: &FileOptions,
        all: &PlannedFiles,
    ) -> Result<Option<RefusedStep>> {
        let Some((_, step)) = steps_of(action) else { return Ok(None) };
        let steps = all.conversation.as_ref().map_or(0, |half| half.ops);
        // If no file is planned, no step has one.
        let no_files = all.files.iter().all(|folder| folder.plan.paths.is_empty());
        if steps < 2 || no_files || chooses_hunks(options) {
            return Ok(None);
        }
        // A single step may conflict with the current files although all steps together lead to just these.
        for count in 1..steps {
            let planned = self.plan_as_seen(of, step(count), options.clone()).await?;
            if let Some(refused) = first_conflict(&planned, count - 1) {
                // The plan of all steps shows the conflict with its choices.
                let shown = count == 1 && !all.files.iter().all(|folder| folder.plan.is_clean());
                return Ok((!shown).then_some(refused));
            }
        }
        Ok(first_conflict(all, steps - 1))
    }

    /// The combined receipt of one request's steps: their total result, as their plan showed it.
    pub async fn whole_receipt(&self, receipts: Vec<Receipt>) -> Result<WholeReceipt> {
        let mut all = receipts.into_iter();
        let mut whole = all.next().expect("BUG: a request that was done has a receipt");
        let one = whole.head;
        for next in all {
            let ops = [whole.ops, next.ops].concat();
            let entries = [whole.entries, next.entries].concat();
            let unchanged = whole.unchanged && next.unchanged;
            whole = Receipt { ops, entries, unchanged, ..next };
        }
        if let Some(first) = whole.ops.first().filter(|_| whole.head != one) {
            let net = self.store().net(whole.conversation, *first, whole.head).await?;
            let NetChange { taken_back, brought_back, lifted } = net;
            whole = Receipt { taken_back, brought_back, lifted, ..whole };
        }
        let ReceiptDetails { moved, composer, steps } = self.store().receipt_details(&whole).await?;
        let moves = in_all(moved).into_values().map(|folder| folder.into_values().collect()).collect();
        Ok(WholeReceipt { receipt: whole, moves, composer, steps })
    }

    /// How the operations of a receipt changed which remembered facts count. Only for a receipt that is new: other conversations
    /// are taken as they are now.
    pub async fn facts_changed(&self, done: &Receipt) -> Result<FactsChanged> {
        match done.ops.first() {
            Some(first) => Ok(self.store().facts_changed(done.conversation, *first, done.head).await?),
            None => Ok(FactsChanged::default()),
        }
    }

    /// What a step would do to posts in chats.
    pub async fn posts_planned(&self, of: ConversationId, plan: &Plan) -> Result<Vec<PlacePosts>> {
        let parts = (plan.gone.clone(), plan.came.clone());
        Ok(self.store().posts_between(of, parts, self.now()).await?)
    }

    /// What became of the posts that a step concerned.
    pub async fn posts_changed(&self, done: &Receipt) -> Result<Vec<PlacePosts>> {
        match done.ops.first() {
            Some(first) => {
                Ok(self.store().posts_changed(done.conversation, *first, done.head, self.now()).await?)
            }
            None => Ok(Vec::new()),
        }
    }

    /// The receipt of an edit's message, combined with its move.
    pub async fn edit_receipt(&self, said: &Receipt) -> Result<Receipt> {
        if !said.ops.is_empty() {
            return Ok(said.clone());
        }
        let range = OpRange { before: Some(said.head.op.next()), limit: 1 };
        let last = self.store().ops(said.conversation, range).await?.ops.into_iter().next();
        // A repeated request whose run went on must get the same receipt.
        let is_back = |op: &Operation| op.reason == Reason::Edit && op.at.0 + 1 == said.head.seq.0;
        let Some(back) = last.map(|line| line.op).filter(is_back) else { return Ok(said.clone()) };
        let to = Head { op: back.no, seq: back.at };
        let NetChange { taken_back, lifted, .. } = self.store().net(said.conversation, back.no, to).await?;
        Ok(Receipt { ops: vec![back.no], taken_back, lifted, ..said.clone() })
    }
}

/// The first path with a conflict.
fn first_conflict(planned: &PlannedFiles, done: usize) -> Option<RefusedStep> {
    planned.files.iter().find_map(|folder| {
        let path = folder.plan.paths.iter().find(|path| matches!(path.verdict, Verdict::Conflict(_)))?;
        Some(RefusedStep { done, folder: folder.folder.clone(), path: path.clone() })
    })
}

/// The request of a step: the first one has the original id.
fn by_of_step(by: &ChangeOrigin, at: usize) -> Result<ChangeOrigin> {
    let Some(id) = by.request.as_ref().filter(|_| at > 1) else {
        return Ok(by.clone());
    };
    let id = id.of_step(at).map_err(|_| {
        EngineError::usage("the request id is too long for several steps: it has more than 120 characters")
            .with("what", "long_request_id")
            .with("most", 120_u64)
    })?;
    Ok(ChangeOrigin { request: Some(id), ..by.clone() })
}

fn unknown_request(id: &RequestId) -> EngineError {
    EngineError::new(
        Kind::NotFound,
        "unknown_request",
        format!("no request with the id {id} was carried out there"),
    )
    .with("request", id.to_string())
}

/// Whether there is no further step.
fn is_end(error: &EngineError) -> bool {
    [Refusal::NothingToUndo, Refusal::NothingToRedo].iter().any(|end| error.code == end.code())
}

/// The combined file changes of several steps: each path with its version before the first and after the last.
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
