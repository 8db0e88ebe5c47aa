//! An owner behind its socket, its clients, and its subscribers.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};
use futures::StreamExt as _;
use retake_server::{InProcess, ListeningOwner, Options, Serving, open, serve, socket_of, token_of};
use retake_wire::reply::Receipt;
use retake_wire::request::{Apply, ConversationTarget, Create, ImportLines, ImportStart, Plan, Say, Targets};
use retake_wire::{
    Action, Client as _, FileOptions, HttpClient, OwnerAddress, Part, Problem, Reply, Request, Role,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;

use crate::text::Texts;

/// Messages of an import per request.
const LINES: usize = 500;

/// No model that would have to be looked for.
const SETTINGS: &str = "[model]\ndefault = \"demo\"\n[local]\nfind = false\n";

/// Each subscriber takes two sockets: both ends are in this process.
pub(crate) fn allow_many_sockets() {
    let limit = getrlimit(Resource::Nofile);
    // If that is not allowed, the first socket beyond the limit returns an error.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

/// A listening owner.
pub(crate) struct Desk {
    owner: InProcess,
    served: ListeningOwner,
    socket: PathBuf,
}

impl Desk {
    pub(crate) async fn open(folder: &Path) -> anyhow::Result<Self> {
        Self::with(folder, "").await
    }

    /// With more settings.
    pub(crate) async fn with(folder: &Path, more: &str) -> anyhow::Result<Self> {
        let config_file = folder.join("config.toml");
        std::fs::write(&config_file, format!("{SETTINGS}{more}"))?;
        let data_dir = folder.join("data");
        let wait_for_owner = Duration::from_secs(1);
        let options = Options {
            data_dir: data_dir.clone(),
            config_file,
            user: "bench".into(),
            home: None,
            wait_for_owner,
            stays: retake_server::OwnerLifetime::UntilTold,
        };
        let (owner, _) = open(options).await.map_err(failed)?;
        let serving = Serving {
            client: owner.clone(),
            data_dir: data_dir.clone(),
            listen: None,
            patience: Serving::PATIENCE,
        };
        let served = serve(serving).await.map_err(failed)?;
        Ok(Self { owner, served, socket: socket_of(&data_dir) })
    }

    /// A connection.
    pub(crate) fn http(&self) -> anyhow::Result<HttpClient> {
        let token = self.socket.parent().and_then(token_of);
        HttpClient::new(OwnerAddress::Socket { path: self.socket.clone(), token }).map_err(failed)
    }

    /// A client with a connection and a conversation of so many turns.
    pub(crate) async fn client(&self, turns: u64) -> anyhow::Result<Client> {
        let http = self.http()?;
        let start = receipt(http.call(Request::ImportStart(ImportStart::default())).await)?;
        let conversation = start.conversation;
        let mut text = Texts::new(1);
        let lines = (0..turns * 2).map(|number| {
            let role = if number.is_multiple_of(2) { "user" } else { "assistant" };
            serde_json::json!({ "role": role, "content": text.entry(number) }).to_string()
        });
        let lines: Vec<String> = lines.collect();
        for (number, lines) in lines.chunks(LINES).enumerate() {
            let first = (number * LINES) as u64;
            let lines = ImportLines { conversation: conversation.clone(), first, lines: lines.to_vec() };
            http.call(Request::ImportLines(lines)).await.map_err(failed)?;
        }
        let of = ConversationTarget { conversation: conversation.clone() };
        receipt(http.call(Request::ImportEnd(of)).await)?;
        // Half of it is rewound and comes back.
        Ok(Client { http, conversation, target: format!("t{}", turns / 2 + 1) })
    }

    /// Creates so many conversations with one message each; they stay idle.
    pub(crate) async fn create(&self, conversations: u64) -> anyhow::Result<()> {
        let made = futures::stream::iter(0..conversations).map(async |_| {
            let request = Request::Create(Create::default());
            let conversation = receipt(self.owner.call(request).await)?.conversation;
            let say = said(&conversation, "one");
            receipt(self.owner.call(say).await).map(drop)
        });
        let mut made = made.buffer_unordered(64);
        while let Some(made) = made.next().await {
            made?;
        }
        Ok(())
    }

    /// Subscribers of a conversation, each after its snapshot.
    pub(crate) async fn follow(&self, conversation: &str, many: u64) -> anyhow::Result<Vec<Follower>> {
        let mut followers = Vec::new();
        for _ in 0..many {
            let mut socket = UnixStream::connect(&self.socket).await?;
            let token = self.socket.parent().and_then(token_of).context("there is no token")?;
            let ask = format!(
                "GET /v1/conversations/{conversation}/events HTTP/1.1\r\nhost: owner\r\nauthorization: Bearer {token}\r\n\r\n"
            );
            socket.write_all(ask.as_bytes()).await?;
            let mut follower = Follower(socket);
            follower.hears("\"snapshot\"").await?;
            followers.push(follower);
        }
        Ok(followers)
    }

    pub(crate) async fn close(self) {
        self.served.stop().await;
        self.owner.finish(Duration::ZERO).await;
    }
}

/// A subscriber. It reads as little as possible, so that the owner is measured.
pub(crate) struct Follower(UnixStream);

impl Follower {
    pub(crate) async fn hears(&mut self, words: &str) -> anyhow::Result<()> {
        let mut heard = Vec::new();
        let mut piece = [0; 4096];
        while !heard.windows(words.len()).any(|window| window == words.as_bytes()) {
            let read = self.0.read(&mut piece).await.context("a follower was cut off")?;
            if read == 0 {
                bail!("a follower's stream ended before it heard {words}");
            }
            // The previous data may hold the beginning.
            let keep = heard.len().min(words.len());
            heard.drain(..heard.len() - keep);
            heard.extend_from_slice(&piece[..read]);
        }
        Ok(())
    }
}

/// A client.
pub(crate) struct Client {
    http: HttpClient,
    conversation: String,
    target: String,
}

impl Client {
    pub(crate) fn conversation(&self) -> &str {
        &self.conversation
    }

    /// Microseconds until the reply is read.
    pub(crate) async fn waits(&self, request: Request) -> anyhow::Result<f64> {
        let start = Instant::now();
        self.http.call(request).await.map_err(failed)?;
        Ok(start.elapsed().as_secs_f64() * 1e6)
    }

    /// Sends a message, and waits for its receipt.
    pub(crate) async fn say(&self, words: &str) -> anyhow::Result<()> {
        receipt(self.http.call(said(&self.conversation, words)).await).map(drop)
    }

    pub(crate) fn saying(&self) -> Request {
        said(&self.conversation, "go on")
    }

    pub(crate) fn targets(&self) -> Request {
        Request::Targets(Targets { conversation: self.conversation.clone(), limit: None, before: None })
    }

    pub(crate) fn rewind(&self) -> Action {
        Action::Rewind { entry: self.target.clone() }
    }

    pub(crate) fn plan(&self, action: Action) -> Request {
        let conversation = self.conversation.clone();
        Request::Plan(Plan { conversation, action, files: FileOptions::default(), diff: false })
    }

    pub(crate) fn apply(&self, action: Action) -> Request {
        Request::Apply(Apply {
            conversation: self.conversation.clone(),
            action,
            head: None,
            since: false,
            files: FileOptions::default(),
            request_id: None,
        })
    }
}

fn said(conversation: &str, words: &str) -> Request {
    Request::Say(Say {
        conversation: conversation.to_owned(),
        role: Role::User,
        parts: vec![Part::Text { text: words.to_owned() }],
        author: String::new(),
        synthetic: false,
        observed: false,
        time_ms: None,
        platform_id: None,
        seen: None,
        request_id: None,
    })
}

pub(crate) fn receipt(reply: Result<Reply, Problem>) -> anyhow::Result<Receipt> {
    match reply.map_err(failed)? {
        Reply::Receipt(receipt) => Ok(receipt),
        other => bail!("not a receipt: {other:?}"),
    }
}

pub(crate) fn failed(problem: Problem) -> anyhow::Error {
    anyhow!("the owner: {} ({})", problem.message, problem.code)
}
