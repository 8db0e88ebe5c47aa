//! The question before a message that may not fit into the model's context is sent. Must never send a text that has changed since, and
//! must never keep one from being sent: a second Enter sends it.

use retake_wire::reply::Context;
use retake_wire::request::ContextQuery;
use retake_wire::{Part, Request};

use super::notices::Kind;
use super::{App, RequestPurpose, Requester};
use crate::hint::Audience;
use crate::render::context::percent;
use crate::text::safe;
use crate::ui::keymap::Command;
use crate::ui::msg::TabId;

/// What is known about the context of a tab's conversation.
#[derive(Debug, Default)]
pub(super) struct KnownContext {
    /// What was read, and the last answer then.
    meter: Option<(Option<String>, Context)>,
    /// The message that the owner is asked about.
    asked: Option<Vec<Part>>,
    /// The message that the person was warned about.
    warned: Option<Vec<Part>>,
}

impl KnownContext {
    /// An operation changes how much is used.
    pub(super) fn operated(&mut self) {
        self.meter = None;
    }
}

impl App {
    /// Whether the message waits until the owner says that it fits into the context, or until a second Enter.
    pub(super) fn waits_for_context(&mut self) -> bool {
        let tab = self.tab();
        let Some(conversation) = tab.conversation() else { return false };
        let parts = tab.composer.parts();
        let known = &tab.outgoing.context;
        let is_free = tab.outgoing.rewriting.is_some() || tab.talk.is_running();
        if is_free || known.warned.as_ref() == Some(&parts) || !ContextQuery::is_worth_asking(&parts) {
            return false;
        }
        if known.asked.as_ref() != Some(&parts) {
            let (id, model) = (tab.id, tab.model.name.clone());
            self.tab_mut().outgoing.context.asked = Some(parts.clone());
            let query = ContextQuery { conversation, model, parts };
            self.ask(Requester::Tab(id, RequestPurpose::Fits), Request::Context(query));
        }
        self.hint("looking whether this fits into the model's context …".to_owned());
        true
    }

    /// The owner has said whether the message fits; without an answer it is sent, and the run says it.
    pub(super) fn told_whether_it_fits(&mut self, id: TabId, context: Option<Context>) {
        let Some(tab) = self.find_tab(id) else { return };
        let Some(asked) = tab.outgoing.context.asked.take() else { return };
        if tab.composer.parts() != asked {
            return;
        }
        tab.outgoing.context.warned = Some(asked);
        let is_here = self.tab().id == id;
        match context.and_then(|context| context.warning) {
            Some(warning) => {
                let enter = self.keys.named(Command::Send);
                let warning = Audience::Screen.notice(&warning, "");
                self.refuse(format!("{}; {enter} again sends it", safe::line(&warning)));
            }
            // A question that was asked meanwhile must not take the message for its answer.
            None if is_here && self.tab().front().is_none() => {
                self.notices.remove(Kind::Hint);
                self.send();
            }
            None => {}
        }
    }

    /// How much of the context is used was read.
    pub(super) fn context_read(&mut self, id: TabId, context: Context) {
        if let Some(tab) = self.find_tab(id) {
            let answer = tab.talk.last_answer().map(|answer| answer.id.clone());
            tab.outgoing.context.meter = Some((answer, context));
        }
    }

    /// How much of the model's context is used, in per cent: by the last answer, or as it was read since. None if it is not known.
    pub(super) fn context_used(&self) -> Option<u64> {
        let tab = self.tab();
        let answer = tab.talk.last_answer();
        if let Some((read_at, context)) = &tab.outgoing.context.meter
            && read_at.as_ref() == answer.map(|answer| &answer.id)
        {
            return percent(context.used, context.limit?);
        }
        let (answer, usage) = answer.and_then(|answer| Some((answer, answer.usage.as_ref()?)))?;
        let taken = usage.input_tokens?.saturating_add(usage.output_tokens.unwrap_or(0));
        let model = self.models.as_ref()?.models.iter().find(|model| model.name == answer.author)?;
        percent(taken, model.context_tokens?)
    }

    /// Reads how much of the context is used, for the status bar.
    pub(super) fn read_context(&mut self, id: TabId) {
        let Some(tab) = self.find_tab(id) else { return };
        let Some(conversation) = tab.conversation() else { return };
        let query = ContextQuery { conversation, model: tab.model.name.clone(), parts: Vec::new() };
        self.ask(Requester::Tab(id, RequestPurpose::Context), Request::Context(query));
    }
}
