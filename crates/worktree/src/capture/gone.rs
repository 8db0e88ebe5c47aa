//! The attributes of versions that are no longer at their paths, and which of them a returning version gets back. Must never
//! overwrite what somebody set on an existing file: only attributes that came with a version go with it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use retake_core::{FileChange, FilePath, Record};

use super::findings::Findings;
use super::index::{Index, NameState};
use super::workspace_tree::Tree;
use crate::attributes::{ANY_MODE, Attributes, Changes, FormerAttributes, Version, version};

impl Index {
    /// The attributes of a version of a path, if known.
    pub(crate) fn attributes(&self, path: &FilePath, record: &Record) -> Option<Arc<Attributes>> {
        match self.attributes_now(path, record) {
            Some(attributes) => attributes,
            None => self.gone_of(path, record),
        }
    }

    /// The same for the version of the index at the path; `None` if the index has another one.
    pub(super) fn attributes_now(&self, path: &FilePath, record: &Record) -> Option<Option<Arc<Attributes>>> {
        let place = path.parent();
        let inside = || self.folders.get(&place)?.find(path.name());
        let what = self.extras.get(path).and_then(Option::as_ref).or_else(inside)?.known()?;
        match (what, record) {
            (NameState::File(file), Record::File { hash, mode, .. })
                if (file.hash, file.signature.mode & 0o777) == (*hash, *mode) =>
            {
                Some(file.attributes.clone())
            }
            (NameState::Folder, Record::Folder { mode }) => {
                let folder = self.folders.get(&Some(path.clone()))?;
                (folder.mode == *mode).then(|| folder.attributes.clone())
            }
            _ => None,
        }
    }

    /// The stored attributes of a version that is no longer at the path, if there are any.
    fn gone_of(&self, path: &FilePath, record: &Record) -> Option<Arc<Attributes>> {
        let (path, hash, mode) = version(path, record)?;
        let any = || self.gone.get(&(path.clone(), hash, ANY_MODE));
        self.gone.get(&(path.clone(), hash, mode)).or_else(any).map(|gone| Arc::clone(&gone.had))
    }

    /// The stored attributes of all versions that are no longer at a path.
    fn gone_at(&self, path: &FilePath) -> impl Iterator<Item = (&Version, &FormerAttributes)> {
        self.gone.range((path.clone(), None, 0)..).take_while(move |((other, ..), _)| other == path)
    }

    /// The attributes at a path, and those that return with another version, if these differ and the present ones came with a
    /// version that replaced one with other attributes. `None` if somebody has set them since, or if a file and a folder replace
    /// each other.
    pub(crate) fn exchanged(
        &self,
        path: &FilePath,
        now: &Record,
        then: &Record,
    ) -> Option<[Arc<Attributes>; 2]> {
        let is_folder = |record: &Record| matches!(record, Record::Folder { .. });
        if is_folder(now) != is_folder(then) {
            return None;
        }
        let is = self.attributes_now(path, now)?.unwrap_or_else(|| Arc::new(Attributes::usual()));
        let before = |attributes: &Attributes| {
            self.gone_at(path).find(|(_, gone)| gone.then.as_deref() == Some(attributes))
        };
        let (went, gone) = before(&is)?;
        let mut had = Arc::clone(&gone.had);
        match self.gone_of(path, then) {
            Some(known) => had = known,
            // It came with permission bits that stay, and the bytes were there before: the author of the bits set them, too.
            None if is_same_file(went, path, now) && mode(now) == mode(then) => return None,
            // Usual attributes that stayed usual until others came are not stored: the first known version had them.
            None => {
                let mut seen = vec![Arc::clone(&is)];
                let earlier = |had: &Attributes| before(had).map(|(_, gone)| Arc::clone(&gone.had));
                while let Some(earlier) = earlier(&had).filter(|earlier| !seen.contains(earlier)) {
                    seen.push(std::mem::replace(&mut had, earlier));
                }
            }
        }
        (had != is).then_some([is, had])
    }

    /// Stores the attributes of versions that are gone since an older index: if a version returns, it gets them back. `came` has
    /// the attributes of the version that replaced this one, if there is one: the inner `None` are the usual ones.
    pub(crate) fn remember(
        &mut self,
        old: &Self,
        path: &FilePath,
        went: Option<&Record>,
        came: Option<Option<Arc<Attributes>>>,
    ) {
        let known = went.and_then(|record| Some((version(path, record)?, old.attributes_now(path, record)?)));
        let Some((version, had)) = known else { return };
        let usual = || Arc::new(Attributes::usual());
        let then = came.filter(|came| *came != had).map(|came| came.unwrap_or_else(usual));
        match (had, &then) {
            // If no version of a path is known, attributes that are not stored were usual.
            (None, None) if self.gone_at(path).next().is_none() => {}
            (had, _) => {
                let former = FormerAttributes { had: had.unwrap_or_else(usual), then };
                drop(self.gone.insert(version, former));
            }
        }
    }

    /// The same for all findings of a capture.
    pub(crate) fn remember_all(&mut self, old: &Self, found: &Findings) {
        for change in found.changes.iter().chain(&found.late) {
            let came = change.after.as_ref().and_then(|after| self.attributes_now(&change.path, after));
            self.remember(old, &change.path, change.before.as_ref(), came);
        }
    }
}

impl Tree {
    /// The changes of an apply, with the known attributes of their versions. A file that is created again gets back the owner,
    /// special bits and attributes from the last capture of that version. So does one that returns in place of a version with
    /// other attributes; attributes that somebody set since stay.
    pub fn to_apply(&self, changes: Vec<FileChange>) -> Changes {
        let sides = |change: &FileChange| {
            let one = |record: &Record| {
                Some((version(&change.path, record)?, self.index.attributes(&change.path, record)?))
            };
            [&change.before, &change.after].map(|record| record.as_ref().and_then(one))
        };
        let mut attributes: BTreeMap<_, _> = changes.iter().flat_map(sides).flatten().collect();
        let mut given = BTreeSet::new();
        for FileChange { path, before, after } in &changes {
            let (Some(before), Some(after)) = (before, after) else { continue };
            let versions = version(path, before).zip(version(path, after));
            let Some(([now, had], (old, new))) = self.index.exchanged(path, before, after).zip(versions)
            else {
                continue;
            };
            attributes.extend([(old.clone(), now), (new.clone(), had)]);
            given.extend([old, new]);
        }
        Changes { changes, attributes, given }
    }
}

/// Whether a version that is gone had the current bytes, with other permission bits.
fn is_same_file((_, hash, mode): &Version, path: &FilePath, now: &Record) -> bool {
    version(path, now).is_some_and(|(_, now, bits)| *hash == now && *mode != bits)
}

fn mode(record: &Record) -> Option<u16> {
    match record {
        Record::File { mode, .. } => Some(*mode),
        Record::Folder { .. } | Record::Link { .. } => None,
    }
}
