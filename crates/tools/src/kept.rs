//! Files that calls keep in the data folder: for its owner alone (trial 30), whatever mask the process has.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Makes a folder, and those above it.
pub(crate) fn folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// How a file is opened that nobody else reads.
pub(crate) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

/// An empty file.
pub(crate) fn file(path: &Path) -> io::Result<File> {
    options().write(true).create(true).truncate(true).open(path)
}
