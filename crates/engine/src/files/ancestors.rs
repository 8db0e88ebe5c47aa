//! Files that turns of a fork's ancestors changed. They belong to the ancestor, so a step in the fork never changes them. Plan
//! and receipt name them, and the command that reverts them. Must never change one.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use retake_core::{Action, ConversationId, KeepState, Path as EntryPath, Pos, Scope};
use retake_store::StoreError;

use super::conversation_folders::shown_in;
use super::note::Note;
use super::options::FileOptions;
use crate::Engine;
use crate::error::Result;

/// The most files that are named.
const NAMED: usize = 4;

impl Engine {
    /// The files of its ancestors' turns that an action in a fork leaves unchanged, one note for each ancestor.
    pub(super) async fn of_ancestors(
        &self,
        of: ConversationId,
        action: &Action,
        options: &FileOptions,
    ) -> Result<Vec<Note>> {
        let snapshot = self.store().snapshot(of).await?;
        let own = snapshot.conversation();
        let depth = own.tree.depth();
        let is_asked = options.restore.is_none() && !matches!(action, Action::Files(_));
        if depth == 0 || !is_asked || options.scope == Scope::Conversation {
            return Ok(Vec::new());
        }
        let gone = match self.store().plan(of, action.clone()).await {
            Ok(planned) => planned.plan.gone,
            // The conversation has nothing to revert; files may still change.
            Err(StoreError::Refused(_)) => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let mut stays = Vec::new();
        // Files that a person adopted before the fork stay adopted in the fork.
        let kept = own.state.kept.entries.ranges().iter();
        let kept = kept.filter(|(_, keep)| *keep == KeepState::Adopted).map(|(span, _)| *span);
        let gone = gone.without(kept);
        let (mut at, mut depth) = (of, depth);
        while gone.first().is_some_and(|first| first.depth < depth)
            && let Some((parent, _)) = self.store().summary(at).await?.parent
        {
            (at, depth) = (parent, depth - 1);
            stays.extend(self.stays_of(of, (parent, depth), &gone).await?);
        }
        Ok(stays)
    }

    /// The files of one ancestor that stay.
    async fn stays_of(
        &self,
        of: ConversationId,
        (parent, depth): (ConversationId, u32),
        gone: &EntryPath,
    ) -> Result<Option<Note>> {
        let deltas = self.store().deltas(parent).await?;
        let mut here = deltas
            .into_iter()
            .filter(|(line, _)| line.applied > 0 && gone.contains(Pos::new(depth, line.seq)))
            .peekable();
        let Some((first, entry)) = here.peek().copied() else { return Ok(None) };
        let rows = self.store().workspaces().await?;
        let own = self.folder_of(of).await?;
        let mut files: BTreeSet<String> = BTreeSet::new();
        for (line, _) in here {
            let row = rows.iter().find(|row| row.no == line.workspace);
            let root = row.map(|row| Path::new(OsStr::from_bytes(&row.root)));
            let folder = root.filter(|root| own.as_deref() != Some(*root));
            let paths =
                self.store().delta(parent, line.id).await?.into_iter().map(|(path, _)| path).collect();
            for (path, stack) in self.store().layers(parent, line.workspace, paths).await? {
                if stack.layers().iter().any(|layer| layer.delta == line.id) {
                    files.insert(shown_in(folder, &path));
                }
            }
        }
        if files.is_empty() {
            return Ok(None);
        }
        let turn = self.store().meta(parent, entry).await?.totals.turns;
        let known = self.store().snapshot(parent).await?;
        let (known, pos) = (known.conversation(), Pos::new(depth, first.seq));
        let is_there = known.is_on_path(pos) && known.state.kept.entries.get(pos) == KeepState::ByPath;
        let (count, turn) = (files.len(), is_there.then_some(turn));
        let named = files.into_iter().take(NAMED).collect();
        Ok(Some(Note::OfParent { parent, files: count, named, turn }))
    }
}
