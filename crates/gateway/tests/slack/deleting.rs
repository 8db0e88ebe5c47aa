//! Deletions, and what they leave.

use retake_fakes::{Fault, Refusal};
use retake_gateway::{Adapter as _, Deleted, DeletionWindow, Failure, Outgoing, Refused, SentFile};
use serde_json::json;

use super::{CHANNEL, DIRECT, marker, place, post, start};

/// Cases 42 and 62.
#[tokio::test]
async fn deleted_posts_are_gone_and_the_others_remain() {
    let (fake, adapter) = start().await;
    let direct = place(DIRECT, None);
    for number in 0..5 {
        adapter.send(&direct, &post(&number.to_string()), &marker("k1")).await.unwrap();
    }
    let ids = fake.posts(DIRECT);
    for id in &ids[2..] {
        assert_eq!(adapter.delete(&direct, id).await, Ok(Deleted::Gone));
        assert_eq!(adapter.delete(&direct, id).await, Ok(Deleted::AlreadyGone));
    }
    assert_eq!(fake.posts(DIRECT), ids[..2]);
    assert_eq!(adapter.capabilities().deletes, DeletionWindow::Policy);
    fake.control().script("chat.delete", [Fault::Refuse(Refusal::Forbidden), Fault::AnswerLost]);
    let refused = adapter.delete(&direct, &ids[0]).await;
    assert_eq!(refused, Err(Failure::Refused(Refused::NotPermitted)));
    assert_eq!(adapter.delete(&direct, &ids[0]).await, Err(Failure::Unknown));
    assert_eq!(adapter.delete(&direct, &ids[0]).await, Ok(Deleted::AlreadyGone));
    let (theirs, _) = fake.says(DIRECT, "U2", json!({"text": "theirs"}));
    let refused = adapter.delete(&direct, &theirs).await;
    assert_eq!(refused, Err(Failure::Refused(Refused::NotPermitted)));
}

/// Case 55.
#[tokio::test]
async fn parent_with_replies_of_others_leaves_a_stub() {
    let (fake, adapter) = start().await;
    let channel = place(CHANNEL, None);
    let mut roots = Vec::new();
    for author in ["UBOT", "U2"] {
        let root = adapter.send(&channel, &post("root"), &marker("k1")).await.unwrap().ids.remove(0);
        let (reply, _) = fake.says(CHANNEL, author, json!({"text": "reply", "thread_ts": root}));
        roots.push((root, reply));
    }
    // Our own replies first, then the parent: nothing is left.
    let (root, reply) = &roots[0];
    assert_eq!(adapter.delete(&place(CHANNEL, Some(root)), reply).await, Ok(Deleted::Gone));
    assert_eq!(adapter.delete(&channel, root).await, Ok(Deleted::Gone));
    assert_eq!(fake.messages(CHANNEL).len(), 2);
    let (root, _) = &roots[1];
    assert_eq!(adapter.delete(&place(CHANNEL, Some(root)), root).await, Ok(Deleted::Emptied));
    assert_eq!(fake.message(CHANNEL, root).unwrap()["subtype"], "tombstone");
    // Whether a reply left something need not be asked.
    assert_eq!(fake.control().called("conversations.replies").len(), 2);
}

#[tokio::test]
async fn files_are_deleted_by_their_own_id() {
    let (fake, adapter) = start().await;
    let file = SentFile { name: "a.md".into(), media_type: "text/markdown".into(), bytes: b"x".to_vec() };
    let with_file = Outgoing { file: Some(file), ..post("") };
    let direct = place(DIRECT, None);
    let sent = adapter.send(&direct, &with_file, &marker("k1")).await.unwrap();
    for id in &sent.ids {
        assert_eq!(adapter.delete(&direct, id).await, Ok(Deleted::Gone));
        assert_eq!(adapter.delete(&direct, id).await, Ok(Deleted::AlreadyGone));
    }
    assert_eq!(fake.posts(DIRECT).len(), 0);
}
