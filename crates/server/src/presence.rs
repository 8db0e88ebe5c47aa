//! The attached clients, and whether the owner is still needed. An owner must never end while an accepted client is attached.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use retake_engine::secret::ReceivedKeys;
use retake_engine::{Audience, CommandEnvironment};
use retake_wire::http::ATTACH;
use retake_wire::{Attach, Demand, LEAVING, Number, OwnerAfterLeave, Problem, ProblemKind};
use tokio::sync::Notify;

use crate::InProcess;

/// How often running work is checked for, while no client reports.
const LOOK: Duration = Duration::from_millis(200);

/// How often, if nothing is known to run: work that no client started is noticed this late.
const SELDOM: Duration = Duration::from_secs(1);

/// How long the client that started an owner may take to attach.
const FIRST: Duration = Duration::from_secs(10);

/// The clients of an owner.
pub(crate) struct ConnectedClients {
    /// How long it stays when it is idle; `None` for ever.
    idle: Option<Duration>,
    /// The keys that clients have sent.
    handed: Arc<ReceivedKeys>,
    here: Mutex<ClientTable>,
    changed: Notify,
}

#[derive(Default)]
struct ClientTable {
    clients: BTreeMap<u64, Client>,
    next: u64,
    /// Whether no client is accepted any more.
    is_leaving: bool,
    /// When it will end if nothing happens.
    ends_ms: Option<i64>,
    /// Whether there ever was a client with a person.
    could_ask: bool,
    /// Since when there is none any more.
    left_ms: Option<i64>,
}

struct Client {
    answers: bool,
    pid: Option<u32>,
    environment: CommandEnvironment,
}

impl Client {
    /// Whether its person can be reached: not while its process is suspended.
    fn can_ask(&self) -> bool {
        self.answers && !self.pid.is_some_and(is_suspended)
    }
}

fn is_suspended(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['T', 't']))
}

impl Audience for ConnectedClients {
    fn present(&self, now_ms: i64) -> retake_engine::ClientPresence {
        let mut here = self.here();
        if here.clients.values().any(Client::can_ask) {
            here.left_ms = None;
            return retake_engine::ClientPresence::Here;
        }
        if !here.could_ask {
            return retake_engine::ClientPresence::Unknown;
        }
        let others = !here.clients.is_empty();
        retake_engine::ClientPresence::LeftAt { ms: *here.left_ms.get_or_insert(now_ms), others }
    }
}

impl ConnectedClients {
    pub(crate) fn new(idle: Option<Duration>, handed: Arc<ReceivedKeys>) -> Self {
        Self { idle, handed, here: Mutex::default(), changed: Notify::new() }
    }

    /// How long the owner stays when it is idle.
    pub(crate) fn idle(&self) -> Option<Duration> {
        self.idle
    }

    /// The number of attached clients.
    pub(crate) fn clients(&self) -> usize {
        self.here().clients.len()
    }

    /// Accepts no further client.
    pub(crate) fn refuse_all(&self) {
        self.here().is_leaving = true;
        self.changed.notify_one();
    }

    fn here(&self) -> MutexGuard<'_, ClientTable> {
        self.here.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A client is attached while this lives.
#[must_use = "the client is gone when it is dropped"]
pub struct AttachedClient {
    present: Arc<ConnectedClients>,
    number: u64,
    keeps_older: bool,
}

impl AttachedClient {
    /// Its number.
    pub(crate) fn number(&self) -> Number {
        Number { client: self.number, keeps_older_settings: self.keeps_older }
    }
}

impl Drop for AttachedClient {
    fn drop(&mut self) {
        self.present.here().clients.remove(&self.number);
        self.present.changed.notify_one();
    }
}

impl InProcess {
    /// Attaches a client with this process.
    pub(crate) async fn attend(&self, attach: Attach, pid: Option<u32>) -> Result<AttachedClient, Problem> {
        self.authorize(Demand { need: ATTACH, named: None }).await?;
        let is_other = attach.version != env!("CARGO_PKG_VERSION");
        let is_stale = is_other || self.owner_info.reads_others();
        let is_busy = self.works().await;
        let mut here = self.present.here();
        // An idle owner makes way for one with the client's version and settings.
        if is_stale && self.present.idle.is_some() && here.clients.is_empty() && !is_busy {
            here.is_leaving = true;
            self.present.changed.notify_one();
        }
        if here.is_leaving {
            return Err(leaving());
        }
        for name in self.settings.key_variables() {
            if let Some((_, value)) = attach.variables.iter().find(|(own, _)| *own == name) {
                self.present.handed.take(&name, value);
            }
        }
        let variables = attach.variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        let umask = attach.umask.or_else(|| self.engine.own_umask());
        let environment = CommandEnvironment::new(variables, umask);
        let number = here.next;
        here.next += 1;
        here.could_ask |= attach.answers;
        here.clients.insert(number, Client { answers: attach.answers, pid, environment });
        here.ends_ms = None;
        drop(here);
        self.present.changed.notify_one();
        let keeps_older = self.owner_info.keeps_older();
        Ok(AttachedClient { present: Arc::clone(&self.present), number, keeps_older })
    }

    /// Runs the commands of a request in the environment of its client.
    pub(crate) fn surrounds(&self, request: Option<&str>, client: Option<u64>) {
        let environment = client.and_then(|number| {
            let here = self.present.here();
            here.clients.get(&number).map(|client| client.environment.clone())
        });
        if let (Some(environment), Some(request)) = (environment, request.and_then(|id| id.parse().ok())) {
            self.engine.set_environment(request, environment);
        }
    }

    /// Detaches a client. The owner ends now if this was the last client, nothing runs, and an idle owner does not wait for the
    /// next client.
    pub(crate) async fn leaves(&self, number: Number) -> Result<OwnerAfterLeave, Problem> {
        self.authorize(Demand { need: ATTACH, named: None }).await?;
        // A delivery to a hook that is due does not count as work, but the end waits for it.
        let works = self.works().await || self.engine.delivers().await;
        let mut here = self.present.here();
        here.clients.remove(&number.client);
        let ends = self.present.idle == Some(Duration::ZERO) && here.clients.is_empty() && !works;
        here.is_leaving |= ends;
        drop(here);
        self.present.changed.notify_one();
        Ok(OwnerAfterLeave { ends })
    }

    /// Whether a run or a background job is at work.
    async fn works(&self) -> bool {
        // Runs last: a run that begins during the scan for processes counts.
        self.engine.living_jobs().await > 0 || !self.engine.running().is_empty()
    }

    /// When the owner will end if nothing happens, with this many jobs.
    pub(crate) fn ends_ms(&self, jobs: usize) -> Option<i64> {
        let idle = self.present.idle?;
        let works = !self.engine.running().is_empty() || jobs > 0;
        self.present.here().ends(idle, works, self.engine.by(None).time.0)
    }

    /// Waits until nothing has needed the owner for its idle time; from then on no client is accepted. An owner that stays until it is
    /// stopped waits for ever.
    pub fn no_longer_needed(&self) -> impl Future<Output = ()> + Send + use<> {
        let owner = self.clone();
        async move {
            let Some(idle) = owner.present.idle else { return std::future::pending().await };
            loop {
                let now = owner.engine.by(None).time.0;
                let (delivers, works) = (owner.engine.delivers().await, owner.works().await);
                // Records since when no person can be reached.
                owner.present.present(now);
                let mut look = if works { LOOK } else { SELDOM };
                {
                    let mut here = owner.present.here();
                    let ends = here.ends(idle, works, now);
                    here.is_leaving |= ends.is_some_and(|ends| now >= ends) && !delivers;
                    if here.is_leaving {
                        return;
                    }
                    look = match ends {
                        Some(ends) if now >= ends => LOOK,
                        Some(ends) => look.min(Duration::from_millis(ends.abs_diff(now))),
                        None => look,
                    };
                }
                tokio::select! {
                    () = tokio::time::sleep(look) => {}
                    () = owner.present.changed.notified() => {}
                }
            }
        }
    }
}

impl ClientTable {
    /// When the owner will end if nothing happens.
    fn ends(&mut self, idle: Duration, works: bool, now: i64) -> Option<i64> {
        if works || !self.clients.is_empty() {
            self.ends_ms = None;
            return None;
        }
        let stays = if self.next == 0 { idle.max(FIRST) } else { idle };
        let stays = i64::try_from(stays.as_millis()).unwrap_or(i64::MAX);
        Some(*self.ends_ms.get_or_insert(now.saturating_add(stays)))
    }
}

fn leaving() -> Problem {
    crate::convert::own_problem(ProblemKind::Refused, LEAVING, &[])
}
