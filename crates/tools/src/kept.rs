//! Files that calls store in the data folder: private to its owner (trial 30), whatever the umask of the
//! process.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Creates a folder with its parents.
pub(crate) fn folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
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
