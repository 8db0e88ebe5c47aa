//! The effects of an action: calls that it reverts in the conversation and whose effects stay. Shown before the action. Must
//! never show hidden or erased content.

use super::exec::PERSON_COMMAND;
use crate::Engine;
use retake_core::{ConversationId, Effect, EffectClass, EffectState, Part, Time, Unanswered};

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
    /// The arguments, as the model wrote them; none if they are hidden or erased.
    pub arguments: Option<String>,
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
                    && effect.arguments.as_ref() == Some(&call.arguments)
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
        // A hidden, erased or damaged entry has no text.
        let asked = self.store().content(of, effect.entry).await.unwrap_or_default();
        let number = effect.call.rsplit('-').next().and_then(|number| number.parse::<usize>().ok());
        let arguments = number.and_then(|number| number.checked_sub(1)).and_then(|at| {
            let mut calls = asked.iter().filter_map(|part| match part {
                Part::ToolCall { name, arguments, .. } => Some((name, arguments)),
                _ => None,
            });
            calls.nth(at).filter(|(name, _)| **name == effect.tool)
        });
        let arguments = arguments.map(|(_, arguments)| arguments.clone());
        let Effect { tool, class, began, state, .. } = effect;
        EffectShown { tool, arguments, class, began, state }
    }
}
