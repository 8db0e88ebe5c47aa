//! Parallel work on many items. Must keep the items' order in its results.

use std::num::NonZero;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::failpoint;

/// The number of neighbours that stay together, because they are often in one folder.
const CHUNK: usize = 32;

/// The number of threads that wait for the disk at once.
const WAITING: usize = 8;

/// Like [`on_cores`], for work that waits for the disk more than it computes.
pub(super) fn on_disk<R: Send>(count: usize, work: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
    on_threads(WAITING, count, work)
}

/// Passes chunks of `0..count` to `work`, and returns its results in order.
pub(crate) fn on_cores<R: Send>(count: usize, work: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
    on_threads(thread::available_parallelism().map_or(1, NonZero::get), count, work)
}

fn on_threads<R: Send>(threads: usize, count: usize, work: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
    let chunks = count.div_ceil(CHUNK);
    let chunk = |at: usize| at * CHUNK..count.min((at + 1) * CHUNK);
    let threads = threads.min(chunks);
    if threads <= 1 || failpoint::watched() {
        return (0..chunks).map(|at| work(chunk(at))).collect();
    }
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= chunks {
                return done;
            }
            done.push((at, work(chunk(at))));
        }
    };
    let mut answers: Vec<(usize, R)> = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(worker)).collect();
        let mut answers = worker();
        for other in others {
            match other.join() {
                Ok(done) => answers.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        answers
    });
    answers.sort_unstable_by_key(|(at, _)| *at);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

#[cfg(test)]
mod tests {
    use super::on_cores;

    #[test]
    fn answers_come_in_order() {
        for count in [0, 1, 32, 33, 1000] {
            let answers: Vec<usize> = on_cores(count, std::iter::Iterator::collect::<Vec<_>>).concat();
            assert_eq!(answers, (0..count).collect::<Vec<_>>());
        }
    }
}
