//! Looks at the raw frames of a stream for what the library does not pass on.
//!
//! That is: whether anything came at all, Gemini's word that it blocked a prompt, OpenAI's streamed refusals, and
//! Ollama's errors in the middle of a stream. It keeps nothing else.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ::genai::Error;
use ::genai::chat::{ChatFrameSink, FrameCtx, RawFrameRef, StreamEnd};
use serde_json::Value;

use crate::settings::EndpointKind;

/// The frames' watcher. Clones see the same stream.
#[derive(Clone, Debug)]
pub(super) struct Tap {
    kind: EndpointKind,
    seen: Arc<Mutex<Seen>>,
}

/// What was seen so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// Frames with data.
    pub(super) frames: u32,
    /// Why the provider blocked the prompt.
    pub(super) blocked: Option<String>,
    /// The words of a refusal.
    pub(super) refusal: String,
    /// An error that was sent as a frame.
    pub(super) error: Option<Value>,
}

impl Tap {
    pub(super) fn new(kind: EndpointKind) -> Self {
        Self { kind, seen: Arc::default() }
    }

    pub(super) fn seen(&self) -> Seen {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look(&self, data: &str) {
        let mut seen = self.lock();
        seen.frames += u32::from(!data.trim().is_empty());
        // Parsing every frame a second time would cost; the word is enough to decide whether to.
        let word = match self.kind {
            EndpointKind::Gemini => "blockReason",
            EndpointKind::OpenAi => "\"refusal\"",
            EndpointKind::Ollama => "\"error\"",
            EndpointKind::Anthropic => return,
        };
        if !data.contains(word) {
            return;
        }
        let Ok(frame) = serde_json::from_str::<Value>(data) else {
            return;
        };
        let text = |pointer: &str| frame.pointer(pointer).and_then(Value::as_str);
        match self.kind {
            EndpointKind::Gemini => {
                seen.blocked = text("/promptFeedback/blockReason").map(str::to_owned).or(seen.blocked.take());
            }
            EndpointKind::OpenAi => {
                seen.refusal.push_str(text("/choices/0/delta/refusal").unwrap_or_default());
            }
            EndpointKind::Ollama => seen.error = frame.get("error").cloned().or(seen.error.take()),
            EndpointKind::Anthropic => {}
        }
    }
}

impl ChatFrameSink for Tap {
    fn on_frame(&self, _: &FrameCtx, frame: RawFrameRef<'_>) {
        self.look(frame.data);
    }

    fn on_end(&self, _: &FrameCtx, _: &StreamEnd) {}

    fn on_error(&self, _: &FrameCtx, _: &Error) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(kind: EndpointKind, frames: &[&str]) -> Seen {
        let tap = Tap::new(kind);
        frames.iter().for_each(|frame| tap.look(frame));
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
    fn an_error_line_is_seen_and_empty_frames_do_not_count() {
        let seen = seen(EndpointKind::Ollama, &["", r#"{"error":"boom"}"#]);
        assert_eq!((seen.frames, seen.error), (1, Some(Value::from("boom"))));
    }
}
