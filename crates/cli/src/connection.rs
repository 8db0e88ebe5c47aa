//! A client that watches the process of its owner. It reports an owner that ends or is suspended during a request, even if
//! another process keeps the connection open. Must never give up on a working owner, however long it takes.

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use retake_server::token_of;
use retake_wire::reply::Status;
use retake_wire::{
    Attach, Client, Ended, Follow, HttpClient, Number, NumberedEvent, Outcome, OwnerAddress, OwnerAfterLeave,
    Problem, ProblemKind, Reply, Request, Run, RunEvent, RunNotice, UNAUTHORIZED, english,
};
use tokio::net::UnixStream;
use tokio::time::{sleep, timeout};

use crate::process_end::{ProcessEnd, is_stopped};

/// How long a process may be suspended before this is reported, and how long a status request may take.
pub(crate) const SILENCE: Duration = Duration::from_secs(5);

/// How often to check the process while waiting for a reply.
const LOOK: Duration = Duration::from_millis(100);

/// The longest time until the last data of an ended owner arrive.
const MOMENT: Duration = Duration::from_millis(500);

/// The error code if there was no owner.
pub(crate) const AWAY: &str = "owner_away";

/// The error code if the owner went away before it replied.
pub(crate) const LOST: &str = "owner_lost";

/// A client that watches the process of its owner. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Connection {
    http: HttpClient,
    owner: Arc<Process>,
}

/// Whether an owner is in use.
pub(crate) fn is_busy(status: &Status) -> bool {
    status.clients + status.beside.jobs > 0 || !status.running.is_empty()
}

/// The process at the other end of a socket.
struct Process {
    socket: PathBuf,
    /// Its pid and its end; unknown if it runs in another pid namespace.
    known: Option<(u32, ProcessEnd)>,
}

/// Why an owner does not reply.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NoReplyCause {
    /// Its process has ended.
    Ended,
    /// Its process is suspended, by Ctrl+Z or a signal.
    Stopped,
}

impl Process {
    async fn behind(socket: PathBuf) -> Self {
        let pid = UnixStream::connect(&socket).await.ok();
        let pid = pid.and_then(|stream| u32::try_from(stream.peer_cred().ok()?.pid()?).ok());
        let known = pid.filter(|pid| *pid > 0).map(|pid| (pid, ProcessEnd::of(pid)));
        Self { socket, known }
    }

    /// Waits until the process has ended; with `reports_stop`, also until it has been suspended for a while.
    async fn fails(&self, reports_stop: bool) -> NoReplyCause {
        let Some((pid, end)) = &self.known else { return std::future::pending().await };
        let mut stopped = Duration::ZERO;
        loop {
            sleep(LOOK).await;
            if end.has_ended() {
                return NoReplyCause::Ended;
            }
            stopped = if is_stopped(*pid) { stopped + LOOK } else { Duration::ZERO };
            if reports_stop && stopped >= SILENCE {
                return NoReplyCause::Stopped;
            }
        }
    }

    fn problem(&self, trouble: NoReplyCause) -> Problem {
        match trouble {
            NoReplyCause::Ended => lost(),
            NoReplyCause::Stopped => self.silent(),
        }
    }

    /// The error for an owner that does not reply.
    fn silent(&self) -> Problem {
        let stopped = self.known.as_ref().map(|(pid, _)| (*pid, is_stopped(*pid)));
        let (why, hint) = match stopped {
            Some((pid, true)) => (format!(": its process {pid} is suspended"), english::owner_silent(pid)),
            Some((pid, false)) => {
                let hint = format!(
                    "its process {pid} may be busy: try again; `kill {pid}` stops it, and the next command starts another one"
                );
                (String::new(), hint)
            }
            None => (
                String::new(),
                "it may be suspended or busy: check its process on the system where it runs".into(),
            ),
        };
        Problem {
            code: "owner_silent".into(),
            kind: ProblemKind::Refused,
            message: format!("the owner at {} does not answer{why}", self.socket.display()),
            hint: Some(hint.into()),
            ..Problem::default()
        }
    }

    /// A notice for the person while a run waits.
    fn notice(&self) -> RunEvent {
        let pid = self.known.as_ref().map_or(0, |(pid, _)| *pid);
        own_notice(RunNotice::OwnerSilent { pid })
    }
}

/// A notice of this client's own.
pub(crate) fn own_notice(notice: RunNotice) -> RunEvent {
    RunEvent::Notice { notice, text: String::new() }
}

/// The error for an owner that went away before it replied.
fn lost() -> Problem {
    Problem {
        code: LOST.into(),
        kind: ProblemKind::Storage,
        message: "the owner of the conversations ended before it answered".to_owned(),
        hint: Some("check whether the request was done before you repeat it".into()),
        ..Problem::default()
    }
}

/// A client of the owner behind a socket, and the reply to a status request. The token is that of the data directory.
pub(crate) async fn probe(
    socket: &Path,
    data_dir: &Path,
) -> Result<(Connection, Result<Reply, Problem>), Problem> {
    let token = token_of(data_dir);
    let answered = probe_with(socket, token.clone()).await?;
    if answered.1.as_ref().is_err_and(|problem| problem.code == UNAUTHORIZED) {
        // An owner whose token file was deleted has just written it again.
        let now = token_of(data_dir);
        if now != token {
            return probe_with(socket, now).await;
        }
    }
    Ok(answered)
}

async fn probe_with(
    socket: &Path,
    token: Option<String>,
) -> Result<(Connection, Result<Reply, Problem>), Problem> {
    let client = Connection::new(socket, token).await?;
    let answer = client.status().await;
    Ok((client, answer))
}

impl Connection {
    /// A client of the owner behind a socket.
    pub(crate) async fn new(socket: &Path, token: Option<String>) -> Result<Self, Problem> {
        let http = HttpClient::new(OwnerAddress::Socket { path: socket.to_owned(), token })?;
        Ok(Self { http, owner: Arc::new(Process::behind(socket.to_owned()).await) })
    }

    /// The status of the owner, which replies at once or not at all. The socket of an ended owner does not count.
    pub(crate) async fn status(&self) -> Result<Reply, Problem> {
        if self.owner.known.as_ref().is_some_and(|(_, end)| end.has_ended()) {
            return Err(lost());
        }
        let answer = timeout(SILENCE, self.call(Request::Status)).await;
        answer.unwrap_or_else(|_| Err(self.owner.silent()))
    }

    /// Its process id, if known.
    pub(crate) fn process(&self) -> Option<u32> {
        self.owner.known.as_ref().map(|(pid, _)| *pid)
    }

    /// See [`HttpClient::attach`].
    pub(crate) async fn attach(&self, attach: &Attach) -> Result<(Number, BoxStream<'static, ()>), Problem> {
        self.guard(self.http.attach(attach)).await
    }

    /// See [`HttpClient::leave`].
    pub(crate) async fn leave(&self, number: Number) -> Result<OwnerAfterLeave, Problem> {
        self.guard(self.http.leave(number)).await
    }

    /// Waits at most this long until the owner's process has ended. Returns whether it has.
    pub(crate) async fn ends_within(&self, patience: Duration) -> bool {
        match &self.owner.known {
            Some((_, end)) => end.wait_for(patience).await,
            None => false,
        }
    }

    /// The reply, or the reason why there is none.
    async fn guard<T>(&self, answer: impl Future<Output = Result<T, Problem>>) -> Result<T, Problem> {
        let mut answer = pin!(answer);
        let trouble = tokio::select! {
            biased;
            answered = &mut answer => return answered,
            trouble = self.owner.fails(true) => trouble,
        };
        timeout(MOMENT, answer).await.unwrap_or_else(|_| Err(self.owner.problem(trouble)))
    }
}

#[async_trait]
impl Client for Connection {
    async fn call(&self, request: Request) -> Result<Reply, Problem> {
        self.guard(self.http.call(request)).await
    }

    async fn run(&self, run: Run) -> Result<BoxStream<'static, RunEvent>, Problem> {
        let events = self.guard(self.http.run(run)).await?;
        Ok(watch_run(Arc::clone(&self.owner), events))
    }

    async fn follow(&self, follow: Follow) -> Result<BoxStream<'static, NumberedEvent>, Problem> {
        let told = self.guard(self.http.follow(follow)).await?;
        let owner = Arc::clone(&self.owner);
        let over = async move {
            owner.fails(false).await;
            sleep(MOMENT).await;
        };
        Ok(told.take_until(Box::pin(over)).boxed())
    }
}

/// The events of a run. A suspended owner is reported once, and the run waits for it.
fn watch_run(owner: Arc<Process>, events: BoxStream<'static, RunEvent>) -> BoxStream<'static, RunEvent> {
    let next = |(owner, events, is_reported): (Arc<Process>, Option<BoxStream<'static, RunEvent>>, bool)| async move {
        let mut events = events?;
        let trouble = tokio::select! {
            biased;
            event = events.next() => return event.map(|event| (event, (owner, Some(events), false))),
            trouble = owner.fails(!is_reported) => trouble,
        };
        if trouble == NoReplyCause::Stopped {
            return Some((owner.notice(), (owner, Some(events), true)));
        }
        match timeout(MOMENT, events.next()).await {
            Ok(event) => event.map(|event| (event, (owner, Some(events), is_reported))),
            Err(_) => {
                let problem = Some(lost());
                let ended = Ended { outcome: Outcome::Failed, receipt: None, entry: None, problem };
                Some((RunEvent::Ended(Box::new(ended)), (owner, None, is_reported)))
            }
        }
    };
    stream::unfold((owner, Some(events), false), next).boxed()
}
