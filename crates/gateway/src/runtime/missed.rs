//! Which messages were missed while the gateway was away, and are too many or too old to be answered. Must never make a message late
//! that came while the gateway was there.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use retake_wire::chat::Place;

/// How far the platform's clock may be behind ours.
const CLOCKS_MS: i64 = 30_000;

/// How many missed messages are answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Most {
    pub(super) age: Duration,
    pub(super) of_place: usize,
    pub(super) places: usize,
}

/// The messages that were missed since a connection began. Those of one place are answered by one run.
#[derive(Debug)]
pub(super) struct Missed {
    most: Most,
    connected_ms: i64,
    answered: HashMap<Place, usize>,
    refused: HashSet<Place>,
}

impl Missed {
    pub(super) fn since(most: Most, now_ms: i64) -> Self {
        Self { most, connected_ms: now_ms, answered: HashMap::new(), refused: HashSet::new() }
    }

    /// Whether a message must not be answered. `counts`: whether it would be answered otherwise.
    pub(super) fn is_late(&mut self, place: &Place, sent_ms: i64, counts: bool, now_ms: i64) -> bool {
        let age = i64::try_from(self.most.age.as_millis()).unwrap_or(i64::MAX);
        if now_ms.saturating_sub(sent_ms) > age {
            return true;
        }
        if sent_ms >= self.connected_ms.saturating_sub(CLOCKS_MS) || !counts {
            return false;
        }
        if self.refused.contains(place) {
            return true;
        }
        let places = self.answered.len();
        match self.answered.get_mut(place) {
            Some(count) if *count < self.most.of_place => *count += 1,
            None if places < self.most.places => {
                self.answered.insert(place.clone(), 1);
            }
            Some(_) | None => {
                self.refused.insert(place.clone());
                return true;
            }
        }
        false
    }
}
