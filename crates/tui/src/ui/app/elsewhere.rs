//! What other clients did in the conversations of the tabs. Must never report what this client requested: while one of its own
//! requests has no answer, nothing is reported.

use retake_wire::reply::{Operations, Receipt};
use retake_wire::request::Page;
use retake_wire::{Request, RunEvent};

use super::{App, RequestPurpose, Requester};
use crate::render::elsewhere::KnownOperations;
use crate::ui::msg::{TabId, Ticket};
use crate::ui::talk::{Note, Tone, Until};

impl App {
    /// This client has made the operations of a receipt.
    pub(super) fn made(&mut self, receipt: &Receipt) {
        for tab in self.tabs.iter_mut() {
            if tab.conversation().as_ref() == Some(&receipt.conversation) {
                tab.talk.operations.made(&receipt.operations);
            }
        }
    }

    /// The same for a run that this client began.
    pub(super) fn run_made(&mut self, ticket: Ticket, event: &RunEvent) {
        let receipt = match event {
            RunEvent::Started { receipt, .. } => receipt.as_deref(),
            RunEvent::Joined { receipt } => Some(&**receipt),
            RunEvent::Ended(ended) => ended.receipt.as_ref(),
            RunEvent::Queued => None,
            _ => return,
        };
        if let Some(receipt) = receipt {
            self.made(receipt);
        }
        if self.requests.changed(ticket) {
            self.look_elsewhere();
        }
    }

    /// Asks for the operations of other clients, where the head of a conversation shows that there are some.
    pub(super) fn look_elsewhere(&mut self) {
        if self.requests.is_changing() {
            return;
        }
        let mut asked = Vec::new();
        for tab in self.tabs.iter_mut() {
            let Some(conversation) = &tab.talk.conversation else { continue };
            if tab.talk.operations.lacks(&conversation.head) && !self.requests.looks_elsewhere(tab.id) {
                asked.push((tab.id, conversation.id.clone()));
            }
        }
        for (id, conversation) in asked {
            let of = conversation.clone();
            let page = Page { conversation, before: None, limit: Some(KnownOperations::PAGE) };
            self.ask(Requester::All(RequestPurpose::Elsewhere(id, of)), Request::Ops(page));
        }
    }

    /// The newest operations of this conversation, for a tab that showed it.
    pub(super) fn learned(&mut self, id: TabId, of: &str, found: &Operations) {
        // The answer to an own request looks again.
        if self.requests.is_changing() {
            return;
        }
        let Some(tab) = self.find_tab(id) else { return };
        let is_of_tab = tab.conversation().as_deref() == Some(of);
        let lines = if is_of_tab { tab.talk.operations.learn(&found.operations) } else { Vec::new() };
        if !lines.is_empty() {
            tab.talk.note(Note { text: lines.join("\n").into(), tone: Tone::Quiet, until: Until::Step });
        }
    }
}
