//! Tests of damage: it is found, named, and limited to its place. Also that no reader scans the entries.

use retake_core::{Change, Fact, Finding, Head, OpNo, Part, Reason};

use super::super::{
    access, chat, conversation as conversations, draft, entry, files, operation as operations, outbox,
    tool_turns,
};
use super::kit::{Kit, conversation, found, operation, said, say, word};
use crate::error::{Result, StoreError};
use crate::rows::{
    ConversationRows as _, EntryRows as _, FactRows as _, LogNo, NowRow, OperationRows as _,
    Transactions as _, read,
};
use crate::transfer::Upkeep as _;

fn kit() -> Kit {
    let mut kit = Kit::new();
    kit.commit(|rows| {
        let home = conversation(rows, 1);
        let entries: Vec<_> = (1..=5).map(|seq| said(seq, "found")).collect();
        say(rows, &home, &entries);
        for no in 1..=2 {
            let op = operation(no, Reason::Hide, Change::Mark(Vec::new()));
            rows.insert_op(&home, &op, &None).unwrap();
        }
        let now = NowRow { head: Head::new(2, 5), ..home.now };
        rows.set_now(home.log, now).unwrap();
    });
    kit
}

#[test]
fn unreadable_row_is_an_error_in_its_place() {
    let changes = [
        "content = '{'",
        "role = 'robot'",
        "flags = 999",
        "id = x'00'",
        "turn = 0",
        "messages = -1",
        "usage = '[]'",
    ];
    for change in changes {
        let mut kit = kit();
        let sql = format!("UPDATE entry SET {change} WHERE key & 0xffffffff = 3");
        kit.commit(|rows| rows.db.execute_batch(&sql).unwrap());
        let rows = &kit.store.writer;
        let entries = rows.entries(LogNo(1), 1, 5).unwrap();
        let whole: Vec<bool> = entries.iter().map(Result::is_ok).collect();
        assert_eq!(whole, [true, true, false, true, true], "{change}");
        let Err(StoreError::Damaged { row, .. }) = &entries[2] else {
            panic!("{change}: {:?}", entries[2]);
        };
        assert_eq!(row, "entry 3 of conversation number 1");
        let wrong = rows.check().unwrap().problems;
        let is_named = |detail: &str| detail.contains("entry 3");
        assert!(matches!(&*wrong, [Finding::Unreadable { detail, .. }] if is_named(detail)), "{wrong:?}");
    }
}

/// FTS5 sometimes merges its index; a connection with an older view must read it again.
#[test]
fn writes_of_another_connection_are_no_damage() {
    let mut kit = Kit::new();
    let home = kit.commit(|rows| conversation(rows, 1));
    for seq in 1..=40 {
        kit.commit(|rows| say(rows, &home, &[said(seq, &format!("word{seq} more"))]));
        let found = kit.store.readers.within_snapshot(|rows| rows.check()).unwrap().unwrap();
        assert_eq!((found.problems, found.details), (vec![], vec![]), "after {seq}");
    }
}

#[test]
fn missing_row_is_named() {
    let rows = [
        ("DELETE FROM entry WHERE key & 0xffffffff = 2", "entry 2 of"),
        ("DELETE FROM entry WHERE key & 0xffffffff = 5", "entry 5 of"),
        ("DELETE FROM operation WHERE no = 1", "operation 1 is missing"),
        ("UPDATE operation SET delta = '?' WHERE no = 2", "operation 2 of"),
        ("UPDATE entry SET after = 4 WHERE key & 0xffffffff = 3", "Order("),
    ];
    for (sql, expected) in rows {
        let mut kit = kit();
        kit.commit(|rows| rows.db.execute_batch(sql).unwrap());
        let wrong = kit.store.writer.check().unwrap().problems;
        assert!(wrong.len() == 1 && format!("{wrong:?}").contains(expected), "{wrong:?}");
    }
    assert_eq!(kit().store.writer.check().unwrap().problems, vec![]);
}

#[test]
fn a_gap_in_the_operations_is_an_error() {
    let mut kit = kit();
    let sql = "DELETE FROM operation WHERE no = 1";
    kit.commit(|rows| rows.db.execute_batch(sql).unwrap());
    let error = kit.store.writer.ops(LogNo(1), OpNo(1), OpNo(2)).unwrap_err();
    assert!(matches!(error, StoreError::MissingOperation(OpNo(1))), "{error}");
}

#[test]
fn damaged_full_text_index_is_rebuilt() {
    let mut kit = kit();
    let sql = "UPDATE search_data SET block = x'ffffffffffffffff' WHERE id = 10";
    kit.commit(|rows| rows.db.execute_batch(sql).unwrap());
    let mut kit = kit.reopened();
    assert!(kit.store.notices[0].contains("full-text index"), "{:?}", kit.store.notices);
    let find = |kit: &Kit| found(&kit.store.writer, &word("found"), &Default::default(), None).len();
    assert_eq!(find(&kit), 5);
    let sql = "INSERT INTO search (search) VALUES ('delete-all')";
    kit.commit(|rows| rows.db.execute_batch(sql).unwrap());
    assert_eq!(find(&kit), 0);
    kit.writer().rebuild_search().unwrap();
    assert_eq!(find(&kit), 5);
    assert_eq!(kit.store.writer.check().unwrap().problems, vec![]);
}

#[test]
fn wrong_index_of_facts_is_reported_and_rebuilt() {
    let mut kit = Kit::new();
    kit.commit(|rows| {
        let home = conversation(rows, 1);
        let mut entry = said(1, "with a fact");
        entry.parts.push(Part::Facts(vec![Fact::new("cwd", "src")]));
        say(rows, &home, &[entry]);
    });
    for sql in ["UPDATE fact SET value = 'else'", "DELETE FROM fact", "UPDATE fact SET seq = 7"] {
        kit.commit(|rows| rows.db.execute_batch(sql).unwrap());
        let problems = kit.store.writer.check().unwrap().problems;
        assert!(matches!(*problems, [Finding::Facts(_)]), "{sql}: {problems:?}");
        kit.commit(|rows| rows.mend().unwrap());
        assert_eq!(kit.store.writer.check().unwrap().problems, vec![], "{sql}");
    }
    let fact = kit.store.writer.fact_before(LogNo(1), "cwd", 9).unwrap();
    assert_eq!(fact, Some((1, "src".to_owned())));
}

#[test]
fn unreadable_rows_of_turns_are_reported() {
    let mut kit = kit();
    for (sql, word) in [
        ("INSERT INTO run VALUES (1, 1, 1, 'running', 1, '{}', NULL, NULL)", "run"),
        ("UPDATE run SET run = 'x', state = 'asleep'", "run"),
        ("INSERT INTO permission VALUES (1, 1, '{}')", "permitted"),
        ("INSERT INTO effect VALUES (1, 1, 1, 1, 'c', 't', 'external', x'00', 1, 'begun')", "effect"),
        ("INSERT INTO draft VALUES (1, 1, 'ada', '{')", "draft"),
        ("DELETE FROM draft; INSERT INTO folder_draft VALUES ('/a', 'ada', '{')", "draft of a folder"),
        (
            "INSERT INTO outbox (root, log, destination, no, told, due, attempts) VALUES (1, 1, 'x', 0, '[]', 1, 0)",
            "its place",
        ),
    ] {
        let before = kit.store.writer.check().unwrap().problems.len();
        kit.commit(|rows| rows.db.execute_batch(sql).unwrap());
        let problems = kit.store.writer.check().unwrap().problems;
        let names = |found: &Finding| match found {
            Finding::Unreadable { detail, .. } => detail.contains(word),
            _ => false,
        };
        assert!(problems.len() >= before.max(1) && problems.iter().any(names), "{problems:?}");
    }
    assert_eq!(kit.store.writer.check().unwrap().problems.len(), 5);
}

#[test]
fn full_disk_is_reported_and_changes_nothing() {
    let mut kit = kit();
    let limit = |rows: &crate::sqlite::SqliteRows, pages: i64| {
        let sql = format!("PRAGMA max_page_count = {pages}");
        let _: i64 = rows.db.query_row(&sql, [], |row| row.get(0)).unwrap();
    };
    let home = kit.store.writer.log(LogNo(1)).unwrap();
    let long = said(6, &"long ".repeat(20_000));
    let rows = kit.writer();
    limit(rows, 1);
    rows.begin().unwrap();
    rows.save().unwrap();
    let error = rows.insert_entry(&home, &long, false, &None).unwrap_err();
    assert!(error.is_full(), "{error:?}");
    rows.abandon();
    limit(rows, i64::from(u32::MAX) - 1);
    kit.commit(|rows| say(rows, &home, &[said(6, "short")]));
    assert_eq!(kit.store.writer.entries(LogNo(1), 1, 6).unwrap().len(), 6);
}

#[test]
fn reader_cannot_write_and_sees_one_state() {
    let mut kit = kit();
    let Kit { store, .. } = &mut kit;
    let (readers, writer) = (&store.readers, &mut store.writer);
    let seen = readers.within_snapshot(|rows| -> Result<_> {
        assert!(rows.db.execute_batch("DELETE FROM stream").is_err());
        let before = rows.conversation(rows.log(LogNo(1))?.id)?;
        super::kit::commit(writer, |rows| conversation(rows, 2));
        assert!(rows.log(LogNo(2)).is_err());
        Ok(before)
    });
    assert_eq!(seen.unwrap().unwrap().unwrap().now.head, Head::new(2, 5));
    read(readers, |rows| rows.log(LogNo(2))).unwrap();
}

#[test]
fn no_reader_scans_the_entries() {
    let kit = kit();
    let db = &kit.store.writer.db;
    let mut text = String::new();
    let mut kept = 0;
    for (_, sql) in entry::READS
        .iter()
        .chain(operations::READS)
        .chain(files::READS)
        .chain(draft::READS)
        .chain([&conversations::SUBAGENTS])
        .chain(outbox::READS)
        .chain(access::READS)
        .chain(chat::READS)
        .chain(tool_turns::READS.iter().copied().flatten())
    {
        let mut statement = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let nothing = vec![1; statement.parameter_count()];
        let nothing = rusqlite::params_from_iter(nothing);
        let lines = statement.query_map(nothing, |row| row.get(3)).unwrap();
        for line in lines.map(Result::<String, _>::unwrap) {
            assert!(!line.starts_with("SCAN"), "{sql}: {line}");
            text += &format!("{line}\n");
        }
        text += "\n";
        kept += 1;
    }
    // Statements that write or search are not counted here; there are fewer of them.
    assert!(2 * kept < super::super::open::STATEMENTS, "a connection keeps all {kept} and more");
    insta::with_settings!({
        snapshot_path => "../../../tests/golden",
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, { insta::assert_snapshot!("plans", text) });
}

/// Indexes that do not begin with the root, with their first column. They are global, or belong to this machine: an id or a
/// request names its conversation, folders belong to no conversation, and facts are remembered beyond one.
const WITHOUT_ROOT: [(&str, &str); 19] = [
    ("capture", "workspace"),
    ("chat_account", "name"),
    ("chat_binding", "account"),
    ("chat_event", "account"),
    ("chat_event", "time"),
    ("chat_hold", "account"),
    ("chat_person", "account"),
    ("conversation", "id"),
    ("conversation", "request"),
    ("effect", "call"),
    ("fact", "key"),
    ("folder_draft", "folder"),
    ("meta", "name"),
    ("open_call", "id"),
    ("outbox", "due"),
    ("post", "account"),
    ("post_id", "account"),
    ("token", "digest"),
    ("token", "name"),
];

#[test]
fn every_index_begins_with_the_root_or_is_listed_as_global_or_local() {
    let kit = kit();
    let db = &kit.store.writer.db;
    let sql = "SELECT tables.name, (SELECT name FROM pragma_index_xinfo(indexes.name) WHERE seqno = 0)
        FROM sqlite_schema AS tables, pragma_index_list(tables.name) AS indexes
        WHERE tables.type = 'table' AND tables.name NOT LIKE 'search%' ORDER BY 1, 2";
    let mut statement = db.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let all: Vec<(String, String)> = rows.map(Result::unwrap).collect();
    assert!(all.len() > 20, "{all:?}");
    let others: Vec<(&str, &str)> = all
        .iter()
        .map(|(table, column)| (&**table, &**column))
        .filter(|(_, column)| *column != "root")
        .collect();
    assert_eq!(others, WITHOUT_ROOT);
}
