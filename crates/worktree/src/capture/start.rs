//! The starting points of a sweep: the root, or the folders that a watch named.

use std::collections::BTreeSet;
use std::sync::Arc;

use retake_core::FilePath;

use super::index::{Index, Place, child};
use super::rules::{Chain, IGNORE_FILES, Parsed};
use super::sweep::{Coverage, InForce, Job};
use super::visit::ignore_file;
use crate::objects::Objects;

/// The whole tree.
pub(crate) fn whole(index: &Index) -> Vec<Job> {
    let chain = InForce::unchanged(Arc::new(Chain::default()));
    vec![job(index, None, chain, false)]
}

/// These folders and new folders in them. An unknown folder is searched for from the nearest known one.
pub(crate) fn folders(index: &Index, named: &[Place], parsed: &Parsed, objects: &dyn Objects) -> Vec<Job> {
    if index.folders.is_empty() {
        return whole(index);
    }
    let known: BTreeSet<Place> = named.iter().map(|place| nearest_known(index, place.clone())).collect();
    known
        .into_iter()
        .map(|place| {
            let chain =
                place.as_ref().map_or_else(Default::default, |path| chain(index, path, parsed, objects));
            job(index, place, InForce::unchanged(chain), true)
        })
        .collect()
}

fn job(index: &Index, place: Place, in_force: InForce, alone: bool) -> Job {
    let old = index.folders.get(&place).cloned();
    let coverage = if old.is_some() { Coverage::Both } else { Coverage::Arriving };
    let before = old.as_ref().map(|folder| folder.record());
    Job { place, old, before, in_force, coverage, late: false, line: None, alone }
}

fn nearest_known(index: &Index, mut place: Place) -> Place {
    while !index.covers(&place) {
        match place {
            Some(path) => place = path.parent(),
            None => break,
        }
    }
    place
}

/// The ignore files in force around a folder at the last capture.
fn chain(index: &Index, folder: &FilePath, parsed: &Parsed, objects: &dyn Objects) -> Arc<Chain> {
    let mut chain = Arc::new(Chain::default());
    let mut place: Place = None;
    for name in folder.components() {
        if let Some(known) = index.folders.get(&place) {
            let files = IGNORE_FILES.map(|name| {
                ignore_file(known.find(name)).and_then(|hash| parsed.get_or_load(&hash, objects))
            });
            chain = Chain::inner(&chain, place.as_ref(), files);
        }
        place = child(place.as_ref(), name);
    }
    chain
}
