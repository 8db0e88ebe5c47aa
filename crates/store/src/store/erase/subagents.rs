//! The conversations of subagents in an erasure: a task is in the call that starts it, too, and the result in the call's result.

use std::collections::BTreeSet;

use retake_core::{EntryId, LogNo, Part};

use super::super::load::Loaded;
use crate::error::Result;
use crate::rows::{ConversationRow, Key, Rows};

/// Adds the messages of all subagents that calls of these entries have started, and of those whose result is one of them.
/// Returns the logs of these subagents.
pub(super) fn reach(rows: &dyn Rows, family: &[Loaded], keys: &mut BTreeSet<Key>) -> Result<BTreeSet<LogNo>> {
    let mut found = Vec::new();
    for key in keys.iter() {
        let started = rows.subagents(key.log, key.seq, key.seq)?;
        if started.is_empty() {
            found.extend(of_result(rows, family, *key)?);
        }
        found.extend(started);
    }
    for row in &found {
        keys.extend((1..=row.now.head.seq.0).map(|seq| Key { log: row.log, seq }));
    }
    Ok(found.into_iter().map(|row| row.log).collect())
}

/// The subagent whose result an entry is.
fn of_result(rows: &dyn Rows, family: &[Loaded], key: Key) -> Result<Option<ConversationRow>> {
    let member = family.iter().find(|member| member.row.log == key.log);
    let (Some(member), Ok(entry)) = (member, rows.entry(key)) else { return Ok(None) };
    let (Some(answer), Some(id)) = (entry.meta.answers, entry.parts.iter().find_map(answered)) else {
        return Ok(None);
    };
    let answer = member.key(answer)?;
    let started = rows.subagents(answer.log, answer.seq, answer.seq)?;
    if started.is_empty() {
        return Ok(None);
    }
    let Ok(asked) = rows.entry(answer) else { return Ok(None) };
    let name = named(asked.meta.id, &asked.parts, id);
    let is_it = |row: &ConversationRow| row.caller.as_ref().map(|caller| &caller.call) == name.as_ref();
    Ok(started.into_iter().find(is_it))
}

/// The model's id of the call that a result answers.
fn answered(part: &Part) -> Option<&str> {
    match part {
        Part::ToolResult { call, .. } => Some(call),
        _ => None,
    }
}

/// The key of the call in an answer with this id of the model.
fn named(answer: EntryId, parts: &[Part], id: &str) -> Option<String> {
    let mut calls = (1..).zip(parts.iter().filter_map(|part| match part {
        Part::ToolCall { id, .. } => Some(id),
        _ => None,
    }));
    calls.find(|(_, own)| *own == id).map(|(number, _)| format!("{answer}-{number}"))
}
