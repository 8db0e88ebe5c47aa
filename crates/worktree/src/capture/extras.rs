//! Always-covered paths inside of uncovered folders: each is captured by itself. Also a single path on request, for
//! edit tools and for the check after an apply.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::os::fd::AsFd;
use std::sync::Arc;

use retake_core::{ContentHash, FilePath, UncoveredReason};
use rustix::fs::{self, FileType};
use rustix::io::Errno;

use super::below::{self, Signature};
use super::index::{self, Folder, Index, KnownPath, NameState, Place, child};
use super::read::{self, Reading, Request};
use super::settle::Comparison;
use super::sweep::Context;
use crate::attributes::Attributes;
use crate::error::Result;
use crate::root::Root;

/// The current state of one path.
#[derive(Debug)]
pub(crate) enum PathState {
    /// A file or a link, or why it has no record.
    Is(NameState),
    /// A folder without its content.
    Folder(Folder),
    Absent,
}

/// Captures one path. A file whose stamp shows that it equals `old` is not read.
pub(crate) fn look(
    root: &Root,
    path: &FilePath,
    limit: u64,
    old: Option<&NameState>,
    keep: &dyn Fn(&[u8]) -> Result<ContentHash>,
) -> Result<PathState> {
    let seen = |errno| -> Result<PathState> {
        Ok(Reading::from(read::refused(errno, path.as_bytes())?)
            .what()
            .map_or(PathState::Absent, PathState::Is))
    };
    let folder = match root.listed(path.parent().as_ref()) {
        Ok(folder) => folder,
        // Its parent is no folder, so it does not exist.
        Err(Errno::NOTDIR | Errno::LOOP) => return Ok(PathState::Absent),
        Err(errno) => return seen(errno),
    };
    let name = CString::new(path.name()).expect("BUG: a path holds no zero byte");
    let stat = match below::stat(folder.as_fd(), &name) {
        Ok(stat) => stat,
        Err(errno) => return seen(errno),
    };
    let signature = Signature::of(&stat);
    match below::kind(&stat) {
        FileType::RegularFile if signature.size > limit => {
            Ok(PathState::Is(NameState::Uncovered(UncoveredReason::TooLarge)))
        }
        FileType::RegularFile => {
            let known = match old.and_then(NameState::known) {
                Some(NameState::File(file))
                    if file.signature == signature && !index::is_warm(signature.ctime, file.read_at) =>
                {
                    return Ok(PathState::Is(NameState::File(file.clone())));
                }
                Some(NameState::File(file)) => file.put(),
                _ => None,
            };
            let request = Request { folder: folder.as_fd(), name: path.name(), signature, known, limit };
            let reading = read::read(request, &mut Vec::new(), keep)?;
            Ok(reading.what().map_or(PathState::Absent, PathState::Is))
        }
        FileType::Symlink => {
            let what = read::link(folder.as_fd(), path.name(), signature)?;
            Ok(what.map_or(PathState::Absent, PathState::Is))
        }
        FileType::Directory => match root.listed(Some(path)).and_then(|fd| Ok((fs::fstat(&fd)?, fd))) {
            Ok((stat, fd)) => Ok(folder_of(&Signature::of(&stat), Attributes::of(&fd, &stat))),
            // A folder without read permission still has its mode.
            Err(Errno::ACCESS) => Ok(folder_of(&signature, None)),
            Err(errno) => seen(errno),
        },
        _ => Ok(PathState::Is(NameState::Uncovered(UncoveredReason::Special))),
    }
}

fn folder_of(signature: &Signature, attributes: Option<Arc<Attributes>>) -> PathState {
    let (mode, inode) = (signature.mode & 0o777, signature.inode);
    PathState::Folder(Folder { mode, inode, attributes, entries: Vec::new() })
}

/// Captures the always-covered paths outside of covered folders, for the next index.
pub(crate) fn look_at_all(
    context: &Context<'_>,
    settling: &mut Comparison<'_>,
    keep: &dyn Fn(&[u8]) -> Result<ContentHash>,
) -> Result<BTreeMap<FilePath, Option<NameState>>> {
    let mut extras = BTreeMap::new();
    let old = context.index;
    for path in &context.rules.always {
        let inside = match nearest(settling, path) {
            // It is in a covered folder now, where it was captured.
            Nearest::Inside(what) => Some(what),
            Nearest::Never => continue,
            Nearest::Outside => None,
        };
        let before = old.extras.get(path);
        if let Some(now) = inside {
            if let Some(before) = before {
                settling.extra(path, before, &now);
            }
            continue;
        }
        let known = before.and_then(Option::as_ref);
        let now = match look(context.root, path, context.rules.max_file, known, keep)? {
            PathState::Absent => None,
            PathState::Folder(..) => Some(NameState::Uncovered(UncoveredReason::Ignored)),
            PathState::Is(NameState::Unknown(why, _)) => {
                Some(NameState::Unknown(why, known.and_then(NameState::known).cloned().map(Box::new)))
            }
            PathState::Is(what) => Some(what),
        };
        // If neither it nor its folder existed, it was known to be absent.
        let was_absent =
            before.is_none() && old.always.contains(path) && old.known(path) == KnownPath::Absent;
        match before {
            // The first capture, or the sweep has reported it when it found the folder leaving.
            _ if old.folders.is_empty() => {}
            None if old.covers(&path.parent()) => {}
            Some(before) => settling.extra(path, before, &now),
            None if was_absent => settling.extra(path, &None, &now),
            None if now.as_ref().and_then(NameState::record).is_some() => settling.gained(path),
            None => {}
        }
        extras.insert(path.clone(), now);
    }
    Ok(extras)
}

enum Nearest {
    /// In a covered folder, with this state.
    Inside(Option<NameState>),
    /// In an uncovered folder.
    Outside,
    /// In a folder that is never covered.
    Never,
}

/// How the folders above a path are covered in the next index.
fn nearest(settling: &Comparison<'_>, path: &FilePath) -> Nearest {
    let mut place: Place = None;
    for name in path.components() {
        let Some(folder) = settling.folders().get(&place) else {
            return Nearest::Outside;
        };
        let here = child(place.as_ref(), name);
        match folder.find(name) {
            what if here.as_ref() == Some(path) => return Nearest::Inside(what.cloned()),
            Some(NameState::Folder) => place = here,
            Some(NameState::Uncovered(UncoveredReason::Repository | UncoveredReason::DataFolder)) => {
                return Nearest::Never;
            }
            Some(NameState::Uncovered(_) | NameState::Unknown(..)) => return Nearest::Outside,
            // A parent is no folder: the path does not exist.
            Some(NameState::File(_) | NameState::Link(_)) | None => return Nearest::Inside(None),
        }
    }
    Nearest::Outside
}

/// Whether an index covers the folder of a path.
pub(crate) fn is_inside(index: &Index, path: &FilePath) -> bool {
    index.covers(&path.parent())
}
