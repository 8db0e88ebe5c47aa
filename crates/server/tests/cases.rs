//! The rewind cases as seen by a second client: two clients of one owner, each over HTTP and with a stream of its own.

use std::sync::Arc;

use retake_wire::reply::{Draft, Receipt};
use retake_wire::request::{DraftOf, SetDraft, Targets};
use retake_wire::{Action, Client, HttpClient, Part, Problem, Reply, Request, Role};

use super::events::Copy;
use super::together;
use super::whose::turns;
use super::world::{Desk, get, label, rewind, text};

fn back(of: &str, action: Action, head: &str) -> Request {
    together::back(of, action, head, None)
}

async fn done(client: &HttpClient, request: Request) -> Receipt {
    match client.call(request).await {
        Ok(Reply::Receipt(receipt)) => receipt,
        other => panic!("{other:?}"),
    }
}

async fn refused(client: &HttpClient, request: Request) -> Problem {
    client.call(request).await.expect_err("it is refused")
}

/// The targets of a client, and the head of the list.
async fn targets(client: &HttpClient, of: &str) -> (String, Vec<String>, Vec<String>) {
    let request = Request::Targets(Targets { conversation: of.into(), limit: None, before: None });
    match client.call(request).await {
        Ok(Reply::Targets(list)) => {
            let (entries, previews) = list.targets.into_iter().map(|it| (it.entry, it.preview)).unzip();
            (list.head, entries, previews)
        }
        other => panic!("{other:?}"),
    }
}

async fn draft(desk: &Desk, of: &str) -> Draft {
    get!(desk, Draft, Request::Draft(DraftOf { conversation: of.to_owned(), ..DraftOf::default() }))
}

/// Sets the content of a client's composer.
async fn types(client: &HttpClient, of: &str, words: &str) {
    let parts = vec![Part::text(words)];
    let set = SetDraft { conversation: of.to_owned(), parts, ..SetDraft::default() };
    client.call(Request::SetDraft(set)).await.expect("kept");
}

/// Two clients, each with a stream that has caught up.
async fn two(desk: &Desk, of: &str) -> [(HttpClient, Copy); 2] {
    let one = async || {
        let client = desk.another();
        let mut copy = Copy::by(Arc::new(desk.another()), of).await;
        copy.catches_up(desk, of).await;
        copy.heard.clear();
        (client, copy)
    };
    [one().await, one().await]
}

#[tokio::test]
async fn rewind_case_45_a_second_client_sees_the_rewind_and_keeps_its_composer() {
    let desk = Desk::new().await;
    let id = turns(&desk, &["echo 1 > a", "echo 2 > a"]).await;
    let [(first, mut one), (second, mut other)] = two(&desk, &id).await;
    types(&second, &id, "half a sentence").await;
    let head = desk.info(&id).await.head;
    let receipt = done(&first, back(&id, rewind("t2"), &head)).await;
    assert_eq!(receipt.files.map(|files| files.counts.reverted), Some(1));
    for copy in [&mut one, &mut other] {
        copy.catches_up(&desk, &id).await;
        let said: Vec<String> = copy.entries.iter().map(text).collect();
        assert_eq!((said.len(), said[0].as_str()), (3, "please echo 1 > a"));
    }
    let kept = draft(&desk, &id).await;
    assert_eq!(kept.parts, [Part::text("half a sentence")]);
    assert!(other.drafts.iter().all(|draft| draft.parts == kept.parts), "{:?}", other.drafts);
    // Later events arrive, too.
    done(&first, back(&id, Action::Undo { count: 1 }, &receipt.head)).await;
    for copy in [&mut one, &mut other] {
        copy.catches_up(&desk, &id).await;
        assert_eq!(copy.entries.len(), 6);
    }
    assert_eq!(draft(&desk, &id).await, kept);
}

#[tokio::test]
async fn rewind_case_46_the_text_is_for_who_asked_and_nothing_runs_by_itself() {
    let desk = Desk::fast().await;
    let (id, entries) = desk.talk(&["one", "two", "three words", "four"]).await;
    let [(first, mut one), (_, mut other)] = two(&desk, &id).await;
    let head = desk.info(&id).await.head;
    let receipt = done(&first, back(&id, rewind(&entries[2]), &head)).await;
    assert_eq!(receipt.composer.map(|composer| composer.text), Some("three words".to_owned()));
    // The event of a run would have to come before later operations.
    done(&first, back(&id, label(&entries[0], "behind it"), &receipt.head)).await;
    for copy in [&mut one, &mut other] {
        while copy.entries.first().and_then(|entry| entry.label.as_deref()) != Some("behind it") {
            copy.hears().await;
        }
        assert_eq!(copy.entries.iter().map(text).collect::<Vec<_>>(), ["one", "two"]);
        assert!(copy.drafts.is_empty(), "{:?}", copy.drafts);
        assert!(copy.said.is_empty() && !copy.running, "{:?}", copy.said);
        assert!(!copy.heard.iter().any(|event| event.contains("three words")), "{:?}", copy.heard);
    }
    assert!(draft(&desk, &id).await.parts.is_empty(), "it is in no composer but that of who asked");
    let now = desk.info(&id).await;
    assert!(!now.running && now.counts.messages == 2, "{now:?}");
}

#[tokio::test]
async fn rewind_case_32_a_target_that_was_chosen_while_another_rewinds_is_refused_with_a_new_list() {
    let desk = Desk::new().await;
    let id = turns(&desk, &["echo 1 > a", "echo 2 > a", "echo 3 > a"]).await;
    let [(first, mut one), (second, mut other)] = two(&desk, &id).await;
    let content = || std::fs::read_to_string(desk.file("work").join("a")).expect("a file");
    let (head, entries, _) = targets(&first, &id).await;
    // Newest first: one that the other client takes away, and one that stays.
    let won = done(&second, back(&id, rewind("t3"), &head)).await;
    for (target, code) in [(&entries[0], "not_on_path"), (&entries[1], "stale_head")] {
        let lost = refused(&first, back(&id, rewind(target), &head)).await;
        assert!(lost.code == code || lost.code == "stale_head", "{lost:?}");
        assert_eq!(lost.head.as_deref(), Some(&*won.head), "{lost:?}");
        assert_eq!((content().as_str(), desk.info(&id).await.head), ("2\n", won.head.clone()));
    }
    for copy in [&mut one, &mut other] {
        copy.catches_up(&desk, &id).await;
        assert_eq!(copy.entries.iter().filter(|entry| entry.role == Role::User).count(), 2);
    }
    let (head, entries, previews) = targets(&first, &id).await;
    assert_eq!(
        (&head, previews.as_slice()),
        (&won.head, &["please echo 2 > a", "please echo 1 > a"].map(str::to_owned)[..])
    );
    done(&first, back(&id, rewind(&entries[0]), &head)).await;
    assert_eq!(content(), "1\n");
}
