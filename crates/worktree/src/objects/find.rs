//! Searches a pack for objects that contain some bytes, and computes what a collection would free. Neither changes anything.

use std::collections::HashMap;

use retake_core::ContentHash;

use super::kind::{Kind, List};
use super::pack::PackObjects;
use super::read::unpack;
use super::{Names, Objects as _, locked};
use crate::error::Result;

/// The content of a pack, by need.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Survey {
    /// Bytes on disk.
    pub size: u64,
    /// The approximate unneeded part of them: entries that are compressed together are counted by their share.
    pub unneeded: u64,
    /// The number of unneeded objects.
    pub objects: u64,
}

impl PackObjects {
    /// Every object that contains these bytes, including ones without a name any more; and chunks of removed objects that may
    /// contain a part of them. `progress` gets the segments read so far, and the total.
    pub fn find(&self, bytes: &[u8], progress: &mut dyn FnMut(u64, u64)) -> Result<Vec<ContentHash>> {
        let _collecting = locked(&self.collecting);
        self.sync()?;
        if bytes.is_empty() {
            return Ok(Vec::new());
        }
        let mut finder = Finder::new(bytes);
        let segments = self.segments();
        let total = segments.len() as u64;
        for (done, (number, segment)) in segments.into_iter().enumerate() {
            progress(done as u64, total);
            for block in self.scan(number, &segment)?.blocks {
                let Ok(at) = u32::try_from(block.at) else { continue };
                // A block that cannot be unpacked contains nothing readable.
                let Some(block) = unpack(&self.codec, &segment, at).ok().flatten() else { continue };
                for entry in &block.entries {
                    finder.look(block.kind, entry.name, block.bytes_of(entry));
                }
            }
        }
        // A text longer than a chunk can be in three of them.
        let smallest = self.sizes.chunk / 4;
        let holds = |bytes: Vec<u8>| bytes.windows(finder.text.len()).any(|window| window == finder.text);
        let (mut found, mut owned) = (finder.objects.clone(), Names::default());
        self.each_list(&mut |name, list| {
            let whole = || finder.text.len() > smallest && self.read(&name).is_ok_and(holds);
            if finder.is_in(list) || whole() {
                found.insert(name);
            }
            if self.has_all(list) {
                owned.extend(&list.chunks);
            }
        })?;
        found.extend(finder.suspects().filter(|chunk| !owned.contains(chunk)));
        progress(total, total);
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort();
        Ok(found)
    }

    /// The needed and the unneeded part, by `live`.
    pub fn survey(&self, live: &dyn Fn(&ContentHash) -> bool) -> Result<Survey> {
        let _collecting = locked(&self.collecting);
        self.sync()?;
        let mut survey = Survey { size: self.size()?, ..Survey::default() };
        let needed = self.needed(live)?;
        for (number, segment) in self.segments() {
            let candidate = self.candidate(number, segment, &needed)?;
            survey.unneeded += candidate.len.saturating_sub(candidate.needed);
            survey.objects += candidate.objects;
        }
        Ok(survey)
    }

    /// Whether an object exists, without keeping it from a collection.
    pub fn has(&self, name: &ContentHash) -> bool {
        self.look(name, false)
    }
}

/// The search for a text in entries. It remembers which part of the text a chunk may contain, because a text can be split
/// between two of them.
struct Finder<'a> {
    text: &'a [u8],
    objects: Names,
    /// Chunks that contain the whole text.
    chunks: Names,
    /// The lengths of its beginning with which chunks end, and of its rest with which chunks begin.
    ends: HashMap<ContentHash, Vec<usize>>,
    begins: HashMap<ContentHash, Vec<usize>>,
}

impl<'a> Finder<'a> {
    fn new(text: &'a [u8]) -> Self {
        let (ends, begins) = (HashMap::new(), HashMap::new());
        Self { text, objects: Names::default(), chunks: Names::default(), ends, begins }
    }

    fn look(&mut self, kind: Kind, name: ContentHash, bytes: &[u8]) {
        let text = self.text;
        let holds = || bytes.windows(text.len()).any(|window| window == text);
        match kind {
            Kind::Object if holds() => drop(self.objects.insert(name)),
            Kind::Chunk => {
                if holds() {
                    self.chunks.insert(name);
                }
                let ends = (1..text.len()).filter(|at| bytes.ends_with(&text[..*at])).collect::<Vec<_>>();
                let begins = (1..text.len()).filter(|at| bytes.starts_with(&text[*at..])).collect::<Vec<_>>();
                for (parts, map) in [(ends, &mut self.ends), (begins, &mut self.begins)] {
                    if !parts.is_empty() {
                        map.insert(name, parts);
                    }
                }
            }
            Kind::Object | Kind::List => {}
        }
    }

    /// Whether an object with these chunks contains it.
    fn is_in(&self, list: &List) -> bool {
        let over = |pair: &[ContentHash]| {
            let (ends, begins) = (self.ends.get(&pair[0]), self.begins.get(&pair[1]));
            ends.zip(begins).is_some_and(|(ends, begins)| ends.iter().any(|at| begins.contains(at)))
        };
        list.chunks.iter().any(|chunk| self.chunks.contains(chunk)) || list.chunks.windows(2).any(over)
    }

    /// Chunks that contain it, or may contain a part of it.
    fn suspects(&self) -> impl Iterator<Item = ContentHash> {
        self.chunks.iter().chain(self.ends.keys()).chain(self.begins.keys()).copied()
    }
}
