//! The place of each object: in memory for all, and a file for each segment, so that opening reads no segment. A missing
//! or damaged file is created again from its segment, which is always right.
//!
//! ```text
//! magic 8 | version 4 | covered 8 | count 8 | count times (block's place 4 | kind 1 | hash 32) | BLAKE3 of all before 32
//! ```

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use retake_core::ContentHash;

use super::kind::Kind;
use crate::failpoint::failpoint;

const MAGIC: [u8; 8] = *b"RetakeIx";
/// A file of another version is created again.
const VERSION: u32 = 2;
const HEADER: usize = 28;
const ENTRY: usize = 37;
const CHECK: usize = 32;

/// The number for no segment: the block is still in memory, and `at` is its number there.
pub(super) const MEMORY: u32 = u32::MAX;

/// The place of a block. Ordered as on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) segment: u32,
    pub(super) at: u32,
    /// The kind of the entry.
    pub(super) kind: Kind,
}

/// A trivial hasher: hashes are already evenly distributed.
#[derive(Default)]
pub(super) struct FirstBytes(u64);

impl Hasher for FirstBytes {
    fn write(&mut self, bytes: &[u8]) {
        if let Some(first) = bytes.first_chunk() {
            self.0 = u64::from_le_bytes(*first);
        }
    }

    fn write_usize(&mut self, _len: usize) {}

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The place of every entry, 44 bytes each plus the table's free slots.
pub(super) type Index = HashMap<ContentHash, Place, BuildHasherDefault<FirstBytes>>;

/// The content of an index file.
pub(super) struct Listed {
    /// The end of the covered part of the segment, in bytes.
    pub(super) covered: u64,
    /// The entries and their blocks.
    pub(super) entries: Vec<(u32, Kind, ContentHash)>,
}

/// Reads an index file. `None` if it is missing, damaged, of another version, or covers more than `len`.
pub(super) fn read(path: &Path, len: u64) -> Option<Listed> {
    let bytes = std::fs::read(path).ok()?;
    let (body, check) = bytes.split_at_checked(bytes.len().checked_sub(CHECK)?)?;
    let (header, entries) = body.split_at_checked(HEADER)?;
    let covered = u64::from_le_bytes(header[12..20].try_into().ok()?);
    let known = header[..8] == MAGIC && header[8..12] == VERSION.to_le_bytes() && covered <= len;
    let count = u64::from_le_bytes(header[20..28].try_into().ok()?);
    if !known || count != (entries.len() / ENTRY) as u64 || blake3::hash(body).as_bytes() != check {
        return None;
    }
    let entry = |entry: &[u8]| {
        let at = u32::from_le_bytes(entry[..4].try_into().ok()?);
        Some((at, Kind::from_byte(entry[4])?, ContentHash(entry[5..].try_into().ok()?)))
    };
    Some(Listed { covered, entries: entries.chunks_exact(ENTRY).map(entry).collect::<Option<_>>()? })
}

/// Writes an index file. It is not synced: an incomplete one is detected and created again.
pub(super) fn write(path: &Path, listed: &mut Listed) -> io::Result<()> {
    listed.entries.sort_unstable_by_key(|(at, _, name)| (*at, name.0));
    let mut bytes = Vec::with_capacity(HEADER + listed.entries.len() * ENTRY + CHECK);
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&listed.covered.to_le_bytes());
    bytes.extend_from_slice(&(listed.entries.len() as u64).to_le_bytes());
    for (at, kind, name) in &listed.entries {
        bytes.extend_from_slice(&at.to_le_bytes());
        bytes.push(*kind as u8);
        bytes.extend_from_slice(&name.0);
    }
    let check = blake3::hash(&bytes);
    bytes.extend_from_slice(check.as_bytes());
    let beside = path.with_extension("new");
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
    file.write_all(&bytes)?;
    drop(file);
    failpoint!("objects.listed")?;
    std::fs::rename(&beside, path)?;
    failpoint!("objects.indexed")
}
