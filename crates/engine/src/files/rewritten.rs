//! Lines that a plan takes out of a file which a later call, that stays, has removed, and that stand in a file which the same call
//! made: it is no rename, as the bytes differ, so they stay. Plan and receipt name them. Must never change anything.

use std::collections::HashSet;

use retake_core::{
    ContentHash, ConversationId, DeltaId, FilePath, FilePlan, Layer, PathPlan, Record, Verdict,
};
use retake_store::WorkspaceNo;
use retake_worktree::Objects;

use super::blocking;
use crate::engine::Engine;
use crate::error::Result;

/// Shorter lines, such as a bracket, stand in every file.
const TELLING: usize = 4;

/// Larger files are not compared.
const LARGEST: u64 = 1 << 20;

/// A file that is gone, what the layers that leave it made of what, and a file that was made as it was removed.
struct Suspect {
    old: FilePath,
    leaves: Vec<[Option<ContentHash>; 2]>,
    new: FilePath,
    made: ContentHash,
}

impl Engine {
    /// Which files keep lines that leave a file under another name, a sentence each.
    pub(super) async fn rewritten(
        &self,
        conversation: ConversationId,
        workspace: WorkspaceNo,
        plan: &FilePlan,
    ) -> Result<Vec<String>> {
        let mut suspects = Vec::new();
        for path in &plan.paths {
            for (delta, bytes) in removed(path) {
                for (new, stack) in self.made_by(conversation, workspace, delta).await? {
                    let layer = stack.layers().iter().find(|layer| layer.delta == delta);
                    let Some(made) = layer.and_then(|layer| file(layer.after.as_ref())) else { continue };
                    if made != bytes {
                        suspects.push(Suspect { old: path.path.clone(), leaves: leaves(path), new, made });
                    }
                }
            }
        }
        if suspects.is_empty() {
            return Ok(Vec::new());
        }
        let objects = self.files.objects().await?;
        blocking(move || suspects.iter().filter_map(|suspect| said(suspect, &*objects)).collect()).await
    }
}

/// The later deltas that stay and have removed the file, with the bytes that were there.
fn removed(path: &PathPlan) -> Vec<(DeltaId, ContentHash)> {
    if path.verdict != Verdict::Unchanged || path.step.change.before.is_some() {
        return Vec::new();
    }
    let layers = path.step.stack_before.layers().iter();
    let later = layers.skip_while(|layer| !path.out.contains(&layer.delta));
    let stays = later.filter(|layer| !path.out.contains(&layer.delta) && layer.after.is_none());
    stays.filter_map(|layer| Some((layer.delta, file(layer.before.as_ref())?))).collect()
}

/// What each layer that leaves has made of what.
fn leaves(path: &PathPlan) -> Vec<[Option<ContentHash>; 2]> {
    let layers = path.step.stack_before.layers().iter();
    let out = layers.filter(|layer| path.out.contains(&layer.delta));
    out.map(|layer: &Layer| [&layer.before, &layer.after].map(|record| file(record.as_ref()))).collect()
}

fn file(record: Option<&Record>) -> Option<ContentHash> {
    match record {
        Some(Record::File { hash, len, .. }) if *len <= LARGEST => Some(*hash),
        _ => None,
    }
}

fn said(suspect: &Suspect, objects: &dyn Objects) -> Option<String> {
    let read = |hash: Option<ContentHash>| hash.and_then(|hash| objects.get(&hash).ok()).unwrap_or_default();
    let made = read(Some(suspect.made));
    let made = lines(&made);
    let mut leaves = suspect.leaves.iter().map(|leaves| leaves.map(read));
    let stay = leaves.any(|[before, after]| {
        let before = lines(&before);
        lines(&after).difference(&before).any(|line| made.contains(line))
    });
    let Suspect { old, new, .. } = suspect;
    stay.then(|| {
        format!("{new} keeps lines that go from {old}: a later turn that stays made it as it removed {old}")
    })
}

fn lines(bytes: &[u8]) -> HashSet<&[u8]> {
    let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.filter(|line| line.len() >= TELLING).collect()
}
