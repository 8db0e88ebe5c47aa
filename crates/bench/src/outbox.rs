//! Deliveries to destinations: how fast they are, how soon one follows its change, and what they cost those who wait for the change.
//! Works in a folder of its own that is removed afterwards.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use async_trait::async_trait;
use retake_core::{
    Action, Apply, Attempt, ConversationId, Delivery, DeliveryEvent, Part, Role, SayRequest, SeenState,
};
use retake_engine::Engine;
use retake_engine::outbox::Destination;
use tokio::sync::{Semaphore, watch};

use crate::OutboxArguments;
use crate::report::Report;
use crate::samples::{at, median};
use crate::turn::Desk;

/// The longest wait for deliveries.
const PATIENCE: Duration = Duration::from_secs(600);

/// A destination that takes deliveries while it is open, in no time.
struct Gate {
    open: watch::Receiver<bool>,
    messages: AtomicU64,
    deliveries: AtomicU64,
    arrived: Semaphore,
}

/// The same destination for an engine and for the benchmark.
struct AtGate(Arc<Gate>);

#[async_trait]
impl Destination for AtGate {
    fn name(&self) -> &str {
        "gate"
    }

    fn folder(&self) -> Option<&str> {
        None
    }

    fn events(&self) -> &[DeliveryEvent] {
        DeliveryEvent::ALL
    }

    fn texts(&self) -> bool {
        false
    }

    fn limit(&self) -> Duration {
        PATIENCE
    }

    fn keep_trying(&self) -> Duration {
        PATIENCE
    }

    async fn deliver(&self, delivery: &Delivery) -> Attempt {
        let mut open = self.0.open.clone();
        if open.wait_for(|open| *open).await.is_err() {
            return Attempt::Later("the benchmark has ended".to_owned(), None);
        }
        self.0.messages.fetch_add(delivery.came.len() as u64, Ordering::Relaxed);
        self.0.deliveries.fetch_add(1, Ordering::Relaxed);
        self.0.arrived.add_permits(1);
        Attempt::Done
    }
}

impl Gate {
    /// Waits until this many messages have arrived in all.
    async fn until(&self, messages: u64) -> anyhow::Result<()> {
        let all = async {
            while self.messages.load(Ordering::Relaxed) < messages {
                self.arrived.acquire().await?.forget();
            }
            Ok(())
        };
        tokio::time::timeout(PATIENCE, all).await.context("not all deliveries came")?
    }
}

/// Measures everything.
pub(crate) fn run(arguments: &OutboxArguments) -> anyhow::Result<Report> {
    let dir = &arguments.dir;
    let folder = crate::own_folder(dir)?;
    let mut report = Report::default();
    report.text("version", env!("CARGO_PKG_VERSION"));
    report.count("items", arguments.items);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(measure(arguments, folder.path(), &mut report))?;
    Ok(report)
}

async fn measure(arguments: &OutboxArguments, folder: &Path, report: &mut Report) -> anyhow::Result<()> {
    let (items, runs) = (arguments.items, arguments.runs);
    let (gate_of, open) = watch::channel(true);
    let (messages, deliveries) = (AtomicU64::new(0), AtomicU64::new(0));
    let gate = Arc::new(Gate { open, messages, deliveries, arrived: Semaphore::new(0) });
    let plain = Desk::open_with(&folder.join("plain"), Vec::new()).await?;
    let desk = Desk::open_with(&folder.join("owed"), vec![Arc::new(AtGate(Arc::clone(&gate)))]).await?;
    let engine = desk.engine();
    engine.deliver_in_background();

    // From a message to its arrival, one after the other.
    let one = desk.begin(None).await?;
    let mut delays = Vec::new();
    for number in 1..=runs {
        say(engine, one).await?;
        let stored = Instant::now();
        gate.until(number).await?;
        delays.push(stored.elapsed().as_secs_f64() * 1e3);
    }
    report.measure("delay_p50_ms", at(&delays, 50));
    report.measure("delay_p99_ms", at(&delays, 99));

    // While nothing gets through, a rewind costs what it costs without a destination.
    gate_of.send_replace(false);
    for (name, desk) in [("", &plain), ("_owed", &desk)] {
        let of = desk.begin(None).await?;
        let mut says = Vec::new();
        for _ in 0..items {
            let start = Instant::now();
            say(desk.engine(), of).await?;
            says.push(start.elapsed().as_secs_f64() * 1e6);
        }
        report.add(format!("say{name}_us"), median(says));
        let (mut rewinds, mut undos) = (Vec::new(), Vec::new());
        let middle = desk.engine().entry(of, &format!("t{}", items / 2)).await?;
        for _ in 0..runs {
            for (action, times) in [(Action::Rewind(middle), &mut rewinds), (Action::Undo(1), &mut undos)] {
                let by = desk.engine().by(None);
                let start = Instant::now();
                desk.engine().apply(of, Apply { action, seen: SeenState::Anything, by }).await?;
                times.push(start.elapsed().as_secs_f64() * 1e6);
            }
        }
        report.add(format!("rewind{name}_us"), median(rewinds));
        report.add(format!("undo{name}_us"), median(undos));
    }

    // What waited, in one conversation: up to 100 messages in a delivery.
    let before = gate.messages.load(Ordering::Relaxed);
    let start = Instant::now();
    gate_of.send_replace(true);
    gate.until(before + items).await?;
    report.measure("messages_per_s", items as f64 / start.elapsed().as_secs_f64());

    // A message in each of many conversations: a delivery for each.
    gate_of.send_replace(false);
    for _ in 0..runs {
        let of = desk.begin(None).await?;
        say(engine, of).await?;
    }
    let (before, start) = (gate.deliveries.load(Ordering::Relaxed), Instant::now());
    let owed = gate.messages.load(Ordering::Relaxed) + runs;
    gate_of.send_replace(true);
    gate.until(owed).await?;
    let made = gate.deliveries.load(Ordering::Relaxed) - before;
    if made < runs {
        bail!("{made} deliveries for {runs} conversations");
    }
    report.measure("deliveries_per_s", made as f64 / start.elapsed().as_secs_f64());
    Ok(())
}

async fn say(engine: &Engine, of: ConversationId) -> anyhow::Result<()> {
    let parts = vec![Part::text("a message of a few words")];
    engine.say(of, SayRequest::new(engine.new_entry_id(), Role::User, parts, engine.by(None))).await?;
    Ok(())
}
