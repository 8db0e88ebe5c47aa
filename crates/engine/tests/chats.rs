//! Chats of an engine whose clock moves only when a test says so.

use std::sync::Arc;
use std::time::Duration;

use retake_core::ArrivalOutcome;
use retake_engine::clock::ManualClock;
use retake_engine::settings::Retention;
use retake_engine::{Arrived, ChatEvent, Engine, GatewayEvent};

use crate::files::engine_by;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn arrive(engine: &Arc<Engine>) -> Arrived {
    let event = GatewayEvent {
        account: "chat-1".to_owned(),
        keys: vec!["event-1".to_owned()],
        event: ChatEvent::Migrated { from: "1".to_owned(), to: "2".to_owned() },
        command: None,
        moderates: false,
        is_late: false,
    };
    engine.chat_arrive("one".to_owned(), event).await.expect("arrived")
}

/// Platforms deliver events again for seven days at most.
#[tokio::test]
async fn event_is_known_for_thirty_days_and_forgotten_afterwards() {
    let dir = tempfile::tempdir().expect("a folder");
    let clock = ManualClock::new(1_700_000_000_000);
    let engine = engine_by(dir.path(), 1 << 20, Retention::default(), &clock).await;
    engine.collect_in_background();
    assert_eq!(arrive(&engine).await, Arrived::Known(ArrivalOutcome::Done));
    let again = Arrived::Again(ArrivalOutcome::Done);
    clock.advance(29 * DAY);
    assert_eq!(arrive(&engine).await, again);
    clock.advance(DAY - Duration::from_secs(60));
    let forgotten = async {
        let mut minutes = 0;
        while arrive(&engine).await == again {
            clock.advance(Duration::from_secs(60));
            minutes += 1;
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        minutes
    };
    let minutes = tokio::time::timeout(Duration::from_secs(20), forgotten).await.expect("it is forgotten");
    assert!(minutes > 1, "it is known for the whole time");
}
