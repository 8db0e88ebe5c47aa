//! The tool calls of an answer: assembled from their pieces, each complete and with a unique id.
//!
//! An incomplete call is never treated as a call. Arguments that are not JSON stay the text that the model wrote.

use std::collections::BTreeSet;
use std::mem;
use std::sync::Arc;

use ::genai::chat::{MessageContent, StopReason, ToolCall};
use retake_core::{Part, Role};
use serde_json::{Value, json};

use super::super::{Message, Prompt};
use crate::clock::Clock;
use crate::ids::Random;

/// The longest id of a call that every format accepts.
const MAX_ID: usize = 40;

/// The source of new ids, and the ids in use.
pub(super) struct CallIds {
    taken: BTreeSet<String>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
}

impl CallIds {
    pub(super) fn new(prompt: &Prompt, clock: Arc<dyn Clock>, random: Arc<dyn Random>) -> Self {
        let parts = prompt.messages.iter().flat_map(|message| &message.parts);
        let taken = parts.filter_map(Part::call_id).map(str::to_owned).collect();
        Self { taken, clock, random }
    }

    /// The provider's id, if it is unique; else one of ours.
    fn of(&mut self, id: &str, number: usize) -> String {
        let id = match self.taken.contains(id) || !names_one_call(id) {
            true => {
                let bits = self.random.uuid_v7(self.clock.now_ms()).as_u64_pair().1;
                format!("call_{number}_{bits:016x}")
            }
            false => id.to_owned(),
        };
        self.taken.insert(id.clone());
        id
    }
}

/// Some servers send no id, an empty one, or numbers from 0 in every answer; the library's replacement for a missing one is a
/// number, too.
fn names_one_call(id: &str) -> bool {
    let odd = id.is_empty() || id.len() > MAX_ID || !id.chars().all(|c| c.is_ascii_graphic());
    let number = id.len() - id.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let counted = match id.len() - number {
        0 => true,
        before => number > 0 && number < 6 && !id.as_bytes()[before - 1].is_ascii_alphanumeric(),
    };
    !odd && !counted
}

/// The calls of an answer so far.
#[derive(Default)]
pub(super) struct Calls(Vec<ToolCall>);

/// The answer ended in the middle of a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct IncompleteCall;

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The complete calls of an answer that the library has captured. Signatures beside them belong to the whole answer.
    pub(super) fn captured(content: Option<&MessageContent>) -> Self {
        let calls = content.into_iter().flat_map(MessageContent::tool_calls);
        Self(calls.map(|call| ToolCall { thought_signatures: None, ..call.clone() }).collect())
    }

    /// Whether there are more calls than this, or their arguments have more bytes.
    pub(super) fn are_more_than(&self, calls: u64, bytes: usize) -> bool {
        let length = |call: &ToolCall| call.fn_arguments.as_str().map_or(0, str::len);
        // Only the last call grows.
        self.0.len() as u64 > calls || self.0.last().is_some_and(|last| length(last) > bytes)
    }

    /// The same for calls that came whole: all their arguments together count.
    pub(super) fn are_together_more_than(&self, calls: u64, bytes: usize) -> bool {
        let length = |call: &ToolCall| match &call.fn_arguments {
            Value::String(text) => text.len(),
            other => other.to_string().len(),
        };
        self.0.len() as u64 > calls || self.0.iter().map(length).sum::<usize>() > bytes
    }

    /// Adds a piece. Calls with text arguments come in growing versions, others once.
    pub(super) fn push(&mut self, call: ToolCall) {
        match self.0.iter_mut().rev().find(|known| grows(known, &call)) {
            Some(known) => known.fn_arguments = call.fn_arguments,
            None => self.0.push(call),
        }
    }

    /// The parts of a complete answer: each call, preceded by its signature.
    pub(super) fn into_parts(
        self,
        reason: Option<&StopReason>,
        ids: &mut CallIds,
    ) -> Result<Vec<Part>, IncompleteCall> {
        let done = matches!(
            reason,
            None | Some(StopReason::Completed(_) | StopReason::ToolCall(_) | StopReason::StopSequence(_))
        );
        if !done && !self.0.iter().all(is_whole) {
            return Err(IncompleteCall);
        }
        let mut parts = Vec::new();
        for (at, call) in self.0.into_iter().enumerate() {
            let id = ids.of(&call.call_id, at + 1);
            let signature = call.thought_signatures.and_then(|signatures| signatures.into_iter().next());
            parts.extend(signature.map(|signature| signed(&id, &signature)));
            let arguments = match call.fn_arguments {
                Value::String(text) if text.trim().is_empty() => "{}".to_owned(),
                Value::String(text) => text,
                Value::Null => "{}".to_owned(),
                other => other.to_string(),
            };
            parts.push(Part::ToolCall { id, name: call.fn_name, arguments });
        }
        Ok(parts)
    }

    /// The provider's signatures for calls.
    pub(super) fn signatures(&self) -> BTreeSet<String> {
        self.0.iter().filter_map(|call| call.thought_signatures.clone()).flatten().collect()
    }
}

/// Whether a piece continues this call. A piece without an id gets one from the library, which counts.
fn grows(known: &ToolCall, call: &ToolCall) -> bool {
    let (Some(before), Some(text)) = (known.fn_arguments.as_str(), call.fn_arguments.as_str()) else {
        return false;
    };
    let unnamed = names_one_call(&known.call_id) && !names_one_call(&call.call_id);
    let same = known.call_id == call.call_id || unnamed;
    same && known.fn_name == call.fn_name && text.starts_with(before)
}

fn is_whole(call: &ToolCall) -> bool {
    call.fn_arguments.as_str().is_none_or(|text| serde_json::from_str::<Value>(text).is_ok())
}

/// Gives each call a unique id in the form that the format accepts. Imported conversations may contain equal ids, or ids that
/// become equal. Results and signatures of a call are changed with it.
pub(super) fn make_ids_unique(messages: &mut [Message], in_letters: impl Fn(&str) -> String) {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut calls: Vec<(String, String)> = Vec::new();
    for message in messages {
        if message.role == Role::Tool {
            for part in &mut message.parts {
                if let Part::ToolResult { call, .. } = part
                    && let Some(at) = calls.iter().position(|(known, _)| known == call)
                {
                    *call = calls.remove(at).1;
                }
            }
            continue;
        }
        calls.clear();
        for part in &mut message.parts {
            if let Part::ToolCall { id, .. } = part {
                let plain = in_letters(id);
                let others = (2..).map(|number: usize| format!("{plain}-{number}"));
                let own = std::iter::once(plain.clone()).chain(others).find(|own| !taken.contains(own));
                let own = own.expect("BUG: there are more numbers than calls");
                taken.insert(own.clone());
                calls.push((mem::replace(id, own.clone()), own));
            }
        }
        for part in &mut message.parts {
            if let Part::Reasoning { signature: Some(kept), .. } = part
                && let Some((call, signature)) = signed_call(kept)
                && let Some((_, own)) = calls.iter().find(|(known, own)| *known == call && *own != call)
            {
                *kept = signature_of(own, &signature);
            }
        }
    }
}

/// The provider's signature of a call, stored as reasoning: it is sent back with the same call.
fn signed(id: &str, signature: &str) -> Part {
    Part::Reasoning { text: String::new(), signature: Some(signature_of(id, signature)) }
}

fn signature_of(id: &str, signature: &str) -> String {
    json!({ "call": id, "signature": signature }).to_string()
}

/// The call of a stored signature, and the signature as the provider sent it.
pub(super) fn signed_call(signature: &str) -> Option<(String, String)> {
    if !signature.starts_with('{') {
        return None;
    }
    let kept: Value = serde_json::from_str(signature).ok()?;
    let text = |name: &str| kept.get(name).and_then(Value::as_str).map(str::to_owned);
    Some((text("call")?, text("signature")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualClock;
    use crate::ids::SeededRandom;

    fn call(id: &str, name: &str, arguments: impl Into<Value>) -> ToolCall {
        ToolCall {
            call_id: id.into(),
            fn_name: name.into(),
            fn_arguments: arguments.into(),
            thought_signatures: None,
        }
    }

    fn ids(taken: &[&str]) -> CallIds {
        let taken = taken.iter().map(|&id| id.to_owned()).collect();
        CallIds { taken, clock: Arc::new(ManualClock::new(0)), random: Arc::new(SeededRandom::new(1)) }
    }

    fn parts(
        calls: Vec<ToolCall>,
        reason: Option<StopReason>,
    ) -> Result<Vec<(String, String)>, IncompleteCall> {
        let mut gathered = Calls::default();
        calls.into_iter().for_each(|call| gathered.push(call));
        let parts = gathered.into_parts(reason.as_ref(), &mut ids(&[]))?;
        let calls = parts.into_iter().filter_map(|part| match part {
            Part::ToolCall { id, arguments, .. } => Some((id, arguments)),
            _ => None,
        });
        Ok(calls.collect())
    }

    #[test]
    fn growing_calls_keep_the_text_that_the_model_wrote() {
        let mut pieces: Vec<ToolCall> =
            ["", "{\"b\": ", "{\"b\": 1,  \"a\":2}"].map(|text| call("toolu_1", "f", text)).into();
        pieces.push(call("toolu_x", "f", serde_json::json!({"x": 1})));
        let expected = [("toolu_1", "{\"b\": 1,  \"a\":2}"), ("toolu_x", "{\"x\":1}")];
        // `toolu_1` looks like a number, so it gets an id of ours.
        let got = parts(pieces, None).expect("whole");
        assert_eq!(got.len(), 2, "{got:?}");
        assert_eq!((got[0].1.as_str(), &got[1]), (expected[0].1, &("toolu_x".into(), "{\"x\":1}".into())));
    }

    #[test]
    fn two_calls_at_once_stay_two_whatever_their_ids_are() {
        for (a, b) in [("", ""), ("x1y", "x1y"), ("call_0", "call_1"), ("aaaaaaaaa", "bbbbbbbbb")] {
            let pieces = vec![
                call(a, "f", ""),
                call(a, "f", "{\"a\":"),
                call(a, "f", "{\"a\":1}"),
                call(b, "f", ""),
                call(b, "f", "{\"b\":2}"),
            ];
            let got = parts(pieces, Some(StopReason::ToolCall("tool_calls".into()))).expect("whole");
            let arguments: Vec<&str> = got.iter().map(|(_, arguments)| arguments.as_str()).collect();
            assert_eq!(arguments, ["{\"a\":1}", "{\"b\":2}"], "{a} {b}");
            assert_ne!(got[0].0, got[1].0, "{a} {b}");
        }
    }

    #[test]
    fn an_id_that_names_one_call_stays_and_any_other_is_made_again() {
        let mut ids = ids(&["toolu_known"]);
        for id in ["toolu_01AbCdEf", "call_9pw2kq", "fc-12ab34", "AbCdEfGh1"] {
            assert_eq!(ids.of(id, 1), id);
        }
        let odd = ["", "call_0", "functions.read:0", "call#f#1", "0", "a b", "toolu_known", "AbCdEfGh1"];
        let mut made: Vec<String> = odd.iter().map(|id| ids.of(id, 2)).collect();
        assert!(made.iter().all(|id| id.starts_with("call_2_") && id.len() <= MAX_ID), "{made:?}");
        made.sort();
        made.dedup();
        assert_eq!(made.len(), odd.len());
    }

    #[test]
    fn a_call_that_broke_off_is_no_call() {
        let limit = || Some(StopReason::MaxTokens("length".into()));
        assert_eq!(parts(vec![call("a-b", "write", "{\"path\": \"x")], limit()), Err(IncompleteCall));
        assert_eq!(parts(vec![call("a-b", "list", "")], limit()), Err(IncompleteCall));
        assert!(parts(vec![call("a-b", "write", "{\"path\": \"x\"}")], limit()).is_ok());
    }

    #[test]
    fn malformed_and_missing_arguments_stay_what_they_are() {
        let got = parts(vec![call("a-b", "f", "{oops"), call("a-c", "f", Value::Null)], None).expect("whole");
        assert_eq!(got, [("a-b".into(), "{oops".into()), ("a-c".into(), "{}".into())]);
    }

    #[test]
    fn a_signature_finds_its_call_again() {
        let Part::Reasoning { signature: Some(kept), .. } = signed("c1", "c2ln") else {
            panic!("no reasoning")
        };
        assert_eq!(signed_call(&kept), Some(("c1".into(), "c2ln".into())));
        assert_eq!(signed_call("c2ln"), None);
        assert_eq!(signed_call(r#"{"type":"redacted_thinking"}"#), None);
    }
}
