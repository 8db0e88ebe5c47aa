//! Erasure: the bytes of some objects are gone from the disk, for the operation of that name. The only place where
//! bytes that were once kept are overwritten.

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

/// What an erasure did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Erased {
    /// Segments that were rewritten, and overwritten.
    pub segments: usize,
    /// Other objects in them that were damaged, so that nothing could be kept of them.
    pub lost: Vec<ContentHash>,
}

impl PackObjects {
    /// Erases these objects, wherever they are, also where only a superseded copy of them is. Every segment that holds
    /// one, or that has damaged parts in which one could be, is rewritten without them. The old file is overwritten
    /// with zeros, synced, and removed. An object that is put again from now on is a new one. After a failure, for
    /// example of a full disk, the objects read as damaged, and the erasure has to be repeated.
    ///
    /// The chunks of a large object go with it, except those that another object shares. Chunks of no object go as well: nobody
    /// can tell whose they were.
    ///
    /// On a file system that writes in place (ext4, XFS without shared extents) the bytes are gone from the device as
    /// the system sees it. Older copies can remain until they are reused. They can be on a file system that copies
    /// when it writes (Btrfs, ZFS, APFS), or in a journal of data. They can also be in snapshots and backups, and in
    /// the spare cells of a flash disk.
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

    /// From here on these objects, and the chunks that are no other object's, are not there: who puts one puts it into a
    /// segment from the returned number on.
    fn disown(&self, hashes: &Names) -> Result<(Doomed, u32)> {
        loop {
            self.sync()?;
            let lists = locked(&self.state).lists;
            let shared = self.chunks_without(hashes)?;
            let mut doomed = Doomed { names: hashes.clone(), shared };
            let mut writer = locked(&self.writer);
            self.seal(&mut writer)?;
            let mut state = locked(&self.state);
            let places = state.index.iter().filter(|(name, place)| doomed.has(place.kind, name));
            let places: Vec<_> = places.map(|(name, place)| (*name, place.segment)).collect();
            // Put since the sync, by another thread: it goes to the disk first, like what was there.
            if state.lists != lists || places.iter().any(|(_, segment)| *segment == MEMORY) {
                continue;
            }
            state.damaged.extend(places.iter().map(|(name, _)| *name));
            doomed.names.extend(places.iter().map(|(name, _)| *name));
            return Ok((doomed, writer.next));
        }
    }

    /// The chunks of all objects but these.
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

/// What an erasure takes.
struct Doomed {
    /// Objects, and what was found of their parts.
    names: Names,
    /// The chunks that stay.
    shared: Names,
}

impl Doomed {
    fn has(&self, kind: Kind, name: &ContentHash) -> bool {
        if kind == Kind::Chunk { !self.shared.contains(name) } else { self.names.contains(name) }
    }
}

/// Overwrites and removes a file. Its name says what is to happen to it, so that a crash doesn't leave it half done.
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
