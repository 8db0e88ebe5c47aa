//! The progress of work on files, for clients that wait. It only reports.

use std::sync::{Arc, Mutex, PoisonError};

use retake_worktree::Progress;

/// Work that takes a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkInProgress {
    /// A scan of a folder.
    Looking {
        /// The folders scanned so far.
        folders: u64,
    },
    /// Reading of new content.
    Reading {
        /// The files read so far.
        done: u64,
        /// The number of all files to read.
        of: u64,
    },
    /// Files are being restored.
    Writing {
        /// Their number.
        files: u64,
    },
}

/// The work in progress. If there are several, the one that reported last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work(Arc<Mutex<Option<WorkInProgress>>>);

/// While this lives, work is in progress.
pub(super) struct Busy(Work);

impl Work {
    /// The work in progress now.
    pub(crate) fn now(&self) -> Option<WorkInProgress> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins work.
    pub(super) fn begin(&self, doing: WorkInProgress) -> Busy {
        let busy = Busy(self.clone());
        busy.tell(doing);
        busy
    }
}

impl Busy {
    /// Reports progress.
    pub(super) fn tell(&self, doing: WorkInProgress) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(doing);
    }

    /// Reports the progress of a capture.
    pub(super) fn captures(&self, progress: Progress) {
        self.tell(match progress {
            Progress::Looked(folders) => WorkInProgress::Looking { folders },
            Progress::Read { done, of } => WorkInProgress::Reading { done, of },
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
        let busy = work.begin(WorkInProgress::Writing { files: 3 });
        assert_eq!(work.now(), Some(WorkInProgress::Writing { files: 3 }));
        busy.captures(Progress::Looked(7));
        assert_eq!(work.now(), Some(WorkInProgress::Looking { folders: 7 }));
        busy.captures(Progress::Read { done: 1, of: 2 });
        assert_eq!(work.now(), Some(WorkInProgress::Reading { done: 1, of: 2 }));
        drop(busy);
        assert_eq!(work.now(), None);
    }
}
