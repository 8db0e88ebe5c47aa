//! Requests that the owner has not answered yet, and what the driver is to do next. Must never give an answer to another part than the
//! one that asked.

use std::collections::HashMap;

use retake_wire::Request;

use crate::ui::msg::{Act, TabId, Ticket};

/// The part that waits for an answer.
#[derive(Debug)]
pub(crate) enum Asked {
    /// The pane of a tab with this number.
    Pane(TabId, u64),
    /// A tab, for this.
    Tab(TabId, For),
    /// The whole program.
    All(For),
}

/// What an answer is for.
#[derive(Clone, Debug)]
pub(crate) enum For {
    /// Earlier prompts, for composers.
    History,
    /// The models that are known.
    Models,
    /// The conversation to begin with.
    GoOn,
    /// A conversation that is to be shown, and an entry of it.
    Show(Option<String>),
    /// Earlier entries.
    Earlier,
    /// Entries up to one that is to be shown.
    Until(String),
    /// An action, done at once.
    Applied(Box<retake_wire::Action>),
    /// Whether the model with this name exists, and which one was chosen before.
    Model(String, Option<String>),
    /// The draft of a conversation.
    Draft,
    /// The draft of the folder, for a conversation that has not begun.
    FolderDraft,
    /// Words that waited.
    Unqueued,
    /// Another answer of this entry, with the choices for files.
    Retry(String, retake_wire::FileOptions),
    /// What an edit of this entry takes back, planned again.
    Rewritten(String),
    /// The operation with this number: the head after it, or before it.
    Operation(u64, bool),
    /// An approval or an answer.
    Decided,
    /// What a composer may complete with.
    Paths(String),
    /// A draft that the owner is to store.
    Kept,
    /// The state of the owner.
    Owner,
    /// Nothing but whether it failed.
    Nothing,
}

/// Open requests, and acts for the driver.
#[derive(Debug, Default)]
pub(super) struct Requests {
    pub(super) acts: Vec<Act>,
    pub(super) tickets: u64,
    waiting: HashMap<Ticket, Asked>,
}

impl Requests {
    /// Sends a request.
    pub(super) fn ask(&mut self, asked: Asked, request: Request) -> Ticket {
        let ticket = self.ticket(asked);
        self.acts.push(Act::Ask(ticket, Box::new(request)));
        ticket
    }

    /// Starts a run.
    pub(super) fn run(&mut self, asked: Asked, run: retake_wire::Run) -> Ticket {
        let ticket = self.ticket(asked);
        self.acts.push(Act::Run(ticket, Box::new(run)));
        ticket
    }

    fn ticket(&mut self, asked: Asked) -> Ticket {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.waiting.insert(ticket, asked);
        ticket
    }

    /// The pane with this number waits for the answers to all requests since so many acts.
    pub(super) fn sent_by_pane(&mut self, id: TabId, no: u64, since: usize) {
        for act in &self.acts[since..] {
            if let Act::Ask(ticket, _) | Act::Run(ticket, _) = act {
                self.waiting.insert(*ticket, Asked::Pane(id, no));
            }
        }
    }

    /// The part that waits for this answer.
    pub(super) fn waits(&self, ticket: Ticket) -> Option<&Asked> {
        self.waiting.get(&ticket)
    }

    /// The part that waited for this answer, and waits no longer.
    pub(super) fn answered(&mut self, ticket: Ticket) -> Option<Asked> {
        self.waiting.remove(&ticket)
    }

    /// A tab was closed: answers for it are ignored.
    pub(super) fn forget_tab(&mut self, tab: TabId) {
        self.waiting
            .retain(|_, asked| !matches!(asked, Asked::Pane(id, _) | Asked::Tab(id, _) if *id == tab));
    }

    /// Panes of a tab were closed: only these are open.
    pub(super) fn forget_panes(&mut self, tab: TabId, open: &[u64]) {
        self.waiting
            .retain(|_, asked| !matches!(asked, Asked::Pane(id, no) if *id == tab && !open.contains(no)));
    }
}
