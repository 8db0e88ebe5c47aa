//! Errors hold no token, no address and no untrusted text.

use std::time::Duration;

use retake_fakes::slack::{APP_TOKEN, BOT_TOKEN};
use retake_fakes::{Fault, Refusal};
use retake_gateway::{Adapter as _, Failure};
use retake_wire::chat::InboundFile;

use super::{CHANNEL, adapter, marker, place, post, start};
use crate::recorder::{Recorder, received};

/// Case 88.
#[tokio::test]
async fn errors_hold_no_token_no_address_and_no_untrusted_text() {
    let (fake, sender) = start().await;
    let mut failures: Vec<Failure> = Vec::new();
    let faults = [
        Fault::AnswerLost,
        Fault::RequestLost,
        Fault::Refuse(Refusal::Forbidden),
        Fault::Refuse(Refusal::Gone),
        Fault::Refuse(Refusal::Status(500)),
        Fault::Refuse(Refusal::Status(302)),
        Fault::Refuse(Refusal::Wait(Duration::from_secs(3))),
    ];
    fake.control().script("chat.postMessage", faults);
    for _ in 0..7 {
        failures.extend(sender.send(&place(CHANNEL, None), &post("hi"), &marker("k1")).await.err());
    }
    fake.refuse("chat.postMessage", "untrusted_words");
    failures.extend(sender.send(&place(CHANNEL, None), &post("hi"), &marker("k1")).await.err());
    let address = "https://evil.example/untrusted_words".to_owned();
    let file = InboundFile { handle: address, name: None, media_type: None, size: None, is_voice: false };
    failures.extend(sender.fetch(&file, 9).await.err());
    let elsewhere = [
        adapter(&fake.base(), "xoxb-wrong-token", APP_TOKEN),
        adapter("http://127.0.0.1:1", BOT_TOKEN, APP_TOKEN),
    ];
    for other in &elsewhere {
        failures.extend(other.identify().await.err());
        failures.push(received(&**other, &Recorder::default()).await);
    }
    // The wrong bot token shows when the first event needs to know who we are; until then, the socket of the app is open.
    assert_eq!(failures.len(), 13, "{failures:?}");
    assert_eq!(
        failures[9..],
        [Failure::BadToken, Failure::BadToken, Failure::Unreachable, Failure::Unreachable]
    );
    let mut shown: Vec<String> = failures.iter().map(|failure| format!("{failure} {failure:?}")).collect();
    shown.extend(elsewhere.iter().chain([&sender]).map(|adapter| format!("{adapter:?}")));
    for text in shown {
        let secrets = ["token-that-nobody", "wrong-token", "untrusted_words", "evil.example", "ticket"];
        assert!(!secrets.iter().any(|secret| text.contains(secret)), "{text}");
    }
}
