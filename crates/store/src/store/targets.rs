//! Rewind targets, each with the effects of its turn. Reads only the rows of the page, however long the conversation is.

use std::collections::BTreeSet;

use retake_core::{
    AnswerPlace, ConversationId, EntryId, Path, Pos, Post, Projection, Records as _, Target, TargetLine,
    TurnWork,
};

use super::Store;
use super::decide::{locate, shows};
use super::load::Loaded;
use super::read::line;
use crate::error::{Result, StoreError};
use crate::rows::Rows;

impl Store {
    /// Rewind targets, newest first.
    pub async fn targets(
        &self,
        conversation: ConversationId,
        before: Option<EntryId>,
        limit: usize,
    ) -> Result<Vec<TargetLine>> {
        self.with(conversation, move |rows, loaded| targets(rows, loaded, before, limit)).await
    }

    /// The entry that opened turn `number` (from 1) in the timeline.
    pub async fn turn(&self, conversation: ConversationId, number: u64) -> Result<Option<EntryId>> {
        self.with(conversation, move |rows, loaded| {
            let records = loaded.records(rows);
            let opener = loaded.conversation.turn_opener(&records, number)?;
            opener.map(|pos| records.meta(pos).map(|meta| meta.id)).transpose()
        })
        .await
    }

    /// The entry that an answer would follow now.
    pub async fn answering(&self, conversation: ConversationId) -> Result<AnswerPlace> {
        self.with(conversation, |rows, loaded| {
            let tip = loaded.conversation.state.tip;
            let turn = loaded.conversation.turn_of(&loaded.records(rows), tip)?;
            Ok(AnswerPlace { turn, tip })
        })
        .await
    }
}

/// Rewind targets, newest first.
pub(super) fn targets(
    rows: &dyn Rows,
    loaded: &Loaded,
    before: Option<EntryId>,
    limit: usize,
) -> Result<Vec<TargetLine>> {
    let cursor = |id| {
        let pos = locate(rows, loaded, id)?;
        if shows(loaded, Projection::Timeline, pos) { Ok(pos) } else { Err(StoreError::BadCursor(id)) }
    };
    let before = before.map(cursor).transpose()?;
    let mut targets = loaded.conversation.targets(&loaded.records(rows), before, limit)?;
    targets.reverse();
    let did = did(rows, loaded, &targets)?;
    let lines = targets.into_iter().zip(did).rev().map(|(target, did)| {
        let preview = line(rows, loaded, target.meta.pos)?.preview;
        Ok(TargetLine { target, preview, did })
    });
    lines.collect()
}

/// The work of each of these turns, oldest first: one reading of the ledger and one of the deltas for each span of all.
fn did(rows: &dyn Rows, loaded: &Loaded, turns: &[Target]) -> Result<Vec<TurnWork>> {
    let mut did = vec![TurnWork::default(); turns.len()];
    let mut deltas = vec![0_u64; turns.len()];
    let turn =
        |depth, seq| turns.partition_point(|turn| turn.meta.pos <= Pos::new(depth, seq)).checked_sub(1);
    let all = Path::from_spans(turns.iter().flat_map(|turn| turn.own.spans()).copied());
    for span in all.spans() {
        let log = loaded.key(span.first())?.log;
        for (seq, begun) in rows.begun(log, span.from, span.to)? {
            let Some(turn) = turn(span.depth, seq) else { continue };
            did[turn].begun.push(begun);
        }
        for post in super::chat::posts_in(rows, loaded, *span)?.into_iter().filter(Post::may_be_there) {
            let Some(entry) = post.kind.entry() else { continue };
            let Some(turn) = turn(span.depth, entry.0) else { continue };
            did[turn].posts += 1;
        }
        for (seq, paths) in rows.deltas_in(log, span.from, span.to)? {
            let Some(turn) = turn(span.depth, seq) else { continue };
            did[turn].files += paths;
            deltas[turn] += 1;
        }
    }
    // Several deltas may have changed the same paths, and several paths may include folders of others: only then are their
    // paths read.
    let several = turns.iter().zip(deltas.iter().zip(&did));
    let several = several.filter(|(_, (deltas, did))| **deltas > 1 || did.files > 1).map(|(turn, _)| turn);
    let several = Path::from_spans(several.flat_map(|turn| turn.own.spans()).copied());
    let mut paths = vec![BTreeSet::new(); turns.len()];
    for span in several.spans() {
        let log = loaded.key(span.first())?.log;
        for (seq, place, path) in rows.paths_in(log, span.from, span.to)? {
            let Some(turn) = turn(span.depth, seq) else { continue };
            paths[turn].insert((place, path));
        }
    }
    for (did, paths) in did.iter_mut().zip(paths).filter(|(_, paths)| !paths.is_empty()) {
        // The content of a folder comes right after it and counts instead of it.
        let all: Vec<_> = paths.into_iter().collect();
        let is_told = |at: usize| {
            let (place, path) = &all[at];
            all.get(at + 1).is_some_and(|(there, next)| there == place && next.is_within(path))
        };
        did.files = (0..all.len()).filter(|at| !is_told(*at)).count() as u64;
    }
    Ok(did)
}
