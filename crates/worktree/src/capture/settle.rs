//! Compares the findings of a sweep with the index: changes if both sides were covered, otherwise changes of coverage, and
//! the next index. Together with `descend` it implements the rule of coverage on both sides. Must never read the disk.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use retake_core::{FileChange, FilePath, Record, UncoveredReason};

use super::coverage::CoverageChange;
use super::findings::Findings;
use super::index::{Entry, Folder, Index, NameState, Place, child, is_before};
use super::sweep::{ChangedFolder, Coverage, Draft, Job, Outcome, Side, State};

/// A comparison in progress.
pub(crate) struct Comparison<'a> {
    old: &'a Index,
    folders: HashMap<Place, Arc<Folder>>,
    findings: Findings,
    /// The fates of folders that could not be entered, or left the index.
    fates: HashMap<FilePath, PathLoss>,
    /// Folders that were created since the last capture, with their content.
    fresh: HashSet<FilePath>,
    /// When the last capture began, if it did not read everything: a file with an older stamp existed then.
    since: Option<i64>,
    /// Whether more than times of reading changed.
    changed: bool,
}

/// Why a path is no longer covered.
#[derive(Clone, Copy, Debug)]
enum PathLoss {
    /// It reported this itself, with its changes.
    Left(UncoveredReason),
    Uncovered(UncoveredReason),
    Unknown(UncoveredReason),
    Gone,
}

impl Outcome {
    fn fate(&self) -> Option<PathLoss> {
        match self {
            Self::Seen { coverage: Coverage::Leaving(why), .. } => Some(PathLoss::Left(*why)),
            Self::Seen { .. } => None,
            Self::Uncovered(why) => Some(PathLoss::Uncovered(*why)),
            Self::Unknown(why) => Some(PathLoss::Unknown(*why)),
            Self::Gone => Some(PathLoss::Gone),
        }
    }
}

/// The folder that is being compared.
struct ComparedFolder<'a> {
    place: Option<&'a FilePath>,
    late: bool,
    coverage: Coverage,
    /// The stamp of its own last change, by a created or removed name.
    ctime: i64,
    fresh: bool,
}

impl<'a> Comparison<'a> {
    /// Compares all findings.
    pub(crate) fn all(old: &'a Index, since: Option<i64>, found: Vec<ChangedFolder>) -> Self {
        let mut this = Self {
            old,
            folders: old.folders.clone(),
            findings: Findings::default(),
            fates: HashMap::new(),
            fresh: HashSet::new(),
            since,
            changed: false,
        };
        // Outer before inner: the content of a removed folder is not compared again.
        let mut waiting: BTreeMap<Place, Option<ChangedFolder>> = BTreeMap::new();
        for one in found {
            if let (Some(path), Some(fate)) = (&one.job.place, one.outcome.fate()) {
                this.fates.insert(path.clone(), fate);
                waiting.entry(path.parent()).or_default();
            }
            if matches!(one.outcome, Outcome::Seen { .. }) {
                waiting.insert(one.job.place.clone(), Some(one));
            }
        }
        for (place, found) in waiting {
            match found {
                Some(found) => this.folder(found),
                // Unchanged itself, but a folder in it changed.
                None => this.unchanged_but_for_folders(&place),
            }
        }
        this
    }

    /// An always-covered path outside of covered folders, now or at the last capture.
    pub(crate) fn extra(&mut self, path: &FilePath, before: &Option<NameState>, after: &Option<NameState>) {
        match (before, after) {
            (Some(NameState::Unknown(..)), Some(after)) if after.record().is_some() => {
                self.findings.coverage.push((path.clone(), CoverageChange::Gained));
            }
            (Some(before), Some(NameState::Uncovered(why) | NameState::Unknown(why, _)))
                if before.record().is_some() =>
            {
                self.findings.coverage.push((path.clone(), CoverageChange::Lost(*why)));
                return;
            }
            (_, Some(NameState::Uncovered(_) | NameState::Unknown(..))) => return,
            _ => {}
        }
        let late = matches!(before, Some(NameState::Unknown(..)));
        let known = before.as_ref().and_then(NameState::known).and_then(NameState::record);
        self.compare(path, known, after.as_ref().and_then(NameState::record), late);
    }

    /// A path that is always covered from now on.
    pub(crate) fn gained(&mut self, path: &FilePath) {
        self.findings.coverage.push((path.clone(), CoverageChange::Gained));
    }

    /// The next index's folders, as far as they are known now.
    pub(crate) fn folders(&self) -> &HashMap<Place, Arc<Folder>> {
        &self.folders
    }

    /// The findings, the next index's folders, and whether they differ in more than times of reading.
    pub(crate) fn finish(mut self) -> (Findings, HashMap<Place, Arc<Folder>>, bool) {
        self.findings.sort();
        (self.findings, self.folders, self.changed)
    }

    fn folder(&mut self, found: ChangedFolder) {
        let Outcome::Seen { mode, inode, ctime, attributes, coverage, line, drafts } = found.outcome else {
            return;
        };
        let job = found.job;
        if self.is_lost(&job) {
            return;
        }
        // Folders come before those in them. One that replaced another brought its files along, whatever their stamps are.
        let fresh = job.old.as_ref().is_none_or(|old| old.inode != inode)
            && job.place.as_ref().is_some_and(|path| {
                let inside = path.parent().is_some_and(|parent| self.fresh.contains(&parent));
                inside || !self.is_late(ctime)
            });
        self.fresh.extend(job.place.clone().filter(|_| fresh));
        let here = ComparedFolder { place: job.place.as_ref(), late: job.late, coverage, ctime, fresh };
        if let Some(path) = &job.place {
            if let Some(line) = line {
                self.findings.coverage.push((path.clone(), line));
            }
            if coverage != Coverage::Arriving {
                let late = self.late(&here, ctime);
                self.compare(path, job.before, Some(Record::Folder { mode }), late);
            }
        }
        let old = job.old.unwrap_or_default();
        let mut entries = Vec::with_capacity(drafts.len());
        let mut at = 0;
        for draft in drafts {
            let name: &[u8] = match &draft {
                Draft::Keep(kept) => &old.entries[*kept].name,
                Draft::New { name, .. } => name,
            };
            while at < old.entries.len() && *old.entries[at].name < *name {
                self.gone(&here, &old.entries[at]);
                at += 1;
            }
            let before = old.entries.get(at).filter(|entry| *entry.name == *name);
            at += usize::from(before.is_some());
            entries.extend(match draft {
                Draft::Keep(kept) => self.kept(&here, &old.entries[kept]),
                Draft::New { name, side, state } => self.new_entry(&here, name, side, state, before),
            });
        }
        for entry in &old.entries[at..] {
            self.gone(&here, entry);
        }
        match coverage {
            Coverage::Leaving(_) => self.forget(&job.place),
            Coverage::Both | Coverage::Arriving => {
                self.put(job.place.clone(), Folder { mode, inode, attributes, entries });
            }
        }
    }

    /// Whether a folder above it turned out to be gone or not covered, although this one was read: the report about that
    /// one includes it. In a folder that leaves the index the changes count.
    fn is_lost(&self, job: &Job) -> bool {
        let Some(path) = &job.place else { return false };
        if job.alone {
            return !self.folders.contains_key(&job.place);
        }
        !matches!(job.coverage, Coverage::Leaving(_)) && !self.folders.contains_key(&path.parent())
    }

    /// Whether the last capture, which did not read everything, missed a change with this stamp.
    fn is_late(&self, ctime: i64) -> bool {
        self.since.is_some_and(|began| is_before(ctime, began))
    }

    fn late(&self, here: &ComparedFolder<'_>, ctime: i64) -> bool {
        here.late || (!here.fresh && self.is_late(ctime))
    }

    fn forget(&mut self, place: &Place) {
        self.changed |= self.folders.remove(place).is_some();
    }

    fn put(&mut self, place: Place, folder: Folder) {
        let before = self.folders.get(&place);
        self.changed |= before.is_none_or(|before| !before.differs_only_in_time(&folder));
        self.folders.insert(place, Arc::new(folder));
    }

    fn unchanged_but_for_folders(&mut self, place: &Place) {
        let Some(old) = self.old.folders.get(place).cloned() else {
            return;
        };
        if !self.folders.contains_key(place) {
            return;
        }
        // Its stamp is not known: if the last capture did not read everything, it may have been removed before that.
        let (late, ctime) = (self.since.is_some(), i64::MAX);
        let here =
            ComparedFolder { place: place.as_ref(), late, coverage: Coverage::Both, ctime, fresh: false };
        let entries = old.entries.iter().filter_map(|entry| self.kept(&here, entry)).collect();
        self.put(place.clone(), Folder { entries, attributes: old.attributes.clone(), ..*old });
    }

    /// An entry that the sweep left unchanged; a folder may have a fate anyway.
    fn kept(&mut self, here: &ComparedFolder<'_>, entry: &Entry) -> Option<Entry> {
        if entry.what == NameState::Folder
            && let Some(fate) = child(here.place, &entry.name).and_then(|path| self.fates.get(&path).copied())
        {
            return self.met(here, &entry.name, fate, Some(&entry.what));
        }
        Some(entry.clone())
    }

    fn new_entry(
        &mut self,
        here: &ComparedFolder<'_>,
        name: Box<[u8]>,
        side: Side,
        state: State,
        before: Option<&Entry>,
    ) -> Option<Entry> {
        let old = before.map(|entry| &entry.what);
        let what = match state {
            State::Ready(what) => what,
            State::Gone => {
                if let Some(before) = before {
                    self.gone(here, before);
                }
                return None;
            }
            State::Read { .. } => unreachable!("BUG: everything was read before it is compared"),
        };
        let Some(path) = child(here.place, &name) else {
            return Some(Entry { name, what });
        };
        match what {
            NameState::Folder => match self.fates.get(&path).copied() {
                Some(fate) => self.met(here, &name, fate, old),
                None => Some(Entry { name, what: NameState::Folder }),
            },
            NameState::Uncovered(why) => self.met(here, &name, PathLoss::Uncovered(why), old),
            NameState::Unknown(why, _) => self.met(here, &name, PathLoss::Unknown(why), old),
            what => {
                self.covered(here, &path, &what, side, old);
                match side {
                    Side::Leaving(why) => Some(Entry { name, what: NameState::Uncovered(why) }),
                    Side::Both | Side::Arriving => Some(Entry { name, what }),
                }
            }
        }
    }

    /// A file or link that was read, compared with its earlier state.
    fn covered(
        &mut self,
        here: &ComparedFolder<'_>,
        path: &FilePath,
        what: &NameState,
        side: Side,
        old: Option<&NameState>,
    ) {
        // A path that was covered by itself, before its folder was, is compared by itself.
        if here.coverage == Coverage::Arriving || (old.is_none() && self.old.extras.contains_key(path)) {
            return;
        }
        let arrives = side == Side::Arriving;
        let late = self.late(here, what.ctime().unwrap_or(here.ctime));
        let line = |this: &mut Self, line| this.findings.coverage.push((path.clone(), line));
        match old {
            Some(NameState::Uncovered(_) | NameState::Unknown(_, None)) => line(self, CoverageChange::Gained),
            Some(NameState::Unknown(_, Some(kept))) => {
                line(self, CoverageChange::Gained);
                self.replaced(path, kept, what, true);
            }
            None | Some(_) if arrives => {
                line(self, CoverageChange::Gained);
                if old == Some(&NameState::Folder) {
                    self.forget_below(path);
                }
            }
            None => self.compare(path, None, what.record(), late),
            Some(old) => self.replaced(path, old, what, late),
        }
        if let (Side::Leaving(why), true) =
            (side, old.is_none_or(|old| !matches!(old, NameState::Uncovered(_))))
        {
            line(self, CoverageChange::Lost(why));
        }
    }

    fn replaced(&mut self, path: &FilePath, old: &NameState, new: &NameState, late: bool) {
        let before = match old {
            NameState::Folder => {
                let before = self.old.folders.get(&Some(path.clone())).map(|folder| folder.record());
                self.all_gone_below(path, late);
                before
            }
            old => old.record(),
        };
        self.compare(path, before, new.record(), late);
    }

    fn compare(&mut self, path: &FilePath, before: Option<Record>, after: Option<Record>, late: bool) {
        if before != after {
            let change = FileChange { path: path.clone(), before, after };
            if late { self.findings.late.push(change) } else { self.findings.changes.push(change) }
        }
    }

    /// A path that is not covered, not known, or missing after all.
    fn met(
        &mut self,
        here: &ComparedFolder<'_>,
        name: &[u8],
        fate: PathLoss,
        old: Option<&NameState>,
    ) -> Option<Entry> {
        let entry = |what| Some(Entry { name: name.into(), what });
        let path = child(here.place, name)?;
        let was_covered = matches!(old, Some(NameState::File(_) | NameState::Link(_) | NameState::Folder));
        match fate {
            PathLoss::Gone => {
                if let Some(old) = old {
                    self.gone(here, &Entry { name: name.into(), what: old.clone() });
                }
                None
            }
            PathLoss::Left(why) => {
                self.forget_below(&path);
                entry(NameState::Uncovered(why))
            }
            PathLoss::Uncovered(why) => {
                if was_covered && !matches!(here.coverage, Coverage::Leaving(_)) {
                    self.findings.coverage.push((path.clone(), CoverageChange::Lost(why)));
                }
                self.forget_below(&path);
                entry(NameState::Uncovered(why))
            }
            PathLoss::Unknown(why) => {
                if was_covered && !matches!(here.coverage, Coverage::Leaving(_)) {
                    self.findings.coverage.push((path, CoverageChange::Lost(why)));
                }
                let kept = old.and_then(NameState::known).filter(|_| why.is_unknown());
                entry(NameState::Unknown(why, kept.cloned().map(Box::new)))
            }
        }
    }

    /// An entry that is known to be removed.
    fn gone(&mut self, here: &ComparedFolder<'_>, entry: &Entry) {
        let Some(path) = child(here.place, &entry.name) else {
            return;
        };
        let late = self.late(here, here.ctime) || matches!(entry.what, NameState::Unknown(..));
        match entry.what.known() {
            None => {}
            Some(NameState::Folder) => {
                let before = self.old.folders.get(&Some(path.clone())).map(|folder| folder.record());
                self.compare(&path, before, None, late);
                self.all_gone_below(&path, late);
            }
            Some(what) => self.compare(&path, what.record(), None, late),
        }
    }

    fn all_gone_below(&mut self, path: &FilePath, late: bool) {
        let old = self.old;
        let place = Some(path.clone());
        let Some(folder) = old.folders.get(&place) else {
            return;
        };
        let here = ComparedFolder {
            place: Some(path),
            late,
            coverage: Coverage::Both,
            ctime: i64::MAX,
            fresh: false,
        };
        for entry in &folder.entries {
            self.gone(&here, entry);
        }
        self.forget(&place);
    }

    fn forget_below(&mut self, path: &FilePath) {
        let mut places = Vec::new();
        self.old.walk(&Some(path.clone()), &mut |place, _| places.push(place.clone()));
        for place in places {
            self.forget(&place);
        }
    }
}
