//! Points in the code at which a test can make the program fail, check something, or die. Without the feature
//! `failpoints` they do nothing; they must never decide anything.

/// All points: of captures, of their writes, and of applies. A point that is not listed does not compile; a test fails if
/// one is never passed.
pub const FAILPOINTS: &[&str] = &[
    "capture.opened",
    "capture.listed",
    "capture.swept",
    "capture.reading",
    "capture.read",
    "capture.fetched",
    "capture.looked",
    "capture.synced",
    "capture.saved",
    "capture.kept",
    "capture.accepted",
    "index.written",
    "index.synced",
    "index.renamed",
    "index.removed",
    "objects.created",
    "objects.appended",
    "objects.synced",
    "objects.sealed",
    "objects.listed",
    "objects.indexed",
    "apply.checked",
    "apply.made",
    "apply.staged",
    "apply.synced",
    "apply.opened",
    "apply.exchange",
    "apply.take",
    "apply.place",
    "apply.mode",
    "apply.aside",
    "apply.noreplace",
    "apply.linked",
    "apply.syncfs",
    "apply.refilled",
    "apply.moved",
    "apply.stepped",
    "apply.carried",
    "apply.verified",
    "apply.durable",
    "apply.restaged",
    "apply.settled",
    "apply.swept",
    "apply.removed",
    "apply.finished",
    "root.openat2",
];

/// Whether a name is on the list.
pub(crate) const fn is_listed(name: &str) -> bool {
    let mut at = 0;
    while at < FAILPOINTS.len() {
        if same(FAILPOINTS[at].as_bytes(), name.as_bytes()) {
            return true;
        }
        at += 1;
    }
    false
}

const fn same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// A failure at a point, as a number of the system.
pub(crate) fn errno(error: std::io::Error) -> rustix::io::Errno {
    rustix::io::Errno::from_io_error(&error).unwrap_or(rustix::io::Errno::IO)
}

/// A point with its name: `failpoint!("apply.staged")?`.
macro_rules! failpoint {
    ($name:literal) => {{
        const _: () = assert!($crate::failpoint::is_listed($name));
        $crate::failpoint::pass($name)
    }};
}
pub(crate) use failpoint;

#[cfg(not(feature = "failpoints"))]
mod point {
    /// Does nothing.
    #[inline]
    pub(crate) fn pass(_name: &'static str) -> std::io::Result<()> {
        Ok(())
    }

    /// No thread is watched.
    #[inline]
    pub(crate) fn watched() -> bool {
        false
    }
}

#[cfg(feature = "failpoints")]
mod point {
    use std::cell::RefCell;
    use std::io;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    use rustix::process::{Signal, getpid, kill_process};

    /// Called at each point that this thread passes: it may check something, fail, or end the process.
    pub type Watcher = Box<dyn FnMut(&'static str) -> io::Result<()>>;

    thread_local! {
        static WATCHER: RefCell<Option<Watcher>> = const { RefCell::new(None) };
    }

    /// Ends the watch.
    #[must_use = "the watch ends when this is dropped"]
    #[derive(Debug)]
    pub struct Watch(());

    impl Drop for Watch {
        fn drop(&mut self) {
            WATCHER.with_borrow_mut(Option::take);
        }
    }

    /// Calls `watcher` at each point that this thread passes, until the returned guard is dropped. Parallel work stays on
    /// this thread meanwhile.
    pub fn watch(watcher: impl FnMut(&'static str) -> io::Result<()> + 'static) -> Watch {
        WATCHER.set(Some(Box::new(watcher)));
        Watch(())
    }

    /// Ends this process like a power failure: no destructor runs.
    pub fn die() -> io::Result<()> {
        Ok(kill_process(getpid(), Signal::KILL)?)
    }

    /// `RETAKE_FAILPOINT=NAME[:NTH]`: the n-th time that any thread passes this point, the process ends.
    fn told() -> Option<&'static (String, u64)> {
        static TOLD: OnceLock<Option<(String, u64)>> = OnceLock::new();
        let read = || {
            let told = std::env::var("RETAKE_FAILPOINT").ok()?;
            let (name, nth) = told.split_once(':').unwrap_or((&told, "1"));
            Some((name.to_owned(), nth.parse().ok()?))
        };
        TOLD.get_or_init(read).as_ref()
    }

    pub(crate) fn pass(name: &'static str) -> io::Result<()> {
        static PASSED: AtomicU64 = AtomicU64::new(0);
        if let Some((deadly, nth)) = told()
            && deadly == name
            && PASSED.fetch_add(1, Ordering::Relaxed) + 1 == *nth
        {
            die()?;
        }
        // Taken out, so that a watcher may use this crate without being called for itself.
        let Some(mut watcher) = WATCHER.take() else { return Ok(()) };
        let answer = watcher(name);
        WATCHER.set(Some(watcher));
        answer
    }

    /// Whether this thread is watched.
    pub(crate) fn watched() -> bool {
        WATCHER.with_borrow(Option::is_some)
    }
}

#[cfg(feature = "failpoints")]
pub use point::{Watch, Watcher, die, watch};
pub(crate) use point::{pass, watched};
