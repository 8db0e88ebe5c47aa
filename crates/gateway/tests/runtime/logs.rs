//! Case 88: nothing that a platform or a person wrote is in a log or an error.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use retake_gateway::{Failure, Refused};
use retake_wire::chat::*;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::kit::*;
use super::ledger::markdown;
use super::platform::{Fault, plain};

/// Keeps every event as text.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<String>>);

impl Visit for Kept {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.lock().expect("no panic before").push_str(&format!("{field}={value:?} "));
    }
}

impl Subscriber for Kept {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        attributes.record(&mut self.clone());
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut self.clone());
    }
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[tokio::test(start_paused = true)]
async fn gateways_case_88_logs_hold_codes_and_counts_only() {
    let kept = Kept::default();
    let _guard = tracing::subscriber::set_default(kept.clone());
    let world = World::new(plain());
    world.ledger.book().is_away = true;
    world.ledger.book().refuses_parts.insert("SECRET-KEY".into());
    for fault in [Failure::Unreachable, Failure::Occupied] {
        world.platform.fault("receive", Fault::Fails(fault.clone()));
        world.platform.fault("identify", Fault::Fails(fault));
    }
    for fault in [Failure::Unknown, Failure::Refused(Refused::NotPermitted), Failure::Unreachable] {
        world.platform.fault("send", Fault::Fails(fault.clone()));
        world.platform.fault("delete", Fault::Fails(fault.clone()));
        world.platform.fault("typing", Fault::Fails(fault));
    }
    let secret = InboundMessage {
        place: place("SECRET-CHAT"),
        person: Person { id: "SECRET-PERSON".into(), name: "SECRET-NAME".into(), is_bot: false },
        attached: vec![file("SECRET-URL-1"), file("SECRET-URL-2")],
        ..message("SECRET-MESSAGE", "SECRET-TEXT")
    };
    world.platform.feed(0, "SECRET-KEY", Inbound::Message(secret));
    let other = InboundMessage { place: place("SECRET-CHAT"), ..message("SECRET-2", "SECRET-TEXT") };
    world.platform.feed(20_000, "SECRET-KEY-2", Inbound::Message(other));
    world.ledger.plan("SECRET-POST", &place("SECRET-CHAT"), markdown("SECRET-ANSWER"));
    world.ledger.add_sent("SECRET-OLD", &place("SECRET-CHAT"), &["SECRET-ID"], START_MS);
    world.ledger.unwant(|post| post.id == "SECRET-OLD");
    let gateway = world.start();
    world.pass(5_000).await;
    world.ledger.book().is_away = false;
    world.until("the cursor", |it| it.ledger.book().cursor.as_deref() == Some("2")).await;
    world.pass(600_000).await;
    gateway.kill().await;
    let log = kept.0.lock().expect("no panic before").clone();
    assert!(log.contains("the connection to the platform ended"), "{log}");
    assert!(log.contains("the owner did not answer"), "{log}");
    assert!(log.contains("an event with files was refused"), "{log}");
    assert!(!log.contains("SECRET"), "{log}");
}
