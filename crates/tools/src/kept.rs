//! Files that calls store in the data folder: private to its owner (trial 30), whatever the umask of the
//! process.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Creates a folder with its parents.
pub(crate) fn folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Keeps a text in a file of this folder, unless a file of that length is there already.
pub fn keep(folder_path: &Path, name: &str, text: &str) -> io::Result<()> {
    let path = folder_path.join(name);
    if path.metadata().is_ok_and(|there| there.len() == text.len() as u64) {
        return Ok(());
    }
    folder(folder_path)?;
    file(&path)?.write_all(text.as_bytes())
}

/// The options for opening a private file.
pub(crate) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

/// Creates an empty file.
pub(crate) fn file(path: &Path) -> io::Result<File> {
    options().write(true).create(true).truncate(true).open(path)
}
