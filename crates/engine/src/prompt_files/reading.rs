//! Reads the files of a place. Of a folder that may be a stranger's, no link leads out; the settings folder is the person's own, so
//! its links may. Must never wait for a pipe or a device.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::Read as _;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Dir, Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;

use super::FileDefect;

/// A folder, and where its links may lead.
pub(super) struct Wall {
    root: Result<OwnedFd, Errno>,
    links: ResolveFlags,
}

/// The names in a folder, in order.
pub(super) struct Entries {
    /// The names.
    pub(super) names: Vec<OsString>,
    /// Whether there are no more.
    pub(super) is_whole: bool,
}

/// A file that was read.
pub(super) struct ReadFile {
    /// Its text.
    pub(super) text: String,
    /// Its metadata.
    pub(super) about: Metadata,
    /// Its path without links.
    pub(super) leads: PathBuf,
}

impl Wall {
    /// A folder that links must not leave.
    pub(super) fn folder(root: &Path) -> Self {
        Self::new(root, ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS)
    }

    /// The person's own folder.
    pub(super) fn settings(root: &Path) -> Self {
        Self::new(root, ResolveFlags::NO_MAGICLINKS)
    }

    fn new(root: &Path, links: ResolveFlags) -> Self {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Self { root: openat(CWD, root, flags, Mode::empty()), links }
    }

    /// Opens a path; `Err(None)` if there is nothing.
    fn open(&self, path: &Path, flags: OFlags) -> Result<OwnedFd, Option<FileDefect>> {
        let root = self.root.as_ref().map_err(|errno| defect(*errno))?;
        openat2(root, path, flags | OFlags::CLOEXEC, Mode::empty(), self.links).map_err(defect)
    }

    /// The names in a folder, at most this number; `Err(None)` if there is no such folder.
    pub(super) fn entries(&self, path: &Path, most: usize) -> Result<Entries, Option<FileDefect>> {
        let folder = self.open(path, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let mut names = Vec::new();
        for entry in Dir::new(folder).map_err(defect)? {
            let name = entry.map_err(defect)?.file_name().to_bytes().to_vec();
            // Hidden files are backups and the notes of editors.
            if name.starts_with(b".") {
                continue;
            }
            if names.len() == most {
                return Ok(Entries { names: sorted(names), is_whole: false });
            }
            names.push(OsString::from_vec(name));
        }
        Ok(Entries { names: sorted(names), is_whole: true })
    }

    /// Whether a path is a folder within the wall.
    pub(super) fn is_folder(&self, path: &Path) -> bool {
        self.open(path, OFlags::PATH | OFlags::DIRECTORY).is_ok()
    }

    /// A file with at most this number of bytes; `None` if there is none.
    pub(super) fn read(&self, path: &Path, most: u64) -> Result<Option<ReadFile>, FileDefect> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = match self.open(path, flags) {
            Ok(file) => File::from(file),
            // A link that leads nowhere is there, and says why it is not used.
            Err(None) if self.open(path, OFlags::PATH | OFlags::NOFOLLOW).is_ok() => {
                return Err(FileDefect::Unreadable("it is a link that leads nowhere".to_owned()));
            }
            Err(None) => return Ok(None),
            Err(Some(why)) => return Err(why),
        };
        let unreadable = |error: std::io::Error| FileDefect::Unreadable(error.to_string());
        let about = file.metadata().map_err(unreadable)?;
        if !about.is_file() {
            return Err(FileDefect::NotRegular);
        }
        let leads = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).map_err(unreadable)?;
        let mut bytes = Vec::new();
        file.take(most + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 > most {
            return Err(FileDefect::TooLarge(most));
        }
        match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => Ok(Some(ReadFile { text, about, leads })),
            _ => Err(FileDefect::NotText),
        }
    }
}

fn sorted(mut names: Vec<OsString>) -> Vec<OsString> {
    names.sort();
    names
}

/// The defect of a path that cannot be opened; `None` if there is nothing.
fn defect(errno: Errno) -> Option<FileDefect> {
    match errno {
        Errno::NOENT | Errno::NOTDIR => None,
        Errno::XDEV | Errno::LOOP => Some(FileDefect::LeadsOut),
        Errno::NXIO | Errno::ISDIR => Some(FileDefect::NotRegular),
        errno => Some(FileDefect::Unreadable(errno.to_string())),
    }
}
