//! A walk through a folder: files that ignore rules leave, sorted by name, without following links. Git's own folder is never
//! entered.

use std::fs::{File, Metadata};
use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ignore::{DirEntry, WalkBuilder};

use super::ignores::IgnoreRules;
use super::place::{PathBase, Place};
use super::work::Stop;
use crate::call::{Call, Host};

/// The files of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WalkScope {
    /// Those that ignore rules leave.
    Kept,
    /// All of them.
    All,
}

impl WalkScope {
    pub(super) fn of(all: bool) -> Self {
        if all { Self::All } else { Self::Kept }
    }
}

/// Files that rules hide from a tool, in a folder that it may read.
#[derive(Clone)]
pub(super) struct HiddenPaths {
    host: Arc<dyn Host>,
    tools: &'static [&'static str],
}

impl HiddenPaths {
    /// The files that are hidden from a call with the effect of these tools.
    pub(super) fn of(call: &Call, tools: &'static [&'static str]) -> Self {
        Self { host: Arc::clone(&call.host), tools }
    }

    /// Refuses a place with another target than before the call.
    pub(super) fn agreed(&self, place: &Place) -> Result<(), String> {
        if self.host.is_agreed(&place.path) { Ok(()) } else { Err(ELSEWHERE.to_owned()) }
    }

    /// Whether an opened file is hidden, in case it is another one than the path without links: a link may have come into the
    /// path.
    pub(super) fn covers_opened(&self, file: &File, real: &Path) -> bool {
        let opened = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()));
        opened.is_ok_and(|path| path != real && self.covers(&path))
    }

    /// Whether a file or folder is hidden.
    pub(super) fn covers(&self, path: &Path) -> bool {
        self.tools.iter().any(|tool| self.host.leaves_out(tool, path))
    }
}

/// Why a name is not followed that has another target than before the call.
pub(super) const ELSEWHERE: &str = "it now leads to another place; look again";

/// What a walk has left out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WalkOmissions {
    /// The number of unreadable files or folders.
    pub(super) unread: usize,
    /// The number that a rule hides.
    pub(super) left_out: usize,
    /// Whether it was stopped.
    pub(super) stopped: bool,
}

impl WalkOmissions {
    /// Notes for the model, as lines.
    pub(super) fn said(self) -> String {
        let mut said = String::new();
        if self.unread > 0 {
            said.push_str(&format!("[{} could not be read.]\n", entries(self.unread)));
        }
        if self.left_out > 0 {
            let left_out = entries(self.left_out);
            said.push_str(&format!("[{left_out} left out by a rule of the person.]\n"));
        }
        if self.stopped {
            said.push_str("[It was stopped before everything was looked at.]\n");
        }
        said
    }
}

fn entries(many: usize) -> String {
    if many == 1 { "1 file or folder".to_owned() } else { format!("{many} files or folders") }
}

/// Visits everything below a folder, up to this depth, until `visit` returns `false`.
pub(super) fn walk(
    base: &Path,
    which: WalkScope,
    veil: &HiddenPaths,
    depth: Option<usize>,
    stop: &Stop,
    mut visit: impl FnMut(&DirEntry) -> bool,
) -> WalkOmissions {
    let mut missed = WalkOmissions::default();
    let mut builder = WalkBuilder::new(base);
    // We read the rules ourselves: the library would wait for a pipe in place of an ignore file.
    builder.standard_filters(false).max_depth(depth);
    let rules = (which == WalkScope::Kept).then(IgnoreRules::default);
    let left_out = Arc::new(AtomicUsize::new(0));
    let (veil, counted) = (veil.clone(), Arc::clone(&left_out));
    builder.filter_entry(move |entry| {
        if entry.depth() == 0 {
            return true;
        }
        if entry.file_name() == ".git" || rules.as_ref().is_some_and(|rules| rules.leave_out_entry(entry)) {
            return false;
        }
        let is_covered = veil.covers(entry.path());
        counted.fetch_add(usize::from(is_covered), Ordering::Relaxed);
        !is_covered
    });
    builder.sort_by_file_name(Ord::cmp);
    for entry in builder.build() {
        if stop.is_set() {
            missed.stopped = true;
            break;
        }
        match entry {
            Ok(entry) if entry.depth() == 0 => {}
            Ok(entry) => {
                if !visit(&entry) {
                    break;
                }
            }
            Err(_) => missed.unread += 1,
        }
    }
    missed.left_out = left_out.load(Ordering::Relaxed);
    missed
}

/// The place where a walk begins, with its metadata.
pub(super) fn base(ground: &PathBase, name: Option<&str>) -> Result<(Place, Metadata), String> {
    let place = ground.place(name.unwrap_or_default())?;
    let found = std::fs::metadata(&place.path)
        .map_err(|error| format!("cannot look at `{}`: {error}", ground.shown(&place.named)))?;
    Ok((place, found))
}

/// The same for a folder only.
pub(super) fn folder(ground: &PathBase, name: Option<&str>) -> Result<Place, String> {
    let (place, found) = base(ground, name)?;
    if found.is_dir() {
        return Ok(place);
    }
    Err(format!("`{}` is not a folder; to see a file, use `read`", ground.shown(&place.named)))
}
