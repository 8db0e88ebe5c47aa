//! Reads the raw frames of a stream for what the library does not pass on.
//!
//! That is: whether any frame came at all, Gemini's reason for a blocked prompt, OpenAI's streamed refusals, and errors within a
//! stream of Ollama's format or of OpenAI's responses. It keeps nothing else. It also rejects frames that would cost the library unlimited memory, before the
//! library reads them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ::genai::Error;
use ::genai::chat::{ChatFrameSink, FrameCtx, RawFrameRef, StreamEnd};
use serde_json::Value;

use crate::settings::EndpointKind;

/// The watcher of the frames. Clones share the same stream.
#[derive(Clone, Debug)]
pub(super) struct FrameTap {
    kind: EndpointKind,
    seen: Arc<Mutex<TapState>>,
}

/// The most bytes of all frames of an answer. A token takes some 300 bytes: this is an answer of half a million tokens.
const MOST_BYTES: usize = 160 << 20;

/// The library allocates a slot for each number up to that of a call.
pub(super) const MOST_CALLS: u64 = 1000;

/// A frame that must not be parsed. The library cannot reject one: the stream unwinds with this value, and [`Reply`] catches it.
///
/// [`Reply`]: super::reply::Reply
#[derive(Debug)]
pub(super) struct RejectedFrame;

/// The state so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TapState {
    /// The number of frames with data.
    pub(super) frames: u32,
    /// Their bytes.
    bytes: usize,
    /// Why the provider blocked the prompt.
    pub(super) blocked: Option<String>,
    /// The text of a refusal.
    pub(super) refusal: String,
    /// Whether the provider ended the answer because of its content.
    pub(super) filtered: bool,
    /// An error that was sent as a frame.
    pub(super) error: Option<Value>,
}

impl FrameTap {
    pub(super) fn new(kind: EndpointKind) -> Self {
        Self { kind, seen: Arc::default() }
    }

    pub(super) fn seen(&self) -> TapState {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, TapState> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look(&self, data: &str) -> Result<(), RejectedFrame> {
        let mut seen = self.lock();
        seen.frames = seen.frames.saturating_add(u32::from(!data.trim().is_empty()));
        seen.bytes = seen.bytes.saturating_add(data.len());
        if seen.bytes > MOST_BYTES || self.kind == EndpointKind::OpenAi && numbers_too_many(data) {
            return Err(RejectedFrame);
        }
        // Parsing every frame twice would be expensive; a keyword decides whether to parse.
        let words: &[&str] = match self.kind {
            EndpointKind::Gemini => &["blockReason"],
            EndpointKind::OpenAi => &["\"refusal\""],
            EndpointKind::OpenAiResponses => {
                &["\"response.refusal.delta\"", "\"response.failed\"", "\"response.incomplete\""]
            }
            EndpointKind::Ollama => &["\"error\""],
            EndpointKind::Anthropic => return Ok(()),
        };
        if !words.iter().any(|word| data.contains(word)) {
            return Ok(());
        }
        let Ok(frame) = serde_json::from_str::<Value>(data) else {
            return Ok(());
        };
        let text = |pointer: &str| frame.pointer(pointer).and_then(Value::as_str);
        match self.kind {
            EndpointKind::Gemini => {
                seen.blocked = text("/promptFeedback/blockReason").map(str::to_owned).or(seen.blocked.take());
            }
            EndpointKind::OpenAi => {
                seen.refusal.push_str(text("/choices/0/delta/refusal").unwrap_or_default());
            }
            EndpointKind::OpenAiResponses => match text("/type").unwrap_or_default() {
                "response.refusal.delta" => seen.refusal.push_str(text("/delta").unwrap_or_default()),
                "response.failed" => seen.error = frame.pointer("/response/error").cloned(),
                "response.incomplete" => {
                    let reason = text("/response/incomplete_details/reason");
                    seen.filtered = reason == Some("content_filter");
                }
                _ => {}
            },
            EndpointKind::Ollama => seen.error = frame.get("error").cloned().or(seen.error.take()),
            EndpointKind::Anthropic => {}
        }
        Ok(())
    }
}

/// Whether a frame of OpenAI's format has a call with an impossible number.
fn numbers_too_many(data: &str) -> bool {
    if !data.contains("\"tool_calls\"") {
        return false;
    }
    let frame = serde_json::from_str::<Value>(data).unwrap_or_default();
    let calls = frame.pointer("/choices/0/delta/tool_calls").and_then(Value::as_array);
    let number = |call: &Value| call.get("index").and_then(Value::as_u64);
    calls.into_iter().flatten().filter_map(number).any(|number| number >= MOST_CALLS)
}

impl ChatFrameSink for FrameTap {
    fn on_frame(&self, _: &FrameCtx, frame: RawFrameRef<'_>) {
        if let Err(too_much) = self.look(frame.data) {
            std::panic::resume_unwind(Box::new(too_much));
        }
    }

    fn on_end(&self, _: &FrameCtx, _: &StreamEnd) {}

    fn on_error(&self, _: &FrameCtx, _: &Error) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(kind: EndpointKind, frames: &[&str]) -> TapState {
        let tap = FrameTap::new(kind);
        frames.iter().for_each(|frame| tap.look(frame).expect("not too much"));
        tap.seen()
    }

    #[test]
    fn a_blocked_prompt_is_seen() {
        let frame = r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#;
        assert_eq!(seen(EndpointKind::Gemini, &[frame]).blocked.as_deref(), Some("SAFETY"));
    }

    #[test]
    fn a_streamed_refusal_is_gathered_and_null_is_none() {
        let frames = [
            r#"{"choices":[{"delta":{"refusal":null,"content":"x"}}]}"#,
            r#"{"choices":[{"delta":{"refusal":"I can"}}]}"#,
            r#"{"choices":[{"delta":{"refusal":"not"}}]}"#,
        ];
        assert_eq!(seen(EndpointKind::OpenAi, &frames).refusal, "I cannot");
    }

    #[test]
    fn refusals_and_ends_of_responses_are_seen() {
        let frames = [
            r#"{"type":"response.refusal.delta","delta":"I can"}"#,
            r#"{"type":"response.output_text.delta","delta":"\"response.refusal.delta\""}"#,
            r#"{"type":"response.refusal.delta","delta":"not"}"#,
        ];
        let seen = |frames: &[&str]| seen(EndpointKind::OpenAiResponses, frames);
        assert_eq!(seen(&frames).refusal, "I cannot");
        for (reason, filtered) in [("content_filter", true), ("max_output_tokens", false)] {
            let details = format!(r#"{{"incomplete_details":{{"reason":"{reason}"}}}}"#);
            let frame = format!(r#"{{"type":"response.incomplete","response":{details}}}"#);
            assert_eq!(seen(&[&frame]).filtered, filtered, "{reason}");
        }
        let failed = r#"{"type":"response.failed","response":{"error":{"code":"server_error"}}}"#;
        assert_eq!(seen(&[failed]).error, Some(serde_json::json!({"code": "server_error"})));
    }

    #[test]
    fn an_error_line_is_seen_and_empty_frames_do_not_count() {
        let seen = seen(EndpointKind::Ollama, &["", r#"{"error":"boom"}"#]);
        assert_eq!((seen.frames, seen.error), (1, Some(Value::from("boom"))));
    }

    #[test]
    fn trial_24_frames_that_would_take_all_memory_are_refused() {
        let numbered = |number: u64| {
            format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":{number},"function":{{}}}}]}}}}]}}"#)
        };
        let tap = FrameTap::new(EndpointKind::OpenAi);
        assert!(tap.look(&numbered(0)).is_ok() && tap.look(&numbered(MOST_CALLS - 1)).is_ok());
        assert!(tap.look(&numbered(MOST_CALLS)).is_err() && tap.look(&numbered(4_000_000_000)).is_err());
        let frame = "x".repeat(1 << 20);
        let taken = (0..1000).take_while(|_| tap.look(&frame).is_ok()).count();
        assert_eq!(taken, (MOST_BYTES >> 20) - 1, "those before count, too");
    }
}
