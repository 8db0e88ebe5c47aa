//! The order of work. Must never let an answer delay a deletion beyond a deadline that it could meet.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::{Pace, Work};

/// A deletion is urgent so long before the last time at which it can begin.
const URGENT_MS: i64 = 10 * 60_000;

/// What a call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// An approval request, or a notice that a person waits for.
    Waiting,
    /// A part of an answer.
    Answer,
    /// Takes back a post, or a batch of them.
    Deletion {
        /// After this time the platform refuses it (Unix milliseconds). Of a batch: the nearest one.
        deadline_ms: Option<i64>,
        /// When the post was sent. Of a batch: the newest one.
        sent_ms: i64,
    },
    /// Shows what is going on.
    Progress,
}

impl Purpose {
    pub(super) fn deadline(self) -> Option<i64> {
        match self {
            Self::Deletion { deadline_ms, .. } => deadline_ms,
            Self::Waiting | Self::Answer | Self::Progress => None,
        }
    }

    /// Calls of one class keep their order within a place; deletions have none.
    pub(super) fn class(self) -> Option<u8> {
        match self {
            Self::Waiting => Some(0),
            Self::Answer => Some(2),
            Self::Progress => Some(4),
            Self::Deletion { .. } => None,
        }
    }
}

/// The place in the order: the least is first. Equal ones are done in the order in which they came.
pub(super) fn rank(work: &Work, is_urgent: bool) -> (u8, i64, Reverse<i64>) {
    match work.purpose {
        Purpose::Deletion { deadline_ms, sent_ms } => {
            (if is_urgent { 1 } else { 3 }, deadline_ms.unwrap_or(i64::MAX), Reverse(sent_ms))
        }
        other => (other.class().unwrap_or_default(), 0, Reverse(0)),
    }
}

/// The deletions that have to begin within ten minutes, so that each can meet its deadline at the rates of chats and the account.
pub(super) fn urgent(works: &[&Work], [chat, account]: [Pace; 2], now: i64) -> HashSet<u64> {
    let with_deadline = works.iter().filter_map(|work| Some((work.purpose.deadline()?, *work)));
    let mut deletions: Vec<(i64, &Work)> = with_deadline.collect();
    deletions.sort_by_key(|(deadline, _)| Reverse(*deadline));
    // From the last deadline to the first: each has to begin before those that begin after it.
    let mut begin_of_account = i64::MAX;
    let mut begin_of_chat: HashMap<&str, i64> = HashMap::new();
    let mut urgent = HashSet::new();
    for (deadline, work) in deletions {
        let of_chat = begin_of_chat.entry(work.place.chat.as_str()).or_insert(i64::MAX);
        *of_chat = deadline.min(of_chat.saturating_sub(chat.every_ms()));
        begin_of_account = deadline.min(begin_of_account.saturating_sub(account.every_ms()));
        if (*of_chat).min(begin_of_account) <= now.saturating_add(URGENT_MS) {
            urgent.insert(work.id);
        }
    }
    urgent
}
