//! The index on disk: one file for each mark, written completely and renamed into place, with a hash at its end. A
//! missing, damaged or older file counts as none: everything is read again.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use retake_core::UncoveredReason;

use super::below::Signature;
use super::bytes::{Reader, Writer};
use super::index::{Entry, FileSeen, Folder, Identity, Index, LinkSeen, Mark, NameState, Place, child};
use super::rules::Limits;
use crate::attributes::{ANY_MODE, Attributes, FormerAttributes, Version};
use crate::error::{Result, WorktreeError};
use crate::failpoint::failpoint;
use crate::objects::hash;

const MAGIC: &[u8] = b"retake index 3\n";

/// The version without the permission bits of removed versions and without what replaced them.
const WITHOUT_THEN: &[u8] = b"retake index 2\n";

/// The version without attributes: its records are trusted, and each file is read again.
const WITHOUT_ATTRIBUTES: &[u8] = b"retake index 1\n";

fn file_of(folder: &Path, mark: Mark) -> PathBuf {
    folder.join(format!("index-{}", mark.0))
}

/// Writes the index of a mark, durably.
pub(crate) fn save(folder: &Path, index: &Index) -> Result<()> {
    let whole = encode(index);
    let new = folder.join("index-new");
    let write = || {
        let mut private = File::options();
        private.write(true).create(true).truncate(true).mode(0o600);
        let mut file = private.open(&new)?;
        file.write_all(&whole)?;
        failpoint!("index.written")?;
        file.sync_data()?;
        failpoint!("index.synced")?;
        fs::rename(&new, file_of(folder, index.mark))?;
        failpoint!("index.renamed")?;
        File::open(folder)?.sync_all()
    };
    write().map_err(WorktreeError::io("write the index in", folder))
}

/// The index of a mark, if it exists and is complete.
pub(crate) fn load(folder: &Path, mark: Mark) -> Option<Index> {
    let whole = fs::read(file_of(folder, mark)).ok()?;
    decode(&whole).filter(|index| index.mark == mark)
}

/// Removes the indexes of all other marks.
pub(crate) fn remove_others(folder: &Path, mark: Option<Mark>) -> Result<()> {
    let keep = mark.map(|mark| file_of(folder, mark));
    let remove = || {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_name().as_encoded_bytes().starts_with(b"index-") && Some(&path) != keep.as_ref() {
                fs::remove_file(path)?;
                failpoint!("index.removed")?;
            }
        }
        Ok(())
    };
    remove().map_err(WorktreeError::io("tidy the indexes in", folder))
}

fn encode(index: &Index) -> Vec<u8> {
    let mut to = Writer(MAGIC.to_vec());
    to.hash(&index.mark.0);
    for number in [index.identity.device, index.identity.inode, index.identity.volume] {
        to.number(number);
    }
    to.number(index.limits.file);
    to.number(index.limits.ignored);
    to.number(index.always.len() as u64);
    let mut last = Vec::new();
    for path in &index.always {
        to.path(path, &mut last);
    }
    to.number(index.extras.len() as u64);
    last.clear();
    for (path, extra) in &index.extras {
        to.path(path, &mut last);
        match extra {
            None => to.byte(ABSENT),
            Some(what) => write_what(&mut to, what),
        }
    }
    to.number(index.gone.len() as u64);
    last.clear();
    for ((path, hash, mode), gone) in &index.gone {
        to.path(path, &mut last);
        to.byte(u8::from(hash.is_some()));
        if let Some(hash) = hash {
            to.hash(hash);
        }
        to.number(u64::from(*mode));
        write_attributes(&mut to, Some(&gone.had));
        write_attributes(&mut to, gone.then.as_deref());
    }
    let mut count = 0_u64;
    index.walk(&None, &mut |_, _| count += 1);
    to.number(count);
    index.walk(&None, &mut |_, folder| {
        to.number(u64::from(folder.mode));
        to.number(folder.inode);
        write_attributes(&mut to, folder.attributes.as_deref());
        to.number(folder.entries.len() as u64);
        for entry in &folder.entries {
            to.bytes(&entry.name);
            write_what(&mut to, &entry.what);
        }
    });
    let sum = hash(&to.0);
    to.hash(&sum);
    to.0
}

const FILE: u8 = 0;
const LINK: u8 = 1;
const FOLDER: u8 = 2;
const UNCOVERED: u8 = 3;
const UNKNOWN: u8 = 4;
const KEPT: u8 = 5;
const ABSENT: u8 = 6;

fn write_what(to: &mut Writer, what: &NameState) {
    match what {
        NameState::File(file) => {
            to.byte(FILE);
            write_signature(to, &file.signature, file.read_at);
            to.hash(&file.hash);
            write_attributes(to, file.attributes.as_deref());
        }
        NameState::Link(link) => {
            to.byte(LINK);
            write_signature(to, &link.signature, link.read_at);
            to.bytes(&link.target);
        }
        NameState::Folder => to.byte(FOLDER),
        NameState::Uncovered(why) => {
            to.byte(UNCOVERED);
            to.byte(why.code());
        }
        NameState::Unknown(why, kept) => {
            to.byte(if kept.is_some() { KEPT } else { UNKNOWN });
            to.byte(why.code());
            if let Some(kept) = kept {
                write_what(to, kept);
            }
        }
    }
}

fn write_attributes(to: &mut Writer, attributes: Option<&Attributes>) {
    to.byte(u8::from(attributes.is_some()));
    let Some(attributes) = attributes else { return };
    to.number(u64::from(attributes.special));
    to.number(u64::from(attributes.owner));
    to.number(u64::from(attributes.group));
    to.byte(u8::from(attributes.extended.is_some()));
    let attributes = attributes.extended.as_deref().unwrap_or_default();
    to.number(attributes.len() as u64);
    for (name, value) in attributes {
        to.bytes(name);
        to.bytes(value);
    }
}

fn write_signature(to: &mut Writer, signature: &Signature, read_at: i64) {
    to.number(signature.size);
    to.signed(signature.ctime);
    to.signed(signature.mtime.wrapping_sub(signature.ctime));
    to.signed(read_at.wrapping_sub(signature.ctime));
    to.number(signature.inode);
    to.number(u64::from(signature.mode));
    to.number(u64::from(signature.links));
}

fn decode(whole: &[u8]) -> Option<Index> {
    let (body, sum) = whole.split_at_checked(whole.len().checked_sub(32)?)?;
    if hash(body).0 != sum {
        return None;
    }
    let known = [
        (WITHOUT_ATTRIBUTES, IndexContent::Records),
        (WITHOUT_THEN, IndexContent::Attributes),
        (MAGIC, IndexContent::Then),
    ];
    let (mut from, knows) =
        known.into_iter().find_map(|(magic, knows)| Some((Reader(body.strip_prefix(magic)?), knows)))?;
    let mark = Mark(from.hash()?);
    let identity = Identity { device: from.number()?, inode: from.number()?, volume: from.number()? };
    let limits = Limits { file: from.number()?, ignored: from.number()? };
    let mut last = Vec::new();
    let always = (0..from.count()?).map(|_| from.path(&mut last)).collect::<Option<BTreeSet<_>>>()?;
    let mut extras = BTreeMap::new();
    last.clear();
    for _ in 0..from.count()? {
        let path = from.path(&mut last)?;
        let what = if from.0.first() == Some(&ABSENT) {
            from.byte()?;
            None
        } else {
            Some(read_what(&mut from, knows)?)
        };
        extras.insert(path, what);
    }
    let gone = match knows {
        IndexContent::Records => BTreeMap::new(),
        IndexContent::Attributes | IndexContent::Then => read_gone(&mut from, knows)?,
    };
    let folders = read_folders(&mut from, knows)?;
    from.0.is_empty().then_some(Index { identity, mark, limits, always, folders, extras, gone })
}

/// The content of an index version.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IndexContent {
    /// Records only, in the first version.
    Records,
    /// Also attributes.
    Attributes,
    /// Also the attributes of the versions that replaced removed ones.
    Then,
}

fn read_gone(from: &mut Reader<'_>, knows: IndexContent) -> Option<BTreeMap<Version, FormerAttributes>> {
    let mut gone = BTreeMap::new();
    let mut last = Vec::new();
    for _ in 0..from.count()? {
        let path = from.path(&mut last)?;
        let hash = match from.byte()? {
            0 => None,
            _ => Some(from.hash()?),
        };
        let mode = if knows == IndexContent::Then { u16::try_from(from.number()?).ok()? } else { ANY_MODE };
        let had = read_attributes(from)??;
        let then = if knows == IndexContent::Then { read_attributes(from)? } else { None };
        gone.insert((path, hash, mode), FormerAttributes { had, then });
    }
    Some(gone)
}

/// The inner `None` are the usual attributes.
fn read_attributes(from: &mut Reader<'_>) -> Option<Option<Arc<Attributes>>> {
    if from.byte()? == 0 {
        return Some(None);
    }
    let special = u16::try_from(from.number()?).ok()?;
    let owner = u32::try_from(from.number()?).ok()?;
    let group = u32::try_from(from.number()?).ok()?;
    let is_whole = from.byte()? != 0;
    let mut extended = Vec::new();
    for _ in 0..from.count()? {
        extended.push((from.bytes()?.to_vec(), from.bytes()?.to_vec()));
    }
    let extended = is_whole.then_some(extended);
    Some(Some(Arc::new(Attributes { special, owner, group, extended })))
}

/// Folders are in the order of [`Index::walk`], so their paths need not be stored.
fn read_folders(from: &mut Reader<'_>, knows: IndexContent) -> Option<HashMap<Place, Arc<Folder>>> {
    let count = from.count()?;
    let mut folders = HashMap::with_capacity(count);
    let mut waiting: Vec<Place> = vec![None];
    while folders.len() < count {
        let place = waiting.pop()?;
        let folder = read_folder(from, knows)?;
        let inner = folder.entries.iter().rev();
        for entry in inner.filter(|entry| entry.what.known() == Some(&NameState::Folder)) {
            waiting.push(Some(child(place.as_ref(), &entry.name)?));
        }
        folders.insert(place, Arc::new(folder));
    }
    Some(folders)
}

fn read_folder(from: &mut Reader<'_>, knows: IndexContent) -> Option<Folder> {
    let mode = from.mode()?;
    let inode = from.number()?;
    let attributes = if knows == IndexContent::Records { None } else { read_attributes(from)? };
    let count = from.count()?;
    let mut entries: Vec<Entry> = Vec::with_capacity(count);
    for _ in 0..count {
        let name: Box<[u8]> = from.bytes()?.into();
        if entries.last().is_some_and(|last| last.name >= name) {
            return None;
        }
        let what = read_what(from, knows)?;
        entries.push(Entry { name, what });
    }
    Some(Folder { mode, inode, attributes, entries })
}

fn read_what(from: &mut Reader<'_>, knows: IndexContent) -> Option<NameState> {
    Some(match from.byte()? {
        FILE => {
            let (signature, read_at) = read_signature(from)?;
            let hash = from.hash()?;
            let attributes = if knows == IndexContent::Records { None } else { read_attributes(from)? };
            let mut what = NameState::File(FileSeen { signature, hash, read_at, attributes });
            if knows == IndexContent::Records {
                what.lose();
            }
            what
        }
        LINK => {
            let (signature, read_at) = read_signature(from)?;
            NameState::Link(LinkSeen { signature, target: from.bytes()?.into(), read_at })
        }
        FOLDER => NameState::Folder,
        UNCOVERED => NameState::Uncovered(UncoveredReason::of_code(from.byte()?)?),
        UNKNOWN => NameState::Unknown(UncoveredReason::of_code(from.byte()?)?, None),
        KEPT => {
            let why = UncoveredReason::of_code(from.byte()?)?;
            NameState::Unknown(why, Some(Box::new(read_what(from, knows)?)))
        }
        _ => return None,
    })
}

fn read_signature(from: &mut Reader<'_>) -> Option<(Signature, i64)> {
    let size = from.number()?;
    let ctime = from.signed()?;
    let mtime = ctime.wrapping_add(from.signed()?);
    let read_at = ctime.wrapping_add(from.signed()?);
    let inode = from.number()?;
    let mode = u16::try_from(from.number()?).ok()?;
    let links = u32::try_from(from.number()?).ok()?;
    Some((Signature { size, mtime, ctime, inode, mode, links }, read_at))
}

#[cfg(test)]
mod tests {
    use retake_core::{ContentHash, FilePath};

    use super::*;

    /// A root with one file, written in the version without attributes.
    fn first_version() -> Vec<u8> {
        let mut to = Writer(WITHOUT_ATTRIBUTES.to_vec());
        to.hash(&ContentHash([1; 32]));
        // The root's device, inode and volume; the limits; no always-covered paths, no extras; one folder.
        [1, 2, 3, 64, 32, 0, 0, 1].into_iter().for_each(|number| to.number(number));
        // Its mode, its inode, and its one entry.
        [0o755, 2, 1].into_iter().for_each(|number| to.number(number));
        to.bytes(b"a");
        to.byte(FILE);
        let signature = Signature { size: 5, mtime: 7, ctime: 8, inode: 9, mode: 0o644, links: 1 };
        write_signature(&mut to, &signature, 10);
        to.hash(&ContentHash([4; 32]));
        let sum = hash(&to.0);
        to.hash(&sum);
        to.0
    }

    #[test]
    fn trial_08_an_index_of_the_first_version_is_read_and_its_files_are_read_again() {
        let index = decode(&first_version()).unwrap();
        let folder = &index.folders[&None];
        assert_eq!((folder.mode, folder.inode, index.limits.file), (0o755, 2, 64));
        let Some(NameState::File(file)) = folder.find(b"a") else { panic!("{folder:?}") };
        assert_eq!((file.hash, file.signature.size, file.put()), (ContentHash([4; 32]), 5, None));
        assert!(index.gone.is_empty());
    }

    #[test]
    fn trial_08_attributes_in_the_index_survive_writing_and_reading() {
        let attributes =
            |extended| Arc::new(Attributes { special: 0o4000, owner: 1, group: u32::MAX, extended });
        let mut index = decode(&first_version()).unwrap();
        let path = FilePath::new(b"gone").unwrap();
        let known = [(b"user.a".to_vec(), b"\0value".to_vec())];
        let then = Some(attributes(Some(Vec::new())));
        let had = attributes(Some(known.into()));
        index.gone.insert((path.clone(), Some(ContentHash([5; 32])), 0o644), FormerAttributes { had, then });
        index.gone.insert((path, None, ANY_MODE), FormerAttributes { had: attributes(None), then: None });
        let mut folder = (*index.folders[&None]).clone();
        folder.attributes = Some(attributes(Some(Vec::new())));
        let NameState::File(file) = &mut folder.entries[0].what else { panic!("{folder:?}") };
        file.attributes = Some(attributes(None));
        index.folders.insert(None, Arc::new(folder));
        let read = decode(&encode(&index)).unwrap();
        assert_eq!((&read.gone, &read.folders), (&index.gone, &index.folders));
    }
}
