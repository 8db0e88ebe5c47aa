//! Turns with tools: the names of what a ledger says.

use retake_core::{EffectClass, EffectState};

use super::Decoded;

/// How the ledger says what came of a call.
pub(crate) fn encode_effect_state(state: EffectState) -> &'static str {
    match state {
        EffectState::Begun => "begun",
        EffectState::Done => "done",
        EffectState::Failed => "failed",
    }
}

/// What came of a call, of that word.
pub(crate) fn decode_effect_state(name: &str) -> Decoded<EffectState> {
    match name {
        "begun" => Ok(EffectState::Begun),
        "done" => Ok(EffectState::Done),
        "failed" => Ok(EffectState::Failed),
        _ => Err(format!("nothing that comes of a call is “{name}”")),
    }
}

/// The class of that name.
pub(crate) fn decode_effect_class(name: &str) -> Decoded<EffectClass> {
    EffectClass::from_name(name).ok_or_else(|| format!("“{name}” is no class of effects"))
}
