//! An action on its way: planned, chosen for, agreed to, done. Must never do anything that was not shown: the request carries the
//! head and the digest of the shown plan. A stale one is planned again, with a notice.

mod acts;
mod stopped;

use retake_wire::reply::{OwnerWork, Plan, Receipt};
use retake_wire::request::Plan as PlanRequest;
use retake_wire::{
    Action, Choose, FileOptions, MarkVerb, Problem, ProblemKind, Reply, Request, Scope, english,
};

pub(crate) use acts::StateBeforeLetter;

use stopped::Stopped;

use super::view::View;
use crate::hint::Audience;
use crate::render::about;
use crate::text::safe;
use crate::ui::keymap::{Command, Context};
use crate::ui::msg::{PaneInstruction, Ticket};
use crate::ui::pane::Cx;

/// How long the selection must rest before a plan is requested: holding a key down requests one plan.
pub(crate) const REST_MS: i64 = 90;

/// During a run the plan may change all the time: it is requested again after this long without an event.
const RUNNING_REST_MS: i64 = 1_000;

/// A plan that replaced another one by itself must be shown this long before an Enter agrees to it.
const NEW_MS: i64 = 700;

/// The notice while there is no plan yet.
const PLANNING: &str = "the plan is being made: wait a moment";

/// The notice when a request was refused as stale, and a new plan is shown.
const STALE: &str = "something has changed, and nothing was done: this is the new plan";

/// The same when stopping the run for the plan made it stale.
const STOPPED: &str = "stopped; this is the new plan: press again to agree to it";

/// How often the owner is asked about its progress during a long request.
const POLL_MS: i64 = 250;

/// An action on its way.
#[derive(Debug)]
pub(crate) struct Proposal {
    action: Action,
    ends: ProposalOutcome,
    /// Whose keys are named.
    context: Context,
    choices: FileOptions,
    plan: Option<Plan>,
    problem: Option<Box<Problem>>,
    /// Whether files change with both parts; unknown until both were planned.
    has_files: Option<bool>,
    stage: ProposalStage,
    planning: Planning,
    progress: Progress,
    note: Option<String>,
    /// The request that takes back waiting messages, before the run that they wait for is stopped.
    unqueued: Option<Ticket>,
    /// A run was stopped for it, with this plan.
    stopped: Option<Box<Stopped>>,
    pub(crate) view: View,
    /// At the last drawing there was no room for what must be visible before agreement.
    is_unseen: bool,
}

/// The requested plan, and its relation to the shown one.
#[derive(Debug, Default)]
struct Planning {
    /// When the plan must be requested.
    due_ms: Option<i64>,
    /// The request for a plan, and its start time.
    asked: Option<(Ticket, i64)>,
    /// The person wanted to continue before the plan was there: the final question follows it.
    is_eager: bool,
    /// The last request is for the current choices.
    is_requested_current: bool,
    /// The shown plan is for the current choices.
    is_shown_current: bool,
    /// The request was not caused by the person.
    is_renewed: bool,
    /// Until then, a plan that the person did not cause is too new to be agreed to.
    new_until_ms: i64,
}

impl Planning {
    /// The choices changed: neither the request nor the shown plan is for them.
    fn choices_changed(&mut self) {
        (self.is_requested_current, self.is_shown_current) = (false, false);
    }

    /// Whether no request is due or on its way.
    fn is_settled(&self) -> bool {
        self.asked.is_none() && self.due_ms.is_none()
    }
}

/// The owner's progress during a long request.
#[derive(Debug, Default)]
struct Progress {
    asked: Option<Ticket>,
    polled_ms: i64,
    doing: Option<OwnerWork>,
}

impl Progress {
    /// Asks for the owner's progress at intervals during a long request.
    fn poll(&mut self, since: i64, cx: &mut Cx<'_>) {
        if self.asked.is_none() && cx.now_ms - since.max(self.polled_ms) >= POLL_MS {
            self.polled_ms = cx.now_ms;
            self.asked = Some(cx.ask(Request::Work));
        }
    }

    /// Whether this is the reply to that request; it is stored.
    fn replied(&mut self, ticket: Ticket, reply: &Result<Reply, Problem>) -> bool {
        if self.asked.take_if(|asked| *asked == ticket).is_none() {
            return false;
        }
        if let Ok(Reply::Work(work)) = reply {
            self.doing = work.doing;
        }
        true
    }
}

/// What happens to an action after agreement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProposalOutcome {
    /// It is applied.
    Applied,
    /// The text of this entry is put into the composer, for editing.
    Rewritten(String),
    /// A retry is requested.
    Retried(String),
}

/// The stage of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProposalStage {
    /// The plan is shown.
    Looking,
    /// The final question is shown.
    Agreeing {
        /// Whether what runs is stopped first.
        stop: bool,
    },
    /// The request is being carried out.
    Applying(Ticket, i64),
}

/// The possible scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scopes {
    /// Any of these.
    Several(&'static [Scope]),
    /// There is no choice, for this reason.
    One(&'static str),
    /// It does not affect files, or that is still unknown.
    Nothing,
}

/// The result of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplyOutcome {
    /// It was for another part.
    Elsewhere,
    /// It was handled.
    Taken,
    /// The plan was stale.
    Stale,
    /// The run was stopped first, which made the plan stale: a new one is on its way.
    Stopped,
}

impl Proposal {
    /// A new proposal without a plan.
    pub(crate) fn new(action: Action, ends: ProposalOutcome, context: Context) -> Self {
        Self {
            action,
            ends,
            context,
            choices: FileOptions::default(),
            plan: None,
            problem: None,
            has_files: None,
            stage: ProposalStage::Looking,
            planning: Planning::default(),
            progress: Progress::default(),
            note: None,
            unqueued: None,
            stopped: None,
            view: View::default(),
            is_unseen: false,
        }
    }

    /// It was refused as stale: the same is requested again, and this is the current plan.
    pub(crate) fn once_more(&mut self, choices: FileOptions) {
        self.note = Some(if choices.stop { STOPPED } else { STALE }.to_owned());
        self.choices = FileOptions { seen: None, stop: false, ..choices };
    }

    /// Requests the plan once the selection has rested for a moment.
    pub(crate) fn rest(&mut self, now_ms: i64) {
        self.planning.due_ms = Some(now_ms + REST_MS);
    }

    /// The choices changed: the shown plan is not for them.
    pub(super) fn choices_changed(&mut self, now_ms: i64) {
        self.planning.choices_changed();
        self.view.forget();
        self.rest(now_ms);
    }

    /// The request for a plan that is on its way.
    pub(crate) fn on_its_way(&self) -> Option<Ticket> {
        self.planning.asked.map(|(ticket, _)| ticket)
    }

    /// Whether it needs ticks.
    pub(crate) fn is_lively(&self) -> bool {
        self.planning.due_ms.is_some()
            || self.planning.asked.is_some()
            || matches!(self.stage, ProposalStage::Applying(..))
    }

    /// Requests what is due. Another plan on its way is waited for.
    pub(crate) fn tick(&mut self, cx: &mut Cx<'_>, may_ask: bool) {
        // A run's work until it is stopped is included: the question waits for its reply.
        let may_ask = may_ask && self.stage != ProposalStage::Agreeing { stop: true };
        if may_ask && self.planning.due_ms.is_some_and(|due| due <= cx.now_ms) {
            self.ask(cx);
        }
        let since = match (self.stage, self.planning.asked) {
            (ProposalStage::Applying(_, since), _) | (_, Some((_, since))) => since,
            _ => return,
        };
        self.progress.poll(since, cx);
    }

    /// Requests the plan now.
    pub(crate) fn ask(&mut self, cx: &mut Cx<'_>) {
        self.planning.due_ms = None;
        self.progress.doing = None;
        self.planning.is_requested_current = true;
        let files = match self.choices.scope {
            Scope::Conversation => FileOptions { scope: Scope::Conversation, ..FileOptions::default() },
            _ => self.choices.clone(),
        };
        let diff = takes_files(&self.action);
        let request = PlanRequest { conversation: cx.id(), action: self.action.clone(), files, diff };
        self.planning.asked = Some((cx.ask(Request::Plan(request)), cx.now_ms));
    }

    /// Handles a reply.
    pub(crate) fn replied(
        &mut self,
        ticket: Ticket,
        reply: Result<Reply, Problem>,
        cx: &mut Cx<'_>,
    ) -> ReplyOutcome {
        if self.planning.asked.is_some_and(|(asked, _)| asked == ticket) {
            self.planning.asked = None;
            self.progress.doing = None;
            let before = self.plan.take();
            self.planned(reply, before.as_ref());
            if self.note.as_deref() == Some(PLANNING) {
                self.note = None;
            }
            // The plan that was shown is agreed to at once; a new one must be read first.
            if std::mem::take(&mut self.planning.is_renewed)
                && before.is_some_and(|before| !self.says_like(&before))
            {
                self.planning.new_until_ms = cx.now_ms + NEW_MS;
            }
            if self.is_settled() && self.goes_on_stopped(cx) {
                self.planning.is_eager = false;
            } else if self.is_settled() && std::mem::take(&mut self.planning.is_eager) {
                self.note = None;
                self.accept(cx);
            }
            return ReplyOutcome::Taken;
        }
        if self.unqueued.take_if(|asked| *asked == ticket).is_some() {
            self.words_are_back(reply, cx);
            return ReplyOutcome::Taken;
        }
        if self.progress.replied(ticket, &reply) {
            return ReplyOutcome::Taken;
        }
        match self.stage {
            ProposalStage::Applying(applying, _) if applying == ticket => self.applied(reply, cx),
            _ => ReplyOutcome::Elsewhere,
        }
    }

    /// Whether the plan has the same content as another one, whatever its head.
    fn says_like(&self, before: &Plan) -> bool {
        let as_of_now = |plan: &Plan| *plan == Plan { head: plan.head.clone(), ..before.clone() };
        self.plan.as_ref().is_some_and(as_of_now)
    }

    fn planned(&mut self, reply: Result<Reply, Problem>, before: Option<&Plan>) {
        match reply {
            Ok(Reply::Plan(plan)) => {
                if self.choices.scope == Scope::Both {
                    self.has_files = Some(plan.files.is_some());
                }
                if let Some(files) = &plan.files {
                    // A choice needs a file of the plan.
                    let is_planned = |name: &_| files.paths.iter().any(|path| path.name == *name);
                    self.choices.choose.retain(|choose| is_planned(&choose.name));
                }
                self.view.set(before, &plan, &self.choices.choose);
                self.plan = Some(plan);
                self.planning.is_shown_current = self.planning.is_requested_current;
                self.problem = None;
            }
            Ok(_) => self.plan = before.cloned(),
            Err(problem) => {
                self.problem = Some(Box::new(problem));
            }
        }
    }

    fn applied(&mut self, reply: Result<Reply, Problem>, cx: &mut Cx<'_>) -> ReplyOutcome {
        self.stage = ProposalStage::Looking;
        self.progress.doing = None;
        match reply {
            Ok(Reply::Receipt(receipt)) => {
                self.is_done(receipt, cx);
                ReplyOutcome::Taken
            }
            Ok(_) => ReplyOutcome::Taken,
            Err(problem) => {
                let is_stale = problem.kind == ProblemKind::Stale;
                self.planning.is_renewed = true;
                if is_stale && self.stopped.is_some() {
                    self.ask(cx);
                    return ReplyOutcome::Stopped;
                }
                self.stopped = None;
                self.note = Some(if is_stale { STALE.to_owned() } else { worded(&problem) });
                self.ask(cx);
                if is_stale { ReplyOutcome::Stale } else { ReplyOutcome::Taken }
            }
        }
    }

    fn is_done(&mut self, receipt: Receipt, cx: &mut Cx<'_>) {
        cx.want(PaneInstruction::Applied(Box::new(self.action.clone()), Box::new(receipt)));
        cx.want(PaneInstruction::Close);
    }

    /// The conversation has changed: the plan is requested again. Returns whether the final question was shown.
    pub(crate) fn changed(&mut self, now_ms: i64) -> bool {
        if matches!(self.stage, ProposalStage::Applying(..)) {
            return false;
        }
        self.planning.is_renewed = true;
        let rest = if self.stops() { RUNNING_REST_MS } else { REST_MS };
        // An earlier request is not delayed by later events.
        self.planning.due_ms = Some(self.planning.due_ms.unwrap_or(now_ms + rest));
        if self.stage == (ProposalStage::Agreeing { stop: true }) {
            return false;
        }
        let asking = matches!(self.stage, ProposalStage::Agreeing { .. }) && self.stopped.is_none();
        self.stage = ProposalStage::Looking;
        asking
    }

    /// Sets a note for the person.
    pub(crate) fn say(&mut self, text: impl Into<String>) {
        self.note = Some(text.into());
    }

    /// Removes the note.
    pub(crate) fn hush(&mut self) {
        self.note = None;
    }

    /// Whether the shown plan is for the current choices.
    pub(crate) fn is_settled(&self) -> bool {
        self.planning.is_settled()
    }

    /// The plan.
    pub(crate) fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }

    /// Sets whether what must be visible before agreement was drawn.
    pub(crate) fn is_seen(&mut self, is_seen: bool) {
        self.is_unseen = !is_seen;
    }

    /// Whether it can't be agreed to because that was not drawn.
    pub(crate) fn is_unseen(&self) -> bool {
        self.is_unseen
    }

    /// The options for files.
    pub(crate) fn choices(&self) -> &FileOptions {
        &self.choices
    }

    /// The reason why there is no plan.
    pub(crate) fn problem(&self) -> Option<String> {
        self.problem.as_ref().map(|problem| worded(problem))
    }

    /// The stage.
    pub(crate) fn stage(&self) -> ProposalStage {
        self.stage
    }

    /// What happens after agreement.
    pub(crate) fn ends(&self) -> &ProposalOutcome {
        &self.ends
    }

    /// The owner's progress, if it takes long.
    pub(crate) fn doing(&self) -> Option<OwnerWork> {
        self.progress.doing
    }

    /// A note for the person.
    pub(crate) fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// The action, its plan, its view and its choices.
    pub(crate) fn looked_at(&mut self) -> (&Action, Option<&Plan>, &mut View, &[Choose]) {
        (&self.action, self.plan.as_ref(), &mut self.view, &self.choices.choose)
    }

    /// The planned action.
    pub(crate) fn action(&self) -> &Action {
        &self.action
    }

    /// What an action of this kind does, in a sentence. A picker of messages needs none: all its actions are of one kind.
    pub(crate) fn about(&self) -> Option<&'static str> {
        match &self.ends {
            _ if self.context == Context::Rewind => None,
            ProposalOutcome::Applied => about::sentence(&self.action),
            ProposalOutcome::Rewritten(_) => Some(
                "Puts the words of this message into the composer, to be changed; what was said since stays as a branch.",
            ),
            ProposalOutcome::Retried(_) => {
                Some("Asks for another answer; the old one stays, to be chosen again.")
            }
        }
    }

    /// The command that shows the next file.
    pub(crate) fn next_file(&self) -> Command {
        if self.context == Context::Rewind { Command::NextFile } else { Command::ConfirmNext }
    }

    /// The keys of its commands: the scope, the choice for a file, the stop.
    pub(crate) fn commands(&self) -> (Command, Command, Command) {
        match self.context {
            Context::Rewind => (Command::Scope, Command::Choose, Command::StopFirst),
            _ => (Command::ConfirmScope, Command::ConfirmChoose, Command::ConfirmStop),
        }
    }
}

/// Whether such an action can change files at all. Others are refused with options for files.
fn takes_files(action: &Action) -> bool {
    matches!(
        action,
        Action::Rewind { .. }
            | Action::Edit { .. }
            | Action::Undo { .. }
            | Action::Redo { .. }
            | Action::Restore { .. }
            | Action::Checkout { .. }
            | Action::Choose { .. }
            | Action::RestoreFiles { .. }
            | Action::Mark { verb: MarkVerb::Drop | MarkVerb::Show, .. }
    )
}

/// The error and its remedy, in a line.
pub(crate) fn worded(problem: &Problem) -> String {
    let message = safe::line(&english::problem(problem)).into_owned();
    match &problem.hint {
        Some(hint) => format!("{message}: {}", safe::line(&Audience::Screen.words(hint))),
        None => message,
    }
}
