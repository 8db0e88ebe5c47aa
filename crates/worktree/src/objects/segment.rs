//! A segment: one file of a pack, a short header and then blocks, only ever appended to. It is authoritative; the index
//! beside it can be created from it. Must never decide what may be removed.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::block::{Entry, HEAD, Head, MAGIC};
use crate::error::{Result, WorktreeError};
use crate::failpoint::failpoint;

const SEGMENT_MAGIC: [u8; 8] = *b"RetakePk";
/// The version of segments that this program writes. Blocks of another form need another. In the first one all entries are
/// whole objects; such a segment is read, and nothing more is appended to it.
const VERSION: u32 = 2;
/// The size of a segment's header: magic 8 | version 4 | check 4. This much stays the same in every later version.
pub(super) const HEADER: usize = 16;

/// An open segment.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) file: File,
    pub(super) path: PathBuf,
    /// Whether blocks of this program's form may be appended.
    pub(super) grows: bool,
}

/// A block in a segment.
pub(super) struct FoundBlock {
    pub(super) at: u64,
    pub(super) head: Head,
    pub(super) entries: Vec<Entry>,
    /// Whether its payload is valid, as far as it was checked.
    pub(super) sound: bool,
}

/// The content of a segment.
pub(super) struct Scan {
    pub(super) blocks: Vec<FoundBlock>,
    /// The end of the last complete block.
    pub(super) end: u64,
    /// Whether there are bytes that belong to no block.
    pub(super) gaps: bool,
}

/// How much of a segment is read to check it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// Heads and names.
    Names,
    /// Also payloads, if a crash may have left an incomplete one.
    Payloads,
}

fn header(version: u32) -> [u8; HEADER] {
    let mut bytes = [0; HEADER];
    bytes[..8].copy_from_slice(&SEGMENT_MAGIC);
    bytes[8..12].copy_from_slice(&version.to_le_bytes());
    let check = blake3::hash(&bytes[..12]);
    bytes[12..].copy_from_slice(&check.as_bytes()[..4]);
    bytes
}

impl Segment {
    /// A new segment, durable.
    pub(super) fn create(path: PathBuf) -> Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(0o600);
        let file = options.open(&path).map_err(WorktreeError::io("create", &path))?;
        let written = file.write_all_at(&header(VERSION), 0).and_then(|()| file.sync_all());
        let written =
            written.and_then(|()| sync_folder_of(&path)).and_then(|()| failpoint!("objects.created"));
        if let Err(source) = written {
            // Without a complete header it would be ignored at the next start; now its name must be free.
            if let Err(error) = std::fs::remove_file(&path) {
                tracing::warn!(cause = error.raw_os_error(), "an empty segment stays");
            }
            return Err(WorktreeError::io("create", &path)(source));
        }
        Ok(Self { file, path, grows: true })
    }

    /// An existing segment; `None` if its creation was interrupted. A newer version is refused. With a damaged header, its
    /// blocks are still read.
    pub(super) fn open(path: PathBuf) -> Result<Option<Self>> {
        let open = OpenOptions::new().read(true).write(true).open(&path);
        let file = open.map_err(WorktreeError::io("open", &path))?;
        let len = file.metadata().map_err(WorktreeError::io("read", &path))?.len();
        let mut bytes = [0; HEADER];
        if len >= HEADER as u64 {
            file.read_exact_at(&mut bytes, 0).map_err(WorktreeError::io("read", &path))?;
        }
        let version = u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]);
        let whole = bytes == header(version);
        if whole && !(1..=VERSION).contains(&version) {
            return Err(WorktreeError::OtherFormat { path, version });
        }
        // Blocks follow only after the header is durable.
        let cut_off = !whole && len <= HEADER as u64;
        Ok((!cut_off).then_some(Self { file, path, grows: whole && version == VERSION }))
    }

    /// The size of the file.
    pub(super) fn len(&self) -> Result<u64> {
        Ok(self.file.metadata().map_err(WorktreeError::io("read", &self.path))?.len())
    }

    /// The head and the names of the block at `at`, if there is one that ends before `len`.
    pub(super) fn head(&self, at: u64, len: u64) -> io::Result<Option<(Head, Vec<Entry>)>> {
        if at + HEAD as u64 > len {
            return Ok(None);
        }
        let mut bytes = [0; HEAD];
        self.file.read_exact_at(&mut bytes, at)?;
        let Some(head) = Head::parse(&bytes).filter(|head| at + head.len() <= len) else { return Ok(None) };
        let mut names = vec![0; head.names_len()];
        self.file.read_exact_at(&mut names, at + HEAD as u64)?;
        Ok(head.names(&names).map(|entries| (head, entries)))
    }

    /// The payload of the block at `at`.
    pub(super) fn payload(&self, at: u64, head: &Head) -> io::Result<Vec<u8>> {
        let mut payload = vec![0; head.stored()];
        self.file.read_exact_at(&mut payload, at + (HEAD + head.names_len()) as u64)?;
        Ok(payload)
    }

    /// All blocks from `from` to `len`. After bytes that are no block the next one is searched: damage in the middle does
    /// not lose later blocks. An invalid block at the end was truncated by a crash.
    pub(super) fn scan(&self, from: u64, len: u64, depth: Depth) -> Result<Scan> {
        self.scan_bytes(from, len, depth).map_err(WorktreeError::io("read", &self.path))
    }

    fn scan_bytes(&self, from: u64, len: u64, depth: Depth) -> io::Result<Scan> {
        let mut scan = Scan { blocks: Vec::new(), end: from, gaps: false };
        let mut at = from;
        while at < len {
            let Some((head, entries)) = self.head(at, len)? else {
                scan.gaps = true;
                let Some(next) = self.next_block(at + 1, len)? else { break };
                at = next;
                continue;
            };
            let sound = depth == Depth::Names || head.verifies(&self.payload(at, &head)?);
            let next = at + head.len();
            scan.blocks.push(FoundBlock { at, head, entries, sound });
            at = next;
        }
        while scan.blocks.pop_if(|block| !block.sound).is_some() {
            scan.gaps = true;
        }
        if let Some(last) = scan.blocks.last() {
            scan.end = last.at + last.head.len();
        }
        Ok(scan)
    }

    /// The place of the next block.
    fn next_block(&self, from: u64, len: u64) -> io::Result<Option<u64>> {
        const WINDOW: usize = 1 << 20;
        let mut window = vec![0; WINDOW];
        let mut at = from;
        while at + HEAD as u64 <= len {
            let size = usize::try_from(len - at).map_or(WINDOW, |rest| rest.min(WINDOW));
            self.file.read_exact_at(&mut window[..size], at)?;
            for start in window[..size].windows(MAGIC.len()).enumerate() {
                let here = at + start.0 as u64;
                if start.1 == MAGIC && self.head(here, len)?.is_some() {
                    return Ok(Some(here));
                }
            }
            at += (size - MAGIC.len() + 1) as u64;
        }
        Ok(None)
    }
}

/// Makes the folder's entry durable.
pub(super) fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}
