//! The search through a pack for what holds some bytes, and what a collection would free. Neither changes anything.

use std::collections::HashMap;

use retake_core::ContentHash;

use super::kind::{Kind, List};
use super::pack::PackObjects;
use super::read::unpack;
use super::{Names, Objects as _, locked};
use crate::error::Result;

/// What a pack holds, by need.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Survey {
    /// Bytes on the disk.
    pub size: u64,
    /// Those of them that nobody needs, about: what is compressed together is counted by its share.
    pub unneeded: u64,
    /// Objects that nobody needs.
    pub objects: u64,
}

impl PackObjects {
    /// Every object that holds these bytes, also one that nothing names any more; and of objects that are gone the chunks that
    /// may hold a part of them. `progress` gets how many segments of how
    /// many have been read.
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
                // What can't be unpacked holds nothing that anybody can read.
                let Some(block) = unpack(&self.codec, &segment, at).ok().flatten() else { continue };
                for entry in &block.entries {
                    finder.look(block.kind, entry.name, block.bytes_of(entry));
                }
            }
        }
        // A text that is longer than a chunk can be in three of them.
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

    /// What is needed and what is not, when `live` says what is.
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

    /// Whether an object is there, without keeping it from a collection.
    pub fn has(&self, name: &ContentHash) -> bool {
        self.look(name, false)
    }
}

/// The search for a text in entries. Of chunks it remembers what of the text they may hold, as a text can lie over two of them.
struct Finder<'a> {
    text: &'a [u8],
    objects: Names,
    /// Chunks that hold it whole.
    chunks: Names,
    /// How much of its beginning chunks end with, and of which length the rest is that chunks begin with.
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

    /// Whether an object of these chunks holds it.
    fn is_in(&self, list: &List) -> bool {
        let over = |pair: &[ContentHash]| {
            let (ends, begins) = (self.ends.get(&pair[0]), self.begins.get(&pair[1]));
            ends.zip(begins).is_some_and(|(ends, begins)| ends.iter().any(|at| begins.contains(at)))
        };
        list.chunks.iter().any(|chunk| self.chunks.contains(chunk)) || list.chunks.windows(2).any(over)
    }

    /// Chunks that hold it, or may hold a part of it.
    fn suspects(&self) -> impl Iterator<Item = ContentHash> {
        self.chunks.iter().chain(self.ends.keys()).chain(self.begins.keys()).copied()
    }
}
