//! The records of turns with tools, as they are written.

use retake_core::{EffectClass, EffectState};

use super::{covers_all, golden};
use crate::record::{decode_effect_class, decode_effect_state, encode_effect_state};

variants! { EFFECT_STATES, effect_state_name: EffectState {
    EffectState::Begun => "begun",
    EffectState::Done => "done",
    EffectState::Failed => "failed",
} }

#[test]
fn effects() {
    covers_all(
        EFFECT_STATES,
        effect_state_name,
        &[EffectState::Begun, EffectState::Done, EffectState::Failed],
    );
    let states = EFFECT_STATES.iter().map(|name| {
        let state = decode_effect_state(name).unwrap();
        assert_eq!((encode_effect_state(state), effect_state_name(&state)), (*name, *name));
        *name
    });
    let classes = EffectClass::ALL.iter().map(|class| {
        assert_eq!(decode_effect_class(class.name()).as_ref(), Ok(class));
        class.name()
    });
    golden("effects", &states.chain(classes).collect::<Vec<_>>().join("\n"));
    assert!(decode_effect_state("Done").is_err() && decode_effect_class("").is_err());
}
