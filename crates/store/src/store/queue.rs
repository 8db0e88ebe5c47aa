//! The queue of requests for the writer, and which of them share a transaction.

use std::sync::mpsc::Receiver;
use std::time::Duration;

/// The most requests in one transaction.
pub(super) const BATCH_MAX: usize = 256;

/// How long the writer waits for requesters that also wrote the last time: less than most disks need for a sync.
const GATHER: Duration = Duration::from_micros(200);

/// Requests in order. A large one has a transaction of its own, so that a small one waits for it no longer than for its own turn.
pub(super) struct Queue<J> {
    waiting: Receiver<J>,
    is_alone: fn(&J) -> bool,
    /// The next request, if it must be alone.
    next: Option<J>,
}

impl<J> Queue<J> {
    pub(super) fn new(waiting: Receiver<J>, is_alone: fn(&J) -> bool) -> Self {
        Self { waiting, is_alone, next: None }
    }

    /// The requests for the next transaction: all that wait. If several were written together the last time, they have just got
    /// their replies and may write again. So the first of them waits for the others: otherwise it alone would get every other
    /// sync. `None` if all senders are gone.
    pub(super) fn gather(&mut self, together: usize) -> Option<Vec<J>> {
        let first = self.next.take().or_else(|| self.waiting.recv().ok())?;
        if (self.is_alone)(&first) {
            return Some(vec![first]);
        }
        let mut jobs = vec![first];
        while jobs.len() < BATCH_MAX
            && let Some(next) = if jobs.len() < together { self.awaited() } else { self.another() }
        {
            jobs.push(next);
        }
        Some(jobs)
    }

    /// A waiting request that may share the transaction.
    pub(super) fn another(&mut self) -> Option<J> {
        if self.next.is_some() {
            return None;
        }
        let next = self.waiting.try_recv().ok()?;
        self.unless_alone(next)
    }

    /// The same, after a short wait.
    fn awaited(&mut self) -> Option<J> {
        if self.next.is_some() {
            return None;
        }
        let next = self.waiting.recv_timeout(GATHER).ok()?;
        self.unless_alone(next)
    }

    fn unless_alone(&mut self, next: J) -> Option<J> {
        match (self.is_alone)(&next) {
            true => {
                self.next = Some(next);
                None
            }
            false => Some(next),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::Queue;

    #[test]
    fn large_request_shares_a_transaction_with_no_other_request() {
        let (sender, waiting) = channel();
        let mut queue = Queue::new(waiting, |size| *size > 9);
        for size in [1, 2, 10, 3, 11, 12] {
            sender.send(size).unwrap();
        }
        drop(sender);
        let taken: Vec<Vec<i32>> = std::iter::from_fn(|| queue.gather(4)).collect();
        assert_eq!(taken, [vec![1, 2], vec![10], vec![3], vec![11], vec![12]]);
    }

    #[test]
    fn small_requests_that_wait_share_a_transaction() {
        let (sender, waiting) = channel();
        let mut queue = Queue::new(waiting, |_| false);
        (0..300).for_each(|size| sender.send(size).unwrap());
        drop(sender);
        let taken: Vec<usize> =
            std::iter::from_fn(|| queue.gather(1)).map(|jobs: Vec<i32>| jobs.len()).collect();
        assert_eq!(taken, [256, 44]);
    }
}
