//! What our own tools and an apply wrote is told to the index, so that the next capture does not report it as
//! somebody's. Nothing is believed: each path is looked at, and what was changed by someone else stays to be found.

use std::sync::Arc;

use retake_core::{FileChange, FilePath, Record};

use super::extras::{self, Look};
use super::findings::Findings;
use super::index::{Folder, Index, Known, What};
use super::index_file;
use super::read;
use super::tree::{Capture, Tree};
use crate::error::Result;
use crate::objects::hash;
use crate::root::Root;

/// Who wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noting {
    /// An edit tool: its paths are covered from now on, whatever the rules say.
    Tool,
    /// An apply.
    Apply,
}

impl Tree {
    /// Takes into the index what was written. The capture that comes of it holds what the writer did *not* do: where the
    /// index had something else than a change's `before`, someone changed that earlier; what it has already is noted. Where the disk has something
    /// else than its `after`, the next capture finds it.
    ///
    /// # Errors
    /// The root is gone or replaced, or the object store fails. Nothing changed then.
    pub fn note(&self, changes: &[FileChange], noting: Noting) -> Result<Capture> {
        let root = self.open_root()?;
        let mut next = (*self.index).clone();
        let mut findings = Findings::default();
        let mut sorted: Vec<_> = changes.iter().collect();
        sorted.sort_by(|a, b| a.path.cmp(&b.path));
        for change in &sorted {
            self.note_one(&root, &mut next, change, noting, &mut findings)?;
        }
        self.objects.sync()?;
        let claim = Findings { changes: changes.to_vec(), ..Findings::default() };
        let parts = [b"noted".as_slice(), &next.mark.0.0, &claim.encode(), &findings.encode()];
        next.mark.0 = hash(&parts.concat());
        index_file::save(&self.data_dir, &next)?;
        Ok(Capture::noted(findings, Arc::new(next)))
    }

    fn note_one(
        &self,
        root: &Root,
        next: &mut Index,
        change: &FileChange,
        noting: Noting,
        findings: &mut Findings,
    ) -> Result<()> {
        let path = &change.path;
        let known = self.index.known(path);
        if matches!((&known, noting), (Known::NotCovered(_), Noting::Apply)) {
            return Ok(());
        }
        let limit = self.rules.max_file;
        let now = extras::look(root, path, limit, None, &read::into(&*self.objects))?;
        let folder = if let Look::Folder(seen) = &now { seen.clone() } else { Folder::default() };
        let is_so = record_of(&now) == change.after;
        let written = match (&change.after, now) {
            (Some(Record::Folder { .. }) | None, _) => None,
            (Some(_), Look::Is(what)) if is_so => Some(what),
            (Some(after), _) => match after.hash() {
                Some(name) if !self.objects.contains(&name) => return Ok(()),
                _ => Some(What::claimed(after)),
            },
        };
        if let Known::Is(went) = &known {
            next.remember(&self.index, path, Some(went));
        }
        let before = match known {
            Known::Is(record) => Some(record),
            Known::Absent => None,
            Known::NotCovered(_) => change.before.clone(),
        };
        // What the index has already was noted before: whoever notes may have died right after it.
        if before != change.before && before != change.after {
            findings.changes.push(FileChange { path: path.clone(), before, after: change.before.clone() });
        }
        if noting == Noting::Tool {
            next.always.insert(path.clone());
        }
        set(next, path, change.after.as_ref(), written, folder);
        Ok(())
    }
}

fn record_of(look: &Look) -> Option<Record> {
    match look {
        Look::Is(what) => what.record(),
        Look::Folder(seen) => Some(seen.record()),
        Look::Absent => None,
    }
}

fn set(index: &mut Index, path: &FilePath, after: Option<&Record>, written: Option<What>, seen: Folder) {
    if !extras::is_inside(index, path) {
        if index.always.contains(path) && !matches!(after, Some(Record::Folder { .. })) {
            index.extras.insert(path.clone(), written);
        }
        return;
    }
    let place = Some(path.clone());
    let folder = match after {
        Some(Record::Folder { mode }) => {
            let known = index.folders.get(&place).map(|folder| folder.entries.clone());
            Some(Folder { mode: *mode, entries: known.unwrap_or_default(), ..seen })
        }
        _ => None,
    };
    let what = if folder.is_some() { Some(What::Folder) } else { written };
    if let Some(parent) = index.folders.get_mut(&path.parent()) {
        Arc::make_mut(parent).set(path.name(), what);
    }
    match folder {
        Some(folder) => drop(index.folders.insert(place, Arc::new(folder))),
        None => {
            let mut gone = Vec::new();
            index.walk(&place, &mut |place, _| gone.push(place.clone()));
            for place in gone {
                index.folders.remove(&place);
            }
        }
    }
}
