//! Compaction: a summary by the model replaces earlier messages in the prompt. The messages stay, and a summary that fails, or that is
//! no shorter, changes nothing. Messages may arrive meanwhile: the summary counts only if what it covers still stands so.

use std::fmt::Write as _;

use retake_core::{
    Action, Apply, ChangeOrigin, ConversationId, EntryId, Fact, FoldableRange, Message, Part, Reason,
    Receipt, Role, RunEnding, SayRequest, SeenState, parts_weight, repaired, shorten,
};

use super::answer::Close;
use super::drive::Driver;
use super::{Ended, Outcome, RunEvent};
use crate::Engine;
use crate::error::{EngineError, Kind, Result};
use crate::log::LogFailure as _;
use crate::model::{Answer, Prompt, ToolSpec};
use crate::notice::Notice;

/// The most bytes of a tool's result that the model gets for a summary.
const RESULT_MAX: usize = 4000;

/// The tokens for a byte of text, before a model has counted any.
pub(super) const TOKENS_PER_BYTE: f64 = 0.3;

impl Engine {
    /// Refuses a summary of nothing.
    pub(super) async fn can_compact(&self, of: ConversationId, wanted: &Compaction) -> Result<()> {
        let range = FoldableRange { from: wanted.from, to: wanted.to, keep_bytes: 0 };
        let is_something = match wanted.branch {
            Some(leaf) => self.store().branch_prompt(of, leaf).await?.is_some(),
            None => self.store().foldable(of, range).await?.is_some(),
        };
        if is_something { Ok(()) } else { Err(nothing_to_fold()) }
    }
}

/// What a person wants summarised.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compaction {
    /// What the summary must keep or leave out.
    pub instructions: Option<String>,
    /// The first message; without it, the first turn or summary.
    pub from: Option<EntryId>,
    /// The last message; without it, the last one.
    pub to: Option<EntryId>,
    /// The last message of another branch: its summary becomes a message here, and replaces nothing.
    pub branch: Option<EntryId>,
}

/// Why there is no summary.
pub(super) enum NoSummary {
    /// The run was stopped.
    Stopped,
    /// The fence is no longer valid.
    Fenced,
    /// It failed.
    Failed(EngineError),
}

impl From<EngineError> for NoSummary {
    fn from(error: EngineError) -> Self {
        Self::Failed(error)
    }
}

impl From<retake_store::StoreError> for NoSummary {
    fn from(error: retake_store::StoreError) -> Self {
        Self::Failed(error.into())
    }
}

impl Driver {
    /// A whole run: makes a summary and ends.
    pub(super) async fn only_compacts(&mut self, wanted: &Compaction) -> Ended {
        let by = self.ground.by.take().unwrap_or_else(|| self.engine.by(None));
        let range = FoldableRange { from: wanted.from, to: wanted.to, keep_bytes: 0 };
        let instructions = wanted.instructions.as_deref();
        let done = match wanted.branch {
            Some(leaf) => self.carries(leaf, instructions, by).await,
            None => self.compact(range, instructions, Reason::Fold, by).await,
        };
        let (ending, ended) = match done {
            Ok(receipt) => (RunEnding::Succeeded, (Outcome::Succeeded, Some(receipt), None)),
            Err(NoSummary::Stopped) => (RunEnding::Canceled, (Outcome::RolledBack, None, None)),
            Err(NoSummary::Fenced) => (RunEnding::Canceled, (Outcome::Failed, None, None)),
            Err(NoSummary::Failed(error)) => {
                (RunEnding::Failed(error.code.to_owned()), (Outcome::Failed, None, Some(error)))
            }
        };
        self.over(ending).await;
        let (outcome, receipt, error) = ended;
        let entry = receipt.as_ref().and_then(|receipt| receipt.entries.first().copied());
        Ended { outcome, receipt, entry, error }
    }

    /// The prompt, after a summary if it nearly fills the model's context. Without a summary it is sent as it is, with a notice if
    /// it does not fit.
    pub(super) async fn fitting(&mut self, prompt: Prompt) -> Result<Prompt> {
        let prompt = self.shorter(prompt).await?;
        let tokens = (bytes_of(&prompt) as f64 * self.so_far.tokens_per_byte).round() as u64;
        let limit = self.choice.model.info().context_tokens.filter(|limit| tokens > *limit);
        if let Some(limit) = limit
            && !std::mem::replace(&mut self.so_far.is_warned, true)
        {
            let model = self.model.clone();
            self.events.send(RunEvent::Notice(Notice::TooLongForModel { model, tokens, limit }));
        }
        Ok(prompt)
    }

    async fn shorter(&mut self, prompt: Prompt) -> Result<Prompt> {
        let at = self.engine.parts().agent.as_ref().map_or(0, |agent| agent.compact_at);
        let Some(context) = self.choice.model.info().context_tokens.filter(|_| at > 0) else {
            return Ok(prompt);
        };
        let most = context as f64 * at as f64 / 100.0 / self.so_far.tokens_per_byte;
        if self.so_far.no_summary || (bytes_of(&prompt) as f64) < most {
            return Ok(prompt);
        }
        if !self.makes_room(most - fixed_bytes(&prompt) as f64).await {
            return Ok(prompt);
        }
        let shorter = self.prompt().await?;
        // Tools or one long message fill the context: a further summary before each call would help nobody.
        self.so_far.no_summary = bytes_of(&shorter) as f64 >= most;
        Ok(shorter)
    }

    /// The prompt after a summary, if the model said that it is too long for it. Once: then the failure counts.
    pub(super) async fn after_too_long(&mut self, message_bytes: usize) -> Option<Prompt> {
        if std::mem::replace(&mut self.so_far.was_too_long, true) {
            return None;
        }
        match self.makes_room(message_bytes as f64).await {
            true => self.prompt().await.ok(),
            false => None,
        }
    }

    /// Makes the summaries again, once in a run, that only hidden or shown messages put out of force. Without this, the next prompt
    /// would have all of their messages, although nobody asked for that.
    pub(super) async fn folds_again(&mut self) -> Result<()> {
        let is_on = self.engine.parts().agent.as_ref().is_some_and(|agent| agent.compact_at > 0);
        if !is_on || std::mem::replace(&mut self.so_far.has_folded_again, true) {
            return Ok(());
        }
        for range in self.engine.store().folds_lifted_by_marks(self.claim.conversation()).await? {
            self.events.send(RunEvent::Notice(Notice::FoldsAgain));
            if !self.summarises(range).await {
                break;
            }
        }
        Ok(())
    }

    /// Summarises all but the newest messages; these take a quarter of the room for messages. `false`: nothing has changed.
    async fn makes_room(&mut self, room: f64) -> bool {
        self.events.send(RunEvent::Notice(Notice::Compacts));
        // At least one byte: the newest message always stays.
        let keep_bytes = (room / 4.0).max(1.0) as usize;
        let done = self.summarises(FoldableRange { keep_bytes, ..FoldableRange::default() }).await;
        self.so_far.no_summary |= !done;
        done
    }

    /// Summarises a part of the prompt within a run. `false`: nothing has changed.
    async fn summarises(&mut self, range: FoldableRange) -> bool {
        match self.compact(range, None, Reason::AutoFold, self.engine.by(None)).await {
            Ok(_) => {
                self.note_covered().await.or_log("instructions that a summary covers are not given again");
                return true;
            }
            // The next call of the model finds the same, and ends the run.
            Err(NoSummary::Stopped) => drop(self.engine.cancel(self.claim.conversation())),
            Err(NoSummary::Fenced) => {}
            Err(NoSummary::Failed(error)) => {
                self.events.send(RunEvent::Notice(Notice::NotCompacted(error)));
            }
        }
        false
    }

    /// Notes how many tokens the model has counted in a prompt.
    pub(super) fn measure(&mut self, prompt_bytes: usize, answer: &Answer) {
        let counted = answer.usage().and_then(|usage| usage.input_tokens).filter(|tokens| *tokens > 0);
        if let Some(tokens) = counted.filter(|_| prompt_bytes > 0) {
            self.so_far.tokens_per_byte = tokens as f64 / prompt_bytes as f64;
        }
    }

    /// Replaces a part of the prompt by a summary.
    pub(super) async fn compact(
        &mut self,
        range: FoldableRange,
        instructions: Option<&str>,
        verb: Reason,
        by: ChangeOrigin,
    ) -> Result<Receipt, NoSummary> {
        let conversation = self.claim.conversation();
        let part = self.engine.store().foldable(conversation, range).await?.ok_or_else(nothing_to_fold)?;
        let summary = self.summary(part.messages, request(REQUEST, instructions)).await?;
        if summary.len() >= part.bytes {
            let what = "the summary is not shorter than the messages that it replaces";
            return Err(refused("long_summary", what).into());
        }
        let (from, to, covers) = (part.from, part.to, Some(part.covers));
        let action = Action::Fold { verb, from, to, summary, covers };
        let apply = Apply { action, seen: SeenState::Anything, by };
        Ok(self.engine.store().apply(conversation, apply).await?)
    }
}

impl Driver {
    /// A message with the summary of another branch.
    async fn carries(
        &mut self,
        leaf: EntryId,
        instructions: Option<&str>,
        by: ChangeOrigin,
    ) -> Result<Receipt, NoSummary> {
        let (store, conversation) = (self.engine.store(), self.claim.conversation());
        let (messages, first) = store.branch_prompt(conversation, leaf).await?.ok_or_else(nothing_to_fold)?;
        let asked = CARRY.replace("FIRST", &shorten(&first, FIRST_MAX));
        let summary = self.summary(messages, request(&asked, instructions)).await?;
        let text = format!("{CARRIED}\n{summary}");
        let fact = Fact::new(CARRIED_FACT, leaf.to_string());
        let by = ChangeOrigin { author: self.model.clone(), time: self.engine.now(), ..by };
        let say = SayRequest {
            fence: Some(self.fence),
            ..self.engine.saying(Role::User, vec![Part::text(text), Part::Facts(vec![fact])], by)
        };
        Ok(self.engine.store().say(conversation, say).await?)
    }

    /// What the model writes when it gets these messages and a request.
    async fn summary(&mut self, messages: Vec<Message>, asked: String) -> Result<String, NoSummary> {
        let mut messages: Vec<Message> = messages.into_iter().map(shortened).collect();
        messages.push(Message::text(Role::User, asked));
        let prompt = Prompt {
            system: self.scene.system.clone(),
            messages: repaired(messages),
            tools: self.tool_specs(),
            variant: 0,
        };
        let mut answer = Answer::default();
        let chunks = self.choice.model.stream(prompt);
        match self.listen(None, chunks, &mut answer).await {
            Close::Done => {}
            Close::Stopped => return Err(NoSummary::Stopped),
            Close::Fenced => return Err(NoSummary::Fenced),
            Close::Failed(error) => return Err(error.into()),
        }
        let summary = answer.text().trim().to_owned();
        match summary.is_empty() {
            true => Err(refused("no_summary", "the model gave no summary").into()),
            false => Ok(summary),
        }
    }
}

/// How many bytes a prompt has, with a fixed number for a picture.
pub(super) fn bytes_of(prompt: &Prompt) -> usize {
    prompt.messages.iter().map(|message| parts_weight(&message.parts)).sum::<usize>() + fixed_bytes(prompt)
}

/// Those of the tools and of the system prompt, which no summary makes shorter.
pub(super) fn fixed_bytes(prompt: &Prompt) -> usize {
    specs_bytes(&prompt.tools) + prompt.system.as_ref().map_or(0, String::len)
}

/// Those of the descriptions of tools.
pub(super) fn specs_bytes(tools: &[ToolSpec]) -> usize {
    tools.iter().map(|tool| tool.about.len() + tool.schema.to_string().len()).sum()
}

/// Nothing can be summarised.
pub(super) fn nothing_to_fold() -> EngineError {
    refused("nothing_to_compact", "there is nothing that a summary could replace")
}

fn refused(code: &'static str, what: &str) -> EngineError {
    EngineError::new(Kind::Refused, code, what)
}

/// A message with only the beginning of long results.
fn shortened(mut message: Message) -> Message {
    for part in &mut message.parts {
        if let Part::ToolResult { content, .. } = part
            && content.len() > RESULT_MAX
        {
            let all = content.len();
            content.truncate(content.floor_char_boundary(RESULT_MAX));
            // Writing to a text cannot fail.
            let _ = write!(content, "\n[{} more bytes]", all - content.len());
        }
    }
    message
}

/// What the model is asked to do.
fn request(asked: &str, instructions: Option<&str>) -> String {
    let mut request = asked.to_owned();
    if let Some(instructions) = instructions.map(str::trim).filter(|text| !text.is_empty()) {
        request.push_str("\n\nThe person adds: ");
        request.push_str(instructions);
    }
    request
}

/// The request for a summary.
const REQUEST: &str = "Write a summary of this conversation. It replaces the messages above, so you will continue with it and nothing \
     else. Do not call a tool, and do not answer the last message. Write plain text with these parts, leaving out those that are empty:\n\
     1. What the person wants, in their words where these matter, with every wish and correction that still counts.\n\
     2. What was done and decided, and why.\n\
     3. Files: what was read, created or changed, with paths and what matters in them.\n\
     4. Commands and their results that still matter; errors and how they were solved.\n\
     5. What is open, and the exact next step.";

/// The first line of a message with the summary of another branch.
const CARRIED: &str = "[Summary of another branch of this conversation]";

/// The key of the fact in such a message; its value is the last message of the branch.
pub(super) const CARRIED_FACT: &str = "branch_summary";

/// The longest beginning of a branch's first message in a request, in characters.
const FIRST_MAX: usize = 120;

/// The request for the summary of a branch.
const CARRY: &str = "This branch of the conversation ends here. It goes on from an earlier message, which has everything before the \
     message that begins with “FIRST”, and nothing since. Write down for it what this branch came to since that message. Do not call a \
     tool. Write plain text with these parts, leaving out those that are empty:\n\
     1. What was tried, found out and decided, and why.\n\
     2. Files that this branch created or changed, with paths and what matters in them. They may not be there any more.\n\
     3. Errors and dead ends that are not worth another try.\n\
     4. What is open.";
