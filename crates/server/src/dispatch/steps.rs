//! The result of one step or several, as a receipt. Must never make a step.

use retake_core::{Action, ConversationId, FileTotals, FilesExtent, PathPlan, Receipt};
use retake_engine::{AppliedFiles, FileOptions, PlannedFiles, RefusedStep, WholeReceipt};
use retake_wire::{Condition, LeftPath, Problem, Reply, StepRefusal, english, reply, request};

use super::erase;
use super::files::authors::Origins;
use super::files::translate::{counts, left, name, remark, unknown};
use super::request_id;
use crate::InProcess;
use crate::convert::{self, problem};
use crate::log::LogFailure as _;

/// How many irreversible calls are listed one by one.
const EFFECTS: usize = 10;

/// The result of one step or several.
#[derive(Default)]
pub(super) struct Done {
    receipts: Vec<Receipt>,
    left: Vec<LeftPath>,
    /// Further conditions about files.
    notes: Vec<Condition>,
    /// What it had to do with files, and what else stays.
    extent: Option<FilesExtent>,
    /// The request has come before: what stayed was told then.
    again: bool,
    /// Whether files may go with a request that has come before.
    touches_files: bool,
    pub(super) conditions: Vec<Condition>,
    refusal: Option<StepRefusal>,
    effects: reply::Effects,
    waited: Vec<reply::Words>,
}

impl InProcess {
    /// Converts the engine's result.
    pub(super) async fn done(&self, done: retake_engine::Done) -> Result<Done, Problem> {
        use retake_engine::Done as D;
        Ok(match done {
            D::Erased(receipt, objects, facts) => Done {
                receipts: vec![receipt],
                notes: erase::done(&objects),
                conditions: convert::facts(facts).into_iter().collect(),
                ..Done::default()
            },
            D::Changed(receipt) => Done { receipts: vec![receipt], ..Done::default() },
            D::Steps { applied, refused: refusal } => {
                let refused = |error| StepRefusal::Refused { problem: Box::new(problem(error)) };
                let mut done = Done { refusal: refusal.map(refused), ..Done::default() };
                for applied in applied {
                    self.tell(&mut done, &applied).await?;
                    done.receipts.push(applied.receipt);
                }
                done
            }
            D::Again { receipts, stopped, touches_files } => {
                let refusal = stopped.then_some(StepRefusal::ConflictBefore);
                Done { receipts, refusal, again: true, touches_files, ..Done::default() }
            }
        })
    }

    /// The receipt of an earlier request. The number of requested steps is not stored, so the receipt does not contain it.
    pub(super) async fn earlier_request(&self, asked: request::EarlierRequest) -> Result<Reply, Problem> {
        let of = match &asked.conversation {
            Some(name) => Some(self.conversation(name).await?),
            None => None,
        };
        let id = request_id(&asked.key)?;
        let done = self.engine.earlier_request(of, &id).await.map_err(problem)?;
        self.told(self.done(done).await?, None).await.map(Reply::Receipt)
    }

    /// Adds a step's result, without its receipt.
    async fn tell(&self, done: &mut Done, applied: &AppliedFiles) -> Result<(), Problem> {
        let of = applied.receipt.conversation;
        let origins = self.origins(of, applied.folders.iter().map(|folder| &folder.plan)).await?;
        done.tell(applied, &origins);
        Ok(())
    }

    /// Why the next of several steps would be refused, and after how many.
    pub(super) async fn why_refused(
        &self,
        of: ConversationId,
        (action, options): (&Action, &FileOptions),
        all: &PlannedFiles,
    ) -> Result<Option<(usize, StepRefusal)>, Problem> {
        let refused = self.engine.refused_step(of, action, options, all).await.map_err(problem)?;
        let Some(RefusedStep { done, folder, path }) = refused else { return Ok(None) };
        let origins = self.origins_of_paths(of, [&path].into_iter()).await?;
        let name = name(folder.as_deref(), &path.path);
        Ok(origins.cause(&path).map(|cause| (done, StepRefusal::Conflict { name, cause })))
    }

    /// The combined receipt of all steps: their total result, as in their plan.
    pub(super) async fn told(&self, done: Done, asked: Option<usize>) -> Result<reply::Receipt, Problem> {
        let Done { receipts, left, notes, extent, again, touches_files, .. } = done;
        let Done { conditions, refusal, effects, waited, .. } = done;
        let WholeReceipt { receipt: whole, moves, composer, steps: made } =
            self.engine.whole_receipt(receipts).await.map_err(problem)?;
        let mut totals = FileTotals::default();
        let any = !moves.is_empty();
        moves.iter().for_each(|folder| totals.add(folder.iter()));
        let files = (any || !left.is_empty() || !notes.is_empty()).then_some(retake_wire::FilesDone {
            counts: counts(totals),
            left: left.iter().map(left_sentence).collect(),
            notes: convert::sentences(&notes),
            left_paths: left,
            conditions: notes,
        });
        let unchanged = match extent {
            _ if whole.unchanged => None,
            Some(extent) => extent.unchanged(),
            None if again && touches_files => {
                FilesExtent::repeated([whole.taken_back, whole.brought_back], any)
            }
            None => None,
        };
        let facts = match again {
            true => None,
            // The step is made, whatever can be read afterwards.
            false => {
                let changed = self.engine.facts_changed(&whole).await.map_err(problem);
                changed.or_log("the facts that a step changes are not counted").and_then(convert::facts)
            }
        };
        let posts = self.engine.posts_changed(&whole).await.map_err(problem);
        let posts = posts.or_log("the posts of a step are not counted").unwrap_or_default();
        let conditions: Vec<Condition> =
            unchanged.map(remark).into_iter().chain(conditions).chain(facts).collect();
        let steps = asked.map(|asked| steps(whole.ops.len(), asked, refusal));
        let stays = convert::sentences(&conditions);
        Ok(reply::Receipt {
            steps,
            step_summaries: made.iter().map(convert::step).collect(),
            files,
            conditions,
            stays,
            outside: reply::Outside { effects, posts: convert::posts::step(posts) },
            waited,
            ..convert::receipt(&whole, composer)
        })
    }

    /// The receipt of an edit's message. It includes the move with its file changes, and what stayed, if that is still known.
    pub(crate) async fn reworded(
        &self,
        said: &Receipt,
        back: Option<&AppliedFiles>,
    ) -> Result<reply::Receipt, Problem> {
        let whole = self.engine.edit_receipt(said).await.map_err(problem)?;
        let again = back.is_none();
        let mut done = Done { receipts: vec![whole], again, touches_files: true, ..Done::default() };
        if let Some(back) = back {
            self.tell(&mut done, back).await?;
        }
        self.told(done, None).await
    }
}

/// The progress of several steps.
pub(super) fn steps(done: usize, asked: usize, refusal: Option<StepRefusal>) -> reply::Steps {
    let refused = refusal.as_ref().map(english::step_refusal);
    reply::Steps { done, asked, refusal, refused }
}

fn left_sentence(left: &LeftPath) -> String {
    english::left_path(&left.name.path, &left.cause, &left.kept)
}

impl Done {
    fn tell(&mut self, applied: &AppliedFiles, origins: &Origins) {
        for done in &applied.folders {
            let folder = done.folder.as_deref();
            let alone = |path: &PathPlan| {
                let name = name(folder, &path.path);
                origins.cause(path).map(|cause| LeftPath { name, cause, kept: Vec::new() })
            };
            self.left.extend(done.plan.paths.iter().filter_map(alone));
            self.left.extend(done.left.iter().map(|it| left(folder, it)));
        }
        let receipt = &applied.receipt;
        let plans = applied.folders.iter().map(|done| &done.plan);
        let messages = Some([receipt.taken_back, receipt.brought_back]);
        let extent = FilesExtent::new(applied.scope, plans, messages);
        self.extent = Some(self.extent.map_or(extent, |before| before.and(extent)));
        let notes = applied.notes.iter().cloned().map(convert::note);
        for condition in unknown(&applied.cut_off, &applied.unseen).into_iter().chain(notes) {
            // Each of several steps may leave the same.
            if !self.conditions.contains(&condition) {
                self.conditions.push(condition);
            }
        }
        self.notes.extend(applied.ended.iter().map(|job| Condition::JobEnded { job: job.to_string() }));
        // Each step goes further back: the first ones leave the newest effects.
        let more = crate::agent::effects(applied.effects.clone());
        self.effects.count += more.count;
        self.effects.calls.extend(more.calls);
        self.effects.calls.truncate(EFFECTS);
        self.waited.extend(applied.waited.iter().cloned().map(crate::agent::words));
    }
}
