//! The call that changed a file. Must never show hidden content.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use retake_core::{ConversationId, EntryId, Part, Pos, ShownEntry, Time};

use crate::Engine;
use crate::error::Result;
use crate::log::LogFailure as _;

/// A call, from its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    /// The commands that ran: one; several if it is not certain which one; none if unknown.
    pub asked: Vec<Asked>,
    /// When it began, if the call is known.
    pub began: Option<Time>,
    /// When it ended. None if that is not known: it was killed, or a job of it still runs.
    pub ended: Option<Time>,
    /// Its turn, if it has one.
    pub turn: Option<u64>,
}

/// A requested call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The tool.
    pub tool: String,
    /// Its arguments, as the model wrote them.
    pub arguments: String,
}

/// The name of a call in the ledger, in decisions and in processes: the entry that requested it, and its number there, from 1.
pub(crate) fn name_of(entry: EntryId, number: usize) -> String {
    format!("{entry}-{number}")
}

/// The name of the call in an answer with this id of the model.
fn named(entry: EntryId, parts: &[Part], id: &str) -> Option<String> {
    let ids = parts.iter().filter_map(|part| match part {
        Part::ToolCall { id, .. } => Some(id),
        _ => None,
    });
    (1..).zip(ids).find(|(_, own)| *own == id).map(|(number, _)| name_of(entry, number))
}

/// The model's id of the call that a result answers.
fn answered(parts: &[Part]) -> Option<&str> {
    parts.iter().find_map(|part| match part {
        Part::ToolResult { call, .. } => Some(call.as_str()),
        _ => None,
    })
}

impl Engine {
    /// The call of an entry, also on another branch. The entry is the call's result, or the answer that requested it if its
    /// changes were found without a result.
    pub async fn called(&self, of: ConversationId, entry: EntryId) -> Result<Called> {
        let meta = self.store().meta(of, entry).await?;
        let turn = meta.turn.map(|_| meta.totals.turns);
        // A hidden or damaged entry has no text.
        let told = self.store().content(of, entry).await.or_log("a result has no words").unwrap_or_default();
        let asked = asked_for(&told);
        if !asked.is_empty() {
            return Ok(Called { asked, began: Some(meta.time), ended: None, turn });
        }
        let mut called = Called { asked, began: None, ended: Some(meta.time), turn };
        let Some(at) = meta.answers else {
            return Ok(called);
        };
        let call = self.store().entry_id(of, at).await?;
        let asked = self.store().content(of, call).await.or_log("a call has no words").unwrap_or_default();
        let id = answered(&told);
        // Before the call's row was written, it waited for an approval or for other calls.
        if let Some(name) = id.and_then(|id| named(call, &asked, id)) {
            let began = self.store().began(vec![name]).await?;
            called.began = began.into_iter().next().flatten().map(|(began, _)| began);
        }
        let own = asked.iter().filter(|part| match part {
            Part::ToolCall { id: own, .. } => Some(own.as_str()) == id,
            _ => false,
        });
        called.asked = own.filter_map(asked_in).take(1).collect();
        Ok(called)
    }

    /// How long the calls worked whose results these entries are, in milliseconds, without waiting times. None for an entry that
    /// is no result, and for calls without effects, which the ledger does not contain.
    pub async fn took(&self, of: ConversationId, entries: &[ShownEntry]) -> Result<Vec<Option<i64>>> {
        let known = entries.iter().filter_map(|shown| {
            let entry = shown.entry.as_ref().ok().filter(|entry| entry.meta.calls > 0)?;
            Some((entry.meta.pos, (entry.meta.id, entry.parts.clone())))
        });
        let mut known: HashMap<Pos, (EntryId, Vec<Part>)> = known.collect();
        let mut names = Vec::new();
        for (place, shown) in entries.iter().enumerate() {
            let Ok(entry) = &shown.entry else { continue };
            let (Some(at), Some(id)) = (entry.meta.answers, answered(&entry.parts)) else { continue };
            if let Entry::Vacant(vacant) = known.entry(at) {
                let call = self.store().entry_id(of, at).await?;
                vacant.insert((
                    call,
                    self.store()
                        .content(of, call)
                        .await
                        .or_log("what a call was is not read")
                        .unwrap_or_default(),
                ));
            }
            let name = known.get(&at).and_then(|(call, parts)| named(*call, parts, id));
            names.extend(name.map(|name| (place, entry.meta.time, name)));
        }
        let mut took = vec![None; entries.len()];
        if names.is_empty() {
            return Ok(took);
        }
        let began = self.store().began(names.iter().map(|(.., name)| name.clone()).collect()).await?;
        for ((place, ended, _), began) in names.into_iter().zip(began) {
            took[place] = began.map(|(began, _)| (ended.0 - began.0).max(0));
        }
        Ok(took)
    }
}

/// The calls that an answer asks for.
fn asked_for(parts: &[Part]) -> Vec<Asked> {
    parts.iter().filter_map(asked_in).collect()
}

fn asked_in(part: &Part) -> Option<Asked> {
    match part {
        Part::ToolCall { name, arguments, .. } => {
            Some(Asked { tool: name.clone(), arguments: arguments.clone() })
        }
        _ => None,
    }
}
