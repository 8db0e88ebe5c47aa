//! Stored digests: of a request's arguments, of a call, and of a text. Must never depend on names of Rust types or on the order
//! of keys.
//!
//! The encoding has a version. Version 2 is the JSON of the arguments with sorted keys, without spaces, and without members that
//! are null or false. The version and the kind of the digest come before it. Version 1, of earlier programs, was a debugging
//! text. A current digest knows both: see [`Digest::matches`].

use std::fmt::{Debug, Write};

use retake_core::{Action, Choice, Digest, EntryId, Head, Part, Path, SeenState, Step};
use serde::Serialize;
use serde_json::{Value, json};

use crate::record::{encode_flags, encode_parts};
use crate::rows::Fingerprint;
use crate::transfer::{Import, ImportMessage};

/// The version of the encoding that this program writes.
pub const VERSION: u32 = 2;

/// A digest of a request's arguments as a client sent them.
pub fn of_request(kind: &str, arguments: &(impl Serialize + Debug)) -> Digest {
    let value = serde_json::to_value(arguments).expect("BUG: arguments are JSON");
    Digest { current: of_value(kind, &value), before: Some(version_1(&format!("{arguments:?}").as_str())) }
}

/// A digest of arguments that are only known as JSON. No earlier version stored one.
pub fn of_arguments(kind: &str, arguments: &Value) -> Digest {
    of_value(kind, arguments).into()
}

/// A digest of a tool and its arguments, or of their error: equal calls have equal digests.
pub fn of_call(tool: &str, arguments: &Result<Value, String>) -> Digest {
    let value = match arguments {
        Ok(arguments) => json!([tool, arguments]),
        Err(error) => json!([tool, null, error]),
    };
    let before = version_1(&format!("{tool} {arguments:?}").as_str());
    Digest { current: of_value("call", &value), before: Some(before) }
}

/// A digest of a text, such as the content of a file.
pub fn of_text(kind: &str, text: &str) -> Digest {
    Digest { current: of_value(kind, &Value::from(text)), before: Some(version_1(&text)) }
}

/// A digest of a text in version 1, for values that are not stored: another version of this program may make another digest.
pub fn digest(text: &str) -> Fingerprint {
    version_1(&text)
}

/// The encoding of an action and the head that its author saw.
pub fn action_value(action: &Action, seen: SeenState) -> Value {
    let seen = match seen {
        SeenState::Exactly(head) => json!(["exactly", head.to_string()]),
        SeenState::Since(head) => json!(["since", head.to_string()]),
        SeenState::Anything => Value::Null,
    };
    json!([of_action(action), seen])
}

/// The encoding of a message's parts.
pub fn parts_value(parts: &[Part]) -> Value {
    serde_json::from_str(&encode_parts(parts)).expect("BUG: a record is JSON")
}

/// The encoding of a choice for a file.
pub fn choice_value(choice: &Choice) -> Value {
    match choice {
        Choice::Disk => json!("disk"),
        Choice::Yours => json!("yours"),
        Choice::Checkpoint => json!("checkpoint"),
        Choice::Merge => json!("merge"),
        Choice::Skip => json!("skip"),
        Choice::Hunks(hunks) => json!(hunks),
    }
}

/// A digest of the stored form of a request.
pub(crate) fn of_stored(kind: &str, value: &Value, before: &impl Debug) -> Digest {
    Digest { current: of_value(kind, value), before: Some(version_1(before)) }
}

/// A digest of lines.
pub(crate) fn of_lines(kind: &str, before: &impl Debug, lines: impl FnOnce(&mut dyn FnMut(&str))) -> Digest {
    let mut hasher = hasher(kind);
    lines(&mut |line| {
        hasher.update(line.as_bytes());
        hasher.update(b"\n");
    });
    Digest { current: first_half(&hasher), before: Some(version_1(before)) }
}

/// The encoding of an import, without the ids that it gets.
pub(crate) fn import_value(import: &Import) -> Value {
    let said = |said: &ImportMessage| {
        json!({
            "role": said.role.name(),
            "author": said.author,
            "parts": parts_value(&said.parts),
            "flags": encode_flags(said.flags, false, false),
            "time": said.time.map(|time| time.0),
            "usage": said.usage.map(|usage| [usage.input_tokens, usage.cached_input_tokens, usage.output_tokens]),
            "platform_id": said.platform_id,
        })
    };
    let entry = |entry: &crate::transfer::ImportEntry| {
        let all: Vec<Value> = entry.said.iter().map(said).collect();
        json!({ "said": all, "chosen": entry.chosen, "mark": entry.mark.name(), "label": entry.label })
    };
    let entries: Vec<Value> = import.entries.iter().map(entry).collect();
    let created = import.created.map(|time| time.0);
    json!({ "title": import.title, "folder": import.folder, "created": created, "entries": entries })
}

fn of_action(action: &Action) -> Value {
    let ids = |ids: &[EntryId]| -> Vec<String> { ids.iter().map(ToString::to_string).collect() };
    let head = |head: &Head| head.to_string();
    match action {
        Action::Rewind(id) => json!(["rewind", id.to_string()]),
        Action::Edit(id) => json!(["edit", id.to_string()]),
        Action::Retry(id) => json!(["retry", id.to_string()]),
        Action::Undo(count) => json!(["undo", count]),
        Action::Redo(count) => json!(["redo", count]),
        Action::Restore(at) => json!(["restore", head(at)]),
        Action::Checkout(id) => json!(["checkout", id.map(|id| id.to_string())]),
        Action::Choose(id, number) => json!(["choose", id.to_string(), number]),
        Action::Compensate(Step::Turn(pos)) => json!(["compensate", "turn", pos.depth, pos.seq]),
        Action::Compensate(Step::Op(no)) => json!(["compensate", "operation", no.0]),
        Action::Mark { verb, entries, range, seen } => {
            json!(["mark", verb.name(), ids(entries), range, seen.map(|mark| mark.name())])
        }
        Action::Fold { verb, from, to, summary, covers } => {
            let covers = covers.as_ref().map(of_path);
            json!(["fold", verb.name(), from.to_string(), to.to_string(), summary, covers])
        }
        Action::Files(reason) => json!(["files", reason.name()]),
        Action::Half(scope, action) => json!(["half", scope.name(), of_action(action)]),
        Action::Unfold(fold) => json!(["unfold", fold.depth, fold.op.0]),
        Action::Label(entry, name) => json!(["label", entry.map(|id| id.to_string()), name]),
        Action::Erase { entries, matching, objects } => {
            let objects: Vec<String> = objects.iter().map(ToString::to_string).collect();
            json!(["erase", ids(entries), matching, objects])
        }
    }
}

fn of_path(path: &Path) -> Value {
    path.spans().iter().map(|span| json!([span.depth, span.from, span.to])).collect()
}

fn of_value(kind: &str, value: &Value) -> Fingerprint {
    let mut hasher = hasher(kind);
    let mut text = String::new();
    canonical(value, &mut text);
    hasher.update(text.as_bytes());
    first_half(&hasher)
}

fn hasher(kind: &str) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new();
    hasher.update(format!("{VERSION}\n{kind}\n").as_bytes());
    hasher
}

fn first_half(hasher: &blake3::Hasher) -> Fingerprint {
    let mut print = [0; 16];
    print.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    print
}

/// The text of a value: sorted keys, no spaces, no members that are null or false.
fn canonical(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                canonical(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let is_there = |value: &Value| !matches!(value, Value::Null | Value::Bool(false));
            let mut members: Vec<_> = members.iter().filter(|(_, value)| is_there(value)).collect();
            members.sort_by_key(|(name, _)| name.as_str());
            out.push('{');
            for (at, (name, value)) in members.into_iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                out.push_str(&Value::from(name.as_str()).to_string());
                out.push(':');
                canonical(value, out);
            }
            out.push('}');
        }
        plain => out.push_str(&plain.to_string()),
    }
}

/// Version 1: a digest of the debugging text.
fn version_1(arguments: &impl Debug) -> Fingerprint {
    let mut hasher = Pieces(blake3::Hasher::new());
    write!(hasher, "{arguments:?}").expect("BUG: a digest takes any text");
    first_half(&hasher.0)
}

/// Hashes a text in pieces, so that it is never in memory as a whole.
struct Pieces(blake3::Hasher);

impl Write for Pieces {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0.update(text.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests;
