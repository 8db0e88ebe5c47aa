//! What is being done to files right now, for clients that wait for it. It only reports.

use std::sync::{Arc, Mutex, PoisonError};

use retake_worktree::Progress;

/// Something that takes a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// A folder is looked through.
    Looking {
        /// So many folders in it up to now.
        folders: u64,
    },
    /// What is new in it is read.
    Reading {
        /// So many files up to now.
        done: u64,
        /// Of so many.
        of: u64,
    },
    /// Files are put back.
    Writing {
        /// So many.
        files: u64,
    },
}

/// What is being done. Of two things at once, the one that told last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work(Arc<Mutex<Option<Doing>>>);

/// While this lives, something is being done.
pub(super) struct Busy(Work);

impl Work {
    /// What is being done now.
    pub(crate) fn now(&self) -> Option<Doing> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something begins.
    pub(super) fn begin(&self, doing: Doing) -> Busy {
        let busy = Busy(self.clone());
        busy.tell(doing);
        busy
    }
}

impl Busy {
    /// It has come so far.
    pub(super) fn tell(&self, doing: Doing) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(doing);
    }

    /// A capture has come so far.
    pub(super) fn captures(&self, progress: Progress) {
        self.tell(match progress {
            Progress::Looked(folders) => Doing::Looking { folders },
            Progress::Read { done, of } => Doing::Reading { done, of },
        });
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_reported_while_it_lasts() {
        let work = Work::default();
        assert_eq!(work.now(), None);
        let busy = work.begin(Doing::Writing { files: 3 });
        assert_eq!(work.now(), Some(Doing::Writing { files: 3 }));
        busy.captures(Progress::Looked(7));
        assert_eq!(work.now(), Some(Doing::Looking { folders: 7 }));
        busy.captures(Progress::Read { done: 1, of: 2 });
        assert_eq!(work.now(), Some(Doing::Reading { done: 1, of: 2 }));
        drop(busy);
        assert_eq!(work.now(), None);
    }
}
