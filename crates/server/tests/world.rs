//! A fresh data directory, its owner, and short request functions. Must never know what is behind the `Client`, nor use a
//! network.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use retake_server::{InProcess, ListeningOwner, Serving, serve, socket_of, token_of};
use retake_wire::http::encode;
use retake_wire::reply::{Conversation, Entry, Receipt};
use retake_wire::request::{ConversationTarget, Create, LARGEST_PAGE, Log, Say};
use retake_wire::{
    Action, Client, FileOptions, Hint, HintPiece, HttpClient, MarkVerb, OwnerAddress, Part, Problem, Reply,
    Request, Role, request,
};
use tempfile::TempDir;
use tokio::net::UnixStream;

/// Only the demo model, and one so slow that a run continues until it is stopped.
const SETTINGS: &str = "[model]\ndefault = \"demo\"\n[local]\nfind = false\n[demo]\nword_delay_ms = 10000\n";

/// The largest number in a request.
pub(super) const LARGEST: usize = (1 << 53) - 1;

fn reach(data_dir: &Path) -> OwnerAddress {
    OwnerAddress::Socket { path: socket_of(data_dir), token: token_of(data_dir) }
}

/// The owner of a data directory, and a client over its socket, so that requests are made as from another process.
pub(super) struct Desk {
    home: Arc<TempDir>,
    pub(super) client: Arc<dyn Client>,
    pub(super) served: ListeningOwner,
    /// The same owner, called directly.
    pub(super) owner: InProcess,
}

/// The content of the reply, which must be of that kind.
macro_rules! get {
    ($desk:expr, $kind:ident, $request:expr) => {
        match $desk.does($request).await {
            retake_wire::Reply::$kind(inside) => inside,
            other => panic!("not {}: {other:?}", stringify!($kind)),
        }
    };
}
pub(super) use get;

impl Desk {
    pub(super) async fn new() -> Self {
        Self::with(SETTINGS).await
    }

    /// With a demo that waits this many milliseconds between words.
    pub(super) async fn slow(delay: u32) -> Self {
        Self::with(&SETTINGS.replace("10000", &delay.to_string())).await
    }

    /// With a demo that does not wait between words.
    pub(super) async fn fast() -> Self {
        Self::with(&SETTINGS.replace("10000", "0")).await
    }

    /// With a model that no message fits into.
    pub(super) async fn tiny() -> Self {
        Self::with(&format!("{SETTINGS}[models.\"ollama/tiny\"]\ncontext_tokens = 10\n")).await
    }

    async fn with(settings: &str) -> Self {
        let home = tempfile::tempdir().expect("a folder");
        std::fs::write(home.path().join("config.toml"), settings).expect("written");
        Self::over(Arc::new(home), "data", Serving::PATIENCE).await
    }

    /// With a short time limit for subscribers that do not read.
    pub(super) async fn impatient() -> Self {
        let home = tempfile::tempdir().expect("a folder");
        std::fs::write(home.path().join("config.toml"), SETTINGS).expect("written");
        Self::over(Arc::new(home), "data", Duration::from_millis(200)).await
    }

    /// Another owner, in the same folder.
    pub(super) async fn other(&self, data: &str) -> Self {
        Self::over(Arc::clone(&self.home), data, Serving::PATIENCE).await
    }

    /// Ends; returns the next owner of its data.
    pub(super) async fn gives_way(self) -> Self {
        let Self { home, client, served, owner } = self;
        drop(client);
        served.stop().await;
        drop(owner);
        Self::over(home, "data", Serving::PATIENCE).await
    }

    async fn over(home: Arc<TempDir>, data: &str, patience: Duration) -> Self {
        let data_dir = home.path().join(data);
        let owner = open(home.path(), &data_dir).await;
        let listen = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
        let served = serve(Serving { client: owner.clone(), data_dir: data_dir.clone(), listen, patience })
            .await
            .expect("served");
        let client = HttpClient::new(reach(&data_dir)).expect("a client");
        Self { home, client: Arc::new(client), served, owner }
    }

    /// A file in this desk's folder.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// The name of a folder beside the data, created if necessary.
    pub(super) fn folder(&self, name: &str) -> String {
        let folder = self.file(name);
        std::fs::create_dir_all(&folder).expect("made");
        folder.to_str().expect("UTF-8").to_owned()
    }

    /// The path of the owner's socket.
    pub(super) fn socket(&self) -> PathBuf {
        socket_of(&self.file("data"))
    }

    /// How a client reaches the owner.
    pub(super) fn reach(&self) -> OwnerAddress {
        reach(&self.file("data"))
    }

    /// The header with the owner's token, for hand-written requests.
    pub(super) fn bearer(&self) -> String {
        format!("authorization: Bearer {}\r\n", token_of(&self.file("data")).expect("a token"))
    }

    /// Another client.
    pub(super) fn another(&self) -> HttpClient {
        HttpClient::new(self.reach()).expect("a client")
    }

    /// A request that succeeds.
    pub(super) async fn does(&self, request: Request) -> Reply {
        self.client.call(request.clone()).await.unwrap_or_else(|problem| panic!("{request:?}: {problem:?}"))
    }

    /// A request that is refused.
    pub(super) async fn refused(&self, request: Request) -> Problem {
        self.client.call(request).await.expect_err("it is refused")
    }

    pub(super) async fn create(&self, title: Option<&str>, folder: Option<&str>) -> String {
        let [title, folder] = [title, folder].map(|text| text.map(str::to_owned));
        get!(self, Receipt, Request::Create(Create { title, folder, request_id: None })).conversation
    }

    /// A conversation with these messages, alternately by a person and a model; returns its id and theirs.
    pub(super) async fn talk(&self, texts: &[&str]) -> (String, Vec<String>) {
        let id = self.create(None, None).await;
        let mut entries = Vec::new();
        for (text, role) in texts.iter().zip([Role::User, Role::Assistant].into_iter().cycle()) {
            entries.push(self.say(&id, role, text).await);
        }
        (id, entries)
    }

    pub(super) async fn say(&self, of: &str, role: Role, text: &str) -> String {
        get!(self, Receipt, Request::Say(said(of, role, text))).entries.remove(0)
    }

    pub(super) async fn apply(&self, of: &str, action: Action) -> Receipt {
        get!(self, Receipt, apply(of, action))
    }

    pub(super) async fn info(&self, of: &str) -> Conversation {
        get!(self, Conversation, Request::Info(ConversationTarget { conversation: of.into() }))
    }

    /// The whole timeline, and its revision.
    pub(super) async fn timeline(&self, of: &str) -> (u64, Vec<Entry>) {
        let newest = Log { limit: Some(LARGEST_PAGE), ..log(of) };
        let mut page = get!(self, Entries, Request::Log(newest.clone()));
        let (revision, mut entries) = (page.revision, page.entries);
        while page.earlier {
            let before = entries.first().map(|entry| entry.id.clone());
            page = get!(self, Entries, Request::Log(Log { before, ..newest.clone() }));
            entries.splice(0..0, std::mem::take(&mut page.entries));
        }
        (revision, entries)
    }

    /// The texts of the timeline.
    pub(super) async fn texts(&self, of: &str) -> Vec<String> {
        self.timeline(of).await.1.iter().map(text).collect()
    }
}

/// Starts the owner of a data directory.
pub(super) async fn open(home: &Path, data_dir: &Path) -> InProcess {
    let options = retake_server::Options {
        data_dir: data_dir.to_owned(),
        config_file: home.join("config.toml"),
        user: "ada".into(),
        home: None,
        wait_for_owner: Duration::ZERO,
        stays: retake_server::OwnerLifetime::UntilTold,
    };
    let (client, notices) = retake_server::open(options).await.expect("opened");
    assert!(notices.is_empty(), "{notices:?}");
    client
}

/// Sends a request completely, and disconnects when the reply is there, without reading it.
pub(super) async fn loses_the_reply(reach: &OwnerAddress, request: &Request) {
    let stream = sends(reach, request, 1).await;
    stream.readable().await.expect("answered");
}

/// Sends a request over a connection of its own: the whole, its first half, its first third …
pub(super) async fn sends(reach: &OwnerAddress, request: &Request, part: usize) -> UnixStream {
    let OwnerAddress::Socket { path, token: Some(token) } = reach else {
        panic!("over the socket, with its token")
    };
    let sent = encode(request).expect("a place");
    let body = sent.body.map(|body| body.to_string()).unwrap_or_default();
    let (method, target, length) = (sent.method.name(), sent.target, body.len());
    let id = sent.request_id.expect("an id");
    let whole = format!(
        "{method} {target} HTTP/1.1\r\nhost: owner\r\nauthorization: Bearer {token}\r\nidempotency-key: {id}\r\ncontent-type: \
         application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    let stream = UnixStream::connect(path).await.expect("connected");
    stream.writable().await.expect("writable");
    let part = &whole.as_bytes()[..whole.len() / part];
    assert_eq!(stream.try_write(part).expect("written"), part.len());
    stream
}

/// A tool call as the model sent it.
pub(super) fn called(id: &str, name: &str, arguments: &str) -> Part {
    Part::ToolCall { id: id.into(), name: name.into(), arguments: arguments.into(), sent: None }
}

/// A message to say.
pub(super) fn said(of: &str, role: Role, text: &str) -> Say {
    Say {
        conversation: of.into(),
        role,
        parts: vec![Part::text(text)],
        author: String::new(),
        synthetic: false,
        observed: false,
        time_ms: None,
        platform_id: None,
        seen: None,
        request_id: None,
    }
}

/// The newest page of the timeline.
pub(super) fn log(of: &str) -> Log {
    Log {
        conversation: of.into(),
        at: None,
        branch: None,
        projection: request::Projection::Timeline,
        limit: None,
        before: None,
        after: None,
    }
}

/// A page of the branches and forks.
pub(super) fn tree(of: &str) -> request::Tree {
    request::Tree { conversation: of.into(), limit: None, after: None }
}

/// A page of the alternatives of an answer.
pub(super) fn alternatives(of: &str, entry: &str) -> request::Alternatives {
    request::Alternatives { conversation: of.into(), entry: entry.into(), limit: None, after: None }
}

/// Applies an action, at any head.
pub(super) fn apply(of: &str, action: Action) -> Request {
    Request::Apply(request::Apply {
        conversation: of.into(),
        action,
        head: None,
        since: false,
        files: FileOptions::default(),
        request_id: None,
    })
}

pub(super) fn plan(of: &str, action: Action) -> Request {
    Request::Plan(request::Plan {
        conversation: of.into(),
        action,
        files: FileOptions::default(),
        diff: false,
    })
}

pub(super) fn rewind(entry: &str) -> Action {
    Action::Rewind { entry: entry.into() }
}

pub(super) fn label(entry: &str, name: &str) -> Action {
    Action::Label { entry: entry.into(), name: Some(name.into()) }
}

pub(super) fn mark(verb: MarkVerb, entry: &str) -> Action {
    Action::Mark { verb, entries: vec![entry.into()], range: false, seen: None }
}

/// The text of an entry.
pub(super) fn text(entry: &Entry) -> String {
    entry
        .parts
        .iter()
        .filter_map(|part| if let Part::Text { text } = part { Some(&**text) } else { None })
        .collect()
}

/// The name of this variant.
pub(super) fn variant(of: &impl Debug) -> String {
    format!("{of:?}").split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned()
}

/// Every variant of an enum in a source of `wire`, with the last line of its documentation.
pub(super) fn variants(source: &str, name: &str) -> BTreeMap<String, String> {
    let (_, body) = source.split_once(&format!("pub enum {name} {{\n")).expect("the enum is there");
    let (body, _) = body.split_once("\n}").expect("it ends");
    let mut found = BTreeMap::new();
    let mut documented = "";
    for line in body.lines().filter_map(|line| line.strip_prefix("    ")) {
        if let Some(text) = line.strip_prefix("/// ") {
            documented = text;
        } else if line.starts_with(|c: char| c.is_ascii_uppercase()) {
            found.insert(variant(&format_args!("{line}")), documented.to_owned());
        }
    }
    found
}

/// A hint before a client has put it into words.
fn hinted(hint: &Hint) -> String {
    let piece = |piece: &HintPiece| match piece {
        HintPiece::Text(text) => text.clone(),
        HintPiece::Do(remedy) => format!("{{{remedy:?}}}"),
    };
    hint.0.iter().map(piece).collect()
}

/// An error as a person and a program see it.
pub(super) fn told(problem: &Problem) -> String {
    let Problem { fields: _, remedies: _, code, kind, message, hint, causes, notices: _, head } = problem;
    let mut text = format!("{kind:?} {code}: {message}\n");
    text.extend(causes.iter().map(|cause| format!("  because: {cause}\n")));
    text.extend(hint.iter().map(|hint| format!("  hint: {}\n", hinted(hint))));
    text.extend(head.iter().map(|head| format!("  head: {head}\n")));
    text
}

/// Compares with a snapshot in which ids have names.
macro_rules! shows {
    ($text:expr) => {
        insta::with_settings!({
            omit_expression => true,
            filters => vec![
                (r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "ID"),
                (r"/\S*/\.tmp[A-Za-z0-9]+", "HOME"),
            ],
        }, { insta::assert_snapshot!($text) })
    };
}
pub(super) use shows;
