//! The least that any program has to do: reading a tree's metadata, copying it, syncing it; and its size on the
//! disk.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};

/// Lists all folders and reads the metadata of every name, on one thread; counts the names.
pub(crate) fn stat_sweep(root: &Path) -> io::Result<u64> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut names = 0;
    let mut waiting: Vec<OwnedFd> = vec![rustix::fs::openat(CWD, root, flags, Mode::empty())?];
    while let Some(folder) = waiting.pop() {
        for entry in Dir::read_from(&folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            names += 1;
            let stat = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
            if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
                waiting.push(rustix::fs::openat(folder.as_fd(), name, flags, Mode::empty())?);
            }
        }
    }
    Ok(names)
}

/// Copies folders, files and links, but no git folder and no other kind.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, path, target) = (entry.file_type()?, entry.path(), to.join(entry.file_name()));
        if entry.file_name().eq_ignore_ascii_case(".git") {
            continue;
        }
        if kind.is_dir() {
            copy(&path, &target)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(path)?, target)?;
        } else if kind.is_file() {
            fs::copy(path, target)?;
        }
    }
    Ok(())
}

/// Makes everything on the disk of this folder durable.
pub(crate) fn sync(folder: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(folder)?)?)
}

/// The files below a folder, by their relative paths, sorted.
pub(crate) fn files(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut waiting = vec![PathBuf::new()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            match entry.file_type()? {
                kind if kind.is_dir() => waiting.push(path),
                kind if kind.is_file() => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The disk usage of a folder, as `du` counts it.
pub(crate) fn usage(path: &Path) -> io::Result<u64> {
    let meta = fs::symlink_metadata(path)?;
    let mut bytes = meta.blocks() * 512;
    if meta.is_dir() {
        for entry in fs::read_dir(path)? {
            bytes += usage(&entry?.path())?;
        }
    }
    Ok(bytes)
}
