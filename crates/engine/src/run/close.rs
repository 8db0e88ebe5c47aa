//! What is taken back of a run that came to nothing.

use retake_core::ConversationId;
use retake_store::{Action, Apply, Receipt};

use super::{Ended, Ground, Outcome};
use crate::engine::Engine;
use crate::error::EngineError;

impl Engine {
    /// Stopped before any output: the turn is taken back, and what it went back for.
    pub(super) async fn roll_back(&self, conversation: ConversationId, ground: &Ground) -> Ended {
        let mut receipt: Option<Receipt> = None;
        for step in &ground.stopped {
            let compensate = Apply {
                action: Action::Compensate(*step),
                seen: retake_core::Seen::Anything,
                by: self.by(None),
            };
            match self.store().apply(conversation, compensate).await {
                Ok(next) => {
                    let composer = receipt.and_then(|first| first.composer).or(next.composer);
                    receipt = Some(Receipt { composer, ..next });
                }
                // Somebody has said something since: the prompt stays.
                Err(error) => {
                    let error = Some(error.into());
                    return Ended { outcome: Outcome::Interrupted, receipt, entry: None, error };
                }
            }
        }
        self.forget_stream(conversation).await;
        Ended { outcome: Outcome::RolledBack, receipt, entry: None, error: None }
    }

    /// The model failed before any output: the prompt stays, a step back for another answer is taken back.
    pub(super) async fn fail(
        &self,
        conversation: ConversationId,
        ground: &Ground,
        error: EngineError,
    ) -> Ended {
        let mut receipt = None;
        if let Some(step) = ground.failed {
            let compensate = Apply {
                action: Action::Compensate(step),
                seen: retake_core::Seen::Anything,
                by: self.by(None),
            };
            receipt = self.store().apply(conversation, compensate).await.ok();
        }
        self.forget_stream(conversation).await;
        Ended { outcome: Outcome::Failed, receipt, entry: None, error: Some(error) }
    }

    async fn forget_stream(&self, conversation: ConversationId) {
        // A row that stays is dealt with at the next start.
        drop(self.store().save_stream(conversation, None).await);
    }
}
