//! The search through a pack for what holds some bytes, and what a collection would free. Neither changes anything.

use retake_core::ContentHash;

use super::Objects as _;
use super::index::MEMORY;
use super::pack::{Names, PackObjects, locked};
use super::read::unpack;
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
    /// Every object that holds these bytes, also one that nothing names any more. `progress` gets how many segments of how
    /// many have been read.
    pub fn find(&self, bytes: &[u8], progress: &mut dyn FnMut(u64, u64)) -> Result<Vec<ContentHash>> {
        let _collecting = locked(&self.collecting);
        self.sync()?;
        if bytes.is_empty() {
            return Ok(Vec::new());
        }
        let is_in = |own: &[u8]| own.windows(bytes.len()).any(|window| window == bytes);
        let mut found = Names::default();
        let segments = self.segments();
        let total = segments.len() as u64;
        for (done, (number, segment)) in segments.into_iter().enumerate() {
            progress(done as u64, total);
            for block in self.scan(number, &segment)?.blocks {
                let Ok(at) = u32::try_from(block.at) else { continue };
                // What can't be unpacked holds nothing that anybody can read.
                let Some(block) = unpack(&self.codec, &segment, at).ok().flatten() else { continue };
                let holds = block.entries.iter().filter(|entry| is_in(block.bytes_of(entry)));
                found.extend(holds.map(|entry| entry.name));
            }
        }
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
        for (number, segment) in self.segments() {
            let candidate = self.candidate(number, segment, live)?;
            survey.unneeded += candidate.len.saturating_sub(candidate.needed);
        }
        let names: Vec<ContentHash> = {
            let state = locked(&self.state);
            let on_disk = state.index.iter().filter(|(_, place)| place.segment != MEMORY);
            on_disk.map(|(name, _)| *name).collect()
        };
        survey.objects = names.iter().filter(|name| !live(name)).count() as u64;
        Ok(survey)
    }

    /// Whether an object is there, without keeping it from a collection.
    pub fn has(&self, name: &ContentHash) -> bool {
        let state = locked(&self.state);
        state.index.contains_key(name) && !state.damaged.contains(name)
    }
}
