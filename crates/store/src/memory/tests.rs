//! Tests of transactions in memory, and of behaviour that is not compared with the other backend.

use retake_core::{
    Change, ConversationId, Entry, EntryId, Flags, Fold, FoldId, LabelTarget, ListRequest, Meta, OpNo,
    Operation, Part, Path, Pos, Reason, Revision, Role, SearchRequest, Seq, Sort, State, Time, Totals,
    UndoHistory,
};
use uuid::Uuid;

use super::{Memory, MemoryRows};
use crate::error::{Result, StoreError};
use crate::query::Query;
use crate::rows::{
    ConversationRow, ConversationRows as _, EntryRows as _, Erasure, Key, LogNo, NowRow, OperationRows as _,
    Rows, Transactions as _, read,
};

fn row(number: u128) -> ConversationRow {
    ConversationRow {
        log: LogNo(0),
        root: LogNo(0),
        id: ConversationId::new(Uuid::from_u128(number)),
        parent: None,
        caller: None,
        folder: None,
        created: Time(0),
        request: None,
        now: NowRow::default(),
    }
}

fn entry(seq: u64, text: &str) -> Entry {
    let pos = Pos::new(0, seq);
    Entry {
        meta: Meta {
            id: EntryId::new(Uuid::from_u128(seq.into())),
            pos,
            after: (seq > 1).then(|| Pos::new(0, seq - 1)),
            turn: Some(pos),
            role: Role::User,
            flags: Flags::default(),
            time: Time(0),
            totals: Totals::default(),
            revision: Revision(seq),
            calls: 0,
            answers: None,
        },
        author: "ann".into(),
        parts: vec![Part::text(text)],
        usage: None,
        origin: None,
        platform_id: Some(format!("p{seq}")),
    }
}

fn op(no: u64, change: Change, summary: Option<&str>) -> Operation {
    Operation {
        no: OpNo(no),
        at: Seq(0),
        revision: Revision(no),
        reason: Reason::Label,
        tip: None,
        change,
        kept: Default::default(),
        summary: summary.map(str::to_owned),
        history_before: UndoHistory::default(),
        history_after: UndoHistory::default(),
        principal: retake_core::Principal::default(),
        author: String::new(),
        time: Time(0),
        request: None,
    }
}

/// A store with one conversation, and its writer in a transaction.
fn begun() -> (Memory, MemoryRows, ConversationRow) {
    let memory = Memory::new();
    let mut writer = memory.writer();
    writer.begin().unwrap();
    let log = writer.insert_conversation(&row(1)).unwrap();
    writer.commit().unwrap();
    writer.begin().unwrap();
    let home = writer.log(log).unwrap();
    (memory, writer, home)
}

fn say(writer: &mut MemoryRows, home: &ConversationRow, seq: u64) {
    writer.insert_entry(home, &entry(seq, "hello"), seq == 1, &None).unwrap();
}

/// The number of entries, counted by number, by id, by the platform's id and by words.
fn count(rows: &dyn Rows) -> Result<[usize; 4]> {
    let log = LogNo(1);
    let mut platform = 0;
    for seq in 1..9 {
        platform += rows.entries_by_platform(log, &format!("p{seq}"))?.len();
    }
    let mut found = 0;
    let request = SearchRequest::default();
    rows.search(&Query::parse("hello").0, &request, None, &mut |_| {
        found += 1;
        Ok(true)
    })?;
    Ok([rows.entries(log, 0, u64::MAX)?.len(), rows.entries_like(log, "", 99)?.len(), platform, found])
}

#[test]
fn readers_see_what_is_committed() {
    let (memory, mut writer, home) = begun();
    say(&mut writer, &home, 1);
    writer.set_now(home.log, NowRow { rewinds: 7, ..home.now }).unwrap();
    assert_eq!(count(&writer).unwrap(), [1; 4]);
    read(&memory, |rows| {
        assert_eq!(count(rows)?, [0; 4]);
        writer.commit()?;
        assert_eq!(count(rows)?, [0; 4]);
        assert_eq!(rows.log(home.log)?.now.rewinds, 0);
        Ok(())
    })
    .unwrap();
    assert_eq!(read(&memory, count).unwrap(), [1; 4]);
    assert_eq!(read(&memory, |rows| rows.log(home.log)).unwrap().now.rewinds, 7);
}

#[test]
fn rollback_returns_to_the_savepoint() {
    let (memory, mut writer, home) = begun();
    say(&mut writer, &home, 1);
    writer.save().unwrap();
    say(&mut writer, &home, 2);
    writer.insert_op(&home, &op(1, Change::Mark(vec![]), None), &None).unwrap();
    writer.insert_state(&home, OpNo(1), &State::default()).unwrap();
    writer.insert_conversation(&row(2)).unwrap();
    writer.back().unwrap();
    assert_eq!(count(&writer).unwrap(), [1; 4]);
    assert!(writer.op(home.log, OpNo(1)).is_err());
    assert_eq!(writer.state(home.log, OpNo(1)).unwrap(), None);
    assert_eq!(writer.conversation(row(2).id).unwrap(), None);

    writer.save().unwrap();
    say(&mut writer, &home, 2);
    writer.keep().unwrap();
    writer.save().unwrap();
    say(&mut writer, &home, 3);
    writer.back().unwrap();
    writer.commit().unwrap();
    assert_eq!(read(&memory, count).unwrap(), [2; 4]);
}

#[test]
fn abandoned_transaction_leaves_no_trace() {
    let (memory, mut writer, home) = begun();
    say(&mut writer, &home, 1);
    writer.save().unwrap();
    writer.keep().unwrap();
    say(&mut writer, &home, 2);
    writer.abandon();
    assert_eq!(count(&writer).unwrap(), [0; 4]);
    writer.begin().unwrap();
    say(&mut writer, &home, 1);
    writer.commit().unwrap();
    assert_eq!(read(&memory, count).unwrap(), [1; 4]);
}

#[test]
fn previous_owner_cannot_commit() {
    let (memory, mut old, home) = begun();
    say(&mut old, &home, 1);
    let mut new = memory.writer();
    assert!(matches!(old.commit(), Err(StoreError::TakenOver)));
    assert!(matches!(old.begin(), Err(StoreError::TakenOver)));
    new.begin().unwrap();
    assert_eq!(count(&new).unwrap(), [0; 4]);
}

#[test]
fn rows_out_of_place_are_refused() {
    let (_memory, mut writer, home) = begun();
    let made_by = Some(("r".parse().unwrap(), [1; 16]));
    writer.insert_entry(&home, &entry(1, "a"), true, &made_by).unwrap();
    assert!(writer.insert_entry(&home, &entry(1, "a"), true, &None).is_err());
    assert!(writer.insert_entry(&home, &entry(3, "a"), true, &None).is_err());
    assert!(writer.insert_entry(&home, &entry(2, "a"), true, &made_by).is_err());
    assert!(writer.insert_op(&home, &op(2, Change::Mark(vec![]), None), &None).is_err());
    assert!(writer.insert_conversation(&row(1)).is_err());
    let key = |seq| Key { log: home.log, seq };
    let found = writer.entry_by_request(home.log, &"r".parse().unwrap());
    assert_eq!(found.unwrap(), Some((key(1), [1; 16])));
    for absent in [key(0), key(2), Key { log: LogNo(-1), seq: 1 }] {
        assert!(matches!(writer.entry(absent), Err(StoreError::Damaged { .. })));
    }
    assert_eq!(writer.entries(home.log, 0, 9).unwrap().len(), 1);
}

#[test]
fn conversations_are_listed_by_their_last_change() {
    let memory = Memory::new();
    let mut writer = memory.writer();
    writer.begin().unwrap();
    for (number, changed) in [(1, 5), (2, 9), (3, 5), (4, 1)] {
        let now = NowRow { changed: Time(changed), ..NowRow::default() };
        let folder = (number != 4).then(|| "/here".to_owned());
        writer.insert_conversation(&ConversationRow { now, folder, ..row(number) }).unwrap();
    }
    let list = |folder: Option<&str>, before: Option<u128>, limit| {
        let request = ListRequest {
            folder: folder.map(str::to_owned),
            before: before.map(|number| row(number).id),
            limit,
            shelf: None,
        };
        let rows = writer.conversations(&request)?;
        Ok::<_, StoreError>(rows.iter().map(|row| row.log.0).collect::<Vec<_>>())
    };
    assert_eq!(list(None, None, 9).unwrap(), [2, 3, 1, 4]);
    assert_eq!(list(Some("/here"), Some(2), 9).unwrap(), [3, 1]);
    assert_eq!(list(None, Some(3), 1).unwrap(), [1]);
    assert_eq!(list(Some("/there"), None, 9).unwrap(), [0; 0]);
    assert!(list(None, Some(7), 9).is_err());
}

#[test]
fn hits_have_the_requested_order() {
    let (_memory, mut writer, home) = begun();
    for (seq, time, text) in [(1, 30, "a"), (2, 10, "a a"), (3, 20, "a"), (4, 20, "A"), (5, 0, "b")] {
        let mut entry = entry(seq, text);
        entry.meta.time = Time(time);
        writer.insert_entry(&home, &entry, seq == 1, &None).unwrap();
    }
    let found = |request: SearchRequest, within: Option<&[(LogNo, u64, u64)]>, most: usize| {
        let mut seqs = Vec::new();
        let query = Query::parse("a").0;
        let visit = &mut |key: Key| {
            seqs.push(key.seq);
            Ok(seqs.len() < most)
        };
        writer.search(&query, &request, within, visit).unwrap();
        seqs
    };
    let by = |sort| SearchRequest { sort, ..SearchRequest::default() };
    assert_eq!(found(by(Sort::Rank), None, 9), [2, 1, 4, 3]);
    assert_eq!(found(by(Sort::Newest), None, 9), [1, 4, 3, 2]);
    assert_eq!(found(by(Sort::Oldest), None, 9), [2, 3, 4, 1]);
    assert_eq!(found(by(Sort::Oldest), None, 2), [2, 3]);
    let within = [(home.log, 1, 1), (home.log, 4, 9)];
    assert_eq!(found(by(Sort::Oldest), Some(&within), 9), [4, 1]);
    let time = SearchRequest { from: Some(Time(20)), to: Some(Time(30)), ..by(Sort::Oldest) };
    assert_eq!(found(time, None, 9), [3, 4]);
    let model = SearchRequest { role: Some(Role::Assistant), ..by(Sort::Rank) };
    assert_eq!(found(model, None, 9), [0; 0]);
    let bob = SearchRequest { source: Some("bob".into()), ..by(Sort::Rank) };
    assert_eq!(found(bob, None, 9), [0; 0]);
}

#[test]
fn erased_content_is_in_no_row() {
    let (_memory, mut writer, home) = begun();
    say(&mut writer, &home, 1);
    let target = LabelTarget::Entry(Pos::new(0, 1));
    let label = Change::Label { target, before: None, after: Some("secret".into()) };
    let mut state = State::default();
    state.apply(&label);
    let fold = Fold { id: FoldId { depth: 0, op: OpNo(2) }, covers: Path::default() };
    let ops = [op(1, label, None), op(2, Change::Fold(fold), Some("secret"))];
    for op in &ops {
        writer.insert_op(&home, op, &None).unwrap();
    }
    writer.insert_state(&home, OpNo(2), &state).unwrap();
    let what = Erasure {
        entries: vec![Key { log: home.log, seq: 1 }],
        ops: vec![(home.log, OpNo(1)), (home.log, OpNo(2))],
        states: vec![home.log],
        ..Erasure::default()
    };
    writer.erase(home.root, &what).unwrap();
    let erased = writer.entry(what.entries[0]).unwrap();
    assert_eq!(erased.parts, [Part::Erased]);
    assert!(erased.meta.flags.erased);
    assert_eq!((erased.author.as_str(), erased.platform_id.as_deref()), ("ann", Some("p1")));
    assert_eq!(count(&writer).unwrap(), [1, 1, 1, 0]);
    assert_eq!(writer.op(home.log, OpNo(2)).unwrap().summary.as_deref(), Some(""));
    let shown = format!("{:?}", writer.ops(home.log, OpNo(1), OpNo(9)).unwrap());
    assert!(!shown.contains("secret"), "{shown}");
    assert_eq!(writer.state(home.log, OpNo(5)).unwrap(), None);
}
