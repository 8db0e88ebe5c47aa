//! Attributes of a file or a folder: its owner, special bits and extended attributes, including access lists. Records
//! do not contain them. An apply copies them from the file that it replaces. The index stores them for files that are
//! removed or replaced. So a file that is created again gets them back, and so does one that returns instead of a file
//! with other attributes. Reads only.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;

use retake_core::{ContentHash, FileChange, FilePath, Record};
use rustix::fs::Stat;
use rustix::io::Errno;

/// The mode bits that are no permissions: setuid, setgid, sticky.
pub(crate) const SPECIAL: u32 = 0o7000;

/// Setuid and setgid: a program runs as its owner or group.
pub(crate) const AS_OWNER: u32 = 0o6000;

/// Maintained by the kernel from bytes and inode: nobody else can write their values.
const OF_THE_KERNEL: [&[u8]; 2] = [b"security.ima", b"security.evm"];

/// File capabilities, which are rights. Every other attribute with that prefix is a label that the system gives to new
/// files.
const CAPABILITY: &[u8] = b"security.capability";

/// The most bytes of attributes that are stored for a removed file.
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
    /// `None` if some could not be read, or if they are too large to store.
    pub extended: Option<Vec<Attribute>>,
}

impl Attributes {
    /// The attributes of a new file.
    pub(crate) fn usual() -> Self {
        let (owner, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        Self { special: 0, owner, group, extended: Some(Vec::new()) }
    }

    /// The attributes of an opened file or folder; `None` if it only has those of a new one.
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

/// The extended attributes of an opened file, including access lists, except those that the kernel maintains.
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

/// A version of a path: a file's hash or a folder (`None`), and the permission bits.
pub(crate) type Version = (FilePath, Option<ContentHash>, u16);

/// Placeholder for unknown permission bits: earlier indexes stored none.
pub(crate) const ANY_MODE: u16 = u16::MAX;

/// The version of a path with this record; `None` for a link.
pub(crate) fn version(path: &FilePath, record: &Record) -> Option<Version> {
    match record {
        Record::File { hash, mode, .. } => Some((path.clone(), Some(*hash), *mode)),
        Record::Folder { mode } => Some((path.clone(), None, *mode)),
        Record::Link { .. } => None,
    }
}

/// The attributes of a version that is no longer at its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FormerAttributes {
    pub had: Arc<Attributes>,
    /// The attributes of the version that replaced it, if they differ: they belong to that version.
    pub then: Option<Arc<Attributes>>,
}

/// The changes of an apply, with the known attributes of their versions: see [`Tree::to_apply`](crate::Tree::to_apply).
#[derive(Clone, Debug, Default)]
pub struct Changes {
    pub(crate) changes: Vec<FileChange>,
    pub(crate) attributes: BTreeMap<Version, Arc<Attributes>>,
    /// The versions that get their attributes even in place of a file or folder with other ones.
    pub(crate) given: BTreeSet<Version>,
}

impl From<Vec<FileChange>> for Changes {
    /// Only the records are known.
    fn from(changes: Vec<FileChange>) -> Self {
        Self { changes, ..Self::default() }
    }
}
