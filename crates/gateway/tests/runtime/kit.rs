//! A world of a platform, an owner and gateways, with one paused clock.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use retake_gateway::{Adapter, Capabilities, Clock, Options, RuntimeError, run};
use retake_wire::Client;
use retake_wire::chat::*;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::ledger::Ledger;
use super::platform::Platform;

pub(crate) const START_MS: i64 = 1_790_000_000_000;

/// The paused clock of tokio.
#[derive(Clone, Copy)]
pub(crate) struct TestClock(Instant);

impl TestClock {
    #[expect(clippy::disallowed_methods, reason = "the paused clock")]
    fn new() -> Self {
        Self(Instant::now())
    }
}

impl Clock for TestClock {
    fn now_ms(&self) -> i64 {
        START_MS + i64::try_from(self.0.elapsed().as_millis()).expect("small")
    }
}

/// What happened, in order.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn add(&self, line: String) {
        self.0.lock().expect("no panic before").push(line);
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().expect("no panic before").clone()
    }

    pub(crate) fn position(&self, line: &str) -> usize {
        self.lines()
            .iter()
            .position(|it| it == line)
            .unwrap_or_else(|| panic!("no {line} in {:?}", self.lines()))
    }
}

pub(crate) struct World {
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) platform: Arc<Platform>,
    pub(crate) clock: TestClock,
    pub(crate) log: Log,
}

/// A gateway that ends with this.
pub(crate) struct Gateway(JoinHandle<Result<(), RuntimeError>>);

impl Gateway {
    /// Ends it at once, and waits until nothing of it is left.
    pub(crate) async fn kill(mut self) {
        self.0.abort();
        assert!((&mut self.0).await.is_err_and(|error| error.is_cancelled()), "it had ended before");
    }

    pub(crate) async fn end(mut self) -> Result<(), RuntimeError> {
        let end = tokio::time::timeout(Duration::from_hours(24), &mut self.0).await;
        end.expect("the gateway ends").expect("no panic")
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl World {
    pub(crate) fn new(capabilities: Capabilities) -> Self {
        let (clock, log) = (TestClock::new(), Log::default());
        let ledger = Arc::new(Ledger::new(clock, log.clone()));
        let platform = Arc::new(Platform::new(capabilities, clock, log.clone()));
        Self { ledger, platform, clock, log }
    }

    pub(crate) fn options(&self, holder: &str) -> Options {
        Options {
            account: "a".into(),
            holder: holder.into(),
            clock: Arc::new(self.clock),
            seed: 7,
            limits: retake_gateway::Limits::default(),
            health: retake_gateway::Health::default(),
        }
    }

    pub(crate) fn run(
        &self,
        holder: &str,
    ) -> impl Future<Output = Result<(), RuntimeError>> + Send + 'static {
        let adapter: Arc<dyn Adapter> = self.platform.clone();
        let client: Arc<dyn Client> = self.ledger.clone();
        run(adapter, client, self.options(holder), std::future::pending::<()>())
    }

    /// Starts a gateway that can be stopped.
    pub(crate) fn start_with_stop(&self) -> (Gateway, tokio::sync::oneshot::Sender<()>) {
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let adapter: Arc<dyn Adapter> = self.platform.clone();
        let client: Arc<dyn Client> = self.ledger.clone();
        (Gateway(tokio::spawn(run(adapter, client, self.options("g"), stopped))), stop)
    }

    pub(crate) fn start(&self) -> Gateway {
        self.start_as("g")
    }

    /// Starts a gateway with the adapter of a real platform. Its test needs a clock that is not paused.
    pub(crate) fn start_with(&self, adapter: Arc<dyn Adapter>) -> Gateway {
        let client: Arc<dyn Client> = self.ledger.clone();
        let options = self.options("g");
        Gateway(tokio::spawn(run(adapter, client, options, std::future::pending::<()>())))
    }

    pub(crate) fn start_as(&self, holder: &str) -> Gateway {
        Gateway(tokio::spawn(self.run(holder)))
    }

    pub(crate) fn now(&self) -> i64 {
        self.clock.now_ms()
    }

    /// Milliseconds since the start.
    pub(crate) fn age(&self) -> i64 {
        self.now() - START_MS
    }

    /// Lets time pass until something holds.
    pub(crate) async fn until(&self, what: &str, condition: impl Fn(&Self) -> bool) {
        for _ in 0..400_000 {
            if condition(self) {
                return;
            }
            self.pass(20).await;
        }
        panic!("{what} did not become true: {:?} {:#?}", self.ledger.states(), self.log.lines());
    }

    /// Lets so many milliseconds of the paused clock pass.
    pub(crate) async fn pass(&self, ms: u64) {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
}

pub(crate) fn place(chat: &str) -> Place {
    Place { account: "a".into(), chat: chat.into(), thread: None }
}

pub(crate) fn person(id: &str) -> Person {
    Person { id: id.into(), name: "Anna".into(), is_bot: false }
}

/// A message in a private place.
pub(crate) fn message(id: &str, text: &str) -> InboundMessage {
    InboundMessage {
        place: place("c"),
        audience: Audience::Private,
        message: id.into(),
        person: person("anna"),
        sent_ms: START_MS,
        text: text.into(),
        addressed: Addressed::Mention,
        reply_to: None,
        album: None,
        is_forward: false,
        attached: Vec::new(),
    }
}

pub(crate) fn photo(id: &str, text: &str, album: Option<&str>) -> InboundMessage {
    let attached = vec![file(id)];
    InboundMessage { album: album.map(str::to_owned), attached, ..message(id, text) }
}

pub(crate) fn file(handle: &str) -> InboundFile {
    InboundFile {
        handle: handle.into(),
        name: Some("a.png".into()),
        media_type: None,
        size: None,
        is_voice: false,
    }
}

pub(crate) fn shared(message: InboundMessage, addressed: Addressed) -> InboundMessage {
    InboundMessage { audience: Audience::Shared, addressed, ..message }
}

pub(crate) fn text_of(arrive: &Arrive) -> String {
    match &arrive.event {
        Inbound::Message(message) => message.text.clone(),
        other => format!("{other:?}"),
    }
}
