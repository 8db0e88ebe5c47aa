//! A store in its own folder, and rows for it. Must never check anything.

use std::path::Path;
use std::time::Duration;

use retake_core::{
    Change, ConversationId, Entry, EntryId, Flags, Head, Meta, OpNo, Operation, Part, Pos, Reason, RequestId,
    Revision, Role, SearchRequest, Seq, Step, Time, Totals, UndoHistory,
};
use tempfile::TempDir;
use uuid::Uuid;

use crate::error::Result;
use crate::query::{Clause, Query, Term};
use crate::rows::{
    ConversationRow, ConversationRows as _, EntryRows as _, Key, LogNo, NowRow, Rows as _, Transactions as _,
};
use crate::sqlite::{Opened, Sqlite, SqliteRows};

pub(super) const NOW: Time = Time(1_795_300_000_000);

pub(super) struct Kit {
    pub(super) dir: TempDir,
    pub(super) store: Opened,
}

pub(super) fn open(dir: &Path) -> Result<Opened> {
    Sqlite::open(dir, NOW, Duration::ZERO)
}

impl Kit {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path()).unwrap();
        Self { dir, store }
    }

    pub(super) fn writer(&mut self) -> &mut SqliteRows {
        &mut self.store.writer
    }

    pub(super) fn reopened(self) -> Self {
        drop(self.store);
        let store = open(self.dir.path()).unwrap();
        Self { dir: self.dir, store }
    }

    /// Runs one transaction.
    pub(super) fn commit<T>(&mut self, work: impl FnOnce(&mut SqliteRows) -> T) -> T {
        commit(self.writer(), work)
    }
}

/// Runs one transaction.
pub(super) fn commit<T>(writer: &mut SqliteRows, work: impl FnOnce(&mut SqliteRows) -> T) -> T {
    writer.begin().unwrap();
    let done = work(writer);
    writer.commit().unwrap();
    done
}

pub(super) fn conversation(rows: &mut SqliteRows, id: u128) -> ConversationRow {
    let mut row = ConversationRow {
        log: LogNo(0),
        root: LogNo(0),
        id: ConversationId::new(Uuid::from_u128(id)),
        parent: None,
        caller: None,
        folder: Some("/src".into()),
        created: NOW,
        request: None,
        now: NowRow::default(),
    };
    row.log = rows.insert_conversation(&row).unwrap();
    row.root = row.log;
    row
}

/// Entry `seq`, a person's ordinary message.
pub(super) fn said(seq: u64, text: &str) -> Entry {
    let pos = Pos::new(0, seq);
    Entry {
        meta: Meta {
            id: EntryId::new(Uuid::from_u128(u128::from(seq))),
            pos,
            after: (seq > 1).then(|| Pos::new(0, seq - 1)),
            turn: Some(pos),
            role: Role::User,
            flags: Flags::default(),
            time: Time(NOW.0 + seq as i64),
            totals: Totals { messages: seq, calls: 0, turns: seq },
            revision: Revision(seq),
            calls: 0,
            answers: None,
        },
        author: "mia".into(),
        parts: vec![Part::text(text)],
        usage: None,
        origin: None,
        platform_id: None,
    }
}

/// Adds entries to a conversation, and its head.
pub(super) fn say(rows: &mut SqliteRows, home: &ConversationRow, entries: &[Entry]) {
    for entry in entries {
        let run = entry.meta.pos.seq == 1;
        rows.insert_entry(home, entry, run, &None).unwrap();
    }
    let seq = entries.last().map_or(0, |entry| entry.meta.pos.seq);
    let now = NowRow { head: Head::new(0, seq), ..home.now };
    rows.set_now(home.log, now).unwrap();
}

pub(super) fn operation(no: u64, reason: Reason, change: Change) -> Operation {
    let tip = match &change {
        Change::Move { after, .. } => *after,
        _ => Some(Pos::new(0, 9)),
    };
    let history_before = UndoHistory::default().did(Step::Op(OpNo(no)));
    let history_after =
        if reason.traits().is_step { history_before.did(Step::Op(OpNo(no))) } else { history_before.clone() };
    Operation {
        no: OpNo(no),
        at: Seq(9),
        revision: Revision(10 + no),
        reason,
        change,
        kept: retake_core::KeptChange::default(),
        tip,
        summary: None,
        history_before,
        history_after,
        principal: retake_core::Principal::default(),
        author: "mia".into(),
        time: NOW,
        request: None,
    }
}

pub(super) fn request(text: &str) -> RequestId {
    text.parse().unwrap()
}

pub(super) fn word(word: &str) -> Query {
    let term = Term { words: vec![word.to_owned()], prefix: false };
    Query {
        any: vec![Clause { must: vec![term.into()], not: Vec::new() }],
        verbatim: None,
        only_excludes: false,
    }
}

/// The `seq`s that a search finds, in its order.
pub(super) fn found(
    rows: &SqliteRows,
    query: &Query,
    request: &SearchRequest,
    within: Option<&[(LogNo, u64, u64)]>,
) -> Vec<Key> {
    let mut keys = Vec::new();
    rows.search(query, request, within, &mut |key| {
        keys.push(key);
        Ok(true)
    })
    .unwrap();
    keys
}
