//! A manifest: everything that is covered at one moment, as objects. There is one for each folder, which names those
//! of its folders, so that unchanged folders are shared with other manifests. Versioned bytes that a golden test pins.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use retake_core::{ContentHash, FilePath, Record, UncoveredReason};

use super::bytes::{Reader, Writer};
use super::index::{Entry, Folder, Index, NameState, Place, child};
use super::workspace_tree::{Capture, Tree};
use crate::error::{Result, WorktreeError};
use crate::objects::Objects;

const VERSION: u8 = 1;
const FOLDER: u8 = 4;
const UNCOVERED: u8 = 5;

/// Everything that was covered at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// The covered paths, without the root itself.
    pub records: BTreeMap<FilePath, Record>,
    /// The paths that were not covered.
    pub uncovered: BTreeMap<FilePath, UncoveredReason>,
    /// All objects that it needs: its own, and the bytes of its files.
    pub objects: BTreeSet<ContentHash>,
}

impl Manifest {
    /// Reads the manifest with this name; every part of it is verified.
    pub fn read(objects: &dyn Objects, name: ContentHash) -> Result<Self> {
        let whole = read(objects, name)?;
        let mut manifest = Self { objects: whole.objects, ..Self::default() };
        for (place, folder) in whole.folders {
            if let Some(path) = &place {
                manifest.records.insert(path.clone(), folder.record());
            }
            for entry in &folder.entries {
                let path = child(place.as_ref(), &entry.name);
                manifest.add(path.ok_or(WorktreeError::NoManifest(name))?, &entry.what);
            }
        }
        for (path, what) in whole.extras {
            manifest.add(path, &what);
        }
        Ok(manifest)
    }

    fn add(&mut self, path: FilePath, what: &NameState) {
        if let NameState::Uncovered(why) = what {
            self.uncovered.insert(path, *why);
        } else if let Some(record) = what.record() {
            self.objects.extend(record.hash());
            self.records.insert(path, record);
        }
    }
}

impl Tree {
    /// Stores a manifest of the last capture in the object store (which is not synced), and returns its name.
    ///
    /// # Errors
    /// The object store fails.
    pub fn manifest(&self) -> Result<ContentHash> {
        write(&self.index, &*self.objects)
    }

    /// The same for a capture that is not accepted yet.
    ///
    /// # Errors
    /// The object store fails.
    pub fn manifest_of(&self, capture: &Capture) -> Result<ContentHash> {
        write(&capture.next, &*self.objects)
    }
}

/// A manifest in the form of an index.
pub(crate) struct WholeManifest {
    pub folders: HashMap<Place, Arc<Folder>>,
    pub extras: BTreeMap<FilePath, NameState>,
    objects: BTreeSet<ContentHash>,
}

/// Stores the manifest of an index in the object store. Inner folders come first.
pub(crate) fn write(index: &Index, objects: &dyn Objects) -> Result<ContentHash> {
    let mut order = Vec::new();
    index.walk(&None, &mut |place, folder| order.push((place.clone(), Arc::clone(folder))));
    let mut names: HashMap<Place, ContentHash> = HashMap::with_capacity(order.len());
    for (place, folder) in order.into_iter().rev() {
        let bytes = encode_folder(&place, &folder, &names);
        names.insert(place, objects.put(&bytes)?);
    }
    let mut to = Writer(vec![VERSION]);
    match names.get(&None) {
        Some(root) => {
            to.byte(1);
            to.hash(root);
        }
        None => to.byte(0),
    }
    let extras = index.extras.iter().filter_map(|(path, what)| Some((path, what.as_ref()?.record()?)));
    let extras: Vec<_> = extras.collect();
    to.number(extras.len() as u64);
    let mut last = Vec::new();
    for (path, record) in extras {
        to.path(path, &mut last);
        to.record(Some(&record));
    }
    objects.put(&to.0)
}

fn encode_folder(place: &Place, folder: &Folder, names: &HashMap<Place, ContentHash>) -> Vec<u8> {
    let mut to = Writer(vec![VERSION]);
    to.number(u64::from(folder.mode));
    to.number(folder.entries.len() as u64);
    for entry in &folder.entries {
        to.bytes(&entry.name);
        match &entry.what {
            NameState::Folder => {
                match child(place.as_ref(), &entry.name).and_then(|path| names.get(&Some(path))) {
                    Some(name) => {
                        to.byte(FOLDER);
                        to.hash(name);
                    }
                    None => unreachable!("BUG: a folder of the index has its own entries there"),
                }
            }
            NameState::Uncovered(why) | NameState::Unknown(why, _) => {
                to.byte(UNCOVERED);
                to.byte(why.code());
            }
            what => to.record(what.record().as_ref()),
        }
    }
    to.0
}

/// Reads a manifest as an index: every file in it must be captured again.
pub(crate) fn read(objects: &dyn Objects, name: ContentHash) -> Result<WholeManifest> {
    let bad = || WorktreeError::NoManifest(name);
    let bytes = objects.get(&name)?;
    let mut whole =
        WholeManifest { folders: HashMap::new(), extras: BTreeMap::new(), objects: BTreeSet::from([name]) };
    let (root, extras) = decode_root(&bytes).ok_or_else(bad)?;
    whole.extras = extras;
    let mut waiting: Vec<(Place, ContentHash)> = root.map(|root| (None, root)).into_iter().collect();
    while let Some((place, name)) = waiting.pop() {
        whole.objects.insert(name);
        let bytes = objects.get(&name)?;
        let (folder, inner) = decode_folder(&bytes, &place).ok_or(WorktreeError::NoManifest(name))?;
        waiting.extend(inner);
        whole.folders.insert(place, Arc::new(folder));
    }
    Ok(whole)
}

fn decode_root(bytes: &[u8]) -> Option<(Option<ContentHash>, BTreeMap<FilePath, NameState>)> {
    let mut from = Reader(bytes);
    if from.byte()? != VERSION {
        return None;
    }
    let root = match from.byte()? {
        0 => None,
        1 => Some(from.hash()?),
        _ => return None,
    };
    let mut extras = BTreeMap::new();
    let mut last = Vec::new();
    for _ in 0..from.count()? {
        let path = from.path(&mut last)?;
        extras.insert(path, NameState::claimed(&from.record()??));
    }
    from.0.is_empty().then_some((root, extras))
}

type Inner = Vec<(Place, ContentHash)>;

fn decode_folder(bytes: &[u8], place: &Place) -> Option<(Folder, Inner)> {
    let mut from = Reader(bytes);
    if from.byte()? != VERSION {
        return None;
    }
    let mut folder = Folder { mode: from.mode()?, ..Folder::default() };
    let mut inner = Vec::new();
    for _ in 0..from.count()? {
        let name = from.bytes()?;
        let path = child(place.as_ref(), name)?;
        if path.name() != name || folder.entries.last().is_some_and(|last| *last.name >= *name) {
            return None;
        }
        let what = match *from.0.first()? {
            FOLDER => {
                from.byte()?;
                inner.push((Some(path), from.hash()?));
                NameState::Folder
            }
            UNCOVERED => {
                from.byte()?;
                NameState::Uncovered(UncoveredReason::of_code(from.byte()?)?)
            }
            _ => {
                NameState::claimed(&from.record()?.filter(|record| !matches!(record, Record::Folder { .. }))?)
            }
        };
        folder.entries.push(Entry { name: name.into(), what });
    }
    from.0.is_empty().then_some((folder, inner))
}

#[cfg(test)]
mod tests {
    use super::super::index::{Identity, Mark};
    use super::super::rules::Limits;
    use super::*;
    use crate::objects::{MemoryObjects, hash};

    fn sample() -> Index {
        let file = Record::File { hash: ContentHash([7; 32]), len: 300, mode: 0o644 };
        let entry = |name: &[u8], what| Entry { name: name.into(), what };
        let entries = vec![entry(b"a", NameState::claimed(&file))];
        let inner = Folder { mode: 0o700, inode: 9, attributes: None, entries };
        let root = Folder {
            mode: 0o755,
            inode: 8,
            attributes: None,
            entries: vec![
                entry(b"big", NameState::Uncovered(UncoveredReason::TooLarge)),
                entry(b"in", NameState::Folder),
                entry(b"to", NameState::claimed(&Record::Link { target: b"in".as_slice().into() })),
            ],
        };
        let place = |path: &[u8]| FilePath::new(path).unwrap();
        Index {
            identity: Identity { device: 1, inode: 2, volume: 3 },
            mark: Mark(ContentHash([0; 32])),
            limits: Limits { file: 1, ignored: 1 },
            always: BTreeSet::new(),
            folders: HashMap::from([(None, Arc::new(root)), (Some(place(b"in")), Arc::new(inner))]),
            extras: BTreeMap::from([(place(b"out/made"), Some(NameState::claimed(&file)))]),
            gone: BTreeMap::new(),
        }
    }

    /// Stored bytes must stay readable for ever: if this fails, the version must change, and the old one must still be
    /// read.
    #[test]
    fn the_bytes_are_pinned() {
        let objects = MemoryObjects::default();
        let name = write(&sample(), &objects).unwrap();
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let sevens = "07".repeat(32);
        let inner = format!("01c00301016101{sevens}ac02a403");
        let inner_name = hash(&sample_bytes(&inner));
        let root = format!("01ed030303626967050702696e04{inner_name}02746f0202696e");
        let root_name = hash(&sample_bytes(&root));
        let whole = format!("0101{root_name}0100086f75742f6d61646501{sevens}ac02a403");
        assert_eq!(hex(&objects.get(&inner_name).unwrap()), inner);
        assert_eq!(hex(&objects.get(&root_name).unwrap()), root);
        assert_eq!(hex(&objects.get(&name).unwrap()), whole);
        let manifest = Manifest::read(&objects, name).unwrap();
        assert_eq!(manifest.records, sample().records());
        assert_eq!(manifest.objects, BTreeSet::from([name, root_name, inner_name, ContentHash([7; 32])]));
    }

    fn sample_bytes(hex: &str) -> Vec<u8> {
        let pairs = hex.as_bytes().chunks(2);
        pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
    }
}
