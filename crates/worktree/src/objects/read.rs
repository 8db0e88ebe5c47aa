//! How objects are read: verified, always. Reading in the order of [`super::Objects::order`] unpacks each block once.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use retake_core::ContentHash;

use super::block::{Block, Codec};
use super::index::{MEMORY, Place};
use super::pack::{PackObjects, State, locked};
use super::segment::Segment;
use crate::error::{Result, WorktreeError};
use crate::objects::hash;

/// Unpacked blocks that are kept for the next objects out of them.
const CACHED: usize = 32;
/// A larger block holds one object, and isn't asked for twice in a row.
const LARGEST_CACHED: usize = 1 << 20;

/// The last blocks that were read, the latest at the end.
#[derive(Default)]
pub(super) struct Cache(VecDeque<(Place, Arc<Block>)>);

impl Cache {
    fn get(&mut self, place: Place) -> Option<Arc<Block>> {
        let at = self.0.iter().rposition(|(cached, _)| *cached == place)?;
        let found = self.0.remove(at)?;
        let block = Arc::clone(&found.1);
        self.0.push_back(found);
        Some(block)
    }

    fn add(&mut self, place: Place, block: Arc<Block>) {
        if self.0.len() >= CACHED {
            self.0.pop_front();
        }
        self.0.push_back((place, block));
    }

    /// Forgets the blocks of which this is so.
    pub(super) fn forget(&mut self, which: impl Fn(Place) -> bool) {
        self.0.retain(|(place, _)| !which(*place));
    }
}

/// Where to read an object.
enum Source {
    Memory(Vec<u8>),
    Disk(Place, Arc<Segment>),
}

impl State {
    fn source(&self, name: &ContentHash) -> Result<Source> {
        let place = *self.index.get(name).ok_or(WorktreeError::Missing(*name))?;
        if self.damaged.contains(name) {
            return Err(WorktreeError::Damaged(*name));
        }
        if place.segment == MEMORY {
            let block = self.full.get(&place.at).map_or(&self.pending, |full| &full.block);
            let bytes = block.find(name).expect("BUG: a block in memory holds what the index says");
            return Ok(Source::Memory(bytes.to_vec()));
        }
        let segment = self.segments.get(&place.segment).ok_or(WorktreeError::Missing(*name))?;
        Ok(Source::Disk(place, Arc::clone(segment)))
    }
}

impl PackObjects {
    pub(super) fn read(&self, name: &ContentHash) -> Result<Vec<u8>> {
        let mut tried = None;
        loop {
            let (place, segment) = match locked(&self.state).source(name)? {
                Source::Memory(bytes) => return Ok(bytes),
                Source::Disk(place, segment) => (place, segment),
            };
            // A collection or an erasure may have moved it while it was read; then it is read at its new place.
            if tried == Some(place) {
                return Err(self.mark_damaged(name, place));
            }
            match self.read_at(name, place, &segment) {
                Ok(Some(bytes)) => return Ok(bytes),
                Ok(None) => tried = Some(place),
                Err(source) => return Err(WorktreeError::io("read", &segment.path)(source)),
            }
            locked(&self.cache).forget(|cached| cached == place);
        }
    }

    fn mark_damaged(&self, name: &ContentHash, place: Place) -> WorktreeError {
        let mut state = locked(&self.state);
        if state.index.get(name) == Some(&place) {
            state.damaged.insert(*name);
        }
        WorktreeError::Damaged(*name)
    }

    fn read_at(&self, name: &ContentHash, place: Place, segment: &Segment) -> io::Result<Option<Vec<u8>>> {
        let cached = locked(&self.cache).get(place);
        let block = match cached {
            Some(block) => block,
            None => {
                let Some(block) = unpack(&self.codec, segment, place.at)? else { return Ok(None) };
                if block.bytes.len() > LARGEST_CACHED && block.entries.len() == 1 {
                    let verified = block.entries[0].name == *name && hash(&block.bytes) == *name;
                    return Ok(verified.then_some(block.bytes));
                }
                let block = Arc::new(block);
                locked(&self.cache).add(place, Arc::clone(&block));
                block
            }
        };
        Ok(block.find(name).filter(|bytes| hash(bytes) == *name).map(<[u8]>::to_vec))
    }
}

/// The block at this place; nothing, if it is damaged so that nothing can be got out of it.
pub(super) fn unpack(codec: &Codec, segment: &Segment, at: u32) -> io::Result<Option<Block>> {
    let at = u64::from(at);
    let Some((head, entries)) = segment.head(at, segment.file.metadata()?.len())? else {
        return Ok(None);
    };
    let payload = segment.payload(at, &head)?;
    Ok(codec.unpack(&head, entries, payload))
}
