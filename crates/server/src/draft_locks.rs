//! Who holds drafts: a name, and a file of that name in the data directory that is locked as long as its holder lives. The system
//! says who is dead, whichever owner asks, and however the holder ended. Must never wait for a lock.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// The folder of the locks, in the data directory.
const FOLDER: &str = "holders";

/// A name under which its file is made: nobody takes it for a dead one's before it is locked.
const UNBORN: &str = "new";

/// A living holder of drafts. Dropped, it holds nothing more.
#[derive(Debug)]
#[must_use = "dropping it gives up the drafts that it holds"]
pub struct Holding {
    file: File,
    path: PathBuf,
}

/// Holds drafts in a data directory under a name that nobody else has: digits, `a` to `f` and `-`.
///
/// # Errors
///
/// Where the file can't be made or locked: then nobody holds anything under this name.
pub fn hold(data_dir: &Path, name: &str) -> io::Result<Holding> {
    let path = path_of(data_dir, name).ok_or(io::ErrorKind::InvalidInput)?;
    // Where the data directory is gone, it is not made anew.
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
        // A file that stays is taken away by the next owner.
        drop(fs::remove_file(&self.path));
        // Not left to the closing: a process that is just being started holds a copy of the opening for a moment.
        drop(self.file.unlock());
    }
}

/// Whether a name is one.
pub(crate) fn is_name(name: &str) -> bool {
    let letters = b"0123456789abcdef-";
    (1..=64).contains(&name.len()) && name.bytes().all(|letter| letters.contains(&letter))
}

/// Whether somebody lives who holds drafts under this name.
pub(crate) fn lives(data_dir: &Path, name: &str) -> bool {
    path_of(data_dir, name).is_some_and(|path| is_locked(&path))
}

/// Takes away what dead holders have left.
pub(crate) fn clear(data_dir: &Path) {
    let files = fs::read_dir(data_dir.join(FOLDER)).into_iter().flatten().flatten();
    for path in files.map(|file| file.path()).filter(|path| path.extension().is_none()) {
        if !is_locked(&path) {
            // What can't be taken away is in nobody's way.
            drop(fs::remove_file(path));
        }
    }
}

/// The lock is shared: two clients that ask at the same time must not take each other for a holder.
fn is_locked(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

fn path_of(data_dir: &Path, name: &str) -> Option<PathBuf> {
    is_name(name).then(|| data_dir.join(FOLDER).join(name))
}
