//! Holders of drafts: a name, and a file with that name in the data directory, which is locked while its holder lives. The system
//! knows whether a holder is dead, whichever owner checks, and however it ended. Must never wait for a lock.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// The folder of the locks, in the data directory.
const FOLDER: &str = "holders";

/// The prefix of a file until it is locked: nobody mistakes it for a dead holder's.
const UNBORN: &str = "new";

/// A living holder of drafts. Dropping it ends the hold.
#[derive(Debug)]
#[must_use = "dropping it gives up the drafts that it holds"]
pub struct Holding {
    file: File,
    path: PathBuf,
}

/// Holds drafts in a data directory under a unique name: digits, `a` to `f` and `-`.
///
/// # Errors
///
/// The file cannot be created or locked: then nobody holds a draft under this name.
pub fn hold(data_dir: &Path, name: &str) -> io::Result<Holding> {
    let path = path_of(data_dir, name).ok_or(io::ErrorKind::InvalidInput)?;
    // A data directory that is gone is not created again.
    match DirBuilder::new().mode(0o700).create(data_dir.join(FOLDER)) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let unborn = path.with_extension(UNBORN);
    let file = File::options().write(true).create_new(true).mode(0o600).open(&unborn)?;
    file.try_lock()?;
    fs::rename(unborn, &path)?;
    Ok(Holding { file, path })
}

impl Drop for Holding {
    fn drop(&mut self) {
        // The next owner removes a leftover file.
        drop(fs::remove_file(&self.path));
        // Not left to closing the file: a process that is just being started has a copy of the handle for a moment.
        drop(self.file.unlock());
    }
}

/// Whether a name is valid.
pub(crate) fn is_name(name: &str) -> bool {
    let letters = b"0123456789abcdef-";
    (1..=64).contains(&name.len()) && name.bytes().all(|letter| letters.contains(&letter))
}

/// Whether a holder with this name lives.
pub(crate) fn lives(data_dir: &Path, name: &str) -> bool {
    path_of(data_dir, name).is_some_and(|path| is_locked(&path))
}

/// Removes the files of dead holders.
pub(crate) fn clear(data_dir: &Path) {
    let files = fs::read_dir(data_dir.join(FOLDER)).into_iter().flatten().flatten();
    for path in files.map(|file| file.path()).filter(|path| path.extension().is_none()) {
        if !is_locked(&path) {
            // A file that cannot be removed does no harm.
            drop(fs::remove_file(path));
        }
    }
}

/// The lock is shared: two clients that check at the same time must not mistake each other for a holder.
fn is_locked(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

fn path_of(data_dir: &Path, name: &str) -> Option<PathBuf> {
    is_name(name).then(|| data_dir.join(FOLDER).join(name))
}
