//! A tool call: its intent, its ruling, its start. One that may change something is in the ledger before it runs.
//! `running` has what happens then.

mod running;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use retake_core::{
    AskCause, CallAsked, CallForm, CallRefusal, CallRuling, CallTarget, ConversationId, Digest, Effect,
    EffectClass, EntryId, Intent, Mode, Part, Permission, Rule, Ruling, SAME_RESULTS, TurnInput,
    calls_as_run, shorten,
};
use retake_store::digest::of_call;
use retake_tools::{PLAN_TOOL, Repair, Tool};
use serde_json::Value;
use tracing::Instrument as _;

use super::Events;
use super::drive::{Driver, Inbox};
use super::event::{CallShown, Decision, NotRun, PendingApproval, RunEvent};
use super::guard::Guards;
use super::host::ToolHost;
use crate::error::{EngineError, Result};
use crate::log::LogFailure as _;
use crate::notice::Notice;

/// A requested call with its intent.
#[derive(Clone)]
pub(super) struct Ready {
    /// Its key, unique in the data directory, in decisions, the ledger and processes.
    pub(super) key: String,
    /// The provider's id.
    id: String,
    name: String,
    /// What was repaired in it.
    repairs: Vec<Repair>,
    /// Its arguments as an object, or why they are none.
    pub(super) arguments: std::result::Result<Value, String>,
    /// The entry that requests it.
    entry: EntryId,
    tool: Option<Arc<dyn Tool>>,
    pub(super) intent: Intent,
    /// The effect that stays when files are reverted.
    leaves: EffectClass,
    settled: CallRuling,
    /// The permissions with which it was ruled.
    permission: Arc<Permission>,
    /// Whether a person has seen it.
    told: bool,
    /// An equal call that ran before and was reverted in the conversation only.
    again: Option<Effect>,
    /// Why it cannot run, whatever a person would say.
    cannot: Option<EngineError>,
}

impl Ready {
    /// A digest of tool and arguments: equal calls have equal digests.
    fn digest(&self) -> Digest {
        of_call(&self.name, &self.arguments)
    }

    /// Whether captures surround it: it may change files of these folders.
    fn is_captured(&self, roots: &[PathBuf]) -> bool {
        let may_write = self.tool.as_ref().is_some_and(|tool| tool.may_write());
        self.intent.class != EffectClass::None && may_write && !roots.is_empty()
    }

    /// Whether it starts programs.
    pub(super) fn starts_programs(&self) -> bool {
        self.tool.as_ref().is_some_and(|tool| tool.starts_programs(&self.intent))
    }

    /// The call in an approval request; that of a subagent names it.
    fn shown_for(&self, subagent: Option<&str>) -> CallShown {
        let shown = self.shown();
        match subagent {
            Some(title) => CallShown { line: format!("{title} › {}", shown.line), ..shown },
            None => shown,
        }
    }

    fn shown(&self) -> CallShown {
        CallShown {
            call: self.key.clone(),
            tool: self.name.clone(),
            line: self.intent.line.clone(),
            class: self.intent.class,
            detail: self.intent.detail.clone(),
        }
    }
}

impl Driver {
    /// Prepares the calls of an answer, with what was repaired in each.
    pub(super) fn prepare(
        &mut self,
        entry: EntryId,
        parts: &[Part],
        repairs: Vec<Vec<Repair>>,
    ) -> Vec<CallAsked> {
        self.calls.clear();
        self.halt.send_replace(false);
        let mut asked = Vec::new();
        for (CallForm { id, name, arguments }, repairs) in calls_as_run(parts).zip(repairs) {
            let key = crate::files::name_of(entry, asked.len() + 1);
            let tool = self.scene.tool(name);
            let beside = tool.as_ref().is_none_or(|tool| tool.is_parallel());
            let may_repeat = tool.as_ref().is_some_and(|tool| tool.may_repeat());
            let text = arguments.to_owned();
            let ready = Ready {
                key: key.clone(),
                id: id.to_owned(),
                name: name.to_owned(),
                repairs,
                arguments: arguments_of(arguments),
                entry,
                tool,
                intent: Intent { class: EffectClass::None, touches: Vec::new(), line: text, detail: None },
                leaves: EffectClass::None,
                settled: CallRuling::Ask(AskCause::MayChange),
                permission: Arc::default(),
                told: false,
                again: None,
                cannot: None,
            };
            let print = (!may_repeat).then(|| ready.digest().current);
            asked.push(CallAsked { id: key.clone(), beside, print });
            self.calls.insert(key, ready);
        }
        asked
    }

    /// Determines the intent of a call, and its ruling. An invalid call is refused, with a hint for the model.
    pub(super) async fn look(&mut self, key: String) -> TurnInput {
        let Some(mut ready) = self.calls.remove(&key) else { return TurnInput::Ended(key, None) };
        let looked = self.looked(&mut ready).await;
        let ruling = if ready.cannot.is_some() { Ruling::Deny } else { ready.settled.ruling() };
        self.calls.insert(key.clone(), ready);
        match looked {
            Ok(()) => TurnInput::Settled(key, ruling),
            Err(error) => self.not_stored(error),
        }
    }

    async fn looked(&self, ready: &mut Ready) -> Result<()> {
        let conversation = self.claim.conversation();
        let root = self.scene.root();
        let folder = match self.engine.store().fact(conversation, "cwd".to_owned()).await? {
            Some(cwd) => root.join(cwd),
            None => root,
        };
        let intent = match (&ready.tool, &ready.arguments) {
            (None, _) => Err(self.unknown(&ready.name)),
            (_, Err(why)) => Err(CallRefusal::Arguments(why.clone())),
            (Some(tool), Ok(arguments)) => {
                tool.intent(arguments, &folder, &self.scene.roots).map_err(CallRefusal::Arguments)
            }
        };
        match intent {
            Err(why) => {
                ready.intent.line = format!("{} {}", ready.name, shorten(&ready.intent.line, 60));
                ready.settled = CallRuling::Deny(why);
            }
            Ok(mut intent) => {
                // A file that no capture covers stays after a rewind.
                let is_kept = |path: &Path| self.scene.kept().iter().any(|root| path.starts_with(root));
                let elsewhere =
                    |touch: &CallTarget| matches!(touch, CallTarget::Write(path) if !is_kept(path));
                if intent.touches.iter().any(elsewhere) {
                    intent.class = EffectClass::External;
                }
                ready.leaves = match (&ready.tool, &ready.arguments) {
                    (Some(tool), Ok(given)) => tool.leaves(given, &self.scene.roots, &intent),
                    _ => intent.class,
                };
                if matches!(ready.leaves, EffectClass::External | EffectClass::Compensable) {
                    ready.again = self.engine.store().effect_again(self.home(), ready.digest()).await?;
                }
                let permission = self.permission().await?;
                if let Some(wrong) = self.engine.wrong_settings() {
                    self.events.send(RunEvent::Notice(Notice::SettingsWrong(wrong)));
                }
                let settled = permission.settle(&ready.name, &intent, &self.scene.roots);
                self.scene.guarded.look_again();
                let settled = self.guards(&permission).settle(&ready.name, &intent, settled);
                let settled = asked_about_plan(settled, &ready.name, permission.mode);
                ready.permission = Arc::new(permission);
                ready.settled = asked_again(settled, ready.again.as_ref());
                ready.intent = intent;
                // Nobody is asked about a call that cannot run.
                if matches!(ready.settled, CallRuling::Ask(_)) && ready.is_captured(&self.scene.roots) {
                    ready.cannot = self.engine.never_captured(conversation).await?;
                }
            }
        }
        Ok(())
    }

    /// The guard that keeps files with secrets from the run's calls.
    fn guards<'a>(&'a self, permission: &'a Permission) -> Guards<'a> {
        Guards { guarded: &self.scene.guarded, permission, roots: &self.scene.roots }
    }

    /// The run's current permissions.
    async fn permission(&self) -> Result<Permission> {
        Ok(self.scene.permission(self.engine.permission(self.home()).await?))
    }

    fn unknown(&self, name: &str) -> CallRefusal {
        let names = self.scene.tools.all().map(|tool| tool.name().to_owned()).collect();
        CallRefusal::UnknownTool(name.to_owned(), names)
    }

    /// Requests an approval for a call.
    pub(super) async fn request_approval(&mut self, key: String) -> Option<TurnInput> {
        let events = self.asking();
        let listening = events.listening();
        if self.engine.is_unattended(Some(self.home()), &listening) {
            return Some(self.denied(key, CallRefusal::Unattended(None)));
        }
        let of = self.ground.caller.as_ref().map(|caller| caller.title.clone());
        // The request can be sent without suggested rules.
        let permission = self.permission().await.or_log("no rules are offered").unwrap_or_default();
        let ready = self.calls.get_mut(&key)?;
        let CallRuling::Ask(cause) = ready.settled.clone() else { return None };
        ready.told = true;
        // A call that ran before always needs an approval, whatever the rules are; so does a plan.
        let offers = match (ready.again.as_ref(), &cause) {
            (Some(_), _) | (_, AskCause::Plan) => Vec::new(),
            (None, _) => {
                let roots = &self.scene.roots;
                let guards = Guards { guarded: &self.scene.guarded, permission: &permission, roots };
                guards.offers(&ready.name, &ready.intent)
            }
        };
        let asks = PendingApproval {
            id: key.clone(),
            call: ready.shown_for(of.as_deref()),
            cause,
            again: ready.again.as_ref().map(|effect| effect.began),
            offers,
        };
        let conversation = self.home();
        let session = self.engine.session(conversation);
        session.ask_approval(&key, self.inbox.clone());
        self.engine.tell_of_waiting(conversation, key.clone(), asks.call.tool.clone());
        events.send(RunEvent::Asks(asks));
        let engine = Arc::clone(&self.engine);
        tokio::spawn(async move {
            tokio::select! {
                () = engine.until_unattended(Some(conversation), &listening) => {
                    // A person may have answered at this very moment.
                    drop(engine.decide(conversation, &key, Decision::LastClientLeft));
                }
                () = session.until_settled(&key) => {}
            }
        });
        None
    }

    /// Whether a call hands over a plan that a person must approve.
    fn is_plan(&self, key: &str) -> bool {
        let settled = self.calls.get(key).map(|ready| &ready.settled);
        matches!(settled, Some(CallRuling::Ask(AskCause::Plan)))
    }

    /// A person has approved a plan: plan mode is over for the run and for the conversation.
    async fn approve_plan(&mut self) {
        self.scene.leave_plan_mode();
        let left = self.engine.leave_plan_mode(self.home()).await;
        left.or_log("plan mode does not end");
    }

    /// Withdraws the approval request of a call. For a call of a subagent, the clients of the other conversation do not see its
    /// end: the request is closed for them.
    pub(super) fn withdraw(&self, key: String) {
        self.engine.session(self.home()).withdraw_approval(&key);
        if let Some(caller) = &self.ground.caller {
            caller.events.send(RunEvent::Settled(key));
        }
    }

    /// Handles a person's decision.
    pub(super) async fn decided(&mut self, key: String, decision: Decision) -> TurnInput {
        let is_yes = matches!(decision, Decision::Once | Decision::InConversation(_) | Decision::Always(_));
        if is_yes && self.is_plan(&key) {
            self.approve_plan().await;
            return TurnInput::Allowed(key);
        }
        let remembered = match decision {
            Decision::Once => return TurnInput::Allowed(key),
            Decision::Deny(words) => return self.denied(key, CallRefusal::Person(words)),
            Decision::Unattended(allows) => return self.denied(key, CallRefusal::Unattended(Some(allows))),
            Decision::LastClientLeft => return self.denied(key, CallRefusal::LastClientLeft),
            Decision::InConversation(rule) => self.remember(rule).await,
            Decision::Always(rule) => self.engine.remember_always(&rule),
        };
        if let Err(error) = remembered {
            self.events.send(RunEvent::Notice(Notice::RuleNotKept(error)));
        }
        TurnInput::Allowed(key)
    }

    fn denied(&mut self, key: String, why: CallRefusal) -> TurnInput {
        if let Some(ready) = self.calls.get_mut(&key) {
            ready.settled = CallRuling::Deny(why);
        }
        TurnInput::Denied(key)
    }

    /// Stores a rule for this conversation.
    async fn remember(&self, rule: Rule) -> Result<()> {
        let conversation = self.home();
        let mut own = self.engine.own_permission(conversation).await?;
        own.rules.push(rule);
        Ok(self.engine.store().set_permission(conversation, own).await?)
    }

    /// Stores that a call did not run because it repeats the one before it.
    pub(super) async fn refuse_repeat(&mut self, key: String) -> TurnInput {
        if let Some(ready) = self.calls.get_mut(&key) {
            ready.cannot = None;
            ready.settled = CallRuling::Deny(CallRefusal::Repeated(SAME_RESULTS));
        }
        self.refuse(key).await
    }

    /// The tool of the call that was refused as a repeat.
    pub(super) fn repeated(&self) -> &str {
        let is_repeat = |ready: &&Ready| matches!(ready.settled, CallRuling::Deny(CallRefusal::Repeated(_)));
        self.calls.values().find(is_repeat).map_or("", |ready| &ready.name)
    }

    /// Stores that a call did not run, with the reason.
    pub(super) async fn refuse(&mut self, key: String) -> TurnInput {
        let Some(ready) = self.calls.get(&key) else { return TurnInput::Ended(key, None) };
        let why = match (&ready.cannot, &ready.settled) {
            (Some(error), _) => NotRun::Failed(error.clone()),
            (None, CallRuling::Deny(why)) => NotRun::Refused(why.clone()),
            (None, CallRuling::Allow | CallRuling::Ask(_)) => NotRun::Refused(self.engine.stopped()),
        };
        if !ready.told {
            self.events.send(RunEvent::Calling(ready.shown()));
        }
        let stage = self.stage(ready);
        match stage.never_run(ready, why).await {
            Ok(result) => TurnInput::Ended(key, result),
            Err(error) => self.not_stored(error),
        }
    }

    /// Starts a call; its end arrives in the inbox.
    pub(super) async fn start(&mut self, key: &str) {
        let Some(ready) = self.calls.get(key).cloned() else { return };
        self.touched(&ready.intent.touches);
        self.events.send(RunEvent::Calling(ready.shown()));
        let stage = self.stage(&ready);
        let (inbox, key) = (self.inbox.clone(), key.to_owned());
        let work = async move {
            let done = stage.run(ready).await;
            // The run may be over; then there is no receiver.
            drop(inbox.send(Inbox::Ended(key, done)));
        };
        tokio::spawn(work.in_current_span());
    }

    /// The host of a call.
    fn stage(&self, ready: &Ready) -> ToolHost {
        let reads = ready.intent.touches.iter().filter_map(|touch| match touch {
            CallTarget::Read(path) => Some(path.clone()),
            _ => None,
        });
        ToolHost {
            engine: Arc::clone(&self.engine),
            conversation: self.claim.conversation(),
            key: ready.key.clone(),
            events: self.events.clone(),
            halt: self.halt.subscribe(),
            fence: self.fence,
            answering: self.answering(),
            roots: self.scene.roots.clone(),
            kept: self.scene.kept,
            guarded: Arc::clone(&self.scene.guarded),
            permission: Arc::clone(&ready.permission),
            reads: reads.collect(),
            spool: self.scene.spool.clone(),
            caller: self.ground.caller.clone(),
            subagents: self.scene.subagents.clone(),
        }
    }

    /// The conversation whose permissions count, and where people answer: for a subagent, that of the call that it works for.
    pub(super) fn home(&self) -> ConversationId {
        self.ground.caller.as_ref().map_or(self.claim.conversation(), |caller| caller.conversation)
    }

    /// The events of the run there.
    fn asking(&self) -> Events {
        self.ground.caller.as_ref().map_or(&self.events, |caller| &caller.events).clone()
    }
}

/// In plan mode a plan always needs an approval, whatever the rules are.
fn asked_about_plan(settled: CallRuling, tool: &str, mode: Mode) -> CallRuling {
    match settled {
        CallRuling::Allow | CallRuling::Ask(_) if tool == PLAN_TOOL && mode == Mode::Plan => {
            CallRuling::Ask(AskCause::Plan)
        }
        settled => settled,
    }
}

/// A call that ran before and was reverted in the conversation only needs an approval, unless it is denied anyway.
fn asked_again(settled: CallRuling, again: Option<&Effect>) -> CallRuling {
    match (&settled, again) {
        (CallRuling::Allow | CallRuling::Ask(_), Some(_)) => CallRuling::Ask(AskCause::RanBefore),
        _ => settled,
    }
}

/// The arguments of a call as an object.
fn arguments_of(text: &str) -> std::result::Result<Value, String> {
    match serde_json::from_str(if text.trim().is_empty() { "{}" } else { text }) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err("its arguments are not a JSON object; give them as a JSON object".to_owned()),
        Err(error) => Err(format!("its arguments are not JSON ({error}); give them as one JSON object")),
    }
}

impl EngineError {
    /// The error for an empty answer.
    pub(super) fn empty_answer(model: &str) -> Self {
        Self::new(crate::error::Kind::Model, "empty_answer", format!("{model} gave an empty answer"))
            .with("model", model)
    }

    /// The error for a model that keeps repeating a call of this tool.
    pub(super) fn repeated_calls(tool: &str) -> Self {
        let what = format!("the model kept repeating one call of {tool}, although its result did not change");
        Self::new(crate::error::Kind::Refused, "repeated_calls", what).with("tool", tool)
    }

    /// The error for a turn with too many model calls.
    pub(super) fn too_many_steps(limit: u32) -> Self {
        let what = format!("the model was asked {limit} times in one run and still wants to go on");
        Self::new(crate::error::Kind::Refused, "too_many_steps", what).with("most", u64::from(limit))
    }
}
