//! A subscriber of the list gets an event for each conversation that is new or has changed.

use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;
use retake_wire::request::{List, SetArchived};
use retake_wire::{Event, Follow, NumberedEvent, Request, Role};

use super::world::{Desk, get};

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(30);

#[tokio::test]
async fn reconnected_subscriber_of_the_list_gets_the_changes() {
    let desk = Desk::new().await;
    let (old, _) = desk.talk(&["one"]).await;
    let mut stream = desk.client.follow(Follow::default()).await.expect("followed");
    let first = stream.next().await.expect("a first event");
    let Event::List(list) = &first.event else { panic!("{first:?}") };
    assert_eq!(list.conversations.iter().map(|of| &*of.id).collect::<Vec<_>>(), [&*old]);
    let new = desk.create(Some("new"), None).await;
    let listed = async |stream: &mut BoxStream<'static, NumberedEvent>, id: &str| loop {
        let told = tokio::time::timeout(PATIENCE, stream.next()).await.expect("in time").expect("it goes on");
        match &told.event {
            Event::Listed(of) if of.id == id => return told,
            Event::Listed(_) => {}
            other => panic!("{other:?}"),
        }
    };
    let told = listed(&mut stream, &new).await;
    desk.say(&old, Role::User, "more").await;
    listed(&mut stream, &old).await;
    let since = told.id.clone();
    let mut again = desk.client.follow(Follow { conversation: None, since }).await.expect("followed");
    listed(&mut again, &old).await;
    desk.does(Request::SetArchived(SetArchived { conversation: old.clone(), archived: true })).await;
    let told = listed(&mut again, &old).await;
    assert!(
        matches!(told.event, Event::Listed(of) if of.archived),
        "who has a list hears that it is put away"
    );
    let gone = Follow { conversation: None, since: Some("another.7".to_owned()) };
    let first = desk.client.follow(gone).await.expect("followed").next().await.expect("a first event");
    assert!(matches!(first.event, Event::List(list) if list.conversations.len() == 1));
}

#[tokio::test]
async fn list_of_a_folder_says_whether_it_is_never_captured() {
    let desk = Desk::new().await;
    let data = desk.file("data");
    let project = desk.folder("project");
    let listed = async |folder: Option<&str>| {
        let list = List { folder: folder.map(str::to_owned), ..List::default() };
        get!(desk, Conversations, Request::List(list)).never_captured
    };
    for folder in ["/", data.to_str().expect("UTF-8")] {
        let why = listed(Some(folder)).await.expect("it is never captured");
        assert_eq!((&*why.code.to_string(), &why.fields["path"]), ("no_workspace", &folder.into()));
    }
    for folder in [None, Some(&*project), Some("/not/there")] {
        assert_eq!(listed(folder).await, None, "{folder:?}");
    }
}
