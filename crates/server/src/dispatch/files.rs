//! Plans and actions with their file half: what is wished becomes the engine's, what it planned and did becomes a reply.

use retake_core::{Choice, ConversationId, EntryId, PathPlan, Reason, RequestId, Seen, Totals, Verdict};
use retake_engine::store::{Action, Apply, By, PageRequest, Reading, Receipt};
use retake_engine::{EngineError, FilesPlanned, FilesWish, Scope};
use retake_wire::{Action as WireAction, Problem, Reply, reply, request};

use super::changes::seen;
use super::erase;
use super::store_problem;
use crate::InProcess;
use crate::convert::{self, problem, usage};

mod shown;
mod words;

use words::{count, left, note, stays, why, wish};

/// What was done, in one step or in several.
#[derive(Default)]
struct Done {
    receipts: Vec<Receipt>,
    left: Vec<String>,
    notes: Vec<String>,
    refused: Option<String>,
}

impl InProcess {
    pub(super) async fn plan(&self, plan: request::Plan) -> Result<Reply, Problem> {
        let conversation = self.conversation(&plan.conversation).await?;
        let wish = wish(&plan.files)?;
        let action = self.action(conversation, plan.action).await?;
        if !takes_files(&action) {
            no_wish(&plan.files, plan.diff)?;
            if matches!(action, Action::Erase { .. }) {
                return self.plan_erase(conversation, action).await;
            }
            let planned = self.engine.plan(conversation, action).await.map_err(problem)?;
            return Ok(Reply::Plan(convert::plan(conversation.to_string(), planned, Vec::new())));
        }
        let scope = wish.scope;
        let planned = self.engine.plan_both(conversation, action, wish).await.map_err(problem)?;
        let FilesPlanned { conversation: half, files, digest, git, running } = planned;
        let stays = std::iter::once(stays(scope, files.as_ref()).to_owned()).chain(git).collect();
        let changes_files = files
            .as_ref()
            .is_some_and(|files| files.paths.iter().any(|path| !matches!(path.verdict, Verdict::Unchanged)));
        let files = match files {
            Some(files) if !files.paths.is_empty() => {
                Some(self.files_plan(conversation, files, digest, plan.diff).await?)
            }
            _ => None,
        };
        let shown = match half {
            Some(half) => convert::plan(conversation.to_string(), half, stays),
            None => {
                let head = self.engine.store().summary(conversation).await.map_err(store_problem)?.head;
                let (conversation, head) = (conversation.to_string(), head.to_string());
                reply::Plan { conversation, head, unchanged: true, stays, ..reply::Plan::default() }
            }
        };
        let unchanged = shown.unchanged && !changes_files;
        let running = running
            .into_iter()
            .map(|running| reply::Running { entry: running.entry.to_string(), processes: running.processes });
        Ok(Reply::Plan(reply::Plan { unchanged, files, running: running.collect(), ..shown }))
    }

    pub(super) async fn apply(&self, apply: request::Apply) -> Result<Reply, Problem> {
        let conversation = self.conversation(&apply.conversation).await?;
        let seen = seen(apply.head.as_deref(), apply.since)?;
        let by =
            self.by(apply.request_id.as_deref(), &(&apply.action, &apply.head, apply.since, &apply.files))?;
        let asked = match apply.action {
            WireAction::Undo { count } | WireAction::Redo { count } => Some(count),
            _ => None,
        };
        let done = match self.recorded(conversation, &by).await? {
            Some(receipt) => self.recorded_steps(conversation, receipt, &by, asked.unwrap_or(1)).await?,
            None => {
                let wish = wish(&apply.files)?;
                let action = self.action(conversation, apply.action).await?;
                if !takes_files(&action) {
                    no_wish(&apply.files, false)?;
                }
                self.act(conversation, Apply { action, seen, by }, wish).await?
            }
        };
        let given = self.told(conversation, done, asked).await?;
        Ok(Reply::Receipt(given))
    }

    /// Does an action with its files. Several steps back or forth are taken one at a time: each is whole, or is not done.
    async fn act(&self, of: ConversationId, apply: Apply, wish: FilesWish) -> Result<Done, Problem> {
        if matches!(apply.action, Action::Erase { .. }) {
            let (receipt, objects) = self.engine.erase(of, apply).await.map_err(problem)?;
            return Ok(Done { receipts: vec![receipt], notes: erase::done(&objects), ..Done::default() });
        }
        if !takes_files(&apply.action) {
            let receipt = self.engine.apply(of, apply).await.map_err(problem)?;
            return Ok(Done { receipts: vec![receipt], ..Done::default() });
        }
        let (count, step): (usize, fn(usize) -> Action) = match apply.action {
            Action::Undo(count) => (count, Action::Undo),
            Action::Redo(count) => (count, Action::Redo),
            _ => (1, Action::Undo),
        };
        let files = self.engine.store().has_changes(of).await.map_err(store_problem)?;
        if count == 1 || !files || wish.scope == Scope::Conversation {
            let mut done = Done::default();
            done.add(self.engine.apply_both(of, apply, wish).await.map_err(problem)?);
            return Ok(done);
        }
        if wish.seen.is_some() {
            return Err(usage("a plan of files that was seen is of one step: take one at a time"));
        }
        if wish.chosen.paths.values().any(|choice| matches!(choice, Choice::Hunks(_))) {
            return Err(usage("hunks are those of one step's plan: take one step at a time"));
        }
        let mut done = Done::default();
        let mut seen = apply.seen;
        for at in 1..=count {
            let by = step_of(&apply.by, at)?;
            match self.engine.apply_both(of, Apply { action: step(1), seen, by }, wish.clone()).await {
                Ok(applied) => {
                    seen = Seen::Exactly(applied.receipt.head);
                    done.add(applied);
                }
                Err(error) if at == 1 => return Err(problem(error)),
                Err(error) if is_end(&error) => break,
                Err(error) => {
                    done.refused = Some(error.message);
                    break;
                }
            }
        }
        Ok(done)
    }

    /// What a request did that comes again: the steps that are recorded, and no other.
    async fn recorded_steps(
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
        Ok(Done { receipts, ..Done::default() })
    }

    /// The receipt of all steps together.
    async fn told(
        &self,
        of: ConversationId,
        done: Done,
        asked: Option<usize>,
    ) -> Result<reply::Receipt, Problem> {
        let Done { receipts, left, notes, refused } = done;
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
        for op in &whole.ops {
            if let Some(moved) = self.engine.store().moved(of, *op).await.map_err(store_problem)? {
                any = true;
                moved.moves.iter().for_each(|made| count(&mut counts, made));
            }
        }
        let files = (any || !left.is_empty() || !notes.is_empty()).then_some(retake_wire::FilesDone {
            counts,
            left,
            notes,
        });
        let steps = asked.map(|asked| reply::Steps { done: whole.ops.len(), asked, refused });
        Ok(reply::Receipt { steps, files, ..self.wire_receipt(&whole).await? })
    }

    /// The entries of the turns that these are in.
    pub(super) async fn turns(
        &self,
        of: ConversationId,
        entries: Vec<EntryId>,
    ) -> Result<Vec<EntryId>, Problem> {
        let reading = Reading { projection: retake_core::Projection::Timeline, at: None };
        let all = PageRequest { limit: usize::MAX, ..PageRequest::default() };
        let page = self.engine.store().page(of, reading, all).await.map_err(store_problem)?;
        let metas: Vec<_> =
            page.entries.into_iter().filter_map(|shown| shown.entry.ok()).map(|entry| entry.meta).collect();
        let wanted: Vec<u64> =
            metas.iter().filter(|meta| entries.contains(&meta.id)).map(|meta| meta.totals.turns).collect();
        let found: Vec<EntryId> =
            metas.iter().filter(|meta| wanted.contains(&meta.totals.turns)).map(|meta| meta.id).collect();
        // What is not shown is refused by its name.
        Ok(if found.is_empty() { entries } else { found })
    }
}

impl Done {
    fn add(&mut self, applied: retake_engine::FilesApplied) {
        let why = |path: &PathPlan| why(&path.verdict).map(|why| format!("{}: {why}", path.path));
        self.left.extend(applied.plan.paths.iter().filter_map(why));
        self.left.extend(applied.left.iter().map(left));
        self.notes.extend(applied.notes.iter().map(note));
        self.receipts.push(applied.receipt);
    }
}

/// Whether files go with an action.
fn takes_files(action: &Action) -> bool {
    matches!(
        action,
        Action::Rewind(_)
            | Action::Edit(_)
            | Action::Undo(_)
            | Action::Redo(_)
            | Action::Restore(_)
            | Action::Checkout(_)
            | Action::Choose(..)
            | Action::Mark { verb: Reason::Drop, .. }
    )
}

fn no_wish(files: &retake_wire::FilesWish, diff: bool) -> Result<(), Problem> {
    if files.is_default() && !diff {
        return Ok(());
    }
    Err(usage("this action has nothing to do with files"))
}

/// The request of a step: the first one has the id as it was given.
fn step_of(by: &By, at: usize) -> Result<By, Problem> {
    let Some(id) = by.request.as_ref().filter(|_| at > 1) else {
        return Ok(by.clone());
    };
    let id: RequestId = format!("{id}~{at}")
        .parse()
        .map_err(|_| usage("the request id is too long for several steps: 120 characters are not"))?;
    Ok(By { request: Some(id), ..by.clone() })
}

/// Whether there is simply nothing more.
fn is_end(error: &EngineError) -> bool {
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
