//! Where later calls that stay have moved content of the wanted paths: a plan follows the content there. Must never change what
//! is wanted of those paths themselves.

use std::collections::{HashMap, HashSet};

use retake_core::{
    ContentHash, ConversationId, DeltaId, DesiredState, FilePath, Layer, Record, Stack, WantedPath,
    WorkspaceNo,
};

use crate::Engine;
use crate::error::Result;

/// The paths that a delta created, by the delta and their content.
type CreatedPaths = HashMap<(DeltaId, ContentHash), Vec<(FilePath, Stack)>>;

impl Engine {
    /// The wanted paths, with the paths to which their content was moved. The latter keep their layers.
    pub(super) async fn with_moved(
        &self,
        conversation: ConversationId,
        workspace: WorkspaceNo,
        mut wanted_paths: Vec<WantedPath>,
    ) -> Result<Vec<WantedPath>> {
        let (mut made, mut read) = (CreatedPaths::new(), HashSet::new());
        let mut known: HashSet<FilePath> =
            wanted_paths.iter().map(|wanted_path| wanted_path.path.clone()).collect();
        let (asked, mut at) = (wanted_paths.len(), 0);
        while let Some(wanted_path) = wanted_paths.get(at) {
            let changes =
                at >= asked || wanted_path.want != DesiredState::Layers(wanted_path.stack.layers().to_vec());
            let away = if changes { wanted_path.moved_away() } else { Vec::new() };
            at += 1;
            for (delta, bytes) in away {
                if read.insert(delta) {
                    for (path, stack) in self.made_by(conversation, workspace, delta).await? {
                        let is_made = |layer: &&Layer| layer.delta == delta && layer.before.is_none();
                        let layer = stack.layers().iter().find(is_made);
                        if let Some(hash) = layer.and_then(|layer| layer.after.as_ref()?.hash()) {
                            made.entry((delta, hash)).or_default().push((path, stack));
                        }
                    }
                }
                for (path, stack) in made.get(&(delta, bytes)).into_iter().flatten() {
                    if known.insert(path.clone()) {
                        let want = DesiredState::Layers(stack.layers().to_vec());
                        wanted_paths.push(WantedPath { path: path.clone(), stack: stack.clone(), want });
                    }
                }
            }
        }
        Ok(wanted_paths)
    }

    /// The paths that a delta created, with their current layers.
    pub(super) async fn made_by(
        &self,
        conversation: ConversationId,
        workspace: WorkspaceNo,
        delta: DeltaId,
    ) -> Result<Vec<(FilePath, Stack)>> {
        let paths = self.store().delta(conversation, delta).await?;
        let is_made =
            |layer: &Layer| layer.before.is_none() && matches!(layer.after, Some(Record::File { .. }));
        let made = paths.into_iter().filter(|(_, layers)| layers.iter().any(is_made));
        let names = made.map(|(path, _)| path).collect();
        Ok(self.store().layers(conversation, workspace, names).await?)
    }
}
