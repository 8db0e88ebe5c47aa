//! Which rows name which objects, collected in the same way for every backend.

use std::collections::HashMap;

use retake_core::{
    Capture, ConversationId, DeltaId, FileChange, Layer, Moved, OpNo, Record, Stack, Time, WorkspaceNo,
};

use crate::files::{Claim, Claimant, DeltaLayers};

/// The claims found so far. Deltas come before the stacks that contain their layers.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    /// The claims.
    pub(crate) found: Vec<Claim>,
    /// The conversation and the time of each delta.
    calls: HashMap<DeltaId, (ConversationId, Time)>,
}

impl Claims {
    fn add(&mut self, workspace: WorkspaceNo, by: Claimant, time: Time, record: Option<&Record>) {
        if let Some(Record::File { hash, len, .. }) = record {
            self.found.push(Claim { workspace, by, time, object: *hash, len: *len });
        }
    }

    fn change(&mut self, workspace: WorkspaceNo, by: Claimant, time: Time, change: &FileChange) {
        self.add(workspace, by, time, change.before.as_ref());
        self.add(workspace, by, time, change.after.as_ref());
    }

    fn layers(&mut self, workspace: WorkspaceNo, of: ConversationId, time: Option<Time>, layers: &[Layer]) {
        for layer in layers {
            // A layer of an unknown delta counts as new, so it stays.
            let (of, own) = self.calls.get(&layer.delta).copied().unwrap_or((of, Time(i64::MAX)));
            let (by, time) = (Claimant::Call(of, layer.delta), time.unwrap_or(own));
            self.add(workspace, by, time, layer.before.as_ref());
            self.add(workspace, by, time, layer.after.as_ref());
        }
    }

    /// Adds a capture.
    pub(crate) fn capture(&mut self, workspace: WorkspaceNo, row: &Capture) {
        let by = if row.name.is_some() { Claimant::Checkpoint(row.no) } else { Claimant::Capture(row.no) };
        row.changes.iter().for_each(|change| self.change(workspace, by, row.time, change));
    }

    /// Adds a delta.
    pub(crate) fn delta(
        &mut self,
        workspace: WorkspaceNo,
        by: (ConversationId, DeltaId),
        time: Time,
        layers: &DeltaLayers,
    ) {
        self.calls.insert(by.1, (by.0, time));
        layers.iter().for_each(|(_, layers)| self.layers(workspace, by.0, Some(time), layers));
    }

    /// Adds the layers of a path.
    pub(crate) fn stack(&mut self, workspace: WorkspaceNo, of: ConversationId, stack: &Stack) {
        self.layers(workspace, of, None, stack.layers());
    }

    /// Adds an operation's moves.
    pub(crate) fn moved(&mut self, by: (ConversationId, OpNo), time: Time, moved: &Moved) {
        let by = Claimant::Op(by.0, by.1);
        for made in &moved.moves {
            self.change(moved.workspace, by, time, &made.change);
            for layer in made.stack_before.layers().iter().chain(made.stack_after.layers()) {
                self.add(moved.workspace, by, time, layer.before.as_ref());
                self.add(moved.workspace, by, time, layer.after.as_ref());
            }
        }
    }
}
