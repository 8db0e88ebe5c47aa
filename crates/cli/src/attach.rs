//! Connects to the owner of the data directory, and starts one if there is none. If it ends, the next request starts a new one.
//! Must never repeat a request that may have been carried out, unless repeating it is safe.

mod resume;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt as _, StreamExt as _};
use retake_engine::clock::{Clock as _, SystemClock};
use retake_engine::ids::{Random as _, SystemRandom};
use retake_engine::make_private;
use retake_server::{Holding, Options, Serving, hold, serve, socket_of};
use retake_wire::reply::{GatewayState, Status};
use retake_wire::{
    Attach, Client, Follow, LEAVING, Number, NumberedEvent, PROTOCOL, Problem, ProblemKind, Reply, Request,
    Run, RunEvent, UNAUTHORIZED,
};
use tokio::sync::{Mutex, watch};
use tokio::task::JoinHandle;

use crate::connection::{self, AWAY, Connection, LOST, SILENCE, is_busy};
use crate::gateways::{Around, Gateways};
use crate::owner::ServedAccounts;
use crate::owner_start::{StartLock, start};
use crate::term::interactive;
use crate::term::interrupt::{ExitRequest, Interrupts};

/// The pause between tries to reach an owner that is starting or ending.
const AGAIN: Duration = Duration::from_millis(20);

/// How long runs may take to finish before they are stopped.
const FINISH: Duration = Duration::from_secs(10);

/// How long a command waits for the end of an owner.
const LEAVE: Duration = Duration::from_secs(30);

/// How long one try to start an owner waits for another one to end.
const TRY: Duration = Duration::from_millis(500);

/// A client of the owner, in any process. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Attached(Arc<Inner>);

struct Inner {
    options: Options,
    ids: SystemRandom,
    held: Mutex<Attachment>,
    /// The data directory that was opened; another one with the same path is an error.
    found: Option<File>,
    /// The name under which this process locks its drafts; None if the lock is not possible.
    holding: OnceLock<Option<(String, Holding)>>,
}

/// The current connection to an owner.
struct Attachment {
    client: Connection,
    /// Keeps this client registered with the owner.
    presence: Presence,
    /// The number of this client.
    number: Number,
    status: Status,
}

impl Attachment {
    /// A notice that a busy owner keeps its old settings.
    fn keeps_older(&self) -> Option<String> {
        let Status { pid, .. } = self.status;
        self.number.keeps_older_settings.then(|| {
            format!(
                "the settings file has changed, but the running owner (process {pid}) keeps its old settings, because something runs in it or \
                 another `retake` is open. It uses the new ones once it has nothing to do, or after `retake stop`"
            )
        })
    }
}

/// Keeps the connection open that registers this client.
struct Presence(JoinHandle<()>);

impl Drop for Presence {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Connects to the owner, and starts one if there is none. Returns notices for the person.
pub(crate) async fn attach(options: Options) -> Result<(Attached, Vec<String>), Problem> {
    let (held, notices) = find_or_start(&options).await?;
    let found = File::open(&options.data_dir).ok();
    let (held, holding) = (Mutex::new(held), OnceLock::new());
    let inner = Inner { options, ids: SystemRandom::default(), held, found, holding };
    Ok((Attached(Arc::new(inner)), notices))
}

/// Whether a path still leads to the opened directory.
fn is_same(found: &File, path: &Path) -> bool {
    let (Ok(found), Ok(now)) = (found.metadata(), std::fs::metadata(path)) else { return false };
    (found.dev(), found.ino()) == (now.dev(), now.ino())
}

fn moved(data_dir: &Path) -> Problem {
    Problem {
        code: "data_moved".into(),
        kind: ProblemKind::Storage,
        message: format!(
            "the data directory was moved or deleted while in use, so nothing more can be stored: {}",
            data_dir.display()
        ),
        hint: Some("move it back, or name its new place with --data-dir; otherwise the next start creates an empty one".into()),
        ..Problem::default()
    }
}

/// The owner, if there is one.
pub(crate) async fn find(options: &Options) -> Result<Option<Connection>, Problem> {
    Ok(found(options).await?.map(|(client, _)| client))
}

/// The owner and its status, if there is one.
async fn found(options: &Options) -> Result<Option<(Connection, Status)>, Problem> {
    let path = socket_of(&options.data_dir);
    if !path.exists() {
        return Ok(None);
    }
    let reach = retake_server::reachable(&path).map_err(|error| unreachable_socket(&path, &error))?;
    let (client, answer) = connection::probe(&reach, &options.data_dir).await?;
    match answer {
        Ok(Reply::Status(status)) => is_understood(&status).map(|()| Some((client, status))),
        Err(problem) if problem.code == AWAY || problem.code == LOST => Ok(None),
        Err(problem) => Err(problem),
        Ok(_) => Ok(None),
    }
}

/// Whether a request was not carried out because this owner ends, has ended or has another token.
fn is_to_find_again(problem: &Problem) -> bool {
    [AWAY, LEAVING, UNAUTHORIZED].contains(&&*problem.code)
}

fn unreachable_socket(path: &Path, error: &std::io::Error) -> Problem {
    Problem {
        code: AWAY.into(),
        kind: ProblemKind::Storage,
        message: format!("cannot reach {}", path.display()),
        hint: None,
        causes: vec![error.to_string()],
        ..Problem::default()
    }
}

/// Owners of other versions are accepted if they use the same protocol.
fn is_understood(status: &Status) -> Result<(), Problem> {
    let own = env!("CARGO_PKG_VERSION");
    if status.version == own || status.protocol == PROTOCOL {
        return Ok(());
    }
    let Status { version, pid, data_dir, .. } = status;
    Err(Problem {
        code: "owner_version".into(),
        kind: ProblemKind::Refused,
        message: format!("retake {version} (process {pid}) owns {data_dir}, and this is retake {own}"),
        hint: Some("stop it with `retake stop` of that version; then this version can start".into()),
        ..Problem::default()
    })
}

/// An owner in this process, and its end.
pub(crate) struct RunningOwner {
    pub(crate) status: Status,
    pub(crate) notices: Vec<String>,
    /// How the gateways of this process are.
    pub(crate) gateways: watch::Receiver<BTreeMap<String, GatewayState>>,
    /// Waits for its end. Returns the reason, or an error if its data directory was removed.
    pub(crate) over: BoxFuture<'static, Result<&'static str, Problem>>,
}

/// Stops an idle owner; fails if the owner is in use.
pub(crate) async fn replace_idle_owner(options: &Options) -> Result<(), Problem> {
    let Some((client, status)) = found(options).await? else { return Ok(()) };
    if status.idle.idle_s.is_none() || is_busy(&status) {
        return Err(owned(Some(status)));
    }
    client.call(Request::Stop).await?;
    client.ends_within(LEAVE).await;
    Ok(())
}

/// Runs as the owner until a client or a signal stops it, or no client needs it any more; with the gateways of these accounts.
pub(crate) async fn become_owner(
    options: Options,
    listen: Option<SocketAddr>,
    accounts: Option<ServedAccounts>,
    mut signals: Interrupts,
    terminated: impl Future<Output = ExitRequest> + Send + 'static,
) -> Result<RunningOwner, Problem> {
    let (data_dir, config_file) = (options.data_dir.clone(), options.config_file.clone());
    // New files are private to this user by default.
    let umask = make_private();
    let (owner, notices) = retake_server::open(options).await?;
    owner.makes_files_with(umask);
    let patience = Serving::PATIENCE;
    let served =
        serve(Serving { client: owner.clone(), data_dir: data_dir.clone(), listen, patience }).await?;
    let (told, displaced) = (owner.told_to_stop(), owner.displaced());
    let needless = owner.no_longer_needed();
    let Reply::Status(status) = owner.call(Request::Status).await? else {
        unreachable!("BUG: how the owner is, is answered with its status");
    };
    tracing::info!(version = status.version, data_dir = ?status.data_dir, "the owner has started");
    let states = owner.gateways();
    let seen = states.subscribe();
    let chats = accounts.map(|wanted| Gateways::start(wanted, Around { config_file, data_dir, states }));
    let over = async move {
        let ended = tokio::select! {
            () = told => Ok("stopped by a command"),
            () = signals.next() => Ok("interrupted"),
            _ = terminated => Ok("terminated"),
            () = needless => Ok("no longer needed"),
            problem = displaced => Err(problem),
        };
        // Nothing more can be stored without the data directory.
        let patience = if ended.is_ok() { FINISH } else { Duration::ZERO };
        owner.closes_the_door();
        let ends = async {
            // First nothing more arrives from chats. Gateways report what became of their last calls: until then, the owner answers.
            Gateways::stop(chats).await;
            // Then runs end, and no other one can begin.
            owner.finish(patience).await;
        };
        tokio::select! {
            () = ends => {}
            // A second Ctrl-C stops at once: answers are kept as after a crash.
            () = signals.next() => {}
        }
        served.stop().await;
        match &ended {
            Ok(reason) => tracing::info!(reason, "the owner has ended"),
            Err(problem) => tracing::error!(code = &*problem.code, "the owner has ended"),
        }
        ended
    };
    Ok(RunningOwner { status, notices, gateways: seen, over: over.boxed() })
}

fn owned(by: Option<Status>) -> Problem {
    let who = by.map(|status| format!(" (process {})", status.pid)).unwrap_or_default();
    Problem {
        code: "held".into(),
        kind: ProblemKind::Refused,
        message: format!("another process already owns these conversations{who}"),
        hint: Some("`retake status` shows it; all other commands use it automatically".into()),
        ..Problem::default()
    }
}

/// The environment for commands that this client requests. Variables that are no UTF-8 are left out.
fn variables() -> Vec<(String, String)> {
    let text =
        |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    std::env::vars_os().filter_map(text).collect()
}

/// The umask of this process, from `/proc`: the system call to read it would change it.
fn umask() -> Option<u32> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let umask = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(umask.trim(), 8).ok()
}

/// Registers this client if there is an owner that stays.
async fn register(options: &Options) -> Result<Option<Attachment>, Problem> {
    let Some((client, status)) = found(options).await? else { return Ok(None) };
    let attach = Attach {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        answers: interactive(),
        variables: variables(),
        umask: umask(),
    };
    let (number, mut stream) = match client.attach(&attach).await {
        Ok(attached) => attached,
        Err(problem) if [AWAY, LOST, LEAVING].contains(&&*problem.code) => return Ok(None),
        Err(problem) => return Err(problem),
    };
    let presence = Presence(tokio::spawn(async move { while stream.next().await.is_some() {} }));
    Ok(Some(Attachment { client, number, presence, status }))
}

/// Connects to an owner or starts one. Waits for other processes that start or end at the same time.
async fn find_or_start(options: &Options) -> Result<(Attachment, Vec<String>), Problem> {
    let mut left = options.wait_for_owner;
    let mut notices = Vec::new();
    loop {
        if let Some(held) = register(options).await? {
            notices.extend(held.keeps_older());
            return Ok((held, notices));
        }
        // Only one of several clients starts it.
        let turn = StartLock::take(&options.data_dir).await;
        if let Some(held) = register(options).await? {
            return Ok((held, notices));
        }
        let wait = left.min(TRY);
        let started = start(options, wait).await;
        drop(turn);
        match started {
            Ok(told) => notices.extend(told),
            Err(problem) if problem.code == "held" => {
                left = left.saturating_sub(wait.max(AGAIN));
                if let Some(held) = register(options).await? {
                    return Ok((held, notices));
                }
                if left.is_zero() {
                    return Err(problem);
                }
            }
            Err(problem) => return Err(problem),
        }
    }
}

impl Attached {
    async fn client(&self) -> Connection {
        self.0.held.lock().await.client.clone()
    }

    /// Reconnects to the owner, or starts a new one.
    async fn again(&self) -> Result<Connection, Problem> {
        let mut held = self.0.held.lock().await;
        let data_dir = &self.0.options.data_dir;
        if self.0.found.as_ref().is_some_and(|found| !is_same(found, data_dir)) {
            return Err(moved(data_dir));
        }
        *held = find_or_start(&self.0.options).await?.0;
        Ok(held.client.clone())
    }

    fn new_id(&self) -> String {
        self.0.ids.uuid_v7(SystemClock.now_ms()).to_string()
    }

    /// The name of the lock for the drafts of this process.
    fn holder(&self) -> Option<String> {
        let held = self.0.holding.get_or_init(|| {
            let name = self.new_id();
            hold(&self.0.options.data_dir, &name).ok().map(|holding| (name, holding))
        });
        held.as_ref().map(|(name, _)| name.clone())
    }

    /// Unregisters this client. Waits for the end of an owner that ends with its last client.
    pub(crate) async fn end(self) {
        let Attachment { client, number, presence, status } = &*self.0.held.lock().await;
        if status.idle.idle_s == Some(0) {
            let left = tokio::time::timeout(SILENCE, client.leave(*number)).await;
            // An owner that does not answer has ended or hangs.
            if left.is_ok_and(|left| left.is_ok_and(|left| left.ends)) {
                client.ends_within(LEAVE).await;
            }
        }
        presence.0.abort();
    }
}

#[async_trait]
impl Client for Attached {
    async fn call(&self, mut request: Request) -> Result<Reply, Problem> {
        if let Some(id) = request.request_id() {
            id.get_or_insert_with(|| self.new_id());
        }
        if let Some(holder @ None) = request.holder() {
            *holder = self.holder();
        }
        match self.client().await.call(request.clone()).await {
            Err(problem)
                if is_to_find_again(&problem) || (problem.code == LOST && request.is_repeatable()) =>
            {
                self.again().await?.call(request).await
            }
            answered => answered,
        }
    }

    async fn run(&self, mut run: Run) -> Result<BoxStream<'static, RunEvent>, Problem> {
        run.request_id.get_or_insert_with(|| self.new_id());
        let events = match self.client().await.run(run.clone()).await {
            Err(problem) if is_to_find_again(&problem) || problem.code == LOST => {
                self.again().await?.run(run.clone()).await?
            }
            started => started?,
        };
        Ok(resume::resume_run(self.clone(), run, events))
    }

    async fn follow(&self, follow: Follow) -> Result<BoxStream<'static, NumberedEvent>, Problem> {
        match self.client().await.follow(follow.clone()).await {
            Err(problem) if is_to_find_again(&problem) || problem.code == LOST => {
                self.again().await?.follow(follow).await
            }
            followed => followed,
        }
    }
}
