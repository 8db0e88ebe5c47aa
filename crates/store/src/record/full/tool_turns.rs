//! Lines of a full export for turns with tools: the ledger, runs and permissions, each as in its row.

use retake_core::{Fence, Permission, Run, RunNo, Time};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{FullLine, digest, digits, value};
use crate::record::{
    Decoded, decode_effect_class, decode_effect_state, decode_permission, decode_run, encode_effect_state,
    encode_permission, encode_run,
};
use crate::transfer::FullEffect;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EffectRecord {
    conversation: usize,
    /// The entry that requests the call.
    seq: u64,
    call: String,
    tool: String,
    class: String,
    /// In hexadecimal digits.
    print: String,
    began_ms: i64,
    state: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunLineRecord {
    conversation: usize,
    no: u64,
    state: String,
    fence: u64,
    run: Value,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PermissionLineRecord {
    conversation: usize,
    settled: Value,
}

pub(super) fn effect_record(of: usize, effect: &FullEffect) -> EffectRecord {
    EffectRecord {
        conversation: of,
        seq: effect.seq,
        call: effect.call.clone(),
        tool: effect.tool.clone(),
        class: effect.class.name().to_owned(),
        print: digits(effect.print),
        began_ms: effect.began.0,
        state: encode_effect_state(effect.state).to_owned(),
    }
}

pub(super) fn effect(record: EffectRecord) -> Decoded<FullLine> {
    let effect = FullEffect {
        seq: record.seq,
        call: record.call,
        tool: record.tool,
        class: decode_effect_class(&record.class)?,
        print: digest(&record.print)?,
        began: Time(record.began_ms),
        state: decode_effect_state(&record.state)?,
    };
    Ok(FullLine::Effect(record.conversation, Box::new(effect)))
}

pub(super) fn run_record(of: usize, run: &Run) -> RunLineRecord {
    RunLineRecord {
        conversation: of,
        no: run.no.0,
        state: run.state.name().to_owned(),
        fence: run.fence.0,
        run: value(&encode_run(run)),
    }
}

pub(super) fn run(record: &RunLineRecord) -> Decoded<FullLine> {
    let (no, fence) = (RunNo(record.no), Fence(record.fence));
    let run = decode_run(no, &record.state, fence, &record.run.to_string())?;
    Ok(FullLine::Run(record.conversation, Box::new(run)))
}

pub(super) fn permission_record(of: usize, settled: &Permission) -> PermissionLineRecord {
    PermissionLineRecord { conversation: of, settled: value(&encode_permission(settled)) }
}

pub(super) fn permission(record: &PermissionLineRecord) -> Decoded<FullLine> {
    let settled = decode_permission(&record.settled.to_string())?;
    Ok(FullLine::Permission(record.conversation, settled))
}
