//! Reads the files that a sweep selected, on all cores, into the object store. Small files of one folder are read
//! together, so that their folder is opened once.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use retake_core::ContentHash;

use super::read::{self, Reading, Request};
use super::sweep::{ChangedFolder, Context, Draft, Outcome, State, on_all_cores};
use crate::error::Result;

/// The amount to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Volume {
    /// Files whose bytes are new, or may be.
    pub files: u64,
    pub bytes: u64,
    /// Files that are read only because their stamp is not conclusive.
    pub doubted: u64,
}

/// A file to read: the index of its folder, and its own index in it.
type Task = (usize, usize);

/// Files of one folder.
struct Batch {
    tasks: Vec<Task>,
    bytes: u64,
}

/// The limits of a batch with more than one file.
const BATCH_FILES: usize = 64;
const BATCH_BYTES: u64 = 1 << 20;

/// Counts the files to read.
pub(crate) fn volume(found: &[ChangedFolder]) -> Volume {
    let mut volume = Volume::default();
    for (_, draft) in found.iter().flat_map(drafts) {
        if let Draft::New { state: State::Read { signature, doubt, .. }, .. } = draft {
            if *doubt {
                volume.doubted += 1;
            } else {
                volume.files += 1;
                volume.bytes = volume.bytes.saturating_add(signature.size);
            }
        }
    }
    volume
}

fn drafts(found: &ChangedFolder) -> impl Iterator<Item = (usize, &Draft)> {
    let drafts = match &found.outcome {
        Outcome::Seen { drafts, .. } => drafts.as_slice(),
        _ => &[],
    };
    drafts.iter().enumerate()
}

/// Reads them all, and sets their results. Returns whether the object store got new objects.
pub(crate) fn fetch(
    context: &Context<'_>,
    found: &mut [ChangedFolder],
    progress: &(dyn Fn(u64) + Sync),
) -> Result<bool> {
    let batches = batches(found);
    let shared: &[ChangedFolder] = found;
    let next = AtomicUsize::new(0);
    let done = AtomicU64::new(0);
    let (put, failed) = (AtomicBool::new(false), AtomicBool::new(false));
    let keep = |bytes: &[u8]| {
        put.store(true, Ordering::Relaxed);
        context.objects.put(bytes)
    };
    let work = || -> Result<Vec<(Task, Reading)>> {
        let mut buffer = Vec::new();
        let mut readings = Vec::new();
        while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
            if failed.load(Ordering::Relaxed) {
                break;
            }
            read_batch(context, shared, batch, &mut buffer, &keep, &mut readings)
                .inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
            let len = batch.tasks.len() as u64;
            progress(done.fetch_add(len, Ordering::Relaxed) + len);
        }
        Ok(readings)
    };
    let mut readings = Vec::new();
    for part in on_all_cores(work) {
        readings.extend(part?);
    }
    for ((folder, at), reading) in readings {
        if let Outcome::Seen { drafts, .. } = &mut found[folder].outcome
            && let Draft::New { state, .. } = &mut drafts[at]
        {
            *state = reading.what().map_or(State::Gone, State::Ready);
        }
    }
    Ok(put.into_inner())
}

fn batches(found: &[ChangedFolder]) -> Vec<Batch> {
    let mut batches: Vec<Batch> = Vec::new();
    for (folder, one) in found.iter().enumerate() {
        let mut fresh = true;
        for (at, draft) in drafts(one) {
            let Draft::New { state: State::Read { signature, .. }, .. } = draft else {
                continue;
            };
            let last = batches.last_mut().filter(|last| {
                !fresh
                    && last.tasks.len() < BATCH_FILES
                    && last.bytes.saturating_add(signature.size) <= BATCH_BYTES
            });
            match last {
                Some(last) => {
                    last.tasks.push((folder, at));
                    last.bytes += signature.size;
                }
                None => batches.push(Batch { tasks: vec![(folder, at)], bytes: signature.size }),
            }
            fresh = false;
        }
    }
    batches
}

fn read_batch(
    context: &Context<'_>,
    found: &[ChangedFolder],
    batch: &Batch,
    buffer: &mut Vec<u8>,
    keep: &dyn Fn(&[u8]) -> Result<ContentHash>,
    readings: &mut Vec<(Task, Reading)>,
) -> Result<()> {
    let Some((folder, _)) = batch.tasks.first() else {
        return Ok(());
    };
    let place = found[*folder].job.place.as_ref();
    let name = place.map_or(b".".as_slice(), |path| path.as_bytes());
    let fd = match context.root.listed(place) {
        Ok(fd) => fd,
        Err(errno) => {
            for task in &batch.tasks {
                readings.push((*task, read::refused(errno, name)?.into()));
            }
            return Ok(());
        }
    };
    let limit = context.rules.max_file.max(context.index.limits.file);
    for (folder, at) in &batch.tasks {
        let Outcome::Seen { drafts, .. } = &found[*folder].outcome else {
            continue;
        };
        if let Draft::New { name, state: State::Read { signature, known, .. }, .. } = &drafts[*at] {
            let request = Request { folder: fd.as_fd(), name, signature: *signature, known: *known, limit };
            readings.push(((*folder, *at), read::read(request, buffer, keep)?));
        }
    }
    Ok(())
}
