//! The check of a whole pack: every object in its index is read and verified. It repairs nothing.

use retake_core::ContentHash;

use super::index::{MEMORY, Place};
use super::kind::Kind;
use super::pack::PackObjects;
use super::read::unpack;
use super::segment::Segment;
use super::{Names, Objects as _, locked};
use crate::error::Result;

/// The result of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checked {
    /// The number of sound objects.
    pub sound: usize,
    /// Damaged objects. Storing their bytes again repairs them.
    pub damaged: Vec<ContentHash>,
}

impl PackObjects {
    /// Reads and verifies everything. `progress` gets the bytes read so far, and the total.
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
                let place = Place { segment: number, at, kind: found.head.kind };
                self.check_block(place, &segment, &mut sound);
            }
            done += segment.len()?;
        }
        progress(total, total);
        let mut state = locked(&self.state);
        let on_disk = state.index.iter().filter(|(_, place)| place.segment != MEMORY);
        let damaged: Vec<_> = on_disk.map(|(name, _)| *name).filter(|name| !sound.contains(name)).collect();
        state.damaged.retain(|name| !sound.contains(name));
        state.damaged.extend(&damaged);
        let is_chunk = |name: &ContentHash| state.index.get(name).is_some_and(|it| it.kind == Kind::Chunk);
        let (chunks, whole): (Vec<_>, Vec<_>) = damaged.into_iter().partition(is_chunk);
        sound.retain(|name| !is_chunk(name));
        drop(state);
        self.checked(sound, whole, &chunks.into_iter().collect())
    }

    /// The same by objects: a list is sound only if its chunks are. A list whose chunk was collected is gone.
    fn checked(&self, mut sound: Names, mut damaged: Vec<ContentHash>, chunks: &Names) -> Result<Checked> {
        self.each_list(&mut |name, list| {
            let is_damaged = list.chunks.iter().any(|chunk| chunks.contains(chunk));
            if is_damaged || !self.has_all(list) {
                sound.remove(&name);
            }
            if is_damaged {
                damaged.push(name);
            }
        })?;
        Ok(Checked { sound: sound.len(), damaged })
    }

    fn check_block(&self, place: Place, segment: &Segment, sound: &mut Names) {
        // A block that the system cannot read counts as damaged.
        let Some(block) = unpack(&self.codec, segment, place.at).ok().flatten() else { return };
        for entry in &block.entries {
            let is_here = || locked(&self.state).index.get(&entry.name) == Some(&place);
            if block.kind.verifies(&entry.name, block.bytes_of(entry)) && is_here() {
                sound.insert(entry.name);
            }
        }
    }
}
