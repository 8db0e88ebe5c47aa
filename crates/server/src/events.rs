//! Events for subscribers: one task for each conversation with subscribers turns its commits and its runs into events, once for
//! all of them. Must never wait for a subscriber: one that is too slow is dropped, and catches up when it reconnects.

mod conversation_feed;
mod frame;
mod list_feed;
mod subscriber;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use retake_core::ConversationId;

use conversation_feed::ConversationFeed;
use list_feed::ListFeed;

pub(crate) use frame::Frame;

/// All feeds with subscribers.
pub(crate) struct Subscriptions {
    feeds: Mutex<HashMap<ConversationId, Arc<ConversationFeed>>>,
    list_feed: Mutex<Option<Arc<ListFeed>>>,
    /// How long the feed of a conversation stays open without subscribers.
    empty: Duration,
}

impl Default for Subscriptions {
    fn default() -> Self {
        Self { feeds: Mutex::default(), list_feed: Mutex::default(), empty: Duration::from_secs(10) }
    }
}

impl Subscriptions {
    /// The number of subscribers.
    pub(crate) fn following(&self) -> u64 {
        let feeds: usize =
            locked(&self.feeds).values().map(|conversation_feed| conversation_feed.following()).sum();
        let list_feed = locked(&self.list_feed).as_ref().map_or(0, |list_feed| list_feed.following());
        (feeds + list_feed) as u64
    }
}

/// The most events that a subscriber may lag behind before it is dropped.
const BEHIND: usize = 1024;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
