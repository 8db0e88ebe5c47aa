//! Requests without a reply yet, and the next acts for the driver. Must never give a reply to another part than the one that
//! requested it.

use std::collections::{HashMap, HashSet};

use retake_wire::Request;

use crate::ui::msg::{Act, TabId, Ticket};

/// The part that waits for a reply.
#[derive(Debug)]
pub(crate) enum Requester {
    /// The pane of a tab with this number.
    Pane(TabId, u64),
    /// A tab, for this purpose.
    Tab(TabId, RequestPurpose),
    /// The whole program.
    All(RequestPurpose),
}

/// The purpose of a request.
#[derive(Clone, Debug)]
pub(crate) enum RequestPurpose {
    /// Earlier prompts, for composers.
    History,
    /// The known models.
    Models,
    /// The conversation to begin with.
    GoOn,
    /// The last conversations of the folder, for the first screen.
    Recent,
    /// A conversation to show, and an entry of it.
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
    /// A checkpoint with this name.
    Checkpoint(String),
    /// Messages that waited.
    Unqueued,
    /// A retry of this entry, with the choices for files.
    Retry(String, retake_wire::FileOptions),
    /// A summary of earlier messages.
    Compact,
    /// What an edit of this entry takes back, planned again.
    Rewritten(String),
    /// The operation with this number: the head after it, or before it.
    Operation(u64, bool),
    /// An approval or an answer.
    Decided,
    /// Commands and skills, for a composer.
    Commands,
    /// Completions for a composer.
    Paths(String),
    /// A draft for the owner to store.
    Kept,
    /// The state of the owner.
    Owner,
    /// What other clients did in this conversation, for a tab.
    Elsewhere(TabId, String),
    /// How much of the model's context is used.
    Context,
    /// Whether the message in the composer fits into the context.
    Fits,
    /// Only whether it failed.
    Nothing,
}

/// Open requests, and acts for the driver.
#[derive(Debug, Default)]
pub(super) struct Requests {
    pub(super) acts: Vec<Act>,
    pub(super) tickets: u64,
    waiting: HashMap<Ticket, Requester>,
    /// Those that change a conversation. They are answered even if nobody waits any more.
    changing: HashSet<Ticket>,
}

impl Requests {
    /// Sends a request.
    pub(super) fn ask(&mut self, asked: Requester, request: Request) -> Ticket {
        let ticket = self.ticket(asked);
        self.acts.push(Act::Ask(ticket, Box::new(request)));
        self.changing.extend(self.acts.last().and_then(changes));
        ticket
    }

    /// Starts a run.
    pub(super) fn run(&mut self, asked: Requester, run: retake_wire::Run) -> Ticket {
        let ticket = self.ticket(asked);
        self.acts.push(Act::Run(ticket, Box::new(run)));
        self.changing.insert(ticket);
        ticket
    }

    fn ticket(&mut self, asked: Requester) -> Ticket {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.waiting.insert(ticket, asked);
        ticket
    }

    /// All requests since this number of acts belong to the pane with this number.
    pub(super) fn sent_by_pane(&mut self, id: TabId, no: u64, since: usize) {
        for act in &self.acts[since..] {
            self.changing.extend(changes(act));
            match act {
                Act::Ask(ticket, _) | Act::Run(ticket, _) => {
                    self.waiting.insert(*ticket, Requester::Pane(id, no));
                }
                Act::Cancel(ticket) => {
                    self.waiting.remove(ticket);
                    self.changing.remove(ticket);
                }
                _ => {}
            }
        }
    }

    /// A request that changes a conversation is answered. Returns whether it is one.
    pub(super) fn changed(&mut self, ticket: Ticket) -> bool {
        self.changing.remove(&ticket)
    }

    /// Whether a request that changes a conversation has no answer yet.
    pub(super) fn is_changing(&self) -> bool {
        !self.changing.is_empty()
    }

    /// Whether the operations of other clients are on their way.
    pub(super) fn looks_elsewhere(&self, id: TabId) -> bool {
        let is_it = |asked: &Requester| matches!(asked, Requester::All(RequestPurpose::Elsewhere(of, _)) if *of == id);
        self.waiting.values().any(is_it)
    }

    /// The part that waits for this reply.
    pub(super) fn waits(&self, ticket: Ticket) -> Option<&Requester> {
        self.waiting.get(&ticket)
    }

    /// The part that waited for this reply; it is removed.
    pub(super) fn answered(&mut self, ticket: Ticket) -> Option<Requester> {
        self.waiting.remove(&ticket)
    }

    /// A tab was closed: replies for it are ignored.
    pub(super) fn forget_tab(&mut self, tab: TabId) {
        self.waiting.retain(
            |_, asked| !matches!(asked, Requester::Pane(id, _) | Requester::Tab(id, _) if *id == tab),
        );
    }

    /// Panes of a tab were closed: only these are open.
    pub(super) fn forget_panes(&mut self, tab: TabId, open: &[u64]) {
        self.waiting
            .retain(|_, asked| !matches!(asked, Requester::Pane(id, no) if *id == tab && !open.contains(no)));
    }
}

/// The ticket of an act that changes a conversation.
fn changes(act: &Act) -> Option<Ticket> {
    match act {
        Act::Ask(ticket, request) if matches!(**request, Request::Apply(_)) => Some(*ticket),
        Act::Run(ticket, _) => Some(*ticket),
        _ => None,
    }
}
