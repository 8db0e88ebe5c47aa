//! Copies the file while it is in use. A copy gets its name only after it is complete and durable.

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::backup::Backup;
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::error::{Result, StoreError};
use crate::lock::io;

/// The folder of the store's own backups.
const FOLDER: &str = "backups";
/// The prefix of their names.
const NAME: &str = "retake-v";
/// The suffix of an incomplete copy's name.
const UNFINISHED: &str = "unfinished";
/// The pages that are copied at a time; the writer continues in between.
const PAGES: i32 = 4096;

/// Writes a consistent copy to `to`. No file may exist there, before the copy and at its end.
pub(super) fn copy(db: &Connection, to: &Path) -> Result<()> {
    let unfinished = unfinished(to);
    private().create_new(true).open(&unfinished).map_err(taken("create", &unfinished))?;
    let done = fill(db, &unfinished).and_then(|()| publish_new(&unfinished, to));
    if done.is_err() {
        // The copy's error is more important than a leftover file.
        let _ = fs::remove_file(&unfinished);
    }
    done
}

/// The name of an incomplete copy.
fn unfinished(to: &Path) -> PathBuf {
    let mut name = to.as_os_str().to_owned();
    name.push(".");
    name.push(UNFINISHED);
    PathBuf::from(name)
}

fn fill(db: &Connection, file: &Path) -> Result<()> {
    let attempt = || StoreError::database("copy the store");
    let mut target = Connection::open(file).map_err(attempt())?;
    Backup::new(db, &mut target)
        .and_then(|backup| backup.run_to_completion(PAGES, Duration::ZERO, None))
        .map_err(attempt())?;
    // The copy is one file without a log beside it.
    target.pragma_update(None, "journal_mode", "DELETE").map_err(attempt())
}

/// The options for a file that only its owner can read.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    options
}

/// Creates an empty file that only its owner can read.
pub(super) fn create_private(path: &Path) -> Result<()> {
    private().create(true).truncate(true).open(path).map(drop).map_err(io("create", path))
}

/// Renames a complete file durably, replacing a file with that name.
pub(super) fn publish(unfinished: &Path, to: &Path) -> Result<()> {
    sync(unfinished)?;
    fs::rename(unfinished, to).map_err(io("write", to))?;
    sync_folder(to)
}

/// Renames a complete file durably to an unused name.
fn publish_new(unfinished: &Path, to: &Path) -> Result<()> {
    sync(unfinished)?;
    let renamed = renameat_with(CWD, unfinished, CWD, to, RenameFlags::NOREPLACE);
    match renamed.map_err(std::io::Error::from) {
        // Not every file system supports this; the others support links.
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {
            fs::hard_link(unfinished, to).map_err(taken("write", to))?;
            fs::remove_file(unfinished).map_err(io("remove", unfinished))?;
        }
        renamed => renamed.map_err(taken("write", to))?,
    }
    sync_folder(to)
}

/// Wraps the error of creating a file, which may exist already.
fn taken(attempt: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> StoreError {
    move |error| match error.kind() {
        ErrorKind::AlreadyExists => StoreError::FileExists { path: path.to_owned() },
        _ => io(attempt, path)(error),
    }
}

fn sync(file: &Path) -> Result<()> {
    File::open(file).and_then(|file| file.sync_all()).map_err(io("write", file))
}

fn sync_folder(of: &Path) -> Result<()> {
    let folder = of.parent().filter(|folder| !folder.as_os_str().is_empty());
    sync(folder.unwrap_or(Path::new(".")))
}

/// The place of a backup before a migration from this format, at a time such as `2026-11-21 22:42:07`. A second one at that time
/// gets a number.
pub(super) fn place(dir: &Path, format: i64, time: &str) -> Result<PathBuf> {
    let folder = dir.join(FOLDER);
    private_folder(&folder)?;
    let time = time.replace(' ', "T").replace(':', "");
    let numbered = |number: u64| match number {
        1 => folder.join(format!("{NAME}{format}-{time}.db")),
        _ => folder.join(format!("{NAME}{format}-{time}-{number}.db")),
    };
    let is_free = |path: &PathBuf| !path.exists() && !unfinished(path).exists();
    Ok((1..).map(numbered).find(is_free).expect("BUG: there are names without end"))
}

/// Creates a folder that only its owner can read; an existing one is unchanged.
pub(super) fn private_folder(path: &Path) -> Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(io("create the folder", path))
}

/// The store's own backups, incomplete ones included. Other files in the folder belong to somebody else.
pub(super) fn list(dir: &Path) -> Result<Vec<PathBuf>> {
    let folder = dir.join(FOLDER);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io("read", &folder)(error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.map_err(io("read", &folder))?;
        if entry.file_name().to_string_lossy().starts_with(NAME) {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

/// Removes a backup.
pub(super) fn remove(path: &Path) -> Result<()> {
    fs::remove_file(path).map_err(io("remove", path))
}

/// Removes the rest of an interrupted copy.
pub(super) fn tidy(dir: &Path) -> Result<()> {
    for file in list(dir)? {
        if file.extension().is_some_and(|end| end == UNFINISHED) {
            remove(&file)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backups_of_one_second_have_names_of_their_own() {
        let dir = tempfile::tempdir().expect("a folder");
        let next = || place(dir.path(), 3, "2026-11-21 22:42:07").expect("a place");
        let first = next();
        fs::write(&first, "").expect("written");
        let second = next();
        fs::write(unfinished(&second), "").expect("written");
        let third = next();
        let names = [&first, &second, &third].map(|path| path.file_name().expect("a name").to_owned());
        assert_eq!(
            names,
            [
                "retake-v3-2026-11-21T224207.db",
                "retake-v3-2026-11-21T224207-2.db",
                "retake-v3-2026-11-21T224207-3.db"
            ]
        );
    }
}
