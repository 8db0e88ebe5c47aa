//! The object store on the disk: a folder of append-only segments. It owns its folder alone, and must write nowhere else.
//!
//! A stored object is readable at once and durable once [`Objects::sync`] has returned. A put that only joins a block in memory
//! costs a hash and a copy. The thread that fills the block compresses and writes it, outside of every lock that a reader needs.
//!
//! Locks are taken in this order: `collecting`, `writer`, `state`, `kept`; `cache` alone.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use retake_core::ContentHash;

use super::block::{Block, Codec};
use super::guard::{Guard, GuardedObjects};
use super::index::{self, Index, Listed, MEMORY, Place};
use super::kind::Kind;
use super::read::{Cache, unpack};
use super::segment::{Depth, HEADER, Segment, sync_folder_of};
use super::write::Writer;
use super::{Names, Objects, locked};
use crate::error::{Result, WorktreeError};

/// The sizes of a pack's parts.
#[derive(Debug, Clone, Copy)]
pub struct PackSizes {
    /// A block is compressed and written at this size, in bytes.
    pub block: usize,
    /// The largest segment, in bytes.
    pub segment: u64,
    /// A larger object is stored as chunks, so that its versions share equal ones.
    pub whole: usize,
    /// The average size of a chunk.
    pub chunk: usize,
}

impl Default for PackSizes {
    /// Up to 256 KiB, another version costs little more, compressed, than a chunk and its list. With chunks of 32 KiB a change of
    /// a line in a file of 5 MB costs one of them and 5 KB for the list. With smaller ones the list outgrows them.
    fn default() -> Self {
        Self { block: 192 << 10, segment: 256 << 20, whole: 256 << 10, chunk: 32 << 10 }
    }
}

impl PackSizes {
    /// The same, within the limits of the format and of cutting chunks.
    fn bounded(self) -> Self {
        Self {
            block: self.block.min(64 << 20),
            segment: self.segment.min(2 << 30),
            whole: self.whole.min(64 << 20),
            chunk: self.chunk.clamp(256, 4 << 20) / 8 * 8,
        }
    }
}

/// An object store in a pack on disk.
pub struct PackObjects {
    pub(super) dir: PathBuf,
    pub(super) sizes: PackSizes,
    pub(super) codec: Codec,
    pub(super) collecting: Mutex<()>,
    pub(super) writer: Mutex<Writer>,
    pub(super) state: Mutex<State>,
    /// Notified when a block in memory has been written, or could not be.
    pub(super) settled: Condvar,
    pub(super) kept: Arc<Mutex<GuardedObjects>>,
    pub(super) cache: Mutex<Cache>,
    /// Held while the pack is open.
    lock: File,
}

/// The pack's knowledge of its objects.
#[derive(Default)]
pub(super) struct State {
    pub(super) index: Index,
    /// Objects whose bytes were found to be wrong. They count as missing, so that storing them again repairs them.
    pub(super) damaged: Names,
    pub(super) segments: BTreeMap<u32, Arc<Segment>>,
    /// The blocks for small entries, by kind.
    pub(super) pending: [Pending; Kind::COUNT],
    /// Full blocks that are not written yet.
    pub(super) full: BTreeMap<u32, Full>,
    /// The last number.
    pub(super) blocks: u32,
    /// The number of lists that were added.
    pub(super) lists: u64,
}

/// A block that is not full yet.
#[derive(Default)]
pub(super) struct Pending {
    pub(super) block: Block,
    pub(super) number: u32,
}

/// A block that is about to be written.
pub(super) struct Full {
    pub(super) block: Arc<Block>,
    /// Whether a thread is writing it. If not, writing has failed, and is tried again before anything else is accepted.
    pub(super) taken: bool,
}

/// The file of a segment.
pub(super) fn segment_path(dir: &Path, number: u32) -> PathBuf {
    dir.join(format!("{number:08}.pack"))
}

/// The index file of a segment.
pub(super) fn index_path(dir: &Path, number: u32) -> PathBuf {
    dir.join(format!("{number:08}.index"))
}

impl PackObjects {
    /// Opens the pack in this folder; creates it if there is none. An incomplete block, left by a crash, is cut off.
    pub fn open(dir: impl Into<PathBuf>) -> Result<Self> {
        Self::open_sized(dir, PackSizes::default())
    }

    /// Opens the pack in this folder with these sizes for new parts. Existing ones may have others.
    pub fn open_sized(dir: impl Into<PathBuf>, sizes: PackSizes) -> Result<Self> {
        let dir = dir.into();
        let sizes = sizes.bounded();
        if !dir.is_dir() {
            let mut builder = DirBuilder::new();
            builder.recursive(true).mode(0o700).create(&dir).map_err(WorktreeError::io("create", &dir))?;
            sync_folder_of(&dir).map_err(WorktreeError::io("sync the folder of", &dir))?;
        }
        let lock = lock(&dir)?;
        let numbers = tidy(&dir)?;
        let mut pack = Self {
            sizes,
            codec: Codec::default(),
            collecting: Mutex::default(),
            writer: Mutex::default(),
            state: Mutex::default(),
            settled: Condvar::new(),
            kept: Arc::default(),
            cache: Mutex::default(),
            dir,
            lock,
        };
        let last = numbers.last().copied();
        for number in numbers {
            pack.load(number, Some(number) == last)?;
        }
        Ok(pack)
    }

    /// Loads a segment. Only the last one may have been in use when the process ended.
    fn load(&mut self, number: u32, last: bool) -> Result<()> {
        let writer = self.writer.get_mut().unwrap_or_else(PoisonError::into_inner);
        writer.next = number + 1;
        let path = segment_path(&self.dir, number);
        let Some(segment) = Segment::open(path.clone())? else {
            return std::fs::remove_file(&path).map_err(WorktreeError::io("remove", &path));
        };
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut len = segment.len()?;
        let index = index_path(&self.dir, number);
        let mut listed =
            index::read(&index, len).unwrap_or(Listed { covered: HEADER as u64, entries: Vec::new() });
        let fresh = listed.covered < len;
        if fresh {
            let depth = if last { Depth::Payloads } else { Depth::Names };
            let scan = segment.scan(listed.covered, len, depth)?;
            for found in &scan.blocks {
                let Ok(at) = u32::try_from(found.at) else { continue };
                let kind = found.head.kind;
                listed.entries.extend(found.entries.iter().map(|entry| (at, kind, entry.name)));
                if !found.sound {
                    // Truncated by a crash in the middle of other blocks, or damaged: it does not count as stored.
                    let block = unpack(&self.codec, &segment, at).ok().flatten().unwrap_or_default();
                    let names = found.entries.iter().map(|entry| entry.name);
                    state.damaged.extend(names.filter(|name| block.verified(name).is_none()));
                }
            }
            if last {
                len = scan.end;
                // Data that the ended process had not synced is readable, and would wrongly count as durable.
                let settle = segment.file.set_len(len).and_then(|()| segment.file.sync_all());
                settle.map_err(WorktreeError::io("mend", &path))?;
            }
            listed.covered = len;
            // Only for speed: if this fails it is created again at the next start. An older one may be wrong by now.
            if let Err(error) = index::write(&index, &mut listed) {
                tracing::warn!(cause = error.raw_os_error(), "the index of a segment is not written");
                super::collect::remove(&index)?;
            }
        }
        for (at, kind, name) in listed.entries {
            state.index.insert(name, Place { segment: number, at, kind });
        }
        let segment = Arc::new(segment);
        state.segments.insert(number, Arc::clone(&segment));
        if last && segment.grows && len < self.sizes.segment {
            writer.resume(number, segment, len);
        }
        Ok(())
    }

    /// The size of the pack on disk, in bytes. The caller decides about a limit.
    pub fn size(&self) -> Result<u64> {
        let failed = || WorktreeError::io("read", &self.dir);
        let mut size = 0;
        for entry in std::fs::read_dir(&self.dir).map_err(failed())? {
            match entry.map_err(failed())?.metadata() {
                Ok(metadata) => size += metadata.len(),
                // A segment that was collected meanwhile.
                Err(gone) if gone.kind() == std::io::ErrorKind::NotFound => {}
                Err(source) => return Err(failed()(source)),
            }
        }
        Ok(size)
    }

    /// The number of objects.
    pub fn count(&self) -> usize {
        locked(&self.state).index.values().filter(|place| place.kind != Kind::Chunk).count()
    }

    /// Keeps stored and found objects from every collection until the guard is dropped. Taken before a capture begins, dropped
    /// when the row that names its objects is committed.
    pub fn guard(&self) -> Guard {
        Guard::new(&self.kept)
    }

    /// Syncs, writes the index of the newest segment, and returns an error if that failed. Dropping the pack does the same
    /// silently.
    pub fn close(self) -> Result<()> {
        self.sync()
    }
}

impl Objects for PackObjects {
    fn put(&self, bytes: &[u8]) -> Result<ContentHash> {
        self.put_bytes(bytes)
    }

    fn contains(&self, hash: &ContentHash) -> bool {
        self.look(hash, true)
    }

    fn get(&self, hash: &ContentHash) -> Result<Vec<u8>> {
        self.read(hash)
    }

    fn sync(&self) -> Result<()> {
        self.make_durable()
    }

    fn order(&self, hash: &ContentHash) -> u64 {
        let place = locked(&self.state).index.get(hash).copied();
        place.map_or(u64::MAX, |place| u64::from(place.segment) << 32 | u64::from(place.at))
    }
}

impl Drop for PackObjects {
    fn drop(&mut self) {
        if self.sync().is_ok() {
            self.write_index_of_newest();
        }
        // Not left to closing the file: a child that another thread is just starting has a copy of the handle for a moment.
        drop(self.lock.unlock());
    }
}

impl std::fmt::Debug for PackObjects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PackObjects").field("dir", &self.dir).finish_non_exhaustive()
    }
}

fn lock(dir: &Path) -> Result<File> {
    let path = dir.join("lock");
    let open = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path);
    let file = open.map_err(WorktreeError::io("open", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(WorktreeError::InUse(dir.to_owned())),
        Err(TryLockError::Error(source)) => Err(WorktreeError::io("lock", path)(source)),
    }
}

/// Finishes what a crash left, and lists the segments, oldest first. Unknown files are left alone.
fn tidy(dir: &Path) -> Result<Vec<u32>> {
    let mut numbers = Vec::new();
    let mut beside = Vec::new();
    let listing = std::fs::read_dir(dir).map_err(WorktreeError::io("read", dir))?;
    for entry in listing {
        let path = entry.map_err(WorktreeError::io("read", dir))?.path();
        let number = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse().ok());
        let Some(number) = number.filter(|number| *number < MEMORY) else { continue };
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("pack") if path == segment_path(dir, number) => numbers.push(number),
            Some("erased") => super::erase::destroy(&path)?,
            Some("index" | "new") => beside.push((number, path)),
            _ => {}
        }
    }
    numbers.sort_unstable();
    for (number, path) in beside {
        let of_none = numbers.binary_search(&number).is_err();
        if of_none || path.extension().is_some_and(|extension| extension == "new") {
            std::fs::remove_file(&path).map_err(WorktreeError::io("remove", &path))?;
        }
    }
    Ok(numbers)
}
