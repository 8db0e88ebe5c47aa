//! Two clients of one owner: a client with a stale head is refused and gets the current one, but only where it matters.

use std::sync::Arc;

use futures::StreamExt;
use retake_wire::request::{Apply, ConversationTarget};
use retake_wire::{
    Action, Attached, MarkVerb, Part, Permit, ProblemKind, Reply, Request, Role, Run, RunStart,
};

use super::events::saying;
use super::world::{Desk, get, mark, rewind, said};

fn at(of: &str, head: &str, since: bool, action: Action) -> Request {
    Request::Apply(Apply {
        conversation: of.into(),
        action,
        head: Some(head.into()),
        since,
        files: retake_wire::FileOptions::default(),
        request_id: None,
    })
}

#[tokio::test]
async fn a_stale_head_is_refused_with_the_new_one() {
    let desk = Desk::new().await;
    let (id, entries) = desk.talk(&["one", "two", "three", "four"]).await;
    let other = Arc::clone(&desk.client);
    let seen = desk.info(&id).await.head;
    other.call(Request::Say(said(&id, Role::User, "five"))).await.expect("said");
    let before = desk.info(&id).await;
    let moves = [
        rewind(&entries[2]),
        Action::Edit { entry: entries[0].clone() },
        Action::Undo { count: 1 },
        Action::Restore { head: "0.1".into() },
        Action::Checkout { entry: Some(entries[1].clone()) },
    ];
    for action in moves {
        let problem = desk.refused(at(&id, &seen, false, action)).await;
        assert_eq!((problem.kind, &*problem.code), (ProblemKind::Stale, "stale_head"));
        assert_eq!(problem.head.as_ref(), Some(&before.head));
        assert!(problem.hint.is_some());
    }
    assert_eq!(desk.info(&id).await, before);
    let done = get!(desk, Receipt, at(&id, &seen, true, rewind(&entries[2])));
    assert_eq!(
        (done.timeline.taken_back.messages, desk.texts(&id).await.len()),
        (3, 2),
        "also what arrived since"
    );
}

/// A stale head is reported first: whether anything would change depends on the current state.
#[tokio::test]
async fn stale_head_is_reported_even_if_nothing_would_change() {
    let desk = Desk::fast().await;
    let folder = desk.file("work");
    std::fs::create_dir(&folder).expect("made");
    for folder in [None, folder.to_str()] {
        let id = desk.create(None, folder).await;
        let permit = Permit { mode: None, allow: vec!["shell(touch)".into()] };
        let run = Run { permit, ..saying(&id, "run `touch made`") };
        drop(desk.client.run(run).await.expect("started").collect::<Vec<_>>().await);
        let mut stale = vec!["0.0".to_owned(), desk.info(&id).await.head];
        let undo = || Action::Undo { count: 1 };
        for now in ["undone", "redone", "said"] {
            match now {
                "undone" => drop(desk.apply(&id, undo()).await),
                "redone" => drop(desk.apply(&id, Action::Redo { count: 1 }).await),
                _ => drop(desk.say(&id, Role::User, "more").await),
            }
            let head = desk.info(&id).await.head;
            let restore = Action::Restore { head: "9.9".into() };
            let rewind = rewind("t9");
            for seen in &stale {
                for action in [undo(), Action::Redo { count: 1 }, Action::Redo { count: 3 }, restore.clone()]
                {
                    let problem = desk.refused(at(&id, seen, false, action.clone())).await;
                    let told = (&*problem.code, problem.head.as_ref());
                    assert_eq!(told, ("stale_head", Some(&head)), "{now}: {action:?}");
                }
                let problem = desk.refused(at(&id, seen, false, rewind.clone())).await;
                assert_eq!((&*problem.code, problem.head.as_ref()), ("unknown_entry", Some(&head)));
            }
            stale.push(head);
        }
    }
}

/// Whatever the reason for refusing a run: a client with a stale head gets the current one.
#[tokio::test]
async fn refused_run_reports_the_current_head() {
    let desk = Desk::new().await;
    let (id, entries) = desk.talk(&["one", "two", "three", "four"]).await;
    let stale = desk.info(&id).await.head;
    desk.apply(&id, rewind(&entries[2])).await;
    let retry = |entry: &str| RunStart::Retry { entry: entry.into() };
    let edit = |entry: &str, text: &str| RunStart::Edit {
        entry: entry.into(),
        parts: vec![Part::text(text)],
        attached: Attached::Kept,
    };
    let run = |start: RunStart, model: Option<&str>| {
        let (head, model) = (Some(stale.clone()), model.map(str::to_owned));
        desk.client.run(Run { start, head, model, ..saying(&id, "") })
    };
    let rows = [
        ("stale_head", retry(&entries[1]), None),
        ("stale_head", edit(&entries[0], "eins"), None),
        ("stale_head", retry(&entries[3]), None),
        ("unknown_entry", retry("nonsense"), None),
        ("unknown_entry", edit("nonsense", "eins"), None),
        ("no_model", retry(&entries[1]), Some("nonsense")),
    ];
    let refused = async |code: &str, start: RunStart, model: Option<&str>| {
        let problem = run(start.clone(), model).await.err().expect("it is refused");
        let told = (&*problem.code, problem.head.clone());
        assert_eq!(told, (code, Some(desk.info(&id).await.head)), "{start:?}: {problem:?}");
    };
    for (code, start, model) in rows {
        refused(code, start, model).await;
    }
    let going = desk.client.run(saying(&id, "go on")).await.expect("started");
    refused("run_active", retry(&entries[1]), None).await;
    refused("run_active", edit(&entries[0], "eins"), None).await;
    desk.does(Request::Cancel(ConversationTarget { conversation: id.clone() })).await;
    drop(going.collect::<Vec<_>>().await);
}

#[tokio::test]
async fn action_that_moves_nothing_accepts_an_old_head() {
    let desk = Desk::new().await;
    let (id, entries) = desk.talk(&["one", "two"]).await;
    let seen = desk.info(&id).await.head;
    desk.say(&id, Role::User, "three").await;
    get!(desk, Receipt, at(&id, &seen, false, mark(MarkVerb::Hide, &entries[0])));
    let hide = Action::Mark {
        verb: MarkVerb::Exclude,
        entries: vec!["@".into()],
        range: false,
        seen: Some("hidden".into()),
    };
    assert_eq!(desk.refused(at(&id, &seen, false, hide)).await.code, "stale_mark");
    assert_eq!(desk.texts(&id).await, ["two", "three"]);
}

#[tokio::test]
async fn answer_to_a_message_taken_back_is_refused() {
    let desk = Desk::new().await;
    let (id, entries) = desk.talk(&["one", "two", "three"]).await;
    desk.apply(&id, rewind(&entries[2])).await;
    let say = |seen: &str| {
        let mut say = said(&id, Role::User, "and?");
        say.seen = Some(seen.to_owned());
        Request::Say(say)
    };
    let problem = desk.refused(say(&entries[2])).await;
    assert_eq!((problem.kind, &*problem.code), (ProblemKind::Refused, "not_on_path"));
    desk.does(say(&entries[1])).await;
    assert_eq!(desk.texts(&id).await, ["one", "two", "and?"]);
}

#[tokio::test]
async fn concurrent_clients_lose_nothing() {
    let desk = Desk::new().await;
    let (id, _) = desk.talk(&[]).await;
    let says = (0..20).map(|number| {
        let (client, id) = (Arc::clone(&desk.client), id.clone());
        tokio::spawn(
            async move { client.call(Request::Say(said(&id, Role::User, &number.to_string()))).await },
        )
    });
    let mut heads = Vec::new();
    for say in says.collect::<Vec<_>>() {
        match say.await.expect("joined") {
            Ok(Reply::Receipt(receipt)) => heads.push(receipt.head),
            other => panic!("{other:?}"),
        }
    }
    heads.sort();
    heads.dedup();
    assert_eq!((heads.len(), desk.texts(&id).await.len()), (20, 20));
}

#[tokio::test]
async fn conversation_needs_an_existing_folder_but_a_repeated_request_gets_its_receipt_without_it() {
    let desk = Desk::fast().await;
    let folder = desk.folder("work");
    let create = |id: &str| {
        let (folder, request_id) = (Some(folder.clone()), Some(id.to_owned()));
        Request::Create(retake_wire::request::Create { title: None, folder, request_id })
    };
    let run = |id: &str| Run {
        conversation: String::new(),
        folder: Some(folder.clone()),
        request_id: Some(id.to_owned()),
        ..saying("", "hello there")
    };
    let made = get!(desk, Receipt, create("one"));
    drop(desk.client.run(run("begun")).await.expect("started").collect::<Vec<_>>().await);
    std::fs::remove_dir(&folder).expect("removed");
    assert_eq!(get!(desk, Receipt, create("one")).conversation, made.conversation);
    drop(desk.client.run(run("begun")).await.expect("it was begun before").collect::<Vec<_>>().await);
    assert_eq!(desk.refused(create("two")).await.code, "folder_missing");
    let refused = desk.client.run(run("another")).await.err().expect("refused");
    assert_eq!((refused.code.as_str(), refused.kind), ("folder_missing", ProblemKind::Refused));
}
