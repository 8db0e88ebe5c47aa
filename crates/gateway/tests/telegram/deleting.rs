//! Deletions, single and at once.

use std::time::Duration;

use retake_fakes::{Fault, Refusal};
use retake_gateway::{Adapter as _, Deleted, DeletionWindow, Failure, Probe, Refused, Resend, Telegram};
use serde_json::{Value, json};

use super::{ANNA, GROUP, marker, place, post, start};

async fn sent(adapter: &Telegram, count: usize) -> Vec<String> {
    let mut ids = Vec::new();
    for number in 0..count {
        let post = post(&number.to_string());
        ids.extend(
            adapter.send(&place(GROUP), &post, &marker()).await.expect("BUG: the fake refused a post").ids,
        );
    }
    ids
}

/// Cases 42 and 62.
#[tokio::test]
async fn deleted_posts_are_gone_and_the_others_remain() {
    let (fake, adapter) = start().await;
    let ids = sent(&adapter, 5).await;
    for id in &ids[2..] {
        assert_eq!(adapter.delete(&place(GROUP), id).await, Ok(Deleted::Gone));
        assert_eq!(adapter.delete(&place(GROUP), id).await, Ok(Deleted::AlreadyGone));
    }
    let rest: Vec<String> = fake.posts(GROUP).iter().map(ToString::to_string).collect();
    assert_eq!(rest, ids[..2]);
    fake.control().script("deleteMessage", [Fault::Refuse(Refusal::Forbidden), Fault::AnswerLost]);
    let refused = adapter.delete(&place(GROUP), &ids[0]).await;
    assert_eq!(refused, Err(Failure::Refused(Refused::NotPermitted)));
    assert_eq!(adapter.delete(&place(GROUP), &ids[0]).await, Err(Failure::Unknown));
    assert_eq!(adapter.delete(&place(GROUP), &ids[0]).await, Ok(Deleted::AlreadyGone));
}

/// Case 50: the window is hard, so the callers make no call. The platform would refuse.
#[tokio::test]
async fn posts_older_than_48_hours_stay() {
    let (fake, adapter) = start().await;
    let ids = sent(&adapter, 1).await;
    let window = Duration::from_secs(48 * 60 * 60);
    assert_eq!(adapter.capabilities().deletes, DeletionWindow::Hard(window));
    fake.control().pass(window + Duration::from_secs(1));
    let refused = adapter.delete(&place(GROUP), &ids[0]).await;
    assert_eq!(refused, Err(Failure::Refused(Refused::NotPermitted)));
    assert_eq!(fake.posts(GROUP).len(), 1);
}

/// Case 51.
#[tokio::test]
async fn two_hundred_and_fifty_posts_are_deleted_with_three_calls() {
    let (fake, adapter) = start().await;
    let ids = sent(&adapter, 250).await;
    fake.forget(GROUP, ids[120].parse().unwrap());
    let bulk = adapter.capabilities().bulk.unwrap();
    assert_eq!((bulk.least, bulk.most), (1, 100));
    for batch in ids.chunks(bulk.most) {
        adapter.delete_many(&place(GROUP), batch).await.unwrap();
    }
    assert_eq!(fake.posts(GROUP).len(), 0);
    let calls = fake.control().called("deleteMessages");
    let sizes: Vec<usize> =
        calls.iter().map(|call| call["message_ids"].as_array().map_or(0, Vec::len)).collect();
    assert_eq!((sizes, calls[2]["message_ids"][49].is_i64()), (vec![100, 100, 50], true));
}

/// Case 52.
#[tokio::test]
async fn refused_batch_is_deleted_one_by_one() {
    let (fake, adapter) = start().await;
    let mut ids = sent(&adapter, 3).await;
    let (other, _) = fake.says(GROUP, ANNA, json!({"text": "mine"}));
    ids.insert(1, other.to_string());
    let batch = adapter.delete_many(&place(GROUP), &ids).await;
    assert_eq!(batch, Err(Failure::Refused(Refused::Batch)));
    assert_eq!(fake.posts(GROUP).len(), 3);
    let mut single = Vec::new();
    for id in &ids {
        single.push(adapter.delete(&place(GROUP), id).await);
    }
    let gone = Ok(Deleted::Gone);
    let stays = Err(Failure::Refused(Refused::NotPermitted));
    assert_eq!(single, [gone.clone(), stays, gone.clone(), gone]);
    fake.set_member(GROUP, 0, json!({"status": "kicked"}));
    let kicked = adapter.delete_many(&place(GROUP), &ids).await;
    assert_eq!(kicked, Err(Failure::Refused(Refused::NotPermitted)));
}

#[tokio::test]
async fn probe_knows_memberships() {
    let (fake, adapter) = start().await;
    let rows = [
        (json!({"status": "member"}), Probe::Yes { bulk: true }),
        (
            json!({"status": "restricted", "is_member": true, "can_send_messages": false}),
            Probe::Yes { bulk: true },
        ),
        (json!({"status": "administrator", "can_post_messages": false}), Probe::NotPermitted),
        (json!({"status": "kicked"}), Probe::NotPermitted),
    ];
    for (member, expected) in rows {
        fake.set_member(GROUP, 0, member.clone());
        assert_eq!(adapter.probe(&place(GROUP)).await, Ok(expected), "{member}");
    }
    assert_eq!(adapter.probe(&place(-404)).await, Ok(Probe::NotPermitted));
    assert_eq!(adapter.probe(&place(ANNA)).await, Ok(Probe::Yes { bulk: true }));
}

/// Nothing makes the Bot API recognise a repeated request.
#[tokio::test]
async fn nothing_is_sent_twice_silently() {
    let (fake, adapter) = start().await;
    assert_eq!(adapter.capabilities().resend, [Resend::Send]);
    assert_eq!(fake.control().called("sendMessage"), Vec::<Value>::new());
}
