//! What the last capture saw: per folder its entries, sorted by name, each with the state that `stat` told and the record
//! that belongs to it. It claims no bytes that are not in the object store, synced.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use retake_core::{ContentHash, FilePath, Record, WhyNot};

use super::below::Signature;
use super::rules::Limits;
use crate::attributes::{Attributes, Gone, Version};
use crate::root::{Root, RootId};

/// Which folder a root is. Device numbers may change at a reboot; the file system's own number does not, where it has
/// one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub device: u64,
    pub inode: u64,
    pub volume: u64,
}

impl Identity {
    /// Whether this is the folder that `other` was.
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

/// Which capture an index is of. It is kept with the capture; an index with another one is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mark(pub ContentHash);

/// A folder's place: below the root, or (`None`) the root itself.
pub(crate) type Place = Option<FilePath>;

/// A regular file as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileSeen {
    pub signature: Signature,
    pub hash: ContentHash,
    /// The files' clock before its bytes were read.
    pub read_at: i64,
    /// What no record has, if there is more than the usual.
    pub attributes: Option<Arc<Attributes>>,
}

impl FileSeen {
    /// Its hash, if its bytes are known to be in the object store.
    pub(crate) fn put(&self) -> Option<ContentHash> {
        (self.signature.inode != Signature::NONE.inode).then_some(self.hash)
    }
}

/// A link as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinkSeen {
    pub signature: Signature,
    pub target: Arc<[u8]>,
    pub read_at: i64,
}

/// What was found under a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    File(FileSeen),
    Link(LinkSeen),
    /// A covered folder; what is in it has a place of its own in the index.
    Folder,
    Uncovered(WhyNot),
    /// Not known now. What was known before is kept, to be compared with later; a folder's stays in the index.
    Unknown(WhyNot, Option<Box<What>>),
}

impl What {
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

    /// What a record says, to be read again at the next look.
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

    /// The inode of a file that has other names too.
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

    /// Its bytes are not at hand: it is to be read again.
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

    /// Whether this is known to be there, now or when it was last read, and as what.
    pub(crate) fn known(&self) -> Option<&Self> {
        match self {
            Self::Uncovered(_) => None,
            Self::Unknown(_, kept) => kept.as_deref(),
            known => Some(known),
        }
    }
}

/// How near a stamp is to the moment of reading for a later change to have the same one. A file system that only has
/// whole seconds may round to two.
fn margin(stamp: i64) -> i64 {
    if stamp % 1_000_000_000 == 0 { 2_000_000_000 } else { 20_000_000 }
}

/// Whether a change after the reading may have left the same stamp.
pub(crate) fn is_young(ctime: i64, read_at: i64) -> bool {
    ctime >= read_at.saturating_sub(margin(ctime))
}

/// Whether what left this stamp happened before a capture began. A file system that only has whole seconds may have
/// rounded down what happened since.
pub(crate) fn is_before(ctime: i64, began: i64) -> bool {
    let rounding = if ctime % 1_000_000_000 == 0 { margin(ctime) } else { 0 };
    ctime.saturating_add(rounding) < began
}

/// How long after its stamp a file must be read to be trusted. A program can write to a page that it has mapped; the
/// file gets its new stamp only when the kernel writes that page to the disk. The kernel does this within half a
/// minute.
const WARM: i64 = 60_000_000_000;

/// Whether a change after the reading, by a program that has the file mapped, may have left the same stamp.
pub(crate) fn is_warm(ctime: i64, read_at: i64) -> bool {
    ctime >= read_at.saturating_sub(WARM)
}

/// A name in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub name: Box<[u8]>,
    pub what: What,
}

/// A covered folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Folder {
    pub mode: u16,
    /// Tells another folder under the same name.
    pub inode: u64,
    /// What no record has, if there is more than the usual.
    pub attributes: Option<Arc<Attributes>>,
    /// Sorted by name.
    pub entries: Vec<Entry>,
}

impl Folder {
    pub(crate) fn record(&self) -> Record {
        Record::Folder { mode: self.mode }
    }

    pub(crate) fn find(&self, name: &[u8]) -> Option<&What> {
        let at = self.entries.binary_search_by(|entry| (*entry.name).cmp(name)).ok()?;
        Some(&self.entries[at].what)
    }

    pub(crate) fn set(&mut self, name: &[u8], what: Option<What>) {
        match (self.entries.binary_search_by(|entry| (*entry.name).cmp(name)), what) {
            (Ok(at), Some(what)) => self.entries[at].what = what,
            (Ok(at), None) => drop(self.entries.remove(at)),
            (Err(at), Some(what)) => self.entries.insert(at, Entry { name: name.into(), what }),
            (Err(_), None) => {}
        }
    }

    /// Sets entries by name.
    pub(crate) fn set_all(&mut self, new: BTreeMap<Box<[u8]>, Option<What>>) {
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

    /// The same but for the moments of reading: nothing that a later start would miss.
    pub(crate) fn differs_only_in_time(&self, other: &Self) -> bool {
        let same = |(a, b): (&Entry, &Entry)| match (&a.what, &b.what) {
            (What::File(a), What::File(b)) => a.signature == b.signature && a.hash == b.hash,
            (What::Link(a), What::Link(b)) => a.signature == b.signature && a.target == b.target,
            (a, b) => a == b,
        };
        (self.mode, self.inode, &self.attributes) == (other.mode, other.inode, &other.attributes)
            && self.entries.len() == other.entries.len()
            && self.entries.iter().zip(&other.entries).all(|pair| pair.0.name == pair.1.name && same(pair))
    }
}

/// What the last capture saw.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    pub identity: Identity,
    pub mark: Mark,
    /// The limits that were in force.
    pub limits: Limits,
    /// Covered whatever the rules say.
    pub always: BTreeSet<FilePath>,
    /// Empty before the first capture.
    pub folders: HashMap<Place, Arc<Folder>>,
    /// What is at those always-covered paths that lie in no covered folder; `None` is known to be absent.
    pub extras: BTreeMap<FilePath, Option<What>>,
    /// The attributes of versions that are not at their paths any more.
    pub gone: BTreeMap<Version, Gone>,
}

/// What is known of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known {
    /// It is covered, and was not there.
    Absent,
    /// It is covered, and was this.
    Is(Record),
    /// It is not covered.
    NotCovered(WhyNot),
}

impl Index {
    /// What the index says of a path.
    pub(crate) fn known(&self, path: &FilePath) -> Known {
        if let Some(extra) = self.extras.get(path) {
            return match extra {
                None => Known::Absent,
                Some(what) => self.state(path, what),
            };
        }
        let mut at: Place = None;
        for name in path.components() {
            let Some(folder) = self.folders.get(&at) else {
                return Known::Absent;
            };
            let here = child(at.as_ref(), name);
            match folder.find(name) {
                Some(What::Folder) if here.as_ref() != Some(path) => at = here,
                Some(What::Uncovered(why) | What::Unknown(why, _)) => return Known::NotCovered(*why),
                Some(what) if here.as_ref() == Some(path) => return self.state(path, what),
                Some(_) | None => return Known::Absent,
            }
        }
        Known::Absent
    }

    fn state(&self, path: &FilePath, what: &What) -> Known {
        match what {
            What::Uncovered(why) | What::Unknown(why, _) => Known::NotCovered(*why),
            What::Folder => match self.folders.get(&Some(path.clone())) {
                Some(folder) => Known::Is(folder.record()),
                None => Known::Absent,
            },
            what => what.record().map_or(Known::Absent, Known::Is),
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
            if entry != Some(&What::Folder) {
                return false;
            }
            at = parent;
        }
    }

    /// Calls for every folder at and below a place, outer before inner, by name, with everything that was kept of
    /// what is unknown now.
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
                    .filter(|entry| entry.what.known() == Some(&What::Folder))
                    .filter_map(|entry| child(place.as_ref(), &entry.name).map(Some)),
            );
        }
    }

    /// All that the index says is covered and there, sorted.
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
                    (What::Folder, _) => waiting.push(Some(path)),
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

    /// Files that have other names too, in or outside the workspace.
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
                Some(What::File(file)) => Some(file.hash),
                _ => None,
            })
            .collect()
    }

    /// From which stamp on warm files are read again: the youngest of them, as many as `files` and `bytes` allow. The
    /// older ones of very many are trusted.
    pub(crate) fn warm_since(&self, files: usize, bytes: u64) -> i64 {
        let entries = self.folders.values().flat_map(|folder| &folder.entries);
        let mut warm: Vec<(i64, u64)> = entries
            .filter_map(|entry| match &entry.what {
                What::File(file) if is_warm(file.signature.ctime, file.read_at) => {
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

/// The path of a name in a folder; `None` when the system could not take one so long.
pub(crate) fn child(place: Option<&FilePath>, name: &[u8]) -> Option<FilePath> {
    match place {
        None => FilePath::new(name).ok(),
        Some(folder) => folder.join(name).ok(),
    }
}
