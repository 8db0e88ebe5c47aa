//! Attached files.

use retake_fakes::{Fault, Refusal};
use retake_gateway::{Adapter as _, Failure, Refused};
use retake_wire::chat::InboundFile;

use super::start;

const MOST: u64 = 20 * 1024 * 1024;

fn attached(handle: &str, size: Option<u64>) -> InboundFile {
    InboundFile { handle: handle.into(), name: None, media_type: None, size, is_voice: false }
}

/// Case 87.
#[tokio::test]
async fn files_are_fetched_within_their_limit() {
    let (fake, adapter) = start().await;
    let too_long = Err(Failure::Refused(Refused::TooLong));
    fake.add_file("f1", "documents/file_1.txt", b"hello".to_vec());
    assert_eq!(adapter.fetch(&attached("f1", Some(5)), MOST).await, Ok(b"hello".to_vec()));
    assert_eq!(adapter.fetch(&attached("f1", None), 4).await, too_long);
    assert_eq!(fake.control().called("file").len(), 1);
    // 25 MB are refused without a call, and by the platform.
    assert_eq!(adapter.fetch(&attached("f1", Some(25 << 20)), 1 << 30).await, too_long);
    assert_eq!(fake.control().called("getFile").len(), 2);
    fake.add_file("f2", "documents/file_2.bin", vec![0; 25 << 20]);
    assert_eq!(adapter.fetch(&attached("f2", None), 1 << 30).await, too_long);
    assert_eq!(adapter.fetch(&attached("expired", None), MOST).await, Err(Failure::NotFound));
    fake.control().script("file", [Fault::Refuse(Refusal::Status(404))]);
    assert_eq!(adapter.fetch(&attached("f1", None), MOST).await, Err(Failure::NotFound));
}

/// Case 87: what the platform says about a path is untrusted.
#[tokio::test]
async fn path_that_leaves_the_folder_is_not_fetched() {
    let (fake, adapter) = start().await;
    for path in ["../../bot1:x/getMe", "/etc/passwd", "a//b", "a/%2e%2e/b", "a?b", "a\\b", ""] {
        fake.add_file("f1", path, b"x".to_vec());
        assert_eq!(adapter.fetch(&attached("f1", None), MOST).await, Err(Failure::Unreadable), "{path}");
    }
    assert_eq!(fake.control().called("file").len(), 0);
}
