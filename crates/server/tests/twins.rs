//! Equal requests with one key, sent concurrently over separate sockets: both get the same receipt, and the effect happens
//! once.

use futures::StreamExt;
use futures::future::join;
use retake_wire::reply::Receipt;
use retake_wire::request::{Apply, ConversationTarget, Create, Edit, Fork, ImportStart, List};
use retake_wire::{
    Action, Attached, Client, Ended, MarkVerb, Outcome, Part, Permit, Reply, Request, Role, Run, RunEvent,
    RunStart,
};

use reqwest::Method;
use retake_wire::http::REQUEST_ID;
use serde_json::{Value, json};

use super::http::Asking;
use super::world::{Desk, get, label, mark, rewind, said};

/// The number of pairs of each kind of request.
const ROUNDS: usize = 12;

fn keyed(action: Action, head: &str) -> Apply {
    Apply {
        conversation: String::new(),
        action,
        head: Some(head.to_owned()),
        since: false,
        files: Default::default(),
        request_id: Some("twin".into()),
    }
}

/// Every kind of request with a key, by its name. Its preconditions are set up first.
async fn twin(desk: &Desk, kind: &str, of: &str, entries: &[String]) -> Request {
    let (last, first) = (&entries[2], &entries[0]);
    let apply = async |action: Action| {
        let head = desk.info(of).await.head;
        Request::Apply(Apply { conversation: of.to_owned(), ..keyed(action, &head) })
    };
    let key = || Some("twin".to_owned());
    match kind {
        "rewind" => apply(rewind(last)).await,
        "undo" => apply(Action::Undo { count: 1 }).await,
        "undo 2" => apply(Action::Undo { count: 2 }).await,
        "redo" => {
            desk.apply(of, Action::Undo { count: 1 }).await;
            apply(Action::Redo { count: 1 }).await
        }
        "restore" => {
            let head = desk.info(of).await.head;
            desk.apply(of, rewind(last)).await;
            apply(Action::Restore { head }).await
        }
        "hide" => apply(mark(MarkVerb::Hide, first)).await,
        "drop" => apply(mark(MarkVerb::Drop, first)).await,
        "show what is shown" => apply(mark(MarkVerb::Show, first)).await,
        "fold" => {
            let (from, to) = (first.clone(), entries[1].clone());
            apply(Action::Fold { from, to, summary: "in short".into() }).await
        }
        "label" => apply(label(first, "here")).await,
        "erase" => apply(Action::Erase { entries: vec![first.clone()], matching: None }).await,
        "say" => {
            let say = said(of, Role::User, "five");
            Request::Say(request_of(say))
        }
        "edit" => Request::Edit(Edit {
            conversation: of.to_owned(),
            entry: last.clone(),
            parts: vec![Part::text("drei")],
            attached: Attached::Kept,
            files: Default::default(),
            head: Some(desk.info(of).await.head),
            request_id: key(),
        }),
        "fork" => Request::Fork(Fork {
            conversation: of.to_owned(),
            entry: Some(last.clone()),
            title: None,
            request_id: Some(format!("fork-of-{of}")),
        }),
        "create" => {
            Request::Create(Create { title: None, folder: None, request_id: Some(format!("after-{of}")) })
        }
        "import" => Request::ImportStart(ImportStart {
            request_id: Some(format!("import-after-{of}")),
            ..ImportStart::default()
        }),
        other => panic!("no twin of {other}"),
    }
}

fn request_of(say: retake_wire::request::Say) -> retake_wire::request::Say {
    retake_wire::request::Say { request_id: Some("twin".into()), ..say }
}

async fn both(desk: &Desk, other: &impl Client, request: Request) -> (Receipt, Receipt) {
    let told = format!("{request:?}");
    let (one, two) = join(desk.client.call(request.clone()), other.call(request)).await;
    match (one, two) {
        (Ok(Reply::Receipt(one)), Ok(Reply::Receipt(two))) => (one, two),
        both => panic!("{told}: {both:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn trial_12_two_equal_concurrent_requests_get_one_receipt() {
    let desk = Desk::fast().await;
    let other = desk.another();
    let kinds = [
        "rewind",
        "undo",
        "undo 2",
        "redo",
        "restore",
        "hide",
        "drop",
        "show what is shown",
        "fold",
        "label",
        "erase",
        "say",
        "edit",
        "fork",
        "create",
        "import",
    ];
    for kind in kinds {
        for _ in 0..ROUNDS {
            let (id, entries) = desk.talk(&["one", "two", "three", "four"]).await;
            let many = get!(desk, Conversations, Request::List(all())).conversations.len();
            let request = twin(&desk, kind, &id, &entries).await;
            let before = desk.info(&id).await.revision;
            let (one, two) = both(&desk, &other, request.clone()).await;
            assert_eq!(one, two, "{kind}");
            let after = desk.info(&id).await.revision - before;
            let made = get!(desk, Conversations, Request::List(all())).conversations.len() - many;
            let once = match kind {
                "fork" | "create" => (0, 1),
                // An import is visible when it has ended.
                "show what is shown" | "import" => (0, 0),
                _ => (1, 0),
            };
            let edits = if kind == "edit" { after.min(1) } else { after };
            assert_eq!((edits, made), once, "the effect of {kind}");
            assert_eq!(get!(desk, Receipt, request), one, "once more, later: {kind}");
        }
    }
}

fn all() -> List {
    List { limit: Some(retake_wire::request::LARGEST_PAGE), ..List::default() }
}

fn run(of: &str, start: RunStart) -> Run {
    Run {
        conversation: of.to_owned(),
        folder: None,
        start,
        files: Default::default(),
        model: None,
        head: None,
        permit: Permit::default(),
        request_id: Some(format!("run-{of}")),
    }
}

/// The starts of a run of each kind.
fn starts(entries: &[String]) -> Vec<(&'static str, RunStart)> {
    let parts = || vec![Part::text("and then")];
    let entry = || entries[2].clone();
    vec![
        ("ask", RunStart::Say { parts: parts(), seen: None, steer: None, piped: false }),
        ("retry", RunStart::Retry { entry: entry() }),
        ("edit", RunStart::Edit { entry: entry(), parts: parts(), attached: Attached::Kept }),
        ("answer", RunStart::Answer),
        ("exec", RunStart::Exec { command: vec!["echo".into(), "hello".into()], say: None }),
    ]
}

/// The first receipt of a run, and its end.
async fn told(client: &dyn Client, run: Run) -> (Option<Box<Receipt>>, Box<Ended>) {
    let events: Vec<_> =
        client.run(run.clone()).await.unwrap_or_else(|no| panic!("{run:?}: {no:?}")).collect().await;
    let began = events.iter().find_map(|event| match event {
        RunEvent::Started { receipt, .. } => Some(receipt.clone()),
        _ => None,
    });
    match events.into_iter().next_back() {
        Some(RunEvent::Ended(ended)) => (began.flatten(), ended),
        other => panic!("it has not ended: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn trial_12_two_equal_interrupting_runs_get_the_events_of_one() {
    let desk = Desk::slow(30).await;
    let other = desk.another();
    for round in 0..ROUNDS {
        let (id, _) = desk.talk(&["one", "two"]).await;
        let say = |text: &str, steer| RunStart::Say {
            parts: vec![Part::text(text)],
            seen: None,
            steer,
            piped: false,
        };
        let mut first = desk.client.run(run(&id, say("three", None))).await.expect("begun");
        let begun = first.next().await.expect("an event");
        assert!(matches!(begun, RunEvent::Started { .. }), "{begun:?}");
        let twin = Run {
            request_id: Some(format!("twin-{round}")),
            ..run(&id, say("what is 2 times 3", Some(retake_wire::Steer::Interrupt)))
        };
        let ((_, one), (_, two)) = join(told(&*desk.client, twin.clone()), told(&other, twin)).await;
        assert_eq!((one.outcome, two.outcome), (Outcome::Succeeded, Outcome::Succeeded), "{round}: {one:?}");
        drop(first);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn trial_12_two_equal_concurrent_runs_get_the_events_of_one() {
    let desk = Desk::fast().await;
    let other = desk.another();
    let folder = desk.folder("work");
    for round in 0..ROUNDS {
        for at in 0..5 {
            let id = desk.create(None, Some(&folder)).await;
            let mut entries = Vec::new();
            for (text, role) in [("one", Role::User), ("two", Role::Assistant), ("three", Role::User)] {
                entries.push(desk.say(&id, role, text).await);
            }
            let (kind, start) = starts(&entries).swap_remove(at);
            if kind != "answer" {
                entries.push(desk.say(&id, Role::Assistant, "four").await);
            }
            let twin = run(&id, start);
            let ((began, ended), (also, end)) =
                join(told(&*desk.client, twin.clone()), told(&other, twin.clone())).await;
            assert_eq!(ended.outcome, Outcome::Succeeded, "{kind} {round}: {ended:?}");
            assert_eq!(end.outcome, ended.outcome, "{kind} {round}: {end:?}");
            let ids = |ended: &Ended| ended.entry.as_ref().map(|entry| entry.id.clone());
            assert_eq!(ids(&end), ids(&ended), "{kind} {round}");
            if kind != "answer" {
                assert_eq!(began, also, "{kind} {round}");
            }
            let (_, again) = told(&*desk.client, twin).await;
            assert_eq!(ids(&again), ids(&ended), "{kind} {round}, once more");
            assert_eq!(again.receipt, ended.receipt, "{kind} {round}, once more");
        }
    }
}

#[tokio::test]
async fn trial_12_repeated_run_request_gets_the_events_of_the_run_at_work() {
    let desk = Desk::new().await;
    let other = desk.another();
    let (id, _) = desk.talk(&["one", "two"]).await;
    let ask =
        run(&id, RunStart::Say { parts: vec![Part::text("three")], seen: None, steer: None, piped: false });
    let mut first = desk.client.run(ask.clone()).await.expect("begun");
    let began = first.next().await.expect("an event");
    assert!(matches!(began, RunEvent::Started { .. }), "{began:?}");
    let mut again = other.run(ask.clone()).await.expect("it is at work");
    assert_eq!(again.next().await, Some(began), "the same receipt");
    let words =
        RunStart::Say { parts: vec![Part::text("other words")], seen: None, steer: None, piped: false };
    let reused = other.run(Run { start: words, ..ask }).await.err().expect("refused");
    assert_eq!(reused.code, "request_reused");
    desk.does(Request::Cancel(ConversationTarget { conversation: id.clone() })).await;
    let ends = |events: Vec<RunEvent>| match events.into_iter().next_back() {
        Some(RunEvent::Ended(ended)) => ended.outcome,
        other => panic!("{other:?}"),
    };
    assert_eq!(ends(first.collect().await), Outcome::RolledBack);
    assert_eq!(ends(again.collect().await), Outcome::RolledBack);
    assert_eq!(desk.texts(&id).await, ["one", "two"]);
}

#[tokio::test]
async fn trial_12_repeated_request_of_a_stopped_command_reports_the_stop() {
    let desk = Desk::new().await;
    let id = desk.create(None, Some(&desk.folder("work"))).await;
    let command = vec!["sleep".into(), "600".into()];
    let exec = run(&id, RunStart::Exec { command, say: None });
    let mut first = desk.client.run(exec.clone()).await.expect("begun");
    let began = first.next().await.expect("an event");
    assert!(matches!(began, RunEvent::Started { .. }), "{began:?}");
    desk.does(Request::Cancel(ConversationTarget { conversation: id })).await;
    let Some(RunEvent::Ended(ended)) = first.collect::<Vec<_>>().await.pop() else { panic!("no end") };
    assert_eq!((ended.outcome, ended.receipt.is_some()), (Outcome::Interrupted, true));
    let (_, again) = told(&*desk.client, exec).await;
    assert_eq!((again.outcome, again.receipt), (ended.outcome, ended.receipt));
}

#[tokio::test]
async fn trial_12_all_senders_of_waiting_messages_get_the_answer() {
    let desk = Desk::new().await;
    let other = desk.another();
    let (id, _) = desk.talk(&["one", "two"]).await;
    let say = |text: &str| RunStart::Say {
        parts: vec![Part::text(text)],
        seen: None,
        steer: Some(retake_wire::Steer::Queue),
        piped: false,
    };
    let mut first = desk.client.run(Run { request_id: None, ..run(&id, say("three")) }).await.expect("begun");
    first.next().await.expect("an event");
    let wait = run(&id, say("four"));
    let (one, two) = join(desk.client.run(wait.clone()), other.run(wait)).await;
    let (mut one, mut two) = (one.expect("it waits"), two.expect("it waits"));
    assert_eq!(one.next().await, Some(RunEvent::Queued));
    assert_eq!(two.next().await, Some(RunEvent::Queued));
    desk.does(Request::Cancel(ConversationTarget { conversation: id.clone() })).await;
    let (one, two) = join(one.next(), two.next()).await;
    assert!(matches!(one, Some(RunEvent::Started { receipt: Some(_), .. })), "{one:?}");
    assert_eq!(one, two);
    desk.does(Request::Cancel(ConversationTarget { conversation: id })).await;
}

#[tokio::test]
async fn trial_12_key_on_a_request_without_idempotency_is_refused() {
    let desk = Desk::new().await;
    let asking = Asking::new(&desk);
    let id = desk.create(None, None).await;
    let of = |path: &str| format!("/v1/conversations/{id}{path}");
    let takes_none = [
        (Method::GET, of("/entries")),
        (Method::GET, of("/events")),
        (Method::GET, of("/export/stream")),
        (Method::PUT, of("/archived")),
        (Method::DELETE, of("/run")),
    ];
    for (method, path) in takes_none {
        let request = asking.request(method.clone(), &path).header(REQUEST_ID, "k");
        let request =
            if method == Method::PUT { request.json(&json!({ "archived": true })) } else { request };
        let told = asking.refused(request).await;
        assert!(told.starts_with("400 ") && told.contains("Idempotency-Key"), "{path}: {told}");
    }
}

/// The routes of the document and its own, each with an example body and whether it takes a key.
fn routes() -> Vec<(Method, String, serde_json::Value, bool)> {
    let document: Value = serde_json::from_str(retake_server::OPENAPI).expect("JSON");
    let mut routes = vec![(Method::GET, "/openapi.json".to_owned(), json!(null), false)];
    for (path, operations) in document["paths"].as_object().expect("paths") {
        for (method, operation) in operations.as_object().expect("operations") {
            let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
            let takes = parameters.iter().any(|it| it["in"] == "header" && it["name"] == REQUEST_ID);
            let of_query = parameters.iter().filter(|it| it["in"] == "query" && it["required"] == true);
            let query = of_query.map(|it| format!("{}={}", it["name"], it["example"]).replace('"', ""));
            // No name in a path is looked up before the key.
            let path = format!("{}?{}", path.replace(['{', '}'], ""), query.collect::<Vec<_>>().join("&"));
            let body = operation["requestBody"]["content"]["application/json"]["example"].clone();
            routes.push((method.to_uppercase().parse().expect("a method"), path, body, takes));
        }
    }
    routes
}

/// No request is carried out: routes with keys report a malformed one, and all others that they take none.
#[tokio::test]
async fn trial_12_every_route_takes_or_refuses_a_key_as_the_document_says() {
    let desk = Desk::new().await;
    let asking = Asking::new(&desk);
    let routes = routes();
    assert_eq!(routes.iter().filter(|(.., takes)| *takes).count(), 11);
    assert!(routes.len() > retake_wire::http::ENDPOINTS.len() + 5, "streams and runs too");
    for (method, path, body, takes) in routes {
        let request =
            asking.request(method.clone(), &path).header(REQUEST_ID, if takes { "a b" } else { "k" });
        let request = if body.is_null() { request } else { request.json(&body) };
        let told = asking.refused(request).await;
        let (says, other) = ("is empty, too long, or has blanks", "doesn't support an Idempotency-Key");
        let (says, other) = if takes { (says, other) } else { (other, says) };
        assert!(
            told.contains(says) && !told.contains(other),
            "{method} {path}, takes a key: {takes}: {told}"
        );
    }
    get!(desk, Status, Request::Status);
}

/// The documented scope and lifetime of a key.
#[tokio::test]
async fn trial_12_scope_and_lifetime_of_a_key_are_as_documented() {
    let desk = Desk::new().await;
    let (one, entries) = desk.talk(&["one", "two"]).await;
    let (two, _) = desk.talk(&["one", "two"]).await;
    let says = |of: &str, text: &str| Request::Say(request_of(said(of, Role::User, text)));
    // A refusal is not stored.
    let gone = Apply { conversation: one.clone(), ..keyed(rewind("t9"), "") };
    desk.refused(Request::Apply(Apply { head: None, ..gone })).await;
    let first = get!(desk, Receipt, says(&one, "three"));
    // Its scope is the conversation, for any kind of request.
    let other = get!(desk, Receipt, says(&two, "other words"));
    assert_ne!(first.entries, other.entries);
    let reused = [
        says(&one, "other words"),
        Request::Apply(Apply { conversation: one.clone(), head: None, ..keyed(rewind(&entries[0]), "") }),
    ];
    for request in reused {
        assert_eq!(desk.refused(request).await.code, "request_reused");
    }
    // Requests that create a conversation have a separate scope.
    let create = |title: &str| {
        let request_id = Some("twin".to_owned());
        Request::Create(Create { title: Some(title.to_owned()), folder: None, request_id })
    };
    let made = get!(desk, Receipt, create("new"));
    assert_eq!(desk.refused(create("newer")).await.code, "request_reused");
    let fork = Request::Fork(Fork {
        conversation: one.clone(),
        entry: None,
        title: None,
        request_id: Some("twin".to_owned()),
    });
    assert_eq!(desk.refused(fork).await.code, "request_reused");
    // It is stored across a restart.
    let desk = desk.gives_way().await;
    assert_eq!(get!(desk, Receipt, says(&one, "three")), first);
    assert_eq!(get!(desk, Receipt, says(&two, "other words")), other);
    assert_eq!(get!(desk, Receipt, create("new")), made);
    assert_eq!(desk.texts(&one).await, ["one", "two", "three"]);
}

#[tokio::test]
async fn trial_12_ambiguous_body_or_key_is_refused_by_name() {
    let desk = Desk::new().await;
    let asking = Asking::new(&desk);
    let post = |kind: &str, body: &'static str| {
        asking.request(Method::POST, "/v1/conversations").header("content-type", kind).body(body)
    };
    let json = "application/json";
    for (request, status, said) in [
        (post(json, r#"{"title": "a", "title": "b"}"#), "400 ", "`title` is given twice"),
        (post("application/json; charset=latin1", "{}"), "415 ", "latin1"),
        (post(json, "{}").header(REQUEST_ID, "a b"), "422 ", "the Idempotency-Key"),
        (post(json, "{}").header(REQUEST_ID, ""), "422 ", "the Idempotency-Key"),
    ] {
        let told = asking.refused(request).await;
        assert!(told.starts_with(status) && told.contains(said) && !told.contains("hint: null"), "{told}");
    }
    for kind in ["application/json; charset=UTF-8", "application/json;charset=\"utf-8\""] {
        assert_eq!(post(kind, "{}").send().await.expect("an answer").status(), 200, "{kind}");
    }
}

#[tokio::test]
async fn trial_12_repeated_request_gets_its_receipt_after_its_message_was_hidden() {
    let desk = Desk::new().await;
    for verb in [MarkVerb::Hide, MarkVerb::Drop] {
        let (id, entries) = desk.talk(&["one", "two"]).await;
        let head = desk.info(&id).await.head;
        let back = Apply { conversation: id.clone(), ..keyed(rewind(&entries[0]), &head) };
        let first = get!(desk, Receipt, Request::Apply(back.clone()));
        assert!(first.composer.is_some());
        desk.apply(&id, Action::Undo { count: 1 }).await;
        desk.apply(&id, mark(verb, &entries[0])).await;
        let again = get!(desk, Receipt, Request::Apply(back));
        assert_eq!(again, Receipt { composer: None, ..first }, "{verb:?}");
    }
}

#[tokio::test]
async fn trial_15_mark_on_a_hidden_message_is_refused_or_applies_to_the_turn() {
    let desk = Desk::new().await;
    let id = super::whose::turns(&desk, &["true"]).await;
    let entries: Vec<String> = desk.timeline(&id).await.1.into_iter().map(|entry| entry.id).collect();
    desk.apply(&id, mark(MarkVerb::Hide, &entries[0])).await;
    for verb in [MarkVerb::Exclude, MarkVerb::Include] {
        let action = mark(verb, &entries[0]);
        let apply = Apply { conversation: id.clone(), head: None, request_id: None, ..keyed(action, "") };
        let refused = desk.refused(Request::Apply(apply)).await;
        assert_eq!(refused.code, "not_visible", "{verb:?}");
    }
    desk.apply(&id, mark(MarkVerb::Drop, &entries[0])).await;
    assert_eq!(desk.timeline(&id).await.1.len(), 0, "an entry names its turn");
}
