//! Turns with tools: facts count while their entries are on the path.

use std::sync::Arc;

use retake_core::{Action, ConversationId, Fact, NewConversation, Part, Reason, Receipt, Role};

use super::stage::{Stage, by_request, new_id};
use crate::{ActionContextRequest, FullEffect, FullImport, FullLine, Result, Store, StoreError, decode_full};

/// A result with this text and a fact.
async fn tells(stage: &mut Stage, text: &str, key: &str, value: &str) -> Receipt {
    let parts = vec![Part::text(text), Part::Facts(vec![Fact::new(key, value)])];
    stage.send(stage.saying(Role::Tool, parts)).await.expect("said")
}

async fn fact(stage: &Stage, key: &str) -> String {
    stage.store.fact(stage.id, key.to_owned()).await.expect("looked up").unwrap_or_else(|| "none".into())
}

/// All facts whose key has this prefix, as `key=value` words.
async fn facts(stage: &Stage, prefix: &str) -> String {
    let facts = stage.store.facts(stage.id, prefix.to_owned()).await.expect("looked up");
    facts.iter().map(|fact| format!("{}={}", fact.key, fact.value)).collect::<Vec<_>>().join(" ")
}

/// The last fact of a key counts, over rewinds, marks and forks; an empty one removes it.
pub async fn the_last_fact_on_the_path_counts(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1"]).await;
    tells(&mut stage, "r1", "cwd", "src").await;
    stage.turn("T2").await;
    tells(&mut stage, "r2", "cwd", "docs").await;
    tells(&mut stage, "r3", "job/1", "make").await;
    assert_eq!(
        (fact(&stage, "cwd").await.as_str(), facts(&stage, "").await.as_str()),
        ("docs", "cwd=docs job/1=make")
    );
    let child = stage.fork(Some("r2")).await;
    stage.mark(Reason::Hide, &["r2"]).await.expect("hidden");
    assert_eq!(fact(&stage, "cwd").await, "src");
    assert_eq!(fact(&child, "cwd").await, "docs", "what the parent hides later does not touch the child");
    stage.mark(Reason::Show, &["r2"]).await.expect("shown");
    stage.mark(Reason::Exclude, &["r2"]).await.expect("excluded");
    assert_eq!(fact(&stage, "cwd").await, "docs", "people see it");
    stage.rewind("T2").await;
    assert_eq!(facts(&stage, "").await, "cwd=src");
    tells(&mut stage, "r4", "cwd", "").await;
    assert_eq!((fact(&stage, "cwd").await.as_str(), facts(&stage, "").await.as_str()), ("none", ""));
    stage.act(Action::Undo(1)).await.expect("undone");
    assert_eq!(facts(&stage, "job/").await, "job/1=make");
    stage.mark(Reason::Drop, &["T2", "T2!", "r2", "r3"]).await.expect("dropped");
    assert_eq!(facts(&stage, "").await, "cwd=src");
    assert_eq!(facts(&child, "cw").await, "cwd=docs");
    assert_eq!(fact(&child, "cw").await, "none", "a key is a whole one");
}

/// Entries that leave the path list all their values of a key; other entries do not; also over forks, and only once.
pub async fn rewind_lists_the_facts_that_leave_the_path(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1"]).await;
    tells(&mut stage, "r1", "cwd", "src").await;
    stage.turn("T2").await;
    tells(&mut stage, "r2", "cwd", "docs").await;
    tells(&mut stage, "r3", "job/1", "make").await;
    tells(&mut stage, "r4", "cwd", "lib").await;
    let said = async |stage: &Stage, action: Option<Action>, key: &str| {
        let of = ActionContextRequest { action, said: key.to_owned(), ..ActionContextRequest::default() };
        stage.store.action_context(stage.id, of).await.expect("an outlook").said.join(" ")
    };
    let [first, second] = ["T1", "T2"].map(|turn| Some(Action::Rewind(stage.named(turn))));
    assert_eq!(said(&stage, second.clone(), "cwd").await, "lib docs");
    assert_eq!(said(&stage, first.clone(), "cwd").await, "lib docs src");
    assert_eq!(said(&stage, second.clone(), "cw").await, "", "a key is a whole one");
    assert_eq!(said(&stage, None, "cwd").await, "");
    let mut child = stage.fork(Some("r2")).await;
    tells(&mut child, "r5", "cwd", "bin").await;
    assert_eq!(
        said(&child, second, "cwd").await,
        "bin docs",
        "what the parent says later is not the child's"
    );
    stage.rewind("T2").await;
    assert_eq!(said(&stage, first, "cwd").await, "src");
    assert_eq!(
        said(&stage, Some(Action::Undo(1)), "cwd").await,
        "",
        "that brings something, and takes nothing back"
    );
}

/// A copy of a whole tree of forks, made by a full export.
pub(super) async fn copied(stage: &Stage) -> Stage {
    let import = copy_of(stage).await;
    let id = stage.store.restore_full(import, None).await.expect("restored").conversation;
    stage.elsewhere(id)
}

/// The content of a full export, under other names.
pub(super) async fn copy_of(stage: &Stage) -> FullImport {
    let piece = stage.store.export_full(stage.id, None).await.expect("exported");
    let mut import = FullImport::default();
    for line in piece.text.lines() {
        match decode_full(line).expect("a line") {
            FullLine::Begin(_) => {}
            FullLine::Conversation(row) => import.conversations.push(*row),
            FullLine::Entry(of, entry, by) => import.conversations[of].entries.push((*entry, by)),
            FullLine::Operation(of, op, by) => import.conversations[of].ops.push((*op, by)),
            FullLine::Effect(of, effect) => {
                // A call is in one ledger only.
                let call = format!("{}-copied", effect.call);
                import.conversations[of].beside.effects.push(FullEffect { call, ..*effect });
            }
            FullLine::Run(of, run) => import.conversations[of].beside.runs.push(*run),
            FullLine::Permission(of, settled) => import.conversations[of].beside.permission = Some(settled),
            FullLine::Post(of, post) => import.conversations[of].beside.posts.push(*post),
        }
    }
    for row in &mut import.conversations {
        row.id = ConversationId::new(new_id());
    }
    import
}

/// The same request restores once, whatever happened since; another request, or another content under its id, is refused.
pub async fn the_same_request_restores_once(store: Arc<Store>) {
    let stage = Stage::with_turns(store, &["T1"]).await;
    let (import, other) = (copy_of(&stage).await, copy_of(&stage).await);
    let restore = |import: &FullImport, request: &str| {
        stage.store.restore_full(import.clone(), Some(request.parse().expect("an id")))
    };
    let create = |request: &str| {
        let id = ConversationId::new(new_id());
        stage.store.create(NewConversation { id, folder: None, title: None, by: by_request(request) })
    };
    create("made").await.expect("created");
    let reused = |error: Result<Receipt>| matches!(error, Err(StoreError::RequestReused(_)));
    assert!(reused(restore(&import, "made").await), "it has made something else");
    let first = restore(&import, "once").await.expect("restored");
    let copy = stage.elsewhere(first.conversation);
    copy.act(Action::Label(None, Some("changed since".into()))).await.expect("titled");
    assert_eq!(restore(&import, "once").await.expect("the receipt"), first);
    assert!(reused(restore(&other, "once").await), "something else by the same request");
    assert!(reused(create("once").await), "something else altogether");
    let again = restore(&import, "twice").await;
    assert!(matches!(again, Err(StoreError::ConversationExists(_))), "{again:?}");
    let erase = Action::Erase { entries: Vec::new(), matching: Some("T1".into()), objects: Vec::new() };
    copy.act(erase).await.expect("erased");
    assert_eq!(restore(&other, "once").await.expect("the receipt"), first, "not even the digest is kept");
}

/// A full export contains facts; erased ones are gone, even if found by their text, and earlier ones count again.
pub async fn facts_follow_restore_and_erase(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1"]).await;
    tells(&mut stage, "r1", "todo", "first").await;
    tells(&mut stage, "r2", "todo", "with hunter2").await;
    let second = tells(&mut stage, "r3", "job/hunter2", "make").await.entries[0];
    let child = stage.fork(None).await;
    let third = tells(&mut stage, "r4", "cwd", "src").await.entries[0];
    let erase = |entries, text: Option<&str>| Action::Erase {
        entries,
        matching: text.map(str::to_owned),
        objects: Vec::new(),
    };
    let all = "cwd=src job/hunter2=make todo=with hunter2";
    assert_eq!(
        (facts(&stage, "").await.as_str(), facts(&copied(&stage).await, "").await.as_str()),
        (all, all)
    );
    stage.act(erase(vec![third], None)).await.expect("erased");
    assert_eq!(facts(&stage, "").await, "job/hunter2=make todo=with hunter2");
    child.act(erase(Vec::new(), Some("hunter2"))).await.expect("erased");
    for stage in [&stage, &child] {
        assert_eq!(facts(stage, "").await, "todo=first");
        let left = stage.store.content(stage.id, second).await.expect("read");
        assert_eq!(left, [Part::Erased]);
    }
    assert_eq!(facts(&copied(&stage).await, "").await, "todo=first");
}
