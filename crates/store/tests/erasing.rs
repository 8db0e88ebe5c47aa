//! Erasure of names and links of files: they are in no file of the store or of its backups.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use retake_core::{
    Action, Apply, ChangeOrigin, ChatArrival, ChatOrigin, ChatPlace, ContentHash, Effect, EffectClass,
    EffectState, Fact, FileChange, FilePath, GitMove, GitRef, Grade, Mode, NewRun, Part, Permission,
    PostResult, Principal, Record, Role, Rule, Ruling, RunInput, SayRequest, SeenState, Steer, Time, Words,
};
use retake_store::conformance::Stage;
use retake_store::{CallsSeen, NewCapture, NewDelta, Sqlite, Store};

const SECRET: &str = "hunter2zebra";

fn open(dir: &Path) -> Arc<Store> {
    let opened = Sqlite::open(dir, Time(1_700_000_000_000), Duration::ZERO).expect("opened");
    Arc::new(Store::start(opened.readers, opened.writer).expect("started"))
}

/// Every file below a directory that contains these bytes.
fn holding(dir: &Path, bytes: &[u8]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).expect("readable") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(holding(&path, bytes));
        } else if std::fs::read(&path).expect("readable").windows(bytes.len()).any(|window| window == bytes) {
            found.push(path);
        }
    }
    found
}

fn made(name: &str, byte: u8) -> FileChange {
    let after = Some(Record::File { hash: ContentHash([byte; 32]), len: 9, mode: 0o644 });
    FileChange { path: FilePath::new(name.as_bytes()).expect("a path"), before: None, after }
}

fn link(name: &str, target: &str) -> FileChange {
    let after = Some(Record::Link { target: Arc::from(target.as_bytes()) });
    FileChange { after, ..made(name, 0) }
}

/// A call that created a file and a link, which a capture and a backup contain, too.
async fn told(dir: &Path) -> (Stage, PathBuf) {
    let stage = Stage::with_turns(open(dir), &["T1"]).await;
    let workspace = stage.store.workspace(b"/work".to_vec(), (1, 2), Time(7)).await.expect("made").no;
    let name = format!("{SECRET}.txt");
    let changes = vec![made(&name, 1), link("link", SECRET), made("plain", 2)];
    let capture = NewCapture {
        time: Time(1),
        name: Some(SECRET.into()),
        changes: changes.clone(),
        calls: CallsSeen::default(),
        mark: ContentHash([7; 32]),
        manifest: None,
    };
    stage.store.captured(workspace, capture).await.expect("captured");
    let changes = changes.into_iter().map(|change| (Grade::Seen, change)).collect();
    let branch = GitRef { name: format!("refs/heads/{SECRET}"), before: None, after: Some("a1".into()) };
    let git = Some(GitMove { refs: vec![branch], ..GitMove::default() });
    let delta = NewDelta { git, ..NewDelta::new(workspace, changes, ContentHash([7; 32])) };
    let say = stage.saying(Role::Tool, vec![Part::text("done")]);
    stage.store.say_changed(stage.id, say, vec![delta]).await.expect("said");
    let fact = Part::Facts(vec![Fact::new("todo", SECRET), Fact::new(format!("read/{SECRET}"), "1")]);
    stage.store.say(stage.id, stage.saying(Role::Tool, vec![fact])).await.expect("said");
    ledger(&stage).await;
    let words = Words {
        parts: vec![Part::text(SECRET)],
        author: String::new(),
        request: None,
        wording: None,
        time: Time(1),
        chat: None,
    };
    let new = NewRun { words: Some(words), steer: Steer::Queue, seen: None, model: None };
    stage.store.step_runs(stage.id, vec![RunInput::Enqueue(new, Time(1))]).await.expect("it waits");
    let rule = |what: &str| Rule { ruling: Ruling::Allow, tool: "shell".into(), what: Some(what.into()) };
    let permission = Permission { mode: Mode::Plan, rules: vec![rule("ls"), rule(SECRET)] };
    stage.store.set_permission(stage.id, permission).await.expect("settled");
    let copy = stage.store.backup(None, Time(9)).await.expect("copied").path;
    (stage, copy)
}

/// A call of a tool with that name, in the ledger, and the tool's output.
async fn ledger(stage: &Stage) {
    let tool = format!("mcp__{SECRET}__send");
    let call = Part::ToolCall { id: "c-1".into(), name: tool.clone(), arguments: "{}".into() };
    let said = stage.store.say(stage.id, stage.saying(Role::Assistant, vec![call])).await.expect("said");
    let effect = Effect {
        call: "call-1".into(),
        conversation: stage.id,
        entry: said.entries[0],
        tool: tool.clone(),
        class: EffectClass::External,
        print: [0xee; 16],
        began: Time(1),
        state: EffectState::Begun,
    };
    stage.store.begin_effect(effect, Vec::new()).await.expect("begun");
    let result = stage.saying(Role::Tool, vec![Part::text("sent")]);
    let by = ChangeOrigin { author: tool, ..result.by.clone() };
    let result = SayRequest { by, platform_id: Some(format!("{SECRET}-1")), ..result };
    stage.store.say(stage.id, result).await.expect("said");
    // Only the id of its author has the word.
    let from_chat = stage.saying(Role::User, vec![Part::text("hello")]);
    let place = ChatPlace { account: "chat".into(), chat: "room".into(), thread: None };
    let origin = ChatOrigin {
        place,
        message: "m1".into(),
        person: format!("@{SECRET}:example.org"),
        joined: Vec::new(),
    };
    let chat = ChatArrival { origin, keys: vec!["k1".into()], also: Vec::new(), content: [0; 16] };
    let by = ChangeOrigin { chat: Some(Arc::new(chat)), ..from_chat.by.clone() };
    stage.store.say(stage.id, SayRequest { by, ..from_chat }).await.expect("said");
}

/// The deltas, layers and captures of a backup.
fn kept(copy: &Path) -> (i64, i64, i64, String) {
    let db = rusqlite::Connection::open(copy).expect("opened");
    let sql = "SELECT (SELECT paths FROM delta), (SELECT applied FROM delta), (SELECT count(*) FROM layer),
               (SELECT changes FROM capture)";
    db.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))).expect("a row")
}

#[tokio::test]
async fn an_erased_name_is_in_no_file_and_in_no_backup() {
    let dir = tempfile::tempdir().expect("a directory");
    let (stage, copy) = told(dir.path()).await;
    assert!(holding(dir.path(), SECRET.as_bytes()).len() >= 2);
    assert!(!holding(dir.path(), &[0xee; 16]).is_empty());
    assert_eq!((kept(&copy).0, kept(&copy).2), (3, 3));
    let erase = Action::Erase { entries: Vec::new(), matching: Some(SECRET.into()), objects: Vec::new() };
    stage.act(erase).await.expect("erased");
    assert_eq!(holding(dir.path(), SECRET.as_bytes()), Vec::<PathBuf>::new());
    let (paths, applied, layers, changes) = kept(&copy);
    assert_eq!((paths, applied, layers), (1, 1, 1), "the plain file stays");
    let db = rusqlite::Connection::open(&copy).expect("opened");
    let rules: String =
        db.query_row("SELECT permission FROM permission", [], |row| row.get(0)).expect("a row");
    assert!(rules.contains("plan") && rules.contains("ls"), "{rules}");
    assert!(changes.contains("plain"), "{changes}");
    assert_eq!(holding(dir.path(), &[0xee; 16]), Vec::<PathBuf>::new(), "nor is the digest of a call");
    let named = stage.store.erased_objects().await.expect("a note");
    assert_eq!(named, [ContentHash([1; 32])], "for who has the object store");
    stage.store.objects_erased(Vec::new()).await.expect("done");
    assert_eq!(holding(dir.path(), &[1; 32]), Vec::<PathBuf>::new(), "not even its hash is left");
}

/// The digest of a post is text, that of a message is bytes.
#[tokio::test]
async fn gateways_case_77_digests_of_erased_posts_and_messages_are_in_no_file_and_in_no_backup() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut stage = Stage::with_turns(open(dir.path()), &["T1"]).await;
    let place = ChatPlace { account: "chat".into(), chat: "room".into(), thread: None };
    let origin = ChatOrigin { place, message: "m1".into(), person: "anna".into(), joined: Vec::new() };
    let chat = ChatArrival { origin, keys: vec!["k1".into()], also: Vec::new(), content: [0xec; 16] };
    let ask = stage.saying(Role::User, vec![Part::text("question")]);
    let member = Principal::Member { account: "chat".into(), person: SECRET.into() };
    let by = ChangeOrigin { chat: Some(Arc::new(chat)), ..ask.by.clone() };
    stage.send(SayRequest { by, ..ask }).await.expect("asked");
    let answer = stage.saying(Role::Assistant, vec![Part::text("answer")]);
    let now = Time(answer.by.time.0 + 1);
    stage.send(answer).await.expect("answered");
    let work = stage.store.take_posts("chat".into(), now, 9).await.expect("leased");
    let (key, digest) = (work[0].key, "d1ge57d1ge57".to_owned());
    let sending = PostResult::Sending { parts: 1, digest: digest.clone(), is_preview: false };
    let sent = PostResult::Sent { ids: vec!["77".into()], at: now, deadline: None, deletable: true };
    for result in [sending, sent] {
        stage.store.settle_post("chat".into(), key, result, now).await.expect("settled");
    }
    // A step of a person whose id has the word, and nothing else of the step has it.
    let undo = Apply {
        action: Action::Undo(1),
        seen: SeenState::Anything,
        by: ChangeOrigin { principal: member, time: now, ..ChangeOrigin::default() },
    };
    stage.store.apply(stage.id, undo).await.expect("undone");
    stage.act(Action::Redo(1)).await.expect("redone");
    let copy = stage.store.backup(None, Time(9)).await.expect("copied").path;
    let (digest, content) = (digest.as_bytes(), [0xec; 16]);
    assert!(!holding(dir.path(), digest).is_empty() && !holding(dir.path(), &content).is_empty());
    let entries = vec![stage.named("question"), stage.named("answer")];
    let erase = Action::Erase { entries, matching: Some(SECRET.into()), objects: Vec::new() };
    stage.act(erase).await.expect("erased");
    for bytes in [digest, &content, SECRET.as_bytes()] {
        assert_eq!(holding(dir.path(), bytes), Vec::<PathBuf>::new());
    }
    // The ledger still knows what is in the chat, also that of the backup.
    let db = rusqlite::Connection::open(&copy).expect("opened");
    let post: String = db.query_row("SELECT post FROM post", [], |row| row.get(0)).expect("a row");
    assert!(post.contains("\"77\"") && post.contains("deleting"), "{post}");
}

#[tokio::test]
async fn trial_28_a_text_that_json_escapes_in_the_arguments_of_a_call_is_erased() {
    let secret = "hunt\"er2\\zebra\nline";
    let dir = tempfile::tempdir().expect("a directory");
    let stage = Stage::with_turns(open(dir.path()), &["T1"]).await;
    for arguments in [
        serde_json::json!({ "content": secret }).to_string(),
        r#"{"content":"hunt\u0022er2\u005Czebra\u000aline"}"#.to_owned(),
        serde_json::json!({ "inner": serde_json::json!({ "content": secret }).to_string() }).to_string(),
    ] {
        let call = Part::ToolCall { id: "c-1".into(), name: "write".into(), arguments };
        stage.store.say(stage.id, stage.saying(Role::Assistant, vec![call])).await.expect("said");
    }
    assert!(!holding(dir.path(), b"zebra").is_empty());
    let erase = Action::Erase { entries: Vec::new(), matching: Some(secret.into()), objects: Vec::new() };
    stage.act(erase).await.expect("erased");
    assert_eq!(holding(dir.path(), b"zebra"), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn trial_28_a_text_in_the_ids_of_requests_and_in_the_names_of_who_asked_is_erased() {
    let dir = tempfile::tempdir().expect("a directory");
    let stage = Stage::with_turns(open(dir.path()), &["T1"]).await;
    let by = |author: &str, number: u32| {
        let request = Some(format!("{SECRET}-{number}").parse().expect("an id"));
        ChangeOrigin { author: author.into(), time: Time(2), request, ..ChangeOrigin::default() }
    };
    let say = || SayRequest { by: by("me", 1), ..stage.saying(Role::User, vec![Part::text("kept words")]) };
    stage.store.say(stage.id, say()).await.expect("said");
    let apply = |action, by| stage.store.apply(stage.id, Apply { action, seen: SeenState::Anything, by });
    apply(Action::Rewind(stage.named("T1")), by(SECRET, 2)).await.expect("done");
    let other =
        Action::Erase { entries: Vec::new(), matching: Some("not there".into()), objects: Vec::new() };
    assert!(apply(other, by("me", 3)).await.expect("nothing to do").unchanged);
    let words = Words {
        parts: vec![Part::text("waiting words")],
        author: String::new(),
        request: by("", 4).request,
        wording: None,
        time: Time(1),
        chat: None,
    };
    let new = NewRun { words: Some(words), steer: Steer::Queue, seen: None, model: None };
    stage.store.step_runs(stage.id, vec![RunInput::Enqueue(new, Time(1))]).await.expect("it waits");
    assert!(!holding(dir.path(), SECRET.as_bytes()).is_empty());

    let erase = || Action::Erase { entries: Vec::new(), matching: Some(SECRET.into()), objects: Vec::new() };
    let receipt = apply(erase(), by(SECRET, 5)).await.expect("erased");
    assert!(!receipt.unchanged);
    assert_eq!(holding(dir.path(), SECRET.as_bytes()), Vec::<PathBuf>::new());
    assert!(
        !holding(dir.path(), b"kept words").is_empty() && !holding(dir.path(), b"waiting words").is_empty()
    );
    assert!(apply(erase(), by("me", 5)).await.expect("nothing is left").unchanged);
    assert_eq!(holding(dir.path(), SECRET.as_bytes()), Vec::<PathBuf>::new());
}
