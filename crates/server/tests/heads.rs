//! Two clients of one owner: who has not seen what the other did is refused with the head now, and only where it
//! matters.

use std::sync::Arc;

use retake_wire::request::Apply;
use retake_wire::{Action, MarkVerb, ProblemKind, Reply, Request, Role};

use super::world::{Desk, get, mark, rewind, said};

fn at(of: &str, head: &str, since: bool, action: Action) -> Request {
    Request::Apply(Apply {
        conversation: of.into(),
        action,
        head: Some(head.into()),
        since,
        files: retake_wire::FilesWish::default(),
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
    assert_eq!((done.taken_back.messages, desk.texts(&id).await.len()), (3, 2), "also what arrived since");
}

#[tokio::test]
async fn what_does_not_move_needs_no_new_head() {
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
async fn who_answers_what_was_taken_back_is_refused() {
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
async fn many_clients_at_once_lose_nothing() {
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
