//! The object store as the rest of the crate sees it: bytes by their hash.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use retake_core::ContentHash;

use crate::error::{Result, WorktreeError};

mod block;
mod check;
mod collect;
mod erase;
mod find;
mod guard;
mod index;
mod kind;
mod pack;
mod read;
mod segment;
mod write;

pub use check::Checked;
pub use collect::Collected;
pub use erase::Erased;
pub use find::Survey;
pub use guard::Guard;
pub use pack::{PackObjects, PackSizes};

/// Bytes, kept by their hash. What was put is there for other threads at once, and after a crash once `sync` has
/// returned.
pub trait Objects: Send + Sync {
    /// Keeps these bytes. Bytes that are there already are not written again.
    fn put(&self, bytes: &[u8]) -> Result<ContentHash>;
    /// Whether an object is there.
    fn contains(&self, hash: &ContentHash) -> bool;
    /// An object's bytes, verified.
    fn get(&self, hash: &ContentHash) -> Result<Vec<u8>>;
    /// Makes everything put so far durable. Called before a row names any of it.
    fn sync(&self) -> Result<()>;
    /// Reading many objects is fastest by this number, ascending: it follows the order on the disk.
    fn order(&self, _hash: &ContentHash) -> u64 {
        0
    }
}

/// The name of these bytes.
pub fn hash(bytes: &[u8]) -> ContentHash {
    ContentHash(*blake3::hash(bytes).as_bytes())
}

/// Objects in memory, for tests.
#[derive(Debug, Default)]
pub struct MemoryObjects(Mutex<HashMap<ContentHash, Vec<u8>>>);

impl Objects for MemoryObjects {
    fn put(&self, bytes: &[u8]) -> Result<ContentHash> {
        let name = hash(bytes);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(name).or_insert_with(|| bytes.to_vec());
        Ok(name)
    }

    fn contains(&self, hash: &ContentHash) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains_key(hash)
    }

    fn get(&self, hash: &ContentHash) -> Result<Vec<u8>> {
        let objects = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        objects.get(hash).cloned().ok_or(WorktreeError::Missing(*hash))
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }
}
