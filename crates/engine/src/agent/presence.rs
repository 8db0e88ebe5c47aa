//! Whether a client is present that could answer approval requests and questions, and how long they wait for one. Must never refuse an
//! answer that comes in time.

use std::sync::Arc;
use std::time::Duration;

use crate::Engine;
use crate::run::Listening;

/// How often it is looked whether somebody is there.
const LOOK: Duration = Duration::from_secs(1);

/// Knows which clients are there.
pub trait Audience: Send + Sync {
    /// Whether a person can be asked now.
    fn present(&self, now_ms: i64) -> Present;
}

/// Whether a person can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Present {
    /// In a client that is there.
    Here,
    /// The last client in which one could be asked has left, or was suspended.
    LeftAt {
        /// When, Unix milliseconds.
        ms: i64,
        /// Others are there that can't ask anybody; who listens is one of them.
        others: bool,
    },
    /// There was never such a client: any subscriber may be able to answer.
    Unknown,
}

impl Engine {
    /// Says who knows which clients are there.
    pub fn listens_to(&self, audience: Arc<dyn Audience>) {
        // The first one counts: there is one server.
        drop(self.waits.audience.set(audience));
    }

    /// Since when nobody is there who could answer; nothing, where somebody is.
    fn unattended_since(&self, listening: &Listening, now: i64) -> Option<i64> {
        let present = self.waits.audience.get().map_or(Present::Unknown, |audience| audience.present(now));
        match present {
            Present::Here => None,
            Present::LeftAt { others: false, .. } | Present::Unknown if !listening.is_alone() => None,
            Present::LeftAt { ms, .. } => Some(ms),
            Present::Unknown => Some(i64::MIN),
        }
    }

    fn answer_wait_ms(&self) -> i64 {
        let wait = self.parts().agent.as_ref().map(|agent| agent.answer_wait).unwrap_or_default();
        i64::try_from(wait.as_millis()).unwrap_or(i64::MAX)
    }

    /// Whether no client is there that could answer, and none has just left.
    pub(crate) fn is_unattended(&self, listening: &Listening) -> bool {
        let now = self.now().0;
        let since = self.unattended_since(listening, now);
        since.is_some_and(|since| now.saturating_sub(since) >= self.answer_wait_ms())
    }

    /// Waits until nobody has been there for so long that nobody is waited for any more.
    pub(crate) async fn until_unattended(&self, listening: &Listening) {
        // Who was never known to be there has just left.
        let mut last = self.now().0;
        loop {
            let now = self.now().0;
            match self.unattended_since(listening, now) {
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
