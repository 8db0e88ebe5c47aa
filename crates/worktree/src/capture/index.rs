//! The index of the last capture: for each folder its entries, sorted by name, each with its state from `stat` and its
//! record. It must not claim bytes that are not in the object store, synced.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use retake_core::{ContentHash, FilePath, Record, UncoveredReason};

use super::below::Signature;
use super::rules::Limits;
use crate::attributes::{Attributes, FormerAttributes, Version};
use crate::root::{Root, RootId};

/// The identity of a root. Device numbers may change at a reboot; the file system's own id, if it has one, does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub device: u64,
    pub inode: u64,
    pub volume: u64,
}

impl Identity {
    /// Whether this is the same folder as `other`.
    pub(crate) fn is(&self, other: &Self) -> bool {
        let same_volume = self.volume != 0 && self.volume == other.volume;
        self.inode == other.inode && (self.device == other.device || same_volume)
    }

    pub(crate) fn of(root: &Root) -> Self {
        let volume = rustix::fs::fstatvfs(root).map_or(0, |found| found.f_fsid);
        let RootId { dev, ino } = root.id();
        Self { device: dev, inode: ino, volume }
    }
}

/// The capture that an index belongs to. It is stored with the capture; an index with another mark is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mark(pub ContentHash);

/// A folder's path below the root, or (`None`) the root itself.
pub(crate) type Place = Option<FilePath>;

/// A regular file when it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileSeen {
    pub signature: Signature,
    pub hash: ContentHash,
    /// The file clock before its bytes were read.
    pub read_at: i64,
    /// Its attributes, if they differ from the usual ones.
    pub attributes: Option<Arc<Attributes>>,
}

impl FileSeen {
    /// Its hash, if its bytes are known to be in the object store.
    pub(crate) fn put(&self) -> Option<ContentHash> {
        (self.signature.inode != Signature::NONE.inode).then_some(self.hash)
    }
}

/// A link when it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinkSeen {
    pub signature: Signature,
    pub target: Arc<[u8]>,
    pub read_at: i64,
}

/// The state of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NameState {
    File(FileSeen),
    Link(LinkSeen),
    /// A covered folder; its content has its own entry in the index.
    Folder,
    Uncovered(UncoveredReason),
    /// Not known now. The earlier state is kept for a later comparison; a folder's entry stays in the index.
    Unknown(UncoveredReason, Option<Box<NameState>>),
}

impl NameState {
    /// The record of a file or link.
    pub(crate) fn record(&self) -> Option<Record> {
        match self {
            Self::File(file) => Some(Record::File {
                hash: file.hash,
                len: file.signature.size,
                mode: file.signature.mode & 0o777,
            }),
            Self::Link(link) => Some(Record::Link { target: Arc::clone(&link.target) }),
            Self::Folder | Self::Uncovered(_) | Self::Unknown(..) => None,
        }
    }

    /// The state that a record claims, to be read again at the next capture.
    pub(crate) fn claimed(record: &Record) -> Self {
        match record {
            Record::File { hash, len, mode } => {
                let signature = Signature { size: *len, mode: *mode, ..Signature::NONE };
                Self::File(FileSeen { signature, hash: *hash, read_at: i64::MIN, attributes: None })
            }
            Record::Link { target } => Self::Link(LinkSeen {
                signature: Signature::NONE,
                target: Arc::clone(target),
                read_at: i64::MIN,
            }),
            Record::Folder { .. } => Self::Folder,
        }
    }

    /// The inode of a file with other hard links.
    pub(crate) fn linked(&self) -> Option<u64> {
        match self {
            Self::File(file) if file.signature.links > 1 => Some(file.signature.inode),
            _ => None,
        }
    }

    /// The stamp of the last change of a file or link.
    pub(crate) fn ctime(&self) -> Option<i64> {
        match self {
            Self::File(file) => Some(file.signature.ctime),
            Self::Link(link) => Some(link.signature.ctime),
            Self::Folder | Self::Uncovered(_) | Self::Unknown(..) => None,
        }
    }

    /// Its bytes are missing: it must be read again.
    pub(crate) fn lose(&mut self) {
        match self {
            Self::File(file) => {
                let Signature { size, mode, .. } = file.signature;
                file.signature = Signature { size, mode, ..Signature::NONE };
            }
            Self::Unknown(_, Some(kept)) => kept.lose(),
            _ => {}
        }
    }

    /// The state that is known, now or from its last reading.
    pub(crate) fn known(&self) -> Option<&Self> {
        match self {
            Self::Uncovered(_) => None,
            Self::Unknown(_, kept) => kept.as_deref(),
            known => Some(known),
        }
    }
}

/// How close a stamp may be to the time of reading for a later change to get the same one. A file system with whole
/// seconds may round to two.
fn margin(stamp: i64) -> i64 {
    if stamp % 1_000_000_000 == 0 { 2_000_000_000 } else { 20_000_000 }
}

/// Whether a change after the reading could have the same stamp.
pub(crate) fn is_young(ctime: i64, read_at: i64) -> bool {
    ctime >= read_at.saturating_sub(margin(ctime))
}

/// Whether a change with this stamp happened before a capture began. A file system with whole seconds may have rounded a
/// later one down.
pub(crate) fn is_before(ctime: i64, began: i64) -> bool {
    let rounding = if ctime % 1_000_000_000 == 0 { margin(ctime) } else { 0 };
    ctime.saturating_add(rounding) < began
}

/// How long after its stamp a file must be read to be trusted. A program can write to a mapped page; the file gets its
/// new stamp only when the kernel writes that page to disk, within half a minute.
const WARM: i64 = 60_000_000_000;

/// Whether a change after the reading could have the same stamp, made by a program that has the file mapped.
pub(crate) fn is_warm(ctime: i64, read_at: i64) -> bool {
    ctime >= read_at.saturating_sub(WARM)
}

/// A name in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub name: Box<[u8]>,
    pub what: NameState,
}

/// A covered folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Folder {
    pub mode: u16,
    /// Distinguishes another folder under the same name.
    pub inode: u64,
    /// Its attributes, if they differ from the usual ones.
    pub attributes: Option<Arc<Attributes>>,
    /// Sorted by name.
    pub entries: Vec<Entry>,
}

impl Folder {
    pub(crate) fn record(&self) -> Record {
        Record::Folder { mode: self.mode }
    }

    pub(crate) fn find(&self, name: &[u8]) -> Option<&NameState> {
        let at = self.entries.binary_search_by(|entry| (*entry.name).cmp(name)).ok()?;
        Some(&self.entries[at].what)
    }

    pub(crate) fn set(&mut self, name: &[u8], what: Option<NameState>) {
        match (self.entries.binary_search_by(|entry| (*entry.name).cmp(name)), what) {
            (Ok(at), Some(what)) => self.entries[at].what = what,
            (Ok(at), None) => drop(self.entries.remove(at)),
            (Err(at), Some(what)) => self.entries.insert(at, Entry { name: name.into(), what }),
            (Err(_), None) => {}
        }
    }

    /// Sets entries by name.
    pub(crate) fn set_all(&mut self, new: BTreeMap<Box<[u8]>, Option<NameState>>) {
        let mut old = std::mem::take(&mut self.entries).into_iter().peekable();
        self.entries.reserve(old.len() + new.len());
        for (name, what) in new {
            while let Some(before) = old.next_if(|entry| entry.name < name) {
                self.entries.push(before);
            }
            drop(old.next_if(|entry| entry.name == name));
            self.entries.extend(what.map(|what| Entry { name, what }));
        }
        self.entries.extend(old);
    }

    /// Whether only the times of reading differ, which a later start does not need.
    pub(crate) fn differs_only_in_time(&self, other: &Self) -> bool {
        let same = |(a, b): (&Entry, &Entry)| match (&a.what, &b.what) {
            (NameState::File(a), NameState::File(b)) => a.signature == b.signature && a.hash == b.hash,
            (NameState::Link(a), NameState::Link(b)) => a.signature == b.signature && a.target == b.target,
            (a, b) => a == b,
        };
        (self.mode, self.inode, &self.attributes) == (other.mode, other.inode, &other.attributes)
            && self.entries.len() == other.entries.len()
            && self.entries.iter().zip(&other.entries).all(|pair| pair.0.name == pair.1.name && same(pair))
    }
}

/// The state at the last capture.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    pub identity: Identity,
    pub mark: Mark,
    /// The limits at that time.
    pub limits: Limits,
    /// Paths that are covered whatever the rules are.
    pub always: BTreeSet<FilePath>,
    /// Empty before the first capture.
    pub folders: HashMap<Place, Arc<Folder>>,
    /// The state of always-covered paths outside of covered folders; `None` is known to be absent.
    pub extras: BTreeMap<FilePath, Option<NameState>>,
    /// The attributes of versions that are no longer at their paths.
    pub gone: BTreeMap<Version, FormerAttributes>,
}

/// The known state of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnownPath {
    /// Covered, and absent.
    Absent,
    /// Covered, with this record.
    Is(Record),
    /// Not covered.
    NotCovered(UncoveredReason),
}

impl Index {
    /// The index's state of a path.
    pub(crate) fn known(&self, path: &FilePath) -> KnownPath {
        if let Some(extra) = self.extras.get(path) {
            return match extra {
                None => KnownPath::Absent,
                Some(what) => self.state(path, what),
            };
        }
        let mut at: Place = None;
        for name in path.components() {
            let Some(folder) = self.folders.get(&at) else {
                return KnownPath::Absent;
            };
            let here = child(at.as_ref(), name);
            match folder.find(name) {
                Some(NameState::Folder) if here.as_ref() != Some(path) => at = here,
                Some(NameState::Uncovered(why) | NameState::Unknown(why, _)) => {
                    return KnownPath::NotCovered(*why);
                }
                Some(what) if here.as_ref() == Some(path) => return self.state(path, what),
                Some(_) | None => return KnownPath::Absent,
            }
        }
        KnownPath::Absent
    }

    fn state(&self, path: &FilePath, what: &NameState) -> KnownPath {
        match what {
            NameState::Uncovered(why) | NameState::Unknown(why, _) => KnownPath::NotCovered(*why),
            NameState::Folder => match self.folders.get(&Some(path.clone())) {
                Some(folder) => KnownPath::Is(folder.record()),
                None => KnownPath::Absent,
            },
            what => what.record().map_or(KnownPath::Absent, KnownPath::Is),
        }
    }

    /// Whether a folder is covered and known, up to the root.
    pub(crate) fn covers(&self, place: &Place) -> bool {
        let mut at = place.clone();
        loop {
            if !self.folders.contains_key(&at) {
                return false;
            }
            let Some(path) = at else {
                return true;
            };
            let parent = path.parent();
            let entry = self.folders.get(&parent).and_then(|folder| folder.find(path.name()));
            if entry != Some(&NameState::Folder) {
                return false;
            }
            at = parent;
        }
    }

    /// Visits every folder at and below a place, outer before inner, by name, including the kept state of folders that
    /// are unknown now.
    pub(crate) fn walk(&self, place: &Place, visit: &mut dyn FnMut(&Place, &Arc<Folder>)) {
        let mut waiting = vec![place.clone()];
        while let Some(place) = waiting.pop() {
            let Some(folder) = self.folders.get(&place) else {
                continue;
            };
            visit(&place, folder);
            let inner = folder.entries.iter().rev();
            waiting.extend(
                inner
                    .filter(|entry| entry.what.known() == Some(&NameState::Folder))
                    .filter_map(|entry| child(place.as_ref(), &entry.name).map(Some)),
            );
        }
    }

    /// All covered and existing paths of the index, sorted.
    pub(crate) fn records(&self) -> BTreeMap<FilePath, Record> {
        let mut records = BTreeMap::new();
        let mut waiting: Vec<Place> = vec![None];
        while let Some(place) = waiting.pop() {
            let Some(folder) = self.folders.get(&place) else {
                continue;
            };
            if let Some(path) = &place {
                records.insert(path.clone(), folder.record());
            }
            for entry in &folder.entries {
                let Some(path) = child(place.as_ref(), &entry.name) else {
                    continue;
                };
                match (&entry.what, entry.what.record()) {
                    (NameState::Folder, _) => waiting.push(Some(path)),
                    (_, Some(record)) => drop(records.insert(path, record)),
                    (_, None) => {}
                }
            }
        }
        let extras =
            self.extras.iter().filter_map(|(path, what)| Some((path.clone(), what.as_ref()?.record()?)));
        records.extend(extras);
        records
    }

    /// Files with several hard links, in or outside of the workspace.
    pub(crate) fn hard_links(&self) -> Vec<FilePath> {
        let mut found = Vec::new();
        for (place, folder) in &self.folders {
            let linked = folder.entries.iter().filter(|entry| entry.what.linked().is_some());
            found.extend(linked.filter_map(|entry| child(place.as_ref(), &entry.name)));
        }
        found.sort();
        found
    }

    /// The objects that the index claims.
    pub(crate) fn claims(&self) -> BTreeSet<ContentHash> {
        let inside = self.folders.values().flat_map(|folder| &folder.entries).map(|entry| &entry.what);
        inside
            .chain(self.extras.values().flatten())
            .filter_map(|what| match what.known() {
                Some(NameState::File(file)) => Some(file.hash),
                _ => None,
            })
            .collect()
    }

    /// The stamp since which warm files are read again: the most recent of them, within the limits `files` and `bytes`.
    /// Older ones beyond the limits are trusted.
    pub(crate) fn warm_since(&self, files: usize, bytes: u64) -> i64 {
        let entries = self.folders.values().flat_map(|folder| &folder.entries);
        let mut warm: Vec<(i64, u64)> = entries
            .filter_map(|entry| match &entry.what {
                NameState::File(file) if is_warm(file.signature.ctime, file.read_at) => {
                    Some((file.signature.ctime, file.signature.size))
                }
                _ => None,
            })
            .collect();
        warm.sort_unstable_by(|a, b| b.cmp(a));
        let mut total = 0_u64;
        for (count, (ctime, size)) in warm.into_iter().enumerate() {
            total = total.saturating_add(size);
            if count >= files || total > bytes {
                return ctime.saturating_add(1);
            }
        }
        i64::MIN
    }
}

/// The path of a name in a folder; `None` if it is too long for the system.
pub(crate) fn child(place: Option<&FilePath>, name: &[u8]) -> Option<FilePath> {
    match place {
        None => FilePath::new(name).ok(),
        Some(folder) => folder.join(name).ok(),
    }
}
