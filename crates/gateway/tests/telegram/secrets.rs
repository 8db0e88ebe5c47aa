//! Errors hold no token, no address and no untrusted text.

use retake_fakes::telegram::TOKEN;
use retake_fakes::{Fault, Refusal};
use retake_gateway::{Adapter as _, Failure};
use retake_wire::chat::InboundFile;
use std::time::Duration;

use super::{GROUP, adapter, marker, place, post, start};
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
    fake.control().script("sendMessage", faults);
    for number in 0..8 {
        if number == 7 {
            fake.refuse("sendMessage", 400, "Bad Request: untrusted words");
        }
        failures.extend(sender.send(&place(GROUP), &post("hi"), &marker()).await.err());
    }
    fake.refuse("getFile", 400, "Bad Request: untrusted words");
    let file = InboundFile { handle: "x".into(), name: None, media_type: None, size: None, is_voice: false };
    failures.extend(sender.fetch(&file, 9).await.err());
    let elsewhere = [adapter(&fake.base(), "1:wrong-token"), adapter("http://untrusted words/", TOKEN)];
    for other in &elsewhere {
        failures.extend(other.identify().await.err());
        failures.push(received(&**other, &Recorder::default()).await);
    }
    assert_eq!(failures.len(), 13, "{failures:?}");
    assert_eq!(failures[9..11], [Failure::BadToken, Failure::BadToken]);
    let mut shown: Vec<String> = failures.iter().map(|failure| format!("{failure} {failure:?}")).collect();
    shown.extend(
        elsewhere
            .iter()
            .chain([&sender])
            .map(|adapter| format!("{adapter:?}").replace("http://untrusted words", "")),
    );
    for text in shown {
        let secrets = [TOKEN, "wrong-token", "untrusted words", "/bot"];
        assert!(!secrets.iter().any(|secret| text.contains(secret)), "{text}");
    }
}
