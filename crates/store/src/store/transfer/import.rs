//! Imports: conversations from other programs, and whole trees of forks restored exactly. Each is one step of the writer, so that
//! a crash leaves all of it or nothing.

use std::collections::BTreeSet;

use retake_core::{
    Change, ChangeOrigin, Commit, Effect, Entry, Fence, LabelTarget, Mark, MarkRequest, OpNo, Pos, Reason,
    Receipt, Records, RequestId, Role, Run, RunNo, RunState, Say, SeenState, Targets, Totals, Tree,
    count_calls, opens_turn,
};

use crate::digest::{import_value, of_lines, of_stored};
use crate::error::{Result, StoreError};
use crate::record::encode_import;
use crate::rows::{CallerRow, ConversationRow, Key, LogNo, NowRow, ParentRow, Rows};
use crate::store::Context;
use crate::store::load::{Loaded, load};
use crate::store::write::{said, sane};
use crate::transfer::{
    FullConversation, FullEffect, FullImport, FullParent, Import, ImportEntry, ImportMessage,
};

impl Context {
    /// Creates a conversation from imported entries.
    pub(crate) fn import(&mut self, import: Import) -> Result<Receipt> {
        let print = of_stored("import", &import_value(&import), &arguments(&import));
        if let Some(made) = self.created_before(&import.by, Some(print))? {
            return Ok(said(&*self.load(made.conversation)?, None));
        }
        let row = ConversationRow {
            log: LogNo(0),
            root: LogNo(0),
            id: import.id,
            parent: None,
            caller: None,
            folder: import.folder,
            created: sane(import.created, import.by.time),
            request: import.by.request.clone().map(|request| (request, print.current)),
            now: NowRow { changed: import.by.time, revision: retake_core::Revision(1), ..NowRow::default() },
        };
        let by = ChangeOrigin { request: None, ..import.by };
        self.begin_conversation(row, None, import.title, &by)?;
        let mut now = (*self.load(import.id)?).clone();
        let mut marked: Option<(Mark, Pos, Pos)> = None;
        for entry in import.entries {
            let mark = entry.mark;
            if marked.is_some_and(|(before, ..)| before != mark) {
                now = self.mark(now, &by, marked.take())?;
            }
            now = self.take(now, &by, entry)?;
            if let Some(tip) = now.conversation.state.tip.filter(|_| mark != Mark::Normal) {
                marked = Some((mark, marked.map_or(tip, |(_, from, _)| from), tip));
            }
        }
        now = self.mark(now, &by, marked)?;
        let receipt = said(&now, None);
        self.stage(now);
        Ok(receipt)
    }

    /// Adds one place of the path: its entry with the alternatives and the label.
    fn take(&mut self, mut now: Loaded, by: &ChangeOrigin, entry: ImportEntry) -> Result<Loaded> {
        let last = entry.said.len().saturating_sub(1);
        for (number, said) in entry.said.into_iter().enumerate() {
            if let Some(other) = now.conversation.state.tip.filter(|_| number > 0) {
                let commit = back(&*self.rows, &now, by, other)?;
                now = self.append(&now, &commit, by, [0; 16])?;
            }
            let commit = now.conversation.say(&now.records(&*self.rows), say(said, by))?;
            now = self.append(&now, &commit, by, [0; 16])?;
        }
        if let Some(tip) = now.conversation.state.tip.filter(|_| entry.chosen < last) {
            let records = now.records(&*self.rows);
            let commit = now.conversation.choose(&records, by, SeenState::Anything, tip, entry.chosen + 1)?;
            now = self.append(&now, &commit, by, [0; 16])?;
        }
        let label = entry.label.as_deref().and_then(retake_core::name::label_of_import);
        // Of labels that look the same the first one is kept.
        let label = label.filter(|label| now.conversation.state.labelled(label).is_none());
        if let (Some(tip), Some(label)) = (now.conversation.state.tip, label) {
            let target = LabelTarget::Entry(tip);
            let commit = now.conversation.label(by, target, Some(&label))?;
            now = self.append(&now, &commit, by, [0; 16])?;
        }
        Ok(now)
    }

    /// Excludes or hides neighbours as one operation.
    fn mark(&mut self, now: Loaded, by: &ChangeOrigin, marked: Option<(Mark, Pos, Pos)>) -> Result<Loaded> {
        let Some((mark, from, to)) = marked else {
            return Ok(now);
        };
        let verb = if mark == Mark::Hidden { Reason::Hide } else { Reason::Exclude };
        let request = MarkRequest { verb, targets: Targets::Range(from, to), seen: None };
        let commit = now.conversation.mark_entries(&now.records(&*self.rows), by, &request)?;
        if commit.is_empty() {
            return Ok(now);
        }
        self.append(&now, &commit, by, [0; 16])
    }

    /// Restores a tree of forks, unless this request has done so before.
    pub(crate) fn restore_full(&mut self, import: FullImport, request: Option<RequestId>) -> Result<Receipt> {
        let Some(request) = request else {
            return self.restore(import);
        };
        let print = of_lines("full import", &import, |each| encode_import(&import, each));
        if let Some(receipt) = self.restored_before(&request, print)? {
            return Ok(receipt);
        }
        if self.rows.conversation_by_request(&request)?.is_some() {
            return Err(StoreError::RequestReused(request));
        }
        let receipt = self.restore(import)?;
        self.note_restored(&request, print.current, &receipt)?;
        Ok(receipt)
    }

    /// Restores row by row, then checks consistency.
    fn restore(&mut self, import: FullImport) -> Result<Receipt> {
        let mut homes: Vec<ConversationRow> = Vec::new();
        for full in import.conversations {
            let home = self.restore_row(&homes, &full)?;
            self.restore_agent(&home, &full)?;
            self.restore_posts(&home, &full)?;
            self.restore_log(&home, full)?;
            homes.push(home);
        }
        for home in &homes {
            let loaded = load(&*self.rows, home.clone()).map_err(broken)?;
            sound(&*self.rows, &loaded)?;
        }
        let root = homes.first().ok_or_else(|| StoreError::BadExport("it has no conversation".into()))?;
        let loaded = self.load(root.id)?;
        Ok(said(&loaded, None))
    }

    fn restore_row(&mut self, homes: &[ConversationRow], full: &FullConversation) -> Result<ConversationRow> {
        if self.rows.conversation(full.id)?.is_some() {
            return Err(StoreError::ConversationExists(full.id));
        }
        if let Some((request, _)) = &full.request
            && self.rows.conversation_by_request(request)?.is_some()
        {
            return Err(StoreError::RequestReused(request.clone()));
        }
        let bad = |why: &str| StoreError::BadExport(format!("conversation {}: {why}", full.id));
        let earlier =
            |number: usize| homes.get(number).ok_or_else(|| bad("its parent does not come before it"));
        let (mut parent, mut caller) = (None, None);
        match &full.parent {
            FullParent::None if homes.is_empty() => {}
            FullParent::None => return Err(bad("all but the first one must be forks or subagents")),
            FullParent::Fork(number, head, tip) => {
                parent = Some(ParentRow { log: earlier(*number)?.log, head: *head, tip: *tip });
            }
            FullParent::Caller(number, seq, call) => {
                let calling = earlier(*number)?;
                if calling.caller.is_some() {
                    return Err(bad("a subagent cannot have subagents"));
                }
                let answer = Key { log: calling.log, seq: *seq };
                let asked = self.rows.meta(answer).map_err(|_| bad("nothing asks for it"))?;
                let number = call.strip_prefix(&format!("{}-", asked.id)).and_then(|no| no.parse().ok());
                if number.is_none_or(|number: u32| number == 0 || number > asked.calls) {
                    return Err(bad("nothing asks for it"));
                }
                caller = Some(CallerRow { answer, call: call.clone() });
            }
        }
        let now = NowRow {
            changed: full.changed,
            revision: full.revision,
            head: full.head,
            rewinds: full.rewinds,
            archived: full.archived,
            delta_bytes: 0,
        };
        let mut row = ConversationRow {
            log: LogNo(0),
            root: homes.first().map_or(LogNo(0), |root| root.log),
            id: full.id,
            parent,
            caller,
            folder: full.folder.clone(),
            created: full.created,
            request: full.request.clone(),
            now,
        };
        row.log = self.rows.insert_conversation(&row)?;
        self.created(&row);
        row.root = homes.first().map_or(row.log, |root| root.root);
        Ok(row)
    }

    /// Restores the ledger, runs, and denials of permissions: an export is untrusted and allows nothing here. A run that was at
    /// work, or a waiting message, is ended: nobody carries it out here.
    fn restore_agent(&mut self, home: &ConversationRow, full: &FullConversation) -> Result<()> {
        let bad = |why: String| StoreError::BadExport(format!("conversation {}: {why}", home.id));
        for effect in &full.beside.effects {
            let FullEffect { seq, call, tool, class, print, began, state } = effect.clone();
            let asks = usize::try_from(seq).ok().and_then(|seq| full.entries.get(seq.checked_sub(1)?));
            let (entry, _) = asks.ok_or_else(|| bad(format!("nothing asks for call {call}")))?;
            if self.rows.effect_began(&call)?.is_some() {
                return Err(bad(format!("call {call} is in the ledger already")));
            }
            let (conversation, entry) = (home.id, entry.meta.id);
            let effect = Effect { call, conversation, entry, tool, class, print, began, state };
            self.rows.insert_effect(home.root, Key { log: home.log, seq }, &effect)?;
        }
        let mut runs: Vec<&Run> = full.beside.runs.iter().collect();
        runs.sort_by_key(|run| run.no);
        let mut fences = BTreeSet::new();
        let mut waits = false;
        for (no, run) in (1..).zip(runs) {
            let queued = run.state == RunState::Queued;
            if run.no != RunNo(no) || (run.fence > Fence(0) && !fences.insert(run.fence)) || (queued && waits)
            {
                return Err(bad(format!("run {no} is missing or out of place")));
            }
            waits |= queued;
            let mut run = run.clone();
            if run.state == RunState::Running {
                let error = Some("owner_lost".to_owned());
                run = Run { state: RunState::Failed, error, ended: Some(run.beat), ..run };
            } else if queued {
                let error = Some("unqueued".to_owned());
                run = Run { state: RunState::Canceled, error, ended: Some(run.created), ..run };
            }
            self.rows.set_run(home, &run)?;
        }
        match &full.beside.permission {
            Some(settled) => self.rows.set_permission(home, &settled.forbidding()),
            None => Ok(()),
        }
    }

    fn restore_log(&mut self, home: &ConversationRow, full: FullConversation) -> Result<()> {
        let bad = |why: String| StoreError::BadExport(format!("conversation {}: {why}", home.id));
        let depth = full.entries.first().map_or(0, |(entry, _)| entry.meta.pos.depth);
        let mut tree = Tree::new(depth, retake_core::Path::default());
        for (seq, (entry, made_by)) in (1..).zip(&full.entries) {
            if entry.meta.pos != Pos::new(depth, seq) {
                return Err(bad(format!("message {seq} is missing or out of place")));
            }
            let starts_stretch = tree.starts_stretch(entry.meta.after, entry.meta.flags.detached);
            tree.push(entry.meta.after, entry.meta.flags.detached);
            self.rows.insert_entry(home, entry, starts_stretch, made_by).map_err(broken)?;
        }
        let mut now = home.now;
        for (no, (op, made_by)) in (1..).zip(&full.ops) {
            if op.no != OpNo(no) || op.at > home.now.head.seq {
                return Err(bad(format!("operation {no} is missing or out of place")));
            }
            let mut op = op.clone();
            op.change = named(op.change);
            now.delta_bytes += self.rows.insert_op(home, &op, made_by).map_err(broken)?;
        }
        let (entries, ops) = (full.entries.len() as u64, full.ops.len() as u64);
        if (ops, entries) != (now.head.op.0, now.head.seq.0) {
            return Err(bad(format!("it ends at {ops}.{entries}, not at its head {}", now.head)));
        }
        self.rows.set_now(home.log, now)
    }
}

/// A change with sanitised names: names in an export must not mislead.
fn named(change: Change) -> Change {
    let Change::Label { target, before, after } = change else { return change };
    let fit = |name: Option<String>| {
        name.and_then(|name| match target {
            // Older versions allowed empty names.
            _ if name.is_empty() => Some(name),
            LabelTarget::Title => retake_core::name::title_of_import(&name),
            LabelTarget::Entry(_) => retake_core::name::label_of_import(&name),
        })
    };
    Change::Label { target, before: fit(before), after: fit(after) }
}

/// The digest of an import: everything except the ids, which are new each time.
pub(crate) fn arguments(import: &Import) -> impl std::fmt::Debug + '_ {
    let said = |said: &ImportMessage| {
        let ImportMessage { id: _, role, author, parts, flags, time, usage, platform_id } = said.clone();
        (role, author, parts, flags, time, usage, platform_id)
    };
    let entries = import.entries.iter().map(move |entry| {
        let said: Vec<_> = entry.said.iter().map(said).collect();
        (said, entry.chosen, entry.mark, &entry.label)
    });
    ("import", &import.title, &import.folder, import.created, entries.collect::<Vec<_>>())
}

/// Moves back before an answer for another one: a retry if a person's message comes before it.
fn back(rows: &dyn Rows, now: &Loaded, by: &ChangeOrigin, answer: Pos) -> Result<Commit> {
    let records = now.records(rows);
    let before = now.conversation.tree.after(answer).map(|pos| records.meta(pos)).transpose()?;
    if before.is_some_and(|meta| meta.role == Role::User) {
        return now.conversation.retry(&records, by, SeenState::Anything, answer);
    }
    now.conversation.edit(&records, by, SeenState::Anything, answer)
}

fn say(said: ImportMessage, by: &ChangeOrigin) -> Say {
    let clean = |text: String| retake_core::clean(&text).into_owned();
    Say {
        id: said.id,
        role: said.role,
        author: clean(said.author),
        parts: said.parts,
        flags: said.flags,
        time: sane(said.time, by.time),
        usage: said.usage,
        platform_id: said.platform_id.map(clean),
        origin: None,
        seen: None,
        answering: None,
    }
}

/// Reports an invalid row as an error of the export: the store itself is not damaged.
fn broken(error: StoreError) -> StoreError {
    match error {
        StoreError::Damaged { row, why } => StoreError::BadExport(format!("{row}: {why}")),
        StoreError::Refused(refusal) => StoreError::BadExport(refusal.to_string()),
        StoreError::MissingOperation(no) => StoreError::BadExport(format!("operation {no} is missing")),
        other => other,
    }
}

/// Checks that restored rows are rows that the store itself would write.
fn sound(rows: &dyn Rows, loaded: &Loaded) -> Result<()> {
    let records = loaded.records(rows);
    let bad = |pos: Pos, why: &str| {
        let id = loaded.row.id;
        StoreError::BadExport(format!("conversation {id}, message {}: {why}", pos.seq))
    };
    let mut last: Option<(Pos, Totals)> = None;
    for seq in 1..=loaded.row.now.head.seq.0 {
        let pos = Pos::new(loaded.conversation.tree.depth(), seq);
        let Entry { meta, parts, .. } = rows.entry(loaded.key(pos)?)?;
        if meta.pos != pos {
            return Err(bad(pos, "its depth is not that of its conversation"));
        }
        let known = |other: Pos| other < pos && loaded.conversation.tree.knows(other);
        if !meta.after.is_none_or(known) || !meta.answers.is_none_or(known) {
            return Err(bad(pos, "it follows or answers something that is not before it"));
        }
        let opens = opens_turn(meta.role, meta.flags);
        if meta.opens_turn() != opens || !meta.turn.is_none_or(|turn| turn == pos || known(turn)) {
            return Err(bad(pos, "its turn is not one"));
        }
        let before = match (meta.after, last) {
            (None, _) => Totals::default(),
            (Some(after), Some((pos, totals))) if after == pos => totals,
            (Some(after), _) => records.meta(after)?.totals,
        };
        let calls = if meta.flags.erased { meta.calls } else { count_calls(&parts) };
        if meta.calls != calls || meta.totals != before.plus(meta.own_totals()) {
            return Err(bad(pos, "its running totals are wrong"));
        }
        last = Some((pos, meta.totals));
    }
    let state = &loaded.conversation.state;
    for (target, label) in state.labels.iter() {
        if let LabelTarget::Entry(pos) = target
            && let Some(other) = state.looks_like(*pos, label)
        {
            let why = format!("its label {label:?} looks like that of message {}", other.seq);
            return Err(bad(*pos, &why));
        }
    }
    for op in rows.ops(loaded.row.log, OpNo(1), loaded.row.now.head.op)? {
        if !op.tip.is_none_or(|tip| loaded.conversation.tree.knows(tip)) {
            let (id, no) = (loaded.row.id, op.no);
            return Err(StoreError::BadExport(format!(
                "conversation {id}, operation {no}: its tip is not there"
            )));
        }
    }
    Ok(())
}
