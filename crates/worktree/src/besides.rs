//! What a file or a folder has besides its kind, its bytes and its permission bits: owner, special bits, extended
//! attributes with the access lists among them. No record has it. An apply hands it on from what it replaces; of what is
//! removed the index keeps it, so that what is made anew gets it back. Reads only.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;

use retake_core::{ContentHash, FileChange, FilePath, Record};
use rustix::fs::Stat;
use rustix::io::Errno;

use crate::Tree;

/// The bits of a mode that are no permissions: setuid, setgid, sticky.
pub(crate) const SPECIAL: u32 = 0o7000;

/// Kept by the kernel itself, of bytes and inode: nobody else can write what belongs there.
const OF_THE_KERNEL: [&[u8]; 2] = [b"security.ima", b"security.evm"];

/// File capabilities: rights, where all else that begins so is a label that the system gives to new files itself.
const CAPABILITY: &[u8] = b"security.capability";

/// Attributes of more bytes are not kept of what is removed.
const MOST: usize = 64 << 10;

/// A name and a value.
pub(crate) type Attribute = (Vec<u8>, Vec<u8>);

/// What one file or folder has besides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Besides {
    /// Setuid, setgid, sticky.
    pub special: u16,
    pub owner: u32,
    pub group: u32,
    /// `None`: it has some that could not be read, or more than is kept.
    pub attributes: Option<Vec<Attribute>>,
}

impl Besides {
    /// Of an opened file or folder; nothing, where it has no more than what is made anew has by itself.
    pub(crate) fn of(opened: impl AsFd, stat: &Stat) -> Option<Arc<Self>> {
        let attributes = attributes(opened).ok().map(|mut all| {
            all.retain(|(name, _)| !name.starts_with(b"security.") || name == CAPABILITY);
            all
        });
        let size = |all: &Vec<Attribute>| -> usize {
            all.iter().map(|(name, value)| name.len() + value.len()).sum()
        };
        let attributes = attributes.filter(|all| size(all) <= MOST);
        let (owner, group) = (stat.st_uid, stat.st_gid);
        let special = (stat.st_mode & SPECIAL) as u16;
        let ours = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        let is_usual =
            special == 0 && (owner, group) == ours && attributes.as_ref().is_some_and(Vec::is_empty);
        (!is_usual).then(|| Arc::new(Self { special, owner, group, attributes }))
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

/// A version of a path: a file by its bytes, a folder (`None`).
pub(crate) type Version = (FilePath, Option<ContentHash>);

/// The version of a path that a record is of; nothing of a link.
pub(crate) fn version(path: &FilePath, record: &Record) -> Option<Version> {
    match record {
        Record::File { hash, .. } => Some((path.clone(), Some(*hash))),
        Record::Folder { .. } => Some((path.clone(), None)),
        Record::Link { .. } => None,
    }
}

/// The changes of an apply, with what is known of their versions besides the records: see
/// [`Tree::to_apply`].
#[derive(Clone, Debug, Default)]
pub struct Changes {
    pub(crate) changes: Vec<FileChange>,
    pub(crate) besides: BTreeMap<Version, Arc<Besides>>,
}

impl Tree {
    /// The changes of an apply, with what is known of their versions besides the records: what is made anew gets back owner,
    /// special bits and attributes that the last capture of that version saw.
    pub fn to_apply(&self, changes: Vec<FileChange>) -> Changes {
        let sides = |change: &FileChange| {
            let one = |record: &Record| {
                Some((version(&change.path, record)?, self.index.besides(&change.path, record)?))
            };
            [&change.before, &change.after].map(|record| record.as_ref().and_then(one))
        };
        let besides = changes.iter().flat_map(sides).flatten().collect();
        Changes { changes, besides }
    }
}

impl From<Vec<FileChange>> for Changes {
    /// Nothing is known but the records.
    fn from(changes: Vec<FileChange>) -> Self {
        Self { changes, besides: BTreeMap::new() }
    }
}
