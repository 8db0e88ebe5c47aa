//! Completes file names after `@`, in limited time even in a large folder. Must never name a file outside of the folder, or one
//! that a rule forbids to read.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use retake_core::{ConversationId, Permission, Ruling};
use retake_tools::IgnoreRules;

use crate::Engine;
use crate::error::Result;
use crate::files::blocking;

/// The most entries that are scanned.
const MOST_SEEN: usize = 20_000;

/// The deepest level that is scanned.
const MOST_DEPTH: usize = 12;

/// The tools that could show such a name or the file's content to an agent.
const READERS: [&str; 3] = ["list", "glob", "read"];

/// Names that match the typed text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathMatches {
    /// The best first.
    pub paths: Vec<PathMatch>,
    /// Whether there may be more: more names match, or the scan was limited.
    pub more: bool,
}

/// A matching file or folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathMatch {
    /// Its path relative to the folder.
    pub path: String,
    /// Whether it is a folder.
    pub is_dir: bool,
}

impl Engine {
    /// Completions in a conversation's folder; none without a folder.
    pub async fn paths_of(&self, of: ConversationId, prefix: String, limit: usize) -> Result<PathMatches> {
        let Some(folder) = self.store().summary(of).await?.folder else { return Ok(PathMatches::default()) };
        let permission = self.permission(of).await?;
        blocking(move || paths_like(Path::new(&folder), &permission, &prefix, limit)).await
    }

    /// The same in a folder without a conversation yet.
    pub async fn paths_in(&self, folder: PathBuf, prefix: String, limit: usize) -> Result<PathMatches> {
        let permission = self.permission_for_all();
        blocking(move || paths_like(&folder, &permission, &prefix, limit)).await
    }
}

/// Files and folders that match `prefix`: paths that begin with it, names that begin with it, and paths that contain it; the
/// least deep first in each group. Ignored files are left out, and hidden ones unless the prefix begins with a dot.
pub fn paths_like(folder: &Path, permission: &Permission, prefix: &str, limit: usize) -> PathMatches {
    let (base, wanted) =
        prefix.rsplit_once('/').map_or(("", prefix), |(base, _)| prefix.split_at(base.len() + 1));
    // Only paths below the typed folder can begin with the prefix.
    let Some(start) = inside(folder, base) else { return PathMatches::default() };
    let wanted = wanted.to_lowercase();
    let mut found: Vec<(u8, usize, String, bool)> = Vec::new();
    let mut seen = 0;
    for (path, is_dir) in below(&start, permission, folder, wanted.starts_with('.')).take(MOST_SEEN) {
        seen += 1;
        let lower = path.to_lowercase();
        let name = lower.rsplit('/').next().unwrap_or_default();
        let rank = match () {
            () if lower.starts_with(&wanted) => 0,
            () if name.starts_with(&wanted) => 1,
            () if lower.contains(&wanted) => 2,
            () => continue,
        };
        found.push((rank, lower.matches('/').count(), format!("{base}{path}"), is_dir));
    }
    found.sort();
    let more = seen == MOST_SEEN || found.len() > limit;
    let paths = found.into_iter().take(limit).map(|(_, _, path, is_dir)| PathMatch { path, is_dir });
    PathMatches { paths: paths.collect(), more }
}

/// A folder by its name, if it is inside the folder after following links.
fn inside(folder: &Path, name: &str) -> Option<PathBuf> {
    let path = folder.join(name);
    let real = path.canonicalize().ok()?;
    (!name.starts_with('/') && real.starts_with(folder.canonicalize().ok()?)).then_some(path)
}

/// The entries below a folder: the relative path, and whether it is a folder. Names that are not text are left out.
fn below(
    start: &Path,
    permission: &Permission,
    folder: &Path,
    hidden: bool,
) -> impl Iterator<Item = (String, bool)> {
    let (permission, roots) = (permission.clone(), [folder.to_owned()]);
    let is_kept = move |path: &Path| {
        let ruling = |tool: &&str| permission.reading(tool, path, &roots);
        READERS.iter().any(|tool| ruling(tool) == Some(Ruling::Deny))
    };
    let rules = IgnoreRules::default();
    let walk = WalkBuilder::new(start)
        .standard_filters(false)
        .max_depth(Some(MOST_DEPTH))
        .hidden(!hidden)
        .sort_by_file_name(std::ffi::OsStr::cmp)
        .filter_entry(move |entry| {
            let is_out =
                || entry.file_name() == ".git" || rules.leave_out_entry(entry) || is_kept(entry.path());
            entry.depth() == 0 || !is_out()
        })
        .build();
    let start = start.to_owned();
    walk.filter_map(std::result::Result::ok).filter(|entry| entry.depth() > 0).filter_map(move |entry| {
        let path = entry.path().strip_prefix(&start).ok()?.to_str()?.to_owned();
        Some((path, entry.file_type().is_some_and(|kind| kind.is_dir())))
    })
}
