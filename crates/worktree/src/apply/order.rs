//! The changes of an apply in the order in which they are made, and the kind of each step. Pure: must never touch a disk.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use retake_core::{FileChange, FilePath, Record};

use super::Direction;
use super::look::OPEN;
use crate::attributes::{Attributes, Changes, Version, version};
use crate::error::{Result, WorktreeError};

/// The changes, sorted by path; a change's place is its slot in the staging folder.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) changes: Vec<FileChange>,
    places: HashMap<FilePath, usize>,
    /// Files that get their permission bits by an exchange, because they have more hard links than the plan changes.
    apart: HashSet<FilePath>,
    attributes: BTreeMap<Version, Arc<Attributes>>,
    given: BTreeSet<Version>,
}

/// How one path gets from its old to its new version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The bytes stay, the permission bits change.
    Mode,
    /// The file and the staged one are exchanged.
    Exchange,
    /// The file is moved aside.
    Take,
    /// The staged file is moved to the path.
    Place,
}

impl Plan {
    /// Sorts the changes. Changes without an effect are left out.
    pub(super) fn new(of: Changes, staging: &str) -> Result<Self> {
        let Changes { mut changes, attributes, given } = of;
        changes.retain(|change| change.before != change.after);
        changes.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        let mut places = HashMap::with_capacity(changes.len());
        for (place, change) in changes.iter().enumerate() {
            let bad = |why| Err(WorktreeError::BadPlan { path: change.path.clone(), why });
            if places.insert(change.path.clone(), place).is_some() {
                return bad("it is there twice");
            }
            if change.path.components().next() == Some(staging.as_bytes()) {
                return bad("it is in the staging folder");
            }
        }
        let plan = Self { changes, places, apart: HashSet::new(), attributes, given };
        for change in &plan.changes {
            for side in [Direction::Back, Direction::Forward] {
                plan.is_possible(change, side)?;
            }
        }
        Ok(plan)
    }

    /// Checks that an existing version on one side has a folder on that side.
    fn is_possible(&self, change: &FileChange, side: Direction) -> Result<()> {
        let parent = change.path.parent().and_then(|parent| self.change(&parent));
        match parent.map(|parent| wanted(parent, side)) {
            None | Some(Some(Record::Folder { .. })) => Ok(()),
            _ if wanted(change, side).is_none() => Ok(()),
            _ => {
                let why = "what contains it is not a folder";
                Err(WorktreeError::BadPlan { path: change.path.clone(), why })
            }
        }
    }

    pub(super) fn change(&self, path: &FilePath) -> Option<&FileChange> {
        self.places.get(path).map(|place| &self.changes[*place])
    }

    /// The attributes that a path should have, if known.
    pub(super) fn attributes(&self, path: &FilePath, record: &Record) -> Option<&Attributes> {
        if self.attributes.is_empty() {
            return None;
        }
        self.attributes.get(&version(path, record)?).map(Arc::as_ref)
    }

    /// The same, if they replace those of a file or folder with other attributes.
    pub(super) fn given(&self, path: &FilePath, record: &Record) -> Option<&Attributes> {
        let version = version(path, record)?;
        self.given.contains(&version).then(|| self.attributes.get(&version).map(Arc::as_ref)).flatten()
    }

    /// The setuid, setgid and sticky bits that a path gets with its permission bits; `None` if it keeps its own.
    pub(super) fn special(&self, change: &FileChange, to: Direction) -> Option<u32> {
        let record = wanted(change, to)?;
        self.given(&change.path, record).map(|attributes| u32::from(attributes.special))
    }

    /// Files whose records differ only in permission bits, and that are another file anyway: with another owner, or with other
    /// attributes.
    pub(super) fn replaced(&self) -> impl Iterator<Item = FilePath> {
        let has = |change: &FileChange, record: &Option<Record>| {
            let given = self.given(&change.path, record.as_ref()?)?;
            Some((given.owner, given.group, given.extended.clone()))
        };
        let is_other = move |change: &&FileChange| has(change, &change.before) != has(change, &change.after);
        self.bits().map(|(_, change)| change).filter(is_other).map(|change| change.path.clone())
    }

    /// The change of a path's folder, if that folder changes.
    pub(super) fn parent(&self, change: &FileChange) -> Option<&FileChange> {
        self.change(&change.path.parent()?)
    }

    /// Whether a folder above a path is a link before or after the plan: then a path behind it counts as absent.
    pub(super) fn link_above(&self, path: &FilePath) -> bool {
        let is_link = |record: &Option<Record>| matches!(record, Some(Record::Link { .. }));
        let mut above = path.parent();
        while let Some(folder) = above {
            if self.change(&folder).is_some_and(|change| is_link(&change.before) || is_link(&change.after)) {
                return true;
            }
            above = folder.parent();
        }
        false
    }

    /// The step of a path to one side.
    pub(super) fn step(&self, change: &FileChange, to: Direction) -> Step {
        match step(change, to) {
            Step::Mode if self.apart.contains(&change.path) => Step::Exchange,
            step => step,
        }
    }

    /// Files that only change their permission bits: each with its place.
    pub(super) fn bits(&self) -> impl Iterator<Item = (usize, &FileChange)> {
        let is_file = |change: &FileChange| matches!(change.after, Some(Record::File { .. }));
        let all = self.changes.iter().enumerate();
        all.filter(move |(_, change)| is_file(change) && step(change, Direction::Forward) == Step::Mode)
    }

    /// Sets the files that get their permission bits by an exchange.
    pub(super) fn set_apart(&mut self, apart: HashSet<FilePath>) {
        self.apart = apart;
    }

    /// Steps that move something, in order: removals, deepest first; then new and exchanged paths, folders before their content.
    pub(super) fn moves(&self, to: Direction) -> Vec<usize> {
        let (mut going, mut coming) = (Vec::new(), Vec::new());
        for (place, change) in self.changes.iter().enumerate() {
            match self.step(change, to) {
                Step::Take => going.push(place),
                Step::Exchange | Step::Place => coming.push(place),
                Step::Mode => {}
            }
        }
        going.reverse();
        going.extend(coming);
        going
    }

    /// Steps that change permission bits, deepest first: after all moves, because a folder may become read-only.
    pub(super) fn modes(&self, to: Direction) -> Vec<usize> {
        let needs = |change: &FileChange| match wanted(change, to) {
            record @ Some(Record::Folder { .. }) => self.step(change, to) == Step::Mode || is_closed(record),
            _ => self.step(change, to) == Step::Mode,
        };
        let places = 0..self.changes.len();
        places.rev().filter(|place| needs(&self.changes[*place])).collect()
    }

    /// Folders of the plan that their owner cannot change before it and must be able to: outermost first.
    pub(super) fn closed(&self, to: Direction) -> Vec<usize> {
        (0..self.changes.len()).filter(|place| is_closed(there(&self.changes[*place], to))).collect()
    }

    /// Folders that their owner cannot change on either side: after an incomplete settling they may be closed already.
    pub(super) fn closed_on_a_side(&self) -> Vec<usize> {
        let closed =
            |change: &FileChange| is_closed(change.before.as_ref()) || is_closed(change.after.as_ref());
        (0..self.changes.len()).filter(|place| closed(&self.changes[*place])).collect()
    }
}

/// Whether it is a folder that its owner cannot change.
fn is_closed(record: Option<&Record>) -> bool {
    matches!(record, Some(Record::Folder { mode }) if mode & OPEN != OPEN)
}

/// The new version of the path.
pub(super) fn wanted(change: &FileChange, to: Direction) -> Option<&Record> {
    match to {
        Direction::Forward => change.after.as_ref(),
        Direction::Back => change.before.as_ref(),
    }
}

/// The earlier version of the path.
pub(super) fn there(change: &FileChange, to: Direction) -> Option<&Record> {
    wanted(change, to.turned())
}

fn step(change: &FileChange, to: Direction) -> Step {
    match (there(change, to), wanted(change, to)) {
        (Some(Record::Folder { .. }), Some(Record::Folder { .. })) => Step::Mode,
        (Some(Record::File { hash, len, .. }), Some(Record::File { hash: other, len: length, .. }))
            if hash == other && len == length =>
        {
            Step::Mode
        }
        (Some(_), Some(_)) => Step::Exchange,
        (_, None) => Step::Take,
        (None, Some(_)) => Step::Place,
    }
}
