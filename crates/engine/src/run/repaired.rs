//! Calls that the model did not send quite right, repaired before anything decides about them. Must never change what the model
//! sent: the repaired form stands behind it.

use retake_core::Part;
use retake_tools::{Repair, Toolbox, repair};

/// Puts the repaired form of each call behind it, if it needs one: everything after this is about that form. Returns what was
/// repaired in each call.
pub(super) fn repaired(tools: &Toolbox, parts: &mut Vec<Part>) -> Vec<Vec<Repair>> {
    let mut repairs = Vec::new();
    for part in std::mem::take(parts) {
        let call = match &part {
            Part::ToolCall { name, arguments, .. } => Some(repair(tools, name, arguments)),
            _ => None,
        };
        parts.push(part);
        let Some(call) = call else { continue };
        repairs.push(call.as_ref().map(|call| call.repairs.clone()).unwrap_or_default());
        parts.extend(
            call.map(|call| Part::Repaired { name: call.name, arguments: call.arguments.to_string() }),
        );
    }
    repairs
}

/// For the model: a line about what was repaired in its call.
pub(super) fn said(repairs: &[Repair]) -> String {
    let said: Vec<String> = repairs.iter().map(Repair::to_string).collect();
    if said.is_empty() { String::new() } else { format!("\n[the call was repaired: {}]", said.join("; ")) }
}
