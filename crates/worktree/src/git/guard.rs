//! Checks that git's own files can be read safely: regular files of a plausible size, and only for a limited time. A folder
//! is not trusted: a FIFO or a link to an endless device in git's own folder would block the reader (number 24). The time
//! limit also covers a file that is replaced during the reading.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use gix::bstr::ByteSlice as _;
use rustix::fs::{Mode, OFlags};

/// The time limit for reading git's own files. Uncached files of a huge repository on a slow disk take a second or two.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// The most blocked readers; beyond that, nothing is read any more.
const MOST_STUCK: usize = 4;

/// The number of readers that exceeded the time limit, in any folder.
pub(super) static STUCK: AtomicUsize = AtomicUsize::new(0);

/// The readers of a state that is worth only a moment: slow is not stuck there.
pub(super) static SLOW: AtomicUsize = AtomicUsize::new(0);

/// The most bytes of a file with one line.
const LINE: u64 = 8 << 10;
const CONFIG: u64 = 1 << 20;
const REFS: u64 = 256 << 20;
const INDEX: u64 = 2 << 30;

/// The deepest folders of refs, and the most files in them.
const DEPTH: usize = 32;
const MOST_REFS: usize = 500_000;

/// Reads in a thread of its own; `None` after the time limit, and if too many readers of this kind are late.
pub(super) fn in_time<T: Send + 'static>(
    late: &'static AtomicUsize,
    patience: Duration,
    read: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    if late.load(Ordering::Relaxed) >= MOST_STUCK {
        return None;
    }
    let (tell, told) = mpsc::sync_channel(1);
    // Who comes second, the reader or the time limit, finds it set.
    let is_decided = Arc::new(AtomicBool::new(false));
    let decided = Arc::clone(&is_decided);
    let reader = thread::Builder::new().name("git".to_owned()).spawn(move || {
        let read = read();
        if decided.swap(true, Ordering::AcqRel) {
            late.fetch_sub(1, Ordering::Relaxed);
        } else {
            // The receiver waits for it, or still exists.
            let _sent = tell.send(read);
        }
    });
    reader.ok()?;
    let read = told.recv_timeout(patience);
    if !matches!(read, Err(RecvTimeoutError::Timeout)) {
        return read.ok();
    }
    late.fetch_add(1, Ordering::Relaxed);
    if is_decided.swap(true, Ordering::AcqRel) {
        late.fetch_sub(1, Ordering::Relaxed);
        return told.recv().ok();
    }
    None
}

/// The bytes of a regular file up to this size. Never waits for any other kind of file.
pub(super) fn bytes(path: &Path, most: u64) -> Option<Vec<u8>> {
    let file = regular(path).filter(|file| file.metadata().is_ok_and(|found| found.len() <= most))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// A regular file, opened without waiting for any other kind of file.
pub(super) fn regular(path: &Path) -> Option<fs::File> {
    let opening = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = fs::File::from(rustix::fs::open(path, opening, Mode::empty()).ok()?);
    file.metadata().ok()?.is_file().then_some(file)
}

/// Whether all files for finding the repository of a folder, its HEAD, refs and index are of the kinds that git creates.
pub(super) fn is_sound(folder: &Path) -> bool {
    for folder in folder.ancestors() {
        let own = folder.join(".git");
        match fs::metadata(&own) {
            Ok(found) if found.is_dir() => return is_sound_repository(&own),
            Ok(_) => return named_in(&own, folder).is_some_and(|place| is_sound_repository(&place)),
            Err(_) if fs::symlink_metadata(&own).is_ok() => return false,
            // It may be a bare repository.
            Err(_) if !is_file(&folder.join("HEAD"), REFS) => return false,
            Err(_) => {}
        }
    }
    true
}

/// The same for a repository, or for a worktree's part of one.
fn is_sound_repository(place: &Path) -> bool {
    let common = place.join("commondir");
    let common = match fs::symlink_metadata(&common) {
        Err(_) => None,
        Ok(_) => match named_in(&common, place) {
            Some(common) => Some(common),
            None => return false,
        },
    };
    is_sound_place(place) && common.is_none_or(|common| is_sound_place(&common))
}

fn is_sound_place(place: &Path) -> bool {
    let lines = ["HEAD", "commondir", "gitdir", "locked", "shallow"];
    lines.into_iter().all(|name| is_file(&place.join(name), if name == "shallow" { REFS } else { LINE }))
        && ["config", "config.worktree"].into_iter().all(|name| is_file(&place.join(name), CONFIG))
        && is_file(&place.join("packed-refs"), REFS)
        && is_file(&place.join("index"), INDEX)
        && is_file(&place.join("objects/info/alternates"), CONFIG)
        && has_only_files(&place.join("refs"), DEPTH, &mut 0)
        && has_sound_worktrees(&place.join("worktrees"))
}

fn has_sound_worktrees(place: &Path) -> bool {
    let Ok(all) = fs::read_dir(place) else { return true };
    all.flatten().all(|one| {
        let place = one.path();
        ["HEAD", "commondir", "gitdir", "locked"].into_iter().all(|name| is_file(&place.join(name), LINE))
    })
}

/// Whether it is a regular file up to this size, following links. A missing file is accepted: it cannot block.
fn is_file(path: &Path, most: u64) -> bool {
    match fs::metadata(path) {
        Ok(found) => found.is_file() && found.len() <= most,
        Err(error) => {
            matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
        }
    }
}

fn has_only_files(folder: &Path, depth: usize, seen: &mut usize) -> bool {
    let Ok(all) = fs::read_dir(folder) else { return true };
    all.flatten().all(|one| {
        *seen += 1;
        let is_folder = one.file_type().is_ok_and(|kind| kind.is_dir());
        *seen <= MOST_REFS
            && match is_folder {
                true => depth > 0 && has_only_files(&one.path(), depth - 1, seen),
                false => is_file(&one.path(), LINE),
            }
    })
}

/// The folder that a file names, relative to this one.
fn named_in(file: &Path, from: &Path) -> Option<PathBuf> {
    let text = bytes(file, LINE)?;
    let name = text.strip_prefix(b"gitdir: ").unwrap_or(&text);
    Some(from.join(name.trim_end().to_path().ok()?))
}

/// Whether all objects of a repository are regular files: commits are read from them.
pub(super) fn has_sound_objects(place: &Path) -> bool {
    let Ok(folders) = fs::read_dir(place) else { return true };
    folders.flatten().all(|folder| {
        let Ok(objects) = fs::read_dir(folder.path()) else {
            return is_regular(&folder);
        };
        objects.flatten().all(|object| is_regular(&object))
    })
}

fn is_regular(entry: &fs::DirEntry) -> bool {
    match entry.file_type() {
        Ok(kind) if kind.is_symlink() => fs::metadata(entry.path()).is_ok_and(|found| found.is_file()),
        Ok(kind) => kind.is_file() || kind.is_dir(),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trial_24_a_blocked_reader_is_abandoned() {
        let (_keep, never) = mpsc::channel::<()>();
        let read = in_time(&STUCK, Duration::from_millis(50), move || never.recv().is_ok());
        assert_eq!(read, None);
        assert_eq!(in_time(&STUCK, PATIENCE, || 7), Some(7), "others are still read");
    }
}
