//! Writes: new conversations, messages, and operations; receipts, and the same receipt for a repeated request.

use retake_core::{
    Action, Apply, ArrivalOutcome, Caller, Change, ChangeKind, ChangeOrigin, Commit, ConversationId, Digest,
    EntryId, Head, KeptChange, KeptPath, LabelTarget, Meta, NewConversation, NewFork, NewSubagent, OpNo,
    Operation, Plan, Reason, Receipt, RequestId, Revision, Say, SayRequest, Seq, Time, Totals,
};
use serde_json::json;

use super::Context;
use super::decide::{decide, locate};
use super::erase::{ErasureTargets, by_without};
use super::load::{Loaded, load_at, load_new};
use crate::digest::{action_value, of_stored, parts_value};
use crate::error::{Result, StoreError};
use crate::record::encode_flags;
use crate::rows::{CallerRow, ConversationRow, Fingerprint, LogNo, NowRow, ParentRow, Rows};

/// How far in the future an external time may be, in milliseconds: a day.
const FAR_FUTURE: i64 = 24 * 60 * 60 * 1000;

/// The bytes of deltas before a full state is stored; or the size of the state itself, if it is larger.
const STATE_EVERY: u64 = 16 * 1024;

/// The digest of a request: of the client's wording, if known.
fn digest_by(by: &ChangeOrigin, own: impl FnOnce() -> Digest) -> Digest {
    by.wording.unwrap_or_else(own)
}

impl Context {
    /// A new conversation.
    pub(crate) fn create(&mut self, new: NewConversation) -> Result<Receipt> {
        let print = digest_by(&new.by, || {
            of_stored("create", &json!([new.folder, new.title]), &(&new.folder, &new.title))
        });
        if let Some(receipt) = self.created_before(&new.by, Some(print))? {
            return Ok(receipt);
        }
        let row = ConversationRow {
            log: LogNo(0),
            root: LogNo(0),
            id: new.id,
            parent: None,
            caller: None,
            folder: new.folder,
            created: new.by.time,
            request: new.by.request.clone().map(|request| (request, print.current)),
            now: NowRow { changed: new.by.time, revision: Revision(1), ..NowRow::default() },
        };
        self.begin_conversation(row, None, new.title, &new.by)
    }

    /// A fork of a conversation as it is now.
    pub(crate) fn fork(&mut self, fork: NewFork) -> Result<Receipt> {
        let print = digest_by(&fork.by, || {
            let value = json!([fork.parent.to_string(), fork.entry.map(|id| id.to_string()), fork.title]);
            of_stored("fork", &value, &(fork.parent, fork.entry, &fork.title))
        });
        if let Some(receipt) = self.created_before(&fork.by, Some(print))? {
            return Ok(receipt);
        }
        let parent = self.load(fork.parent)?;
        let tip = match fork.entry {
            None => parent.conversation.state.tip,
            Some(id) => {
                let pos = locate(&*self.rows, &parent, id)?;
                parent.conversation.in_sight(pos)?;
                Some(parent.conversation.end_at(&parent.records(&*self.rows), pos)?)
            }
        };
        let head = parent.conversation.head;
        let row = ConversationRow {
            log: LogNo(0),
            root: parent.row.root,
            id: fork.id,
            parent: Some(ParentRow { log: parent.row.log, head, tip }),
            caller: None,
            folder: parent.row.folder.clone(),
            created: fork.by.time,
            request: fork.by.request.clone().map(|request| (request, print.current)),
            now: NowRow { changed: fork.by.time, revision: Revision(1), ..NowRow::default() },
        };
        self.begin_conversation(row, Some(&parent), fork.title, &fork.by)
    }

    /// A subagent's conversation.
    pub(crate) fn create_subagent(&mut self, new: NewSubagent) -> Result<Receipt> {
        let Caller { conversation, entry, call } = new.caller;
        let calling = self.load(conversation)?;
        let answer = calling.key(locate(&*self.rows, &calling, entry)?)?;
        let row = ConversationRow {
            log: LogNo(0),
            root: calling.row.root,
            id: new.id,
            parent: None,
            caller: Some(CallerRow { answer, call }),
            folder: calling.row.folder.clone(),
            created: new.by.time,
            request: None,
            now: NowRow { changed: new.by.time, revision: Revision(1), ..NowRow::default() },
        };
        self.touched(conversation, ChangeKind::Run);
        self.begin_conversation(row, Some(&calling), Some(new.title), &new.by)
    }

    /// Adds a conversation; a fork begins with the current path of `parent`.
    pub(super) fn begin_conversation(
        &mut self,
        row: ConversationRow,
        parent: Option<&Loaded>,
        title: Option<String>,
        by: &ChangeOrigin,
    ) -> Result<Receipt> {
        let log = self.rows.insert_conversation(&row)?;
        let root = parent.map_or(log, |parent| parent.row.root);
        let loaded = load_new(&*self.rows, ConversationRow { log, root, ..row }, parent)?;
        self.stage(loaded.clone());
        self.created(&loaded.row);
        let mut receipt = receipt_of(&loaded, Commit::default(), &empty_plan(&loaded), None);
        receipt.unchanged = false;
        if let Some(title) = title {
            let by = ChangeOrigin { request: None, ..by.clone() };
            let commit = loaded.conversation.label(&by, LabelTarget::Title, Some(&title))?;
            let after = self.append(&loaded, &commit, &ChangeOrigin::default(), [0; 16])?;
            receipt.head = after.conversation.head;
            receipt.revision = after.conversation.revision;
            self.stage(after);
        }
        Ok(receipt)
    }

    /// The receipt of a conversation that the same request created.
    pub(super) fn created_before(
        &mut self,
        by: &ChangeOrigin,
        print: Option<Digest>,
    ) -> Result<Option<Receipt>> {
        let Some(request) = &by.request else {
            return Ok(None);
        };
        let Some(row) = self.rows.conversation_by_request(request)? else {
            return match self.has_restored(request)? {
                true if print.is_some() => Err(StoreError::RequestReused(request.clone())),
                _ => Ok(None),
            };
        };
        same_arguments(request, row.request.as_ref().map(|(_, print)| *print), print)?;
        let first = self.rows.ops(row.log, OpNo(1), OpNo(1))?.into_iter().next();
        let titled =
            first.filter(|op| op.reason == Reason::Title && op.time == row.created && op.at == Seq(0));
        let loaded = self.load(row.id)?;
        let mut receipt = receipt_of(&loaded, Commit::default(), &empty_plan(&loaded), None);
        receipt.head = titled.as_ref().map_or(Head::default(), |op| Head { op: op.no, seq: op.at });
        receipt.revision = titled.map_or(Revision(1), |op| op.revision);
        receipt.unchanged = false;
        Ok(Some(receipt))
    }

    /// Appends a message.
    pub(crate) fn say(&mut self, id: ConversationId, say: SayRequest) -> Result<Receipt> {
        let loaded = self.load(id)?;
        let print = digest_by(&say.by, || said_digest(&say));
        if let Some(receipt) = self.recorded(&loaded, &say.by, Some(print))? {
            return Ok(receipt);
        }
        if let Some(receipt) = self.delivered_before(&loaded, say.platform_id.as_deref())? {
            return self.note_unchanged(&loaded, say.by.request.as_ref(), print.current, receipt);
        }
        self.admit(&loaded, say.fence)?;
        let seen = say.seen.map(|id| locate(&*self.rows, &loaded, id)).transpose()?;
        let records = loaded.records(&*self.rows);
        let commit = loaded.conversation.say(
            &records,
            Say {
                id: say.id,
                role: say.role,
                author: say.by.author.clone(),
                parts: say.parts,
                flags: say.flags,
                time: sane(say.time, say.by.time),
                usage: say.usage,
                platform_id: say.platform_id,
                origin: say.by.chat.as_ref().map(|chat| chat.origin.clone()),
                seen,
                answering: say.answering,
            },
        )?;
        let after = self.append(&loaded, &commit, &say.by, print.current)?;
        if let Some((call, state)) = &say.ends {
            self.end_effect(call, *state)?;
        }
        if say.answering.is_some() {
            self.rows.set_stream(loaded.row.log, None)?;
        }
        if let Some(chat) = &say.by.chat {
            let entry = commit.entries.first().map(|entry| Seq(entry.meta.pos.seq));
            let outcome = match say.flags.observed {
                true => ArrivalOutcome::Observed,
                false => ArrivalOutcome::Said(id),
            };
            self.note_arrival(&after, chat, (entry, outcome), say.by.time)?;
        }
        let receipt = said(&after, commit.entries.first().map(|entry| entry.meta.id));
        self.stage(after);
        Ok(receipt)
    }

    /// Moves back and appends a message there.
    pub(crate) fn say_at(
        &mut self,
        id: ConversationId,
        apply: Apply,
        say: SayRequest,
    ) -> Result<(Receipt, Receipt)> {
        let loaded = self.load(id)?;
        let made = match &say.by.request {
            Some(request) => self.rows.entry_by_request(loaded.row.log, request)?,
            None => None,
        };
        if made.is_some() {
            let said = self.say(id, say)?;
            return Ok((said.clone(), said));
        }
        let moved = self.apply(id, apply)?;
        Ok((moved, self.say(id, say)?))
    }

    /// A message that arrives again while it is on the path is the same one; a rewound one is new.
    fn delivered_before(&self, loaded: &Loaded, platform_id: Option<&str>) -> Result<Option<Receipt>> {
        let Some(platform_id) = platform_id else {
            return Ok(None);
        };
        for key in self.rows.entries_by_platform(loaded.row.root, platform_id)? {
            let on_path = loaded.pos(key).is_some_and(|pos| loaded.conversation.is_on_path(pos));
            if on_path {
                let mut receipt = said(loaded, Some(self.rows.meta(key)?.id));
                receipt.unchanged = true;
                return Ok(Some(receipt));
            }
        }
        Ok(None)
    }

    /// Changes the state.
    pub(crate) fn apply(&mut self, id: ConversationId, apply: Apply) -> Result<Receipt> {
        self.apply_keeping(id, apply, Vec::new())
    }

    /// The same, with single paths that a person adopts.
    pub(super) fn apply_keeping(
        &mut self,
        id: ConversationId,
        apply: Apply,
        kept: Vec<KeptPath>,
    ) -> Result<Receipt> {
        let loaded = self.load(id)?;
        let print = digest_by(&apply.by, || {
            let value = action_value(&apply.action, apply.seen);
            of_stored("apply", &value, &(&apply.action, apply.seen))
        });
        if let Some(receipt) = self.recorded(&loaded, &apply.by, Some(print))? {
            return Ok(receipt);
        }
        if let Action::Erase { entries, matching, objects } = &apply.action {
            let what = ErasureTargets::new(entries, matching.as_deref(), objects);
            let by = by_without(&apply.by, matching.as_deref());
            let receipt = self.erase(&loaded, &what, &by, print.current)?;
            let request = by.request.as_ref().filter(|_| receipt.unchanged);
            // Its arguments must not be stored.
            return self.note_unchanged(&loaded, request, Fingerprint::default(), receipt);
        }
        let records = loaded.records(&*self.rows);
        let kept = KeptChange { adopted: kept, ..KeptChange::default() };
        let commit = loaded.conversation.kept_with(&records, decide(&*self.rows, &loaded, &apply)?, kept)?;
        let plan = loaded.conversation.plan(&records, &commit)?;
        let composer = plan.composer.map(|pos| self.rows.meta(loaded.key(pos)?).map(|meta| meta.id));
        let composer = composer.transpose()?;
        if commit.is_empty() {
            let receipt = receipt_of(&loaded, commit, &plan, composer);
            return self.note_unchanged(&loaded, apply.by.request.as_ref(), print.current, receipt);
        }
        let after = self.append(&loaded, &commit, &apply.by, print.current)?;
        self.stage(after);
        self.runs_after(&loaded, &commit, apply.by.time)?;
        let after = self.load(id)?;
        Ok(receipt_of(&after, commit, &plan, composer))
    }

    /// The receipt of the same earlier request, checked before anything else.
    pub(crate) fn receipt(&mut self, id: ConversationId, by: &ChangeOrigin) -> Result<Option<Receipt>> {
        let loaded = self.load(id)?;
        self.recorded(&loaded, by, Some(by.wording.unwrap_or_default()))
    }

    /// The receipt of a request in a conversation, or of the request that created one, whatever its digest.
    pub(crate) fn receipt_of(
        &mut self,
        of: Option<ConversationId>,
        request: RequestId,
    ) -> Result<Option<Receipt>> {
        let by = ChangeOrigin { request: Some(request), ..ChangeOrigin::default() };
        match of {
            Some(id) => {
                let loaded = self.load(id)?;
                self.recorded(&loaded, &by, None)
            }
            None => self.created_before(&by, None),
        }
    }

    /// The receipt of an entry or operation of the same earlier request, or of one without changes.
    fn recorded(
        &mut self,
        loaded: &Loaded,
        by: &ChangeOrigin,
        print: Option<Digest>,
    ) -> Result<Option<Receipt>> {
        let Some(request) = &by.request else {
            return Ok(None);
        };
        let log = loaded.row.log;
        if let Some((key, recorded)) = self.rows.entry_by_request(log, request)? {
            same_arguments(request, Some(recorded), print)?;
            return said_before(&*self.rows, loaded, &self.rows.meta(key)?).map(Some);
        }
        let Some((no, recorded)) = self.rows.op_by_request(log, request)? else {
            return self.unchanged_before(loaded, request, print);
        };
        same_arguments(request, Some(recorded), print)?;
        let mut ops = vec![self.rows.op(log, no)?];
        while ops.len() < usize::MAX && OpNo(no.0 + ops.len() as u64) <= loaded.conversation.head.op {
            let next = self.rows.op(log, OpNo(no.0 + ops.len() as u64))?;
            if next.revision != ops[0].revision {
                break;
            }
            ops.push(next);
        }
        replayed(&*self.rows, loaded, ops).map(Some)
    }

    /// Appends a commit's rows; returns the conversation after it.
    pub(super) fn append(
        &mut self,
        loaded: &Loaded,
        commit: &Commit,
        by: &ChangeOrigin,
        print: Fingerprint,
    ) -> Result<Loaded> {
        let conversation = loaded.conversation.after(&loaded.records(&*self.rows), commit)?;
        let mut made_by = by.request.clone().map(|request| (request, print));
        let mut now = loaded.row.now;
        for op in &commit.ops {
            now.delta_bytes += self.rows.insert_op(&loaded.row, op, &made_by.take())?;
            now.rewinds += u64::from(op.reason == Reason::Rewind);
            now.changed = op.time;
        }
        for entry in &commit.entries {
            let stretches = conversation.tree.stretches();
            let starts_stretch =
                stretches.binary_search_by_key(&entry.meta.pos.seq, |stretch| stretch.start).is_ok();
            self.rows.insert_entry(&loaded.row, entry, starts_stretch, &made_by.take())?;
            now.changed = by.time;
        }
        now.head = conversation.head;
        now.revision = conversation.revision;
        if now.delta_bytes > STATE_EVERY.max(estimated_bytes(&conversation.state)) && !commit.ops.is_empty() {
            self.rows.insert_state(&loaded.row, now.head.op, &conversation.state)?;
            now.delta_bytes = 0;
        }
        self.rows.set_now(loaded.row.log, now)?;
        let row = ConversationRow { now, ..loaded.row.clone() };
        let after = Loaded { row, lineage: std::sync::Arc::clone(&loaded.lineage), conversation };
        self.made(&after, commit);
        self.posts_of(loaded.conversation.head, &after, commit, by.time)?;
        self.owe_commit(loaded, commit, by.time)?;
        Ok(after)
    }
}

/// The approximate size of a stored full state.
fn estimated_bytes(state: &retake_core::State) -> u64 {
    let folds: usize = state.folds.all().iter().map(|fold| 16 + fold.covers.spans().len() * 12).sum();
    let labels: usize = state.labels.values().map(|name| 16 + name.len()).sum();
    (state.marks.ranges().len() * 16 + folds + labels) as u64
}

/// The digest of a message.
fn said_digest(say: &SayRequest) -> Digest {
    let value = json!({
        "role": say.role.name(),
        "parts": parts_value(&say.parts),
        "flags": encode_flags(say.flags, false, false),
        "time": say.time.map(|time| time.0),
        "platform_id": say.platform_id,
        "seen": say.seen.map(|id| id.to_string()),
        "author": say.by.author,
    });
    let before =
        ("say", say.role, &say.parts, say.flags, say.time, &say.platform_id, say.seen, &say.by.author);
    of_stored("say", &value, &before)
}

/// Refuses a request id that was used with other arguments.
pub(super) fn same_arguments(
    request: &RequestId,
    recorded: Option<Fingerprint>,
    print: Option<Digest>,
) -> Result<()> {
    // A lookup by id has no digest to compare.
    let Some(print) = print else { return Ok(()) };
    match recorded {
        // An erasure removes even the digest of the arguments: then the id alone counts.
        Some(recorded) if print.matches(recorded) || recorded == Fingerprint::default() => Ok(()),
        _ => Err(StoreError::RequestReused(request.clone())),
    }
}

/// The author's time, or now if it is implausible.
pub(super) fn sane(time: Option<Time>, now: Time) -> Time {
    time.filter(|time| (0..=now.0.saturating_add(FAR_FUTURE)).contains(&time.0)).unwrap_or(now)
}

/// The receipt of a message.
pub(super) fn said(after: &Loaded, entry: Option<EntryId>) -> Receipt {
    Receipt {
        entries: entry.into_iter().collect(),
        unchanged: false,
        ..receipt_of(after, Commit::default(), &empty_plan(after), None)
    }
}

/// The receipt of a message that was stored before, in the own log.
pub(super) fn said_before(rows: &dyn Rows, loaded: &Loaded, meta: &Meta) -> Result<Receipt> {
    let last = loaded.conversation.last_op_at(&loaded.records(rows), meta.pos.seq - 1)?;
    let head = Head { op: last.map_or(OpNo(0), |op| op.no), seq: Seq(meta.pos.seq) };
    Ok(Receipt { head, revision: meta.revision, ..said(loaded, Some(meta.id)) })
}

/// A plan that changes nothing.
pub(super) fn empty_plan(loaded: &Loaded) -> Plan {
    Plan {
        head: loaded.conversation.head,
        gone: retake_core::Path::default(),
        taken_back: Totals::default(),
        came: retake_core::Path::default(),
        brought_back: Totals::default(),
        lifted: Vec::new(),
        in_force: Vec::new(),
        composer: None,
    }
}

/// The receipt of a commit with the result `after`.
pub(super) fn receipt_of(after: &Loaded, commit: Commit, plan: &Plan, composer: Option<EntryId>) -> Receipt {
    Receipt {
        conversation: after.row.id,
        head: after.conversation.head,
        revision: after.conversation.revision,
        unchanged: commit.is_empty(),
        ops: commit.ops.iter().map(|op| op.no).collect(),
        entries: commit.entries.iter().map(|entry| entry.meta.id).collect(),
        taken_back: plan.taken_back,
        brought_back: plan.brought_back,
        lifted: plan.lifted.clone(),
        composer,
    }
}

/// The receipt of earlier operations, computed again from the state before them.
fn replayed(rows: &dyn Rows, loaded: &Loaded, ops: Vec<Operation>) -> Result<Receipt> {
    let (first, last) = (&ops[0], &ops[ops.len() - 1]);
    let before = Head { op: OpNo(first.no.0 - 1), seq: first.at };
    let head = Head { op: last.no, seq: last.at };
    let revision = last.revision;
    let moves = ops.iter().any(|op| !matches!(op.change, Change::Erase(_)));
    let before = load_at(rows, loaded.row.clone(), before)?;
    let commit = Commit { ops, entries: Vec::new() };
    let plan =
        if moves { before.conversation.plan(&before.records(rows), &commit)? } else { empty_plan(&before) };
    let composer = plan.composer.map(|pos| rows.meta(before.key(pos)?).map(|meta| meta.id)).transpose()?;
    Ok(Receipt { head, revision, ..receipt_of(&before, commit, &plan, composer) })
}
