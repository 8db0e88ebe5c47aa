//! What the sequences of a test did together: a test in which nothing happens proves nothing.

use std::ops::AddAssign;

/// What the sequences of a test did together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) answers: usize,
    pub(super) deletions: usize,
    pub(super) lost: usize,
    pub(super) kills: [usize; 2],
    /// Places that were compared with the model at the end, and those with steps among them.
    pub(super) exact: [usize; 2],
    pub(super) counted: usize,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.answers += other.answers;
        self.deletions += other.deletions;
        self.lost += other.lost;
        self.counted += other.counted;
        for at in 0..2 {
            self.kills[at] += other.kills[at];
            self.exact[at] += other.exact[at];
        }
    }
}

impl Tally {
    /// All that the test is about has happened.
    pub(super) fn assert_wide(&self) {
        let Self { answers, deletions, lost, kills: [owners, gateways], exact: [exact, stepped], counted } =
            *self;
        let least = [answers, deletions, lost, owners, gateways, exact, stepped, counted].into_iter().min();
        assert_ne!(least, Some(0), "{self:?}");
    }
}
