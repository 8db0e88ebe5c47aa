//! The store in memory: the reference for the other backend, and the store of tests.
//!
//! It consists of persistent structures that are cheap to copy. A reader has a copy, a savepoint is a copy, and a
//! commit replaces the shared copy by the writer's. So a reader never sees uncommitted rows.

mod access;
mod chat;
mod data;
mod files;
mod outbox;
mod rows;
mod tool_turns;

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use retake_core::Time;

use crate::error::{Result, StoreError};
use crate::rows::{Backend, Rows, Transactions};
use crate::transfer::{Findings, Upkeep};
use data::Data;

/// A store that ends with the process.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    shared: Arc<RwLock<Shared>>,
}

/// The committed rows, and the epoch that may commit.
#[derive(Debug, Default)]
struct Shared {
    owner: u64,
    data: Data,
}

/// The rows of a [`Memory`]: for a reader, as they were at its beginning; or the writer's.
#[derive(Debug)]
pub struct MemoryRows {
    memory: Memory,
    owner: u64,
    data: Data,
    point: Option<Data>,
}

impl Memory {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// The writer's rows. The previous holder cannot commit any more.
    pub fn writer(&self) -> MemoryRows {
        let mut shared = self.write();
        shared.owner += 1;
        self.rows(&shared)
    }

    fn rows(&self, shared: &Shared) -> MemoryRows {
        MemoryRows { memory: self.clone(), owner: shared.owner, data: shared.data.clone(), point: None }
    }

    /// A poisoned lock can be used: under it there are only assignments.
    fn shared(&self) -> RwLockReadGuard<'_, Shared> {
        self.shared.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Shared> {
        self.shared.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Backend for Memory {
    fn read(&self, reader: &mut dyn FnMut(&dyn Rows)) -> Result<()> {
        let rows = self.rows(&self.shared());
        reader(&rows);
        Ok(())
    }
}

impl Transactions for MemoryRows {
    fn owner(&self) -> u64 {
        self.owner
    }

    fn begin(&mut self) -> Result<()> {
        let shared = self.memory.shared();
        if shared.owner != self.owner {
            return Err(StoreError::TakenOver);
        }
        self.data = shared.data.clone();
        self.point = None;
        Ok(())
    }

    fn save(&mut self) -> Result<()> {
        self.point = Some(self.data.clone());
        Ok(())
    }

    fn back(&mut self) -> Result<()> {
        if let Some(point) = &self.point {
            self.data = point.clone();
        }
        Ok(())
    }

    fn keep(&mut self) -> Result<()> {
        self.point = None;
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        let mut shared = self.memory.write();
        if shared.owner != self.owner {
            return Err(StoreError::TakenOver);
        }
        shared.data = self.data.clone();
        Ok(())
    }

    fn abandon(&mut self) {
        self.data = self.memory.shared().data.clone();
        self.point = None;
    }

    fn scrub(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Upkeep for MemoryRows {
    fn problems(&self) -> Result<Findings> {
        Ok(Findings::default())
    }

    fn mend(&mut self) -> Result<()> {
        Ok(())
    }

    fn copy_to(&self, to: Option<&Path>, _now: Time) -> Result<PathBuf> {
        let path = to.map_or_else(PathBuf::new, Path::to_owned);
        let source = std::io::Error::new(std::io::ErrorKind::Unsupported, "the store is only in memory");
        Err(StoreError::Io { attempt: "write a backup to", path, source })
    }
}

#[cfg(test)]
mod tests;
