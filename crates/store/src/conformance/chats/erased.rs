//! Posts and messages of erased entries: case 77 of `docs/spec/gateways.md`.

use std::sync::Arc;

use retake_core::{
    Action, ChatNotice, ChatNoticeKind, NewRun, Part, PostKind, PostResult, RunInput, Steer, Words,
};

use super::scene::{Scene, place};
use crate::Store;

async fn erase(scene: &Scene, entries: &[&str], matching: Option<&str>) {
    let entries = entries.iter().map(|name| scene.stage.named(name)).collect();
    let matching = matching.map(str::to_owned);
    scene.act(Action::Erase { entries, matching, objects: Vec::new() }).await;
}

/// The digests of what was sent, the oldest post first.
async fn digests(scene: &Scene) -> Vec<String> {
    let posts = scene.posts().await.into_iter();
    posts.filter_map(|(_, post)| post.attempt).map(|attempt| attempt.digest).collect()
}

/// The posts of erased entries are taken back for ever, and their digests are overwritten. Others stay.
pub async fn gateways_case_77_erasure_takes_back_posts_and_overwrites_their_digests(store: Arc<Store>) {
    let mut scene = Scene::answered(store, &["one", "two"]).await;
    scene.turn("three").await;
    let sending = scene.take().await[0].key;
    scene.begin(sending, 1).await;
    scene.turn("four").await;
    assert!(digests(&scene).await.iter().all(|digest| digest.starts_with("digest of ")));
    erase(&scene, &["one!", "three!", "four!"], None).await;
    let posts = scene.posts().await;
    let states: Vec<_> = posts.iter().map(|(_, post)| format!("{:?}", post.state)).collect();
    assert_eq!(states, ["Deleting", "Sent", "Sending", "Cancelled"], "in the transaction of the erasure");
    let kept = format!("digest of {}", posts[1].0);
    assert_eq!(digests(&scene).await, ["", &kept, ""]);
    assert_eq!(scene.work().await, ["Delete - 0"], "nobody can look for the one that is on its way");
    assert!(!scene.begin(sending, 1).await, "it is not sent");
    scene.arrive(sending).await;
    assert_eq!(scene.states().await, ["Deleting", "Sent", "Deleting", "Cancelled"]);
    assert_eq!(digests(&scene).await, ["", &kept, ""]);
    // A step over an erased entry and its undo bring nothing back.
    scene.wait(1);
    scene.rewind("one").await;
    scene.compare().await;
    scene.act(Action::Undo(1)).await;
    assert_eq!(scene.states().await, ["Deleting", "Sent", "Deleting", "Cancelled"]);
}

/// A post of a parent is taken back when its entry is erased in a fork.
pub async fn erasure_in_a_fork_takes_back_the_post_of_its_parent(store: Arc<Store>) {
    let scene = Scene::answered(store, &["one"]).await;
    let fork = scene.fork().await;
    erase(&fork, &["one!"], None).await;
    assert_eq!(scene.states().await, ["Deleting"]);
    assert_eq!(digests(&scene).await, [""]);
}

/// The digest of an erased message is overwritten, also of one that waits. A name is erased in notices.
pub async fn erasure_overwrites_digests_of_messages_and_names_in_notices(store: Arc<Store>) {
    let mut scene = Scene::answered(Arc::clone(&store), &["hunter2", "other"]).await;
    let notice = ChatNotice {
        kind: ChatNoticeKind::StepOfOther,
        names: vec!["hunter2's".to_owned(), "Ben".to_owned()],
        ..ChatNotice::default()
    };
    let planned = store.plan_notice(scene.stage.id, place("here"), notice, None, None, scene.now());
    planned.await.expect("planned");
    let words = Words {
        parts: vec![Part::text("again hunter2")],
        author: "ann".to_owned(),
        request: None,
        wording: None,
        time: scene.now(),
        chat: Some(Arc::new(scene.arrival("here", "waits"))),
    };
    let new = NewRun { words: Some(words), steer: Steer::Queue, seen: None, model: None };
    let input = vec![RunInput::Enqueue(new, scene.now())];
    store.step_runs(scene.stage.id, input).await.expect("it waits");
    erase(&scene, &[], Some("hunter2")).await;
    let content = async |message: &str| scene.entry(message).await.expect("known").content;
    assert_eq!((content("hunter2").await, content("waits").await), (None, None));
    assert_eq!(content("other").await, Some([7; 16]));
    assert_eq!(scene.entry("hunter2").await.and_then(|known| known.origin), None, "its author had the text");
    let names = scene.posts().await.into_iter().find_map(|(_, post)| match post.kind {
        PostKind::Notice(notice) => Some(notice.names),
        PostKind::Answer(_) | PostKind::Preview(_) => None,
    });
    assert_eq!(names, Some(vec!["Ben".to_owned()]));
    assert_eq!(scene.states().await, ["Deleting", "Sent"]);
    // What is reported later has no digest of it either.
    scene.wait(1);
    let key = scene.posts().await[0].0;
    scene.settle(key, PostResult::Deleted(retake_core::Deletion::Gone)).await;
    assert_eq!(digests(&scene).await[0], "");
}
