//! Erasure of the bytes of objects from the disk, for the operation `erase`. The only place that overwrites stored bytes.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use retake_core::ContentHash;

use super::collect::remove;
use super::index::MEMORY;
use super::kind::Kind;
use super::pack::{PackObjects, index_path};
use super::segment::sync_folder_of;
use super::{Names, Objects as _, locked};
use crate::error::{Result, WorktreeError};

/// The result of an erasure.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Erased {
    /// The number of rewritten and overwritten segments.
    pub segments: usize,
    /// Other objects in them that were damaged and could not be kept.
    pub lost: Vec<ContentHash>,
}

impl PackObjects {
    /// Erases these objects and all older copies of them. Every segment with one, or with damaged parts that could contain one,
    /// is rewritten without them. The old file is overwritten with zeros, synced, and removed. An object that is stored again
    /// from now on is a new one. After a failure, such as a full disk, the objects count as damaged, and the erasure must be
    /// repeated.
    ///
    /// The chunks of a large object go with it, except those that another object shares. Chunks without an object go as well:
    /// their origin is not known.
    ///
    /// On a file system that writes in place (ext4, XFS without shared extents) the bytes are gone from the device as the
    /// system sees it. Older copies can remain until their space is reused. They can be on a copy-on-write file system (Btrfs,
    /// ZFS, APFS), in a data journal, in snapshots and backups, and in the spare cells of a flash disk.
    pub fn erase(&self, hashes: &[ContentHash], progress: &mut dyn FnMut(u64, u64)) -> Result<Erased> {
        let _collecting = locked(&self.collecting);
        let (mut doomed, before) = self.disown(&hashes.iter().copied().collect())?;
        let mut segments = self.segments();
        segments.retain(|(number, _)| *number < before);
        let total = segments.len() as u64;
        let mut erased = Erased::default();
        let mut lost = Names::default();
        for (done, (number, segment)) in segments.into_iter().enumerate() {
            progress(done as u64, total);
            let scan = self.scan(number, &segment)?;
            let mut any = false;
            for found in &scan.blocks {
                let names = found.entries.iter().map(|entry| entry.name);
                for name in names.filter(|name| doomed.has(found.head.kind, name)).collect::<Vec<_>>() {
                    doomed.names.insert(name);
                    any = true;
                }
            }
            if !scan.gaps && !any {
                continue;
            }
            self.relocate(number, &segment, &|name| !doomed.names.contains(name))?;
            self.sync_written()?;
            let gone = locked(&self.state).forget(number);
            locked(&self.cache).forget(|place| place.segment == number);
            lost.extend(gone.into_iter().filter(|name| !doomed.names.contains(name)));
            erased.segments += 1;
            remove(&index_path(&self.dir, number))?;
            let doomed = segment.path.with_extension("erased");
            std::fs::rename(&segment.path, &doomed).map_err(WorktreeError::io("rename", &segment.path))?;
            sync_folder_of(&doomed).map_err(WorktreeError::io("sync the folder of", &doomed))?;
            destroy(&doomed)?;
        }
        erased.lost = self.objects_of(lost)?.into_iter().collect();
        progress(total, total);
        Ok(erased)
    }

    /// Removes these objects, and chunks that only they have, from the index. From here on, an object that is stored goes into
    /// a segment from the returned number on.
    fn disown(&self, hashes: &Names) -> Result<(ErasureTargets, u32)> {
        loop {
            self.sync()?;
            let lists = locked(&self.state).lists;
            let shared = self.chunks_without(hashes)?;
            let mut doomed = ErasureTargets { names: hashes.clone(), shared };
            let mut writer = locked(&self.writer);
            self.seal(&mut writer)?;
            let mut state = locked(&self.state);
            let places = state.index.iter().filter(|(name, place)| doomed.has(place.kind, name));
            let places: Vec<_> = places.map(|(name, place)| (*name, place.segment)).collect();
            // Stored since the sync, by another thread: it is written to disk first, like the others.
            if state.lists != lists || places.iter().any(|(_, segment)| *segment == MEMORY) {
                continue;
            }
            state.damaged.extend(places.iter().map(|(name, _)| *name));
            doomed.names.extend(places.iter().map(|(name, _)| *name));
            return Ok((doomed, writer.next));
        }
    }

    /// The chunks of all other objects.
    fn chunks_without(&self, hashes: &Names) -> Result<Names> {
        let mut shared = Names::default();
        self.each_list(&mut |name, list| {
            if !hashes.contains(&name) && self.has_all(list) {
                shared.extend(&list.chunks);
            }
        })?;
        Ok(shared)
    }
}

/// The entries to erase.
struct ErasureTargets {
    /// The objects, and their known parts.
    names: Names,
    /// The chunks that stay.
    shared: Names,
}

impl ErasureTargets {
    fn has(&self, kind: Kind, name: &ContentHash) -> bool {
        if kind == Kind::Chunk { !self.shared.contains(name) } else { self.names.contains(name) }
    }
}

/// Overwrites and removes a file. It is renamed first, so that recovery finishes this after a crash.
pub(super) fn destroy(path: &Path) -> Result<()> {
    let file = OpenOptions::new().write(true).open(path).map_err(WorktreeError::io("open", path))?;
    let len = file.metadata().map_err(WorktreeError::io("read", path))?.len();
    let zeros = vec![0; 1 << 20];
    let mut at = 0;
    while at < len {
        let size = usize::try_from(len - at).map_or(zeros.len(), |rest| rest.min(zeros.len()));
        file.write_all_at(&zeros[..size], at).map_err(WorktreeError::io("overwrite", path))?;
        at += size as u64;
    }
    file.sync_all().map_err(WorktreeError::io("sync", path))?;
    std::fs::remove_file(path).map_err(WorktreeError::io("remove", path))?;
    sync_folder_of(path).map_err(WorktreeError::io("sync the folder of", path))
}
