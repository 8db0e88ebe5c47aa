//! The interface to the owner of the data: how the program reaches it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use retake_wire::reply::{GatewayState, Status};
use retake_wire::{Client, Follow, NumberedEvent, Problem, Reply, Request, Run, RunEvent};
use tokio::sync::{OnceCell, watch};

use retake_tui::hint::Audience;
use retake_tui::ui::Configured;

/// The paths of data and settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// The data directory.
    pub data_dir: PathBuf,
    /// The settings file.
    pub config_file: PathBuf,
    /// The log of owners, in the state folder.
    pub log_file: PathBuf,
    /// The option or variable that names the settings file; such a file must exist.
    pub config_named_by: Option<&'static str>,
}

/// An operation on the settings file. Returns a text for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Setting {
    /// Every setting with its description.
    List,
    /// The value of a setting.
    Get(String),
    /// A new value for a setting.
    Set(String, String),
    /// Resets a setting to its default.
    Unset(String),
}

/// The opened data.
pub struct Opened {
    /// The client.
    pub client: Arc<dyn Client>,
    /// Notices for the person, one sentence each.
    pub notices: Vec<String>,
    /// Ends the client after its last request.
    pub ending: Ending,
}

/// A running owner.
pub struct FoundOwner {
    /// The client.
    pub client: Arc<dyn Client>,
    /// Its pid. `None` in another pid namespace, where the pid that it reports would be another process here.
    pub process: Option<u32>,
}

/// Ends a client. Its runs continue.
pub type Ending = Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send + Sync>;

/// An owner in this process.
pub struct Serving {
    /// Its status.
    pub status: Status,
    /// Notices for the person, one sentence each.
    pub notices: Vec<String>,
    /// How the gateways of this process are, by their accounts, and each change.
    pub gateways: watch::Receiver<BTreeMap<String, GatewayState>>,
    /// Waits for a stop request by a client or a signal; then lets runs finish, and ends. Returns an error if its data directory
    /// was removed.
    pub over: BoxFuture<'static, Result<(), Problem>>,
}

/// The accounts of chats whose gateways an owner runs in its own process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServedAccounts {
    /// All that are there, also those that are added later.
    All,
    /// Those with these names, as far as they are there.
    Named(Vec<String>),
}

impl ServedAccounts {
    pub(crate) fn covers(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Named(names) => names.iter().any(|named| named == name),
        }
    }
}

/// The ways to reach the data.
#[async_trait]
pub trait Owner: Send + Sync {
    /// Connects to the owner of the data directory, and starts one if there is none.
    async fn open(&self, paths: &Paths) -> Result<Opened, Problem>;

    /// The running owner, if there is one.
    async fn find(&self, paths: &Paths) -> Result<Option<FoundOwner>, Problem>;

    /// Runs as the owner, for other commands, with the gateways of these accounts.
    async fn serve(
        &self,
        paths: &Paths,
        listen: Option<SocketAddr>,
        accounts: ServedAccounts,
    ) -> Result<Serving, Problem>;

    /// The settings of the full-screen program, with the themes beside the settings file.
    fn ui_settings(&self, paths: &Paths) -> Result<Configured, Problem>;

    /// The errors in the settings file and in the theme files beside it, one sentence each.
    fn wrong(&self, paths: &Paths) -> Result<Vec<String>, Box<Problem>>;

    /// What is right in the settings file, and still worth a warning, one sentence each.
    fn warnings(&self, paths: &Paths) -> Result<Vec<String>, Box<Problem>>;

    /// Reads or changes the settings file.
    fn settings(&self, paths: &Paths, what: &Setting) -> Result<String, Box<Problem>>;
}

/// A client that connects at the first request, so that a command that reads a slow pipe keeps no owner alive. Hints name the commands of
/// the client.
pub(crate) struct LazyClient<'a> {
    owner: &'a dyn Owner,
    paths: &'a Paths,
    audience: Audience,
    opened: OnceCell<Opened>,
}

impl<'a> LazyClient<'a> {
    /// Not connected yet.
    pub(crate) fn new(owner: &'a dyn Owner, paths: &'a Paths, audience: Audience) -> Self {
        Self { owner, paths, audience, opened: OnceCell::new() }
    }

    async fn client(&self) -> Result<&dyn Client, Problem> {
        let opened = self.opened.get_or_try_init(|| self.owner.open(self.paths)).await;
        let opened = opened.map_err(|problem| self.audience.word(problem))?;
        Ok(&*opened.client)
    }

    /// Notices for the person about the data.
    pub(crate) fn notices(&self) -> &[String] {
        self.opened.get().map_or(&[], |opened| &opened.notices)
    }

    /// Ends it, if it was connected.
    pub(crate) async fn end(self) {
        if let Some(opened) = self.opened.into_inner() {
            (opened.ending)().await;
        }
    }

    /// What it has opened, for another client.
    pub(crate) fn into_opened(self) -> Option<Opened> {
        self.opened.into_inner()
    }

    /// Connects now.
    pub(crate) async fn open(&self) -> Result<(), Problem> {
        self.client().await.map(drop)
    }
}

#[async_trait]
impl Client for LazyClient<'_> {
    async fn call(&self, request: Request) -> Result<Reply, Problem> {
        self.client().await?.call(request).await.map_err(|problem| self.audience.word(problem))
    }

    async fn run(&self, run: Run) -> Result<BoxStream<'static, RunEvent>, Problem> {
        let audience = self.audience;
        let events = self.client().await?.run(run).await.map_err(|problem| audience.word(problem))?;
        Ok(events.map(move |event| audience.word_event(event)).boxed())
    }

    async fn follow(&self, follow: Follow) -> Result<BoxStream<'static, NumberedEvent>, Problem> {
        let audience = self.audience;
        let told = self.client().await?.follow(follow).await.map_err(|problem| audience.word(problem))?;
        Ok(told.map(move |told| audience.word_told(told)).boxed())
    }
}
