//! Messages on their way to the owner, and messages that came back. Must never lose a message that the owner does
//! not have.

use retake_wire::Part;

use super::context::KnownContext;
use super::tab::Rewriting;
use crate::ui::composer::Composer;
use crate::ui::msg::Ticket;

/// A sent message: the request, its parts, and the message that it replaces.
type Sent = (Ticket, Vec<Part>, Option<Rewriting>);

/// The messages of a tab between composer and owner.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    /// The message that the next one replaces.
    pub(super) rewriting: Option<Rewriting>,
    /// The conversation has begun with a message from here and is not known yet.
    pub(super) begins: bool,
    /// Sent messages that the owner does not have yet: a refused one comes back.
    sent: Vec<Sent>,
    /// The last message that came back into the composer.
    returned: Vec<Part>,
    /// A draft was moved aside for it.
    has_moved_aside: bool,
    /// Whether messages fit into the model's context.
    pub(super) context: KnownContext,
}

impl Outgoing {
    /// A message was sent.
    pub(super) fn send(&mut self, ticket: Ticket, parts: Vec<Part>, rewriting: Option<Rewriting>) {
        self.sent.push((ticket, parts, rewriting));
    }

    /// Whether the owner has all messages.
    pub(super) fn is_empty(&self) -> bool {
        self.sent.is_empty()
    }

    /// Whether this message is on its way.
    pub(super) fn is_sending(&self, ticket: Ticket) -> bool {
        self.sent.iter().any(|(sent, ..)| *sent == ticket)
    }

    /// The parts of messages on their way.
    pub(super) fn parts(&self) -> impl Iterator<Item = &Vec<Part>> {
        self.sent.iter().map(|(_, parts, _)| parts)
    }

    /// The owner has this message.
    pub(super) fn stored(&mut self, ticket: Ticket) {
        self.sent.retain(|(sent, ..)| *sent != ticket);
    }

    /// This message was refused. Returns its parts; the next message replaces the same message as this one.
    pub(super) fn refused(&mut self, ticket: Ticket) -> Option<Vec<Part>> {
        let at = self.sent.iter().position(|(sent, ..)| *sent == ticket)?;
        let (_, parts, rewriting) = self.sent.remove(at);
        self.rewriting = self.rewriting.take().or(rewriting);
        Some(parts)
    }

    /// Puts a returned message into the composer. A draft in it is moved aside.
    pub(super) fn return_to(&mut self, composer: &mut Composer, parts: &[Part]) {
        self.has_moved_aside = !composer.is_empty() && composer.parts() != parts;
        composer.returned(parts);
        self.returned = composer.parts();
    }

    /// Whether the composer holds the returned message, unchanged.
    pub(super) fn is_unchanged(&self, composer: &Composer) -> bool {
        composer.parts() == self.returned
    }

    /// The returned message is in the conversation again: the composer forgets it.
    pub(super) fn brought_back(&mut self, composer: &mut Composer) {
        let returned = std::mem::take(&mut self.returned);
        if returned.is_empty() {
            return;
        }
        if composer.parts() != returned {
            // The person did not type it, wherever it is.
            return composer.forget_aside(&returned);
        }
        // A draft that the person had moved aside before stays there.
        if self.has_moved_aside {
            composer.left();
        } else {
            composer.clear();
        }
    }
}
