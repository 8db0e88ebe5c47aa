//! Every request gets the reply that its documentation promises. The promises are read from there, so a request
//! without a row here fails.

use std::collections::BTreeMap;

use futures::StreamExt;
use retake_wire::reply::Receipt;
use retake_wire::request::*;
use retake_wire::{
    Action, Attached, Grant, McpAdd, McpAllow, McpOf, McpRemove, Outcome, Part, ProblemKind, Reply, Right,
    Role, Run, RunEvent, RunStart, Search, TokenCreate, TokenTarget,
};

use super::mcp::{none, of_servers, project};
use super::whose::turn;
use super::world::{
    Desk, alternatives, apply, get, label, log, loses_the_reply, plan, rewind, said, tree, variant, variants,
};

const REQUESTS: &str = include_str!("../../wire/src/request.rs");

/// Creates a conversation, with an id that a later request looks up.
fn create() -> Request {
    Request::Create(Create { request_id: Some("new".into()), ..Create::default() })
}

/// The lines of an import.
fn lines() -> Vec<String> {
    vec![r#"{"role": "user", "content": "brought"}"#.to_owned()]
}

#[tokio::test]
async fn every_request_is_answered_as_its_documentation_says() {
    let desk = Desk::new().await;
    let (id, entries) = desk.talk(&["one", "two", "three", "four"]).await;
    let of = || ConversationTarget { conversation: id.clone() };
    let start = ImportStart { request_id: Some("import".into()), ..ImportStart::default() };
    let import = get!(desk, Receipt, Request::ImportStart(start.clone())).conversation;
    let run = start_run(&desk, &id).await;
    let work = desk.file("work");
    std::fs::create_dir(&work).expect("made");
    let there = desk.create(None, work.to_str()).await;
    let rows = [
        Request::Cancel(of()),
        create(),
        Request::Checkpoint(Checkpoint { conversation: there.clone(), name: "before".into() }),
        Request::FilesLog(Page { conversation: there.clone(), limit: None, before: None }),
        Request::FilesStatus(ConversationTarget { conversation: there.clone() }),
        Request::FilesDiff(FilesDiff {
            conversation: there,
            from: Some("before".into()),
            ..FilesDiff::default()
        }),
        Request::Workspaces(Workspaces::default()),
        Request::WorkspaceShow(WorkspaceTarget { workspace: "1".into() }),
        Request::WorkspacePrune(WorkspacePrune::default()),
        Request::WorkspaceForget(WorkspaceTarget { workspace: "1".into() }),
        Request::Fork(Fork { conversation: id.clone(), entry: None, title: None, request_id: None }),
        Request::Say(said(&id, Role::User, "five")),
        Request::Edit(Edit {
            files: Default::default(),
            conversation: id.clone(),
            entry: entries[2].clone(),
            parts: vec![Part::text("drei")],
            attached: Attached::Kept,
            head: None,
            request_id: None,
        }),
        plan(&id, rewind(&entries[0])),
        apply(&id, label("@", "here")),
        Request::List(List::default()),
        Request::Info(of()),
        Request::SetArchived(SetArchived { conversation: id.clone(), archived: true }),
        Request::Log(log(&id)),
        Request::Prompt(At { conversation: id.clone(), at: None }),
        Request::Targets(Targets { conversation: id.clone(), limit: None, before: None }),
        Request::Alternatives(alternatives(&id, &entries[1])),
        Request::Marked(Marked { conversation: id.clone(), limit: None, before: None }),
        Request::Ops(Page { conversation: id.clone(), limit: None, before: None }),
        Request::EarlierRequest(EarlierRequest { key: "new".into(), conversation: None }),
        Request::Tree(tree(&id)),
        Request::Search(Search { query: "one".into(), ..Search::default() }),
        Request::CatchUp(CatchUp { conversation: id.clone(), since: 1 }),
        Request::Export(Export { conversation: id.clone(), format: Format::Jsonl, cursor: None }),
        Request::ImportStart(start),
        Request::ImportLines(ImportLines { conversation: import.clone(), first: 0, lines: lines() }),
        Request::ImportEnd(ConversationTarget { conversation: import }),
        Request::Work,
        Request::Models,
        Request::McpAdd(McpAdd { name: "it".into(), way: none() }),
        Request::McpList(of_servers()),
        Request::McpTools(McpOf { server: Some("it".into()), ..of_servers() }),
        Request::McpRemove(McpRemove { name: "it".into() }),
        Request::McpAllow(McpAllow { folder: project(&desk), name: "theirs".into(), entry: None }),
        Request::Backup(Backup::default()),
        Request::Doctor(Doctor::default()),
        Request::History(History::default()),
    ];
    let mut answered = BTreeMap::new();
    let rows = rows.into_iter().chain(drafts(&id)).chain(paths(&id)).chain([Request::Status]);
    for (at, request) in rows.enumerate() {
        let reply = desk.does(request.clone()).await;
        answered.insert(variant(&request), variant(&reply));
        if at == 0 {
            assert_eq!(run.clone().await, Outcome::RolledBack, "it was stopped before any output");
        }
    }
    answered.extend(others(&desk, &id).await);
    let promised = variants(REQUESTS, "Request").into_iter().map(|(name, promise)| {
        let (_, kind) = promise.split_once("→ `").expect("each request says how it is answered");
        (name, kind.trim_end_matches('`').to_owned())
    });
    assert_eq!(answered, promised.collect());
}

/// The requests about tokens, with their replies.
async fn tokens(desk: &Desk) -> Vec<(String, String)> {
    let grants = vec![Grant { right: Right::Read, conversation: None }];
    let name = "reader".to_owned();
    let rows = [
        Request::TokenCreate(TokenCreate { name: name.clone(), grants, gateway: None, expires_in_s: None }),
        Request::TokenList,
        Request::TokenRevoke(TokenTarget { name }),
    ];
    let mut answered = Vec::new();
    for request in rows {
        answered.push((variant(&request), variant(&desk.does(request).await)));
    }
    answered
}

/// The requests about memory, the agent, hooks and the owner, with their replies.
async fn others(desk: &Desk, id: &str) -> impl Iterator<Item = (String, String)> {
    let (memory, agent) = (memory(desk, id).await, super::agent::answered().await);
    let tokens = tokens(desk).await;
    let hooks = super::hooks::answered().await.into_iter().chain(super::commands::answered().await);
    let tokens = tokens.into_iter().chain(super::chat::answered().await);
    memory.into_iter().chain(tokens).chain(agent).chain(hooks).chain(super::owner::answered().await)
}

/// The requests about memory, with their replies.
async fn memory(desk: &Desk, id: &str) -> BTreeMap<String, String> {
    let conversation = || id.to_owned();
    let home = Request::MemoryHome(MemoryHome::default());
    let text = "a fact".to_owned();
    let remember = Remember { conversation: conversation(), text, ..Remember::default() };
    let mut answered = BTreeMap::new();
    for request in [home, Request::Remember(remember), Request::ListMemory(ListMemory::default())] {
        answered.insert(variant(&request), variant(&desk.does(request).await));
    }
    let fact = async || {
        let facts = get!(desk, Memory, Request::ListMemory(ListMemory::default())).facts;
        facts.into_iter().next().expect("a fact").id
    };
    let (of, text) = (fact().await, "another fact".to_owned());
    let edit = EditMemory { conversation: conversation(), fact: of, text, request_id: None };
    let edit = Request::EditMemory(edit);
    answered.insert(variant(&edit), variant(&desk.does(edit).await));
    let forget =
        Request::Forget(Forget { conversation: conversation(), fact: fact().await, request_id: None });
    answered.insert(variant(&forget), variant(&desk.does(forget).await));
    answered
}

#[tokio::test]
async fn after_a_lost_reply_the_receipt_is_found_by_the_id_of_the_request() {
    let mut desk = Desk::new().await;
    let create = Create { request_id: Some("create".into()), ..Create::default() };
    let created = get!(desk, Receipt, Request::Create(create));
    let id = created.conversation.clone();
    let (other, _) = desk.talk(&["elsewhere"]).await;
    let say = Say { request_id: Some("say".into()), ..said(&id, Role::User, "one") };
    let lost = Request::Say(Say { request_id: Some("lost".into()), ..said(&id, Role::User, "two") });
    loses_the_reply(&desk.reach(), &lost).await;
    let stored = get!(desk, Receipt, Request::Say(say));
    let edit = Edit {
        files: Default::default(),
        conversation: id.clone(),
        entry: stored.entries[0].clone(),
        parts: vec![Part::text("eins")],
        attached: Attached::Kept,
        head: None,
        request_id: Some("edit".into()),
    };
    let edited = get!(desk, Receipt, Request::Edit(edit));
    let by = |action, key: &str| {
        let Request::Apply(apply) = apply(&id, action) else { unreachable!() };
        Request::Apply(Apply { request_id: Some(key.into()), ..apply })
    };
    desk.apply(&id, label("@", "a")).await;
    desk.apply(&id, label("@", "b")).await;
    let undone = get!(desk, Receipt, by(Action::Undo { count: 2 }, "undo"));
    let same = get!(desk, Receipt, by(Action::Title { title: None }, "same"));
    assert!(same.unchanged && undone.operations.len() == 2);
    let asks = |key: &str, of: Option<&String>| {
        Request::EarlierRequest(EarlierRequest { key: key.into(), conversation: of.cloned() })
    };
    let repeated = get!(desk, Receipt, lost);
    for restarted in [false, true] {
        let undone = Receipt { steps: None, ..undone.clone() };
        let receipts = [
            ("create", &created),
            ("say", &stored),
            ("edit", &edited),
            ("undo", &undone),
            ("same", &same),
            ("lost", &repeated),
        ];
        for (key, receipt) in receipts {
            let found = get!(desk, Receipt, asks(key, Some(&id)));
            assert_eq!((key, &found), (key, receipt), "restarted: {restarted}");
        }
        assert_eq!(get!(desk, Receipt, asks("create", None)), created);
        for (key, of) in
            [("say", None), ("say", Some(&other)), ("create", Some(&other)), ("never", Some(&id))]
        {
            let refused = desk.refused(asks(key, of)).await;
            assert_eq!(
                (&*refused.code, refused.kind),
                ("unknown_request", ProblemKind::NotFound),
                "{key} {of:?}"
            );
        }
        assert_eq!(desk.refused(asks("a key", Some(&id))).await.kind, ProblemKind::Usage);
        desk = desk.gives_way().await;
    }
}

/// Several steps with files are stored one by one, and are one receipt.
#[tokio::test]
async fn receipt_of_several_steps_with_files_is_found_by_the_id_of_the_request() {
    let desk = Desk::fast().await;
    let folder = desk.folder("work");
    let id = desk.create(None, Some(&folder)).await;
    for name in ["one", "two", "three"] {
        turn(&desk, &id, &format!("echo {name} > {name}")).await;
    }
    let Request::Apply(undo) = apply(&id, Action::Undo { count: 2 }) else { unreachable!() };
    let undone = get!(desk, Receipt, Request::Apply(Apply { request_id: Some("steps".into()), ..undo }));
    assert!(undone.operations.len() == 2 && undone.files.is_some(), "{undone:?}");
    let asked = EarlierRequest { key: "steps".into(), conversation: Some(id) };
    let found = get!(desk, Receipt, Request::EarlierRequest(asked));
    // Remarks are sent once, and the requested number of steps is not stored.
    let lasting = |receipt: Receipt| Receipt {
        steps: None,
        conditions: Vec::new(),
        stays: Vec::new(),
        outside: Default::default(),
        ..receipt
    };
    assert_eq!(lasting(found), lasting(undone));
}

fn paths(id: &str) -> [Request; 2] {
    [
        Request::Paths(Paths { conversation: id.into(), ..Paths::default() }),
        Request::FolderPaths(FolderPaths { folder: "/".into(), ..FolderPaths::default() }),
    ]
}

fn drafts(id: &str) -> [Request; 6] {
    let (conversation, author) = (id.to_owned(), String::new());
    let of = DraftOf { conversation: conversation.clone(), author: author.clone() };
    let parts = vec![Part::text("half a")];
    let folder = "/somewhere".to_owned();
    let of_folder = DraftIn { folder: folder.clone(), author: author.clone() };
    let set_in = SetDraftIn {
        folder: folder.clone(),
        parts: parts.clone(),
        instead_of: Some(parts.clone()),
        ..SetDraftIn::default()
    };
    let holder = Some("0199a000-ab".to_owned());
    let claim =
        ClaimDraft { conversation: conversation.clone(), author: author.clone(), holder: holder.clone() };
    let claim_in = ClaimDraftIn { folder, author: author.clone(), holder: holder.clone() };
    [
        Request::SetDraft(SetDraft {
            conversation,
            author,
            parts: parts.clone(),
            aside: Some(vec![parts.clone()]),
            instead_of: Some(parts),
            edits: Some("an entry".into()),
            holder,
            released: true,
        }),
        Request::Draft(of),
        Request::SetDraftIn(set_in),
        Request::DraftIn(of_folder),
        Request::ClaimDraft(claim),
        Request::ClaimDraftIn(claim_in),
    ]
}

/// Starts a run that continues until it is stopped; returns how it ends.
async fn start_run(desk: &Desk, of: &str) -> impl Future<Output = Outcome> + Clone {
    use futures::FutureExt;
    let start = RunStart::Say { parts: vec![Part::text("go on")], seen: None, steer: None, piped: false };
    let run = Run {
        conversation: of.into(),
        folder: None,
        start,
        model: None,
        permit: Default::default(),
        files: Default::default(),
        head: None,
        request_id: None,
    };
    let mut events = desk.client.run(run).await.expect("started");
    assert!(matches!(events.next().await, Some(RunEvent::Started { .. })));
    async move {
        match events.collect::<Vec<_>>().await.pop() {
            Some(RunEvent::Ended(ended)) => ended.outcome,
            other => panic!("it has not ended: {other:?}"),
        }
    }
    .boxed()
    .shared()
}

#[tokio::test]
async fn rewind_during_a_run_is_refused_with_its_reason() {
    let desk = Desk::new().await;
    let (id, entries) = desk.talk(&["one", "two"]).await;
    let idle = desk.refused(Request::Cancel(ConversationTarget { conversation: id.clone() })).await;
    assert_eq!(idle.code, "not_running");
    let run = start_run(&desk, &id).await;
    assert_eq!(desk.refused(apply(&id, rewind(&entries[0]))).await.code, "run_active");
    assert!(desk.info(&id).await.running);
    let targets = Request::Targets(Targets { conversation: id.clone(), limit: None, before: None });
    let reasons = get!(desk, Targets, targets.clone()).targets.into_iter().map(|target| target.reason);
    assert!(reasons.into_iter().all(|reason| reason.is_some()));
    desk.does(Request::Cancel(ConversationTarget { conversation: id.clone() })).await;
    assert_eq!(run.await, Outcome::RolledBack);
    assert_eq!(desk.texts(&id).await, ["one", "two"]);
    let mut targets = get!(desk, Targets, targets).targets;
    assert_eq!(targets.pop().and_then(|target| target.reason), None);
    desk.apply(&id, rewind(&entries[0])).await;
}

/// A request that forgot to name items must not give up all of them.
#[tokio::test]
async fn outbox_gives_up_everything_only_if_asked_for_all() {
    let desk = Desk::new().await;
    for request in [Request::OutboxDrop(OutboxItems::default()), Request::OutboxRetry(OutboxItems::default())]
    {
        let Reply::Outbox(outbox) = desk.does(request).await else { panic!("another reply") };
        assert_eq!(outbox.changed, Some(0));
    }
    serde_json::from_str::<OutboxItems>("{}").expect_err("the items must be named");
}
