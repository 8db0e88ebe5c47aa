//! Writes objects into the pack: large ones cut into chunks, all joined into blocks, compressed, appended, synced. An accepted
//! object must never be dropped because the disk is full: it waits in memory until it can be written.

use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use retake_core::ContentHash;

use super::block::{Block, LARGEST};
use super::index::{self, Listed, MEMORY, Place};
use super::kind::{Kind, List, chunk_name, cut};
use super::locked;
use super::pack::{Full, PackObjects, Pending, State, index_path, segment_path};
use super::segment::{HEADER, Segment};
use crate::error::{Result, WorktreeError};
use crate::failpoint::failpoint;
use crate::objects::hash;

/// The place for the next block.
#[derive(Default)]
pub(super) struct Writer {
    newest: Option<OpenSegment>,
    /// The number of the next segment.
    pub(super) next: u32,
    /// The number of written blocks, and of those known to be durable.
    written: u64,
    synced: u64,
    /// Whether a sync has failed. It is not known then what is durable, so nothing more is trusted.
    failed: bool,
}

/// The segment for new blocks.
#[derive(Clone)]
struct OpenSegment {
    number: u32,
    segment: Arc<Segment>,
    end: u64,
}

impl Writer {
    /// Continues at the end of an existing, synced segment.
    pub(super) fn resume(&mut self, number: u32, segment: Arc<Segment>, end: u64) {
        self.newest = Some(OpenSegment { number, segment, end });
    }

    /// The readable end of a segment.
    pub(super) fn end_of(&self, number: u32) -> Option<u64> {
        self.newest.as_ref().filter(|newest| newest.number == number).map(|newest| newest.end)
    }
}

impl State {
    /// Adds a missing entry. If this fills a block, it is taken, and its number returned.
    fn add(&mut self, kind: Kind, name: ContentHash, bytes: &[u8], block_bytes: usize) -> Option<u32> {
        self.damaged.remove(&name);
        if bytes.len() < block_bytes / 2 {
            if self.pending[kind as usize].block.entries.is_empty() {
                let number = self.next_number();
                self.pending[kind as usize] = Pending { block: Block::of(kind), number };
            }
            let pending = &mut self.pending[kind as usize];
            self.index.insert(name, Place { segment: MEMORY, at: pending.number, kind });
            pending.block.push(name, bytes);
            return if pending.block.is_full(block_bytes) { self.close_pending(kind, true) } else { None };
        }
        let mut block = Block::of(kind);
        block.push(name, bytes);
        let at = self.next_number();
        self.full.insert(at, Full { block: Arc::new(block), taken: true });
        self.index.insert(name, Place { segment: MEMORY, at, kind });
        Some(at)
    }

    /// Takes the pending block for writing, if it has any content.
    fn close_pending(&mut self, kind: Kind, taken: bool) -> Option<u32> {
        let Pending { block, number } = std::mem::take(&mut self.pending[kind as usize]);
        if block.entries.is_empty() {
            return None;
        }
        self.full.insert(number, Full { block: Arc::new(block), taken });
        Some(number)
    }

    fn next_number(&mut self) -> u32 {
        self.blocks = self.blocks.wrapping_add(1);
        self.blocks
    }

    /// Takes a block whose writing failed.
    fn take_stuck(&mut self) -> Option<u32> {
        let (number, full) = self.full.iter_mut().find(|(_, full)| !full.taken)?;
        full.taken = true;
        Some(*number)
    }
}

impl PackObjects {
    pub(super) fn put_bytes(&self, bytes: &[u8]) -> Result<ContentHash> {
        let name = hash(bytes);
        if bytes.len() > LARGEST {
            let source = std::io::Error::from(std::io::ErrorKind::FileTooLarge);
            return Err(WorktreeError::io("keep an object of more than 1 GiB in", &self.dir)(source));
        }
        if self.look(&name, true) {
            return Ok(name);
        }
        if bytes.len() <= self.sizes.whole {
            self.put_entry(Kind::Object, name, bytes)?;
            return Ok(name);
        }
        loop {
            let mut list = List { len: bytes.len(), chunks: Vec::new() };
            for chunk in cut(bytes, self.sizes.chunk) {
                let name = chunk_name(chunk);
                self.put_entry(Kind::Chunk, name, chunk)?;
                list.chunks.push(name);
            }
            if self.put_list(name, &list)? {
                return Ok(name);
            }
        }
    }

    fn put_entry(&self, kind: Kind, name: ContentHash, bytes: &[u8]) -> Result<()> {
        let mut state = loop {
            let mut state = locked(&self.state);
            let here = state.index.get(&name).is_some_and(|place| place.kind == kind);
            if here && state.has(&name) {
                locked(&self.kept).touch(&name);
                return Ok(());
            }
            // After a full disk, writing is tried again first, so that memory does not grow with blocks that cannot be written.
            let Some(stuck) = state.take_stuck() else { break state };
            drop(state);
            self.write_full(stuck)?;
        };
        locked(&self.kept).touch(&name);
        let full = state.add(kind, name, bytes, self.sizes.block);
        drop(state);
        full.map_or(Ok(()), |number| self.write_full(number))
    }

    /// Adds a list whose chunks have been stored; not if one of them has been collected or erased since.
    fn put_list(&self, name: ContentHash, list: &List) -> Result<bool> {
        let mut state = locked(&self.state);
        if !list.chunks.iter().all(|chunk| state.has(chunk)) {
            return Ok(false);
        }
        let mut kept = locked(&self.kept);
        list.chunks.iter().chain([&name]).for_each(|name| kept.touch(name));
        drop(kept);
        state.lists += 1;
        let full = state.add(Kind::List, name, &list.to_bytes(&name), self.sizes.block);
        drop(state);
        full.map_or(Ok(()), |number| self.write_full(number)).map(|()| true)
    }

    fn write_stuck(&self) -> Result<()> {
        loop {
            let stuck = locked(&self.state).take_stuck();
            let Some(number) = stuck else { return Ok(()) };
            self.write_full(number)?;
        }
    }

    /// Writes a block that this thread has taken.
    fn write_full(&self, number: u32) -> Result<()> {
        let block = locked(&self.state).full.get(&number).map(|full| Arc::clone(&full.block));
        let block = block.expect("BUG: a block stays until the thread that took it has written it");
        let written = self.append(&block, |state, entry, place| {
            let here = Place { segment: MEMORY, at: number, kind: block.kind };
            // It cannot have been found damaged: it was never on disk.
            if state.index.get(entry) == Some(&here) {
                state.index.insert(*entry, place);
            }
        });
        let mut state = locked(&self.state);
        if written.is_ok() {
            state.full.remove(&number);
        } else if let Some(full) = state.full.get_mut(&number) {
            full.taken = false;
        }
        drop(state);
        self.settled.notify_all();
        written
    }

    /// Appends a block, and sets the place of each of its objects.
    pub(super) fn append(
        &self,
        block: &Block,
        mut placed: impl FnMut(&mut State, &ContentHash, Place),
    ) -> Result<()> {
        let frame = self.codec.pack(block).map_err(WorktreeError::io("compress for", &self.dir))?;
        let mut writer = locked(&self.writer);
        let (segment, at) = self.append_frame(&mut writer, &frame)?;
        let place = Place { segment, at, kind: block.kind };
        // Still with the writer locked, so that the index of a sealed segment is complete.
        let mut state = locked(&self.state);
        for entry in &block.entries {
            placed(&mut state, &entry.name, place);
        }
        Ok(())
    }

    fn append_frame(&self, writer: &mut Writer, frame: &[u8]) -> Result<(u32, u32)> {
        if writer.failed {
            return Err(WorktreeError::NotDurable(self.dir.clone()));
        }
        let len = frame.len() as u64;
        let full = |newest: &OpenSegment| newest.end > HEADER as u64 && newest.end + len > self.sizes.segment;
        if writer.newest.as_ref().is_some_and(full) {
            self.seal(writer)?;
        }
        if writer.newest.is_none() {
            let number = writer.next;
            let segment = Arc::new(Segment::create(segment_path(&self.dir, number))?);
            writer.next = number + 1;
            locked(&self.state).segments.insert(number, Arc::clone(&segment));
            writer.resume(number, segment, HEADER as u64);
        }
        let newest = writer.newest.as_mut().expect("BUG: there is a newest segment, it was made above");
        let written = newest.segment.file.write_all_at(frame, newest.end);
        if let Err(source) = written.and_then(|()| failpoint!("objects.appended")) {
            // An incomplete block is detected. Its space is released if possible.
            if let Err(error) = newest.segment.file.set_len(newest.end) {
                tracing::warn!(cause = error.raw_os_error(), "half a block stays in a segment");
            }
            return Err(WorktreeError::io("write to", &newest.segment.path)(source));
        }
        let at = u32::try_from(newest.end).expect("BUG: a segment is smaller than 4 GiB");
        newest.end += len;
        writer.written += 1;
        Ok((newest.number, at))
    }

    /// Seals the newest segment: synced, with its index.
    pub(super) fn seal(&self, writer: &mut Writer) -> Result<()> {
        let Some(newest) = writer.newest.clone() else { return Ok(()) };
        if writer.synced < writer.written {
            self.sync_segment(writer, &newest.segment)?;
            writer.synced = writer.written;
        }
        self.write_index(&newest);
        writer.newest = None;
        failpoint!("objects.sealed").map_err(WorktreeError::io("write to", &self.dir))
    }

    /// Seals the newest segment if it is this one.
    pub(super) fn seal_if(&self, number: u32) -> Result<()> {
        let mut writer = locked(&self.writer);
        if writer.end_of(number).is_some() { self.seal(&mut writer) } else { Ok(()) }
    }

    fn sync_segment(&self, writer: &mut Writer, segment: &Segment) -> Result<()> {
        let synced = segment.file.sync_data().and_then(|()| failpoint!("objects.synced"));
        synced.map_err(|source| {
            writer.failed = true;
            WorktreeError::io("sync", &segment.path)(source)
        })
    }

    /// Writes everything that any thread stored before, and syncs.
    pub(super) fn make_durable(&self) -> Result<()> {
        let mut state = locked(&self.state);
        for kind in [Kind::Object, Kind::Chunk, Kind::List] {
            state.close_pending(kind, false);
        }
        let before: Vec<u32> = state.full.keys().copied().collect();
        loop {
            drop(state);
            self.write_stuck()?;
            state = locked(&self.state);
            let open = |state: &State| before.iter().any(|number| state.full.contains_key(number));
            let others = |state: &State| state.full.values().all(|full| full.taken);
            while open(&state) && others(&state) {
                state = self.settled.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner);
            }
            if !open(&state) {
                break;
            }
        }
        drop(state);
        self.sync_written()
    }

    /// Syncs the written blocks. Other threads write on meanwhile.
    pub(super) fn sync_written(&self) -> Result<()> {
        let writer = locked(&self.writer);
        if writer.failed {
            return Err(WorktreeError::NotDurable(self.dir.clone()));
        }
        let (written, synced, newest) = (writer.written, writer.synced, writer.newest.clone());
        drop(writer);
        let Some(newest) = newest.filter(|_| synced < written) else { return Ok(()) };
        let result = newest.segment.file.sync_data().and_then(|()| failpoint!("objects.synced"));
        let mut writer = locked(&self.writer);
        match result {
            // Another thread's sync may have failed meanwhile and consumed the error that concerns this one.
            Ok(()) if writer.failed => Err(WorktreeError::NotDurable(self.dir.clone())),
            Ok(()) => {
                writer.synced = writer.synced.max(written);
                Ok(())
            }
            Err(source) => {
                writer.failed = true;
                Err(WorktreeError::io("sync", &newest.segment.path)(source))
            }
        }
    }

    /// Writes the index of the newest segment, so that the next start reads nothing else.
    pub(super) fn write_index_of_newest(&self) {
        let writer = locked(&self.writer);
        let newest = writer.newest.clone().filter(|_| writer.written > 0);
        drop(writer);
        if let Some(newest) = newest {
            self.write_index(&newest);
        }
    }

    /// Only for speed, so a failure is not reported: the segment is read at the next start instead.
    fn write_index(&self, newest: &OpenSegment) {
        let state = locked(&self.state);
        let here = state.index.iter().filter(|(_, place)| place.segment == newest.number);
        let entries = here.map(|(name, place)| (place.at, place.kind, *name)).collect();
        drop(state);
        let mut listed = Listed { covered: newest.end, entries };
        if let Err(error) = index::write(&index_path(&self.dir, newest.number), &mut listed) {
            tracing::warn!(cause = error.raw_os_error(), "the index of a segment is not written");
        }
    }
}
