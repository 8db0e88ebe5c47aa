//! Reverts hooks and settings of git: builds the command for the person, and runs it. Must never follow a link: a command of the
//! agent may have created one on the path since.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use retake_core::{PutBack, shell_word};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags};

/// Removes a new file; or restores a file's content from a kept file, and its mode.
pub(super) fn back(path: &Path, kept: Option<(&Path, u32)>) -> PutBack {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    PutBack { path: text(path), kept: kept.map(|(kept, mode)| (text(kept), mode)) }
}

/// The shell command that does this.
pub(super) fn command(back: &PutBack) -> String {
    let path = quoted(&back.path);
    match &back.kept {
        None => format!("retake files put-back --remove {path}"),
        Some((kept, mode)) => {
            format!("retake files put-back {path} --from {} --mode {mode:o}", quoted(kept))
        }
    }
}

/// Stores bytes in a folder, in a file that only its owner can read.
pub(super) fn keep(bytes: &[u8], spool: &Path, name: &str) -> Option<PathBuf> {
    let kept = spool.join(format!("{name}.txt"));
    let write = || {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(spool)?;
        let mut options = File::options();
        options.write(true).create(true).truncate(true).mode(0o600);
        options.open(&kept)?.write_all(bytes)
    };
    write().ok().map(|()| kept)
}

/// Restores a file from a stored copy, with these permission bits. Without a copy, removes a file, or a folder with all its
/// content.
///
/// # Errors
///
/// Those of the system; `ELOOP` if a folder on the way is a link.
pub fn put_back(path: &Path, kept: Option<(&Path, u32)>) -> io::Result<()> {
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let above: OwnedFd = rustix::fs::openat2(CWD, above, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
    let Some((kept, mode)) = kept else {
        let there = rustix::fs::statat(&above, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(there.st_mode).is_dir() {
            let above = PathBuf::from(format!("/proc/self/fd/{}", above.as_raw_fd()));
            return fs::remove_dir_all(above.join(name));
        }
        return Ok(rustix::fs::unlinkat(&above, name, AtFlags::empty())?);
    };
    let mut bytes = Vec::new();
    File::open(kept)?.read_to_end(&mut bytes)?;
    let draft = format!(".retake-{}", std::process::id());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::openat(&above, &draft, flags, Mode::RUSR | Mode::WUSR)?);
    let written = file.write_all(&bytes).and_then(|()| {
        rustix::fs::fchmod(&file, Mode::from_raw_mode(mode & 0o777))?;
        file.sync_all()?;
        Ok(rustix::fs::renameat(&above, &draft, &above, name)?)
    });
    if written.is_err() {
        // The failure is reported; the draft is useless.
        let _ = rustix::fs::unlinkat(&above, &draft, AtFlags::empty());
    }
    written
}

/// A path quoted for a shell, in one line: a name may have line ends.
fn quoted(path: &str) -> String {
    if !path.contains(char::is_control) {
        return shell_word(path);
    }
    let escaped = |c: char| match c {
        '\'' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    };
    format!("$'{}'", path.chars().map(escaped).collect::<String>())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn trial_27_a_name_that_is_reported_stays_in_its_line() {
        assert_eq!(quoted("/a b/it's"), r"'/a b/it'\''s'");
        assert_eq!(quoted("/a\nb\\'c\u{1b}"), r"$'/a\u000ab\\\'c\u001b'");
    }

    #[test]
    fn trial_27_nothing_is_put_back_through_a_link_that_came_since() {
        let dir = tempfile::tempdir().expect("a folder");
        let top = dir.path().canonicalize().expect("there");
        let (bin, hooks, kept) = (top.join("bin"), top.join(".git/hooks"), top.join("kept.txt"));
        fs::create_dir(&bin).expect("made");
        fs::create_dir(top.join(".git")).expect("made");
        fs::write(bin.join("ls"), "mine").expect("written");
        fs::write(&kept, "hook").expect("written");
        symlink(&bin, &hooks).expect("linked");
        for from in [None, Some((&*kept, 0o755))] {
            let refused = put_back(&hooks.join("ls"), from).expect_err("a folder on the way is a link");
            assert_eq!(refused.raw_os_error(), Some(rustix::io::Errno::LOOP.raw_os_error()));
        }
        assert_eq!(fs::read(bin.join("ls")).expect("there"), b"mine");
        fs::remove_file(&hooks).expect("removed");
        fs::create_dir(&hooks).expect("made");
        symlink(bin.join("ls"), hooks.join("ls")).expect("linked");
        put_back(&hooks.join("ls"), Some((&kept, 0o755))).expect("the link itself is replaced");
        let is = |path: &Path| path.symlink_metadata().expect("there").is_file();
        assert!(is(&hooks.join("ls")) && fs::read(bin.join("ls")).expect("there") == b"mine");
        put_back(&hooks.join("ls"), None).expect("removed");
        assert!(!hooks.join("ls").exists());
        symlink(&bin, top.join(".git/rebase-merge")).expect("linked");
        put_back(&top.join(".git/rebase-merge"), None).expect("the link itself is removed");
        assert!(bin.join("ls").exists());
    }
}
