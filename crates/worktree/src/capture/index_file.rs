//! The index on disk: one file per mark, written whole and put in place by a rename, its last bytes the hash of the
//! others. One that is missing, damaged or of another version is as if there had been none: everything is read again.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::below::Signature;
use super::bytes::{Reader, Writer};
use super::coverage::WhyNot;
use super::index::{Entry, FileSeen, Folder, Identity, Index, LinkSeen, Mark, Place, What, child};
use super::rules::Limits;
use crate::error::{Result, WorktreeError};
use crate::failpoint::failpoint;
use crate::objects::hash;

const MAGIC: &[u8] = b"retake index 1\n";

fn file_of(folder: &Path, mark: Mark) -> PathBuf {
    folder.join(format!("index-{}", mark.0))
}

/// Writes the index of a mark, durably.
pub(crate) fn save(folder: &Path, index: &Index) -> Result<()> {
    let whole = encode(index);
    let new = folder.join("index-new");
    let write = || {
        let mut file = File::create(&new)?;
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

/// The index of a mark, if it is there and whole.
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
    let mut count = 0_u64;
    index.walk(&None, &mut |_, _| count += 1);
    to.number(count);
    index.walk(&None, &mut |_, folder| {
        to.number(u64::from(folder.mode));
        to.number(folder.inode);
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

fn write_what(to: &mut Writer, what: &What) {
    match what {
        What::File(file) => {
            to.byte(FILE);
            write_signature(to, &file.signature, file.read_at);
            to.hash(&file.hash);
        }
        What::Link(link) => {
            to.byte(LINK);
            write_signature(to, &link.signature, link.read_at);
            to.bytes(&link.target);
        }
        What::Folder => to.byte(FOLDER),
        What::Uncovered(why) => {
            to.byte(UNCOVERED);
            to.byte(why.code());
        }
        What::Unknown(why, kept) => {
            to.byte(if kept.is_some() { KEPT } else { UNKNOWN });
            to.byte(why.code());
            if let Some(kept) = kept {
                write_what(to, kept);
            }
        }
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
    let mut from = Reader(body.strip_prefix(MAGIC)?);
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
            Some(read_what(&mut from)?)
        };
        extras.insert(path, what);
    }
    let folders = read_folders(&mut from)?;
    from.0.is_empty().then_some(Index { identity, mark, limits, always, folders, extras })
}

/// Folders come in the order in which [`Index::walk`] meets them, so their places need not be written.
fn read_folders(from: &mut Reader<'_>) -> Option<HashMap<Place, Arc<Folder>>> {
    let count = from.count()?;
    let mut folders = HashMap::with_capacity(count);
    let mut waiting: Vec<Place> = vec![None];
    while folders.len() < count {
        let place = waiting.pop()?;
        let folder = read_folder(from)?;
        let inner = folder.entries.iter().rev();
        for entry in inner.filter(|entry| entry.what.known() == Some(&What::Folder)) {
            waiting.push(Some(child(place.as_ref(), &entry.name)?));
        }
        folders.insert(place, Arc::new(folder));
    }
    Some(folders)
}

fn read_folder(from: &mut Reader<'_>) -> Option<Folder> {
    let mode = from.mode()?;
    let inode = from.number()?;
    let count = from.count()?;
    let mut entries: Vec<Entry> = Vec::with_capacity(count);
    for _ in 0..count {
        let name: Box<[u8]> = from.bytes()?.into();
        if entries.last().is_some_and(|last| last.name >= name) {
            return None;
        }
        let what = read_what(from)?;
        entries.push(Entry { name, what });
    }
    Some(Folder { mode, inode, entries })
}

fn read_what(from: &mut Reader<'_>) -> Option<What> {
    Some(match from.byte()? {
        FILE => {
            let (signature, read_at) = read_signature(from)?;
            What::File(FileSeen { signature, hash: from.hash()?, read_at })
        }
        LINK => {
            let (signature, read_at) = read_signature(from)?;
            What::Link(LinkSeen { signature, target: from.bytes()?.into(), read_at })
        }
        FOLDER => What::Folder,
        UNCOVERED => What::Uncovered(WhyNot::of_code(from.byte()?)?),
        UNKNOWN => What::Unknown(WhyNot::of_code(from.byte()?)?, None),
        KEPT => {
            let why = WhyNot::of_code(from.byte()?)?;
            What::Unknown(why, Some(Box::new(read_what(from)?)))
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
