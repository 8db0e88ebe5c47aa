//! The input of a job: what is written to it, in frames through a named pipe that its supervisor reads. Any process can write a
//! frame, also after a restart. A frame must never be split, so that two writers cannot mix theirs.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

/// The most bytes of a frame with its length: the kernel writes so many at once or none.
const FRAME: usize = 4096;

/// The bytes of a frame's length.
const LENGTH: usize = 2;

/// The pipe of a job with this log.
pub(crate) fn path_of(log: &Path) -> PathBuf {
    log.with_extension("in")
}

/// Creates the pipe of a job. The job keeps it open, so that it does not end before somebody closes it.
pub(crate) fn create(log: &Path) -> io::Result<OwnedFd> {
    let path = path_of(log);
    rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
    Ok(File::options().read(true).write(true).open(path)?.into())
}

/// Why nothing more is written.
#[derive(Debug)]
pub(crate) enum NotWritten {
    /// The job began without an input.
    NoInput,
    /// Its input is closed, by it or by an earlier call.
    Closed,
    /// It does not read what was written before: try again later.
    Full,
    /// The call was stopped while it waited.
    Stopped,
    /// Something else.
    Failed(io::Error),
}

/// The writing end of a job's input.
#[derive(Debug)]
pub(crate) struct JobInputEnd(File);

impl JobInputEnd {
    /// Opens the input of a job with this log; never waits.
    pub(crate) fn open(log: &Path) -> Result<Self, NotWritten> {
        let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC).bits().cast_signed();
        let file = File::options().write(true).custom_flags(flags).open(path_of(log)).map_err(of_error)?;
        let is_pipe = file.metadata().map_err(NotWritten::Failed)?.file_type().is_fifo();
        if is_pipe { Ok(Self(file)) } else { Err(NotWritten::NoInput) }
    }

    /// Writes the beginning of these bytes; returns how many.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<usize, NotWritten> {
        let piece = &bytes[..bytes.len().min(FRAME - LENGTH)];
        if !piece.is_empty() {
            self.frame(piece)?;
        }
        Ok(piece.len())
    }

    /// Closes the input of the job, after what was written.
    pub(crate) fn close(&mut self) -> Result<(), NotWritten> {
        self.frame(&[])
    }

    fn frame(&mut self, piece: &[u8]) -> Result<(), NotWritten> {
        let length = u16::try_from(piece.len()).expect("BUG: a frame is short").to_le_bytes();
        let frame = [&length, piece].concat();
        self.0.write_all(&frame).map_err(of_error)
    }
}

fn of_error(error: io::Error) -> NotWritten {
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT) => NotWritten::NoInput,
        Some(Errno::NXIO | Errno::PIPE) => NotWritten::Closed,
        Some(Errno::AGAIN) => NotWritten::Full,
        _ => NotWritten::Failed(error),
    }
}

/// Forwards frames to a command until one closes its input, or the command reads no more.
pub(crate) fn forward(mut frames: impl io::Read, mut to: impl io::Write) {
    let mut piece = [0; FRAME];
    let mut length = [0; LENGTH];
    while frames.read_exact(&mut length).is_ok() {
        let piece = &mut piece[..usize::from(u16::from_le_bytes(length)).min(FRAME)];
        if piece.is_empty() || frames.read_exact(piece).is_err() || to.write_all(piece).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    /// What a command gets of these bytes.
    fn forwarded(frames: &[u8]) -> Vec<u8> {
        let mut got = Vec::new();
        forward(frames, &mut got);
        got
    }

    #[test]
    fn a_job_gets_what_is_written_until_its_input_is_closed() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("a.log");
        assert!(matches!(JobInputEnd::open(&log), Err(NotWritten::NoInput)));
        let mut reader = File::from(create(&log).expect("a pipe"));
        let mut end = JobInputEnd::open(&log).expect("it is open");
        let long = vec![b'x'; 10_000];
        let mut written = 0;
        while written < long.len() {
            written += end.write(&long[written..]).expect("there is room");
        }
        end.close().expect("there is room");
        end.write(b"lost").expect("there is room");
        let mut frames = vec![0; long.len() + 4 * LENGTH];
        reader.read_exact(&mut frames).expect("all of it");
        assert_eq!(forwarded(&frames), long);
        while end.write(&long).is_ok() {}
        assert!(matches!(end.write(b"more"), Err(NotWritten::Full)));
        drop(reader);
        assert!(matches!(end.write(b"more"), Err(NotWritten::Closed)));
        assert!(matches!(JobInputEnd::open(&log), Err(NotWritten::Closed)));
        // A file in its place is no input, and stays as it is.
        std::fs::remove_file(path_of(&log)).expect("removed");
        std::fs::write(path_of(&log), "kept").expect("written");
        assert!(matches!(JobInputEnd::open(&log), Err(NotWritten::NoInput)));
        assert_eq!(std::fs::read_to_string(path_of(&log)).expect("there"), "kept");
    }

    #[test]
    fn a_broken_frame_ends_the_input() {
        for frames in [&[][..], &[3], &[3, 0, b'a'], &[0, 0, 1, 0, b'a'], &[255, 255, b'a']] {
            assert!(forwarded(frames).is_empty(), "{frames:?}");
        }
    }
}
