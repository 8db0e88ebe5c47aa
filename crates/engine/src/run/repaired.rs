//! Calls that the model did not send quite right, repaired before anything decides about them. Must never change what the model
//! sent: the repaired form stands behind it.

use retake_core::{Part, ToolOutcome, shorten};
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
pub(super) fn reported(content: String, outcome: ToolOutcome, repairs: &[Repair]) -> String {
    if repairs.is_empty() {
        return content;
    }
    let all: Vec<String> = repairs.iter().map(|repair| shorten(&repair.to_string(), REPAIR_MAX)).collect();
    let line = format!("(the call was repaired: {})", all.join("; "));
    let said = content.trim_end();
    let at = said.rfind('\n').map_or(0, |at| at + 1);
    match &said[at..] {
        // The first line of a call that has succeeded is its preview.
        ending
            if ending.starts_with('[')
                && ending.ends_with(']')
                && (at > 0 || outcome == ToolOutcome::Failed) =>
        {
            format!("{}{line}\n{ending}", &said[..at])
        }
        _ => format!("{content}\n{line}"),
    }
}

/// The longest text about one repair, in graphemes.
const REPAIR_MAX: usize = 160;
