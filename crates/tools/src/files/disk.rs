//! Files on disk: opened without waiting, read with a limit, replaced as a whole. Written files are below the root's
//! opened folder, without following a link. Must never replace a file that nobody checked.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Access, AtFlags, FileType, Gid, Mode, OFlags, RenameFlags, Stat, Uid};
use rustix::io::Errno;

use super::place::{Place, PlaceInRoot};
use super::text;

/// The largest file that is read as a whole, to compare, edit or replace it.
pub(super) const MOST_WHOLE: u64 = 50_000_000;

const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Why a file cannot be opened.
#[derive(Debug)]
pub(super) enum OpenError {
    /// It does not exist.
    Missing,
    /// It is a folder.
    Folder,
    /// It is neither file nor folder; reading it might block for ever.
    Special(&'static str),
    /// The system's error.
    Failed(io::Error),
}

impl OpenError {
    /// The reason, as the end of a sentence.
    pub(super) fn why(&self) -> String {
        match self {
            Self::Missing => "nothing is there".to_owned(),
            Self::Folder => "it is a folder".to_owned(),
            Self::Special(what) => format!("it is {what}, not a file"),
            Self::Failed(error) => error.to_string(),
        }
    }
}

impl From<Errno> for OpenError {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::NOENT | Errno::NOTDIR => Self::Missing,
            Errno::ISDIR => Self::Folder,
            Errno::LOOP => Self::Special("a link that was just put there"),
            Errno::NXIO => Self::Special("a socket or a device"),
            errno => Self::Failed(errno.into()),
        }
    }
}

/// A file's version when it was read.
#[derive(Clone, Debug)]
pub(super) struct Version {
    /// Its content.
    pub(super) bytes: Vec<u8>,
    stat: Stat,
}

impl Version {
    /// Its digest.
    pub(super) fn digest(&self) -> String {
        digest(&self.bytes)
    }
}

/// The digest of a version.
pub(super) fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// Opens a regular file for reading; never waits for the other end of a pipe.
pub(super) fn open(path: &Path) -> Result<(File, u64), OpenError> {
    is_file(&rustix::fs::lstat(path)?)?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&file)?;
    is_file(&stat)?;
    Ok((file.into(), u64::try_from(stat.st_size).unwrap_or_default()))
}

fn is_file(stat: &Stat) -> Result<(), OpenError> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(OpenError::Folder),
        FileType::Fifo => Err(OpenError::Special("a pipe")),
        FileType::Socket => Err(OpenError::Special("a socket")),
        _ => Err(OpenError::Special("a device")),
    }
}

/// The whole file to replace, or `None` if it does not exist.
pub(super) fn whole(place: &Place) -> Result<Option<Version>, String> {
    let (file, size) = match open(&place.path) {
        Ok(opened) => opened,
        Err(OpenError::Missing) => return Ok(None),
        Err(closed) => return Err(closed.why()),
    };
    let too_large = || {
        let (size, most) = (text::size(size), text::size(MOST_WHOLE));
        format!("it is too large ({size}; at most {most} are edited): change it with a command")
    };
    if size > MOST_WHOLE {
        return Err(too_large());
    }
    let stat = rustix::fs::fstat(&file).map_err(|errno| errno.to_string())?;
    let mut bytes = Vec::new();
    file.take(MOST_WHOLE + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MOST_WHOLE {
        return Err(too_large());
    }
    Ok(Some(Version { bytes, stat }))
}

/// A file whose new content is on disk beside it, and is moved into place by `land`; otherwise it is removed.
pub(super) struct Staged {
    spot: OpenedParent,
    temp: Option<OsString>,
}

/// The place of a file: its opened folder and its name in it.
struct OpenedParent {
    folder: OwnedFd,
    name: OsString,
    was: Option<Stat>,
    /// Parent folders that were created, outermost first.
    made: Vec<(OwnedFd, OsString)>,
}

impl Staged {
    /// Writes the content beside the place, and creates parent folders. `replaced` is the current version; `like` is the
    /// file whose owner it keeps, and whose mode ignores the umask.
    pub(super) fn stage(
        place: &Place,
        replaced: Option<&Version>,
        like: Option<&Version>,
        mode: Mode,
        bytes: &[u8],
    ) -> Result<Self, String> {
        let spot = OpenedParent::open(place, replaced)?;
        let failed = |errno: Errno| io::Error::from(errno).to_string();
        let (temp, file) = spot.temporary(if like.is_some() { Mode::RUSR | Mode::WUSR } else { mode });
        let staged = Self { spot, temp: Some(temp) };
        let mut file = File::from(file.map_err(failed)?);
        file.write_all(bytes).map_err(|error| error.to_string())?;
        if let Some(like) = like {
            keep(&file, &like.stat, mode).map_err(failed)?;
        }
        file.sync_data().map_err(|error| error.to_string())?;
        Ok(staged)
    }

    /// Moves the content into place, if the version there is unchanged.
    pub(super) fn land(mut self) -> Result<(), String> {
        self.spot.check()?;
        let Some(temp) = self.temp.as_ref() else { return Ok(()) };
        let (folder, name) = (&self.spot.folder, &self.spot.name);
        let landed = match self.spot.was {
            Some(_) => rustix::fs::renameat(folder, temp, folder, name),
            None => match rustix::fs::renameat_with(folder, temp, folder, name, RenameFlags::NOREPLACE) {
                // The file system does not support it; the version was checked just before.
                Err(Errno::INVAL | Errno::NOSYS) => rustix::fs::renameat(folder, temp, folder, name),
                landed => landed,
            },
        };
        landed.map_err(|errno| match errno {
            Errno::EXIST => MEANWHILE.to_owned(),
            errno => io::Error::from(errno).to_string(),
        })?;
        self.temp = None;
        Ok(())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        let Some(temp) = self.temp.take() else { return };
        // Best effort: the first error is reported.
        let _ = rustix::fs::unlinkat(&self.spot.folder, temp, AtFlags::empty());
        for (folder, name) in self.spot.made.drain(..).rev() {
            let _ = rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR);
        }
    }
}

/// Removes a file, if it is unchanged.
pub(super) fn remove(place: &Place, was: &Version) -> Result<(), String> {
    let spot = OpenedParent::open(place, Some(was))?;
    spot.check()?;
    rustix::fs::unlinkat(&spot.folder, &spot.name, AtFlags::empty())
        .map_err(|errno| io::Error::from(errno).to_string())
}

const MEANWHILE: &str = "somebody else changed it at this moment: read it again";

impl OpenedParent {
    fn open(place: &Place, was: Option<&Version>) -> Result<Self, String> {
        let inside = place.inside.as_ref().ok_or("it is outside of the conversation's folders")?;
        let name = inside.below.file_name().ok_or("it is the conversation's folder itself")?.to_owned();
        if was.is_some_and(|was| !Mode::from_raw_mode(was.stat.st_mode).intersects(WRITABLE)) {
            return Err("it may not be written: its mode is read-only".to_owned());
        }
        let mut made = Vec::new();
        let folder = open_folder(inside, &mut made).map_err(|errno| match errno {
            Errno::NOTDIR | Errno::LOOP => "a part of its path is not a folder".to_owned(),
            errno => io::Error::from(errno).to_string(),
        })?;
        if was.is_some() {
            // Replacing a read-only file would be possible without this check.
            rustix::fs::accessat(&folder, &name, Access::WRITE_OK, AtFlags::EACCESS)
                .map_err(|errno| io::Error::from(errno).to_string())?;
        }
        Ok(Self { folder, name, was: was.map(|was| was.stat), made })
    }

    /// Checks that the version there is unchanged, or that it still does not exist.
    fn check(&self) -> Result<(), String> {
        let now = rustix::fs::statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW);
        let same = match (now, &self.was) {
            (Ok(now), Some(was)) => stamp(&now) == stamp(was),
            (Err(Errno::NOENT), None) => true,
            (Err(errno), _) if errno != Errno::NOENT => return Err(io::Error::from(errno).to_string()),
            _ => false,
        };
        if same { Ok(()) } else { Err(MEANWHILE.to_owned()) }
    }

    fn temporary(&self, mode: Mode) -> (OsString, Result<OwnedFd, Errno>) {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut number = 0;
        loop {
            let name = OsString::from(format!(".retake-{}-{number}.tmp", std::process::id()));
            match rustix::fs::openat(&self.folder, &name, flags, mode) {
                Err(Errno::EXIST) if number < 1_000 => number += 1,
                opened => return (name, opened),
            }
        }
    }
}

const WRITABLE: Mode = Mode::WUSR.union(Mode::WGRP).union(Mode::WOTH);

/// The parent folder of a path; missing folders are created.
fn open_folder(inside: &PlaceInRoot, made: &mut Vec<(OwnedFd, OsString)>) -> Result<OwnedFd, Errno> {
    let mut folder = rustix::fs::open(&inside.root, FOLDER, Mode::empty())?;
    let way = inside.below.parent().map(Path::iter).into_iter().flatten();
    for part in way {
        let next = match rustix::fs::openat(&folder, part, FOLDER, Mode::empty()) {
            Err(Errno::NOENT) => make_folder(&folder, part, made)?,
            next => next?,
        };
        folder = next;
    }
    Ok(folder)
}

fn make_folder(
    folder: &OwnedFd,
    name: &OsStr,
    made: &mut Vec<(OwnedFd, OsString)>,
) -> Result<OwnedFd, Errno> {
    let parent = rustix::io::fcntl_dupfd_cloexec(folder, 0)?;
    match rustix::fs::mkdirat(folder, name, Mode::RWXU | Mode::RWXG | Mode::RWXO) {
        Ok(()) => made.push((parent, name.to_owned())),
        // Somebody else created it first.
        Err(Errno::EXIST) => {}
        Err(errno) => return Err(errno),
    }
    rustix::fs::openat(folder, name, FOLDER, Mode::empty())
}

/// Gives a file the owner and the mode of the one that it replaces, as far as this process may. Setuid and setgid bits are
/// dropped, as after any write.
fn keep(file: &File, was: &Stat, mode: Mode) -> Result<(), Errno> {
    let now = rustix::fs::fstat(file)?;
    let same = now.st_uid == was.st_uid && now.st_gid == was.st_gid;
    if !same {
        // If that is not permitted, it belongs to this process's user.
        let _ = rustix::fs::fchown(file, Some(Uid::from_raw(was.st_uid)), Some(Gid::from_raw(was.st_gid)));
    }
    rustix::fs::fchmod(file, mode - Mode::SUID - Mode::SGID)
}

/// The mode bits of a version.
pub(super) fn mode(version: &Version) -> Mode {
    Mode::from_raw_mode(version.stat.st_mode)
}

/// A stamp that distinguishes versions of a file without reading it.
fn stamp(stat: &Stat) -> [i128; 7] {
    [
        stat.st_dev.into(),
        stat.st_ino.into(),
        stat.st_size.into(),
        stat.st_mtime.into(),
        stat.st_mtime_nsec.into(),
        stat.st_ctime.into(),
        stat.st_ctime_nsec.into(),
    ]
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{MEANWHILE, Mode, Staged, remove, whole};
    use crate::files::place::{PathBase, Place};

    fn place(root: &Path, name: &str) -> Place {
        PathBase::new(root, &[root.to_owned()]).place_to_write(name).unwrap()
    }

    fn names(root: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(root).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_that_changes_at_the_last_moment_is_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let (root, file) = (dir.path(), dir.path().join("a"));
        std::fs::write(&file, "old").unwrap();
        let place = place(root, "a");
        let was = whole(&place).unwrap().unwrap();
        let stage = || Staged::stage(&place, Some(&was), Some(&was), Mode::RUSR, b"new").unwrap();
        let staged = stage();
        std::fs::write(&file, "theirs").unwrap();
        assert_eq!(staged.land().unwrap_err(), MEANWHILE);
        assert_eq!(remove(&place, &was).unwrap_err(), MEANWHILE);
        std::fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink("elsewhere", &file).unwrap();
        assert!(Staged::stage(&place, Some(&was), Some(&was), Mode::RUSR, b"new").is_err());
        assert_eq!(names(root), ["a"]);
    }

    #[test]
    fn a_file_that_is_created_at_the_last_moment_is_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let place = place(dir.path(), "folder/a");
        let stage = || Staged::stage(&place, None, None, Mode::RUSR | Mode::WUSR, b"new").unwrap();
        drop(stage());
        assert!(names(dir.path()).is_empty());
        let staged = stage();
        std::fs::write(dir.path().join("folder/a"), "theirs").unwrap();
        assert_eq!(staged.land().unwrap_err(), MEANWHILE);
        assert_eq!(std::fs::read(dir.path().join("folder/a")).unwrap(), b"theirs");
        assert_eq!(names(&dir.path().join("folder")), ["a"]);
    }

    #[test]
    fn a_folder_that_becomes_a_link_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (root, outside) = (dir.path().join("root"), dir.path().join("outside"));
        std::fs::create_dir_all(root.join("folder")).unwrap();
        std::fs::create_dir(&outside).unwrap();
        let place = place(&root, "folder/a");
        std::fs::remove_dir(root.join("folder")).unwrap();
        std::os::unix::fs::symlink(&outside, root.join("folder")).unwrap();
        assert!(Staged::stage(&place, None, None, Mode::RUSR, b"new").is_err());
        assert!(names(&outside).is_empty());
    }
}
