//! Reads objects, always verified. Reading in the order of [`super::Objects::order`] unpacks each block once.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use retake_core::ContentHash;

use super::block::{Block, Codec};
use super::index::{MEMORY, Place};
use super::kind::{Kind, List};
use super::pack::{PackObjects, State};
use super::segment::Segment;
use super::{Names, locked};
use crate::error::{Result, WorktreeError};
use crate::objects::hash;

/// The number of unpacked blocks that are kept for further objects in them.
const CACHED: usize = 32;
/// A larger block has one object, and is not requested twice in a row.
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

    /// Forgets matching blocks.
    pub(super) fn forget(&mut self, which: impl Fn(Place) -> bool) {
        self.0.retain(|(place, _)| !which(*place));
    }
}

/// The place to read an entry from.
enum Source {
    Memory(Kind, Vec<u8>),
    Disk(Place, Arc<Segment>),
}

impl State {
    fn source(&self, name: &ContentHash) -> Result<Source> {
        let place = *self.index.get(name).ok_or(WorktreeError::Missing(*name))?;
        if self.damaged.contains(name) {
            return Err(WorktreeError::Damaged(*name));
        }
        if place.segment == MEMORY {
            let pending = &self.pending[place.kind as usize].block;
            let block = self.full.get(&place.at).map_or(pending, |full| &full.block);
            let bytes = block.find(name).expect("BUG: a block in memory holds what the index says");
            return Ok(Source::Memory(place.kind, bytes.to_vec()));
        }
        let segment = self.segments.get(&place.segment).ok_or(WorktreeError::Missing(*name))?;
        Ok(Source::Disk(place, Arc::clone(segment)))
    }
}

impl State {
    /// Whether an entry exists, as far as is known.
    pub(super) fn has(&self, name: &ContentHash) -> bool {
        self.index.contains_key(name) && !self.damaged.contains(name)
    }
}

impl PackObjects {
    /// An object. A large one is assembled chunk by chunk, so that there is only one copy of it.
    pub(super) fn read(&self, name: &ContentHash) -> Result<Vec<u8>> {
        let (kind, bytes) = self.entry(name)?;
        if kind != Kind::List {
            return Ok(bytes);
        }
        let list = List::parse(&bytes).ok_or(WorktreeError::Damaged(*name))?;
        let mut whole = Vec::with_capacity(list.len);
        for chunk in &list.chunks {
            let (_, bytes) = self.entry(chunk).map_err(|error| match error {
                // If a chunk was collected, the object was, too.
                WorktreeError::Missing(_) => WorktreeError::Missing(*name),
                WorktreeError::Damaged(_) => WorktreeError::Damaged(*name),
                other => other,
            })?;
            whole.extend_from_slice(&bytes);
        }
        if hash(&whole) == *name { Ok(whole) } else { Err(WorktreeError::Damaged(*name)) }
    }

    /// Whether an object exists with each of its chunks; with `touch` a guard keeps it from now on.
    pub(super) fn look(&self, name: &ContentHash, touch: bool) -> bool {
        let mut chunks = Vec::new();
        let is_list = |state: &State| state.index.get(name).is_some_and(|place| place.kind == Kind::List);
        let listed = is_list(&locked(&self.state));
        if listed {
            match self.list(name) {
                Ok(Some(list)) => chunks = list.chunks,
                Ok(None) | Err(_) => return false,
            }
        }
        let state = locked(&self.state);
        let there = state.has(name) && chunks.iter().all(|chunk| state.has(chunk));
        if there && touch {
            let mut kept = locked(&self.kept);
            chunks.iter().chain([name]).for_each(|name| kept.touch(name));
        }
        // A list may have replaced a whole object just now.
        there && is_list(&state) == listed
    }

    /// The list of an object; `None` if there is no readable one.
    fn list(&self, name: &ContentHash) -> Result<Option<List>> {
        match self.entry(name) {
            Ok((Kind::List, bytes)) => Ok(List::parse(&bytes)),
            Ok(_) | Err(WorktreeError::Missing(_) | WorktreeError::Damaged(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Every readable list, in the order on disk.
    pub(super) fn each_list(&self, of: &mut dyn FnMut(ContentHash, &List)) -> Result<()> {
        let mut names: Vec<(Place, ContentHash)> = {
            let state = locked(&self.state);
            let lists = state.index.iter().filter(|(_, place)| place.kind == Kind::List);
            lists.map(|(name, place)| (*place, *name)).collect()
        };
        names.sort_unstable();
        for (_, name) in names {
            if let Some(list) = self.list(&name)? {
                of(name, &list);
            }
        }
        Ok(())
    }

    /// Whether all chunks of a list exist, damaged or not. A collection removes those of an unneeded object one by one.
    pub(super) fn has_all(&self, list: &List) -> bool {
        let state = locked(&self.state);
        list.chunks.iter().all(|chunk| state.index.contains_key(chunk))
    }

    /// The objects that these entries are, or are parts of.
    pub(super) fn objects_of(&self, entries: impl IntoIterator<Item = ContentHash>) -> Result<Names> {
        let mut objects: Names = entries.into_iter().collect();
        if objects.is_empty() {
            return Ok(objects);
        }
        let (mut parts, mut wholes) = (Names::default(), Names::default());
        self.each_list(&mut |name, list| {
            let own: Vec<_> = list.chunks.iter().filter(|chunk| objects.contains(*chunk)).collect();
            if !own.is_empty() {
                wholes.insert(name);
                parts.extend(own);
            }
        })?;
        objects.retain(|name| !parts.contains(name));
        objects.extend(wholes);
        Ok(objects)
    }

    /// The verified bytes of an entry.
    fn entry(&self, name: &ContentHash) -> Result<(Kind, Vec<u8>)> {
        let mut tried = None;
        loop {
            let (place, segment) = match locked(&self.state).source(name)? {
                Source::Memory(kind, bytes) => return Ok((kind, bytes)),
                Source::Disk(place, segment) => (place, segment),
            };
            // A collection or an erasure may have moved it during the reading; then it is read at its new place.
            if tried == Some(place) {
                return Err(self.mark_damaged(name, place));
            }
            match self.read_at(name, place, &segment) {
                Ok(Some(bytes)) => return Ok((place.kind, bytes)),
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
                    let verified = block.verified(name).is_some();
                    return Ok(verified.then_some(block.bytes));
                }
                let block = Arc::new(block);
                locked(&self.cache).add(place, Arc::clone(&block));
                block
            }
        };
        Ok(block.verified(name).map(<[u8]>::to_vec))
    }
}

/// The block at this place; `None` if it is too damaged.
pub(super) fn unpack(codec: &Codec, segment: &Segment, at: u32) -> io::Result<Option<Block>> {
    let at = u64::from(at);
    let Some((head, entries)) = segment.head(at, segment.file.metadata()?.len())? else {
        return Ok(None);
    };
    let payload = segment.payload(at, &head)?;
    Ok(codec.unpack(&head, entries, payload))
}
