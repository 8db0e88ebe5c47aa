//! Compensates a run that achieved nothing.

use std::sync::Arc;

use retake_core::{Action, Apply, ChangeOrigin, ConversationId, Receipt, SeenState, Step};

use super::{Ended, Outcome, PreparedRun};
use crate::Engine;
use crate::error::{EngineError, Result};
use crate::files::FileOptions;
use crate::log::{self, LogFailure as _};
use crate::session::Claim;

impl Ended {
    /// Logs the end of the run.
    pub(super) fn log(&self) {
        if let Some(error) = &self.error {
            log::failed(error, "the run has failed");
        }
        let code = self.error.as_ref().map(|error| error.code);
        tracing::info!(outcome = ?self.outcome, code, "the run has ended");
    }
}

impl Engine {
    /// After a stop without output: compensates the turn, and the move with which it began.
    pub(super) async fn roll_back(self: &Arc<Self>, claim: &Claim, ground: &PreparedRun) -> Ended {
        let conversation = claim.conversation();
        let mut receipt: Option<Receipt> = None;
        for (at, step) in ground.stopped.iter().enumerate() {
            // A person who requested the whole step repeats the request, and gets the last step.
            let asked =
                (at + 1 == ground.stopped.len()).then(|| self.take_halt_request(conversation)).flatten();
            match self.compensate(claim, *step, asked).await {
                Ok(next) => {
                    let composer = receipt.and_then(|first| first.composer).or(next.composer);
                    receipt = Some(Receipt { composer, ..next });
                }
                // Somebody has appended an entry since, or changed the files: the prompt stays.
                Err(error) => {
                    self.notify_unsent(conversation).await;
                    let error = Some(error);
                    return Ended { outcome: Outcome::Interrupted, receipt, entry: None, error };
                }
            }
        }
        self.forget_stream(conversation).await;
        // Messages that were queued a moment ago lost their prompt.
        self.notify_unsent(conversation).await;
        Ended { outcome: Outcome::RolledBack, receipt, entry: None, error: None }
    }

    /// After a failure without output: the prompt stays, and a retry's move is compensated.
    pub(super) async fn fail(
        self: &Arc<Self>,
        claim: &Claim,
        ground: &PreparedRun,
        error: EngineError,
    ) -> Ended {
        let conversation = claim.conversation();
        let mut receipt = None;
        if let Some(step) = ground.failed {
            let back = self.compensate(claim, step, None).await;
            receipt = back.or_log("a step that came to nothing is not taken back");
        }
        self.forget_stream(conversation).await;
        self.notify_unsent(conversation).await;
        Ended { outcome: Outcome::Failed, receipt, entry: None, error: Some(error) }
    }

    /// Compensates a step with its file changes.
    async fn compensate(
        self: &Arc<Self>,
        claim: &Claim,
        step: Step,
        asked: Option<ChangeOrigin>,
    ) -> Result<Receipt> {
        let action = Action::Compensate(step);
        let by = ChangeOrigin { time: self.now(), ..asked.unwrap_or_else(|| self.by(None)) };
        let apply = Apply { action, seen: SeenState::Anything, by };
        Ok(self.apply_claimed(claim, apply, FileOptions::default()).await?.receipt)
    }

    async fn forget_stream(&self, conversation: ConversationId) {
        // The next start handles a row that stays.
        let forgotten = self.store().save_stream(conversation, None).await;
        forgotten.or_log("an answer in progress stays stored");
    }
}
