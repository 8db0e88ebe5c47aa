//! The owner lock of a data directory: one process at a time. The lock is the system's, so the lock of a dead owner is free.
//!
//! The content of the file is for people only and must never decide anything. Its place is checked: if it is still there, the
//! directory is the one that was opened.

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use retake_core::Time;

use crate::error::{Result, StoreError};

/// The name of the lock file.
const FILE: &str = "owner.lock";

/// How long to wait between two tries.
const POLL: Duration = Duration::from_millis(20);

/// The ownership of a data directory. Released when it is dropped.
#[derive(Debug)]
#[must_use = "the directory is owned only as long as this is kept"]
pub(crate) struct OwnerLock {
    file: File,
    path: PathBuf,
    /// Device and number of the file; `None` if the file system has another number for each path to it.
    identity: Option<(u64, u64)>,
}

impl OwnerLock {
    /// Takes the directory, waiting up to `wait` for its holder to end.
    pub(crate) fn take(dir: &Path, now: Time, wait: Duration) -> Result<Self> {
        let path = dir.join(FILE);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(io("open the lock", &path))?;
        // The store has no clock, so tries are counted.
        let mut tries = wait.as_millis() / POLL.as_millis();
        while !is_free(&file, &path)? {
            if tries == 0 {
                return Err(StoreError::Held { dir: dir.to_owned(), holder: holder(&mut file) });
            }
            tries -= 1;
            std::thread::sleep(POLL);
        }
        let identity = file.metadata().ok().map(|meta| identity_of(&meta));
        let by_name = std::fs::metadata(&path).ok().map(|meta| identity_of(&meta));
        let mut lock = Self { file, path, identity: identity.filter(|own| by_name == Some(*own)) };
        // On a full disk the lock is held without a name in it.
        let _ = lock.sign(now);
        Ok(lock)
    }

    /// Refuses if the directory was moved or deleted: nobody would find what is written now, and its name may lead to another
    /// owner's directory. A directory that cannot be checked is accepted.
    pub(crate) fn check_place(&self) -> Result<()> {
        let Some(own) = self.identity else { return Ok(()) };
        let is_there = match std::fs::metadata(&self.path) {
            Ok(meta) => identity_of(&meta) == own,
            Err(error) => !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
        };
        if is_there {
            return Ok(());
        }
        Err(StoreError::Moved { dir: self.path.parent().unwrap_or(&self.path).to_owned() })
    }

    /// Writes the holder into the file.
    fn sign(&mut self, now: Time) -> std::io::Result<()> {
        let program = std::env::current_exe().ok();
        let program = program.as_deref().and_then(Path::file_name);
        let program = program.map_or("a program".into(), |name| name.to_string_lossy());
        let system = rustix::system::uname();
        let text = format!(
            "process {} ({program} on {}, since {} UTC)\n",
            std::process::id(),
            system.nodename().to_string_lossy(),
            utc(now),
        );
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.file.write_all(text.as_bytes())
    }
}

impl Drop for OwnerLock {
    fn drop(&mut self) {
        // An old name in it would mislead.
        let _ = self.file.set_len(0);
        // Not left to closing the file: a process that is just being started has a copy of the handle for a moment.
        let _ = self.file.unlock();
    }
}

fn identity_of(meta: &Metadata) -> (u64, u64) {
    (meta.dev(), meta.ino())
}

fn is_free(file: &File, path: &Path) -> Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(source)) => Err(io("lock", path)(source)),
    }
}

/// The holder, from the file.
fn holder(file: &mut File) -> String {
    let mut text = String::new();
    let read = file.rewind().and_then(|()| file.read_to_string(&mut text));
    match read {
        Ok(_) if !text.trim().is_empty() => text.trim().to_owned(),
        _ => "another process".to_owned(),
    }
}

/// Wraps a file error with the attempted action.
pub(crate) fn io(attempt: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> StoreError {
    let path: PathBuf = path.to_owned();
    move |source| StoreError::Io { attempt, path, source }
}

/// A time for people: `2026-11-21 22:42:07`.
pub(crate) fn utc(time: Time) -> String {
    let seconds = time.0.div_euclid(1000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

/// Year, month and day of a number of days since 1970-01-01. Years begin in March here, so that a leap day is the last day.
fn date(days: i64) -> (i64, i64, i64) {
    const DAYS_TO_1970: i64 = 719_468;
    const PER_400_YEARS: i64 = 146_097;
    let days = days + DAYS_TO_1970;
    let (cycle, day) = (days.div_euclid(PER_400_YEARS), days.rem_euclid(PER_400_YEARS));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (cycle * 400 + year + next, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_for_people() {
        let rows = [
            (0, "1970-01-01 00:00:00"),
            (951_782_399_000, "2000-02-28 23:59:59"),
            (951_782_400_000, "2000-02-29 00:00:00"),
            (1_795_300_927_123, "2026-11-21 22:42:07"),
            (4_107_542_400_000, "2100-03-01 00:00:00"),
            (-1, "1969-12-31 23:59:59"),
        ];
        for (millis, text) in rows {
            assert_eq!(utc(Time(millis)), text);
        }
    }

    #[test]
    fn one_owner_at_a_time_even_in_one_process() {
        let dir = tempfile::tempdir().unwrap();
        let take = || OwnerLock::take(dir.path(), Time(0), Duration::ZERO);
        let first = take().unwrap();
        let refused = take().unwrap_err().to_string();
        assert!(refused.contains(&format!("process {}", std::process::id())), "{refused}");
        drop(first);
        let _second = take().unwrap();
    }

    #[test]
    fn moved_or_deleted_directory_is_noticed() {
        let home = tempfile::tempdir().expect("it is done");
        let (dir, other) = (home.path().join("data"), home.path().join("other"));
        std::fs::create_dir(&dir).expect("it is done");
        let lock = OwnerLock::take(&dir, Time(0), Duration::ZERO).expect("it is done");
        let moved = || matches!(lock.check_place(), Err(StoreError::Moved { dir: named }) if named == dir);
        lock.check_place().expect("it is done");
        std::fs::rename(&dir, &other).expect("it is done");
        assert!(moved());
        std::fs::rename(&other, &dir).expect("it is done");
        lock.check_place().expect("it is done");
        std::fs::remove_dir_all(&dir).expect("it is done");
        assert!(moved());
        std::fs::create_dir(&dir).expect("it is done");
        let _new = OwnerLock::take(&dir, Time(0), Duration::ZERO).expect("it is done");
        assert!(moved(), "the name leads to another one");
    }

    #[test]
    fn waiting_owner_gets_the_lock_when_its_holder_ends() {
        let dir = tempfile::tempdir().unwrap();
        let first = OwnerLock::take(dir.path(), Time(0), Duration::ZERO).unwrap();
        let path = dir.path().to_owned();
        let waiting =
            std::thread::spawn(move || OwnerLock::take(&path, Time(0), Duration::from_secs(30)).map(drop));
        drop(first);
        waiting.join().unwrap().unwrap();
    }
}
