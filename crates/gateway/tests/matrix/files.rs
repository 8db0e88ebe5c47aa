//! Files in both directions.

use retake_gateway::{Adapter as _, Failure, Outgoing, Refused, Sent, SentFile};
use serde_json::json;

use super::people::{Two, client, marker, text};
use retake_fakes::synapse::Synapse;

fn file(name: &str, size: usize) -> SentFile {
    let bytes = (0..size).map(|at| u8::try_from(at % 251).expect("a byte")).collect();
    SentFile { name: name.into(), media_type: "text/plain".into(), bytes }
}

#[tokio::test]
async fn sent_file_has_its_name_and_its_bytes_whatever_the_name_is() {
    let two = Two::new().await;
    let back = two.person.adapter();
    let since = super::people::receive(&back, None, 0).await.1;
    let names =
        ["plain.txt", "../../etc/passwd", "a b&c?d#e%2F\"'<>.txt", "日本語 😀.txt", "line\nbreak", ""];
    for name in names {
        let post = Outgoing { file: Some(file(name, 5_000)), ..text("see this") };
        let Sent { ids, .. } = two.adapter.send(&two.place(), &post, &marker()).await.unwrap();
        assert_eq!(ids.len(), 1);
    }
    let (events, _) = super::people::receive(&back, Some(since), names.len()).await;
    for ((_, inbound), name) in events.into_iter().zip(names) {
        let message = super::people::message(inbound);
        let attached = &message.attached[0];
        assert_eq!((message.text.as_str(), attached.name.as_deref()), ("see this", Some(name)));
        assert_eq!((attached.media_type.as_deref(), attached.size), (Some("text/plain"), Some(5_000)));
        assert_eq!(back.fetch(attached, 5_000).await.unwrap(), file(name, 5_000).bytes);
        let too_long = Err(Failure::Refused(Refused::TooLong));
        assert_eq!(back.fetch(attached, 4_999).await, too_long, "of a stated length");
    }
}

#[tokio::test]
async fn file_that_is_too_large_for_the_server_is_refused() {
    let two = Two::new().await;
    let post = Outgoing { file: Some(file("large.bin", 200 * 1024)), ..Outgoing::default() };
    let refused = two.adapter.send(&two.place(), &post, &marker()).await;
    assert_eq!(refused, Err(Failure::Refused(Refused::TooLong)));
    assert_eq!(two.person.history(&two.room, "m.room.message").await, Vec::<serde_json::Value>::new());
}

#[tokio::test]
async fn voice_message_of_a_person_is_fetched() {
    let two = Two::new().await;
    let address = format!("{}/_matrix/media/v3/upload?filename=v.ogg", Synapse::shared().address());
    let upload = client().post(address).bearer_auth(&two.person.token).header("content-type", "audio/ogg");
    let answer: serde_json::Value = upload.body("sound").send().await.unwrap().json().await.unwrap();
    let since = two.now().await;
    let voice = json!({
        "msgtype": "m.audio", "body": "v.ogg", "url": answer["content_uri"], "org.matrix.msc3245.voice": {},
        "info": { "mimetype": "audio/ogg", "size": "odd" },
    });
    two.person.send(&two.room, &voice).await;
    let message = two.messages(&since, 1).await.remove(0);
    let attached = &message.attached[0];
    assert!(attached.is_voice && message.text.is_empty());
    assert_eq!((attached.size, attached.media_type.as_deref()), (None, Some("audio/ogg")));
    assert_eq!(two.adapter.fetch(attached, 100).await.unwrap(), b"sound");
}

#[tokio::test]
async fn file_that_is_nowhere_is_not_found() {
    let two = Two::new().await;
    let since = two.now().await;
    let addresses = ["mxc://chat.test/none", "https://chat.test/x", "mxc://chat.test/../../v3/sync", ""];
    for address in addresses {
        let content = json!({ "msgtype": "m.file", "body": "x", "url": address });
        two.person.send(&two.room, &content).await;
    }
    let messages = two.messages(&since, addresses.len()).await;
    let mut results = Vec::new();
    for message in &messages {
        results.push(two.adapter.fetch(&message.attached[0], 100).await);
    }
    let odd = Err(Failure::Refused(Refused::Other));
    assert_eq!(results, [Err(Failure::NotFound), odd.clone(), odd.clone(), odd]);
}
