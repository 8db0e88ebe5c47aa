//! Finds other conversations that contain an erased text, because an erasure is limited to one tree of forks. Must never
//! change anything.

use std::collections::{BTreeMap, HashSet};

use retake_core::{Change, ContentHash, ConversationId, ListRequest, OpNo, Operation, Words};

use super::PAGE;
use super::matching::{holds, names_hold, part_holds};
use crate::error::{Result, StoreError};
use crate::files::Claimant;
use crate::rows::{ConversationRow, LogNo, Rows};

/// For each other tree of forks, a conversation that contains the text or names one of these objects, and the number of
/// such conversations.
pub(in crate::store) fn elsewhere(
    rows: &dyn Rows,
    of: ConversationId,
    text: &str,
    objects: &HashSet<ContentHash>,
) -> Result<Vec<(ConversationId, usize)>> {
    let Some(own) = rows.conversation(of)? else {
        return Err(StoreError::UnknownConversation(of.to_string()));
    };
    let claims = rows.claims()?.into_iter().filter(|claim| objects.contains(&claim.object));
    let by_files: HashSet<ConversationId> = claims
        .filter_map(|claim| match claim.by {
            Claimant::Call(id, _) | Claimant::Op(id, _) => Some(id),
            Claimant::Capture(_) | Claimant::Checkpoint(_) => None,
        })
        .collect();
    let mut found: BTreeMap<LogNo, (ConversationId, usize)> = BTreeMap::new();
    let mut before = None;
    loop {
        let page =
            rows.conversations(&ListRequest { before, limit: PAGE as usize, ..ListRequest::default() })?;
        let Some(last) = page.last() else { return Ok(found.into_values().collect()) };
        before = Some(last.id);
        for row in page.iter().filter(|row| row.root != own.root) {
            if by_files.contains(&row.id) || is_in(rows, row, text)? {
                // Ids grow: the least one is the first.
                let (id, of_tree) = found.entry(row.root).or_insert((row.id, 0));
                (*id, *of_tree) = (row.id.min(*id), *of_tree + 1);
            }
        }
    }
}

/// Whether a conversation's own log, or data beside it, contains the text.
fn is_in(rows: &dyn Rows, row: &ConversationRow, text: &str) -> Result<bool> {
    let (log, last) = (row.log, row.now.head.seq.0);
    let mut from = 1;
    while from <= last {
        let to = last.min(from + PAGE - 1);
        // An unreadable entry contains no readable text.
        let entries = rows.entries(log, from, to)?.into_iter().flatten();
        let mut entries = entries
            .filter(|entry| names_hold(entry, text) || entry.parts.iter().any(|part| part_holds(part, text)));
        if entries.next().is_some() {
            return Ok(true);
        }
        from = to + 1;
    }
    let requests = rows.requests_in(log, 1, last)?.into_iter().map(|(_, request, _)| request);
    let mut requests = requests.chain(row.request.iter().map(|(request, _)| request.clone()));
    if requests.any(|request| holds(request.as_str(), text)) {
        return Ok(true);
    }
    let ops = match rows.ops(log, OpNo(1), row.now.head.op) {
        Err(StoreError::Damaged { .. }) => Vec::new(),
        ops => ops?,
    };
    Ok(ops.iter().any(|op| op_holds(op, text)) || is_beside(rows, row, text)?)
}

fn op_holds(op: &Operation, text: &str) -> bool {
    let own = |own: &Option<String>| own.as_deref().is_some_and(|own| holds(own, text));
    let label = match &op.change {
        Change::Label { before, after, .. } => own(before) || own(after),
        _ => false,
    };
    let request = op.request.as_ref().is_some_and(|request| holds(request.as_str(), text));
    label || own(&op.summary) || holds(&op.author, text) || request
}

/// Checks streams in progress, drafts, waiting messages and rules.
fn is_beside(rows: &dyn Rows, row: &ConversationRow, text: &str) -> Result<bool> {
    let in_parts = |parts: &[retake_core::Part]| parts.iter().any(|part| part_holds(part, text));
    let streams = rows.streams()?;
    if streams.iter().any(|stream| stream.conversation == row.id && in_parts(&stream.parts)) {
        return Ok(true);
    }
    if rows.drafts(row.log)?.iter().any(|(author, parts)| holds(author, text) || in_parts(parts)) {
        return Ok(true);
    }
    let waits = |words: &Words| holds(&words.author, text) || in_parts(&words.parts);
    if rows.runs_of(row.log, usize::MAX)?.iter().any(|run| run.words.iter().any(waits)) {
        return Ok(true);
    }
    let rules = rows.permission(row.log)?.map(|permission| permission.rules).unwrap_or_default();
    Ok(rules
        .iter()
        .any(|rule| holds(&rule.tool, text) || rule.what.as_deref().is_some_and(|what| holds(what, text))))
}
