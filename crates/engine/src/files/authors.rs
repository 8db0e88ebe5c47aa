//! Versions of a path that are not in its layers. These are the last version without a call, and versions that calls of the
//! conversation left, dropped calls included. Read only if a plan must name the author of a change.

use std::collections::{BTreeSet, HashMap, HashSet};

use retake_core::{
    ConversationId, DeltaId, DeltaLine, FilePath, FilePlan, KeepState, Layer, PathPlan, Pos, Record, Verdict,
};

use super::workspace::HeldWorkspace;
use crate::Engine;
use crate::error::Result;

/// How many captures are searched for changes by others, and how many deltas for versions that calls left.
const LOOK_BACK: usize = 256;

/// Known versions and their authors.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownVersions {
    /// The last version of each path that no call wrote, in the captures that are searched.
    pub(super) theirs: HashMap<FilePath, Option<Record>>,
    /// What calls of the conversation left at the requested paths, newest first.
    pub(super) left: HashMap<FilePath, Vec<(Option<Record>, DeltaId)>>,
    /// Ambiguous deltas that no staying call may have made.
    pub(super) certain: BTreeSet<DeltaId>,
    /// The adopted deltas.
    pub(super) adopted: HashSet<DeltaId>,
    /// Deltas that are adopted at a single path only.
    pub(super) adopted_alone: HashMap<FilePath, HashSet<DeltaId>>,
}

/// Whether a plan must name the author of a change that prevents a wanted version.
pub(super) fn is_asked(plan: &FilePlan) -> bool {
    asked(plan).next().is_some()
}

fn asked(plan: &FilePlan) -> impl Iterator<Item = &FilePath> {
    let asks = |path: &&PathPlan| match path.verdict {
        Verdict::Conflict(_) | Verdict::NotEmpty | Verdict::Foreign => true,
        _ => changes_below_removal(path),
    };
    plan.paths.iter().filter(asks).map(|path| &path.path)
}

/// Whether something changes below a removal that stays. The removal may be the person's own: then it is a conflict, whatever was
/// created there since.
fn changes_below_removal(path: &PathPlan) -> bool {
    let changes = |layer: &&Layer| path.out.contains(&layer.delta) || path.into.contains(&layer.delta);
    let has_changes = !(path.out.is_empty() && path.into.is_empty());
    let mut stay = path.step.stack_before.layers().iter().filter(|layer| !changes(layer));
    has_changes && stay.any(|layer| layer.after.is_none())
}

impl Engine {
    pub(super) async fn told(
        &self,
        held: &HeldWorkspace,
        conversation: ConversationId,
        plan: &FilePlan,
        mut told: KnownVersions,
    ) -> Result<KnownVersions> {
        for capture in self.store().captures(held.no, None, LOOK_BACK).await? {
            for change in capture.changes {
                told.theirs.entry(change.path).or_insert(change.after);
            }
        }
        // A folder can be blocked by its content, and a path by a folder above it.
        let asked: HashSet<&FilePath> = asked(plan).collect();
        let above: HashSet<FilePath> = asked.iter().flat_map(|path| parents(path)).collect();
        let about = |path: &FilePath| {
            asked.contains(path) || above.contains(path) || parents(path).any(|above| asked.contains(&above))
        };
        if asked.is_empty() {
            return Ok(told);
        }
        let deltas = self.store().deltas(conversation).await?;
        let snapshot = self.store().snapshot(conversation).await?;
        let known = snapshot.conversation();
        let (depth, kept) = (known.tree.depth(), &known.state.kept);
        let at = |line: &DeltaLine| Pos::new(depth, line.seq);
        let adopted = deltas.iter().filter(|(line, _)| kept.entries.get(at(line)) == KeepState::Adopted);
        told.adopted = adopted.map(|(line, _)| line.id).collect();
        for single in kept.paths.iter().filter(|it| it.workspace == held.no && about(&it.path)) {
            let own = deltas.iter().filter(|(line, _)| at(line) == single.entry).map(|(line, _)| line.id);
            told.adopted_alone.entry(single.path.clone()).or_default().extend(own);
        }
        let here = deltas.iter().rev().filter(|(line, _)| line.workspace == held.no).take(LOOK_BACK);
        for (line, _) in here {
            for (path, layers) in self.store().delta(conversation, line.id).await? {
                let Some(last) = layers.last().filter(|_| about(&path)) else { continue };
                told.left.entry(path).or_default().push((last.after.clone(), line.id));
            }
        }
        Ok(told)
    }
}

/// The folders above a path, from the bottom up.
fn parents(path: &FilePath) -> impl Iterator<Item = FilePath> {
    std::iter::successors(path.parent(), FilePath::parent)
}
