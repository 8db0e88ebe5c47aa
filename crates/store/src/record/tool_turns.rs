//! Turns with tools: the names in the ledger, and permissions.

use retake_core::{EffectClass, EffectState, Mode, Permission, Rule, Ruling};
use serde::{Deserialize, Serialize};

use super::{Decoded, from_json, to_json};

/// The ledger's word for the state of a call.
pub(crate) fn encode_effect_state(state: EffectState) -> &'static str {
    state.into()
}

/// The state of a call for this word.
pub(crate) fn decode_effect_state(name: &str) -> Decoded<EffectState> {
    name.parse().map_err(|_| format!("nothing that comes of a call is “{name}”"))
}

/// The class with this name.
pub(crate) fn decode_effect_class(name: &str) -> Decoded<EffectClass> {
    EffectClass::from_name(name).ok_or_else(|| format!("“{name}” is not a class of effects"))
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PermissionRecord {
    mode: String,
    rules: Vec<RuleRecord>,
}

/// Ruling, tool, and subject.
type RuleRecord = (String, String, Option<String>);

/// The record of permissions.
pub(crate) fn encode_permission(permission: &Permission) -> String {
    let rule = |rule: &Rule| (rule.ruling.name().to_owned(), rule.tool.clone(), rule.what.clone());
    let rules = permission.rules.iter().map(rule).collect();
    to_json(&PermissionRecord { mode: permission.mode.name().to_owned(), rules })
}

/// The permissions in this record.
pub(crate) fn decode_permission(json: &str) -> Decoded<Permission> {
    let PermissionRecord { mode, rules } = from_json("permission", json)?;
    let rule = |(ruling, tool, what): RuleRecord| {
        let ruling = Ruling::from_name(&ruling).ok_or_else(|| format!("“{ruling}” is not a ruling"))?;
        Ok(Rule { ruling, tool, what })
    };
    Ok(Permission {
        mode: Mode::from_name(&mode).ok_or_else(|| format!("“{mode}” is not a mode"))?,
        rules: rules.into_iter().map(rule).collect::<Decoded<_>>()?,
    })
}
