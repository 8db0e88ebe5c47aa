//! Takes the writes of our own tools and of an apply into the index, so that the next capture does not report them as
//! somebody's. No report is trusted: each path is captured, and a change by somebody else is found later.

use std::collections::BTreeMap;
use std::sync::Arc;

use retake_core::{FileChange, Record};

use super::extras::{self, PathState};
use super::findings::Findings;
use super::index::{Folder, Index, KnownPath, NameState, Place};
use super::index_file;
use super::read;
use super::workspace_tree::{Capture, Tree};
use crate::apply::on_cores;
use crate::error::Result;
use crate::objects::hash;
use crate::root::Root;

/// The source of the writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteSource {
    /// An edit tool: its paths are covered from now on, whatever the rules are.
    Tool,
    /// An apply.
    Apply,
}

impl Tree {
    /// Takes writes into the index. The resulting capture contains what the writer did *not* do. If the index had another
    /// version than a change's `before`, somebody changed it earlier. If it has `after` already, it was noted before. If the
    /// disk has another version than `after`, the next capture finds it.
    ///
    /// # Errors
    /// The root is gone or replaced, or the object store fails. Nothing changed then.
    pub fn note(&self, changes: &[FileChange], noting: WriteSource) -> Result<Capture> {
        let root = self.open_root()?;
        let mut next = (*self.index).clone();
        let mut findings = Findings::default();
        let mut sorted: Vec<_> = changes.iter().collect();
        sorted.sort_by(|a, b| a.path.cmp(&b.path));
        let looked = on_cores(sorted.len(), |places| {
            places.map(|at| self.look_again(&root, sorted[at], noting)).collect::<Result<Vec<_>>>()
        });
        let mut entries = Entries::default();
        let looked = looked.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten();
        for (change, now) in sorted.into_iter().zip(looked) {
            let Some(now) = now else { continue };
            self.take_in(&mut next, (change, now), noting, (&mut findings, &mut entries));
        }
        for (place, entries) in entries {
            if let Some(folder) = next.folders.get_mut(&place) {
                Arc::make_mut(folder).set_all(entries);
            }
        }
        self.objects.sync()?;
        let claim = Findings { changes: changes.to_vec(), ..Findings::default() };
        let parts = [b"noted".as_slice(), &next.mark.0.0, &claim.encode(), &findings.encode()];
        next.mark.0 = hash(&parts.concat());
        index_file::save(&self.data_dir, &next)?;
        Ok(Capture::noted(findings, Arc::new(next)))
    }

    /// The current state of a written path; `None` if it is not taken in.
    fn look_again(
        &self,
        root: &Root,
        change: &FileChange,
        noting: WriteSource,
    ) -> Result<Option<CurrentPathState>> {
        let path = &change.path;
        if noting == WriteSource::Apply && matches!(self.index.known(path), KnownPath::NotCovered(_)) {
            return Ok(None);
        }
        let now = extras::look(root, path, self.rules.max_file, None, &read::into(&*self.objects))?;
        let folder = if let PathState::Folder(seen) = &now { seen.clone() } else { Folder::default() };
        let is_so = record_of(&now) == change.after;
        let written = match (&change.after, now) {
            (Some(Record::Folder { .. }) | None, _) => None,
            (Some(_), PathState::Is(what)) if is_so => Some(what),
            (Some(after), _) => match after.hash() {
                Some(name) if !self.objects.contains(&name) => return Ok(None),
                _ => Some(NameState::claimed(after)),
            },
        };
        Ok(Some(CurrentPathState { written, folder }))
    }

    /// Takes it into the next index.
    fn take_in(
        &self,
        next: &mut Index,
        (change, now): (&FileChange, CurrentPathState),
        noting: WriteSource,
        (findings, entries): (&mut Findings, &mut Entries),
    ) {
        let path = &change.path;
        let before = match self.index.known(path) {
            KnownPath::Is(record) => Some(record),
            KnownPath::Absent => None,
            KnownPath::NotCovered(_) => change.before.clone(),
        };
        let came = match (&now.written, &change.after) {
            // The attributes of a claim are not known.
            (Some(NameState::File(file)), _) => file.put().map(|_| file.attributes.clone()),
            (None, Some(Record::Folder { .. })) => Some(now.folder.attributes.clone()),
            _ => None,
        };
        next.remember(&self.index, path, before.as_ref(), came);
        // A version that the index has already was noted before: the process may have died right after it.
        if before != change.before && before != change.after {
            findings.changes.push(FileChange { path: path.clone(), before, after: change.before.clone() });
        }
        if noting == WriteSource::Tool {
            next.always.insert(path.clone());
        }
        set(next, entries, change, now);
    }
}

/// The current state of a path.
struct CurrentPathState {
    /// The file or link.
    written: Option<NameState>,
    /// A folder without its content.
    folder: Folder,
}

/// New entries of folders, all of one folder at once: adding them one by one would move the later ones each time.
type Entries = BTreeMap<Place, BTreeMap<Box<[u8]>, Option<NameState>>>;

fn record_of(look: &PathState) -> Option<Record> {
    match look {
        PathState::Is(what) => what.record(),
        PathState::Folder(seen) => Some(seen.record()),
        PathState::Absent => None,
    }
}

fn set(index: &mut Index, entries: &mut Entries, change: &FileChange, now: CurrentPathState) {
    let (path, after, CurrentPathState { written, folder: seen }) =
        (&change.path, change.after.as_ref(), now);
    if !extras::is_inside(index, path) {
        if index.always.contains(path) && !matches!(after, Some(Record::Folder { .. })) {
            index.extras.insert(path.clone(), written);
        }
        return;
    }
    let place = Some(path.clone());
    if let Some(Record::Folder { mode }) = after {
        let known = index.folders.get(&place).map(|folder| folder.entries.clone());
        let folder = Folder { mode: *mode, entries: known.unwrap_or_default(), ..seen };
        // At once, because the next ones may be in it.
        if let Some(parent) = index.folders.get_mut(&path.parent()) {
            Arc::make_mut(parent).set(path.name(), Some(NameState::Folder));
        }
        index.folders.insert(place, Arc::new(folder));
        return;
    }
    entries.entry(path.parent()).or_default().insert(path.name().into(), written);
    let mut gone = Vec::new();
    index.walk(&place, &mut |place, _| gone.push(place.clone()));
    for place in gone {
        index.folders.remove(&place);
    }
}
