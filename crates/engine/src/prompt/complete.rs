//! Names of files for who types `@`: what they may mean, in little time, however large the folder is.

use std::path::Path;

use ignore::WalkBuilder;

use super::Places;

/// So many entries are looked at.
const MOST_SEEN: usize = 20_000;

/// So deep it is looked.
const MOST_DEPTH: usize = 12;

/// Files and folders of a folder that go on as `prefix` does, as one would write them: those whose path begins so, those whose
/// name does, and those that hold it, each the shallow ones first. Folders end with a slash. What ignore files leave out, and
/// hidden files unless the name begins with a dot, are left out. Of names that lead out of the folder only the next step is
/// told.
pub fn files_like(places: &Places, prefix: &str, limit: usize) -> Vec<String> {
    let (base, wanted) =
        prefix.rsplit_once('/').map_or(("", prefix), |(base, _)| prefix.split_at(base.len() + 1));
    let outside = prefix.starts_with(['/', '~']) || base.split('/').any(|step| step == "..");
    // Only what is below the folder that is written out can begin so.
    let start = if base.is_empty() { places.folder.clone() } else { places.path(base) };
    let depth = if outside { 1 } else { MOST_DEPTH };
    let mut found: Vec<(u8, usize, String)> = Vec::new();
    let wanted = wanted.to_lowercase();
    for (path, is_dir) in below(&start, depth, wanted.starts_with('.')).take(MOST_SEEN) {
        let lower = path.to_lowercase();
        let name = lower.rsplit('/').next().unwrap_or_default();
        let rank = match () {
            () if lower.starts_with(&wanted) => 0,
            () if name.starts_with(&wanted) => 1,
            () if lower.contains(&wanted) => 2,
            () => continue,
        };
        let end = if is_dir { "/" } else { "" };
        found.push((rank, lower.matches('/').count(), format!("{base}{path}{end}")));
    }
    found.sort();
    found.truncate(limit);
    found.into_iter().map(|(_, _, path)| path).collect()
}

/// What is below a folder, by path relative to it, and whether it is a folder. Names that are no text are left out.
fn below(start: &Path, depth: usize, hidden: bool) -> impl Iterator<Item = (String, bool)> {
    let walk = WalkBuilder::new(start)
        .max_depth(Some(depth))
        .hidden(!hidden)
        .require_git(false)
        .sort_by_file_name(std::ffi::OsStr::cmp)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    let start = start.to_owned();
    walk.filter_map(Result::ok).filter(|entry| entry.depth() > 0).filter_map(move |entry| {
        let path = entry.path().strip_prefix(&start).ok()?.to_str()?.to_owned();
        Some((path, entry.file_type().is_some_and(|kind| kind.is_dir())))
    })
}
