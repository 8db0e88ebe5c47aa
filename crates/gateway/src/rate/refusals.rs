//! What a platform does not permit (403), by chat and kind of call. Must never permit a call there before a probe.

use std::collections::HashMap;

use retake_wire::chat::Place;

use super::Call;
use crate::adapter::Probe;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Refusal {
    /// A probe decides.
    Asks { place: Place, is_asked: bool },
    /// One call at a time, until one is permitted.
    Tries,
    /// Nothing is tried until a probe says yes.
    Over,
}

#[derive(Debug, Default)]
pub(super) struct Refusals(HashMap<(String, Call), Refusal>);

impl Refusals {
    pub(super) fn refused(&mut self, place: &Place, call: Call) {
        let key = (place.chat.clone(), call);
        let next = match self.0.get(&key) {
            None => Refusal::Asks { place: place.clone(), is_asked: false },
            Some(Refusal::Tries) => Refusal::Over,
            Some(_) => return,
        };
        self.0.insert(key, next);
    }

    /// A call took effect.
    pub(super) fn permitted(&mut self, chat: &str, call: Call) {
        if self.get(chat, call) == Some(&Refusal::Tries) {
            self.0.remove(&(chat.to_owned(), call));
        }
    }

    pub(super) fn probed(&mut self, chat: &str, call: Call, found: Probe) {
        let known = self.get(chat, call).cloned();
        let next = match (found, known) {
            (Probe::NotPermitted, _) => Refusal::Over,
            (Probe::Yes { .. }, Some(_)) | (Probe::Unknown, Some(Refusal::Asks { .. })) => Refusal::Tries,
            (Probe::Yes { .. } | Probe::Unknown, _) => return,
        };
        self.0.insert((chat.to_owned(), call), next);
    }

    /// The probes that have to be made.
    pub(super) fn unasked(&self) -> Vec<(Place, Call)> {
        let asks = self.0.iter().filter_map(|((_, call), it)| match it {
            Refusal::Asks { place, is_asked: false } => Some((place.clone(), *call)),
            _ => None,
        });
        let mut asks: Vec<(Place, Call)> = asks.collect();
        asks.sort();
        asks
    }

    pub(super) fn asked(&mut self, chat: &str, call: Call) {
        if let Some(Refusal::Asks { is_asked, .. }) = self.0.get_mut(&(chat.to_owned(), call)) {
            *is_asked = true;
        }
    }

    /// Whether a call may be tried. `is_trying`: another one of this kind is being made there.
    pub(super) fn may_try(&self, chat: &str, call: Call, is_trying: bool) -> bool {
        match self.get(chat, call) {
            None => true,
            Some(Refusal::Tries) => !is_trying,
            Some(Refusal::Asks { .. } | Refusal::Over) => false,
        }
    }

    pub(super) fn is_refused(&self, chat: &str, call: Call) -> bool {
        self.get(chat, call).is_some()
    }

    pub(super) fn is_over(&self, chat: &str, call: Call) -> bool {
        self.get(chat, call) == Some(&Refusal::Over)
    }

    fn get(&self, chat: &str, call: Call) -> Option<&Refusal> {
        self.0.get(&(chat.to_owned(), call))
    }
}
