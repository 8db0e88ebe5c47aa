//! The call that a change of files belongs to. Must never show what a person has hidden.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use retake_core::{ConversationId, EntryId, Part, Pos, ShownEntry, Time};

use crate::Engine;
use crate::error::Result;
use crate::log::LogFailure as _;

/// A call, as its result tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    /// What ran: one; several where nobody knows which of them it was; none where that is not known.
    pub asked: Vec<Asked>,
    /// When it began, where its call is known.
    pub began: Option<Time>,
    /// When it ended; nothing, where that is not known: it was killed, or a job of it has gone on.
    pub ended: Option<Time>,
    /// The turn that it belongs to, where it belongs to one.
    pub turn: Option<u64>,
}

/// A call, as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The tool.
    pub tool: String,
    /// Its arguments, as the model wrote them.
    pub arguments: String,
}

/// By what the ledger, decisions and processes name a call: the entry that asks for it, and which one of it that is, from 1.
pub(crate) fn name_of(entry: EntryId, number: usize) -> String {
    format!("{entry}-{number}")
}

/// The name of the call of an answer that has this id of the model's.
fn named(entry: EntryId, parts: &[Part], id: &str) -> Option<String> {
    let ids = parts.iter().filter_map(|part| match part {
        Part::ToolCall { id, .. } => Some(id),
        _ => None,
    });
    (1..).zip(ids).find(|(_, own)| *own == id).map(|(number, _)| name_of(entry, number))
}

/// By which id of the model's a result names its call.
fn answered(parts: &[Part]) -> Option<&str> {
    parts.iter().find_map(|part| match part {
        Part::ToolResult { call, .. } => Some(call.as_str()),
        _ => None,
    })
}

impl Engine {
    /// The call that an entry is of, also on another branch. The entry is its result, or the answer that asks for it, where
    /// what it changed was found without a result.
    pub async fn called(&self, of: ConversationId, entry: EntryId) -> Result<Called> {
        let meta = self.store().meta(of, entry).await?;
        let turn = meta.turn.map(|_| meta.totals.turns);
        // What can't be read any more, as it was hidden or is damaged, has no words.
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
        // Before its row was written it waited for an approval or for other calls.
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

    /// How long the calls worked, in milliseconds, whose results these entries are, without what they waited. Nothing for what is no
    /// result, and for calls that nothing can stay of, which are not written down.
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
