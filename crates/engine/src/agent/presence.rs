//! Whether a client is present that could answer approval requests and questions, and how long they wait for one. Must never refuse an
//! answer that comes in time.

use std::sync::Arc;
use std::time::Duration;

use retake_core::ConversationId;

use crate::Engine;
use crate::run::Listening;

/// How often the presence of a client is checked.
const LOOK: Duration = Duration::from_secs(1);

/// Knows which clients are connected.
pub trait Audience: Send + Sync {
    /// Whether a person can be asked now.
    fn present(&self, now_ms: i64) -> ClientPresence;
}

/// The presence of a client with a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientPresence {
    /// Such a client is connected.
    Here,
    /// The last such client has left, or was suspended.
    LeftAt {
        /// When it left, in Unix milliseconds.
        ms: i64,
        /// Whether clients without a person are connected; this listener is one of them.
        others: bool,
    },
    /// No such client was ever connected: any subscriber may be able to answer.
    Unknown,
}

impl Engine {
    /// Sets the source of the clients' presence.
    pub fn listens_to(&self, audience: Arc<dyn Audience>) {
        // Only the first call counts: there is one server.
        drop(self.waits.audience.set(audience));
    }

    /// The time since which no client could answer; none if one can.
    fn unattended_since(&self, listening: &Listening, now: i64) -> Option<i64> {
        let present =
            self.waits.audience.get().map_or(ClientPresence::Unknown, |audience| audience.present(now));
        match present {
            ClientPresence::Here => None,
            ClientPresence::LeftAt { others: false, .. } | ClientPresence::Unknown
                if !listening.is_alone() =>
            {
                None
            }
            ClientPresence::LeftAt { ms, .. } => Some(ms),
            ClientPresence::Unknown => Some(i64::MIN),
        }
    }

    fn answer_wait_ms(&self) -> i64 {
        let wait = self.parts().agent.as_ref().map(|agent| agent.answer_wait).unwrap_or_default();
        i64::try_from(wait.as_millis()).unwrap_or(i64::MAX)
    }

    /// Whether no client can answer, and none has left recently. `asks`: the conversation, if an owner can be asked in a chat.
    pub(crate) fn is_unattended(&self, asks: Option<ConversationId>, listening: &Listening) -> bool {
        if asks.is_some_and(|of| self.chats.is_attended(of)) {
            return false;
        }
        let now = self.now().0;
        let since = self.unattended_since(listening, now);
        since.is_some_and(|since| now.saturating_sub(since) >= self.answer_wait_ms())
    }

    /// Waits until no client that can answer has been connected for the configured time.
    pub(crate) async fn until_unattended(&self, asks: Option<ConversationId>, listening: &Listening) {
        // A client that was never seen counts as just gone.
        let mut last = self.now().0;
        loop {
            let now = self.now().0;
            match self.unattended_since(listening, now) {
                _ if asks.is_some_and(|of| self.chats.is_attended(of)) => last = now,
                None => last = now,
                Some(since) if now.saturating_sub(since.max(last)) >= self.answer_wait_ms() => return,
                Some(_) => {}
            }
            self.parts()
                .clock
                .sleep(LOOK.min(Duration::from_millis(self.answer_wait_ms().max(50).unsigned_abs())))
                .await;
        }
    }
}
