//! The owner ends while people write: what arrives then is for the next owner.

use std::time::Duration;

use retake_wire::chat::Inbound;
use retake_wire::{Client as _, ProblemCode, Request};

use super::platform::{conversation, paired, says, texts};

/// Nothing is recorded of a message whose run cannot begin any more, and no run is cut off.
#[tokio::test]
async fn message_to_an_owner_that_ends_is_left_to_the_next_one() {
    let (desk, mut gateway) = paired(false).await;
    gateway.says(says("1", "one")).await;
    gateway.works(1).await;
    desk.owner.finish(Duration::from_secs(10)).await;
    for _ in 0..2 {
        let arrive = gateway.arrive("event-2", Inbound::Message(says("2", "two")), None);
        let problem = gateway.client.call(Request::Arrive(arrive)).await.expect_err("refused");
        assert_eq!(problem.code, ProblemCode::OwnerLeaving);
    }
    assert_eq!(texts(&desk, &conversation(&desk).await).await, 2);
    assert!(gateway.works(1).await.is_empty(), "nobody is told of a failure");
}
