//! Names of files for a person who types `@`: what they may mean, in little time, however large the folder is. Must never name what is
//! outside of the folder, or what a rule keeps from being read.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use retake_core::{ConversationId, Permission, Ruling};
use retake_tools::IgnoreRules;

use crate::Engine;
use crate::error::Result;
use crate::files::blocking;

/// So many entries are looked at.
const MOST_SEEN: usize = 20_000;

/// So deep it is looked.
const MOST_DEPTH: usize = 12;

/// The tools by which an agent would learn such a name, or what is in the file.
const READERS: [&str; 3] = ["list", "glob", "read"];

/// Names that fit what was typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Like {
    /// The best first.
    pub paths: Vec<PathLike>,
    /// Whether there may be others: more fit, or not everything was looked at.
    pub more: bool,
}

/// A file or folder that fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathLike {
    /// From the folder.
    pub path: String,
    /// Whether it is a folder.
    pub is_dir: bool,
}

impl Engine {
    /// Names of files of a conversation's folder for a person who types them; none, where it has no folder.
    pub async fn paths_of(&self, of: ConversationId, prefix: String, limit: usize) -> Result<Like> {
        let Some(folder) = self.store().summary(of).await?.folder else { return Ok(Like::default()) };
        let permission = self.permission(of).await?;
        blocking(move || paths_like(Path::new(&folder), &permission, &prefix, limit)).await
    }

    /// The same, of a folder in which no conversation is yet.
    pub async fn paths_in(&self, folder: PathBuf, prefix: String, limit: usize) -> Result<Like> {
        let permission = self.permission_for_all();
        blocking(move || paths_like(&folder, &permission, &prefix, limit)).await
    }
}

/// Files and folders that go on as `prefix` does: those whose path begins so, those whose name does, and those that hold it, each
/// the shallow ones first. What ignore files leave out, and hidden files unless the name begins with a dot, are left out.
pub fn paths_like(folder: &Path, permission: &Permission, prefix: &str, limit: usize) -> Like {
    let (base, wanted) =
        prefix.rsplit_once('/').map_or(("", prefix), |(base, _)| prefix.split_at(base.len() + 1));
    // Only what is below the folder that is written out can begin so.
    let Some(start) = inside(folder, base) else { return Like::default() };
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
    let paths = found.into_iter().take(limit).map(|(_, _, path, is_dir)| PathLike { path, is_dir });
    Like { paths: paths.collect(), more }
}

/// A folder by its name, where it is in the folder, links followed.
fn inside(folder: &Path, name: &str) -> Option<PathBuf> {
    let path = folder.join(name);
    let real = path.canonicalize().ok()?;
    (!name.starts_with('/') && real.starts_with(folder.canonicalize().ok()?)).then_some(path)
}

/// What is below a folder, by path relative to it, and whether it is a folder. Names that are no text are left out.
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
