//! A block: several objects, compressed together, framed so that an incomplete block is detected. It must know only bytes, never
//! a file's name. Its format is pinned by a golden test.
//!
//! ```text
//! magic 4 | method 1, kind 1, zero 2 | count 4 | raw 4 | stored 4 | check of the payload 8 | check of all before and the names 8
//! names: count times (hash 32 | length 4)
//! payload: `stored` bytes
//! ```
//! Numbers are little-endian, a check is the beginning of a BLAKE3 hash. All entries of a block are of one kind.

use std::sync::{Mutex, PoisonError};

use retake_core::ContentHash;
use zstd::bulk::{Compressor, Decompressor};

use super::kind::Kind;

/// The largest object that is accepted, in bytes.
pub(super) const LARGEST: usize = 1 << 30;
/// The most objects in a block, so that searching its names is fast.
pub(super) const MOST: usize = 4096;
/// The first bytes of every block.
pub(super) const MAGIC: [u8; 4] = *b"RtBk";
/// The size of a head, before the names.
pub(super) const HEAD: usize = 36;
const NAME: usize = 36;
/// Fast, and already much smaller than git's single objects, because small files are compressed together.
const LEVEL: i32 = 1;
const RAW: u8 = 0;
const ZSTD: u8 = 1;

/// An entry of a block: an object, or a part of a large one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) name: ContentHash,
    start: u32,
    len: u32,
}

/// Uncompressed entries.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) kind: Kind,
    pub(super) entries: Vec<Entry>,
    pub(super) bytes: Vec<u8>,
}

impl Block {
    /// An empty block for entries of this kind.
    pub(super) fn of(kind: Kind) -> Self {
        Self { kind, ..Self::default() }
    }

    /// Adds an entry, which is at most [`LARGEST`] bytes long.
    pub(super) fn push(&mut self, name: ContentHash, bytes: &[u8]) {
        let small = "BUG: a block is smaller than 4 GiB";
        let start = u32::try_from(self.bytes.len()).expect(small);
        self.entries.push(Entry { name, start, len: u32::try_from(bytes.len()).expect(small) });
        self.bytes.extend_from_slice(bytes);
    }

    /// The bytes of an entry of this block.
    pub(super) fn bytes_of(&self, entry: &Entry) -> &[u8] {
        &self.bytes[entry.start as usize..][..entry.len as usize]
    }

    /// The bytes of an entry, unverified.
    pub(super) fn find(&self, name: &ContentHash) -> Option<&[u8]> {
        self.entries.iter().find(|entry| entry.name == *name).map(|entry| self.bytes_of(entry))
    }

    /// The same, if they match the name.
    pub(super) fn verified(&self, name: &ContentHash) -> Option<&[u8]> {
        self.find(name).filter(|bytes| self.kind.verifies(name, bytes))
    }

    /// Whether the block is complete.
    pub(super) fn is_full(&self, block_bytes: usize) -> bool {
        self.bytes.len() >= block_bytes || self.entries.len() >= MOST
    }
}

/// The head before a block's payload.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) kind: Kind,
    method: u8,
    count: u32,
    raw: u32,
    stored: u32,
    check: [u8; 8],
    sealed: [u8; 8],
    fixed: [u8; HEAD - 8],
}

impl Head {
    /// Parses a head; `None` if this is none. It is valid only once [`Head::names`] has been read with it.
    pub(super) fn parse(bytes: &[u8; HEAD]) -> Option<Self> {
        let number = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let check = |at: usize| bytes.get(at..at + 8)?.try_into().ok();
        let head = Self {
            kind: Kind::from_byte(bytes[5])?,
            method: bytes[4],
            count: number(8)?,
            raw: number(12)?,
            stored: number(16)?,
            check: check(20)?,
            sealed: check(28)?,
            fixed: bytes[..HEAD - 8].try_into().ok()?,
        };
        let possible = bytes[..4] == MAGIC && head.method <= ZSTD && head.count as usize <= MOST;
        (possible && bytes[6..8] == [0; 2] && head.raw as usize <= 2 * LARGEST).then_some(head)
    }

    /// The size of the names, in bytes.
    pub(super) fn names_len(&self) -> usize {
        self.count as usize * NAME
    }

    /// The size of the payload, in bytes.
    pub(super) fn stored(&self) -> usize {
        self.stored as usize
    }

    /// The size of all objects together.
    pub(super) fn raw(&self) -> usize {
        self.raw as usize
    }

    /// The size of the whole block.
    pub(super) fn len(&self) -> u64 {
        (HEAD + self.names_len() + self.stored()) as u64
    }

    /// The names, verified together with the head.
    pub(super) fn names(&self, bytes: &[u8]) -> Option<Vec<Entry>> {
        if check(&[&self.fixed, bytes]) != self.sealed {
            return None;
        }
        let mut entries = Vec::with_capacity(self.count as usize);
        let mut start = 0_u32;
        for name in bytes.chunks_exact(NAME) {
            let len = u32::from_le_bytes(name[32..].try_into().ok()?);
            entries.push(Entry { name: ContentHash(name[..32].try_into().ok()?), start, len });
            start = start.checked_add(len)?;
        }
        (start == self.raw).then_some(entries)
    }

    /// Whether this is the original payload.
    pub(super) fn verifies(&self, payload: &[u8]) -> bool {
        check(&[payload]) == self.check
    }
}

impl Entry {
    /// The size of the object.
    pub(super) fn len(&self) -> usize {
        self.len as usize
    }
}

fn check(parts: &[&[u8]]) -> [u8; 8] {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    let mut check = [0; 8];
    check.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    check
}

/// Packs and unpacks blocks; keeps the compression state, because creating it costs more than a small block.
#[derive(Default)]
pub(super) struct Codec {
    packers: Mutex<Vec<Compressor<'static>>>,
    unpackers: Mutex<Vec<Decompressor<'static>>>,
}

impl Codec {
    /// A block in its written form.
    pub(super) fn pack(&self, block: &Block) -> std::io::Result<Vec<u8>> {
        let idle = self.packers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut packer = idle.map_or_else(|| Compressor::new(LEVEL), Ok)?;
        let packed = packer.compress(&block.bytes);
        self.packers.lock().unwrap_or_else(PoisonError::into_inner).push(packer);
        let packed = packed?;
        // A payload that does not shrink is faster to read uncompressed.
        let small = packed.len() < block.bytes.len() - block.bytes.len() / 32;
        let (method, payload) = if small { (ZSTD, &packed) } else { (RAW, &block.bytes) };
        Ok(frame(block, method, payload))
    }

    /// The objects of a block. `None` if the payload is invalid; the result must be verified object by object.
    pub(super) fn unpack(&self, head: &Head, entries: Vec<Entry>, payload: Vec<u8>) -> Option<Block> {
        let bytes = if head.method == RAW {
            payload
        } else {
            let idle = self.unpackers.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut unpacker = idle.map_or_else(Decompressor::new, Ok).ok()?;
            let bytes = unpacker.decompress(&payload, head.raw()).ok();
            self.unpackers.lock().unwrap_or_else(PoisonError::into_inner).push(unpacker);
            bytes?
        };
        (bytes.len() == head.raw()).then_some(Block { kind: head.kind, entries, bytes })
    }
}

fn frame(block: &Block, method: u8, payload: &[u8]) -> Vec<u8> {
    let number = |len: usize| u32::try_from(len).expect("BUG: a block is smaller than 4 GiB").to_le_bytes();
    let mut frame = Vec::with_capacity(HEAD + block.entries.len() * NAME + payload.len());
    frame.extend_from_slice(&MAGIC);
    frame.extend_from_slice(&[method, block.kind as u8, 0, 0]);
    for len in [block.entries.len(), block.bytes.len(), payload.len()] {
        frame.extend_from_slice(&number(len));
    }
    frame.extend_from_slice(&check(&[payload]));
    let fixed = frame.len();
    frame.extend_from_slice(&[0; 8]);
    for entry in &block.entries {
        frame.extend_from_slice(&entry.name.0);
        frame.extend_from_slice(&entry.len.to_le_bytes());
    }
    let sealed = check(&[&frame[..fixed], &frame[HEAD..]]);
    frame[fixed..HEAD].copy_from_slice(&sealed);
    frame.extend_from_slice(payload);
    frame
}
