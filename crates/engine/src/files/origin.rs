//! The call and the turn of a file change, for plans that name them.

use std::collections::{HashMap, HashSet};

use futures::future::BoxFuture;

use retake_core::{Conversation, ConversationId, DeltaId, DeltaLine, EntryId, Mark, Pos};

use crate::Engine;
use crate::error::Result;

/// The origin of a delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeltaOrigin {
    /// The entry that it belongs to.
    pub entry: EntryId,
    /// The number of its turn; `None` if the turn is not on the path.
    pub turn: Option<u64>,
}

/// The deltas that a plan names.
#[derive(Clone, Debug, Default)]
pub struct PlannedDeltas {
    /// Each with the entry to show for it. A change that a capture found before the call's end belongs to the call's result, once
    /// it exists.
    pub deltas: Vec<(DeltaLine, EntryId)>,
    /// Deltas whose calls are no longer in the conversation although files still have them: an earlier step left them.
    pub left_behind: HashSet<DeltaId>,
}

impl Engine {
    /// The origins of these deltas; deltas that the conversation does not know are left out.
    pub fn delta_origins<'a>(
        &'a self,
        of: ConversationId,
        wanted: &'a HashSet<DeltaId>,
    ) -> BoxFuture<'a, Result<HashMap<DeltaId, DeltaOrigin>>> {
        Box::pin(async move {
            let mut origins = HashMap::new();
            if wanted.is_empty() {
                return Ok(origins);
            }
            let snapshot = self.store().snapshot(of).await?;
            let known = snapshot.conversation();
            let deltas = self.store().deltas_of(of, wanted.clone()).await?;
            let metas = self.store().metas(of, deltas.iter().map(|(_, entry)| *entry).collect()).await?;
            for ((line, entry), meta) in deltas.into_iter().zip(metas) {
                let turn = Some(meta.totals.turns).filter(|_| known.is_on_path(place(known, &line)));
                origins.insert(line.id, DeltaOrigin { entry, turn });
            }
            Ok(origins)
        })
    }

    /// The deltas that a plan names.
    pub fn planned_deltas<'a>(
        &'a self,
        of: ConversationId,
        wanted: &'a HashSet<DeltaId>,
    ) -> BoxFuture<'a, Result<PlannedDeltas>> {
        Box::pin(async move {
            let mut deltas = self.store().deltas_of(of, wanted.clone()).await?;
            let entries: HashSet<EntryId> = deltas.iter().map(|(_, entry)| *entry).collect();
            let entries: Vec<EntryId> = entries.into_iter().collect();
            let metas = self.store().metas(of, entries.clone()).await?;
            let (results, calls): (Vec<EntryId>, Vec<Pos>) = entries
                .into_iter()
                .zip(metas)
                .filter_map(|(entry, meta)| Some((entry, meta.answers?)))
                .unzip();
            let calls = self.store().entry_ids(of, calls).await?;
            let results: HashMap<EntryId, EntryId> = calls.into_iter().zip(results).collect();
            for (_, entry) in &mut deltas {
                *entry = results.get(entry).copied().unwrap_or(*entry);
            }
            let snapshot = self.store().snapshot(of).await?;
            let known = snapshot.conversation();
            let is_part = |line: &DeltaLine| {
                let pos = place(known, line);
                known.is_on_path(pos) && known.mark(pos) != Mark::Dropped
            };
            let left_behind =
                deltas.iter().filter(|(line, _)| !is_part(line)).map(|(line, _)| line.id).collect();
            Ok(PlannedDeltas { deltas, left_behind })
        })
    }
}

fn place(known: &Conversation, line: &DeltaLine) -> Pos {
    Pos::new(known.tree.depth(), line.seq)
}
