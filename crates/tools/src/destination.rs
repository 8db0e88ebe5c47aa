//! Writes a file that a person named: an export, the settings, the file of servers.
//!
//! A regular file is replaced as a whole or not at all, and keeps its mode, its owner and its hard links; a link to it stays a
//! link. Other files (a pipe, a terminal) get the bytes at once, and must never be replaced.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Seek as _, Write};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

/// The mode of a new private file.
pub const PRIVATE: u32 = 0o600;

/// The mode of a new file that others may read, if the user's umask permits it.
pub const SHARED: u32 = 0o666;

/// The most links that are followed in a row.
const MOST_LINKS: usize = 40;

/// A file that is being written. If it is dropped before [`Destination::finish`], a regular file is unchanged.
#[must_use = "nothing is written until it is finished"]
#[derive(Debug)]
pub struct Destination(Kind);

#[derive(Debug)]
enum Kind {
    /// Gets bytes at once.
    Stream(File),
    /// A new file that takes the name when it is complete.
    Beside { file: File, unfinished: PathBuf, to: PathBuf },
    /// The file itself, if it cannot be replaced: it is written when all bytes are there.
    InPlace { file: File, bytes: Vec<u8> },
}

impl Destination {
    /// Begins to write the file with this name. If there is none, it is created with `new_mode` at the end. Opening a pipe
    /// waits for its reader.
    pub fn open(path: &Path, new_mode: u32) -> io::Result<Self> {
        match fs::metadata(path) {
            Ok(there) if there.is_file() => Self::over(path, &there),
            Ok(there) if there.is_dir() => Err(ErrorKind::IsADirectory.into()),
            Ok(_) => Ok(Self(Kind::Stream(OpenOptions::new().write(true).open(path)?))),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let to = behind_links(path)?;
                let (file, unfinished) = beside(&to, new_mode)?;
                Ok(Self(Kind::Beside { file, unfinished, to }))
            }
            Err(error) => Err(error),
        }
    }

    /// Begins to replace an existing file.
    fn over(path: &Path, there: &Metadata) -> io::Result<Self> {
        // Its folder may permit replacing a read-only file, but the file's own protection counts.
        drop(OpenOptions::new().write(true).open(path)?);
        let in_place = || {
            let file = OpenOptions::new().write(true).open(path)?;
            Ok(Self(Kind::InPlace { file, bytes: Vec::new() }))
        };
        let to = fs::canonicalize(path)?;
        let same = fs::symlink_metadata(&to).is_ok_and(|found| same_file(&found, there));
        // A hard link would keep the old content.
        if !same || there.nlink() > 1 {
            return in_place();
        }
        let (file, unfinished) = match beside(&to, PRIVATE) {
            Ok(new) => new,
            // The folder permits no new file, but the file's content can be replaced.
            Err(error)
                if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) =>
            {
                return in_place();
            }
            Err(error) => return Err(error),
        };
        if keep_owner_and_mode(&file, there).is_err() {
            // The incomplete file is useless; a leftover is the smaller problem.
            drop(fs::remove_file(&unfinished));
            return in_place();
        }
        Ok(Self(Kind::Beside { file, unfinished, to }))
    }

    /// Completes the file: a regular file has its new content, durably.
    pub fn finish(mut self) -> io::Result<()> {
        match &mut self.0 {
            Kind::Stream(file) => file.flush(),
            Kind::InPlace { file, bytes } => {
                file.rewind()?;
                file.write_all(bytes)?;
                file.set_len(bytes.len() as u64)?;
                file.sync_all()
            }
            Kind::Beside { file, unfinished, to } => {
                file.sync_all()?;
                if fs::symlink_metadata(&*to).is_ok_and(|there| !there.is_file()) {
                    return Err(io::Error::new(ErrorKind::AlreadyExists, "something else has its name now"));
                }
                fs::rename(&*unfinished, &*to)?;
                // If a folder cannot be synced, the file is there anyway.
                drop(to.parent().and_then(|folder| File::open(folder).ok()).map(|folder| folder.sync_all()));
                Ok(())
            }
        }
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Kind::Stream(file) | Kind::Beside { file, .. } => file.write(bytes),
            Kind::InPlace { bytes: all, .. } => all.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Destination {
    fn drop(&mut self) {
        if let Kind::Beside { unfinished, .. } = &self.0 {
            // It has its name by then, or is useless.
            drop(fs::remove_file(unfinished));
        }
    }
}

/// Writes a whole file.
pub fn write(path: &Path, bytes: &[u8], new_mode: u32) -> io::Result<()> {
    let mut to = Destination::open(path, new_mode)?;
    to.write_all(bytes)?;
    to.finish()
}

fn same_file(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// The target of links, existing or not.
pub fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(to) => path = path.parent().unwrap_or(Path::new("")).join(to),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidInput) => {
                return Ok(path);
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("too many links"))
}

/// A new file in the same folder, with an unused name.
fn beside(to: &Path, mode: u32) -> io::Result<(File, PathBuf)> {
    let folder = to.parent().unwrap_or(Path::new(""));
    for number in 0_u32.. {
        let name = folder.join(format!(".retake-{}-{number}.new", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).mode(mode).open(&name) {
            Ok(file) => return Ok((file, name)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// Keeps its owner and permissions; others never get more access than before.
fn keep_owner_and_mode(file: &File, there: &Metadata) -> io::Result<()> {
    let new = file.metadata()?;
    if (new.uid(), new.gid()) != (there.uid(), there.gid()) {
        fchown(file, Some(there.uid()), Some(there.gid()))?;
    }
    file.set_permissions(Permissions::from_mode(there.mode() & 0o7777))
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::os::unix::fs::symlink;
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;

    use retake_testkit::again;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("there").mode() & 0o7777
    }

    fn read(path: &Path) -> String {
        fs::read_to_string(path).expect("readable")
    }

    #[test]
    fn trial_16_a_regular_file_keeps_its_mode_and_its_names() {
        let dir = tempfile::tempdir().expect("a folder");
        let [file, link, name] = ["file", "link", "name"].map(|name| dir.path().join(name));
        fs::write(&file, "a longer text").expect("written");
        fs::set_permissions(&file, Permissions::from_mode(0o640)).expect("set");
        symlink("file", &link).expect("linked");
        write(&link, b"short", PRIVATE).expect("written");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!((read(&file).as_str(), mode(&file)), ("short", 0o640));
        fs::hard_link(&file, &name).expect("linked");
        write(&name, b"new", PRIVATE).expect("written");
        assert_eq!((read(&file).as_str(), mode(&file)), ("new", 0o640));
        assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 3, "nothing else is left");
    }

    #[test]
    fn trial_16_a_dangling_link_leads_to_the_new_file() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir(dir.path().join("below")).expect("made");
        let (link, next) = (dir.path().join("link"), dir.path().join("below/next"));
        symlink("below/next", &link).expect("linked");
        symlink("file", &next).expect("linked");
        write(&link, b"new", PRIVATE).expect("written");
        let file = dir.path().join("below/file");
        assert_eq!((read(&file).as_str(), mode(&file)), ("new", PRIVATE));
        assert!([link, next].iter().all(|link| fs::symlink_metadata(link).expect("there").is_symlink()));
        symlink("round", dir.path().join("round")).expect("linked");
        write(&dir.path().join("round"), b"", PRIVATE).expect_err("it leads nowhere");
    }

    #[test]
    fn trial_16_a_pipe_takes_the_bytes_and_stays_a_pipe() {
        let dir = tempfile::tempdir().expect("a folder");
        let [pipe, link] = ["pipe", "link"].map(|name| dir.path().join(name));
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("it runs").success());
        symlink("pipe", &link).expect("linked");
        for name in [&pipe, &link] {
            // It is being read already, so this does not block.
            let nonblock = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
            let reader = OpenOptions::new().read(true).custom_flags(nonblock).open(&pipe);
            write(name, b"through", PRIVATE).expect("written");
            // Not to its end: another test may be starting a program, which has the pipe open for a moment.
            let mut bytes = [0; 7];
            reader.expect("opened").read_exact(&mut bytes).expect("read");
            assert_eq!(&bytes, b"through");
            assert!(!fs::metadata(&pipe).expect("there").is_file());
        }
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 2, "nothing else is left");
    }

    /// Its folder would permit replacing it: but a read-only file stays unchanged.
    #[test]
    fn trial_16_a_read_only_file_is_refused() {
        const NOBODY: u32 = 65_534;
        if rustix::process::geteuid().is_root() {
            // Root may write it.
            let folder = tempfile::tempdir().expect("a folder");
            fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).expect("open");
            let copy = again::for_everybody(&again::this_program(), folder.path());
            let mut command = Command::new(copy);
            command.uid(NOBODY).gid(NOBODY);
            return again::again(command, "destination::tests::trial_16_a_read_only_file_is_refused");
        }
        let dir = tempfile::tempdir().expect("a folder");
        let [file, link] = ["file", "link"].map(|name| dir.path().join(name));
        fs::write(&file, "old").expect("written");
        fs::set_permissions(&file, Permissions::from_mode(0o444)).expect("set");
        symlink("file", &link).expect("linked");
        for name in [&file, &link] {
            let refused = write(name, b"new", PRIVATE).map_err(|error| error.kind());
            assert_eq!(refused, Err(ErrorKind::PermissionDenied));
        }
        assert_eq!((read(&file).as_str(), mode(&file)), ("old", 0o444));
        assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 2, "nothing else is left");
    }

    #[test]
    fn trial_16_an_unfinished_write_changes_nothing() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("file");
        fs::write(&file, "old").expect("written");
        let mut to = Destination::open(&file, PRIVATE).expect("opened");
        to.write_all(b"half").expect("written");
        drop(to);
        assert_eq!(read(&file), "old");
        // A name that is no file by the end is not replaced either.
        let other = dir.path().join("other");
        let to = Destination::open(&other, PRIVATE).expect("opened");
        fs::create_dir(&other).expect("made");
        to.finish().expect_err("a folder has its name");
        let pipe = dir.path().join("pipe");
        let to = Destination::open(&pipe, PRIVATE).expect("opened");
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("it runs").success());
        to.finish().expect_err("a pipe has its name");
        assert!(!fs::metadata(&pipe).expect("there").is_file());
        assert_eq!(write(&other, b"", PRIVATE).map_err(|error| error.kind()), Err(ErrorKind::IsADirectory));
        assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 3, "nothing else is left");
    }
}
