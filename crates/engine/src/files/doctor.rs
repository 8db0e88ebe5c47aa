//! The check of files: unfinished rewinds, missing or damaged versions. It repairs what can be repaired without loss: it
//! finishes open steps, and stores the current content of folders again.

use retake_core::{CheckMode, Checked, ContentHash, Finding, Repair, WorkspaceInfo};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use retake_store::Claimant;
use retake_worktree::PackObjects;

use super::blocking;
use super::erase::is_kept;
use crate::Engine;
use crate::error::Result;

impl Engine {
    /// Adds the problems of files to those of the store.
    pub(crate) async fn doctor_files(&self, care: CheckMode, checked: &mut Checked) -> Result<()> {
        if self.files.config.is_none() {
            return Ok(());
        }
        self.doctor_rewinds(care, checked).await?;
        let Some(pack) = self.files.objects_if_any().await? else {
            return Ok(());
        };
        let looking = Arc::clone(&pack);
        let damaged = blocking(move || looking.check(&mut |_, _| ())).await??.damaged;
        let mut lost = self.lost(&pack).await?;
        if care == CheckMode::Mend && !(lost.is_empty() && damaged.is_empty()) {
            let before = lost.len();
            self.take_in_again().await?;
            lost = self.lost(&pack).await?;
            let healed = before - lost.len();
            let also = damaged.iter().filter(|object| pack.has(object) && !lost.contains_key(object)).count();
            if healed.max(also) > 0 {
                checked.mended.push(Repair::Versions(healed.max(also)));
            }
        }
        let unneeded =
            damaged.iter().filter(|object| !lost.contains_key(object) && !pack.has(object)).count();
        if unneeded > 0 {
            let what =
                "damaged parts of the object store hold nothing that is needed; they go with a collection";
            checked.details.push(format!("{unneeded} {what}"));
        }
        self.report_lost(&lost, checked).await
    }

    /// Rewinds whose files are not settled.
    async fn doctor_rewinds(&self, care: CheckMode, checked: &mut Checked) -> Result<()> {
        let intents = self.left_open().await?;
        let rows = self.store().workspaces().await?;
        let pending = self.erasures_open().await?;
        let mut why = Vec::new();
        if care == CheckMode::Mend {
            why = self.settle_files().await?;
        }
        let left = self.left_open().await?;
        for intent in &intents {
            let folder = folder_of(&rows, intent.workspace);
            if left.iter().any(|left| left.staging == intent.staging) {
                checked.problems.push(Finding::StepCutShort(folder));
            } else {
                let way = if intent.back { Repair::StepTakenBack } else { Repair::StepFinished };
                checked.mended.push(way(folder));
            }
        }
        if pending > 0 && self.erasures_open().await? == 0 {
            checked.mended.push(Repair::EraseFinished);
        } else if pending > 0 {
            checked.problems.push(Finding::EraseCutShort);
        }
        checked.details.extend(why);
        Ok(())
    }

    /// The number of versions that are still to be erased, without the content of current files.
    async fn erasures_open(&self) -> Result<usize> {
        let current = self.current().await?;
        let noted = self.store().erased_objects().await?;
        Ok(noted.iter().filter(|object| !current.contains(object)).count())
    }

    /// The versions that are needed and missing, with the rows that need them.
    async fn lost(&self, pack: &Arc<PackObjects>) -> Result<BTreeMap<ContentHash, Vec<Claimant>>> {
        let since = self.store().kept_since().await?;
        let mut lost: BTreeMap<ContentHash, Vec<Claimant>> = BTreeMap::new();
        for claim in self.store().claims().await? {
            if is_kept(claim.by, claim.time, since) && !pack.has(&claim.object) {
                lost.entry(claim.object).or_default().push(claim.by);
            }
        }
        for object in self.current().await? {
            if !pack.has(&object) {
                lost.entry(object).or_default();
            }
        }
        Ok(lost)
    }

    async fn report_lost(
        &self,
        lost: &BTreeMap<ContentHash, Vec<Claimant>>,
        checked: &mut Checked,
    ) -> Result<()> {
        let by = || lost.values().flatten();
        let conversations: BTreeSet<_> = by()
            .filter_map(|by| match by {
                Claimant::Call(id, _) | Claimant::Op(id, _) => Some(*id),
                Claimant::Capture(_) | Claimant::Checkpoint(_) => None,
            })
            .collect();
        if !conversations.is_empty() {
            let versions = lost.values().filter(|by| by.iter().any(is_call)).count();
            let conversations = conversations.into_iter().collect();
            checked.problems.push(Finding::LostVersions { versions, conversations });
        }
        let captured = lost.values().filter(|by| !by.is_empty() && !by.iter().any(is_call)).count();
        if captured > 0 {
            checked.problems.push(Finding::LostCaptured(captured));
        }
        let current = lost.values().filter(|by| by.is_empty()).count();
        if current > 0 {
            checked.problems.push(Finding::LostCurrent(current));
        }
        Ok(())
    }

    /// Captures every existing folder completely: its content is put into the object store again.
    async fn take_in_again(&self) -> Result<()> {
        for row in self.store().workspaces().await? {
            if !self.files.is_idle() {
                return Ok(());
            }
            self.files.close(row.no);
            // A missing folder keeps its known state.
            if let Ok(held) = self.workspace_of(row).await {
                self.capture(held, None).await?;
            }
        }
        Ok(())
    }
}

fn is_call(by: &Claimant) -> bool {
    matches!(by, Claimant::Call(..) | Claimant::Op(..))
}

fn folder_of(rows: &[WorkspaceInfo], no: retake_core::WorkspaceNo) -> String {
    let row = rows.iter().find(|row| row.no == no);
    row.map_or_else(|| "a folder".to_owned(), |row| String::from_utf8_lossy(&row.root).into_owned())
}
