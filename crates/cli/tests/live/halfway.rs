//! The owner killed between the decision of a rewind with files and its end: subscribers get its event once, when it is
//! done.

use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::BoxStream;
use retake_wire::reply::Changes;
use retake_wire::request::{Apply, List};
use retake_wire::{Action, Client as _, Event, Follow, HttpClient, NumberedEvent, Reply, Request};
use rustix::process::Signal;
use tokio::runtime::Runtime;
use tokio::time::timeout;

use super::harness::{World, until};
use super::owned::Serving;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Just after the decision, when the files are there, and when only the record is missing.
const POINTS: [&str; 3] = ["apply.take", "apply.carried", "apply.finished"];

type Stream = BoxStream<'static, NumberedEvent>;

fn client(world: &World) -> HttpClient {
    HttpClient::new(world.reach()).expect("a client")
}

async fn next(stream: &mut Stream) -> Option<NumberedEvent> {
    timeout(PATIENCE, stream.next()).await.expect("in time")
}

/// The next change, with its id.
async fn change(stream: &mut Stream) -> (Option<String>, Changes) {
    loop {
        let told = next(stream).await.expect("it goes on");
        match told.event {
            Event::Changed(changed) => return (told.id, changed.changes),
            Event::Snapshot(_) => panic!("the difference is known"),
            _ => {}
        }
    }
}

/// The only conversation.
async fn only(client: &HttpClient) -> String {
    match client.call(Request::List(List::default())).await {
        Ok(Reply::Conversations(mut list)) => list.conversations.remove(0).id,
        other => panic!("{other:?}"),
    }
}

/// Subscribes, requests a rewind, and loses the owner during it; returns the last state.
async fn loses_its_owner(world: &World, back: &Request, follow: &Follow) -> (Option<String>, Vec<String>) {
    let client = client(world);
    let mut stream = client.follow(follow.clone()).await.expect("followed");
    let first = next(&mut stream).await.expect("a first event");
    let Event::Snapshot(all) = first.event else { panic!("{first:?}") };
    let lost = client.call(back.clone()).await.expect_err("nobody is there to answer");
    assert_eq!(lost.code, "owner_lost");
    while let Some(told) = next(&mut stream).await {
        assert!(!matches!(told.event, Event::Changed(_)), "it is not done: {told:?}");
    }
    (first.id, all.entries.into_iter().map(|entry| entry.id).collect())
}

/// The same request is not carried out again, and later events follow.
async fn hears_of_it_once(world: &World, back: &Request, follow: Follow, had: &[String]) {
    let client = client(world);
    let conversation = follow.conversation.clone();
    let mut stream = client.follow(follow).await.expect("followed");
    let (id, changes) = change(&mut stream).await;
    assert_eq!((&*changes.gone, changes.came.len(), changes.changed.len()), (had, 0, 0));
    assert_eq!(id, Some(changes.revision.to_string()));
    assert!(matches!(client.call(back.clone()).await, Ok(Reply::Receipt(receipt)) if !receipt.unchanged));
    world.does(&["say", "and now"]);
    let (_, next) = change(&mut stream).await;
    assert_eq!((next.came.len(), next.gone.len()), (1, 0), "{next:?}");
    let again = Follow { conversation, since: id };
    let mut again = client.follow(again).await.expect("followed");
    assert_eq!(change(&mut again).await.1, next);
}

#[test]
fn a_subscriber_gets_a_rewind_once_in_which_the_owner_was_killed() {
    let runtime = Runtime::new().expect("a runtime");
    for point in POINTS {
        let world = World::working(&[("a", "one\n")]);
        let mut doomed = Serving::doomed(&world, point);
        world.does(&["ask", "--mode", "allow-all", "run `touch made`"]);
        assert_eq!(world.read("made").as_deref(), Some(""));
        let conversation = runtime.block_on(async { only(&client(&world)).await });
        let follow = Follow { conversation: Some(conversation.clone()), since: None };
        let back = Request::Apply(Apply {
            conversation,
            action: Action::Rewind { entry: "t1".into() },
            head: None,
            since: false,
            files: Default::default(),
            request_id: Some("back".into()),
        });
        let (since, had) = runtime.block_on(loses_its_owner(&world, &back, &follow));
        until("it is killed", || doomed.has_ended());
        let serving = Serving::start(&world, &[]);
        runtime.block_on(hears_of_it_once(&world, &back, Follow { since, ..follow }, &had));
        assert_eq!((world.read("made"), world.read("a").as_deref()), (None, Some("one\n")), "{point}");
        serving.signal(Signal::TERM);
        assert!(serving.ended());
    }
}
