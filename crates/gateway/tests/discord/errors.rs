//! Errors and the log hold no token, no address and no text of the platform.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use retake_fakes::{Fault, Refusal};
use retake_gateway::{Adapter as _, Discord};
use retake_wire::chat::Person;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::world::{Receiving, TOKEN, TestInbox, World, marker, place, post};

/// A log that keeps all that our crates write.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Visit for Log {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.lock().expect("no panic").push_str(&format!("{field}={value:?}\n"));
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("retake")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Case 88: every failing call, and what it leaves behind.
#[tokio::test]
async fn gateways_case_88_errors_hold_no_token_no_address_and_no_text() {
    let log = Log::default();
    // With only one subscriber, another thread that has none would decide for all that nobody listens.
    let _second = tracing::Dispatch::new(Log::default());
    let _guard = tracing::subscriber::set_default(log.clone());
    let world = World::new().await;
    let adapter = world.adapter();
    let mut said = format!("{adapter:?} {:?}\n", world.config());
    let refusals =
        [400, 401, 403, 404, 413, 418, 500, 502].map(|status| Fault::Refuse(Refusal::Status(status)));
    for fault in
        refusals.into_iter().chain([Fault::AnswerLost, Fault::RequestLost, Fault::Refuse(Refusal::Gone)])
    {
        said += &all(&world, &adapter, &fault).await;
    }
    let inbox = Arc::<TestInbox>::default();
    inbox.bind(place("no id"), Some("no id"));
    let receiving = Receiving::start(&world, &adapter, &inbox).await;
    let called = world.fake.control().called("callback").len();
    let id = world.fake.write(&world.channel, &world.anna, "untrusted words");
    // Faults of the calls above are left for this.
    world.fake.press(&world.channel, &id, &world.ben, "b");
    world.fake.control().until_called("callback", called + 1).await;
    world.fake.close_sockets(4_004);
    said += &format!("{:?}\n", receiving.failure().await);
    said += &log.0.lock().expect("no panic");
    assert!(said.contains("A press could not be taken over"), "{said}");
    for secret in [TOKEN, "aW50", "127.0.0.1:", "html", "untrusted", "page"] {
        let is_config = |line: &&str| line.starts_with("Discord");
        let found = said
            .lines()
            .filter(|line| !is_config(line) || secret == TOKEN)
            .find(|line| line.contains(secret));
        assert_eq!(found, None, "{secret}");
    }
}

/// What all calls say when they fail like this.
async fn all(world: &World, adapter: &Discord, fault: &Fault) -> String {
    let methods = [
        "me",
        "send",
        "edit",
        "delete",
        "delete_many",
        "history",
        "channel",
        "typing",
        "followup",
        "callback",
    ];
    for method in methods {
        world.fake.control().script(method, [fault.clone()]);
    }
    let (place, post) = (world.place(), post("untrusted words"));
    let marker = marker(adapter, "k", &post);
    let person = Person { id: "5".to_owned(), name: "untrusted".to_owned(), is_bot: false };
    let failures = [
        adapter.identify().await.err(),
        adapter.send(&place, &post, &marker).await.err(),
        adapter.edit(&place, "5", &post, &marker).await.err(),
        adapter.delete(&place, "5").await.err(),
        adapter.delete_many(&place, &["5".to_owned(), "6".to_owned()]).await.err(),
        adapter.find(&place, &marker, 0).await.err(),
        adapter.probe(&place).await.err(),
        adapter.typing(&place).await.err(),
        adapter.whisper(&place, &person, "untrusted words", Some("5 aW50")).await.err(),
    ];
    failures.into_iter().flatten().map(|failure| format!("{failure:?} {failure}\n")).collect()
}
