//! The check of a whole pack: every object that it says it has is read and verified. It mends nothing.

use retake_core::ContentHash;

use super::Objects as _;
use super::index::{MEMORY, Place};
use super::pack::{Names, PackObjects, locked};
use super::read::unpack;
use super::segment::Segment;
use crate::error::Result;
use crate::objects::hash;

/// What a check found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checked {
    /// How many objects are sound.
    pub sound: usize,
    /// Those that are not. Putting their bytes again heals them.
    pub damaged: Vec<ContentHash>,
}

impl PackObjects {
    /// Reads and verifies everything. `progress` gets how many bytes of how many have been read.
    pub fn check(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<Checked> {
        let _collecting = locked(&self.collecting);
        self.sync()?;
        let segments = self.segments();
        let mut total = 0;
        for (_, segment) in &segments {
            total += segment.len()?;
        }
        let mut done = 0;
        let mut sound = Names::default();
        for (number, segment) in segments {
            let scan = self.scan(number, &segment)?;
            for found in &scan.blocks {
                progress((done + found.at).min(total), total);
                let Ok(at) = u32::try_from(found.at) else { continue };
                self.check_block(Place { segment: number, at }, &segment, &mut sound);
            }
            done += segment.len()?;
        }
        progress(total, total);
        let mut state = locked(&self.state);
        let on_disk = state.index.iter().filter(|(_, place)| place.segment != MEMORY);
        let damaged: Vec<_> = on_disk.map(|(name, _)| *name).filter(|name| !sound.contains(name)).collect();
        state.damaged.retain(|name| !sound.contains(name));
        state.damaged.extend(&damaged);
        Ok(Checked { sound: sound.len(), damaged })
    }

    fn check_block(&self, place: Place, segment: &Segment, sound: &mut Names) {
        // What the system can't read is damaged as well.
        let Some(block) = unpack(&self.codec, segment, place.at).ok().flatten() else { return };
        for entry in &block.entries {
            let is_here = || locked(&self.state).index.get(&entry.name) == Some(&place);
            if hash(block.bytes_of(entry)) == entry.name && is_here() {
                sound.insert(entry.name);
            }
        }
    }
}
