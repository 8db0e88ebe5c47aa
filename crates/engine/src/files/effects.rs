//! The effects of an action: calls that it reverts in the conversation and whose effects stay. Shown before the action. Must
//! never show hidden or erased content.

use super::exec::PERSON_COMMAND;
use crate::Engine;
use crate::log::LogFailure as _;
use retake_core::{
    ConversationId, Effect, EffectClass, EffectState, EntryId, Part, Refusal, Time, Unanswered, calls_as_run,
};
use retake_store::StoreError;

/// The most calls that are listed one by one.
const SHOWN: usize = 10;

/// Calls whose effects cannot be reverted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Their number.
    pub count: usize,
    /// The newest of them, newest first.
    pub calls: Vec<EffectShown>,
}

/// A call whose effects cannot be reverted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectShown {
    /// The tool; empty if it was erased.
    pub tool: String,
    /// The arguments, as it ran, or why they are not there.
    pub arguments: Result<String, NoArguments>,
    /// The most that it does to the world.
    pub class: EffectClass,
    /// When it began.
    pub began: Time,
    /// Its result.
    pub state: EffectState,
}

impl Effects {
    /// Of these calls without a result, those that were interrupted and are not listed here. A call of the newest turn gets its
    /// result when the run ends that is at work.
    pub(crate) fn cut_off(&self, unanswered: Vec<Unanswered>, at_work: bool) -> Vec<Unanswered> {
        let is_listed = |call: &Unanswered| {
            self.calls.iter().any(|effect| {
                effect.state == EffectState::Begun
                    && effect.tool == call.tool
                    && effect.arguments.as_ref() == Ok(&call.arguments)
            })
        };
        // A person's command begins as soon as it is said, and is in no ledger.
        let began = |call: &Unanswered| match call.state {
            Some(state) => state == EffectState::Begun,
            None => call.tool == PERSON_COMMAND,
        };
        let all = unanswered.into_iter().filter(|call| !(call.newest && at_work));
        all.filter(|call| began(call) && !is_listed(call)).collect()
    }
}

/// Why the arguments of a call are not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoArguments {
    /// Its message is hidden or dropped.
    Hidden,
    /// Its message was erased.
    Erased,
    /// Its message is damaged, or is not the one that asked for it.
    Unreadable,
}

impl Engine {
    /// The calls that an action reverts and whose effects stay, for people.
    pub async fn left_behind(&self, of: ConversationId, all: Vec<Effect>) -> Effects {
        let mut effects = Effects { count: all.len(), calls: Vec::new() };
        for effect in all.into_iter().take(SHOWN) {
            effects.calls.push(self.effect_shown(of, effect).await);
        }
        effects
    }

    async fn effect_shown(&self, of: ConversationId, effect: Effect) -> EffectShown {
        let (of, entry) = self.asked_in(of, &effect).await;
        let arguments = match self.store().content(of, entry).await {
            Ok(asked) => arguments(&asked, &effect),
            Err(StoreError::Refused(Refusal::NotVisible(_))) => Err(NoArguments::Hidden),
            Err(_) => Err(NoArguments::Unreadable),
        };
        let Effect { tool, class, began, state, .. } = effect;
        EffectShown { tool, arguments, class, began, state }
    }
}

impl Engine {
    /// The message that asked for a call, with its conversation. A call of a subagent is in the ledger of the answer that started
    /// the subagent; its name has the message.
    async fn asked_in(&self, of: ConversationId, effect: &Effect) -> (ConversationId, EntryId) {
        let named = effect.call.rsplit_once('-').and_then(|(entry, _)| entry.parse::<EntryId>().ok());
        let Some(named) = named.filter(|named| *named != effect.entry) else { return (of, effect.entry) };
        let subagents = self.store().subagents_of(of, effect.entry).await;
        for subagent in subagents.or_log("a call of a subagent is not found").unwrap_or_default() {
            if self.store().meta(subagent, named).await.is_ok() {
                return (subagent, named);
            }
        }
        (of, effect.entry)
    }
}

/// What a call was asked to do, by the message that asked for it.
fn arguments(asked: &[Part], effect: &Effect) -> Result<String, NoArguments> {
    if effect.tool.is_empty() || asked.contains(&Part::Erased) {
        return Err(NoArguments::Erased);
    }
    let number = effect.call.rsplit('-').next().and_then(|number| number.parse::<usize>().ok());
    let call = number.and_then(|number| calls_as_run(asked).nth(number.checked_sub(1)?));
    match call.filter(|call| call.name == effect.tool) {
        Some(call) => Ok(call.arguments.to_owned()),
        None => Err(NoArguments::Unreadable),
    }
}
