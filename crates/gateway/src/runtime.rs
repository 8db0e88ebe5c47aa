//! Connects an adapter with the owner of the conversations: events go in, work on posts comes out. It may be killed at any point, and
//! another one goes on. Must never keep a state that matters, and never log a text, a person, a token or an address.

mod arrive;
mod aside;
mod backoff;
mod compose;
mod files;
mod health;
mod holds;
mod in_flight;
mod inbox;
mod join;
mod missed;
mod owner;
mod receive;
mod words;
mod work;

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use retake_wire::chat::{Arrival, Inbound, JoinedMessage, Place, PostOutcome};
use retake_wire::{Client, ProblemCode};
use tokio::sync::{mpsc, watch};

use crate::adapter::{Adapter, Identity};
use crate::failure::Failure;

use self::aside::Aside;
use self::backoff::{Backoff, Jitter};
pub use self::health::{Condition, Health};
use self::in_flight::InFlight;
use self::inbox::{Desk, Slot};
use self::owner::{NotDone, Owner};
use self::work::Worker;

/// How long a call to the platform may take. Then its answer counts as lost.
const CALL: Duration = Duration::from_secs(60);

/// How long calls may take that have begun when the gateway is stopped.
const LAST_CALLS: Duration = Duration::from_secs(5);

/// The longest sleep before the clock is read again: somebody may set it.
const LONGEST_SLEEP_MS: i64 = 60_000;

/// The time.
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970-01-01 UTC.
    fn now_ms(&self) -> i64;
}

/// How a gateway runs.
#[derive(Clone)]
pub struct Options {
    /// The name of the account: `retake gateway list` shows it.
    pub account: String,
    /// The name of this gateway, for others that want the account: its process and machine.
    pub holder: String,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The source of jitter: a number that differs between gateways.
    pub seed: u64,
    /// The limits.
    pub limits: Limits,
    /// What keeps it from its platform, for those who run it.
    pub health: Health,
}

/// The limits of a gateway.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The largest file of a message, in bytes.
    pub file_bytes: u64,
    /// The most bytes of all files of a message.
    pub message_bytes: u64,
    /// Messages that were missed are answered up to this age.
    pub answer_missed_for: Duration,
    /// The most missed messages of a place that are answered.
    pub missed_of_place: usize,
    /// The most runs that missed messages cause. The messages of a place are answered by one run.
    pub missed_runs: usize,
    /// How often another program may be found at the account before the gateway ends. It waits a minute in between.
    pub occupied: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: 20 * 1024 * 1024,
            message_bytes: 40 * 1024 * 1024,
            answer_missed_for: Duration::from_hours(24),
            missed_of_place: 100,
            missed_runs: 20,
            occupied: 10,
        }
    }
}

/// Why a gateway ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuntimeError {
    /// The platform does not accept the token.
    #[error("the platform does not accept the token")]
    BadToken,
    /// Another program receives the events of this account.
    #[error("another program uses this account")]
    Occupied,
    /// Another gateway has the account.
    #[error("another gateway has the account")]
    Held {
        /// Its name.
        holder: String,
    },
    /// The owner does not let this gateway work: the code of the problem.
    #[error("the owner of the conversations refused the gateway: {0}")]
    Owner(ProblemCode),
}

/// What all parts of a gateway share.
struct Context {
    adapter: Arc<dyn Adapter>,
    owner: Owner,
    clock: Arc<dyn Clock>,
    limits: Limits,
    us: Identity,
    asides: mpsc::UnboundedSender<Aside>,
    jitter: Mutex<Jitter>,
    /// Where the events ended, and the places that are bound.
    known: Mutex<Known>,
    stopping: watch::Sender<bool>,
    health: Health,
    sends: InFlight,
}

#[derive(Default)]
struct Known {
    cursor: Option<String>,
    places: BTreeMap<Place, Option<String>>,
}

/// Connects an adapter with the owner until `stop` is ready. Dropping it is safe at any point.
///
/// # Errors
/// What a person must do something about: see [`RuntimeError`]. Everything else is tried again.
pub async fn run(
    adapter: Arc<dyn Adapter>,
    client: Arc<dyn Client>,
    options: Options,
    stop: impl Future,
) -> Result<(), RuntimeError> {
    let mut stop = pin!(stop);
    let Options { account, holder, clock, seed, limits, health } = options;
    let mut jitter = Jitter::new(seed);
    let owner = Owner::new(client, (account, holder), adapter.capabilities(), seed ^ u64::MAX);
    let us = tokio::select! {
        us = identify(&*adapter, &mut jitter, &health) => us?,
        _ = &mut stop => return Ok(()),
    };
    let connected = tokio::select! {
        connected = owner.connect() => connected.map_err(ended)?,
        _ = &mut stop => return Ok(()),
    };
    health.works();
    let (asides, asides_in) = mpsc::unbounded_channel();
    let places = connected.places.into_iter().map(|it| (it.place, it.last_message)).collect();
    let known = Mutex::new(Known { cursor: connected.cursor, places });
    let (stopping, stopped) = watch::channel(false);
    let jitter = Mutex::new(jitter);
    let sends = InFlight::default();
    let context =
        Context { adapter, owner, clock, limits, us, asides, jitter, known, stopping, health, sends };
    let (sender, incoming) = mpsc::unbounded_channel();
    let slot = Slot::new(&context, sender);
    let mut all = pin!(async {
        tokio::select! {
            error = Desk::new(&context, incoming).run() => Err(error),
            error = receive::run(&context, &slot, stopped.clone()) => Err(error),
            result = Worker::new(&context, &connected.holds, asides_in).run(stopped.clone()) => result,
        }
    });
    tokio::select! {
        result = &mut all => return result,
        _ = &mut stop => {}
    }
    context.stopping.send_replace(true);
    // Who does not end in time counts as killed.
    tokio::time::timeout(LAST_CALLS, all).await.unwrap_or(Ok(()))
}

/// Who we are, as soon as the platform says it.
async fn identify(
    adapter: &dyn Adapter,
    jitter: &mut Jitter,
    health: &Health,
) -> Result<Identity, RuntimeError> {
    let mut backoff = Backoff::of_the_platform();
    loop {
        let failure = match guarded(adapter.identify()).await {
            Ok(us) => return Ok(us),
            Err(Failure::BadToken) => {
                tracing::error!("the platform does not accept the token");
                return Err(RuntimeError::BadToken);
            }
            Err(failure) => failure,
        };
        match health.fails(&failure) {
            true => tracing::warn!(%failure, "the platform did not say who we are"),
            false => tracing::debug!(%failure, "the platform did not say who we are"),
        }
        let least = match failure {
            Failure::Wait { wait, .. } => wait,
            _ => Duration::ZERO,
        };
        tokio::time::sleep(backoff.next(jitter).max(least)).await;
    }
}

/// A request without which the gateway cannot work was not carried out.
fn ended(not_done: NotDone) -> RuntimeError {
    match not_done {
        NotDone::End(error) => error,
        NotDone::Refused(code) => RuntimeError::Owner(code),
    }
}

impl Context {
    fn aside(&self, aside: Aside) {
        // The worker is gone only when the gateway ends.
        drop(self.asides.send(aside));
    }

    fn places(&self) -> Vec<(Place, Option<String>)> {
        self.known().places.iter().map(|(place, last)| (place.clone(), last.clone())).collect()
    }

    fn cursor(&self) -> Option<String> {
        self.known().cursor.clone()
    }

    fn set_cursor(&self, cursor: String) {
        self.known().cursor = Some(cursor);
    }

    /// Keeps the last message of each bound place.
    fn learn(&self, event: &Inbound, also: &[JoinedMessage], outcome: &Arrival) {
        let mut known = self.known();
        match event {
            Inbound::Message(message) => {
                let last = also.last().map_or(&message.message, |it| &it.message);
                match outcome {
                    Arrival::Said { .. } | Arrival::Observed => {
                        known.places.insert(message.place.clone(), Some(last.clone()));
                    }
                    Arrival::Done => {
                        if let Some(place) = known.places.get_mut(&message.place) {
                            *place = Some(last.clone());
                        }
                    }
                    Arrival::Ignored | Arrival::Stranger { .. } | Arrival::Pressed { .. } => {}
                }
            }
            Inbound::Migrated { account, from, to } => {
                let moved: Vec<Place> = known
                    .places
                    .keys()
                    .filter(|place| place.account == *account && place.chat == *from)
                    .cloned()
                    .collect();
                for place in moved {
                    let last = known.places.remove(&place).flatten();
                    known.places.insert(Place { chat: to.clone(), ..place }, last);
                }
            }
            _ => {}
        }
    }

    /// Tells the owner what became of a post. A post that it does not know any more needs no report.
    async fn report(&self, post: &str, outcome: PostOutcome) -> Result<(), RuntimeError> {
        match self.owner.settle(post, outcome).await {
            Ok(_) => Ok(()),
            Err(NotDone::End(error)) => Err(error),
            Err(NotDone::Refused(code)) => {
                tracing::warn!(code = code.as_str(), "a report was refused");
                Ok(())
            }
        }
    }

    /// When something is tried again that was tried so often before.
    fn next_try(&self, attempts: u32) -> i64 {
        let delay = Backoff::after(attempts, &mut self.jitter.lock().unwrap_or_else(PoisonError::into_inner));
        self.clock.now_ms().saturating_add(millis(delay))
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that ends in time.
async fn guarded<T>(call: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::time::timeout(CALL, call).await.unwrap_or(Err(Failure::Unknown))
}

/// Sleeps until a time, or for ever. It may wake earlier.
async fn sleep_until(clock: &dyn Clock, at_ms: Option<i64>) {
    let Some(at_ms) = at_ms else { return std::future::pending().await };
    let wait = at_ms.saturating_sub(clock.now_ms()).clamp(0, LONGEST_SLEEP_MS);
    tokio::time::sleep(Duration::from_millis(u64::try_from(wait).unwrap_or_default())).await;
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
