//! Attributes of a file or a folder: what it has in addition to its kind, its bytes and its permission bits. These are
//! its owner, special bits and extended attributes, access lists among them. No record has them. An apply copies them
//! from the file that it replaces. For files that are removed or replaced the index keeps them. So a file that is made
//! again gets them back, and so does one that returns instead of a file with other attributes. Reads only.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;

use retake_core::{ContentHash, FileChange, FilePath, Record};
use rustix::fs::Stat;
use rustix::io::Errno;

/// The bits of a mode that are no permissions: setuid, setgid, sticky.
pub(crate) const SPECIAL: u32 = 0o7000;

/// Setuid and setgid: a program runs as its owner or group.
pub(crate) const AS_OWNER: u32 = 0o6000;

/// Kept by the kernel itself, of bytes and inode: nobody else can write what belongs there.
const OF_THE_KERNEL: [&[u8]; 2] = [b"security.ima", b"security.evm"];

/// File capabilities: these are rights. Every other attribute with that prefix is a label that the system gives to new
/// files itself.
const CAPABILITY: &[u8] = b"security.capability";

/// Attributes of more bytes are not kept of what is removed.
const MOST: usize = 64 << 10;

/// A name and a value.
pub(crate) type Attribute = (Vec<u8>, Vec<u8>);

/// The attributes of one file or folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attributes {
    /// Setuid, setgid, sticky.
    pub special: u16,
    pub owner: u32,
    pub group: u32,
    /// `None`: it has some that could not be read, or more than is kept.
    pub extended: Option<Vec<Attribute>>,
}

impl Attributes {
    /// Those that a new file has by itself.
    pub(crate) fn usual() -> Self {
        let (owner, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        Self { special: 0, owner, group, extended: Some(Vec::new()) }
    }

    /// Those of an opened file or folder; `None`, where it has only those that a new one has by itself.
    pub(crate) fn of(opened: impl AsFd, stat: &Stat) -> Option<Arc<Self>> {
        let extended = attributes(opened).ok().map(|mut all| {
            all.retain(|(name, _)| !name.starts_with(b"security.") || name == CAPABILITY);
            all
        });
        let size = |all: &Vec<Attribute>| -> usize {
            all.iter().map(|(name, value)| name.len() + value.len()).sum()
        };
        let extended = extended.filter(|all| size(all) <= MOST);
        let (owner, group) = (stat.st_uid, stat.st_gid);
        let special = (stat.st_mode & SPECIAL) as u16;
        let found = Self { special, owner, group, extended };
        (found != Self::usual()).then(|| Arc::new(found))
    }
}

/// The extended attributes of what is opened, its access lists among them, but for those that the kernel keeps itself.
pub(crate) fn attributes(opened: impl AsFd) -> io::Result<Vec<Attribute>> {
    let length = match rustix::fs::flistxattr_query(&opened) {
        Ok(0) | Err(Errno::NOTSUP) => return Ok(Vec::new()),
        length => length?,
    };
    let mut list = vec![0; length];
    let length = rustix::fs::flistxattr(&opened, list.as_mut_slice())?;
    let names = list[..length].split(|byte| *byte == 0);
    let names = names.filter(|name| !name.is_empty() && !OF_THE_KERNEL.contains(name));
    names.map(|name| Ok((name.to_vec(), attribute(&opened, name)?))).collect()
}

/// The value of an attribute.
pub(crate) fn attribute(opened: impl AsFd, name: &[u8]) -> io::Result<Vec<u8>> {
    let mut value = vec![0; rustix::fs::fgetxattr_query(&opened, name)?];
    let length = rustix::fs::fgetxattr(&opened, name, value.as_mut_slice())?;
    value.truncate(length);
    Ok(value)
}

/// A version of a path: a file by its bytes, a folder (`None`); and its permission bits.
pub(crate) type Version = (FilePath, Option<ContentHash>, u16);

/// Stands for permission bits that are not known: earlier indexes kept none.
pub(crate) const ANY_MODE: u16 = u16::MAX;

/// The version of a path that a record is of; nothing of a link.
pub(crate) fn version(path: &FilePath, record: &Record) -> Option<Version> {
    match record {
        Record::File { hash, mode, .. } => Some((path.clone(), Some(*hash), *mode)),
        Record::Folder { mode } => Some((path.clone(), None, *mode)),
        Record::Link { .. } => None,
    }
}

/// What a version had that is not at its path any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gone {
    pub had: Arc<Attributes>,
    /// What the version has that took its place, where that is another one: it goes with that version.
    pub then: Option<Arc<Attributes>>,
}

/// The changes of an apply, with the known attributes of their versions: see [`Tree::to_apply`](crate::Tree::to_apply).
#[derive(Clone, Debug, Default)]
pub struct Changes {
    pub(crate) changes: Vec<FileChange>,
    pub(crate) attributes: BTreeMap<Version, Arc<Attributes>>,
    /// The versions that get this also instead of a file or folder that has other ones.
    pub(crate) given: BTreeSet<Version>,
}

impl From<Vec<FileChange>> for Changes {
    /// Nothing is known but the records.
    fn from(changes: Vec<FileChange>) -> Self {
        Self { changes, ..Self::default() }
    }
}
