//! What other clients did in the conversation. Must never report what this client requested.

use retake_tui::render::elsewhere::KnownOperations;
use retake_wire::reply::Conversation;
use retake_wire::request::Page;
use retake_wire::{Request, RunEvent};

use super::Chat;
use crate::error::{Result, expect_reply};

impl Chat<'_> {
    /// Reports the operations of other clients since the last look.
    pub(super) async fn report_others(&mut self, now: &Conversation) -> Result {
        self.operations.begin(&now.head);
        if !self.operations.lacks(&now.head) {
            return Ok(());
        }
        let page = Page { conversation: now.id.clone(), before: None, limit: Some(KnownOperations::PAGE) };
        let found = expect_reply!(self.cx.call(Request::Ops(page)).await?, Operations);
        for line in self.operations.learn(&found.operations) {
            self.cx.aside(&line)?;
        }
        Ok(())
    }

    /// The operations of a run that this client began.
    pub(super) fn made_by_run(&mut self, event: &RunEvent) {
        let receipt = match event {
            RunEvent::Started { receipt, .. } => receipt.as_deref(),
            RunEvent::Joined { receipt } => Some(&**receipt),
            RunEvent::Ended(ended) => ended.receipt.as_ref(),
            _ => None,
        };
        if let Some(receipt) = receipt {
            self.operations.made(&receipt.operations);
        }
    }
}
