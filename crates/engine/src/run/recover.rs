//! Recovery after a crash: abandoned runs are ended, streams in progress become interrupted answers, and a move without a
//! result is compensated.

use std::sync::Arc;

use retake_core::{Action, Apply, ChangeOrigin, Flags, Role, RunInput, RunState, SayRequest, SeenState};
use retake_store::StreamRow;

use crate::Engine;
use crate::error::Result;
use crate::files::FileOptions;
use crate::log::LogFailure as _;

impl Engine {
    /// Handles every run and every stream that was in progress when the last owner ended.
    #[tracing::instrument(name = "recovery", skip_all, fields(operation = "recover"))]
    pub(crate) async fn recover(self: &Arc<Self>) -> Result<()> {
        for (conversation, run) in self.store().live_runs().await? {
            if run.state == RunState::Running {
                // In a conversation that cannot be read the run stays, and the others are handled.
                let stored = self.store().step_runs(conversation, vec![RunInput::Lost(self.now())]).await;
                stored.or_log("a run that a crash broke off stays open");
            }
        }
        for stream in self.store().streams().await? {
            self.recover_one(stream).await?;
        }
        Ok(())
    }

    #[tracing::instrument(skip_all, fields(conversation = %stream.conversation))]
    async fn recover_one(self: &Arc<Self>, stream: StreamRow) -> Result<()> {
        let conversation = stream.conversation;
        if stream.parts.is_empty() {
            if let Some(step) = stream.step {
                let by = self.by(None);
                let compensate = Apply { action: Action::Compensate(step), seen: SeenState::Anything, by };
                // Refused if an entry was appended since: then the move stays, and undo reverts it.
                let back = self.apply_both(conversation, compensate, FileOptions::default()).await;
                back.or_log("a step that came to nothing is not taken back");
            }
            return Ok(self.store().save_stream(conversation, None).await?);
        }
        let say = SayRequest {
            flags: Flags { interrupted: true, ..Flags::default() },
            answering: Some(stream.answering),
            ..SayRequest::new(
                stream.entry,
                Role::Assistant,
                stream.parts,
                ChangeOrigin { author: stream.author, ..self.by(None) },
            )
        };
        self.store().say(conversation, say).await?;
        Ok(())
    }
}
