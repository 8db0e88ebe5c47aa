//! Growing delays with jitter. Must never ask for a random number: the caller gives the seed.

use std::time::Duration;

/// Numbers that look random, from a seed: SplitMix64.
#[derive(Debug)]
pub(super) struct Jitter(u64);

impl Jitter {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A delay between three and five quarters of this one.
    pub(super) fn around(&mut self, delay: Duration) -> Duration {
        let part = u32::try_from(self.next() % 513).expect("BUG: less than 513");
        delay * 3 / 4 + delay / 2 * part / 512
    }
}

/// Delays that double.
#[derive(Clone, Copy, Debug)]
pub(super) struct Backoff {
    next: Duration,
    first: Duration,
    most: Duration,
}

impl Backoff {
    /// The owner is on this machine or near.
    pub(super) fn of_the_owner() -> Self {
        Self::new(Duration::from_millis(100), Duration::from_secs(10))
    }

    pub(super) fn of_the_platform() -> Self {
        Self::new(Duration::from_secs(1), Duration::from_mins(5))
    }

    fn new(first: Duration, most: Duration) -> Self {
        Self { next: first, first, most }
    }

    pub(super) fn next(&mut self, jitter: &mut Jitter) -> Duration {
        let delay = self.next;
        self.next = (delay * 2).min(self.most);
        jitter.around(delay)
    }

    pub(super) fn reset(&mut self) {
        self.next = self.first;
    }

    /// The delay before the next attempt, when there were so many.
    pub(super) fn after(attempts: u32, jitter: &mut Jitter) -> Duration {
        let Self { first, most, .. } = Self::of_the_platform();
        jitter.around(first.saturating_mul(1 << attempts.min(16)).min(most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_five_minutes_and_differ_by_the_seed() {
        let (mut backoff, mut jitter) = (Backoff::of_the_platform(), Jitter::new(7));
        let mut expected = Duration::from_secs(1);
        for _ in 0..12 {
            let delay = backoff.next(&mut jitter);
            assert!(delay >= expected * 3 / 4 && delay <= expected * 5 / 4, "{delay:?} of {expected:?}");
            expected = (expected * 2).min(Duration::from_mins(5));
        }
        let first = |seed| Jitter::new(seed).around(Duration::from_secs(100));
        assert_ne!(first(1), first(2));
        assert_eq!(first(1), first(1));
        assert!(Backoff::after(u32::MAX, &mut jitter) <= Duration::from_secs(375));
    }
}
