//! A turn with a model: the prompt is accepted and stored, the model is called, and its answer is stored as a whole.
//!
//! The output before a stop or a cut is kept, marked interrupted; a turn that was stopped without output is
//! compensated. A stream in progress is saved each second outside the log.

mod answer;
mod attach;
mod call;
mod commands;
mod compact;
mod context;
mod drive;
mod edit;
mod ending;
mod event;
mod feed;
mod guard;
mod host;
mod opening;
mod plan_mode;
mod queue;
mod recover;
mod repaired;
mod repeat;
mod servers;
mod setup;
mod shorten;
mod subagent;

use std::path::Path;
use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use retake_core::{
    Action, AnswerPlace, AnsweredRequest, Apply, ChangeOrigin, ConversationId, EntryId, Fence, Mode, Part,
    Pos, Receipt, Role, Rule, RunEnding, RunInput, SayRequest, SeenState, Steer, Step, joined_text,
};
use retake_store::StoreError;
use retake_store::digest::{of_arguments, parts_value};
use serde_json::json;
use tracing::{Instrument as _, info_span};

use self::drive::Driver;
use self::subagent::CallerRun;
use crate::error::{EngineError, Result};
use crate::files::{AppliedFiles, FileOptions};
use crate::log::LogFailure as _;
use crate::model::Choice;
use crate::notice::Notice;
use crate::session::Claim;
use crate::{Engine, not_blank};

pub use compact::Compaction;
pub use context::{ContextParts, ContextUse};
pub(crate) use drive::Inbox;
pub use event::{CallEnded, CallShown, Decision, NotRun, PendingApproval, Question, RunEvent};
pub(crate) use feed::{Events, Feed, Listening};
pub use feed::{RunNow, RunSubscription};
pub(crate) use opening::Changed;
pub use setup::OfferedTool;

/// How a run begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// With a message, whose author saw this entry.
    Say(Vec<Part>, Option<EntryId>),
    /// With another answer; names any entry of the old one.
    Retry(EntryId),
    /// With another wording of a prompt.
    Edit(EntryId, Vec<Part>),
    /// With an answer to the current path.
    Answer,
    /// With a summary of earlier messages, and nothing else.
    Compact(Compaction),
}

/// Permissions of one run, in addition to those of its conversation's agent. They are not stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permit {
    /// Another mode.
    pub mode: Option<Mode>,
    /// Further rules.
    pub rules: Vec<Rule>,
}

/// A run to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRequest {
    /// How it begins.
    pub start: Start,
    /// The model's name; without one, the configured model.
    pub model: Option<String>,
    /// What happens to the message if another run is at work; without it, a refusal.
    pub steer: Option<Steer>,
    /// Additional permissions. Messages that wait for another run lose them.
    pub permit: Permit,
    /// The options for files, for a retry or an edit.
    pub files: FileOptions,
    /// The head that the author saw.
    pub seen: SeenState,
    /// The author and the request.
    pub by: ChangeOrigin,
}

impl RunRequest {
    /// Adds the digest of the request: its wording, or else its content.
    fn worded(mut self) -> Self {
        if self.by.request.is_some() && self.by.wording.is_none() {
            let start = match &self.start {
                Start::Say(parts, seen) => json!(["say", parts_value(parts), seen.map(|id| id.to_string())]),
                Start::Retry(id) => json!(["retry", id.to_string()]),
                Start::Edit(id, parts) => json!(["edit", id.to_string(), parts_value(parts)]),
                Start::Answer => json!(["answer"]),
                Start::Compact(Compaction { instructions, from, to, branch: None }) => {
                    let ends = [from, to].map(|end| end.map(|id| id.to_string()));
                    json!(["compact", instructions, ends])
                }
                Start::Compact(Compaction { instructions, branch: Some(leaf), .. }) => {
                    json!(["carry", instructions, leaf.to_string()])
                }
            };
            let seen = match self.seen {
                SeenState::Exactly(head) => json!(["exactly", head.to_string()]),
                SeenState::Since(head) => json!(["since", head.to_string()]),
                SeenState::Anything => json!(null),
            };
            let arguments = json!([start, self.model, self.files.digest_value(), seen]);
            self.by.wording = Some(of_arguments("run", &arguments));
        }
        self
    }
}

/// The end of a run.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The outcome.
    pub outcome: Outcome,
    /// The receipt of the stored answer, or of the compensation.
    pub receipt: Option<Receipt>,
    /// The answer.
    pub entry: Option<EntryId>,
    /// The error, if it failed.
    pub error: Option<EngineError>,
}

/// The outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The whole answer is stored.
    Succeeded,
    /// The output so far is stored, marked interrupted.
    Interrupted,
    /// Stopped before any output: compensated.
    RolledBack,
    /// The model failed before any output.
    Failed,
    /// The message became part of another run.
    Joined,
}

/// The state of a run after its prompt is stored.
struct PreparedRun {
    /// The receipt of its start.
    receipt: Option<Receipt>,
    /// The step with which the run began, for a retry or an edit.
    back: Option<Arc<AppliedFiles>>,
    /// The entry that it answers.
    answering: AnswerPlace,
    /// The steps to compensate when it is stopped before any output, in this order.
    stopped: Vec<Step>,
    /// The step to compensate when the model fails before any output.
    failed: Option<Step>,
    /// The request for the answer's row, if no other row of the run carries it.
    by: Option<ChangeOrigin>,
    /// The request for the run: when it is repeated, it gets this run's events.
    asked: Option<ChangeOrigin>,
    /// Additional permissions of the run.
    permit: Permit,
    /// Notices for the author of the request.
    notices: Vec<Notice>,
    /// Its fence, if it was claimed already.
    fence: Option<Fence>,
    /// The summary that it makes instead of an answer.
    compaction: Option<Compaction>,
    /// For a subagent: the call that it works for.
    caller: Option<Arc<CallerRun>>,
}

impl Engine {
    /// Starts a run. A refusal is returned before anything is stored; afterwards everything is an event. The run
    /// continues without a listener. A repeated request gets the result of the first one, and nothing runs twice.
    pub fn run(
        self: &Arc<Self>,
        conversation: ConversationId,
        request: RunRequest,
    ) -> BoxFuture<'_, Result<BoxStream<'static, RunEvent>>> {
        Box::pin(async move {
            self.for_people(conversation).await?;
            let request = request.worded();
            if let Some(events) = self.attach(conversation, &request.by)? {
                return Ok(events);
            }
            let claim = self.claim(conversation);
            if request.by.request.is_some()
                && let Some(receipt) = self.store().receipt(conversation, request.by.clone()).await?
            {
                return self.again(conversation, &request.by, claim, receipt, request.model.as_deref()).await;
            }
            let request = self.with_text_of_command(conversation, request).await?;
            let claim = match (claim, request.steer, &request.start) {
                (Err(error), ..) if error.is_leaving() => return Err(error),
                (Err(_), Some(steer), Start::Say(parts, seen)) => {
                    not_blank(parts)?;
                    return self.wait_behind(conversation, parts.clone(), *seen, steer, request).await;
                }
                (Err(_), _, Start::Edit(..) | Start::Retry(_)) if request.files.stop => {
                    return self.run_halting(conversation, request).await;
                }
                (claim, ..) => claim?,
            };
            let choice = self.choice(request.model.as_deref()).await?;
            let (model, permit, asked) =
                (request.model.clone(), request.permit.clone(), Some(request.by.clone()));
            let ground = PreparedRun { permit, asked, ..self.ground(&claim, request).await? };
            self.start_on(claim, choice, ground, model).await
        })
    }

    /// Starts a run instead of the one at work, which is ended first. What that one stores until its end is reverted, too.
    async fn run_halting(
        self: &Arc<Self>,
        conversation: ConversationId,
        request: RunRequest,
    ) -> Result<BoxStream<'static, RunEvent>> {
        let choice = self.choice(request.model.as_deref()).await?;
        let (model, permit, asked) =
            (request.model.clone(), request.permit.clone(), Some(request.by.clone()));
        let begun = async {
            let (claim, seen) = self.claim_halting(conversation, request.seen).await?;
            let ground = self.ground(&claim, RunRequest { seen, ..request }).await?;
            Ok((claim, PreparedRun { permit, asked, ..ground }))
        };
        match begun.await {
            Ok((claim, ground)) => self.start_on(claim, choice, ground, model).await,
            Err(error) => {
                // The prompt of the waiting messages is still there.
                self.next_run(conversation).await;
                Err(error)
            }
        }
    }

    /// Starts a run in a new conversation of this folder. The conversation is created only if a model can answer.
    pub fn begin(
        self: &Arc<Self>,
        folder: Option<String>,
        request: RunRequest,
    ) -> BoxFuture<'_, Result<(ConversationId, BoxStream<'static, RunEvent>)>> {
        Box::pin(async move {
            let mut request = request.worded();
            let made = match request.by.request {
                Some(_) => self.store().created(request.by.clone()).await?,
                None => None,
            };
            let conversation = match made {
                Some(made) => made.conversation,
                None => {
                    if let Start::Say(parts, _) = &mut request.start {
                        not_blank(parts)?;
                        let said = std::mem::take(parts);
                        *parts = self.with_command(folder.as_deref().map(Path::new), said).await?;
                    }
                    self.choice(request.model.as_deref()).await?;
                    self.can_work_in(folder.as_deref()).await?;
                    self.create(None, folder, request.by.clone()).await?.conversation
                }
            };
            Ok((conversation, self.run(conversation, request).await?))
        })
    }

    async fn choice(&self, model: Option<&str>) -> Result<Choice> {
        let choice = self.models().choose(model).await;
        choice.map_err(|error| EngineError::no_model(&error))
    }

    /// Begins a run on its stored prompt. If it cannot begin, its prompt is treated as after a failure of the model.
    async fn start_on(
        self: &Arc<Self>,
        claim: Claim,
        choice: Choice,
        mut ground: PreparedRun,
        model: Option<String>,
    ) -> Result<BoxStream<'static, RunEvent>> {
        let fence = match ground.fence {
            Some(fence) => fence,
            None => {
                let begun = self.begin_run(claim.conversation(), model).await;
                let (fence, notices) = begun.map_err(|error| error.also(ground.notices.clone()))?;
                ground.notices.extend(notices);
                fence
            }
        };
        let (events, stream) = Events::stream();
        self.drive(claim, choice, ground, fence, events);
        Ok(stream)
    }

    /// Carries out a run in a task of its own.
    fn drive(
        self: &Arc<Self>,
        claim: Claim,
        choice: Choice,
        mut ground: PreparedRun,
        fence: Fence,
        events: Events,
    ) {
        let engine = Arc::clone(self);
        let conversation = claim.conversation();
        let events = events.on(Arc::clone(&self.session(conversation).feed));
        let serving = |by| AnsweredRequest { by, began: ground.receipt.clone() };
        let asked = ground.asked.take();
        let request = asked.as_ref().and_then(|by| by.request.as_ref()).map(ToString::to_string);
        let span = info_span!(parent: None, "run", operation = "run", %conversation, request);
        claim.serves(Some(asked.map(serving).into_iter().collect()));
        let work = async move {
            tracing::info!("the run has begun");
            events.send(RunEvent::Started(ground.receipt.clone(), name_of(&choice), ground.back.take()));
            let effort = Notice::of_effort(&*choice.model);
            for notice in std::mem::take(&mut ground.notices).into_iter().chain(effort) {
                events.send(RunEvent::Notice(notice));
            }
            let permit = std::mem::take(&mut ground.permit);
            let stopped = async {
                claim.stopped().await;
                // A stop request is delivered only once; the next run must get it, too.
                engine.cancel(conversation);
            };
            let scene = async {
                engine.await_servers(conversation, &events, stopped).await?;
                engine.scene(conversation, permit, ground.caller.as_deref(), &name_of(&choice)).await
            };
            match scene.await {
                Ok(scene) => {
                    Driver::new(engine, claim, choice, ground, fence, scene, events).run().await;
                }
                Err(error) => {
                    let failed = RunEnding::Failed(error.code.to_owned());
                    let end = RunInput::End(fence, failed, engine.now());
                    let stored = engine.store().step_runs(conversation, vec![end]).await;
                    stored.or_log("the end of a run is not stored");
                    let ended = engine.fail(&claim, &ground, error).await;
                    ended.log();
                    claim.serves(None);
                    drop(claim);
                    events.send(RunEvent::Ended(ended));
                }
            }
        };
        tokio::spawn(work.instrument(span));
    }

    /// Stores the prompt of the run.
    async fn ground(self: &Arc<Self>, claim: &Claim, request: RunRequest) -> Result<PreparedRun> {
        let conversation = claim.conversation();
        let RunRequest { start, files, seen, by, permit, .. } = request;
        if matches!(start, Start::Edit(..) | Start::Retry(_) | Start::Compact(_)) {
            // Checked first: a stale request is refused with the current head.
            let now = self.store().summary(conversation).await?.head;
            seen.fits(now).map_err(StoreError::from)?;
        }
        match start {
            Start::Say(parts, seen) => {
                let mut notices = self.open_turn(conversation, joined_text(&parts)).await?;
                self.note_mode(conversation, permit.mode).await?;
                let (parts, of_mentions) = self.with_mentions(conversation, parts).await?;
                notices.extend(of_mentions);
                let say = SayRequest { seen, ..self.prompt(parts, by) };
                let receipt = self.say(conversation, say).await?;
                Ok(PreparedRun { notices, ..self.on_prompt(conversation, receipt, None).await? })
            }
            Start::Edit(entry, parts) => {
                let (parts, mut notices) = self.with_mentions(conversation, parts).await?;
                let reworded = self.reword(claim, entry, parts, files, seen, by).await?;
                let step = reworded.moved.receipt.ops.last().map(|no| Step::Op(*no));
                notices.extend(Notice::of_unsent(&reworded.waited));
                let ground = self.on_prompt(conversation, reworded.said, step).await;
                let ground = ground.map_err(|error| error.also(notices.clone()))?;
                let back = Some(Arc::new(reworded.moved));
                Ok(PreparedRun { notices, back, fence: reworded.fence, ..ground })
            }
            Start::Retry(entry) => {
                let may = self.may_wait(conversation).await?;
                let retry = Apply { action: Action::Retry(entry), seen, by };
                let leaves = self.leaves(conversation, &retry.action, &files).await?;
                let back = self.apply_claimed(claim, retry, files).await?.leaving(leaves);
                let unsent = self.returned_messages(conversation, may, false).await?;
                let notices: Vec<Notice> = Notice::of_unsent(&unsent).into_iter().collect();
                let ground = self.on_retry(conversation, back.receipt.clone()).await;
                let ground = ground.map_err(|error| error.also(notices.clone()))?;
                Ok(PreparedRun { notices, back: Some(Arc::new(back)), ..ground })
            }
            // Nothing is stored before the answer, so the answer carries the request.
            Start::Answer => self.on_answer(conversation, Some(by)).await,
            Start::Compact(compaction) => {
                self.can_compact(conversation, &compaction).await?;
                let ground = self.on_answer(conversation, Some(by)).await?;
                Ok(PreparedRun { compaction: Some(compaction), ..ground })
            }
        }
    }

    /// A run that answers the prompt that was just stored.
    async fn on_prompt(
        &self,
        conversation: ConversationId,
        receipt: Receipt,
        moved: Option<Step>,
    ) -> Result<PreparedRun> {
        let snapshot = self.store().snapshot(conversation).await?;
        let prompt = Pos::new(snapshot.conversation().tree.depth(), receipt.head.seq.0);
        // An edit is one step with its message.
        let stopped = vec![moved.unwrap_or(Step::Turn(prompt))];
        let answering = AnswerPlace { turn: Some(prompt), tip: Some(prompt) };
        Ok(PreparedRun {
            receipt: Some(receipt),
            back: None,
            answering,
            stopped,
            failed: None,
            by: None,
            asked: None,
            permit: Permit::default(),
            notices: Vec::new(),
            fence: None,
            compaction: None,
            caller: None,
        })
    }

    /// A run that answers the current path.
    async fn on_answer(&self, conversation: ConversationId, by: Option<ChangeOrigin>) -> Result<PreparedRun> {
        let answering = self.store().answering(conversation).await?;
        Ok(PreparedRun {
            receipt: None,
            back: None,
            answering,
            stopped: Vec::new(),
            failed: None,
            by,
            asked: None,
            permit: Permit::default(),
            notices: Vec::new(),
            fence: None,
            compaction: None,
            caller: None,
        })
    }

    /// A prompt to store.
    fn prompt(&self, parts: Vec<Part>, by: ChangeOrigin) -> SayRequest {
        self.saying(Role::User, parts, by)
    }

    /// An entry to store.
    pub(crate) fn saying(&self, role: Role, parts: Vec<Part>, by: ChangeOrigin) -> SayRequest {
        SayRequest::new(self.new_entry_id(), role, parts, by)
    }
}

/// The model of a run, for its events and its answer's author.
fn name_of(choice: &Choice) -> String {
    choice.model.name().to_owned()
}
