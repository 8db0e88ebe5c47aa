//! Randomness, behind a trait: new ids and jitter. The only place in the workspace that draws random numbers.
//!
//! An id is a UUID of version 7 and is never parsed: its order only helps indexes, and says nothing about the
//! conversation.

use std::sync::{Mutex, PoisonError};

use uuid::Uuid;

/// A source of new ids and random numbers.
pub trait Random: Send + Sync {
    /// A new id of version 7. The ids of one source strictly increase, even if `now_ms` stands still or goes
    /// back.
    fn uuid_v7(&self, now_ms: i64) -> Uuid;

    /// A number from 0 (included) to 1 (excluded).
    fn jitter(&self) -> f64;
}

/// Random bits from the operating system. Each process has one source and shares it.
#[derive(Debug, Default)]
pub struct SystemRandom {
    ids: Mutex<Ids>,
}

impl Random for SystemRandom {
    fn uuid_v7(&self, now_ms: i64) -> Uuid {
        lock(&self.ids).next(now_ms, u128::from(system_bits()) << 64 | u128::from(system_bits()))
    }

    fn jitter(&self) -> f64 {
        unit(system_bits())
    }
}

/// A source for tests: the same seed gives the same numbers.
#[derive(Debug)]
pub struct SeededRandom {
    state: Mutex<(Ids, fastrand::Rng)>,
}

impl SeededRandom {
    /// A source whose results depend only on `seed` and the earlier calls.
    pub fn new(seed: u64) -> Self {
        Self { state: Mutex::new((Ids::default(), fastrand::Rng::with_seed(seed))) }
    }
}

impl Random for SeededRandom {
    fn uuid_v7(&self, now_ms: i64) -> Uuid {
        let mut state = lock(&self.state);
        let bits = state.1.u128(..);
        state.0.next(now_ms, bits)
    }

    fn jitter(&self) -> f64 {
        unit(lock(&self.state).1.u64(..))
    }
}

/// Bits of a UUID of version 7 that are neither time, version nor variant.
const TAIL_BITS: u32 = 74;

/// The last id, as time and tail.
#[derive(Debug, Default)]
struct Ids {
    ms: u64,
    tail: u128,
}

impl Ids {
    fn next(&mut self, now_ms: i64, bits: u128) -> Uuid {
        let now = u64::try_from(now_ms).unwrap_or(0) & 0xffff_ffff_ffff;
        if now > self.ms {
            self.ms = now;
            // The top bit stays free, so the tail can be incremented within a millisecond.
            self.tail = bits & ((1 << (TAIL_BITS - 1)) - 1);
        } else {
            self.tail += 1 + (bits & 0xffff_ffff);
            if self.tail >> TAIL_BITS != 0 {
                self.ms += 1;
                self.tail = bits & ((1 << (TAIL_BITS - 1)) - 1);
            }
        }
        let high = self.tail >> 62;
        let low = self.tail & ((1 << 62) - 1);
        Uuid::from_u128(u128::from(self.ms) << 80 | 0x7 << 76 | high << 64 | 0b10 << 62 | low)
    }
}

fn system_bits() -> u64 {
    getrandom::u64().expect("BUG: the operating system has no random numbers")
}

fn unit(bits: u64) -> f64 {
    // An f64 holds 53 bits exactly.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit an f64 exactly")]
    let value = (bits >> 11) as f64;
    value / 9_007_199_254_740_992.0
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strictly_increase(random: &dyn Random) {
        let times = [5, 5, 5, 4, 900, 900, 0, -3, 901];
        let ids: Vec<Uuid> = times.iter().cycle().take(5_000).map(|ms| random.uuid_v7(*ms)).collect();
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(ids.iter().all(|id| id.get_version_num() == 7 && id.get_variant() == uuid::Variant::RFC4122));
    }

    #[test]
    fn ids_strictly_increase_whatever_the_clock_does() {
        strictly_increase(&SystemRandom::default());
        strictly_increase(&SeededRandom::new(7));
    }

    #[test]
    fn an_id_begins_with_its_time() {
        let id = SystemRandom::default().uuid_v7(0x0123_4567_89ab);
        assert_eq!(id.as_u128() >> 80, 0x0123_4567_89ab);
    }

    #[test]
    fn a_full_tail_moves_to_the_next_millisecond() {
        let mut ids = Ids { ms: 8, tail: (1 << TAIL_BITS) - 1 };
        let last = Uuid::from_u128(8 << 80 | 0x7fff << 64 | ((1 << 64) - 1));
        assert!(ids.next(8, 0) > last);
        assert_eq!(ids.ms, 9);
    }

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let draw = |seed| {
            let random = SeededRandom::new(seed);
            (random.uuid_v7(1), random.jitter().to_bits())
        };
        assert_eq!(draw(3), draw(3));
        assert_ne!(draw(3), draw(4));
    }

    #[test]
    fn jitter_stays_below_one() {
        assert_eq!(unit(0), 0.0);
        assert!(unit(u64::MAX) < 1.0);
    }
}
