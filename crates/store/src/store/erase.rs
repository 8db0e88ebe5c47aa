//! Erase: the only exception to “nothing is lost”. Content is overwritten everywhere in every conversation of the root: entries,
//! the full-text index, summaries of them, labels and titles, streams in progress, drafts, and file changes of calls. A dated
//! operation without the content stays.

mod beside;
mod files;
mod matching;
mod posts;
mod subagents;

pub(super) use beside::elsewhere;
pub(super) use files::noted;
use matching::names_hold;
pub(super) use matching::{holds, part_holds};

use std::collections::{BTreeSet, HashSet};

use retake_core::{
    Change, ChangeKind, ChangeOrigin, ContentHash, ConversationId, EntryId, KeptPath, LabelTarget, OpNo,
    Part, Pos, Principal, Receipt, RequestId, Time, Words,
};

use super::Context;
use super::decide::locate;
use super::load::Loaded;
use super::memory;
use super::write::receipt_of;
use crate::error::{Result, StoreError};
use crate::files::ErasureSum;
use crate::rows::{ERASED_OBJECTS, Erasure, Fingerprint, Key, LogNo};

/// The entries that are read at once in a search for a text.
const PAGE: u64 = 512;

/// What to erase, as requested.
pub(super) struct ErasureTargets<'a> {
    entries: &'a [EntryId],
    matching: Option<&'a str>,
    objects: HashSet<ContentHash>,
}

impl<'a> ErasureTargets<'a> {
    pub(super) fn new(entries: &'a [EntryId], matching: Option<&'a str>, objects: &[ContentHash]) -> Self {
        let matching = matching.filter(|text| !text.is_empty());
        Self { entries, matching, objects: objects.iter().copied().collect() }
    }
}

/// The author without the erased text, which must not be stored again.
pub(super) fn by_without(by: &ChangeOrigin, matching: Option<&str>) -> ChangeOrigin {
    let mut by = by.clone();
    if let Some(text) = matching.filter(|text| !text.is_empty()) {
        by.request.take_if(|request| holds(request.as_str(), text));
        if holds(&by.author, text) {
            by.author.clear();
        }
        if principal_holds(&by.principal, text) {
            by.principal = by.principal.erased();
        }
    }
    by
}

/// Whether a principal's person has the text. Tokens and accounts have names that the user gave them.
fn principal_holds(principal: &Principal, text: &str) -> bool {
    matches!(principal, Principal::Member { person, .. } if holds(person, text))
}

/// The places of the content.
struct ErasureScope {
    family: Vec<Loaded>,
    rows: Erasure,
    files: files::FileErasure,
}

impl Context {
    /// Erases these entries with the file changes of their calls, and everything that contains the text.
    pub(super) fn erase(
        &mut self,
        loaded: &Loaded,
        what: &ErasureTargets<'_>,
        by: &ChangeOrigin,
        print: Fingerprint,
    ) -> Result<Receipt> {
        let ErasureScope { family, rows: erasure, files } = self.reach(loaded, what)?;
        let loose = what.matching.map_or(Ok(0), |text| self.erase_loose(&family, text, by.time))?;
        if erasure.entries.is_empty()
            && erasure.ops.is_empty()
            && erasure.kept.is_empty()
            && erasure.requests.is_empty()
            && erasure.authors.is_empty()
            && loose == 0
            && files.is_empty()
        {
            let plan =
                loaded.conversation.plan(&loaded.records(&*self.rows), &retake_core::Commit::default())?;
            return Ok(receipt_of(loaded, retake_core::Commit::default(), &plan, None));
        }
        self.erase_files(&family, files)?;
        self.rows.erase(loaded.row.root, &erasure)?;
        self.forget_restored(family.first().map_or(loaded.row.id, |root| root.row.id))?;
        self.forget_unchanged(loaded.row.root)?;
        self.scrub();
        let receipt = self.record_erasure(loaded, &family, &erasure, by, print)?;
        for member in &family {
            self.forget(member.row.id);
        }
        Ok(receipt)
    }

    /// What an erasure would remove. Changes nothing.
    pub(super) fn erasing(&mut self, id: ConversationId, what: &ErasureTargets<'_>) -> Result<ErasureSum> {
        let loaded = self.load(id)?;
        let ErasureScope { family, rows, files } = self.reach(&loaded, what)?;
        let mut keys: BTreeSet<Key> = rows.names.iter().copied().collect();
        for key in &rows.entries {
            if !self.is_erased(*key)? {
                keys.insert(*key);
            }
        }
        let messages = family.iter().map(|member| {
            let of = keys.iter().filter(|key| key.log == member.row.log).count();
            (member.row.id, of as u64)
        });
        let messages = messages.filter(|(_, of)| *of > 0).collect();
        let mut operations: BTreeSet<_> = rows.ops.iter().chain(&rows.authors).copied().collect();
        operations.extend(rows.kept.iter().map(|(log, op, _)| (*log, *op)));
        let operations = (operations.len() + rows.requests.len()) as u64;
        let facts = memory::erased(&*self.rows, &family, keys)?;
        let entries = rows.entries.iter().map(|key| Ok(self.rows.meta(*key)?.id)).collect::<Result<_>>()?;
        Ok(ErasureSum { messages, entries, operations, facts, ..files.summary(&family) })
    }

    /// Whether an entry's content is erased already. For a damaged entry this is not known.
    fn is_erased(&self, key: Key) -> Result<bool> {
        match self.rows.entry(key) {
            Ok(entry) => Ok(!entry.parts.is_empty() && entry.parts.iter().all(|part| *part == Part::Erased)),
            Err(StoreError::Damaged { .. }) => Ok(false),
            Err(other) => Err(other),
        }
    }

    fn reach(&mut self, loaded: &Loaded, what: &ErasureTargets<'_>) -> Result<ErasureScope> {
        let family = self.family(loaded)?;
        let (mut keys, mut names, mut requests) = (BTreeSet::new(), Vec::new(), Vec::new());
        for id in what.entries {
            keys.insert(loaded.key(locate(&*self.rows, loaded, *id)?)?);
        }
        if let Some(text) = what.matching {
            for member in &family {
                self.entries_with(member, text, &mut keys, &mut names)?;
                self.requests_with(member, text, &mut requests)?;
            }
        }
        let whole = subagents::reach(&*self.rows, &family, &mut keys)?;
        let rows = Erasure { names, requests, ..self.affected(&family, &keys, &whole, what.matching)? };
        let files = files::reach(&*self.rows, &family, &keys, what)?;
        Ok(ErasureScope { family, rows, files })
    }

    /// Forgets the names of objects that were erased from the object store, except those that are left for later.
    pub(super) fn objects_erased(&mut self, left: &[ContentHash]) -> Result<()> {
        if noted(&*self.rows)? == left {
            return Ok(());
        }
        let names: Vec<u8> = left.iter().flat_map(|hash| hash.0).collect();
        self.rows.set_note(ERASED_OBJECTS, (!names.is_empty()).then_some(&names))?;
        // Erases nothing: only the pages are overwritten.
        self.rows.erase(LogNo(0), &Erasure::default())?;
        self.scrub();
        Ok(())
    }

    /// Removes content beside the log that contains a text: streams in progress, waiting messages, drafts, rules; returns the
    /// number.
    fn erase_loose(&mut self, family: &[Loaded], text: &str, now: Time) -> Result<usize> {
        let mut dropped = self.erase_streams(family, text)? + self.erase_drafts_in(text)?;
        for root in family.iter().take(1).map(|member| member.row.root) {
            dropped += self.erase_unchanged(root, text)?;
        }
        for member in family {
            let is_in = |words: &mut Words| {
                words.request.take_if(|request| holds(request.as_str(), text));
                holds(&words.author, text) || words.parts.iter().any(|part| part_holds(part, text))
            };
            dropped += self.erase_words(member, is_in, now)?;
            dropped += self.erase_drafts(member, text)? + self.erase_notices(member, text)?;
            let Some(mut permission) = self.rows.permission(member.row.log)? else { continue };
            let all = permission.rules.len();
            permission.rules.retain(|rule| {
                !holds(&rule.tool, text) && !rule.what.as_deref().is_some_and(|what| holds(what, text))
            });
            if permission.rules.len() < all {
                dropped += 1;
                self.rows.set_permission(&member.row, &permission)?;
                self.touched(member.row.id, ChangeKind::Permission);
            }
        }
        Ok(dropped)
    }

    /// Removes streams in progress that contain a text; returns their number.
    fn erase_streams(&mut self, family: &[Loaded], text: &str) -> Result<usize> {
        let mut dropped = 0;
        for stream in self.rows.streams()? {
            let member = family.iter().find(|member| member.row.id == stream.conversation);
            if let Some(member) = member
                && stream.parts.iter().any(|part| part_holds(part, text))
            {
                self.rows.set_stream(member.row.log, None)?;
                dropped += 1;
            }
        }
        Ok(dropped)
    }

    /// Every conversation of the tree of forks.
    fn family(&mut self, loaded: &Loaded) -> Result<Vec<Loaded>> {
        let rows = self.rows.tree_of(loaded.row.root)?;
        rows.into_iter().map(|row| self.load(row.id).map(|loaded| (*loaded).clone())).collect()
    }

    /// Entries of a conversation's own log that contain a text anywhere, and those with the text in a name.
    fn entries_with(
        &self,
        member: &Loaded,
        text: &str,
        found: &mut BTreeSet<Key>,
        names: &mut Vec<Key>,
    ) -> Result<()> {
        let last = member.conversation.tree.last();
        let mut from = 1;
        while from <= last {
            let to = last.min(from + PAGE - 1);
            for (seq, entry) in (from..).zip(self.rows.entries(member.row.log, from, to)?) {
                let Ok(entry) = entry else { continue };
                let key = Key { log: member.row.log, seq };
                let named = names_hold(&entry, text);
                names.extend(named.then_some(key));
                if named || entry.parts.iter().any(|part| part_holds(part, text)) {
                    found.insert(key);
                }
            }
            from = to + 1;
        }
        Ok(())
    }

    /// The requests of a conversation whose id contains a text.
    fn requests_with(&self, member: &Loaded, text: &str, found: &mut Vec<(LogNo, RequestId)>) -> Result<()> {
        let log = member.row.log;
        let said = self.rows.requests_in(log, 1, member.conversation.tree.last())?;
        let ops = self.rows.ops(log, OpNo(1), member.conversation.head.op)?.into_iter();
        let made = member.row.request.iter().map(|(request, _)| request.clone());
        let all = said.into_iter().map(|(_, request, _)| request);
        let all = all.chain(ops.filter_map(|op| op.request)).chain(made);
        let held: BTreeSet<_> = all.filter(|request| holds(request.as_str(), text)).collect();
        found.extend(held.into_iter().map(|request| (log, request)));
        Ok(())
    }

    /// All rows that contain a part of the erased content.
    fn affected(
        &self,
        family: &[Loaded],
        keys: &BTreeSet<Key>,
        whole: &BTreeSet<LogNo>,
        matching: Option<&str>,
    ) -> Result<Erasure> {
        let mut erasure = Erasure { entries: keys.iter().copied().collect(), ..Erasure::default() };
        let is_in = |text: &Option<String>| match (text, matching) {
            (Some(text), Some(matching)) => holds(text, matching),
            _ => false,
        };
        for member in family {
            let erased: BTreeSet<Pos> = keys.iter().filter_map(|key| member.pos(*key)).collect();
            let head = member.conversation.head.op;
            let mut states = false;
            for op in self.rows.ops(member.row.log, OpNo(1), head)? {
                let touched = match &op.change {
                    Change::Fold(fold) => {
                        erased.iter().any(|pos| fold.covers.contains(*pos)) || is_in(&op.summary)
                    }
                    Change::Label { target, before, after } => {
                        let named = match target {
                            LabelTarget::Entry(pos) => erased.contains(pos),
                            LabelTarget::Title => whole.contains(&member.row.log),
                        };
                        states |= named || is_in(before) || is_in(after);
                        named || is_in(before) || is_in(after)
                    }
                    _ => false,
                };
                if touched {
                    erasure.ops.push((member.row.log, op.no));
                }
                if matching
                    .is_some_and(|text| holds(&op.author, text) || principal_holds(&op.principal, text))
                {
                    erasure.authors.push((member.row.log, op.no));
                }
                let named = |path: &[u8]| {
                    matching.is_some_and(|text| path.windows(text.len()).any(|part| part == text.as_bytes()))
                };
                let is_erased = |kept: &KeptPath| erased.contains(&kept.entry) || named(kept.path.as_bytes());
                if let Some(rest) = op.kept.without_paths(is_erased) {
                    states = true;
                    erasure.kept.push((member.row.log, op.no, rest));
                }
            }
            if states {
                erasure.states.push(member.row.log);
            }
        }
        Ok(erasure)
    }

    /// Appends a dated operation without the content to every conversation that showed some of it; the requested one gives the
    /// receipt.
    fn record_erasure(
        &mut self,
        loaded: &Loaded,
        family: &[Loaded],
        erasure: &Erasure,
        by: &ChangeOrigin,
        print: Fingerprint,
    ) -> Result<Receipt> {
        let mut receipt = None;
        for member in family {
            let asked = member.row.log == loaded.row.log;
            let positions: Vec<Pos> = erasure.entries.iter().filter_map(|key| member.pos(*key)).collect();
            let mut named =
                erasure.ops.iter().map(|(log, _)| log).chain(erasure.kept.iter().map(|(log, ..)| log));
            let named = named.any(|log| *log == member.row.log);
            if !asked && !named && positions.is_empty() {
                continue;
            }
            let by = if asked { by.clone() } else { ChangeOrigin { request: None, ..by.clone() } };
            let commit = member.conversation.erase(&by, positions)?;
            let plan =
                member.conversation.plan(&member.records(&*self.rows), &retake_core::Commit::default())?;
            let after = self.append(member, &commit, &by, print)?;
            self.take_back_posts(&after, &erasure.entries, by.time)?;
            if asked {
                receipt = Some(receipt_of(&after, commit, &plan, None));
            }
        }
        receipt.ok_or(StoreError::Closed)
    }
}
