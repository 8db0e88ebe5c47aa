//! Two clients of one conversation, over sockets of their own: a change of one reaches the other as far as it is relevant, and a
//! conflicting request succeeds for one.

use futures::StreamExt;
use retake_wire::request::{Apply, Targets};
use retake_wire::{Action, Client as _, Event, Follow, Problem, Reply, Request, Role};

use super::world::{Desk, get, loses_the_reply, rewind};

pub(crate) fn back(of: &str, action: Action, head: &str, request_id: Option<&str>) -> Request {
    Request::Apply(Apply {
        conversation: of.into(),
        action,
        head: Some(head.into()),
        since: false,
        files: Default::default(),
        request_id: request_id.map(str::to_owned),
    })
}

fn targets(of: &str) -> Request {
    Request::Targets(Targets { conversation: of.into(), limit: None, before: None })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_two_rewinds_from_one_head_wins_and_the_other_gets_the_new_head() {
    let desk = Desk::new().await;
    let other = desk.another();
    for round in 0..10 {
        let (id, entries) = desk.talk(&["one", "two", "three", "four", "five", "six"]).await;
        let head = desk.info(&id).await.head;
        let (far, near) =
            (back(&id, rewind(&entries[2]), &head, None), back(&id, rewind(&entries[4]), &head, None));
        let (far, near) = match round % 2 {
            0 => tokio::join!(desk.client.call(far), other.call(near)),
            _ => {
                let (near, far) = tokio::join!(other.call(near), desk.client.call(far));
                (far, near)
            }
        };
        let (won, lost, left): (Reply, Problem, &[&str]) = match (far, near) {
            (Ok(won), Err(lost)) => (won, lost, &["one"]),
            (Err(lost), Ok(won)) => (won, lost, &["three", "one"]),
            both => panic!("exactly one wins: {both:?}"),
        };
        let Reply::Receipt(won) = won else { panic!("{won:?}") };
        assert!(["stale_head", "not_on_path"].contains(&&*lost.code), "{lost:?}");
        assert_eq!(lost.head.as_deref(), Some(&*won.head), "{lost:?}");
        let list = get!(desk, Targets, targets(&id));
        let previews: Vec<_> = list.targets.iter().map(|target| &*target.preview).collect();
        assert_eq!((&*list.head, &*previews), (&*won.head, left));
        // It works with the new head and an entry of the new list.
        let again = other.call(back(&id, rewind(&list.targets[0].entry), &list.head, None)).await;
        again.expect("rewound");
    }
}

#[tokio::test]
async fn repeated_request_gets_the_lost_reply_and_rewinds_once() {
    let desk = Desk::new().await;
    let (id, entries) = desk.talk(&["one", "two", "three", "four"]).await;
    let head = desk.info(&id).await.head;
    let request = back(&id, rewind(&entries[2]), &head, Some("once"));
    loses_the_reply(&desk.reach(), &request).await;
    assert_eq!(desk.texts(&id).await, ["one", "two"], "it is done");
    desk.say(&id, Role::User, "drei").await;
    let receipt = get!(desk, Receipt, request);
    assert_eq!((receipt.head.as_str(), receipt.timeline.taken_back.messages), ("1.4", 2), "as it was then");
    assert_eq!(receipt.composer.map(|composer| composer.text), Some("three".to_owned()));
    assert_eq!(desk.texts(&id).await, ["one", "two", "drei"], "nothing is taken back a second time");
    let other = back(&id, rewind(&entries[0]), &head, Some("once"));
    assert_eq!(desk.refused(other).await.code, "request_reused");
}

#[tokio::test]
async fn client_that_was_away_gets_the_difference() {
    let desk = Desk::new().await;
    let other = desk.another();
    let (id, entries) = desk.talk(&["one", "two", "three", "four"]).await;
    let follow = |since| Follow { conversation: Some(id.clone()), since };
    let mut stream = other.follow(follow(None)).await.expect("followed");
    let first = stream.next().await.expect("a first event");
    assert!(matches!(&first.event, Event::Snapshot(all) if all.entries.len() == 4), "{first:?}");
    drop(stream);
    let rewound = desk.say(&id, Role::User, "five").await;
    desk.say(&id, Role::Assistant, "six").await;
    desk.apply(&id, rewind(&rewound)).await;
    desk.apply(&id, rewind(&entries[2])).await;
    let new = desk.say(&id, Role::User, "drei").await;
    let mut stream = other.follow(follow(first.id)).await.expect("followed");
    let told = stream.next().await.expect("what changed");
    let Event::Changed(changed) = told.event else { panic!("{told:?}") };
    let changes = changed.changes;
    assert_eq!(changes.gone, entries[2..], "what it has seen");
    let came: Vec<_> = changes.came.iter().map(|entry| &entry.id).collect();
    assert_eq!(came, [&new], "not what came and went meanwhile");
    assert!(changes.changed.is_empty(), "{changes:?}");
    assert_eq!(changes.revision, desk.info(&id).await.revision);
}
