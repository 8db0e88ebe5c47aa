//! A repeated request for a run: returns its receipts and results, and calls the model only if it was not called
//! before.

use std::sync::Arc;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use retake_core::{
    AnswerPlace, ChangeOrigin, ConversationId, OpRange, Part, Reason, Receipt, RunResult, ShownEntry, Step,
    joined_text,
};

use super::compact::CARRIED_FACT;
use super::queue::joined;
use super::{Ended, Outcome, Permit, PreparedRun, RunEvent};
use crate::Engine;
use crate::error::{EngineError, Kind, Result};
use crate::session::Claim;

impl Engine {
    /// Continues with the run that an earlier request began, by its receipt. The content of the request is not read:
    /// its names may mean something else by now.
    pub fn run_again<'a>(
        self: &'a Arc<Self>,
        conversation: ConversationId,
        by: &'a ChangeOrigin,
        receipt: Receipt,
        model: Option<&'a str>,
    ) -> BoxFuture<'a, Result<BoxStream<'static, RunEvent>>> {
        Box::pin(async move {
            if let Some(events) = self.attach(conversation, by)? {
                return Ok(events);
            }
            let claim = self.claim(conversation);
            self.again(conversation, by, claim, receipt, model).await
        })
    }

    /// The same after a failed claim of the conversation.
    pub(super) async fn again(
        self: &Arc<Self>,
        conversation: ConversationId,
        by: &ChangeOrigin,
        mut claim: Result<Claim>,
        receipt: Receipt,
        model: Option<&str>,
    ) -> Result<BoxStream<'static, RunEvent>> {
        if self.is_summary(conversation, &receipt).await? {
            let entry = receipt.entries.first().copied();
            let ended = Ended { outcome: Outcome::Succeeded, receipt: Some(receipt), entry, error: None };
            return Ok(told(None, String::new(), None, ended));
        }
        loop {
            let answered = self.store().answered(conversation, receipt.clone()).await?;
            if !matches!(answered, RunResult::Waiting) {
                return self.over(conversation, receipt, answered).await;
            }
            match claim {
                Ok(claim) => {
                    let choice = self.choice(model).await?;
                    let ground = self.ground_again(conversation, receipt).await?;
                    let ground = PreparedRun { asked: Some(by.clone()), ..ground };
                    return self.start_on(claim, choice, ground, model.map(str::to_owned)).await;
                }
                Err(error) if error.is_leaving() => return Err(error),
                Err(_) => {}
            }
            // The holder of the claim may be about to answer this very request.
            self.until_known(conversation).await;
            if let Some(events) = self.attach(conversation, by)? {
                return Ok(events);
            }
            if self.is_at_work(conversation) {
                let ended = joined(&receipt);
                return Ok(told(Some(receipt), String::new(), None, ended));
            }
            claim = self.claim(conversation);
        }
    }

    /// Whether a request has made a summary.
    async fn is_summary(&self, conversation: ConversationId, receipt: &Receipt) -> Result<bool> {
        if let Some(entry) = receipt.entries.first() {
            // An erased or hidden one is none any more: then the request is answered like any message.
            let parts = self.store().content(conversation, *entry).await.unwrap_or_default();
            return Ok(parts.iter().any(is_carried));
        }
        let Some(no) = receipt.ops.last() else { return Ok(false) };
        let range = OpRange { before: Some(no.next()), limit: 1 };
        let last = self.store().ops(conversation, range).await?.ops.into_iter().next();
        Ok(last.is_some_and(|line| line.op.reason == Reason::Fold))
    }

    /// The events of a run that is over.
    async fn over(
        &self,
        conversation: ConversationId,
        receipt: Receipt,
        answered: RunResult,
    ) -> Result<BoxStream<'static, RunEvent>> {
        match answered {
            RunResult::By { receipt: answer, author, interrupted } => {
                let outcome = if interrupted { Outcome::Interrupted } else { Outcome::Succeeded };
                let entry = answer.entries.first().copied();
                let ended = Ended { outcome, receipt: Some(*answer), entry, error: None };
                // A run without a prompt begins without a receipt of its own.
                let began = Some(receipt).filter(|receipt| receipt.entries.first().copied() != entry);
                let text = match entry {
                    Some(entry) => self.store().shown(conversation, entry).await?.and_then(words),
                    None => None,
                };
                Ok(told(began, author, text, ended))
            }
            RunResult::Nothing | RunResult::Waiting => {
                let what = "nothing came of this request: it was stopped, or the model failed";
                let error = EngineError::new(Kind::Refused, "no_answer", what);
                let ended =
                    Ended { outcome: Outcome::Failed, receipt: None, entry: None, error: Some(error) };
                Ok(told(Some(receipt), String::new(), None, ended))
            }
        }
    }

    /// The state of a run that was interrupted before any answer.
    async fn ground_again(&self, conversation: ConversationId, receipt: Receipt) -> Result<PreparedRun> {
        if receipt.entries.is_empty() {
            return self.on_retry(conversation, receipt).await;
        }
        // An edit includes a move.
        let range = OpRange { before: Some(receipt.head.op.next()), limit: 1 };
        let last = self.store().ops(conversation, range).await?.ops.into_iter().next();
        let back =
            last.filter(|line| line.op.reason == Reason::Edit && line.op.at.0 + 1 == receipt.head.seq.0);
        self.on_prompt(conversation, receipt, back.map(|line| Step::Op(line.op.no))).await
    }

    /// A retry's run, after its move.
    pub(super) async fn on_retry(
        &self,
        conversation: ConversationId,
        receipt: Receipt,
    ) -> Result<PreparedRun> {
        let moved = receipt.ops.last().map(|no| Step::Op(*no));
        let answering: AnswerPlace = self.store().answering(conversation).await?;
        let stopped = moved.into_iter().collect();
        Ok(PreparedRun {
            notices: Vec::new(),
            fence: None,
            receipt: Some(receipt),
            back: None,
            answering,
            stopped,
            failed: moved,
            by: None,
            asked: None,
            permit: Permit::default(),
            compaction: None,
            caller: None,
        })
    }
}

/// The events of a run that is over.
fn told(
    began: Option<Receipt>,
    model: String,
    text: Option<String>,
    ended: Ended,
) -> BoxStream<'static, RunEvent> {
    let text = text.map(RunEvent::Text);
    let events = std::iter::once(RunEvent::Started(began, model, None)).chain(text);
    futures::stream::iter(events.chain([RunEvent::Ended(ended)])).boxed()
}

/// The text of an answer, if it is visible.
fn words(shown: ShownEntry) -> Option<String> {
    shown.entry.ok().map(|entry| joined_text(&entry.parts))
}

/// Whether it marks the message with the summary of another branch.
fn is_carried(part: &Part) -> bool {
    matches!(part, Part::Facts(facts) if facts.iter().any(|fact| fact.key == CARRIED_FACT))
}
