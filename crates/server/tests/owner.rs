//! The owner itself: its state, and that it stops on request.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::StreamExt;
use retake_wire::request::ConversationTarget;
use retake_wire::{Follow, Outcome, Request, RunEvent};

use super::events::saying;
use super::world::{Desk, get, variant};

/// The replies to requests that only a serving owner answers.
pub(super) async fn answered() -> BTreeMap<String, String> {
    let desk = Desk::new().await;
    let owner = desk.owner.clone();
    let told = tokio::spawn(async move { owner.told_to_stop().await });
    while !get!(desk, Status, Request::Status).serves {
        tokio::task::yield_now().await;
    }
    let reply = desk.does(Request::Stop).await;
    tokio::time::timeout(Duration::from_secs(30), told).await.expect("it is told").expect("no panic");
    BTreeMap::from([(variant(&Request::Stop), variant(&reply))])
}

#[tokio::test]
async fn status_describes_the_owner() {
    let desk = Desk::new().await;
    let id = desk.create(None, None).await;
    let idle = get!(desk, Status, Request::Status);
    assert_eq!(idle.mode, Some(retake_wire::Mode::Ask), "how far the agent may go in what begins");
    assert_eq!((idle.pid, &*idle.version), (std::process::id(), env!("CARGO_PKG_VERSION")));
    assert_eq!((idle.running.len(), idle.following, idle.serves), (0, 0, false));
    let refused = desk.refused(Request::Stop).await;
    assert_eq!(refused.code, "not_serving", "what belongs to a terminal is not stopped by others");
    let follow = Follow { conversation: Some(id.clone()), since: None };
    let mut stream = desk.client.follow(follow).await.expect("followed");
    stream.next().await.expect("a first event");
    let run = desk.client.run(saying(&id, "go on")).await.expect("started");
    let busy = get!(desk, Status, Request::Status);
    assert_eq!((busy.running, busy.following), (vec![id.clone()], 1));
    desk.does(Request::Cancel(ConversationTarget { conversation: id })).await;
    drop(run);
}

/// Active runs get some time; those that do not end are stopped, and their output so far is stored.
#[tokio::test]
async fn finishing_owner_stops_runs_and_loses_nothing() {
    let desk = Desk::new().await;
    let id = desk.create(None, None).await;
    let mut run = desk.client.run(saying(&id, "hello there")).await.expect("started");
    while !matches!(run.next().await, Some(RunEvent::Text { .. })) {}
    desk.owner.finish(Duration::from_millis(50)).await;
    let last = run.collect::<Vec<_>>().await.pop();
    let Some(RunEvent::Ended(ended)) = last else { panic!("{last:?}") };
    assert_eq!(ended.outcome, Outcome::Interrupted);
    let (_, entries) = desk.timeline(&id).await;
    assert!(entries.len() == 2 && entries[1].flags.interrupted, "{entries:?}");
}

/// A new conversation's mode is that of the current settings file, not that at the owner's start.
#[tokio::test]
async fn trial_17_an_owner_says_the_mode_that_the_settings_file_has_now() {
    let desk = Desk::new().await;
    let file = desk.file("config.toml");
    let status = get!(desk, Status, Request::Status);
    assert_eq!(status.config_file.as_deref(), file.to_str(), "which file it reads");
    let text = std::fs::read_to_string(&file).expect("read");
    std::fs::write(&file, text + "[permissions]\nmode = \"allow-edits\"\n").expect("written");
    assert_eq!(get!(desk, Status, Request::Status).mode, Some(retake_wire::Mode::AllowEdits));
}
