//! Rows are read as they were written.

use retake_core::{
    AnswerPlace, Change, EntryId, Fence, Flags, Fold, FoldId, Folds, Head, ListRequest, LogSegment, Mark,
    MarkChange, Marks, NewRun, OpNo, Part, Path, Pos, Reason, Revision, Role, Run, RunGround, RunInput,
    RunNo, RunState, Runs, Span, State, Steer, Step, Tail, Time, Usage,
};
use std::sync::Arc;
use uuid::Uuid;

use super::kit::{Kit, NOW, conversation, operation, request, said, say};
use crate::error::StoreError;
use crate::rows::{
    ConversationRow, ConversationRows as _, EntryRows as _, Key, LogNo, NowRow, OperationRows as _,
    ParentRow, Rows, RunRows as _, Transactions as _, read,
};
use crate::stream::StreamRow;

#[test]
fn a_conversation_and_its_fork() {
    let mut kit = Kit::new();
    let (parent, child) = kit.commit(|rows| {
        let parent = conversation(rows, 1);
        let mut child = ConversationRow {
            id: "019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b".parse().unwrap(),
            parent: Some(ParentRow { log: parent.log, head: Head::new(3, 4), tip: Some(Pos::new(0, 4)) }),
            folder: None,
            request: Some((request("fork-1"), [7; 16])),
            ..parent.clone()
        };
        child.log = rows.insert_conversation(&child).unwrap();
        child.now = NowRow {
            changed: Time(5),
            revision: Revision(6),
            head: Head::new(7, 8),
            rewinds: 9,
            delta_bytes: 10,
            archived: true,
        };
        rows.set_now(child.log, child.now).unwrap();
        (parent, child)
    });
    assert_eq!((parent.root, child.root), (parent.log, parent.log));
    let check = |rows: &dyn Rows| {
        assert_eq!(rows.conversation(parent.id)?, Some(parent.clone()));
        assert_eq!(rows.log(child.log)?, child);
        let by_request = rows.conversation_by_request(&request("fork-1"))?;
        assert_eq!(by_request, Some(child.clone()));
        assert_eq!(rows.tree_of(parent.root)?.len(), 2);
        assert_eq!(rows.conversations_like("019a2b", 9)?, [child.id]);
        assert_eq!(rows.conversations_like("", 9)?.len(), 2);
        assert!(rows.conversations_like("xyz", 9)?.is_empty());
        let missing = rows.log(LogNo(9)).unwrap_err();
        assert!(matches!(missing, StoreError::Damaged { .. }));
        Ok(())
    };
    check(&kit.store.writer).unwrap();
    read(&kit.store.readers, check).unwrap();
}

#[test]
fn pages_of_conversations_newest_change_first() {
    let mut kit = Kit::new();
    kit.commit(|rows| {
        for id in 1..=5 {
            let row = conversation(rows, id);
            let now = NowRow { changed: Time([3, 1, 4, 1, 5][id as usize - 1]), ..row.now };
            rows.set_now(row.log, now).unwrap();
        }
    });
    let page = |request: &ListRequest| -> Vec<i64> {
        let page = kit.store.writer.conversations(request).unwrap();
        page.iter().map(|row| row.log.0).collect()
    };
    let first = ListRequest { limit: 2, ..ListRequest::default() };
    assert_eq!(page(&first), [5, 3]);
    let third = kit.store.writer.log(LogNo(3)).unwrap().id;
    let rest = ListRequest { before: Some(third), limit: 9, folder: Some("/src".into()), shelf: None };
    assert_eq!(page(&rest), [1, 4, 2]);
    let elsewhere = ListRequest { folder: Some("/".into()), ..rest };
    assert_eq!(page(&elsewhere), [0; 0]);
}

#[test]
fn entries() {
    let mut kit = Kit::new();
    let mut entries: Vec<_> = (1..=5).map(|seq| said(seq, "hello")).collect();
    entries[1].meta.role = Role::Assistant;
    entries[1].meta.turn = entries[0].meta.turn;
    entries[1].meta.calls = 2;
    entries[1].usage = Some(Usage { output_tokens: Some(5), ..Usage::default() });
    entries[2].meta.role = Role::Tool;
    entries[2].meta.turn = entries[0].meta.turn;
    entries[2].meta.answers = Some(Pos::new(0, 2));
    entries[3].platform_id = Some("msg-4".into());
    entries[4].meta.after = Some(Pos::new(0, 1));
    entries[4].meta.flags = Flags { detached: true, ..Flags::default() };
    let home = kit.commit(|rows| {
        let home = conversation(rows, 1);
        say(rows, &home, &entries[..4]);
        let made_by = Some((request("r"), [3; 16]));
        rows.insert_entry(&home, &entries[4], true, &made_by).unwrap();
        let now = NowRow { head: Head::new(0, 5), ..home.now };
        rows.set_now(home.log, now).unwrap();
        home
    });
    let log = home.log;
    let key = |seq| Key { log, seq };
    read(&kit.store.readers, |rows| {
        for entry in &entries {
            let key = key(entry.meta.pos.seq);
            assert_eq!(rows.entry(key)?, *entry);
            assert_eq!(rows.meta(key)?, entry.meta);
            assert_eq!(rows.entry_by_id(home.root, entry.meta.id)?, Some(key));
        }
        let range = rows.entries(log, 2, 4)?;
        let range: Vec<_> = range.into_iter().map(Result::unwrap).collect();
        assert_eq!(range, entries[1..4]);
        assert_eq!(rows.entries(log, 4, u64::MAX)?.len(), 2);
        assert_eq!(rows.last_opener(log, 1, 5)?, Some(5));
        assert_eq!(rows.last_opener(log, 2, 3)?, None);
        assert_eq!(rows.results_in(log, 1, 5)?, [(3, Pos::new(0, 2))]);
        assert_eq!(rows.results_in(log, 4, 5)?, []);
        let call = Pos::new(0, 2);
        assert_eq!(rows.results_for(log, call, call)?, [(3, call)]);
        assert_eq!(rows.results_for(LogNo(2), call, call)?, []);
        let made = rows.entry_by_request(log, &request("r"))?;
        assert_eq!(made, Some((key(5), [3; 16])));
        assert_eq!(rows.entry_by_request(log, &request("s"))?, None);
        assert_eq!(rows.entries_by_platform(home.root, "msg-4")?, [key(4)]);
        let like = rows.entries_like(home.root, "0000000000", 3)?;
        assert_eq!(like.len(), 3);
        assert_eq!(rows.entry_by_id(home.root, EntryId::new(Uuid::max()))?, None);
        let runs = [
            LogSegment { start: 1, after: None, detached: false },
            LogSegment { start: 5, after: Some(Pos::new(0, 1)), detached: true },
        ];
        assert_eq!(rows.stretches(log)?, runs);
        Ok(())
    })
    .unwrap();
}

#[test]
fn operations_and_states() {
    let mut kit = Kit::new();
    let span = Span::new(0, 2, 3);
    let hide = MarkChange { span, before: Mark::Normal, after: Mark::Hidden };
    let fold =
        Fold { id: FoldId { depth: 0, op: OpNo(2) }, covers: Path::from_spans([span, Span::new(0, 5, 6)]) };
    let mut ops = vec![
        operation(1, Reason::Hide, Change::Mark(vec![hide])),
        operation(2, Reason::AutoFold, Change::Fold(fold.clone())),
        operation(
            3,
            Reason::Undo(Step::Turn(Pos::new(0, 4))),
            Change::Move { before: Some(Pos::new(0, 9)), after: None },
        ),
    ];
    ops[1].summary = Some("in short".into());
    ops[2].history_after.undone = Some(OpNo(3));
    let state = State {
        tip: Some(Pos::new(0, 9)),
        marks: Arc::new(Marks::from_ranges([(span, Mark::Hidden)])),
        folds: Arc::new(Folds::new(vec![fold])),
        labels: Arc::default(),
        kept: Arc::default(),
    };
    let made_by = Some((request("hide-1"), [1; 16]));
    ops[0].request = Some(request("hide-1"));
    let log = kit.commit(|rows| {
        let home = conversation(rows, 1);
        rows.insert_op(&home, &ops[0], &made_by).unwrap();
        rows.insert_op(&home, &ops[1], &None).unwrap();
        rows.insert_op(&home, &ops[2], &None).unwrap();
        rows.insert_state(&home, OpNo(2), &state).unwrap();
        home.log
    });
    let rows = &kit.store.writer;
    assert_eq!(rows.ops(log, OpNo(1), OpNo(3)).unwrap(), ops);
    assert_eq!(rows.op(log, OpNo(2)).unwrap(), ops[1]);
    let missing = rows.op(log, OpNo(4)).unwrap_err();
    assert!(matches!(missing, StoreError::MissingOperation(OpNo(4))));
    let made = rows.op_by_request(log, &request("hide-1")).unwrap();
    assert_eq!(made, Some((OpNo(1), [1; 16])));
    assert_eq!(rows.state(log, OpNo(1)).unwrap(), None);
    assert_eq!(rows.state(log, OpNo(3)).unwrap(), Some((OpNo(2), state)));
}

#[test]
fn streams_come_and_go() {
    let mut kit = Kit::new();
    let stream = kit.commit(|rows| {
        let home = conversation(rows, 1);
        let stream = StreamRow {
            conversation: home.id,
            entry: EntryId::new(Uuid::from_u128(4)),
            answering: AnswerPlace { turn: Some(Pos::new(0, 1)), tip: Some(Pos::new(0, 2)) },
            step: Some(Step::Op(OpNo(3))),
            author: "demo/demo".into(),
            parts: vec![Part::text("so f")],
        };
        rows.set_stream(home.log, Some(&stream)).unwrap();
        stream
    });
    let kit = &mut kit.reopened();
    assert_eq!(kit.store.writer.streams().unwrap(), [stream]);
    kit.commit(|rows| rows.set_stream(LogNo(1), None).unwrap());
    assert_eq!(kit.store.writer.streams().unwrap(), []);
}

#[test]
fn at_most_one_run_works_and_one_waits_for_any_requests() {
    let mut kit = Kit::new();
    let (mut runs, home) = (Runs::default(), kit.commit(|rows| conversation(rows, 1)));
    let ground = RunGround { tail: Tail::default(), owner: 1, on_path: &|_| true, mark: &|_| Mark::Normal };
    let new = NewRun { words: None, steer: Steer::Queue, seen: None, model: None };
    for input in [RunInput::Enqueue(new.clone(), NOW), RunInput::Claim(NOW), RunInput::Enqueue(new, NOW)] {
        runs = runs.step(input, &ground).unwrap().runs;
    }
    for run in [runs.running, runs.queued].into_iter().flatten() {
        kit.commit(|rows| rows.set_run(&home, &run).unwrap());
        let second = Run { no: RunNo(7), fence: Fence(7), ..run.clone() };
        let same_fence = Run { no: RunNo(8), fence: Fence(1), state: RunState::Failed, ..run };
        for bad in [second, same_fence] {
            kit.writer().begin().unwrap();
            kit.writer().set_run(&home, &bad).unwrap_err();
            kit.writer().abandon();
        }
    }
    assert_eq!(kit.writer().runs_of(home.log, 9).unwrap().len(), 2);
}

#[test]
fn savepoint_rolls_back_one_request_and_no_other() {
    let mut kit = Kit::new();
    let log = kit.commit(|rows| {
        let home = conversation(rows, 1);
        rows.save().unwrap();
        say(rows, &home, &[said(1, "kept")]);
        rows.keep().unwrap();
        rows.save().unwrap();
        say(rows, &home, &[said(2, "refused")]);
        rows.back().unwrap();
        rows.save().unwrap();
        say(rows, &home, &[said(2, "instead")]);
        rows.keep().unwrap();
        home.log
    });
    let rows = &kit.store.writer;
    let second = rows.entry(Key { log, seq: 2 }).unwrap();
    assert_eq!(second.parts, [Part::text("instead")]);
    let find = |word| super::kit::found(rows, &super::kit::word(word), &Default::default(), None);
    assert_eq!(find("kept").len(), 1);
    assert_eq!(find("instead").len(), 1);
    assert_eq!(find("refused").len(), 0);
}

#[test]
fn first_request_rolled_back_leaves_the_others() {
    let mut kit = Kit::new();
    let home = kit.commit(|rows| conversation(rows, 1));
    let refuse = |rows: &mut crate::sqlite::SqliteRows, seq| {
        rows.save().unwrap();
        say(rows, &home, &[said(seq, "refused")]);
        rows.back().unwrap();
    };
    kit.commit(|rows| {
        refuse(rows, 1);
        refuse(rows, 1);
        rows.save().unwrap();
        say(rows, &home, &[said(1, "kept")]);
        rows.keep().unwrap();
        refuse(rows, 2);
    });
    kit.commit(|rows| refuse(rows, 2));
    let rows = &kit.store.writer;
    let find = |word| super::kit::found(rows, &super::kit::word(word), &Default::default(), None).len();
    assert_eq!((find("kept"), find("refused")), (1, 0));
    assert_eq!(rows.entry(Key { log: home.log, seq: 1 }).unwrap().parts, [Part::text("kept")]);
    assert!(rows.entry(Key { log: home.log, seq: 2 }).is_err());
}

#[test]
fn nothing_is_written_after_sqlite_aborted_a_transaction() {
    let mut kit = Kit::new();
    let home = kit.commit(|rows| conversation(rows, 1));
    let rows = kit.writer();
    rows.begin().unwrap();
    rows.save().unwrap();
    say(rows, &home, &[said(1, "gone")]);
    rows.keep().unwrap();
    rows.db.execute_batch("ROLLBACK").unwrap();
    assert!(matches!(rows.save(), Err(crate::StoreError::NotDurable { .. })));
    assert!(rows.commit().is_err());
    kit.commit(|rows| say(rows, &home, &[said(1, "there")]));
    let entry = kit.store.writer.entry(Key { log: home.log, seq: 1 });
    assert_eq!(entry.unwrap().parts, [Part::text("there")]);
}

#[test]
fn abandoned_rows_leave_no_trace() {
    let mut kit = Kit::new();
    let home = kit.commit(|rows| conversation(rows, 1));
    let rows = kit.writer();
    rows.begin().unwrap();
    say(rows, &home, &[said(1, "gone")]);
    rows.abandon();
    kit.commit(|rows| say(rows, &home, &[said(1, "there")]));
    let entry = kit.store.writer.entry(Key { log: home.log, seq: 1 });
    assert_eq!(entry.unwrap().parts, [Part::text("there")]);
    let gone = super::kit::found(&kit.store.writer, &super::kit::word("gone"), &Default::default(), None);
    assert_eq!(gone, []);
    assert_eq!(home.created, NOW);
}
