//! Converts the library's events to chunks, and decides whether an answer is complete.
//!
//! A stream that just stops is never treated as an answer: each format has its own end sign, and without it the
//! call ends with an error.

use std::collections::{BTreeSet, VecDeque};
use std::panic::AssertUnwindSafe;

use ::genai::Error;
use ::genai::chat::{ChatStream, ChatStreamEvent, ContentPart, MessageContent, StopReason, StreamEnd};
use futures::stream::BoxStream;
use futures::{FutureExt as _, StreamExt as _};
use retake_core::{Part, Usage};

use super::super::{Chunk, EndReason, ModelError, ModelErrorKind};
use super::calls::{CallIds, Calls};
use super::failure::Failures;
use super::tap::{FrameTap, MOST_CALLS, RejectedFrame, TapState};
use crate::settings::EndpointKind;

/// The most bytes of text, reasoning and arguments in an answer.
const MOST_BYTES: usize = 16 << 20;

/// An answer in progress.
pub(super) struct Reply {
    stream: ChatStream,
    kind: EndpointKind,
    tap: FrameTap,
    failures: Failures,
    calls: Calls,
    /// The bytes of text and reasoning so far.
    bytes: usize,
    ids: CallIds,
    ready: VecDeque<Result<Chunk, ModelError>>,
    over: bool,
}

impl Reply {
    pub(super) fn new(
        stream: ChatStream,
        kind: EndpointKind,
        tap: FrameTap,
        failures: Failures,
        ids: CallIds,
    ) -> Self {
        let (calls, ready) = (Calls::default(), VecDeque::new());
        Self { stream, kind, tap, failures, calls, bytes: 0, ids, ready, over: false }
    }

    pub(super) fn into_stream(self) -> BoxStream<'static, Result<Chunk, ModelError>> {
        futures::stream::unfold(self, Self::next).boxed()
    }

    async fn next(mut self) -> Option<(Result<Chunk, ModelError>, Self)> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Some((item, self));
            }
            if self.over {
                return None;
            }
            match AssertUnwindSafe(self.stream.next()).catch_unwind().await {
                Ok(Some(Ok(event))) => self.take(event),
                Ok(Some(Err(error))) => self.failed(&error),
                Ok(None) => self.cut(),
                // The stream is not polled again.
                Err(unwound) if unwound.is::<RejectedFrame>() => self.too_much(),
                Err(unwound) => std::panic::resume_unwind(unwound),
            }
            if self.bytes > MOST_BYTES || self.calls.are_more_than(MOST_CALLS, MOST_BYTES) {
                self.ready.clear();
                self.too_much();
            }
        }
    }

    fn take(&mut self, event: ChatStreamEvent) {
        match event {
            ChatStreamEvent::Chunk(chunk) => {
                self.bytes = self.bytes.saturating_add(chunk.content.len());
                self.ready.push_back(Ok(Chunk::Text(chunk.content)));
            }
            ChatStreamEvent::ReasoningChunk(chunk) => {
                self.bytes = self.bytes.saturating_add(chunk.content.len());
                self.ready.push_back(Ok(Chunk::Reasoning(chunk.content)));
            }
            ChatStreamEvent::ToolCallChunk(chunk) => self.calls.push(chunk.tool_call),
            ChatStreamEvent::End(end) => self.end(end),
            ChatStreamEvent::Start
            | ChatStreamEvent::Heartbeat
            | ChatStreamEvent::ThoughtSignatureChunk(_) => {}
        }
    }

    fn end(&mut self, end: StreamEnd) {
        if !self.is_whole(&end) {
            return self.cut();
        }
        let reason = end.captured_stop_reason;
        let TapState { refusal, filtered, .. } = self.tap.seen();
        let refused = filtered || !refusal.is_empty() || matches!(reason, Some(StopReason::ContentFilter(_)));
        let mut calls = match self.kind {
            // A short call has no pieces.
            EndpointKind::OpenAiResponses => {
                let calls = Calls::captured(end.captured_content.as_ref());
                if calls.are_together_more_than(MOST_CALLS, MOST_BYTES) {
                    return self.too_much();
                }
                calls
            }
            _ => std::mem::take(&mut self.calls),
        };
        if refused {
            // After a refusal in the middle, the earlier calls do not count.
            calls = Calls::default();
        } else if let Some(error) = self.unusable(reason.as_ref(), &calls) {
            return self.fail(error);
        }
        let called = !calls.is_empty();
        let signatures = calls.signatures();
        let Ok(calls) = calls.into_parts(reason.as_ref(), &mut self.ids) else {
            return self.fail(self.failures.kind(ModelErrorKind::OutputLimit));
        };
        let parts = reasoning_parts(end.captured_content, end.captured_reasoning_content, &signatures);
        self.ready.extend(parts.into_iter().chain(calls).map(|part| Ok(Chunk::Part(part))));
        self.ready.extend(end.captured_usage.map(|usage| Ok(Chunk::Usage(counted(&usage)))));
        if !refusal.is_empty() {
            self.ready.push_back(Ok(Chunk::Text(refusal)));
        }
        let reason = match end_reason(reason) {
            _ if refused => EndReason::Refusal,
            // Not every format has a reason for it.
            EndReason::Stop if called => EndReason::ToolUse,
            reason => reason,
        };
        self.finish(Ok(Chunk::End(reason)));
    }

    /// Why an end is not usable.
    fn unusable(&self, reason: Option<&StopReason>, calls: &Calls) -> Option<ModelError> {
        let kind = match reason? {
            StopReason::MaxTokens(word) if word == "model_context_window_exceeded" => {
                ModelErrorKind::ContextTooLong
            }
            StopReason::ToolCall(_) if calls.is_empty() => ModelErrorKind::BadCall,
            StopReason::Other(word) if word.ends_with("_FUNCTION_CALL") || word.ends_with("_TOOL_CALL") => {
                return Some(self.failures.quoting(ModelErrorKind::BadCall, word));
            }
            _ => return None,
        };
        Some(self.failures.kind(kind))
    }

    /// For Gemini, Ollama and OpenAI's responses the library adds its own end when the connection ends; the provider's own end has
    /// a reason, for Ollama a reason or counts.
    fn is_whole(&self, end: &StreamEnd) -> bool {
        match self.kind {
            EndpointKind::OpenAi | EndpointKind::Anthropic => true,
            EndpointKind::Gemini | EndpointKind::OpenAiResponses => end.captured_stop_reason.is_some(),
            EndpointKind::Ollama => end.captured_stop_reason.is_some() || end.captured_usage.is_some(),
        }
    }

    /// The library failed. A blocked prompt has no answer to parse, and of a failed response the library keeps only a sentence.
    fn failed(&mut self, error: &Error) {
        let seen = self.tap.seen();
        match seen.blocked.is_some() || seen.error.is_some() {
            true => self.cut(),
            false => self.fail(self.failures.of(error)),
        }
    }

    /// The stream stopped before its end.
    fn cut(&mut self) {
        let seen = self.tap.seen();
        let error = match (seen.error, seen.blocked) {
            (Some(error), _) => self.failures.sent(&error),
            (None, Some(reason)) => self.failures.quoting(ModelErrorKind::SafetyRefusal, &reason),
            (None, None) if seen.frames == 0 => {
                let words = "the answer is not in the format that the endpoint's kind says";
                self.failures.quoting(ModelErrorKind::BadReply, words)
            }
            (None, None) => self.failures.kind(ModelErrorKind::Cut),
        };
        self.fail(error);
    }

    /// No model answers this much: an endless stream would use all memory.
    fn too_much(&mut self) {
        let words = "the answer is longer than any model writes (16 MiB, or 1000 tool calls)";
        self.fail(self.failures.quoting(ModelErrorKind::BadReply, words));
    }

    fn fail(&mut self, error: ModelError) {
        self.finish(Err(error));
    }

    fn finish(&mut self, last: Result<Chunk, ModelError>) {
        self.ready.push_back(last);
        self.over = true;
    }
}

/// The reasoning of a complete answer, each block with its signature, without the signatures of its calls.
fn reasoning_parts(
    content: Option<MessageContent>,
    streamed: Option<String>,
    of_calls: &BTreeSet<String>,
) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut streamed = streamed.filter(|text| !text.is_empty());
    let mut content = content.map(MessageContent::into_parts).unwrap_or_default().into_iter().peekable();
    while let Some(part) = content.next() {
        match part {
            ContentPart::ThoughtSignature(signature) if of_calls.contains(&signature) => {}
            ContentPart::ThoughtSignature(signature) => {
                let own = content.next_if(ContentPart::is_reasoning_content);
                let text = match own.and_then(ContentPart::into_reasoning_content) {
                    Some(text) => Some(text).inspect(|_| streamed = None),
                    None => streamed.take(),
                };
                parts.push(Part::Reasoning { text: text.unwrap_or_default(), signature: Some(signature) });
            }
            // A block whose text the provider hides; it expects the whole block back.
            ContentPart::Custom(block) => {
                parts.push(Part::Reasoning { text: String::new(), signature: Some(block.data.to_string()) });
            }
            _ => {}
        }
    }
    parts.extend(streamed.map(|text| Part::Reasoning { text, signature: None }));
    parts
}

fn end_reason(reason: Option<StopReason>) -> EndReason {
    match reason {
        None | Some(StopReason::Completed(_) | StopReason::StopSequence(_)) => EndReason::Stop,
        Some(StopReason::MaxTokens(_)) => EndReason::Length,
        Some(StopReason::ContentFilter(_)) => EndReason::Refusal,
        Some(StopReason::ToolCall(_)) => EndReason::ToolUse,
        Some(StopReason::Other(word)) => EndReason::Other(word),
    }
}

fn counted(usage: &::genai::chat::Usage) -> Usage {
    let count = |tokens: Option<i32>| tokens.and_then(|tokens| u64::try_from(tokens).ok());
    Usage {
        input_tokens: count(usage.prompt_tokens),
        cached_input_tokens: count(
            usage.prompt_tokens_details.as_ref().and_then(|details| details.cached_tokens),
        ),
        output_tokens: count(usage.completion_tokens),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reasoning(text: &str, signature: Option<&str>) -> Part {
        Part::Reasoning { text: text.into(), signature: signature.map(str::to_owned) }
    }

    #[test]
    fn each_block_of_reasoning_keeps_its_own_signature() {
        let content = MessageContent::from_parts(vec![
            ContentPart::ThoughtSignature("s1".into()),
            ContentPart::ReasoningContent("one".into()),
            ContentPart::ThoughtSignature("s2".into()),
            ContentPart::ReasoningContent("two".into()),
            ContentPart::from_text("answer"),
        ]);
        let parts = reasoning_parts(Some(content), Some("onetwo".into()), &BTreeSet::new());
        assert_eq!(parts, [reasoning("one", Some("s1")), reasoning("two", Some("s2"))]);
    }

    #[test]
    fn reasoning_without_blocks_is_kept_whole() {
        let none = BTreeSet::new();
        assert_eq!(reasoning_parts(None, Some("hm".into()), &none), [reasoning("hm", None)]);
        let content = || MessageContent::from_parts(vec![ContentPart::ThoughtSignature("g".into())]);
        let signed = reasoning_parts(Some(content()), Some("hm".into()), &none);
        assert_eq!(signed, [reasoning("hm", Some("g"))]);
        assert!(reasoning_parts(None, Some(String::new()), &none).is_empty());
        // A call's signature belongs to the call.
        let of_calls = BTreeSet::from(["g".to_owned()]);
        assert!(reasoning_parts(Some(content()), None, &of_calls).is_empty());
    }

    #[test]
    fn unknown_counts_stay_unknown() {
        let usage = ::genai::chat::Usage { prompt_tokens: Some(3), ..Default::default() };
        assert_eq!(counted(&usage), Usage { input_tokens: Some(3), ..Usage::default() });
    }
}
