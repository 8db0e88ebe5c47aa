//! The paths that a capture does not cover, with the reasons.

use retake_core::{Uncovered, UncoveredReason};

use super::index::{Index, NameState, Place, child};

/// How the coverage of a path, and of everything below it, changed. This says nothing about the content: a path
/// that left coverage was not deleted, one that entered it was not created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CoverageChange {
    /// Covered from this capture on.
    Gained,
    /// No longer covered.
    Lost(UncoveredReason),
}

/// The uncovered paths of an index.
pub(crate) fn uncovered(index: &Index) -> Vec<Uncovered> {
    let mut list = Vec::new();
    let mut add = |place: &Place, name: &[u8], what: &NameState| {
        if let NameState::Uncovered(why) | NameState::Unknown(why, _) = what {
            // For a path that is too long, its folder is named.
            let path = child(place.as_ref(), name).or_else(|| place.clone());
            list.extend(path.map(|path| Uncovered { path, why: *why }));
        }
    };
    for (place, folder) in &index.folders {
        for entry in &folder.entries {
            add(place, &entry.name, &entry.what);
        }
    }
    for (path, what) in &index.extras {
        if let Some(what) = what {
            add(&path.parent(), path.name(), what);
        }
    }
    list.retain(|one| index.covers(&one.path.parent()) || index.extras.contains_key(&one.path));
    list.sort_by(|a, b| a.path.cmp(&b.path));
    list.dedup();
    list
}
