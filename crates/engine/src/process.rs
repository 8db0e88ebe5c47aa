//! What the program `retake` does with its own process before an engine runs, and output files that a person names.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use retake_core::shell_word;
use retake_tools::destination::{self, Destination};

/// If this process was started as the supervisor of a command, does that work and returns the exit code. Call it first in `main`,
/// before any thread is started. Without this call, commands run without supervisors and namespaces.
pub fn supervise() -> Option<ExitCode> {
    retake_tools::supervise()
}

/// Makes new files of this process private to its user, and returns the earlier umask.
pub fn make_private() -> Option<u32> {
    retake_tools::umask::make_private()
}

/// A file that a person names, for an export or a backup. A regular file is replaced as a whole by [`OutputFile::finish`] or
/// stays as it was; a pipe or a terminal gets the bytes at once. A new file is readable by its user only.
#[must_use = "nothing is written until it is finished"]
#[derive(Debug)]
pub struct OutputFile(Destination);

impl OutputFile {
    /// Opens the file for writing.
    pub fn open(path: &Path) -> io::Result<Self> {
        Destination::open(path, destination::PRIVATE).map(Self)
    }

    /// Makes the written content visible under the name.
    pub fn finish(self) -> io::Result<()> {
        self.0.finish()
    }

    /// The file that a path leads to, through its links.
    pub fn behind_links(path: &Path) -> io::Result<PathBuf> {
        destination::behind_links(path)
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A command's words quoted as one line for a shell.
pub(crate) fn command_line<T: AsRef<str>>(words: &[T]) -> String {
    words.iter().map(|word| shell_word(word.as_ref())).collect::<Vec<_>>().join(" ")
}
