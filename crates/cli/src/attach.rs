//! Reaches the owner of the data directory, or becomes it: whoever comes first owns it, all others are its clients, and where it
//! goes away, the next one who asks takes its place. Must never send again what may have been done, unless it is done once.

use std::fs::File;
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use futures::stream::{self, BoxStream};
use futures::{FutureExt as _, StreamExt};
use retake_engine::clock::{Clock as _, SystemClock};
use retake_engine::ids::{Random as _, SystemRandom};
use retake_server::{Holding, InProcess, Options, Served, Serving, hold, serve, socket_of};
use retake_wire::reply::Status;
use retake_wire::{
    Client, Ended, Follow, HttpClient, Problem, ProblemKind, Reach, Reply, Request, Run, RunEvent, Told,
};
use tokio::sync::{Mutex, watch};

use crate::owner::Standing;
use crate::term::interrupt::Interrupts;

/// How often it is tried again to reach an owner that is just starting or ending.
const AGAIN: Duration = Duration::from_millis(20);

/// How long what others run here may take to end, before it is stopped and kept as it is.
const FINISH: Duration = Duration::from_secs(10);

/// An owner says at once how it is. One that does not is stopped: by Ctrl-Z, for one.
const SILENCE: Duration = Duration::from_secs(5);

/// What nobody was there to answer.
const AWAY: &str = "owner_away";

/// What was being answered when the owner went away.
const LOST: &str = "owner_lost";

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
    /// Whether it was taken away under the owner that this process was.
    gone: watch::Sender<bool>,
}

/// What there is of the owner now.
enum Held {
    /// Another process is it.
    Client(Arc<HttpClient>),
    /// This one is.
    Owner(Box<(InProcess, Served)>),
    /// This one was, until its data were taken away.
    Gone(Box<Problem>),
}

impl Held {
    fn client(&self) -> Arc<dyn Client> {
        match self {
            Self::Client(client) => Arc::clone(client) as Arc<dyn Client>,
            Self::Owner(owner) => Arc::new(owner.0.clone()),
            Self::Gone(problem) => Arc::new(Refusing((**problem).clone())),
        }
    }
}

/// Attaches to the owner, or becomes it. What its owner should know comes along.
pub(crate) async fn attach(options: Options) -> Result<(Attached, Vec<String>), Problem> {
    let (held, notices) = find_or_become(&options).await?;
    let found = File::open(&options.data_dir).ok();
    let (ids, gone) = (SystemRandom::default(), watch::Sender::new(false));
    let (held, holding) = (Mutex::new(held), OnceLock::new());
    let attached = Attached(Arc::new(Inner { options, ids, held, found, holding, gone }));
    attached.keep_watch(&*attached.0.held.lock().await);
    Ok((attached, notices))
}

/// Refuses everything: there are no data any more.
struct Refusing(Problem);

#[async_trait]
impl Client for Refusing {
    async fn call(&self, _: Request) -> Result<Reply, Problem> {
        Err(self.0.clone())
    }

    async fn run(&self, _: Run) -> Result<BoxStream<'static, RunEvent>, Problem> {
        Err(self.0.clone())
    }

    async fn follow(&self, _: Follow) -> Result<BoxStream<'static, Told>, Problem> {
        Err(self.0.clone())
    }
}

/// Whether a name leads to what was opened by it before.
fn is_same(found: &File, path: &Path) -> bool {
    let (Ok(found), Ok(now)) = (found.metadata(), std::fs::metadata(path)) else { return false };
    (found.dev(), found.ino()) == (now.dev(), now.ino())
}

fn moved(data_dir: &Path) -> Problem {
    Problem {
        code: "data_moved".to_owned(),
        kind: ProblemKind::Storage,
        message: format!(
            "the data directory was moved or deleted while it was in use, and nothing more is stored: {}",
            data_dir.display()
        ),
        hint: Some("put it back, or say where it is now with --data-dir; without both the next start makes an empty one".into()),
        causes: Vec::new(),
        head: None,
    }
}

/// The owner, where another process is it.
pub(crate) async fn find(options: &Options) -> Result<Option<HttpClient>, Problem> {
    let path = socket_of(&options.data_dir);
    if !path.exists() {
        return Ok(None);
    }
    let reach = retake_server::reachable(&path).map_err(|error| unreachable_socket(&path, &error))?;
    let client = HttpClient::new(Reach::Socket(reach))?;
    let answer = tokio::time::timeout(SILENCE, client.call(Request::Status)).await;
    match answer.unwrap_or_else(|_| Err(silent(&path))) {
        Ok(Reply::Status(status)) => same_version(status).map(|()| Some(client)),
        Err(problem) if problem.code == AWAY || problem.code == LOST => Ok(None),
        Err(problem) => Err(problem),
        Ok(_) => Ok(None),
    }
}

fn unreachable_socket(path: &Path, error: &std::io::Error) -> Problem {
    Problem {
        code: AWAY.to_owned(),
        kind: ProblemKind::Storage,
        message: format!("can't reach {}", path.display()),
        hint: None,
        causes: vec![error.to_string()],
        head: None,
    }
}

fn silent(path: &Path) -> Problem {
    Problem {
        code: "owner_silent".to_owned(),
        kind: ProblemKind::Refused,
        message: format!("the owner at {} does not answer", path.display()),
        hint: Some("where Ctrl-Z has stopped it, `fg` in its terminal lets it go on".into()),
        causes: Vec::new(),
        head: None,
    }
}

fn same_version(status: Status) -> Result<(), Problem> {
    let own = env!("CARGO_PKG_VERSION");
    if status.version == own {
        return Ok(());
    }
    let Status { version, pid, data_dir, .. } = status;
    Err(Problem {
        code: "owner_version".to_owned(),
        kind: ProblemKind::Refused,
        message: format!("{data_dir} belongs to retake {version} (process {pid}), and this is retake {own}"),
        hint: Some("`retake stop` of that version ends it; then this one takes over".into()),
        causes: Vec::new(),
        head: None,
    })
}

/// Becomes the owner, for others, until it is told to stop by one of them or by a signal.
pub(crate) async fn stand(
    options: Options,
    listen: Option<SocketAddr>,
    mut signals: Interrupts,
    terminated: impl Future<Output = ()> + Send + 'static,
) -> Result<Standing, Problem> {
    if let Some(client) = find(&options).await? {
        let Ok(Reply::Status(status)) = client.call(Request::Status).await else { return Err(owned(None)) };
        return Err(owned(Some(status)));
    }
    let data_dir = options.data_dir.clone();
    let (owner, notices) = retake_server::open(options).await?;
    let served =
        serve(Serving { client: owner.clone(), data_dir, listen, patience: Serving::PATIENCE }).await?;
    let (told, displaced) = (owner.told_to_stop(), owner.displaced());
    let Reply::Status(status) = owner.call(Request::Status).await? else {
        unreachable!("BUG: how the owner is, is answered with its status");
    };
    let over = async move {
        let ended = tokio::select! {
            () = told => Ok(()),
            () = signals.next() => Ok(()),
            () = terminated => Ok(()),
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
    Ok(Standing { status, notices, over: over.boxed() })
}

fn owned(by: Option<Status>) -> Problem {
    let who = by.map(|status| format!(" (process {})", status.pid)).unwrap_or_default();
    Problem {
        code: "held".to_owned(),
        kind: ProblemKind::Refused,
        message: format!("another process owns these conversations already{who}"),
        hint: Some("`retake status` shows it; other commands reach it by themselves".into()),
        causes: Vec::new(),
        head: None,
    }
}

/// Another process may be starting or ending at the same time: both are waited for, for as long as for an owner to end.
async fn find_or_become(options: &Options) -> Result<(Held, Vec<String>), Problem> {
    let mut tries = options.wait_for_owner.as_millis() / AGAIN.as_millis();
    loop {
        if let Some(client) = find(options).await? {
            return Ok((Held::Client(Arc::new(client)), Vec::new()));
        }
        let at_once = Options { wait_for_owner: Duration::ZERO, ..options.clone() };
        match retake_server::open(at_once).await {
            Ok((owner, notices)) => {
                let serving = Serving {
                    client: owner.clone(),
                    data_dir: options.data_dir.clone(),
                    listen: None,
                    patience: Serving::PATIENCE,
                };
                let served = serve(serving).await?;
                return Ok((Held::Owner(Box::new((owner, served))), notices));
            }
            Err(problem) if problem.code == "held" && tries > 0 => {
                tries -= 1;
                tokio::time::sleep(AGAIN).await;
            }
            Err(problem) => return Err(problem),
        }
    }
}

impl Attached {
    async fn client(&self) -> Arc<dyn Client> {
        self.0.held.lock().await.client()
    }

    /// The owner, found anew where it has gone away.
    async fn again(&self) -> Result<Arc<dyn Client>, Problem> {
        let mut held = self.0.held.lock().await;
        if matches!(*held, Held::Client(_)) {
            let data_dir = &self.0.options.data_dir;
            if self.0.found.as_ref().is_some_and(|found| !is_same(found, data_dir)) {
                return Err(moved(data_dir));
            }
            *held = find_or_become(&self.0.options).await?.0;
            self.keep_watch(&held);
        }
        Ok(held.client())
    }

    /// Where this process is the owner: once the data are taken away, it is so no more, and says why.
    fn keep_watch(&self, held: &Held) {
        let Held::Owner(owner) = held else { return };
        let (displaced, inner) = (owner.0.displaced(), Arc::downgrade(&self.0));
        tokio::spawn(async move {
            let problem = displaced.await;
            let Some(inner) = inner.upgrade() else { return };
            let held = std::mem::replace(&mut *inner.held.lock().await, Held::Gone(Box::new(problem)));
            inner.gone.send_replace(true);
            end(held, Duration::ZERO).await;
        });
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

    /// Ends it: where this process is the owner, what runs in these conversations is stopped, and what others run here may end first.
    /// In which of them something was stopped.
    pub(crate) async fn end(self, stops: Vec<String>) -> Vec<String> {
        let held = std::mem::replace(&mut *self.0.held.lock().await, Held::Client(Arc::new(nobody())));
        let stopped = match &held {
            Held::Owner(owner) => owner.0.leave(&stops).await,
            _ => Vec::new(),
        };
        end(held, FINISH).await;
        stopped
    }
}

async fn end(held: Held, patience: Duration) {
    if let Held::Owner(owner) = held {
        let (owner, served) = *owner;
        owner.finish(patience).await;
        served.stop().await;
    }
}

/// A client of nobody: what is asked after the end is answered by nobody.
fn nobody() -> HttpClient {
    let reach = Reach::Socket(std::path::PathBuf::from("/nobody"));
    HttpClient::new(reach).expect("BUG: a client could be made before")
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
            Err(problem) if problem.code == AWAY || (problem.code == LOST && request.is_repeatable()) => {
                self.again().await?.call(request).await
            }
            answered => answered,
        }
    }

    async fn run(&self, mut run: Run) -> Result<BoxStream<'static, RunEvent>, Problem> {
        run.request_id.get_or_insert_with(|| self.new_id());
        let events = match self.client().await.run(run.clone()).await {
            Err(problem) if problem.code == AWAY || problem.code == LOST => {
                self.again().await?.run(run.clone()).await?
            }
            started => started?,
        };
        Ok(going_on(self.clone(), run, events))
    }

    async fn follow(&self, follow: Follow) -> Result<BoxStream<'static, Told>, Problem> {
        let followed = match self.client().await.follow(follow.clone()).await {
            Err(problem) if problem.code == AWAY || problem.code == LOST => {
                self.again().await?.follow(follow).await
            }
            followed => followed,
        };
        let mut gone = self.0.gone.subscribe();
        // Who follows hears of it when it asks again.
        Ok(followed?.take_until(async move { drop(gone.wait_for(|gone| *gone).await) }.boxed()).boxed())
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
