//! The real owner, in a runtime of its own so that it can be killed at any await; its clock; and a model that says which messages it
//! answers. Must never lose what the model was asked, also when the owner is killed.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt as _;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use retake_engine::clock::{Clock as _, SystemClock};
use retake_engine::ids::SystemRandom;
use retake_engine::model::{Chunk, EndReason, Model, ModelError, ModelInfo, Prompt};
use retake_engine::settings::Settings;
use retake_engine::{Engine, Parts};
use retake_server::{InProcess, ListeningOwner, Serving, serve, socket_of};
use retake_testkit::{SingleModelCatalogue, sqlite_store};
use retake_wire::chat::{
    ChatNotice, GatewaySettle, PostAction, PostContent, PostLine, PostOutcome, Posts, PostsOf,
};
use retake_wire::reply::{Conversations, Entries, Entry};
use retake_wire::request::{LARGEST_PAGE, List, Log};
use retake_wire::{
    Client, Follow, HttpClient, Mark, NewToken, NumberedEvent, OwnerAddress, Problem, ProblemCode,
    ProblemKind, Reply, Request, Role, Run, RunEvent, TokenCreate,
};
use tokio::runtime::{Builder, Runtime};

use super::super::world::{log, text};
use super::talk::Wording;

/// The computer's clock and a shift. Only the shift is moved, so that sleeps are real and short.
#[derive(Clone, Default)]
pub(super) struct Clock(Arc<AtomicI64>);

impl Clock {
    pub(super) fn jump(&self, ms: i64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }

    pub(super) fn now(&self) -> i64 {
        SystemClock.now_ms() + self.0.load(Ordering::SeqCst)
    }
}

impl retake_engine::clock::Clock for Clock {
    fn now_ms(&self) -> i64 {
        self.now()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        SystemClock.sleep(duration)
    }
}

impl retake_gateway::Clock for Clock {
    fn now_ms(&self) -> i64 {
        self.now()
    }
}

/// An answer of the model.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    /// The messages since the answer before.
    pub(super) to: Vec<Wording>,
    /// All messages that the model saw.
    pub(super) seen: Vec<Wording>,
}

/// The longest time that passes while the model writes a paragraph: an answer is shown after 1.5 s, and changed after 2 or 5 s.
const SHOWN_MS: i64 = 7_000;

/// A model that answers with the number of its answer: `A7.0`, and in further paragraphs `A7.1`, `A7.2`.
#[derive(Default)]
pub(super) struct Echo {
    answers: Mutex<Vec<Answer>>,
    /// The longest pause before a paragraph, in milliseconds.
    pub(super) pause: u64,
    /// Moves this clock after each paragraph, so that answers are shown while they are written.
    jumps: Option<Clock>,
}

impl Echo {
    pub(super) fn answers(&self) -> MutexGuard<'_, Vec<Answer>> {
        lock(&self.answers)
    }
}

impl Model for Echo {
    fn name(&self) -> &str {
        "test/echo"
    }

    fn info(&self) -> ModelInfo {
        ModelInfo::default()
    }

    fn stream(&self, prompt: Prompt) -> BoxStream<'static, Result<Chunk, ModelError>> {
        let mut answer = Answer::default();
        for message in &prompt.messages {
            if message.role == retake_core::Role::Assistant {
                answer.to.clear();
            }
            let said = Wording::all(&retake_core::joined_text(&message.parts));
            answer.seen.extend(&said);
            answer.to.extend(said);
        }
        let parts = answer.to.iter().map(|wording| wording.parts).max().unwrap_or(1);
        let number = {
            let mut answers = self.answers();
            answers.push(answer);
            answers.len() - 1
        };
        let end = [Chunk::End(EndReason::Stop)];
        let paragraphs =
            (0..parts).map(move |part| Chunk::Text(format!("A{number}.{part} {}\n\n", "x".repeat(40))));
        let (pause, jumps) = (self.pause, self.jumps.clone());
        futures::stream::iter(paragraphs.chain(end))
            .then(move |chunk| {
                let jumps = jumps.clone();
                async move {
                    SystemClock.sleep(Duration::from_millis(fastrand::u64(..=pause))).await;
                    if let Some(clock) = jumps {
                        clock.jump(fastrand::i64(0..=SHOWN_MS));
                    }
                    Ok(chunk)
                }
            })
            .boxed()
    }
}

/// The names of answers and their parts in a text.
pub(super) fn tokens(text: &str) -> Vec<(usize, usize)> {
    let token = |word: &str| {
        let (answer, part) = word.strip_prefix('A')?.split_once('.')?;
        Some((answer.parse().ok()?, part.parse().ok()?))
    };
    text.split_whitespace().filter_map(token).collect()
}

struct Inside {
    runtime: Runtime,
    owner: InProcess,
    served: ListeningOwner,
}

/// What went on between the gateway and the owner.
#[derive(Default)]
pub(super) struct Watch {
    /// Requests with events that have no reply yet, and when the last reply came.
    arriving: usize,
    arrived_ms: i64,
    /// When the gateway last asked whether a post may be deleted.
    pub(super) asked_ms: HashMap<String, i64>,
    /// The posts by their ids in the chat.
    posts: HashMap<String, String>,
}

impl Watch {
    /// Whether an event may have changed the path after the gateway asked whether this message may be deleted, just now.
    pub(super) fn may_have_changed(&self, id: &str) -> bool {
        let asked = self.posts.get(id).and_then(|post| self.asked_ms.get(post));
        asked.is_some_and(|asked| {
            *asked > SystemClock.now_ms() - 1_000 && (self.arriving > 0 || self.arrived_ms >= *asked)
        })
    }
}

/// The way to the owner. While no owner is there, each request fails.
pub(super) struct Door {
    data: PathBuf,
    pub(super) clock: Clock,
    pub(super) echo: Arc<Echo>,
    inside: Mutex<Option<Inside>>,
    pub(super) watch: Mutex<Watch>,
    /// The last words of each notice that the gateway was given.
    pub(super) notices: Mutex<BTreeMap<String, ChatNotice>>,
}

impl Door {
    pub(super) fn new(data: &Path, pause: u64, jumps: bool) -> Self {
        let clock = Clock::default();
        let jumps = jumps.then(|| clock.clone());
        let echo = Arc::new(Echo { pause, jumps, ..Echo::default() });
        let data = data.to_owned();
        Self {
            data,
            clock,
            echo,
            inside: Mutex::default(),
            watch: Mutex::default(),
            notices: Mutex::default(),
        }
    }

    /// Starts an owner, if there is none.
    pub(super) async fn open(&self) {
        if lock(&self.inside).is_some() {
            return;
        }
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let (data, clock, echo) = (self.data.clone(), self.clock.clone(), Arc::clone(&self.echo));
        let started = runtime.spawn(async move {
            let parts = Parts {
                store: tokio::task::spawn_blocking({
                    let data = data.clone();
                    move || sqlite_store(&data)
                })
                .await
                .expect("a store"),
                clock: Arc::new(clock),
                random: Arc::new(SystemRandom::default()),
                models: Arc::new(SingleModelCatalogue(echo)),
                system_prompt: None,
                user: "ada".into(),
                files: None,
                mcp: None,
                agent: None,
                destinations: Vec::new(),
                memory: None,
                hooks: None,
            };
            let engine = Engine::start(parts).await.expect("started");
            let settings = Settings::parse("").expect("settings");
            let owner = InProcess::around(engine, settings, data.clone(), data.join("config.toml"));
            let serving =
                Serving { client: owner.clone(), data_dir: data, listen: None, patience: Serving::PATIENCE };
            (owner, serve(serving).await.expect("served"))
        });
        let (owner, served) = started.await.expect("an owner");
        *lock(&self.inside) = Some(Inside { runtime, owner, served });
    }

    /// Ends the owner: as a program that gets a signal, or at whatever it does.
    pub(super) async fn close(&self, is_graceful: bool) {
        let Some(Inside { runtime, owner, served }) = lock(&self.inside).take() else { return };
        if is_graceful {
            let last = owner.clone();
            let ends = async move { futures::join!(served.stop(), last.finish(Duration::ZERO)) };
            drop(runtime.spawn(ends).await);
        }
        let ended = tokio::task::spawn_blocking(move || {
            runtime.shutdown_timeout(Duration::from_secs(5));
            drop(owner);
        });
        ended.await.expect("ended");
    }

    pub(super) async fn does(&self, request: Request) -> Reply {
        self.call(request.clone()).await.unwrap_or_else(|problem| panic!("{request:?}: {problem:?}"))
    }

    /// The conversations, or nothing while no owner is there.
    async fn conversations(&self) -> Option<Conversations> {
        match self.call(Request::List(List::default())).await {
            Ok(Reply::Conversations(list)) => Some(list),
            _ => None,
        }
    }

    /// Whether nothing runs, looked at several times: a run follows the one before after a moment.
    pub(super) async fn is_idle(&self) -> bool {
        for _ in 0..3 {
            match self.conversations().await {
                Some(list) if list.conversations.iter().all(|it| !it.running) => {}
                _ => return false,
            }
            SystemClock.sleep(Duration::from_millis(4)).await;
        }
        true
    }

    /// The visible entries of each conversation.
    pub(super) async fn paths(&self) -> Option<Vec<Vec<Entry>>> {
        let mut paths = Vec::new();
        for conversation in self.conversations().await?.conversations {
            let whole = Log { limit: Some(LARGEST_PAGE), ..log(&conversation.id) };
            let Ok(Reply::Entries(Entries { entries, .. })) = self.call(Request::Log(whole)).await else {
                return None;
            };
            paths.push(
                entries.into_iter().filter(|it| matches!(it.mark, Mark::Normal | Mark::Excluded)).collect(),
            );
        }
        Some(paths)
    }

    /// The ledger.
    pub(super) async fn posts(&self) -> Option<Vec<PostLine>> {
        let mut all = Vec::new();
        for conversation in self.conversations().await?.conversations {
            let of =
                PostsOf { conversation: conversation.id, limit: Some(LARGEST_PAGE), ..PostsOf::default() };
            let Ok(Reply::Posts(Posts { posts, more })) = self.call(Request::Posts(of)).await else {
                return None;
            };
            assert!(!more, "too many posts for this test");
            all.extend(posts);
        }
        Some(all)
    }

    /// The files of the closed owner hold no word of a stranger.
    pub(super) fn holds_nothing_of_strangers(&self) {
        for file in ["retake.db", "retake.db-wal"] {
            let bytes = std::fs::read(self.data.join(file)).unwrap_or_default();
            assert!(!bytes.windows(7).any(|part| part == b"hunter2"), "{file}");
        }
    }

    /// Whether an answer stands on the path of its conversation. `None` while no owner is there.
    pub(super) async fn is_on_path(&self, answer: usize) -> Option<bool> {
        let paths = self.paths().await?;
        let answers = paths.iter().flatten().filter(|entry| entry.role == Role::Assistant);
        Some(answers.flat_map(|entry| tokens(&text(entry))).any(|(other, _)| other == answer))
    }

    /// The way of the gateway: over the socket, with the token of its account.
    pub(super) async fn way(self: &Arc<Self>) -> Way {
        let create = TokenCreate {
            name: "gate".to_owned(),
            grants: Vec::new(),
            gateway: Some("chat".to_owned()),
            expires_in_s: None,
        };
        let Reply::NewToken(NewToken { secret, .. }) = self.does(Request::TokenCreate(create)).await else {
            panic!("no token")
        };
        let address = OwnerAddress::Socket { path: socket_of(&self.data), token: Some(secret) };
        Way { client: HttpClient::new(address).expect("a client"), door: Arc::clone(self) }
    }
}

#[async_trait]
impl Client for Door {
    async fn call(&self, request: Request) -> Result<Reply, Problem> {
        let running = lock(&self.inside).as_ref().map(|inside| {
            let owner = inside.owner.clone();
            inside.runtime.spawn(async move { owner.call(request).await })
        });
        match running {
            Some(running) => running.await.unwrap_or_else(|_| Err(away())),
            None => Err(away()),
        }
    }

    async fn run(&self, _: Run) -> Result<BoxStream<'static, RunEvent>, Problem> {
        Err(away())
    }

    async fn follow(&self, _: Follow) -> Result<BoxStream<'static, NumberedEvent>, Problem> {
        Err(away())
    }
}

impl Drop for Door {
    /// A test that failed leaves nothing behind. A runtime must not be dropped in another one.
    fn drop(&mut self) {
        if let Some(Inside { runtime, .. }) = lock(&self.inside).take() {
            runtime.shutdown_background();
        }
    }
}

/// The way of the gateway. It remembers the notices.
pub(super) struct Way {
    client: HttpClient,
    door: Arc<Door>,
}

impl Way {
    fn begins(&self, request: &Request) -> Option<Arriving> {
        let mut watch = lock(&self.door.watch);
        match request {
            Request::Arrive(_) => {
                watch.arriving += 1;
                return Some(Arriving(Arc::clone(&self.door)));
            }
            Request::GatewaySettle(GatewaySettle { post, result: PostOutcome::Deleting { .. }, .. }) => {
                watch.asked_ms.insert(post.clone(), SystemClock.now_ms());
            }
            _ => {}
        }
        None
    }
}

/// An event on its way. It may end with its gateway.
struct Arriving(Arc<Door>);

impl Drop for Arriving {
    fn drop(&mut self) {
        let mut watch = lock(&self.0.watch);
        watch.arriving -= 1;
        watch.arrived_ms = SystemClock.now_ms();
    }
}

#[async_trait]
impl Client for Way {
    async fn call(&self, request: Request) -> Result<Reply, Problem> {
        let arriving = self.begins(&request);
        let reply = self.client.call(request.clone()).await;
        drop(arriving);
        let reply = reply?;
        if let Reply::GatewayWork(work) = &reply {
            for work in &work.work {
                if let PostAction::Delete { ids, .. } = &work.action {
                    let posts = ids.iter().map(|id| (id.clone(), work.post.clone()));
                    lock(&self.door.watch).posts.extend(posts);
                }
                if let PostAction::Send { content, .. } | PostAction::Edit { content, .. } = &work.action
                    && let PostContent::Notice { notice, .. } = content
                {
                    lock(&self.door.notices).insert(work.post.clone(), notice.clone());
                }
            }
        }
        Ok(reply)
    }

    async fn run(&self, run: Run) -> Result<BoxStream<'static, RunEvent>, Problem> {
        self.client.run(run).await
    }

    async fn follow(&self, follow: Follow) -> Result<BoxStream<'static, NumberedEvent>, Problem> {
        self.client.follow(follow).await
    }
}

fn away() -> Problem {
    Problem { code: ProblemCode::OwnerAway, kind: ProblemKind::Storage, ..Problem::default() }
}

pub(super) fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
