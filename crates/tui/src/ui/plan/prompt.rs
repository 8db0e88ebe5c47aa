//! The prompt of a retry: the message of a person at an entry or before it. Must never load more than it has to look at.

use retake_wire::Role;
use retake_wire::reply::Entries;
use retake_wire::request::{Log, Projection};
use retake_wire::{Reply, Request};

use crate::ui::msg::Ticket;
use crate::ui::pane::Cx;

/// Entries read at a time.
const PAGE: usize = 20;

/// A prompt that is being looked up.
#[derive(Debug)]
pub(super) struct Seek {
    /// The entry, as it was named.
    pub(super) entry: String,
    step: Step,
    ticket: Option<Ticket>,
}

/// The entries that are being read.
#[derive(Debug)]
enum Step {
    /// Those before the entry.
    Before,
    /// The entry itself, after those: the prompt before it, if any, and where to continue otherwise.
    Itself { prompt: Option<String>, first: Option<String> },
    /// Earlier ones.
    Older,
}

/// The state of the lookup.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PromptLookup {
    /// A request is on its way.
    NotYet,
    /// The prompt.
    Prompt(String),
    /// There is none.
    Nothing,
}

impl Seek {
    pub(super) fn new(entry: &str) -> Self {
        Self { entry: entry.to_owned(), step: Step::Before, ticket: None }
    }

    pub(super) fn begin(&mut self, cx: &mut Cx<'_>) {
        let before = Some(self.entry.clone());
        self.ask(Step::Before, before, None, cx);
    }

    pub(super) fn is(&self, ticket: Ticket) -> bool {
        self.ticket == Some(ticket)
    }

    fn ask(
        &mut self,
        step: Step,
        before: Option<String>,
        after: Option<String>,
        cx: &mut Cx<'_>,
    ) -> PromptLookup {
        let limit = Some(if after.is_some() { 1 } else { PAGE });
        let (conversation, projection) = (cx.id(), Projection::Timeline);
        let log = Log { conversation, at: None, branch: None, projection, limit, before, after };
        self.step = step;
        self.ticket = Some(cx.ask(Request::Log(log)));
        PromptLookup::NotYet
    }

    pub(super) fn replied(&mut self, reply: Reply, cx: &mut Cx<'_>) -> PromptLookup {
        let Reply::Entries(page) = reply else { return PromptLookup::Nothing };
        match std::mem::replace(&mut self.step, Step::Before) {
            // Nothing is before it: it is the first prompt, or nothing answers it.
            Step::Before if page.entries.is_empty() => PromptLookup::Prompt(self.entry.clone()),
            Step::Before => {
                let last = page.entries.last().map(|entry| entry.id.clone());
                let step = Step::Itself { prompt: prompt(&page), first: first(&page) };
                self.ask(step, None, last, cx)
            }
            Step::Itself { prompt: before, first } => match (page.entries.first(), before, first) {
                (None, ..) => PromptLookup::Nothing,
                (Some(itself), ..) if itself.role == Role::User => PromptLookup::Prompt(itself.id.clone()),
                (_, Some(prompt), _) => PromptLookup::Prompt(prompt),
                (_, None, Some(first)) => self.ask(Step::Older, Some(first), None, cx),
                (_, None, None) => PromptLookup::Nothing,
            },
            Step::Older => match (prompt(&page), first(&page)) {
                (Some(prompt), _) => PromptLookup::Prompt(prompt),
                (None, Some(first)) => self.ask(Step::Older, Some(first), None, cx),
                (None, None) => PromptLookup::Nothing,
            },
        }
    }
}

/// The last message of a person.
fn prompt(page: &Entries) -> Option<String> {
    page.entries.iter().rev().find(|entry| entry.role == Role::User).map(|entry| entry.id.clone())
}

/// Where to continue, if there are entries before the page.
fn first(page: &Entries) -> Option<String> {
    page.entries.first().filter(|_| page.earlier).map(|entry| entry.id.clone())
}
