//! Collection: a segment with mostly unreferenced objects is rewritten without them. The old one must be removed only
//! when everything of it that stays is durable elsewhere. A crash at any moment leaves an object twice, never lost.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use retake_core::ContentHash;

use super::block::Block;
use super::guard::Guard;
use super::index::Place;
use super::kind::Kind;
use super::pack::{PackObjects, index_path};
use super::read::unpack;
use super::segment::{Depth, Scan, Segment, sync_folder_of};
use super::{Names, locked};
use crate::error::{Result, WorktreeError};

/// A segment is rewritten when less than this percentage of it is still needed.
const NEEDED: u64 = 75;

/// The result of a collection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Collected {
    /// The bytes of the removed segments.
    pub removed: u64,
    /// The objects that were rewritten elsewhere.
    pub moved: usize,
    /// Needed objects that cannot be read. Their segments are left unchanged.
    pub damaged: Vec<ContentHash>,
}

/// A segment to rewrite.
pub(super) struct Candidate {
    number: u32,
    segment: Arc<Segment>,
    pub(super) len: u64,
    pub(super) needed: u64,
    /// The entries that are not needed; everything else in it is.
    dead: Names,
    /// The number of objects among these, without chunks.
    pub(super) objects: u64,
}

/// The needed entries.
pub(super) struct Needed<'a> {
    /// Decides for objects.
    live: &'a dyn Fn(&ContentHash) -> bool,
    /// The chunks of needed objects.
    chunks: Names,
}

impl Needed<'_> {
    fn has(&self, kind: Kind, name: &ContentHash) -> bool {
        if kind == Kind::Chunk { self.chunks.contains(name) } else { (self.live)(name) }
    }
}

/// The result for the objects of a segment.
#[derive(Default)]
pub(super) struct Moved {
    pub(super) objects: usize,
    pub(super) unreadable: Names,
}

impl PackObjects {
    /// Removes what is not live. The guard must be taken before the caller begins to determine what is live: objects
    /// that are stored or found since then stay. `progress` gets the bytes processed so far, and the total.
    ///
    /// It needs space for the remaining content of one segment; segments without any go first.
    pub fn collect(
        &self,
        guard: &Guard,
        live: &dyn Fn(&ContentHash) -> bool,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Collected> {
        self.collect_until(&AtomicBool::new(false), guard, live, progress)
    }

    /// The same, until it is asked to stop: then the current segment is the last one.
    pub fn collect_until(
        &self,
        stop: &AtomicBool,
        guard: &Guard,
        live: &dyn Fn(&ContentHash) -> bool,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Collected> {
        assert!(guard.is_of(&self.kept), "BUG: the guard of a collection is of the pack that is collected");
        let _collecting = locked(&self.collecting);
        self.make_durable()?;
        // The guard keeps a list that is stored or found after this, with each of its chunks.
        let needed = self.needed(live)?;
        let mut candidates = Vec::new();
        for (number, segment) in self.segments() {
            let candidate = self.candidate(number, segment, &needed)?;
            if candidate.needed * 100 < candidate.len * NEEDED {
                candidates.push(candidate);
            }
        }
        candidates.sort_by_key(|candidate| (candidate.needed, candidate.number));
        let total = candidates.iter().map(|candidate| candidate.len).sum();
        let mut collected = Collected::default();
        let mut done = 0;
        for candidate in &candidates {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            progress(done, total);
            done += candidate.len;
            self.rewrite(candidate, &mut collected, &mut || progress(done, total))?;
        }
        if candidates.is_empty() {
            progress(total, total);
        }
        let damaged = self.objects_of(std::mem::take(&mut collected.damaged))?;
        let needed = |name: &ContentHash| live(name) || locked(&self.kept).has(name);
        collected.damaged = damaged.into_iter().filter(needed).collect();
        Ok(collected)
    }

    /// The needed entries, when `live` decides about objects.
    pub(super) fn needed<'a>(&self, live: &'a dyn Fn(&ContentHash) -> bool) -> Result<Needed<'a>> {
        let mut chunks = Names::default();
        self.each_list(&mut |name, list| {
            if live(&name) {
                chunks.extend(&list.chunks);
            }
        })?;
        Ok(Needed { live, chunks })
    }

    /// The existing segments, oldest first.
    pub(super) fn segments(&self) -> Vec<(u32, Arc<Segment>)> {
        let state = locked(&self.state);
        state.segments.iter().map(|(number, segment)| (*number, Arc::clone(segment))).collect()
    }

    /// The content of a segment, needed or not.
    pub(super) fn scan(&self, number: u32, segment: &Segment) -> Result<Scan> {
        let end = locked(&self.writer).end_of(number);
        let end = end.map_or_else(|| segment.len(), Ok)?;
        let mut scan = segment.scan(super::segment::HEADER as u64, end, Depth::Names)?;
        scan.gaps |= scan.end < end;
        Ok(scan)
    }

    pub(super) fn candidate(
        &self,
        number: u32,
        segment: Arc<Segment>,
        needs: &Needed<'_>,
    ) -> Result<Candidate> {
        let scan = self.scan(number, &segment)?;
        let len = segment.len()?;
        let mut candidate = Candidate { number, segment, len, needed: 0, dead: Names::default(), objects: 0 };
        for found in &scan.blocks {
            let at = u32::try_from(found.at).unwrap_or(u32::MAX);
            let kind = found.head.kind;
            let here = Place { segment: number, at, kind };
            let mut needed = 0;
            for entry in &found.entries {
                let is_here = locked(&self.state).index.get(&entry.name) == Some(&here);
                // Not called with a lock held: the callback may read from this pack.
                if is_here && needs.has(kind, &entry.name) {
                    needed += entry.len() as u64 + 1;
                } else if is_here {
                    candidate.dead.insert(entry.name);
                    candidate.objects += u64::from(kind != Kind::Chunk);
                }
            }
            let raw = found.head.raw() as u64 + found.entries.len() as u64;
            candidate.needed += found.head.len() * needed / raw.max(1);
        }
        Ok(candidate)
    }

    /// `copied` is called when the remaining content is durable elsewhere.
    fn rewrite(
        &self,
        candidate: &Candidate,
        collected: &mut Collected,
        copied: &mut dyn FnMut(),
    ) -> Result<()> {
        let Candidate { number, segment, dead, .. } = candidate;
        self.seal_if(*number)?;
        let mut unreadable = Names::default();
        loop {
            let stays = |name: &ContentHash| {
                !unreadable.contains(name) && (!dead.contains(name) || locked(&self.kept).has(name))
            };
            let moved = self.relocate(*number, segment, &stays)?;
            collected.moved += moved.objects;
            unreadable.extend(moved.unreadable);
            self.sync_written()?;
            copied();
            if !self.retire(*number, dead, &unreadable) {
                // A dead object was stored or requested meanwhile, or a needed one cannot be read.
                let state = locked(&self.state);
                let kept = locked(&self.kept);
                let mut here = state.index.iter().filter(|(_, place)| place.segment == *number);
                let again = here
                    .any(|(name, _)| !unreadable.contains(name) && (!dead.contains(name) || kept.has(name)));
                if again {
                    continue;
                }
                collected.damaged.extend(unreadable);
                return Ok(());
            }
            self.remove_files(*number, segment)?;
            collected.removed += candidate.len;
            return Ok(());
        }
    }

    /// Forgets a segment with its dead entries, if it has no others.
    fn retire(&self, number: u32, dead: &Names, unreadable: &Names) -> bool {
        let mut state = locked(&self.state);
        let kept = locked(&self.kept);
        let mut here = state.index.iter().filter(|(_, place)| place.segment == number);
        let needed = |name: &ContentHash| !dead.contains(name) || kept.has(name) || unreadable.contains(name);
        if here.any(|(name, _)| needed(name)) {
            return false;
        }
        drop(kept);
        state.forget(number);
        drop(state);
        locked(&self.cache).forget(|place| place.segment == number);
        true
    }

    /// Removes the files of a segment without any entries in the index.
    fn remove_files(&self, number: u32, segment: &Segment) -> Result<()> {
        remove(&index_path(&self.dir, number))?;
        remove(&segment.path)?;
        sync_folder_of(&segment.path).map_err(WorktreeError::io("sync the folder of", &segment.path))
    }

    /// Copies the needed entries of a segment that have no newer copy. Each copy is verified; it counts once it is
    /// written.
    pub(super) fn relocate(
        &self,
        number: u32,
        segment: &Segment,
        stays: &dyn Fn(&ContentHash) -> bool,
    ) -> Result<Moved> {
        let mut moved = Moved::default();
        let mut copies = [Kind::Object, Kind::Chunk, Kind::List].map(Block::of);
        let mut listed = Names::default();
        for found in self.scan(number, segment)?.blocks {
            let at = u32::try_from(found.at).unwrap_or(u32::MAX);
            let here = Place { segment: number, at, kind: found.head.kind };
            let is_here = |name: &ContentHash| locked(&self.state).index.get(name) == Some(&here);
            let names = found.entries.iter().map(|entry| entry.name).filter(is_here).collect::<Vec<_>>();
            listed.extend(&names);
            let wanted: Vec<_> = names.into_iter().filter(|name| stays(name)).collect();
            if wanted.is_empty() {
                continue;
            }
            let block = unpack(&self.codec, segment, at).map_err(WorktreeError::io("read", &segment.path))?;
            for name in wanted {
                let Some(bytes) = block.as_ref().and_then(|block| block.verified(&name)) else {
                    moved.unreadable.insert(name);
                    continue;
                };
                moved.objects += usize::from(here.kind != Kind::Chunk);
                let copies = &mut copies[here.kind as usize];
                copies.push(name, bytes);
                if copies.is_full(self.sizes.block) {
                    self.append_copies(number, &std::mem::replace(copies, Block::of(here.kind)))?;
                }
            }
        }
        for copies in copies.iter().filter(|copies| !copies.entries.is_empty()) {
            self.append_copies(number, copies)?;
        }
        // An entry in the index that the segment does not list is damaged in its head.
        let state = locked(&self.state);
        let here = state.index.iter().filter(|(_, place)| place.segment == number);
        let unlisted = here.map(|(name, _)| *name).filter(|name| stays(name) && !listed.contains(name));
        moved.unreadable.extend(unlisted.collect::<Vec<_>>());
        Ok(moved)
    }

    fn append_copies(&self, number: u32, copies: &Block) -> Result<()> {
        self.append(copies, |state, name, place| {
            // It may have been stored again meanwhile, because it was damaged.
            if state.index.get(name).is_some_and(|old| old.segment == number) {
                state.index.insert(*name, place);
                state.damaged.remove(name);
            }
        })
    }
}

impl super::pack::State {
    /// Removes a segment with all its entries from the index.
    pub(super) fn forget(&mut self, number: u32) -> Vec<ContentHash> {
        let mut gone = Vec::new();
        self.index.retain(|name, place| {
            let stays = place.segment != number;
            if !stays {
                gone.push(*name);
            }
            stays
        });
        for name in &gone {
            self.damaged.remove(name);
        }
        self.segments.remove(&number);
        gone
    }
}

/// Removes a file, which may be missing already.
pub(super) fn remove(path: &std::path::Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(WorktreeError::io("remove", path)(source))
        }
        _ => Ok(()),
    }
}
