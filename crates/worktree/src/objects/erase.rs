//! Erasure: the bytes of some objects are gone from the disk, for the operation of that name. The only place where
//! bytes that were once kept are overwritten.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use retake_core::ContentHash;

use super::Objects as _;
use super::collect::remove;
use super::index::MEMORY;
use super::pack::{Names, PackObjects, State, index_path, locked};
use super::segment::sync_folder_of;
use crate::error::{Result, WorktreeError};

/// What an erasure did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Erased {
    /// Segments that were written anew, and overwritten.
    pub segments: usize,
    /// Other objects in them that were damaged, so that nothing could be kept of them.
    pub lost: Vec<ContentHash>,
}

impl PackObjects {
    /// Erases these objects, wherever they are, also where only a superseded copy of them is. Every segment that holds
    /// one, or that has damaged parts in which one could be, is written anew without them; the old file is overwritten
    /// with zeros, synced, and removed. What is put again from now on is a new object. After a failure, of a full disk for
    /// one, the objects read as damaged, and it is to be done again.
    ///
    /// On a file system that writes in place (ext4, XFS without shared extents) the bytes are gone from the device as
    /// the system sees it. On one that copies when it writes (Btrfs, ZFS, APFS), on a journal of data, in snapshots
    /// and backups, and in the spare cells of a flash disk, older copies can remain until they are reused.
    pub fn erase(&self, hashes: &[ContentHash], progress: &mut dyn FnMut(u64, u64)) -> Result<Erased> {
        let _collecting = locked(&self.collecting);
        let hashes: Names = hashes.iter().copied().collect();
        let before = self.disown(&hashes)?;
        let mut segments = self.segments();
        segments.retain(|(number, _)| *number < before);
        let total = segments.len() as u64;
        let mut erased = Erased::default();
        for (done, (number, segment)) in segments.into_iter().enumerate() {
            progress(done as u64, total);
            let scan = self.scan(number, &segment)?;
            let mut entries = scan.blocks.iter().flat_map(|block| &block.entries);
            if !scan.gaps && !entries.any(|entry| hashes.contains(&entry.name)) {
                continue;
            }
            self.relocate(number, &segment, &|name| !hashes.contains(name))?;
            self.sync_written()?;
            let gone = locked(&self.state).forget(number);
            locked(&self.cache).forget(|place| place.segment == number);
            erased.lost.extend(gone.into_iter().filter(|name| !hashes.contains(name)));
            erased.segments += 1;
            remove(&index_path(&self.dir, number))?;
            let doomed = segment.path.with_extension("erased");
            std::fs::rename(&segment.path, &doomed).map_err(WorktreeError::io("rename", &segment.path))?;
            sync_folder_of(&doomed).map_err(WorktreeError::io("sync the folder of", &doomed))?;
            destroy(&doomed)?;
        }
        progress(total, total);
        Ok(erased)
    }

    /// From here on these objects are not there: who puts one puts it into a segment from the returned number on.
    fn disown(&self, hashes: &Names) -> Result<u32> {
        loop {
            self.sync()?;
            let mut writer = locked(&self.writer);
            self.seal(&mut writer)?;
            let mut state = locked(&self.state);
            let State { index, damaged, .. } = &mut *state;
            let places = hashes.iter().filter_map(|name| Some((name, index.get(name)?)));
            // Put since the sync, by another thread: it goes to the disk first, like what was there.
            if places.clone().any(|(_, place)| place.segment == MEMORY) {
                continue;
            }
            damaged.extend(places.map(|(name, _)| *name));
            return Ok(writer.next);
        }
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
