//! The seam to whoever owns the data: how the program reaches it, without knowing what it is made of.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use retake_wire::reply::Status;
use retake_wire::{Client, Follow, Problem, Reply, Request, Run, RunEvent, Told};
use tokio::sync::OnceCell;

use retake_tui::hint::Audience;
use retake_tui::ui::Configured;

/// Where things are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The data directory.
    pub data_dir: PathBuf,
    /// The settings file.
    pub config_file: PathBuf,
    /// What names the settings file, where it is not the usual one, which need not be there.
    pub config_named_by: Option<&'static str>,
}

/// What to do with the settings file. The answer is a text for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Setting {
    /// Every setting, with what it is for.
    List,
    /// The value of one.
    Get(String),
    /// Another value for one.
    Set(String, String),
    /// The default for one again.
    Unset(String),
}

/// The data, opened.
pub struct Opened {
    /// What to ask.
    pub client: Arc<dyn Client>,
    /// What the person should know, a sentence each.
    pub notices: Vec<String>,
    /// Leaves it, once nothing more is asked.
    pub ending: Ending,
}

/// An owner that is there.
pub struct Reached {
    /// What to ask.
    pub client: Arc<dyn Client>,
    /// The number of its process here. Unknown where it lives in another pid namespace: the number that it gives is another process's.
    pub process: Option<u32>,
}

/// Ends a client. What it has begun goes on.
pub type Ending = Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send + Sync>;

/// An owner that is there for others.
pub struct Standing {
    /// How it is.
    pub status: Status,
    /// What the person should know, a sentence each.
    pub notices: Vec<String>,
    /// Waits until it is told to stop, by a client or by a signal; then lets what runs end, and ends. A problem, where its data were taken
    /// away under it.
    pub over: BoxFuture<'static, Result<(), Problem>>,
}

/// Opens the data.
#[async_trait]
pub trait Owner: Send + Sync {
    /// Reaches the owner of the data directory, and starts it where there is none. Only called by what needs it.
    async fn open(&self, places: &Places) -> Result<Opened, Problem>;

    /// The owner, where another process is it.
    async fn find(&self, places: &Places) -> Result<Option<Reached>, Problem>;

    /// Becomes the owner, for others.
    async fn serve(&self, places: &Places, listen: Option<SocketAddr>) -> Result<Standing, Problem>;

    /// What the settings file and the files of themes beside it say of the full-screen face.
    fn face(&self, places: &Places) -> Result<Configured, Problem>;

    /// What is wrong in the settings file and in the files of themes beside it, a sentence each.
    fn wrong(&self, places: &Places) -> Result<Vec<String>, Box<Problem>>;

    /// Reads or changes the settings file.
    fn settings(&self, places: &Places, what: &Setting) -> Result<String, Box<Problem>>;
}

/// A client that opens the data only when it is asked something: a command that reads a slow pipe first does not hold them meanwhile.
/// What it says is in the words of the face.
pub(crate) struct Opening<'a> {
    owner: &'a dyn Owner,
    places: Places,
    audience: Audience,
    opened: OnceCell<Opened>,
}

impl<'a> Opening<'a> {
    /// Nothing is opened yet.
    pub(crate) fn new(owner: &'a dyn Owner, places: Places, audience: Audience) -> Self {
        Self { owner, places, audience, opened: OnceCell::new() }
    }

    async fn client(&self) -> Result<&dyn Client, Problem> {
        let opened = self.opened.get_or_try_init(|| self.owner.open(&self.places)).await;
        let opened = opened.map_err(|problem| self.audience.word(problem))?;
        Ok(&*opened.client)
    }

    /// What the person should know of the data.
    pub(crate) fn notices(&self) -> &[String] {
        self.opened.get().map_or(&[], |opened| &opened.notices)
    }

    /// Ends it, where it was opened.
    pub(crate) async fn end(self) {
        if let Some(opened) = self.opened.into_inner() {
            (opened.ending)().await;
        }
    }

    /// Opens them now.
    pub(crate) async fn open(&self) -> Result<(), Problem> {
        self.client().await.map(drop)
    }
}

#[async_trait]
impl Client for Opening<'_> {
    async fn call(&self, request: Request) -> Result<Reply, Problem> {
        self.client().await?.call(request).await.map_err(|problem| self.audience.word(problem))
    }

    async fn run(&self, run: Run) -> Result<BoxStream<'static, RunEvent>, Problem> {
        let audience = self.audience;
        let events = self.client().await?.run(run).await.map_err(|problem| audience.word(problem))?;
        Ok(events.map(move |event| audience.word_event(event)).boxed())
    }

    async fn follow(&self, follow: Follow) -> Result<BoxStream<'static, Told>, Problem> {
        self.client().await?.follow(follow).await.map_err(|problem| self.audience.word(problem))
    }
}
