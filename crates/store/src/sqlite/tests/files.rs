//! Tests of files: creation, refusals, migration, takeover, and erased content.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use retake_core::{
    Change, Fold, FoldId, LabelTarget, OpNo, Operation, Part, Path as EntryPath, Pos, Reason, State,
};
use rusqlite::Connection;
use tempfile::TempDir;

use super::kit::{Kit, NOW, commit, conversation, found, open, operation, request, said, say, word};
use crate::error::StoreError;
use crate::rows::{
    ConversationRows as _, EntryRows as _, Erasure, FactRows as _, FileRows as _, Key, LogNo,
    OperationRows as _, Rows as _, Transactions as _, read,
};
use crate::sqlite::Sqlite;
use crate::sqlite::schema::{self, VERSION};

pub(super) fn raw(file: &Path, sql: &str) {
    let db = Connection::open(file).unwrap();
    db.execute_batch(sql).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Every file below a folder.
fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn only_the_owner_can_read_the_data_folder() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("a/data");
    let mut store = open(&data).unwrap();
    commit(&mut store.writer, |rows| conversation(rows, 1));
    assert_eq!(mode(&data), 0o700);
    let files = files(&data);
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn schema_does_not_change() {
    let kit = Kit::new();
    let sql = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name";
    let db = &kit.store.writer.db;
    let mut statement = db.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    let rows: Vec<String> = rows.map(Result::unwrap).collect();
    let pragmas = ["application_id", "user_version", "journal_mode", "synchronous"].map(|name| {
        let value = |row: &rusqlite::Row<'_>| row.get::<_, rusqlite::types::Value>(0);
        let value = db.query_row(&format!("PRAGMA {name}"), [], value);
        format!("{name}: {:?}", value.unwrap())
    });
    insta::with_settings!({ snapshot_path => "../../../tests/golden", prepend_module_to_snapshot => false, omit_expression => true }, { insta::assert_snapshot!("schema", format!("{}\n\n{}", pragmas.join("\n"), rows.join("\n\n"))) });
}

/// A store of an older format with a conversation in it.
pub(super) fn older_format(format: i64) -> TempDir {
    let mut kit = Kit::new();
    kit.commit(|rows| {
        let home = conversation(rows, 1);
        say(rows, &home, &[said(1, "from the first days")]);
    });
    let dir = kit.dir;
    drop(kit.store);
    let new = dir.path().join("retake.db");
    let old = dir.path().join("old.db");
    let db = Connection::open(&old).unwrap();
    schema::older_format(&db, format).unwrap();
    db.execute("ATTACH ? AS new", [new.to_str().unwrap()]).unwrap();
    let columns = "SELECT group_concat(name) FROM pragma_table_info(?, 'main')";
    let [conversation, entry] = ["conversation", "entry"]
        .map(|table| db.query_row(columns, [table], |row| row.get::<_, String>(0)).unwrap());
    db.execute_batch(&format!(
        "INSERT INTO conversation SELECT {conversation} FROM new.conversation;
         INSERT INTO entry SELECT {entry} FROM new.entry;
         INSERT INTO search (rowid, text) VALUES (4294967297, 'from the first days');
         DETACH new;",
    ))
    .unwrap();
    drop(db);
    fs::rename(old, new).unwrap();
    dir
}

#[test]
fn older_file_is_migrated_after_a_backup() {
    (1..VERSION).for_each(brought_up_to_date_from);
}

fn brought_up_to_date_from(format: i64) {
    let dir = older_format(format);
    let before = fs::read(dir.path().join("retake.db")).unwrap();
    let store = open(dir.path()).unwrap();
    assert_eq!(store.notices.len(), 1, "{:?}", store.notices);
    assert!(store.notices[0].contains(&format!("from format {format} to {VERSION}")));
    assert_eq!(store.writer.streams().unwrap(), []);
    assert_eq!(store.writer.fact_key(LogNo(1), "").unwrap(), None);
    let keys = found(&store.writer, &word("days"), &Default::default(), None);
    assert_eq!(keys.len(), 1);
    assert_eq!(store.writer.check().unwrap().problems, vec![]);

    let backup = dir.path().join(format!("backups/retake-v{format}-2026-11-21T222640.db"));
    assert_eq!(mode(&backup), 0o600);
    let db = Connection::open(&backup).unwrap();
    let facts = "SELECT (SELECT user_version FROM pragma_user_version), count(*) FROM entry";
    let facts = db.query_row(facts, [], |row| Ok((row.get(0)?, row.get(1)?)));
    assert_eq!(facts, Ok((format, 1)));
    assert_eq!(before.len() as u64, fs::metadata(&backup).unwrap().len());
    drop(store);
    assert_eq!(open(dir.path()).unwrap().notices, [""; 0]);
}

/// Rows about one workspace become rows of that workspace, even if an operation was interrupted.
#[test]
fn file_changes_of_an_older_format_are_kept() {
    let dir = older_format(6);
    let file = dir.path().join("retake.db");
    raw(
        &file,
        "INSERT INTO moved VALUES (1, 1, 2, 3, '[]');
         INSERT INTO git_move VALUES (1, 1, 1, 3, '{\"index\":true}');
         INSERT INTO open_call VALUES ('job', 3, x'0192', x'0193');",
    );
    let store = open(dir.path()).unwrap();
    let moved = store.writer.moved(LogNo(1), OpNo(2)).unwrap();
    assert_eq!(moved, [retake_core::Moved { workspace: retake_core::WorkspaceNo(3), moves: Vec::new() }]);
    let git = store.writer.git_moves(LogNo(1)).unwrap();
    assert!(matches!(&git[..], [(1, retake_core::WorkspaceNo(3), moved)] if moved.index), "{git:?}");
    drop(store);
    raw(&file, "INSERT INTO open_call SELECT id, 4, conversation, entry FROM open_call");
}

#[test]
fn failed_migration_step_leaves_the_file_unchanged() {
    let dir = older_format(1);
    let file = dir.path().join("retake.db");
    raw(&file, "CREATE TABLE stream (other)");
    open(dir.path()).unwrap_err();
    let db = Connection::open(&file).unwrap();
    let format = db.query_row("PRAGMA user_version", [], |row| row.get(0));
    assert_eq!(format, Ok(1));
    drop(db);
    raw(&file, "DROP TABLE stream");
    open(dir.path()).unwrap();
}

#[test]
fn file_of_a_newer_format_is_refused_and_not_changed() {
    let kit = Kit::new();
    drop(kit.store);
    let file = kit.dir.path().join("retake.db");
    raw(&file, &format!("PRAGMA user_version = {}", VERSION + 1));
    let before = fs::read(&file).unwrap();
    let error = open(kit.dir.path()).unwrap_err();
    let newer = matches!(&error, StoreError::Newer { found, known, .. } if *found == known + 1);
    assert!(newer, "{error}");
    assert_eq!(fs::read(&file).unwrap(), before);
    assert_eq!(files(kit.dir.path()).len(), 2, "the file and the lock");
}

#[test]
fn file_whose_log_has_a_newer_format_is_refused() {
    let kit = Kit::new();
    drop(kit.store);
    let file = kit.dir.path().join("retake.db");
    // Its writer was killed: the change is in the log and not in the file.
    let copy = tempfile::tempdir().unwrap();
    let db = Connection::open(&file).unwrap();
    db.execute_batch(&format!("PRAGMA user_version = {}", VERSION + 1)).unwrap();
    for name in ["retake.db", "retake.db-wal"] {
        fs::copy(kit.dir.path().join(name), copy.path().join(name)).unwrap();
    }
    let before = fs::read(copy.path().join("retake.db")).unwrap();
    let error = open(copy.path()).unwrap_err();
    assert!(matches!(error, StoreError::Newer { .. }), "{error}");
    assert_eq!(fs::read(copy.path().join("retake.db")).unwrap(), before);
}

#[test]
fn file_that_is_no_store_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("retake.db");
    let is_none = |error| matches!(error, StoreError::NotAStore { .. });
    for bytes in ["", "hello", &"hello ".repeat(99)] {
        fs::write(&file, bytes).unwrap();
        assert!(is_none(open(dir.path()).unwrap_err()), "{bytes}");
        assert_eq!(fs::read(&file).unwrap(), bytes.as_bytes());
    }
    fs::remove_file(&file).unwrap();
    raw(&file, "CREATE TABLE a (b)");
    assert!(is_none(open(dir.path()).unwrap_err()));
}

#[test]
fn damaged_header_is_reported_as_damage() {
    let kit = Kit::new();
    drop(kit.store);
    let file = kit.dir.path().join("retake.db");
    let mut bytes = fs::read(&file).unwrap();
    // The page size and the following numbers.
    bytes[16..24].fill(0xff);
    fs::write(&file, bytes).unwrap();
    let error = open(kit.dir.path()).unwrap_err();
    assert!(matches!(error, StoreError::Broken { .. }), "{error}");
}

#[test]
fn folder_that_cannot_be_made_is_named_in_the_error() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let error = open(&file.join("data")).unwrap_err();
    assert!(matches!(error, StoreError::Io { .. }), "{error}");
}

#[test]
fn unfinished_new_file_is_created_again() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("retake.db.unfinished"), "half").unwrap();
    open(dir.path()).unwrap();
}

#[test]
fn a_second_owner_in_the_process_is_refused() {
    let kit = Kit::new();
    let error = open(kit.dir.path()).unwrap_err();
    assert!(matches!(error, StoreError::Held { .. }), "{error}");
    let Kit { dir, store } = kit;
    drop(store.writer);
    open(dir.path()).unwrap_err();
    drop(store.readers);
    open(dir.path()).unwrap();
}

/// The variable with the directory that the test's child process holds.
const HOLD: &str = "RETAKE_TEST_HOLD";

/// Not a test of its own: run by the child process.
#[test]
fn hold_what_the_parent_names() {
    let Some(dir) = std::env::var_os(HOLD) else {
        return;
    };
    let store = open(Path::new(&dir)).unwrap();
    fs::write(Path::new(&dir).join("held"), "").unwrap();
    // Until the parent ends this process or closes the pipe.
    let ended = BufReader::new(std::io::stdin()).lines().next();
    assert!(ended.is_none());
    drop(store);
}

fn holder(dir: &Path) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["hold_what_the_parent_names", "--nocapture"])
        .env(HOLD, dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let held = dir.join("held");
    for _ in 0..3000 {
        if held.exists() {
            return child;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    let ended = child.wait().unwrap();
    panic!("the child never opened the store: {ended}");
}

#[test]
fn owning_process_is_named_and_its_end_frees_the_directory() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = holder(dir.path());
    let error = Sqlite::open(dir.path(), NOW, Duration::from_millis(60)).unwrap_err();
    assert!(error.to_string().contains(&format!("process {}", child.id())), "{error}");
    child.kill().unwrap();
    child.wait().unwrap();
    open(dir.path()).unwrap();
}

#[test]
fn paused_owner_cannot_write_after_another_took_over() {
    let mut kit = Kit::new();
    kit.commit(|rows| conversation(rows, 1));
    // Its lock is lost, as on a network drive: another owner can open the store.
    fs::remove_file(kit.dir.path().join("owner.lock")).unwrap();
    let second = open(kit.dir.path()).unwrap();
    let error = kit.writer().begin().unwrap_err();
    assert!(matches!(error, StoreError::TakenOver), "{error}");
    drop(second);
    kit.writer().begin().unwrap_err();
}

#[test]
fn moved_store_refuses_writes_and_reads_no_other_store() {
    let mut kit = Kit::new();
    kit.commit(|rows| conversation(rows, 1));
    let (here, there) = (kit.dir.path().to_owned(), kit.dir.path().with_extension("moved"));
    fs::rename(&here, &there).unwrap();
    // Another owner creates a new store under the old name.
    let second = open(&here).unwrap();
    let error = kit.writer().begin().unwrap_err();
    assert!(matches!(error, StoreError::Moved { .. }), "{error}");
    assert!(matches!(read(&kit.store.readers, |_| Ok(())), Err(StoreError::Moved { .. })));
    drop(second);
    fs::remove_dir_all(&here).unwrap();
    fs::rename(&there, &here).unwrap();
    kit.writer().begin().unwrap();
}

#[test]
fn backup_never_replaces_a_file() {
    let kit = Kit::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let to = elsewhere.path().join("mine.db");
    // Not checked before: as if the file appeared during the copy.
    fs::write(&to, "mine").unwrap();
    let refused = kit.store.writer.backup(&to).unwrap_err();
    assert!(matches!(&refused, StoreError::FileExists { path } if *path == to), "{refused}");
    assert_eq!(fs::read(&to).unwrap(), b"mine");
    assert_eq!(files(elsewhere.path()), std::slice::from_ref(&to));
    fs::remove_file(&to).unwrap();
    let half = elsewhere.path().join("mine.db.unfinished");
    fs::write(&half, "mine too").unwrap();
    assert!(matches!(kit.store.writer.backup(&to).unwrap_err(), StoreError::FileExists { .. }));
    assert_eq!(fs::read(&half).unwrap(), b"mine too");
    assert_eq!(files(elsewhere.path()), [half]);
}

#[test]
fn backup_is_complete_while_the_store_is_in_use() {
    let mut kit = Kit::new();
    let home = kit.commit(|rows| {
        let home = conversation(rows, 1);
        say(rows, &home, &[said(1, "copied")]);
        home
    });
    let elsewhere = tempfile::tempdir().unwrap();
    let to = elsewhere.path().join("retake.db");
    kit.store.writer.backup(&to).unwrap();
    kit.commit(|rows| say(rows, &home, &[said(2, "later")]));
    assert_eq!(files(elsewhere.path()), [to]);
    let copy = open(elsewhere.path()).unwrap();
    assert_eq!(copy.writer.check().unwrap().problems, vec![]);
    let find = |text| found(&copy.writer, &word(text), &Default::default(), None).len();
    assert_eq!((find("copied"), find("later")), (1, 0));
}

const SECRET: &str = "xyzzysecret";

/// A store with a secret in an entry, its label, a summary and a state, and the erasure of it.
fn with_secret() -> (Kit, Erasure) {
    let mut kit = Kit::new();
    let label = Change::Label {
        target: LabelTarget::Entry(Pos::new(0, 2)),
        before: None,
        after: Some(SECRET.into()),
    };
    let mut state = State::default();
    state.apply(&label);
    let mut fold = operation(
        2,
        Reason::Fold,
        Change::Fold(Fold {
            id: FoldId { depth: 0, op: OpNo(2) },
            covers: EntryPath::from_spans([retake_core::Span::new(0, 1, 2)]),
        }),
    );
    fold.summary = Some(format!("about {SECRET}"));
    let log = kit.commit(|rows| {
        let home = conversation(rows, 1);
        say(rows, &home, &[said(1, "plain words")]);
        let secret = said(2, &format!("{SECRET} {SECRET} and more"));
        let made_by = Some((request("r"), [0xab; 16]));
        rows.insert_entry(&home, &secret, false, &made_by).unwrap();
        rows.insert_op(&home, &operation(1, Reason::Label, label), &None).unwrap();
        rows.insert_op(&home, &fold, &None).unwrap();
        rows.insert_state(&home, OpNo(2), &state).unwrap();
        let now = crate::rows::NowRow { head: retake_core::Head::new(2, 2), ..home.now };
        rows.set_now(home.log, now).unwrap();
        home.log
    });
    // Many small segments and merges, so that there are old copies of the words.
    for id in 10..60 {
        kit.commit(|rows| {
            let home = conversation(rows, id);
            let mut entry = said(1, &format!("other words {id}"));
            entry.meta.id = retake_core::EntryId::new(uuid::Uuid::from_u128(id));
            say(rows, &home, &[entry]);
        });
    }
    let what = Erasure {
        entries: vec![Key { log, seq: 2 }],
        ops: vec![(log, OpNo(1)), (log, OpNo(2))],
        states: vec![log],
        ..Erasure::default()
    };
    (kit, what)
}

fn holding_the_secret(dir: &Path) -> Vec<PathBuf> {
    let holds = |file: &PathBuf| {
        let bytes = fs::read(file).unwrap();
        bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes())
    };
    files(dir).into_iter().filter(holds).collect()
}

#[test]
fn what_is_erased_is_in_no_file() {
    let (mut kit, what) = with_secret();
    let backups = kit.dir.path().join("backups");
    fs::create_dir(&backups).unwrap();
    let same = backups.join("retake-v2-a.db");
    kit.store.writer.backup(&same).unwrap();
    let older = backups.join("retake-v1-b.db");
    fs::copy(&same, &older).unwrap();
    raw(&older, "PRAGMA user_version = 1");
    let note = backups.join("note.txt");
    fs::write(&note, "mine").unwrap();
    // An earlier reader stays open and idle.
    read(&kit.store.readers, |rows| rows.meta(what.entries[0])).unwrap();
    assert!(holding_the_secret(kit.dir.path()).len() >= 3);

    kit.commit(|rows| rows.erase(LogNo(1), &what).unwrap());
    kit.writer().scrub().unwrap();
    assert_eq!(holding_the_secret(kit.dir.path()), Vec::<PathBuf>::new());

    let notices = kit.writer().take_notices();
    assert!(note.exists() && !older.exists());
    assert!(notices.len() == 1 && notices[0].contains("retake-v1-b.db"), "{notices:?}");
    let rows = &kit.store.writer;
    let entry = rows.entry(what.entries[0]).unwrap();
    assert_eq!(entry.parts, [Part::Erased]);
    assert!(entry.meta.flags.erased);
    let ops: Vec<Operation> = rows.ops(LogNo(1), OpNo(1), OpNo(2)).unwrap();
    assert_eq!(ops[1].summary.as_deref(), Some(""));
    assert_eq!(rows.check().unwrap().problems, vec![]);
    let find = |text| found(rows, &word(text), &Default::default(), None).len();
    assert_eq!((find(SECRET), find("plain"), find("words")), (0, 1, 51));
    let copy = Connection::open(&same).unwrap();
    let count = |sql| copy.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM entry"), 52);
    assert_eq!(count("SELECT count(*) FROM search WHERE search MATCH 'words'"), 51);
}

#[test]
fn erasure_cut_short_by_a_crash_is_finished_at_the_next_start() {
    let (mut kit, what) = with_secret();
    kit.commit(|rows| rows.erase(LogNo(1), &what).unwrap());
    assert!(!holding_the_secret(kit.dir.path()).is_empty());
    let kit = kit.reopened();
    assert_eq!(holding_the_secret(kit.dir.path()), Vec::<PathBuf>::new());
}

#[test]
fn erasure_that_is_rolled_back_changes_nothing() {
    let (mut kit, what) = with_secret();
    kit.commit(|rows| {
        let home = rows.log(LogNo(1)).unwrap();
        rows.save().unwrap();
        say(rows, &home, &[said(3, "said before")]);
        rows.keep().unwrap();
        rows.save().unwrap();
        rows.erase(LogNo(1), &what).unwrap();
        rows.back().unwrap();
    });
    let rows = &kit.store.writer;
    let find = |text| found(rows, &word(text), &Default::default(), None).len();
    assert_eq!((find(SECRET), find("before")), (1, 1));
    assert!(!rows.entry(what.entries[0]).unwrap().meta.flags.erased);
}
