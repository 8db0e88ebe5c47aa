//! Lines that a plan reverts in a file which a later call that stays has removed, and which are in a file that the same call
//! created. It is no rename, as the contents differ, so the lines stay. Plan and receipt name them. Must never change anything.

use std::collections::{BTreeMap, HashMap, HashSet};

use retake_core::{ContentHash, ConversationId, DeltaId, FilePath, FilePlan, PathPlan, Record, Verdict};
use retake_worktree::{KnownPath, Objects};

use super::blocking;
use super::note::FolderRemark;
use super::workspace::HeldWorkspace;
use crate::Engine;
use crate::error::Result;

/// Shorter lines, such as a bracket, are in every file.
const SHORTEST_LINE: usize = 4;

/// Larger files are not compared.
const LARGEST: u64 = 1 << 20;

/// The reverted changes in files that a later call which stays has removed.
#[derive(Default)]
struct RevertedChanges {
    /// Each file, with the content before and after each reverted layer.
    files: Vec<(FilePath, Vec<[Option<ContentHash>; 2]>)>,
    /// The content that was removed.
    removed: HashSet<ContentHash>,
}

impl Engine {
    /// Which files keep reverted lines of another file.
    pub(super) async fn rewritten(
        &self,
        conversation: ConversationId,
        held: &HeldWorkspace,
        plan: &FilePlan,
    ) -> Result<Vec<FolderRemark>> {
        let mut removals: BTreeMap<DeltaId, RevertedChanges> = BTreeMap::new();
        for path in &plan.paths {
            for (delta, bytes) in removed(path) {
                let leaving = removals.entry(delta).or_default();
                leaving.files.push((path.path.clone(), leaves(path)));
                leaving.removed.insert(bytes);
            }
        }
        let mut all = Vec::new();
        for (delta, leaving) in removals {
            let mut made = Vec::new();
            for (path, stack) in self.made_by(conversation, held.no, delta).await? {
                let layer = stack.layers().iter().find(|layer| layer.delta == delta);
                let was = layer.and_then(|layer| layer.after.as_ref()?.hash());
                // With equal content it is a rename, which the plan follows.
                let is_rename = was.is_some_and(|was| leaving.removed.contains(&was));
                if let (false, KnownPath::Is(record)) = (is_rename, held.tree.known(&path)) {
                    made.extend(file(Some(&record)).map(|bytes| (path, bytes)));
                }
            }
            all.push((leaving, made));
        }
        if all.iter().all(|(_, made)| made.is_empty()) {
            return Ok(Vec::new());
        }
        let objects = self.files.objects().await?;
        blocking(move || all.iter().flat_map(|(leaving, made)| said(leaving, made, &*objects)).collect())
            .await
    }
}

/// The later deltas that stay and have removed the file, with the content that they removed.
fn removed(path: &PathPlan) -> Vec<(DeltaId, ContentHash)> {
    if path.verdict != Verdict::Unchanged || path.step.change.before.is_some() {
        return Vec::new();
    }
    let layers = path.step.stack_before.layers().iter();
    let later = layers.skip_while(|layer| !path.out.contains(&layer.delta));
    let stays = later.filter(|layer| !path.out.contains(&layer.delta) && layer.after.is_none());
    stays.filter_map(|layer| Some((layer.delta, layer.before.as_ref()?.hash()?))).collect()
}

/// The content before and after each reverted layer.
fn leaves(path: &PathPlan) -> Vec<[Option<ContentHash>; 2]> {
    let layers = path.step.stack_before.layers().iter();
    let out = layers.filter(|layer| path.out.contains(&layer.delta));
    out.map(|layer| [&layer.before, &layer.after].map(|record| file(record.as_ref()))).collect()
}

fn file(record: Option<&Record>) -> Option<ContentHash> {
    match record {
        Some(Record::File { hash, len, .. }) if *len <= LARGEST => Some(*hash),
        _ => None,
    }
}

/// Reads each version once for all files.
fn said(
    leaving: &RevertedChanges,
    made: &[(FilePath, ContentHash)],
    objects: &dyn Objects,
) -> Vec<FolderRemark> {
    // A version that is no longer stored has no lines to compare.
    let read = |hash: &ContentHash| objects.get(hash).unwrap_or_default();
    let mut gone: HashMap<Vec<u8>, &FilePath> = HashMap::new();
    for (old, layers) in &leaving.files {
        for [before, after] in layers {
            let [before, after] = [before, after].map(|hash| hash.as_ref().map(read).unwrap_or_default());
            let before: HashSet<&[u8]> = lines(&before).collect();
            gone.extend(lines(&after).filter(|line| !before.contains(line)).map(|line| (line.to_vec(), old)));
        }
    }
    let keeps = |(new, bytes): &(FilePath, ContentHash)| {
        let bytes = read(bytes);
        let old = lines(&bytes).find_map(|line| gone.get(line))?;
        Some(FolderRemark::LinesStay { path: new.to_string(), from: old.to_string() })
    };
    made.iter().filter_map(keeps).collect()
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| line.len() >= SHORTEST_LINE)
}
