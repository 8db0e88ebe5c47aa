//! The call that changed a file. Must never show hidden content.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use retake_core::{
    CallForm, ConversationId, EffectState, EntryId, Part, Pos, Role, ShownEntry, Time, calls_as_run,
};

use super::exec::PERSON_COMMAND;
use crate::Engine;
use crate::error::Result;
use crate::log::LogFailure as _;

/// A call, from its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallInfo {
    /// The commands that ran: one; several if it is not certain which one; none if unknown.
    pub asked: Vec<RequestedCall>,
    /// When it began, if the call is known.
    pub began: Option<Time>,
    /// When it ended. None if that is not known: it was killed, or a job of it still runs.
    pub ended: Option<Time>,
    /// Its turn, if it has one.
    pub turn: Option<u64>,
}

/// A requested call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedCall {
    /// The tool.
    pub tool: String,
    /// Its arguments, as it runs.
    pub arguments: String,
}

/// Calls of a page that have no result, by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unfinished {
    /// Calls of the last answer that did not begin.
    pub unbegun: Vec<String>,
    /// Calls that began and did not end.
    pub cut_off: Vec<String>,
}

/// A call that has no result.
struct OpenCall<'a> {
    /// The index of the entry that requests it.
    at: usize,
    name: String,
    tool: &'a str,
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
    pub async fn called(&self, of: ConversationId, entry: EntryId) -> Result<CallInfo> {
        let called = self.called_each(of, vec![entry]).await?;
        Ok(called.into_iter().next().expect("BUG: each entry has its call"))
    }

    /// The calls of these entries, in their order, as [`Self::called`] has them.
    pub async fn called_each(&self, of: ConversationId, entries: Vec<EntryId>) -> Result<Vec<CallInfo>> {
        let metas = self.store().metas(of, entries.clone()).await?;
        let contents = self.readable(of, entries).await?;
        // Results whose calls another entry requested: their index, the position of that entry, and the model's id of the call.
        let mut results = Vec::new();
        let mut all = Vec::new();
        for (index, (meta, parts)) in metas.into_iter().zip(&contents).enumerate() {
            let turn = meta.turn.map(|_| meta.totals.turns);
            let asked = asked_for(parts);
            let (began, ended) = match asked.is_empty() {
                true => (None, Some(meta.time)),
                false => (Some(meta.time), None),
            };
            results.extend(meta.answers.filter(|_| asked.is_empty()).map(|at| (index, at, answered(parts))));
            all.push(CallInfo { asked, began, ended, turn });
        }
        let calls = self.store().entry_ids(of, results.iter().map(|(_, at, _)| *at).collect()).await?;
        let requests = self.readable(of, calls.clone()).await?;
        let mut names = Vec::new();
        for (((index, _, id), call), asked) in results.into_iter().zip(calls).zip(&requests) {
            let own = calls_as_run(asked).filter(|call| Some(call.id) == id);
            all[index].asked = own.map(requested).take(1).collect();
            names.extend(id.and_then(|id| named(call, asked, id)).map(|name| (index, name)));
        }
        // Before the call's row was written, it waited for an approval or for other calls.
        let began = self.store().began(names.iter().map(|(_, name)| name.clone()).collect()).await?;
        for ((index, _), began) in names.into_iter().zip(began) {
            all[index].began = began.map(|(began, _)| began);
        }
        Ok(all)
    }

    /// The content of these entries. A hidden or damaged entry has none.
    async fn readable(&self, of: ConversationId, entries: Vec<EntryId>) -> Result<Vec<Vec<Part>>> {
        let contents = self.store().contents(of, entries).await?.into_iter();
        Ok(contents.map(|parts| parts.or_log("a call cannot be read").unwrap_or_default()).collect())
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

    /// The calls of a page of the timeline that have no result. The last answer is left out while more of it may come: a run is at
    /// work, or later entries follow.
    pub async fn unfinished(
        &self,
        of: ConversationId,
        entries: &[ShownEntry],
        has_later: bool,
    ) -> Result<Unfinished> {
        let last = entries.iter().rposition(|shown| role(shown) != Some(Role::Tool));
        let is_over = !has_later && !self.is_running(of);
        let asked = if is_over { last.map_or(0, |last| last + 1) } else { last.unwrap_or(0) };
        let open: Vec<OpenCall<'_>> = (0..asked).flat_map(|at| open_calls(entries, at)).collect();
        let mut found = Unfinished::default();
        if open.is_empty() {
            return Ok(found);
        }
        let began = self.calls_begun(open.iter().map(|open| open.name.clone()).collect()).await?;
        for (OpenCall { at, name, tool }, began) in open.into_iter().zip(began) {
            match began {
                Some((_, EffectState::Begun)) => found.cut_off.push(name),
                // A person's command begins as soon as it is said, and is in no ledger.
                None if Some(at) == last && tool == PERSON_COMMAND => found.cut_off.push(name),
                None if Some(at) == last => found.unbegun.push(name),
                _ => {}
            }
        }
        Ok(found)
    }
}

/// The role of an entry; none of a damaged one.
fn role(shown: &ShownEntry) -> Option<Role> {
    shown.entry.as_ref().ok().map(|entry| entry.meta.role)
}

/// The calls of an entry that have no result after it.
fn open_calls(entries: &[ShownEntry], at: usize) -> Vec<OpenCall<'_>> {
    let Ok(asking) = &entries[at].entry else { return Vec::new() };
    let behind = entries[at + 1..].iter().take_while(|shown| role(shown) != Some(Role::Assistant));
    let parts = behind.filter_map(|shown| shown.entry.as_ref().ok()).flat_map(|entry| &entry.parts);
    let results = parts.filter_map(|part| match part {
        Part::ToolResult { call, .. } => Some(call.as_str()),
        _ => None,
    });
    let over: HashSet<&str> = results.collect();
    let open = (1..).zip(calls_as_run(&asking.parts)).filter(|(_, call)| !over.contains(call.id));
    let name = |number| name_of(asking.meta.id, number);
    open.map(|(number, call)| OpenCall { at, name: name(number), tool: call.name }).collect()
}

/// The calls that an answer asks for.
fn asked_for(parts: &[Part]) -> Vec<RequestedCall> {
    calls_as_run(parts).map(requested).collect()
}

fn requested(call: CallForm<'_>) -> RequestedCall {
    RequestedCall { tool: call.name.to_owned(), arguments: call.arguments.to_owned() }
}
