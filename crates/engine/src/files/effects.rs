//! What an action leaves behind in the world: calls that it takes out of the conversation and nothing takes back. Said before
//! it is done. Must never show what a person has hidden or erased.

use crate::Engine;
use retake_core::{ConversationId, Effect, EffectClass, EffectState, Part, Time};

/// So many calls are listed one by one.
const SHOWN: usize = 10;

/// Calls that can't be taken back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// How many there are.
    pub count: usize,
    /// The newest of them, newest first.
    pub calls: Vec<EffectShown>,
}

/// A call that can't be taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectShown {
    /// The tool; empty, where it was erased.
    pub tool: String,
    /// What it was asked to do, as the model wrote it; nothing, where that is hidden or erased.
    pub arguments: Option<String>,
    /// What it does to the world at most.
    pub class: EffectClass,
    /// When it began.
    pub began: Time,
    /// What came of it.
    pub state: EffectState,
}

impl Engine {
    /// The calls that an action takes out of the conversation and nothing takes back, in words.
    pub async fn left_behind(&self, of: ConversationId, all: Vec<Effect>) -> Effects {
        let mut effects = Effects { count: all.len(), calls: Vec::new() };
        for effect in all.into_iter().take(SHOWN) {
            effects.calls.push(self.effect_shown(of, effect).await);
        }
        effects
    }

    async fn effect_shown(&self, of: ConversationId, effect: Effect) -> EffectShown {
        // What can't be read any more, as it was hidden, erased or is damaged, has no words.
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
