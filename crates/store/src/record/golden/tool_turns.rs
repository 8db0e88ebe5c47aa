//! Golden records of turns with tools.

use retake_core::{
    EffectClass, EffectState, Fence, Mark, Mode, Part, Permission, Pos, Rule, Ruling, Run, RunNo, RunState,
    Steer, Tail, Time, Words,
};

use super::{covers_all, golden};
use crate::record::{
    decode_effect_class, decode_effect_state, decode_permission, decode_run, encode_effect_state,
    encode_permission, encode_run,
};

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

/// A run with only what it must have.
pub(super) fn run() -> Run {
    Run {
        no: RunNo(3),
        state: RunState::Queued,
        steer: Steer::Queue,
        words: Vec::new(),
        tail: Tail::default(),
        model: None,
        fence: Fence(0),
        owner: 0,
        created: Time(5),
        beat: Time(6),
        cancel: None,
        ended: None,
        error: None,
    }
}

fn words() -> Words {
    let (parts, author) = (vec![Part::text("go on")], "mia".to_owned());
    Words { parts, author, request: None, wording: None, time: Time(4), chat: None }
}

#[test]
fn runs() {
    let asked = Words { request: "r-1".parse().ok(), wording: Some([0xab; 16].into()), ..words() };
    let full = Run {
        steer: Steer::Interrupt,
        words: vec![words(), asked],
        tail: Tail { entry: Some(Pos::new(1, 9)), alternatives: 2, mark: Mark::Excluded },
        model: Some("demo/demo".into()),
        fence: Fence(7),
        owner: 12,
        cancel: Some(Time(8)),
        ended: Some(Time(9)),
        error: Some("timeout".into()),
        ..run()
    };
    let joins = Run { steer: Steer::Join, ..run() };
    let pin = |run: Run| {
        let json = encode_run(&run);
        assert_eq!(decode_run(run.no, run.state.name(), run.fence, &json), Ok(run));
        json
    };
    golden("runs", &[run(), joins, full].map(pin).join("\n"));
    let json = encode_run(&run());
    for &state in RunState::ALL {
        let read = decode_run(RunNo(3), state.name(), Fence(0), &json).unwrap();
        assert_eq!(read, Run { state, ..run() });
    }
    let with = |words: &str| json.replace(r#""tail""#, &format!(r#""words":[{words}],"tail""#));
    let bad = [
        json.replace("queue", "wait"),
        json.replace("normal", "bold"),
        json.replace("null", "0"),
        json.replace(r#""owner":0,"#, ""),
        json.replace('}', r#","more":1}"#),
        with(r#"{"parts":[],"author":"","wording":"ab","time":1}"#),
        with(r#"{"parts":[],"author":"","request":"","time":1}"#),
        with(r#"{"parts":["x"],"author":"","time":1}"#),
    ];
    assert!(decode_run(RunNo(3), "queued", Fence(0), &with(r#"{"parts":[],"author":"","time":1}"#)).is_ok());
    for json in bad {
        assert!(decode_run(RunNo(3), "queued", Fence(0), &json).is_err(), "{json}");
    }
    assert!(decode_run(RunNo(3), "asleep", Fence(0), &json).is_err());
}

#[test]
fn permissions() {
    let rule =
        |ruling, what: Option<&str>| Rule { ruling, tool: "shell".into(), what: what.map(str::to_owned) };
    let rules = Ruling::ALL.iter().copied().zip([Some("git status"), None, Some("")]);
    let rules: Vec<Rule> = rules.map(|(ruling, what)| rule(ruling, what)).collect();
    let all = Mode::ALL.iter().map(|&mode| Permission { mode, rules: Vec::new() });
    let all = all.chain([Permission { mode: Mode::Ask, rules }]).map(|permission| {
        let json = encode_permission(&permission);
        assert_eq!(decode_permission(&json).as_ref(), Ok(&permission));
        json
    });
    golden("permissions", &all.collect::<Vec<_>>().join("\n"));
    let bad = [
        r#"{"mode":"never","rules":[]}"#,
        r#"{"mode":"ask"}"#,
        r#"{"mode":"ask","rules":[["maybe","a",null]]}"#,
        r#"{"mode":"ask","rules":[["deny","a"]]}"#,
        r#"{"mode":"ask","rules":[],"more":1}"#,
    ];
    for json in bad {
        assert!(decode_permission(json).is_err(), "{json}");
    }
}
