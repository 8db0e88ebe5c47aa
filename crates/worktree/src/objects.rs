//! The interface of the object store: bytes by their hash.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;
use std::sync::{Mutex, MutexGuard, PoisonError};

use retake_core::ContentHash;

use self::index::FirstBytes;

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

/// Stores bytes by their hash. A stored object is visible to other threads at once, and durable once `sync` has
/// returned.
pub trait Objects: Send + Sync {
    /// Stores these bytes. Existing bytes are not written again.
    fn put(&self, bytes: &[u8]) -> Result<ContentHash>;
    /// Whether an object is there.
    fn contains(&self, hash: &ContentHash) -> bool;
    /// An object's bytes, verified.
    fn get(&self, hash: &ContentHash) -> Result<Vec<u8>>;
    /// Makes everything stored so far durable. Called before a row names any of it.
    fn sync(&self) -> Result<()>;
    /// Reading many objects is fastest in ascending order of this number, which is the order on disk.
    fn order(&self, _hash: &ContentHash) -> u64 {
        0
    }
}

/// A set of objects.
type Names = HashSet<ContentHash, BuildHasherDefault<FirstBytes>>;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
        locked(&self.0).entry(name).or_insert_with(|| bytes.to_vec());
        Ok(name)
    }

    fn contains(&self, hash: &ContentHash) -> bool {
        locked(&self.0).contains_key(hash)
    }

    fn get(&self, hash: &ContentHash) -> Result<Vec<u8>> {
        locked(&self.0).get(hash).cloned().ok_or(WorktreeError::Missing(*hash))
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }
}
