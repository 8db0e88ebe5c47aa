//! The changes of an apply in the order in which they are made, and which kind of step each is. Pure: touches no disk.

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
    /// Files that get their permission bits by an exchange, as they have more names than the plan gives these bits to.
    apart: HashSet<FilePath>,
    attributes: BTreeMap<Version, Arc<Attributes>>,
    given: BTreeSet<Version>,
}

/// How one path gets from what is there to what shall be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The bytes stay, the permission bits change.
    Mode,
    /// What is there and what was staged change places.
    Exchange,
    /// What is there is moved aside.
    Take,
    /// What was staged is moved there.
    Place,
}

impl Plan {
    /// Sorts the changes. Those that change nothing are left out.
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

    /// What is something on one side is in a folder on that side.
    fn is_possible(&self, change: &FileChange, side: Direction) -> Result<()> {
        let parent = change.path.parent().and_then(|parent| self.change(&parent));
        match parent.map(|parent| wanted(parent, side)) {
            None | Some(Some(Record::Folder { .. })) => Ok(()),
            _ if wanted(change, side).is_none() => Ok(()),
            _ => {
                let why = "it is in something that is no folder";
                Err(WorktreeError::BadPlan { path: change.path.clone(), why })
            }
        }
    }

    pub(super) fn change(&self, path: &FilePath) -> Option<&FileChange> {
        self.places.get(path).map(|place| &self.changes[*place])
    }

    /// The attributes that a path is to have, where they are known.
    pub(super) fn attributes(&self, path: &FilePath, record: &Record) -> Option<&Attributes> {
        if self.attributes.is_empty() {
            return None;
        }
        self.attributes.get(&version(path, record)?).map(Arc::as_ref)
    }

    /// The same, where it is to be given also instead of a file or folder that has other ones.
    pub(super) fn given(&self, path: &FilePath, record: &Record) -> Option<&Attributes> {
        let version = version(path, record)?;
        self.given.contains(&version).then(|| self.attributes.get(&version).map(Arc::as_ref)).flatten()
    }

    /// The setuid, setgid and sticky bits that a path gets with its permission bits; nothing, where it keeps those that it has.
    pub(super) fn special(&self, change: &FileChange, to: Direction) -> Option<u32> {
        let record = wanted(change, to)?;
        self.given(&change.path, record).map(|attributes| u32::from(attributes.special))
    }

    /// Files of which only permission bits change in their records, and that are another file all the same: with another owner, or
    /// with other attributes.
    pub(super) fn replaced(&self) -> impl Iterator<Item = FilePath> {
        let has = |change: &FileChange, record: &Option<Record>| {
            let given = self.given(&change.path, record.as_ref()?)?;
            Some((given.owner, given.group, given.extended.clone()))
        };
        let is_other = move |change: &&FileChange| has(change, &change.before) != has(change, &change.after);
        self.bits().map(|(_, change)| change).filter(is_other).map(|change| change.path.clone())
    }

    /// The change of the folder that a path is in, if that folder changes.
    pub(super) fn parent(&self, change: &FileChange) -> Option<&FileChange> {
        self.change(&change.path.parent()?)
    }

    /// Whether a folder on the way to a path is a link before or after the plan: then being behind one is being nowhere.
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

    /// How a path gets to one side.
    pub(super) fn step(&self, change: &FileChange, to: Direction) -> Step {
        match step(change, to) {
            Step::Mode if self.apart.contains(&change.path) => Step::Exchange,
            step => step,
        }
    }

    /// Files whose permission bits alone change: each with its place.
    pub(super) fn bits(&self) -> impl Iterator<Item = (usize, &FileChange)> {
        let is_file = |change: &FileChange| matches!(change.after, Some(Record::File { .. }));
        let all = self.changes.iter().enumerate();
        all.filter(move |(_, change)| is_file(change) && step(change, Direction::Forward) == Step::Mode)
    }

    /// These get their permission bits by an exchange.
    pub(super) fn set_apart(&mut self, apart: HashSet<FilePath>) {
        self.apart = apart;
    }

    /// Steps that move something, in order: what goes, deepest first; then what comes and what is exchanged, folders
    /// before what is in them.
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

    /// Steps that change permission bits, deepest first: after all moves, as a folder may become read-only by it.
    pub(super) fn modes(&self, to: Direction) -> Vec<usize> {
        let needs = |change: &FileChange| match wanted(change, to) {
            record @ Some(Record::Folder { .. }) => self.step(change, to) == Step::Mode || is_closed(record),
            _ => self.step(change, to) == Step::Mode,
        };
        let places = 0..self.changes.len();
        places.rev().filter(|place| needs(&self.changes[*place])).collect()
    }

    /// Folders of the plan that the owner may not change before it, and must be able to: outermost first.
    pub(super) fn closed(&self, to: Direction) -> Vec<usize> {
        (0..self.changes.len()).filter(|place| is_closed(there(&self.changes[*place], to))).collect()
    }

    /// Folders that the owner may not change on either side: where a settling did not get through, they may be closed already.
    pub(super) fn closed_on_a_side(&self) -> Vec<usize> {
        let closed =
            |change: &FileChange| is_closed(change.before.as_ref()) || is_closed(change.after.as_ref());
        (0..self.changes.len()).filter(|place| closed(&self.changes[*place])).collect()
    }
}

/// Whether it is a folder in which its owner may change nothing.
fn is_closed(record: Option<&Record>) -> bool {
    matches!(record, Some(Record::Folder { mode }) if mode & OPEN != OPEN)
}

/// What the path is to be.
pub(super) fn wanted(change: &FileChange, to: Direction) -> Option<&Record> {
    match to {
        Direction::Forward => change.after.as_ref(),
        Direction::Back => change.before.as_ref(),
    }
}

/// What the path is before that.
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
