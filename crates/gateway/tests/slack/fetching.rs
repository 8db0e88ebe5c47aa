//! Attached files.

use retake_fakes::{Fault, Refusal};
use retake_gateway::{Adapter as _, Failure, Refused};
use retake_wire::chat::InboundFile;

use super::{adapter, start};

fn attached(handle: &str, size: Option<u64>) -> InboundFile {
    InboundFile { handle: handle.into(), name: None, media_type: None, size, is_voice: false }
}

/// Case 87.
#[tokio::test]
async fn files_are_fetched_within_their_limit() {
    let (fake, sender) = start().await;
    let too_long = Err(Failure::Refused(Refused::TooLong));
    let address = fake.add_file("a.txt", "text/plain", b"hello".to_vec());
    assert_eq!(sender.fetch(&attached(&address, Some(5)), 9).await, Ok(b"hello".to_vec()));
    assert_eq!(sender.fetch(&attached(&address, None), 4).await, too_long);
    assert_eq!(sender.fetch(&attached(&address, Some(25 << 20)), 20 << 20).await, too_long);
    assert_eq!(fake.control().called("download").len(), 2);
    let faults = [Fault::Refuse(Refusal::Status(404)), Fault::Refuse(Refusal::Status(302))];
    fake.control().script("download", faults);
    assert_eq!(sender.fetch(&attached(&address, None), 9).await, Err(Failure::NotFound));
    let refused = Err(Failure::Refused(Refused::NotPermitted));
    assert_eq!(sender.fetch(&attached(&address, None), 9).await, refused);
    // Without a valid token, the answer is a page to sign in, which is no file.
    let other = adapter(&fake.base(), "xoxb-other", "xapp-other");
    assert_eq!(other.fetch(&attached(&address, None), 99).await, refused);
}

/// Case 87: an address is untrusted. The token goes to our own host, and to Slack's host for files.
#[tokio::test]
async fn token_goes_to_no_other_host() {
    let (fake, sender) = start().await;
    let (other, _) = start().await;
    let address = other.add_file("a.txt", "text/plain", b"hello".to_vec());
    let evil = [
        address.as_str(),
        "https://files.slack.com.evil.example/a",
        "http://files.slack.com/a",
        "https://files.slack.com@evil.example/a",
        "file:///etc/passwd",
    ];
    for address in evil {
        let refused = sender.fetch(&attached(address, None), 9).await;
        assert_eq!(refused, Err(Failure::Refused(Refused::Other)), "{address}");
    }
    assert_eq!(sender.fetch(&attached("no address", None), 9).await, Err(Failure::Unreadable));
    assert_eq!((other.control().calls().len(), fake.control().calls().len()), (0, 0));
}
