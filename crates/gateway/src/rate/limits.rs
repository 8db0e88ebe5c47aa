//! Rates and holds by bucket. Must never shorten a hold.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::Call;

/// The name of a bucket by which an adapter says that a hold is for the whole account.
pub const WHOLE_ACCOUNT: &str = "global";

/// What is added to the wait that a platform asks for.
const MARGIN_MS: i64 = 500;

/// The longest hold: a wait beyond it is an error of the platform.
const LONGEST_MS: i64 = 7 * 24 * 3_600_000;

/// From this number on, buckets that limit nothing are forgotten.
const MANY: usize = 256;

/// What a rate or a hold is for. Threads share the limit of their chat on all platforms that we know.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bucket {
    /// All calls of the account.
    Account,
    /// All calls in a chat.
    Chat(String),
    /// Calls that the platform counts together under this name.
    Named(String),
}

impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Account => f.write_str(WHOLE_ACCOUNT),
            Self::Chat(chat) => write!(f, "chat:{chat}"),
            Self::Named(name) => write!(f, "named:{name}"),
        }
    }
}

impl FromStr for Bucket {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text.split_once(':') {
            None if text == WHOLE_ACCOUNT => Ok(Self::Account),
            Some(("chat", chat)) => Ok(Self::Chat(chat.to_owned())),
            Some(("named", name)) => Ok(Self::Named(name.to_owned())),
            _ => Err(()),
        }
    }
}

/// A rate: a token each `every`, at most `burst` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// The time in which a token comes back.
    pub every: Duration,
    /// The most calls at once.
    pub burst: u32,
}

impl Pace {
    /// The time in which a token comes back, in whole milliseconds.
    pub(super) fn every_ms(self) -> i64 {
        i64::try_from(self.every.as_nanos().div_ceil(1_000_000)).unwrap_or(i64::MAX).min(LONGEST_MS)
    }

    /// How much earlier than at a steady rate a call may be.
    fn early_ms(self) -> i64 {
        self.every_ms().saturating_mul(i64::from(self.burst.saturating_sub(1)))
    }
}

/// A time until which nothing is sent in a bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// The bucket. Its `Display` form can be parsed.
    pub bucket: Bucket,
    /// Until when, in Unix milliseconds.
    pub until_ms: i64,
    /// The calls that are known to be in a named bucket: chat and kind.
    pub calls: Vec<(String, Call)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// When the bucket will be full again.
    full_at: i64,
    hold_until: i64,
}

#[derive(Debug)]
pub(super) struct Limits {
    chat: Pace,
    account: Pace,
    named: HashMap<String, Pace>,
    states: HashMap<Bucket, State>,
    /// The named bucket of the calls of a kind in a chat, as the platform said it.
    names: HashMap<(String, Call), String>,
}

impl Limits {
    pub(super) fn new(chat: Pace, account: Pace) -> Self {
        let (named, states, names) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { chat, account, named, states, names }
    }

    /// The rates of a chat and of the account.
    pub(super) fn paces(&self) -> [Pace; 2] {
        [self.chat, self.account]
    }

    pub(super) fn set_pace(&mut self, bucket: &str, pace: Pace) {
        self.named.insert(bucket.to_owned(), pace);
    }

    /// When a call may be made.
    pub(super) fn ready_at(&self, chat: &str, call: Call) -> i64 {
        let ready = self.buckets(chat, call).into_iter().map(|bucket| {
            let state = self.states.get(&bucket).copied().unwrap_or_default();
            let early = self.pace(&bucket).map_or(0, Pace::early_ms);
            state.full_at.saturating_sub(early).max(state.hold_until)
        });
        ready.max().unwrap_or_default()
    }

    /// A call is made.
    pub(super) fn take(&mut self, chat: &str, call: Call, now: i64) {
        if self.states.len() >= MANY {
            self.states.retain(|_, state| state.full_at.max(state.hold_until) > now);
        }
        for bucket in self.buckets(chat, call) {
            let Some(pace) = self.pace(&bucket) else { continue };
            let state = self.states.entry(bucket).or_default();
            state.full_at = state.full_at.max(now).saturating_add(pace.every_ms());
        }
    }

    /// The platform wants us to wait.
    pub(super) fn hold(&mut self, chat: &str, call: Call, wait: Duration, bucket: Option<&str>, now: i64) {
        let bucket = match bucket {
            Some(WHOLE_ACCOUNT) => Bucket::Account,
            Some(name) => {
                self.names.insert((chat.to_owned(), call), name.to_owned());
                Bucket::Named(name.to_owned())
            }
            None => Bucket::Chat(chat.to_owned()),
        };
        let wait = i64::try_from(wait.as_millis()).unwrap_or(LONGEST_MS).min(LONGEST_MS);
        self.hold_until(bucket, now.saturating_add(wait).saturating_add(MARGIN_MS));
    }

    pub(super) fn holds(&self, now: i64) -> Vec<Hold> {
        let held = self.states.iter().filter(|(_, state)| state.hold_until > now);
        let mut holds: Vec<Hold> = held
            .map(|(bucket, state)| {
                let is_in = |(_, name): &(_, &String)| *bucket == Bucket::Named((*name).clone());
                let mut calls: Vec<_> =
                    self.names.iter().filter(is_in).map(|(call, _)| call.clone()).collect();
                calls.sort();
                Hold { bucket: bucket.clone(), until_ms: state.hold_until, calls }
            })
            .collect();
        holds.sort_by(|a, b| a.bucket.cmp(&b.bucket));
        holds
    }

    pub(super) fn restore(&mut self, hold: &Hold) {
        if let Bucket::Named(name) = &hold.bucket {
            self.names.extend(hold.calls.iter().map(|call| (call.clone(), name.clone())));
        }
        self.hold_until(hold.bucket.clone(), hold.until_ms);
    }

    fn hold_until(&mut self, bucket: Bucket, until: i64) {
        let state = self.states.entry(bucket).or_default();
        state.hold_until = state.hold_until.max(until);
    }

    fn buckets(&self, chat: &str, call: Call) -> Vec<Bucket> {
        let mut buckets = vec![Bucket::Account, Bucket::Chat(chat.to_owned())];
        if let Some(name) = self.names.get(&(chat.to_owned(), call)) {
            buckets.push(Bucket::Named(name.clone()));
        }
        buckets
    }

    fn pace(&self, bucket: &Bucket) -> Option<Pace> {
        match bucket {
            Bucket::Account => Some(self.account),
            Bucket::Chat(_) => Some(self.chat),
            Bucket::Named(name) => self.named.get(name).copied(),
        }
    }
}
