//! Calls that the model did not send quite right, repaired before anything decides about them. Must never change what the model
//! sent: the repaired form stands behind it.

use retake_core::{Part, shorten};
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

/// The result of a call with a line for the model about what was repaired in it. A last line in brackets stays the last one:
/// it says how the call ended.
pub(super) fn reported(content: String, repairs: &[Repair]) -> String {
    if repairs.is_empty() {
        return content;
    }
    let all: Vec<String> = repairs.iter().map(|repair| shorten(&repair.to_string(), REPAIR_MAX)).collect();
    let line = format!("(the call was repaired: {})", all.join("; "));
    match content.trim_end().rsplit_once('\n') {
        Some((before, ending)) if ending.starts_with('[') && ending.ends_with(']') => {
            format!("{before}\n{line}\n{ending}")
        }
        _ => format!("{content}\n{line}"),
    }
}

/// The longest text about one repair, in graphemes.
const REPAIR_MAX: usize = 160;
