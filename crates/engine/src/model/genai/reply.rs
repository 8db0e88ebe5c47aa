//! From the library's events to chunks, and the judgement whether an answer is whole.
//!
//! A stream that just stops is never taken for an answer: each format has its own sign of the end, and without it
//! the call ends with an error.

use std::collections::VecDeque;

use ::genai::Error;
use ::genai::chat::{
    ChatStream, ChatStreamEvent, ContentPart, MessageContent, StopReason, StreamEnd, ToolCall,
};
use futures::StreamExt;
use futures::stream::BoxStream;
use retake_core::{Part, Usage};
use serde_json::Value;

use super::super::{Chunk, EndReason, ModelError, ModelErrorKind};
use super::failure::Failures;
use super::tap::Tap;
use crate::settings::EndpointKind;

/// An answer on its way.
pub(super) struct Reply {
    stream: ChatStream,
    kind: EndpointKind,
    tap: Tap,
    failures: Failures,
    calls: Vec<ToolCall>,
    ready: VecDeque<Result<Chunk, ModelError>>,
    over: bool,
}

impl Reply {
    pub(super) fn new(stream: ChatStream, kind: EndpointKind, tap: Tap, failures: Failures) -> Self {
        Self { stream, kind, tap, failures, calls: Vec::new(), ready: VecDeque::new(), over: false }
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
            match self.stream.next().await {
                Some(Ok(event)) => self.take(event),
                Some(Err(error)) => self.failed(&error),
                None => self.cut(),
            }
        }
    }

    fn take(&mut self, event: ChatStreamEvent) {
        match event {
            ChatStreamEvent::Chunk(chunk) => self.ready.push_back(Ok(Chunk::Text(chunk.content))),
            ChatStreamEvent::ReasoningChunk(chunk) => {
                self.ready.push_back(Ok(Chunk::Reasoning(chunk.content)));
            }
            ChatStreamEvent::ToolCallChunk(chunk) => remember(&mut self.calls, chunk.tool_call),
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
        let calls = std::mem::take(&mut self.calls);
        let parts = reasoning_parts(end.captured_content, end.captured_reasoning_content);
        let parts = parts.into_iter().chain(calls.into_iter().map(call_part));
        self.ready.extend(parts.map(|part| Ok(Chunk::Part(part))));
        self.ready.extend(end.captured_usage.map(|usage| Ok(Chunk::Usage(counted(&usage)))));
        let refusal = self.tap.seen().refusal;
        let reason = if refusal.is_empty() {
            end_reason(end.captured_stop_reason)
        } else {
            self.ready.push_back(Ok(Chunk::Text(refusal)));
            EndReason::Refusal
        };
        self.finish(Ok(Chunk::End(reason)));
    }

    /// The library makes an end of its own for Gemini and Ollama when the connection ends; theirs carries a reason
    /// (Gemini) or a reason or counts (Ollama).
    fn is_whole(&self, end: &StreamEnd) -> bool {
        match self.kind {
            EndpointKind::OpenAi | EndpointKind::Anthropic => true,
            EndpointKind::Gemini => end.captured_stop_reason.is_some(),
            EndpointKind::Ollama => end.captured_stop_reason.is_some() || end.captured_usage.is_some(),
        }
    }

    /// The library gave up. A blocked prompt has no answer to parse, which it takes for an error.
    fn failed(&mut self, error: &Error) {
        match self.tap.seen().blocked {
            Some(_) => self.cut(),
            None => self.fail(self.failures.of(error)),
        }
    }

    /// The stream stopped without its end.
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

    fn fail(&mut self, error: ModelError) {
        self.finish(Err(error));
    }

    fn finish(&mut self, last: Result<Chunk, ModelError>) {
        self.ready.push_back(last);
        self.over = true;
    }
}

/// Tool calls come in growing versions where the arguments are still text, and once where they are not.
fn remember(calls: &mut Vec<ToolCall>, call: ToolCall) {
    let grows = call.fn_arguments.is_string();
    match calls.iter_mut().find(|known| grows && known.call_id == call.call_id) {
        Some(known) => *known = call,
        None => calls.push(call),
    }
}

fn call_part(call: ToolCall) -> Part {
    let arguments = match call.fn_arguments {
        Value::String(text) if text.trim().is_empty() => "{}".to_owned(),
        Value::String(text) => text,
        Value::Null => "{}".to_owned(),
        other => other.to_string(),
    };
    Part::ToolCall { id: call.call_id, name: call.fn_name, arguments }
}

/// The reasoning of a whole answer, each block with its signature.
fn reasoning_parts(content: Option<MessageContent>, streamed: Option<String>) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut streamed = streamed.filter(|text| !text.is_empty());
    let mut content = content.map(MessageContent::into_parts).unwrap_or_default().into_iter().peekable();
    while let Some(part) = content.next() {
        match part {
            ContentPart::ThoughtSignature(signature) => {
                let own = content.next_if(ContentPart::is_reasoning_content);
                let text = match own.and_then(ContentPart::into_reasoning_content) {
                    Some(text) => Some(text).inspect(|_| streamed = None),
                    None => streamed.take(),
                };
                parts.push(Part::Reasoning { text: text.unwrap_or_default(), signature: Some(signature) });
            }
            // A block whose text the provider does not show; it wants the whole block back.
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

    fn call(id: &str, arguments: Value) -> ToolCall {
        ToolCall {
            call_id: id.into(),
            fn_name: "f".into(),
            fn_arguments: arguments,
            thought_signatures: None,
        }
    }

    fn reasoning(text: &str, signature: Option<&str>) -> Part {
        Part::Reasoning { text: text.into(), signature: signature.map(str::to_owned) }
    }

    #[test]
    fn growing_calls_keep_the_text_that_the_model_wrote() {
        let mut calls = Vec::new();
        for text in ["", "{\"b\": ", "{\"b\": 1,  \"a\":2}"] {
            remember(&mut calls, call("1", Value::from(text)));
        }
        remember(&mut calls, call("2", serde_json::json!({"x": 1})));
        let parts: Vec<Part> = calls.into_iter().map(call_part).collect();
        let part = |id: &str, arguments: &str| Part::ToolCall {
            id: id.into(),
            name: "f".into(),
            arguments: arguments.into(),
        };
        assert_eq!(parts, [part("1", "{\"b\": 1,  \"a\":2}"), part("2", "{\"x\":1}")]);
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
        let parts = reasoning_parts(Some(content), Some("onetwo".into()));
        assert_eq!(parts, [reasoning("one", Some("s1")), reasoning("two", Some("s2"))]);
    }

    #[test]
    fn reasoning_without_blocks_is_kept_whole() {
        assert_eq!(reasoning_parts(None, Some("hm".into())), [reasoning("hm", None)]);
        let content = MessageContent::from_parts(vec![ContentPart::ThoughtSignature("g".into())]);
        assert_eq!(reasoning_parts(Some(content), Some("hm".into())), [reasoning("hm", Some("g"))]);
        assert!(reasoning_parts(None, Some(String::new())).is_empty());
    }

    #[test]
    fn unknown_counts_stay_unknown() {
        let usage = ::genai::chat::Usage { prompt_tokens: Some(3), ..Default::default() };
        assert_eq!(counted(&usage), Usage { input_tokens: Some(3), ..Usage::default() });
    }
}
