//! Assembles the chunks of a stream to the parts of an entry.
//!
//! It only collects: the turn decides what to keep of an interrupted answer.

use retake_core::{Part, Usage};

use super::{Chunk, EndReason};

/// The answer so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    text: String,
    reasoning: String,
    whole: Vec<Part>,
    usage: Option<Usage>,
    end: Option<EndReason>,
}

impl Answer {
    /// Adds the next chunk.
    pub fn push(&mut self, chunk: Chunk) {
        match chunk {
            Chunk::Text(text) => self.text.push_str(&text),
            Chunk::Reasoning(text) => self.reasoning.push_str(&text),
            Chunk::Part(part) => self.whole.push(part),
            Chunk::Usage(usage) => self.usage = Some(usage),
            Chunk::End(reason) => self.end = Some(reason),
            Chunk::Retry { .. } => {}
        }
    }

    /// Whether nothing of the answer has come yet.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.reasoning.is_empty() && self.whole.is_empty()
    }

    /// The text so far.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The usage so far, if reported.
    pub fn usage(&self) -> Option<Usage> {
        self.usage
    }

    /// Why the answer ended; `None` before its end.
    pub fn end(&self) -> Option<&EndReason> {
        self.end.as_ref()
    }

    /// The parts in the order that providers expect: reasoning, text, tool calls. Streamed reasoning whose
    /// complete part did not come is kept without a signature.
    pub fn parts(&self) -> Vec<Part> {
        let is_reasoning = |part: &&Part| matches!(part, Part::Reasoning { .. });
        let mut parts: Vec<Part> = self.whole.iter().filter(is_reasoning).cloned().collect();
        if parts.is_empty() && !self.reasoning.is_empty() {
            parts.push(Part::Reasoning { text: self.reasoning.clone(), signature: None });
        }
        if !self.text.is_empty() {
            parts.push(Part::text(&self.text));
        }
        parts.extend(self.whole.iter().filter(|part| !is_reasoning(part)).cloned());
        parts
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::model::ModelErrorKind;

    fn gather(chunks: impl IntoIterator<Item = Chunk>) -> Answer {
        let mut answer = Answer::default();
        chunks.into_iter().for_each(|chunk| answer.push(chunk));
        answer
    }

    fn call() -> Part {
        Part::ToolCall { id: "c".into(), name: "n".into(), arguments: "{}".into() }
    }

    fn signed() -> Part {
        Part::Reasoning { text: "hm".into(), signature: Some("s".into()) }
    }

    #[test]
    fn whole_reasoning_replaces_the_streamed_and_leads() {
        let answer = gather([
            Chunk::Retry { wait: Duration::ZERO, kind: ModelErrorKind::Overloaded, detail: None },
            Chunk::Reasoning("h".into()),
            Chunk::Text("a".into()),
            Chunk::Text("b".into()),
            Chunk::Part(call()),
            Chunk::Part(signed()),
            Chunk::End(EndReason::ToolUse),
        ]);
        assert_eq!(answer.parts(), [signed(), Part::text("ab"), call()]);
        assert_eq!(answer.end(), Some(&EndReason::ToolUse));
    }

    #[test]
    fn a_cut_answer_keeps_the_reasoning_that_came() {
        let answer = gather([Chunk::Reasoning("h".into()), Chunk::Reasoning("m".into())]);
        assert_eq!(answer.parts(), [Part::Reasoning { text: "hm".into(), signature: None }]);
        assert!(!answer.is_empty() && answer.end().is_none());
    }

    #[test]
    fn a_notice_is_no_answer() {
        assert!(
            gather([Chunk::Retry { wait: Duration::ZERO, kind: ModelErrorKind::Overloaded, detail: None }])
                .is_empty()
        );
    }
}
