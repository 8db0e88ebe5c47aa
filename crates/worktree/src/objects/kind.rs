//! The kinds of a block's entries: an object; a chunk of a large one; the list of a large one's chunks. It knows only
//! bytes and names.
//!
//! A chunk's name is computed in another way than an object's. So a chunk is only needed, and only erased, through lists.
//!
//! ```text
//! list: check 32 | length of the object 8 | a chunk's name 32, as often as there are chunks
//! ```

use fastcdc::v2020::FastCDC;
use retake_core::ContentHash;

use super::block::LARGEST;
use super::hash;

const CHUNK: &str = "retake 2026-11 a chunk of an object";
const LIST: &str = "retake 2026-11 the list of the chunks of an object";
const CHECK: usize = 32;
const HEADER: usize = CHECK + 8;

/// The kind of an entry.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Kind {
    /// A whole object.
    #[default]
    Object = 0,
    /// A part of large objects.
    Chunk = 1,
    /// The chunks of a large object, by the object's name.
    List = 2,
}

impl Kind {
    /// The number of kinds.
    pub(super) const COUNT: usize = 3;

    /// The kind in its written form.
    pub(super) fn from_byte(byte: u8) -> Option<Self> {
        [Self::Object, Self::Chunk, Self::List].into_iter().find(|kind| *kind as u8 == byte)
    }

    /// Whether an entry with this name has these bytes.
    pub(super) fn verifies(self, name: &ContentHash, bytes: &[u8]) -> bool {
        match self {
            Self::Object => hash(bytes) == *name,
            Self::Chunk => chunk_name(bytes) == *name,
            Self::List => bytes.get(..CHECK).is_some_and(|check| *check == list_check(name, &bytes[CHECK..])),
        }
    }
}

/// The name of a chunk.
pub(super) fn chunk_name(bytes: &[u8]) -> ContentHash {
    ContentHash(blake3::derive_key(CHUNK, bytes))
}

fn list_check(name: &ContentHash, rest: &[u8]) -> [u8; CHECK] {
    *blake3::Hasher::new_derive_key(LIST).update(&name.0).update(rest).finalize().as_bytes()
}

/// Cuts an object into chunks of about this size, at places that depend only on the bytes around them: unchanged parts
/// give equal chunks.
pub(super) fn cut(bytes: &[u8], average: usize) -> impl Iterator<Item = &[u8]> {
    let chunks = FastCDC::new(bytes, average / 4, average, average * 4);
    chunks.map(|chunk| &bytes[chunk.offset..chunk.offset + chunk.length])
}

/// The parts of a large object.
#[derive(Debug, Default)]
pub(super) struct List {
    /// The size of the object.
    pub(super) len: usize,
    /// The names of its chunks, in order.
    pub(super) chunks: Vec<ContentHash>,
}

impl List {
    /// The written form, for the object with this name.
    pub(super) fn to_bytes(&self, name: &ContentHash) -> Vec<u8> {
        let mut bytes = vec![0; CHECK];
        bytes.extend_from_slice(&(self.len as u64).to_le_bytes());
        self.chunks.iter().for_each(|chunk| bytes.extend_from_slice(&chunk.0));
        let check = list_check(name, &bytes[CHECK..]);
        bytes[..CHECK].copy_from_slice(&check);
        bytes
    }

    /// Parses verified bytes.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let (header, names) = bytes.split_at_checked(HEADER)?;
        let len = usize::try_from(u64::from_le_bytes(header[CHECK..].try_into().ok()?)).ok()?;
        let (names, rest) = names.as_chunks::<32>();
        let chunks = names.iter().copied().map(ContentHash).collect();
        (len <= LARGEST && rest.is_empty()).then_some(Self { len, chunks })
    }
}
