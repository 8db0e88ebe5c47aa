//! The record of one path at one moment.

use std::fmt;
use std::sync::Arc;

/// The BLAKE3 hash of a file's bytes: their name in the object store.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash(pub [u8; 32]);

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({self})")
    }
}

/// A path's record (spec `rewind.md`, *Capture*): its kind, its bytes by hash, its permission bits. Times and owners are
/// not part of it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Record {
    /// A regular file.
    File {
        /// Its bytes.
        hash: ContentHash,
        /// Its size in bytes.
        len: u64,
        /// Its permission bits, `& 0o777`.
        mode: u16,
    },
    /// A symbolic link; never followed.
    Link {
        /// Its target, unchanged.
        target: Arc<[u8]>,
    },
    /// A folder itself; its content has records of its own.
    Folder {
        /// Its permission bits, `& 0o777`.
        mode: u16,
    },
}

impl Record {
    /// The object that this record needs.
    pub fn hash(&self) -> Option<ContentHash> {
        match self {
            Self::File { hash, .. } => Some(*hash),
            Self::Link { .. } | Self::Folder { .. } => None,
        }
    }
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { hash, len, mode } => {
                let hash = hash.to_string();
                write!(f, "File({}, {len} bytes, {mode:o})", &hash[..12])
            }
            Self::Link { target } => write!(f, "Link({})", String::from_utf8_lossy(target)),
            Self::Folder { mode } => write!(f, "Folder({mode:o})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_shown_by_the_beginning_of_their_hash() {
        let hash = ContentHash([0xab; 32]);
        assert_eq!(hash.to_string(), "ab".repeat(32));
        assert_eq!(format!("{hash:?}"), format!("ContentHash({hash})"));
        let rows = [
            (Record::File { hash, len: 5, mode: 0o644 }, "File(abababababab, 5 bytes, 644)", Some(hash)),
            (Record::Link { target: Arc::from(&b"to"[..]) }, "Link(to)", None),
            (Record::Folder { mode: 0o755 }, "Folder(755)", None),
        ];
        for (record, shown, bytes) in rows {
            assert_eq!((format!("{record:?}").as_str(), record.hash()), (shown, bytes));
        }
    }
}
