//! No subscriber gets erased content after the erasure is answered. This test asks the owner directly, without a connection: an
//! erasure can't reach the buffers of a connection, so a socket proves nothing.

use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;
use retake_wire::request::{ConversationTarget, Fork, ImportLines, ImportStart, Plan, SetDraft};
use retake_wire::{
    Action, Client as _, Event, FileOptions, Follow, NumberedEvent, Part, Request, Role, RunEvent,
};

use super::events::saying;
use super::world::{Desk, get, plan};

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(30);

const SECRET: &str = "hunter2";

type Stream = BoxStream<'static, NumberedEvent>;

async fn follow(desk: &Desk, conversation: Option<&str>, since: Option<&str>) -> Stream {
    let follow = Follow { conversation: conversation.map(str::to_owned), since: since.map(str::to_owned) };
    desk.owner.follow(follow).await.expect("followed")
}

async fn next(stream: &mut Stream) -> NumberedEvent {
    let told = tokio::time::timeout(PATIENCE, stream.next()).await.expect("in time");
    told.expect("it goes on")
}

/// Receives events until one matches; returns all of them as text.
async fn until(stream: &mut Stream, like: impl Fn(&NumberedEvent) -> bool) -> String {
    let mut heard = String::new();
    loop {
        let told = next(stream).await;
        heard.push_str(&format!("{told:?}\n"));
        if like(&told) {
            return heard;
        }
    }
}

fn has_secret(told: &NumberedEvent) -> bool {
    format!("{told:?}").contains(SECRET)
}

/// Whether it is a snapshot at a revision, or a change to it.
fn is_at(revision: u64) -> impl Fn(&NumberedEvent) -> bool {
    move |told| match &told.event {
        Event::Snapshot(all) => all.conversation.revision == revision,
        Event::Changed(changed) => changed.changes.revision == revision,
        _ => false,
    }
}

async fn erase(desk: &Desk, of: &str) -> u64 {
    let erase = Action::Erase { entries: Vec::new(), matching: Some(SECRET.to_owned()) };
    desk.apply(of, erase).await;
    desk.info(of).await.revision
}

/// One subscriber has read nothing, another one nothing since its first event; the room held all that a third one has read by
/// then.
#[tokio::test]
async fn late_subscriber_never_receives_erased_content() {
    let desk = Desk::fast().await;
    let (id, _) = desk.talk(&["one", SECRET]).await;
    let mut never = follow(&desk, Some(&id), None).await;
    let mut late = follow(&desk, Some(&id), None).await;
    let mut quick = follow(&desk, Some(&id), None).await;
    next(&mut late).await;
    next(&mut quick).await;
    desk.say(&id, Role::User, &format!("it is {SECRET}")).await;
    let run = desk.client.run(saying(&id, SECRET)).await.expect("started");
    drop(run.collect::<Vec<_>>().await);
    let (conversation, author) = (id.clone(), String::new());
    let parts = vec![Part::text(SECRET)];
    desk.does(Request::SetDraft(SetDraft { conversation, author, parts, ..SetDraft::default() })).await;
    let heard = until(&mut quick, |told| matches!(&told.event, Event::Drafts { .. })).await;
    assert!(heard.matches(SECRET).count() > 3, "the room has told it: {heard}");
    let revision = erase(&desk, &id).await;
    for stream in [&mut never, &mut late] {
        let heard = until(stream, is_at(revision)).await;
        assert!(!heard.contains(SECRET) && heard.contains("Erased"), "{heard}");
    }
    // It continues as for any other subscriber.
    desk.say(&id, Role::User, "more").await;
    for stream in [&mut never, &mut late, &mut quick] {
        let heard = until(stream, is_at(revision + 1)).await;
        assert!(!heard.contains(SECRET) && heard.contains("more"), "{heard}");
    }
}

/// The output of an active run is sent separately from stored content.
#[tokio::test]
async fn late_subscriber_receives_the_end_of_a_run_with_erased_messages() {
    let desk = Desk::fast().await;
    let id = desk.create(None, None).await;
    let (mut late, mut quick) = (follow(&desk, Some(&id), None).await, follow(&desk, Some(&id), None).await);
    let run = desk.client.run(saying(&id, SECRET)).await.expect("started");
    let is_text = |told: &NumberedEvent| matches!(&told.event, Event::Run { said: RunEvent::Text { .. } });
    until(&mut late, is_text).await;
    drop(run.collect::<Vec<_>>().await);
    until(&mut quick, |told| matches!(&told.event, Event::Run { said: RunEvent::Ended(_) })).await;
    erase(&desk, &id).await;
    let idle = |told: &NumberedEvent| matches!(&told.event, Event::Now(now) if now.model.is_none());
    let heard = until(&mut late, idle).await;
    assert!(!heard.contains(SECRET), "{heard}");
}

/// The list shows the beginning of each conversation.
#[tokio::test]
async fn list_events_never_hold_erased_content() {
    let desk = Desk::new().await;
    desk.create(None, None).await;
    let mut quick = follow(&desk, None, None).await;
    let first = next(&mut quick).await.id;
    let mut late = follow(&desk, None, None).await;
    next(&mut late).await;
    let (id, _) = desk.talk(&[SECRET]).await;
    until(&mut quick, has_secret).await;
    let mut never = follow(&desk, None, None).await;
    erase(&desk, &id).await;
    let mut back = follow(&desk, None, first.as_deref()).await;
    for stream in [&mut late, &mut never, &mut back] {
        let told = next(stream).await;
        assert!(matches!(&told.event, Event::List(_)) && !has_secret(&told), "{told:?}");
    }
}

/// Whatever a subscriber had seen before, over the socket; also of a fork, which shows its parent's messages.
#[tokio::test]
async fn later_subscriber_never_receives_erased_content() {
    let desk = Desk::new().await;
    let (id, _) = desk.talk(&["one", SECRET, "three"]).await;
    let fork = Fork { conversation: id.clone(), entry: None, title: None, request_id: None };
    let child = get!(desk, Receipt, Request::Fork(fork)).conversation;
    let _here = follow(&desk, Some(&id), None).await;
    let _there = follow(&desk, Some(&child), None).await;
    let mut list = follow(&desk, None, None).await;
    let seen = next(&mut list).await.id;
    erase(&desk, &id).await;
    for of in [&id, &child] {
        let revision = desk.info(of).await.revision;
        let since = (0..revision).map(|at| Some(at.to_string())).chain([None]);
        for since in since {
            let follow = Follow { conversation: Some(of.clone()), since: since.clone() };
            let mut stream = desk.client.follow(follow).await.expect("followed");
            let heard = until(&mut stream, is_at(revision)).await;
            assert!(!heard.contains(SECRET), "{since:?}: {heard}");
        }
    }
    for since in [seen.as_deref(), None] {
        let told = next(&mut follow(&desk, None, since).await).await;
        assert!(!has_secret(&told), "{told:?}");
    }
}

/// The list of a subscriber that gets each change, compared with the list on request.
#[tokio::test]
async fn forks_and_imports_are_events_of_the_list() {
    let desk = Desk::new().await;
    let (id, _) = desk.talk(&["one", "two"]).await;
    let mut list = follow(&desk, None, None).await;
    let Event::List(first) = next(&mut list).await.event else { panic!("it begins with the list") };
    let mut has = first.conversations;
    let fork = Fork { conversation: id.clone(), entry: None, title: Some("fork".into()), request_id: None };
    let child = get!(desk, Receipt, Request::Fork(fork)).conversation;
    desk.say(&child, Role::User, "three").await;
    let start = ImportStart { title: Some("import".into()), ..ImportStart::default() };
    let conversation = get!(desk, Receipt, Request::ImportStart(start)).conversation;
    let lines = vec![r#"{"role": "user", "content": "brought"}"#.to_owned()];
    let lines = ImportLines { conversation: conversation.clone(), first: 0, lines };
    desk.does(Request::ImportLines(lines)).await;
    desk.does(Request::ImportEnd(ConversationTarget { conversation })).await;
    desk.say(&id, Role::User, "more").await;
    let now = get!(desk, Conversations, Request::List(retake_wire::request::List::default())).conversations;
    assert_eq!(now.len(), 3);
    loop {
        has.sort_by_key(|of| now.iter().position(|now| now.id == of.id));
        if has == now {
            break;
        }
        let told = next(&mut list).await;
        let Event::Listed(of) = told.event else { panic!("{told:?}") };
        has.retain(|other| other.id != of.id);
        has.push(*of);
    }
}

/// Receipts and plans say where else the text is, and the commands work.
#[tokio::test]
async fn trial_28_erasure_names_other_conversations_with_the_text_and_how_to_erase_it_there() {
    let desk = Desk::new().await;
    let (here, _) = desk.talk(&["one", SECRET]).await;
    let (there, _) = desk.talk(&[SECRET]).await;
    let fork = Fork { conversation: there.clone(), entry: None, title: None, request_id: None };
    let child = get!(desk, Receipt, Request::Fork(fork)).conversation;
    desk.say(&child, Role::User, &format!("it is {SECRET}")).await;
    desk.create(Some("nothing of it"), None).await;
    let titled = desk.create(Some(SECRET), None).await;
    let matching = || Action::Erase { entries: Vec::new(), matching: Some(SECRET.to_owned()) };
    let said = |said: &[String]| said.join("\n");

    let conversation = here.clone();
    let plan = Plan { conversation, action: matching(), files: FileOptions::default(), diff: false };
    let planned = said(&get!(desk, Plan, Request::Plan(plan)).stays);
    let told = said(&desk.apply(&here, matching()).await.stays);
    for told in [&planned, &told] {
        assert!(told.contains("3 other conversations, forks included, contain the text, too."), "{told}");
        for id in [&there, &titled] {
            assert!(told.contains(id.as_str()) && !told.contains("retake erase"), "{told}");
        }
        assert!(!told.contains(SECRET), "it is not quoted: {told}");
    }
    let told = said(&desk.apply(&there, matching()).await.stays);
    assert!(told.contains("1 other conversation contains the text, too."), "{told}");
    assert_eq!(said(&desk.apply(&titled, matching()).await.stays), "", "it is nowhere any more");
    assert_eq!(desk.texts(&child).await.iter().filter(|text| text.contains(SECRET)).count(), 0);
}

/// Nothing brings it back: the plan says how much is erased, also in the fork and in its parent.
#[tokio::test]
async fn trial_28_plan_of_an_erasure_counts_what_is_erased_and_where() {
    let desk = Desk::new().await;
    let (here, _) = desk.talk(&["one", SECRET]).await;
    let fork = Fork { conversation: here.clone(), entry: None, title: None, request_id: None };
    let child = get!(desk, Receipt, Request::Fork(fork)).conversation;
    desk.say(&child, Role::User, &format!("it is {SECRET}")).await;
    let matching = |text: &str| Action::Erase { entries: Vec::new(), matching: Some(text.to_owned()) };
    let plan = async |conversation: &str, text: &str| {
        let (conversation, action) = (conversation.to_owned(), matching(text));
        let plan = Plan { conversation, action, files: FileOptions::default(), diff: false };
        get!(desk, Plan, Request::Plan(plan)).stays.join("\n")
    };
    let planned = plan(&child, SECRET).await;
    assert!(planned.contains("1 message would be erased\n"), "{planned}");
    let parent = format!("1 message would be erased in the conversation {here}, too");
    assert!(planned.contains(&parent), "{planned}");
    let nothing = plan(&child, "no such text").await;
    assert!(nothing.contains("no message, title, label or version of a file here holds it"), "{nothing}");
}

/// Named messages are known to be erased: the plan does not say that nothing contains some text.
#[tokio::test]
async fn trial_28_plan_says_that_the_content_is_erased_already() {
    let desk = Desk::new().await;
    let (id, entries) = desk.talk(&["one", "two"]).await;
    let erase = || Action::Erase { entries: vec![entries[0].clone()], matching: None };
    desk.apply(&id, erase()).await;
    let stays = get!(desk, Plan, plan(&id, erase())).stays.join("\n");
    assert!(
        stays.contains("erased already: nothing is left of it") && !stays.contains("holds it"),
        "{stays}"
    );
}
