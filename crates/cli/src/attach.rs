//! Reaches the owner of the data directory, and starts it where there is none. Where it goes away, the next one is started by whoever
//! asks first. Must never send again what may have been done, unless it is done once.

use std::ffi::OsString;
use std::fs::File;
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{FutureExt as _, StreamExt};
use retake_engine::clock::{Clock as _, SystemClock};
use retake_engine::ids::{Random as _, SystemRandom};
use retake_engine::make_private;
use retake_server::{Holding, Options, Serving, hold, serve, socket_of};
use retake_wire::reply::Status;
use retake_wire::{
    Attach, Client, Ended, Follow, LEAVING, Number, PROTOCOL, Problem, ProblemKind, Reply, Request, Run,
    RunEvent, Told, UNAUTHORIZED,
};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use crate::knock::knock;
use crate::start::{Turn, start};
use crate::term::interactive;
use crate::term::interrupt::{Asked, Interrupts};
use crate::watched::{AWAY, LOST, SILENCE, Watched};

/// How often it is tried again to reach an owner that is just starting or ending.
const AGAIN: Duration = Duration::from_millis(20);

/// How long what runs may take to end, before it is stopped and kept as it is.
const FINISH: Duration = Duration::from_secs(10);

/// How long a command waits for an owner that ends with it.
const LEAVE: Duration = Duration::from_secs(30);

/// How long one try to start an owner waits for another one to end.
const TRY: Duration = Duration::from_millis(500);

/// A client of the owner, wherever it is. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Attached(Arc<Inner>);

struct Inner {
    options: Options,
    ids: SystemRandom,
    held: Mutex<Held>,
    /// The data directory as it was found: another one under its name is not what was talked about.
    found: Option<File>,
    /// Under which name this process holds drafts, once it has some; nobody does where that can't be told to others.
    holding: OnceLock<Option<(String, Holding)>>,
}

/// What there is of the owner now.
struct Held {
    client: Watched,
    /// This client is there for the owner as long as this lives.
    there: There,
    /// What the owner calls it.
    number: Number,
    status: Status,
}

impl Held {
    /// What a person is told of an owner that is at work, and can't begin anew with changed settings.
    fn keeps_older(&self) -> Option<String> {
        let Status { pid, .. } = self.status;
        self.number.keeps_older_settings.then(|| {
            format!(
                "the settings file has changed, and the running owner (process {pid}) keeps those that it began with, because something \
                 runs in it or another `retake` is open: they hold once it has nothing to do, or after `retake stop`"
            )
        })
    }
}

/// Keeps the connection open that says that this client is there.
struct There(JoinHandle<()>);

impl Drop for There {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Attaches to the owner, and starts it where there is none. What its owner should know comes along.
pub(crate) async fn attach(options: Options) -> Result<(Attached, Vec<String>), Problem> {
    let (held, notices) = find_or_start(&options).await?;
    let found = File::open(&options.data_dir).ok();
    let (held, holding) = (Mutex::new(held), OnceLock::new());
    let inner = Inner { options, ids: SystemRandom::default(), held, found, holding };
    Ok((Attached(Arc::new(inner)), notices))
}

/// Whether a name leads to what was opened by it before.
fn is_same(found: &File, path: &Path) -> bool {
    let (Ok(found), Ok(now)) = (found.metadata(), std::fs::metadata(path)) else { return false };
    (found.dev(), found.ino()) == (now.dev(), now.ino())
}

fn moved(data_dir: &Path) -> Problem {
    Problem {
        code: "data_moved".into(),
        kind: ProblemKind::Storage,
        message: format!(
            "the data directory was moved or deleted while it was in use, and nothing more is stored: {}",
            data_dir.display()
        ),
        hint: Some("put it back, or say where it is now with --data-dir; without both the next start makes an empty one".into()),
        ..Problem::default()
    }
}

/// The owner, where there is one.
pub(crate) async fn find(options: &Options) -> Result<Option<Watched>, Problem> {
    Ok(found(options).await?.map(|(client, _)| client))
}

/// The owner, where there is one, and how it is.
async fn found(options: &Options) -> Result<Option<(Watched, Status)>, Problem> {
    let path = socket_of(&options.data_dir);
    if !path.exists() {
        return Ok(None);
    }
    let reach = retake_server::reachable(&path).map_err(|error| unreachable_socket(&path, &error))?;
    let (client, answer) = knock(&reach, &options.data_dir).await?;
    match answer {
        Ok(Reply::Status(status)) => is_understood(&status).map(|()| Some((client, status))),
        Err(problem) if problem.code == AWAY || problem.code == LOST => Ok(None),
        Err(problem) => Err(problem),
        Ok(_) => Ok(None),
    }
}

/// Whether a request was not done, and another owner is to be looked for: this one is gone, or it has another token.
fn is_to_find_again(problem: &Problem) -> bool {
    [AWAY, UNAUTHORIZED].contains(&&*problem.code)
}

fn unreachable_socket(path: &Path, error: &std::io::Error) -> Problem {
    Problem {
        code: AWAY.into(),
        kind: ProblemKind::Storage,
        message: format!("can't reach {}", path.display()),
        hint: None,
        causes: vec![error.to_string()],
        ..Problem::default()
    }
}

/// Owners of other versions are understood where they say the same things to their clients.
fn is_understood(status: &Status) -> Result<(), Problem> {
    let own = env!("CARGO_PKG_VERSION");
    if status.version == own || status.protocol == PROTOCOL {
        return Ok(());
    }
    let Status { version, pid, data_dir, .. } = status;
    Err(Problem {
        code: "owner_version".into(),
        kind: ProblemKind::Refused,
        message: format!("{data_dir} belongs to retake {version} (process {pid}), and this is retake {own}"),
        hint: Some("`retake stop` of that version ends it; then this one takes over".into()),
        ..Problem::default()
    })
}

/// An owner, and what ends it.
pub(crate) struct Over {
    pub(crate) status: Status,
    pub(crate) notices: Vec<String>,
    /// Waits for its end. Why it ended, or a problem, where its data were taken away under it.
    pub(crate) over: BoxFuture<'static, Result<&'static str, Problem>>,
}

/// Refuses where there is an owner that somebody needs; one with nothing to do is ended.
pub(crate) async fn make_way(options: &Options) -> Result<(), Problem> {
    let Some((client, status)) = found(options).await? else { return Ok(()) };
    if status.idle_s.is_none() || is_busy(&status) {
        return Err(owned(Some(status)));
    }
    client.call(Request::Stop).await?;
    client.ends_within(LEAVE).await;
    Ok(())
}

/// Becomes the owner until it is told to stop by a client or by a signal, or nobody needs it any more.
pub(crate) async fn stand(
    options: Options,
    listen: Option<SocketAddr>,
    mut signals: Interrupts,
    terminated: impl Future<Output = Asked> + Send + 'static,
) -> Result<Over, Problem> {
    let data_dir = options.data_dir.clone();
    // Whatever is made from now on and says nothing else is for this user only.
    let umask = make_private();
    let (owner, notices) = retake_server::open(options).await?;
    owner.makes_files_with(umask);
    let served =
        serve(Serving { client: owner.clone(), data_dir, listen, patience: Serving::PATIENCE }).await?;
    let (told, displaced) = (owner.told_to_stop(), owner.displaced());
    let needless = owner.no_longer_needed();
    let Reply::Status(status) = owner.call(Request::Status).await? else {
        unreachable!("BUG: how the owner is, is answered with its status");
    };
    let over = async move {
        let ended = tokio::select! {
            () = told => Ok("told to stop by a command"),
            () = signals.next() => Ok("interrupted"),
            _ = terminated => Ok("terminated"),
            () = needless => Ok("nobody needs it any more"),
            problem = displaced => Err(problem),
        };
        // Nothing more can be stored where the data are gone.
        let patience = if ended.is_ok() { FINISH } else { Duration::ZERO };
        tokio::select! {
            () = owner.finish(patience) => {}
            // Who asks twice means now: what has been said so far is kept as after a crash.
            () = signals.next() => {}
        }
        served.stop().await;
        ended
    };
    Ok(Over { status, notices, over: over.boxed() })
}

fn owned(by: Option<Status>) -> Problem {
    let who = by.map(|status| format!(" (process {})", status.pid)).unwrap_or_default();
    Problem {
        code: "held".into(),
        kind: ProblemKind::Refused,
        message: format!("another process owns these conversations already{who}"),
        hint: Some("`retake status` shows it; other commands reach it by themselves".into()),
        ..Problem::default()
    }
}

/// The environment in which commands run that are asked for here. What is no text is not handed over.
fn variables() -> Vec<(String, String)> {
    let text =
        |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    std::env::vars_os().filter_map(text).collect()
}

/// The umask of this process. To ask for it otherwise than by the kernel's table would change it.
fn umask() -> Option<u32> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let umask = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(umask.trim(), 8).ok()
}

/// Lets this client in, where the owner is there and stays.
async fn let_in(options: &Options) -> Result<Option<Held>, Problem> {
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
    let there = There(tokio::spawn(async move { while stream.next().await.is_some() {} }));
    Ok(Some(Held { client, number, there, status }))
}

/// Another process may be starting or ending at the same time: both are waited for, for as long as for an owner to end.
async fn find_or_start(options: &Options) -> Result<(Held, Vec<String>), Problem> {
    let mut left = options.wait_for_owner;
    let mut notices = Vec::new();
    loop {
        if let Some(held) = let_in(options).await? {
            notices.extend(held.keeps_older());
            return Ok((held, notices));
        }
        // Of many that come at once one starts it.
        let turn = Turn::take(&options.data_dir).await;
        if let Some(held) = let_in(options).await? {
            return Ok((held, notices));
        }
        let wait = left.min(TRY);
        let started = start(options, wait).await;
        drop(turn);
        match started {
            Ok(told) => notices.extend(told),
            Err(problem) if problem.code == "held" => {
                left = left.saturating_sub(wait.max(AGAIN));
                if let Some(held) = let_in(options).await? {
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
    async fn client(&self) -> Watched {
        self.0.held.lock().await.client.clone()
    }

    /// The owner, found anew where it has gone away.
    async fn again(&self) -> Result<Watched, Problem> {
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

    /// Who holds the drafts that are shown here, as long as this process lives.
    fn holder(&self) -> Option<String> {
        let held = self.0.holding.get_or_init(|| {
            let name = self.new_id();
            hold(&self.0.options.data_dir, &name).ok().map(|holding| (name, holding))
        });
        held.as_ref().map(|(name, _)| name.clone())
    }

    /// Leaves the owner. One that ends with its last client is waited for, where this is the last one.
    pub(crate) async fn end(self) {
        let Held { client, number, there, status } = &*self.0.held.lock().await;
        if status.idle_s == Some(0) {
            let left = tokio::time::timeout(SILENCE, client.leave(*number)).await;
            // One that can't be asked any more has ended or hangs.
            if left.is_ok_and(|left| left.is_ok_and(|left| left.ends)) {
                client.ends_within(LEAVE).await;
            }
        }
        there.0.abort();
    }
}

/// Whether somebody needs an owner.
pub(crate) fn is_busy(status: &Status) -> bool {
    status.clients + status.jobs > 0 || !status.running.is_empty()
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
        Ok(going_on(self.clone(), run, events))
    }

    async fn follow(&self, follow: Follow) -> Result<BoxStream<'static, Told>, Problem> {
        match self.client().await.follow(follow.clone()).await {
            Err(problem) if is_to_find_again(&problem) || problem.code == LOST => {
                self.again().await?.follow(follow).await
            }
            followed => followed,
        }
    }
}

/// What a run has said, to whoever hears it again from another owner.
#[derive(Default)]
struct Heard {
    told: String,
    /// What the other owner has said of it.
    again: Option<String>,
}

impl Heard {
    /// What of a text is new. What the other owner tells may go on, and may be another answer: where none was stored, the model is asked
    /// anew.
    fn unheard(&mut self, text: String) -> Option<String> {
        let Self { told, again: Some(again) } = self else {
            self.told.push_str(&text);
            return Some(text);
        };
        let is_known = told.contains(&**again);
        again.push_str(&text);
        match (is_known, told.contains(&**again)) {
            (_, true) => None,
            (true, false) => again
                .strip_prefix(&**told)
                .map_or_else(|| Some(format!("\n{again}")), |more| Some(more.to_owned())),
            (false, false) => Some(text),
        }
    }
}

/// The events of a run, also where its owner goes away in the middle: what came of it is asked of the next one, by the same id.
fn going_on(
    attached: Attached,
    run: Run,
    events: BoxStream<'static, RunEvent>,
) -> BoxStream<'static, RunEvent> {
    let state = (attached, run, events, Heard::default());
    let next = |(attached, run, mut events, mut heard): (
        Attached,
        Run,
        BoxStream<'static, RunEvent>,
        Heard,
    )| async move {
        loop {
            match events.next().await? {
                RunEvent::Ended(ended)
                    if heard.again.is_none() && ended.problem.as_ref().is_some_and(|it| it.code == LOST) =>
                {
                    heard.again = Some(String::new());
                    let again = async { attached.again().await?.run(run.clone()).await };
                    match again.await {
                        Ok(again) => events = again,
                        Err(problem) => {
                            let ended = Ended { problem: Some(problem), ..*ended };
                            let event = RunEvent::Ended(Box::new(ended));
                            return Some((event, (attached, run, stream::empty().boxed(), heard)));
                        }
                    }
                    let text = "the owner went away in the middle; another one goes on from what is stored"
                        .to_owned();
                    return Some((RunEvent::Notice { text }, (attached, run, events, heard)));
                }
                RunEvent::Started { .. } | RunEvent::Reasoning { .. } if heard.again.is_some() => {}
                RunEvent::Text { text } => {
                    if let Some(text) = heard.unheard(text) {
                        return Some((RunEvent::Text { text }, (attached, run, events, heard)));
                    }
                }
                event => return Some((event, (attached, run, events, heard))),
            }
        }
    };
    stream::unfold(state, next).boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(before: &[&str], after: &[&str]) -> String {
        let mut heard = Heard::default();
        let mut said: String = before.iter().filter_map(|text| heard.unheard((*text).to_owned())).collect();
        heard.again = Some(String::new());
        said.push('|');
        said.extend(after.iter().filter_map(|text| heard.unheard((*text).to_owned())));
        said
    }

    #[test]
    fn what_another_owner_tells_of_a_run_is_told_once() {
        assert_eq!(heard(&["one ", "two "], &["one two "]), "one two |");
        assert_eq!(heard(&["one ", "two "], &["one "]), "one two |", "a little less was stored");
        assert_eq!(heard(&["one ", "two "], &["one two three ", "four"]), "one two |three four");
        assert_eq!(heard(&["one ", "two "], &["one ", "two ", "three ", "four"]), "one two |three four");
        assert_eq!(heard(&["one ", "two "], &["one ", "three ", "two "]), "one two |\none three two ");
        assert_eq!(heard(&[], &["one ", "two"]), "|one two");
    }
}
