//! The requests that send posts and are not reported: the owner does not know the ids of these posts yet. Must never make an event wait
//! for a request that began after it.

use std::collections::BTreeMap;

use retake_wire::chat::Place;
use tokio::sync::watch;

/// The requests at work.
#[derive(Debug, Default)]
pub(super) struct InFlight(watch::Sender<Open>);

#[derive(Debug, Default)]
struct Open {
    next: u64,
    /// The chat of each, by its number.
    chats: BTreeMap<u64, String>,
}

/// A request at work. It is over when this is dropped.
#[must_use = "the request is over when it is dropped"]
pub(super) struct Request<'a> {
    all: &'a InFlight,
    number: u64,
}

impl InFlight {
    /// A request begins.
    pub(super) fn begin(&self, place: &Place) -> Request<'_> {
        let mut number = 0;
        self.0.send_modify(|open| {
            number = open.next;
            open.next += 1;
            open.chats.insert(number, place.chat.clone());
        });
        Request { all: self, number }
    }

    /// Waits until the requests in a chat are over that are at work now.
    pub(super) async fn over(&self, place: &Place) {
        let mut open = self.0.subscribe();
        let next = open.borrow().next;
        let is_over = |open: &Open| open.chats.range(..next).all(|(_, chat)| *chat != place.chat);
        // The sender lives as long as `self`.
        drop(open.wait_for(is_over).await);
    }
}

impl Drop for Request<'_> {
    fn drop(&mut self) {
        self.all.0.send_modify(|open| drop(open.chats.remove(&self.number)));
    }
}
