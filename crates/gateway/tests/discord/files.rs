//! Attached files: fetched from the servers of the settings only, also when their address has expired.

use std::sync::Arc;
use std::time::Duration;

use retake_fakes::discord::File;
use retake_gateway::{Adapter as _, Failure, Refused};
use retake_wire::chat::InboundFile;
use serde_json::json;

use super::world::{Receiving, TestInbox, World};

/// Case 87: a file that is too large, an address that has expired, an odd name, a voice message.
#[tokio::test]
async fn gateways_case_87_files_are_fetched_with_a_limit_and_after_their_address_expired() {
    let world = World::new().await;
    let (adapter, inbox) = (world.adapter(), Arc::<TestInbox>::default());
    let _receiving = Receiving::start(&world, &adapter, &inbox).await;
    let file =
        |bytes: Vec<u8>| File { name: "../../a.ogg".to_owned(), media_type: "audio/ogg".to_owned(), bytes };
    let small = world.fake.attach(&world.channel, file(b"voice".to_vec()));
    let fields = json!({"content": "", "flags": 1 << 13, "attachments": [small]});
    world.fake.write_with(&world.channel, &world.anna, &fields);
    let large = world.fake.attach(&world.channel, file(vec![7; 3_000_000]));
    world.fake.write_with(&world.channel, &world.anna, &json!({"content": "see", "attachments": [large]}));
    inbox.until(2).await;
    let messages = inbox.messages();
    let (voice, large) = (&messages[0].attached[0], &messages[1].attached[0]);
    assert_eq!((voice.is_voice, voice.size, large.is_voice), (true, Some(5), false));
    assert_eq!(
        (voice.name.as_deref(), voice.media_type.as_deref()),
        (Some("../../a.ogg"), Some("audio/ogg"))
    );
    assert_eq!(adapter.fetch(voice, 5).await.as_deref(), Ok(&b"voice"[..]));
    let too_long = Err(Failure::Refused(Refused::TooLong));
    assert_eq!(adapter.fetch(large, 2_000_000).await, too_long);
    // Also when the platform does not say the size.
    let unsaid = InboundFile { size: None, ..large.clone() };
    assert_eq!(adapter.fetch(&unsaid, 2_000_000).await, too_long);
    assert_eq!(adapter.fetch(&unsaid, 3_000_000).await.map(|bytes| bytes.len()), Ok(3_000_000));
    world.fake.control().pass(Duration::from_hours(48));
    assert_eq!(adapter.fetch(voice, 5).await.as_deref(), Ok(&b"voice"[..]));
    assert_eq!(world.fake.control().called("message").len(), 1);
    world.fake.remove(&world.channel, &[&messages[0].message]);
    assert_eq!(adapter.fetch(voice, 5).await, Err(Failure::NotFound));
}

#[tokio::test]
async fn file_is_never_fetched_from_another_server() {
    let world = World::new().await;
    let other = World::new().await;
    let adapter = world.adapter();
    let address = format!("{}/files/x?ex=ffffffff", other.fake.files());
    let at = |address: &str| InboundFile {
        handle: format!("1 2 3 {address}"),
        name: None,
        media_type: None,
        size: None,
        is_voice: false,
    };
    let refused = Err(Failure::Refused(Refused::Other));
    let near = world.fake.files().replacen("127.0.0.1", "127.0.0.1@127.0.0.2", 1);
    for odd in [address.as_str(), "file:///etc/passwd", "x", "", near.as_str()] {
        assert_eq!(adapter.fetch(&at(odd), 100).await, refused, "{odd}");
    }
    let odd = InboundFile { handle: "x".to_owned(), ..at("") };
    assert_eq!(adapter.fetch(&odd, 100).await, refused);
    assert_eq!(other.fake.control().calls(), []);
}
