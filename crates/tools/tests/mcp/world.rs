//! A folder with servers, and a caller of their tools. Must never leave a process behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use retake_core::{Fact, ToolOutcome};
use retake_tools::mcp::{Allowed, Config, Deps, Failure, McpServers, ServerShown, State, Variables};
use retake_tools::{Call, Host, Output, Piece, Sandbox, Secrets, Tool, ToolQuestion};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Notify;

/// Time limit for short waits.
const SOON: Duration = Duration::from_secs(20);

/// A small server whose argument sets its behaviour.
const SERVER: &str = include_str!("server.py");

pub(super) struct World {
    home: TempDir,
    pub(super) start_limit: Duration,
    pub(super) call_limit: Duration,
    /// The sandbox of its servers.
    pub(super) sandbox: Option<Sandbox>,
    /// Why no confined server may start.
    pub(super) refused: Option<Failure>,
    /// Files that they must not read.
    pub(super) hide: Vec<PathBuf>,
    pub(super) memory: u64,
    pub(super) file_size: u64,
}

impl World {
    /// A folder with the user's servers.
    pub(super) fn new(servers: &Value) -> Self {
        let home = tempfile::tempdir().expect("a folder");
        fs::create_dir(home.path().join("work")).expect("made");
        fs::write(home.path().join("server.py"), SERVER).expect("written");
        let limit = Duration::from_secs(20);
        let world = Self {
            home,
            start_limit: limit,
            call_limit: limit,
            sandbox: None,
            refused: None,
            hide: Vec::new(),
            memory: 1 << 40,
            file_size: 1 << 40,
        };
        fs::write(world.user_file(), json!({ "mcpServers": servers }).to_string()).expect("written");
        world
    }

    /// With one server, called `it`, with this behaviour.
    pub(super) fn with(what: &str) -> Self {
        let world = Self::new(&json!({}));
        let servers = json!({"mcpServers": {"it": world.server(what)}});
        fs::write(world.user_file(), servers.to_string()).expect("written");
        world
    }

    /// A server entry with this behaviour.
    pub(super) fn server(&self, what: &str) -> Value {
        json!({"command": "python3", "args": [self.home.path().join("server.py"), what]})
    }

    pub(super) fn folder(&self) -> PathBuf {
        self.home.path().join("work")
    }

    pub(super) fn user_file(&self) -> PathBuf {
        self.home.path().join("mcp.json")
    }

    pub(super) fn allowed(&self) -> Allowed {
        Allowed::at(&self.home.path().join("mcp-allowed.json"))
    }

    pub(super) fn config(&self) -> Config {
        Config::read(&self.user_file(), &self.folder())
    }

    pub(super) async fn connect(&self) -> McpServers {
        let mut deps = Deps::new(self.folder(), Variables::process(Secrets::default()), self.allowed());
        (deps.start_limit, deps.call_limit) = (self.start_limit, self.call_limit);
        deps.sandbox.clone_from(&self.sandbox);
        deps.refused.clone_from(&self.refused);
        deps.hide.clone_from(&self.hide);
        (deps.memory, deps.file_size) = (self.memory, self.file_size);
        let config = self.config();
        let connected = McpServers::connect(&config, deps);
        tokio::time::timeout(2 * SOON, connected).await.expect("it never waits for ever")
    }

    /// A file that a server wrote, once it exists.
    pub(super) async fn file(&self, name: &str) -> String {
        let path = self.folder().join(name);
        let there = async {
            loop {
                match fs::read_to_string(&path) {
                    Ok(text) if !text.is_empty() => return text,
                    _ => tokio::time::sleep(Duration::from_millis(10)).await,
                }
            }
        };
        tokio::time::timeout(SOON, there).await.unwrap_or_else(|_| panic!("{name} does not come"))
    }
}

/// The only server of these.
pub(super) fn only(servers: &McpServers) -> ServerShown {
    let mut shown = servers.shown();
    assert_eq!(shown.len(), 1, "{shown:?}");
    shown.remove(0)
}

/// Why the only server of these can't be used.
pub(super) fn failure(servers: &McpServers) -> String {
    match only(servers).state {
        State::Failed(failure) => failure.why,
        other => panic!("it is {other:?}"),
    }
}

pub(super) fn tool(servers: &McpServers, name: &str) -> Arc<dyn Tool> {
    let tools = servers.tools();
    let names: Vec<_> = tools.iter().map(|tool| tool.name().to_owned()).collect();
    tools.into_iter().find(|tool| tool.name() == name).unwrap_or_else(|| panic!("no {name} in {names:?}"))
}

/// The output of a tool.
pub(super) async fn ask(servers: &McpServers, name: &str, arguments: Value) -> Output {
    let host = Arc::new(Caller::default());
    ask_as(&host, servers, name, arguments).await
}

pub(super) async fn ask_as(host: &Arc<Caller>, servers: &McpServers, name: &str, arguments: Value) -> Output {
    let spool = tempfile::tempdir().expect("a folder").keep();
    let call = Call {
        id: "call/1".to_owned(),
        arguments,
        roots: Vec::new(),
        writable: Vec::new(),
        reads: false,
        writes: None,
        hide: Vec::new(),
        held: Vec::new(),
        spool: spool.clone(),
        host: Arc::clone(host) as Arc<dyn Host>,
    };
    let tool = tool(servers, name);
    let output = tokio::time::timeout(2 * SOON, tool.call(call)).await.expect("it never waits for ever");
    let whole = fs::read_to_string(spool.join("call_1.txt"));
    if let Ok(whole) = whole {
        assert!(whole.len() > output.content.len(), "only what is too long is kept");
    }
    fs::remove_dir_all(spool).expect("removed");
    output
}

/// The output of a tool that succeeds.
pub(super) async fn said(servers: &McpServers, name: &str, arguments: Value) -> String {
    let output = ask(servers, name, arguments).await;
    assert_eq!(output.outcome, ToolOutcome::Ok, "{}", output.content);
    output.content
}

/// The output of a tool that fails.
pub(super) async fn fails(servers: &McpServers, name: &str, arguments: Value) -> String {
    let output = ask(servers, name, arguments).await;
    assert_eq!(output.outcome, ToolOutcome::Failed, "{}", output.content);
    output.content
}

/// The caller.
#[derive(Default)]
pub(super) struct Caller {
    pub(super) stop: Notify,
}

#[async_trait]
impl Host for Caller {
    async fn fact(&self, _: &str) -> Option<String> {
        None
    }

    async fn facts(&self, _: &str) -> Vec<Fact> {
        Vec::new()
    }

    async fn ask(&self, _: ToolQuestion) -> Option<String> {
        None
    }

    async fn tell(&self, _: Piece) {}

    async fn stopped(&self) {
        self.stop.notified().await;
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(time))
    }
}

/// Waits until no process has this id.
pub(super) async fn gone(process: &str) {
    let path = Path::new("/proc").join(process.trim());
    let gone = async {
        // An ended process that nobody has waited for yet counts as gone.
        while fs::read_to_string(path.join("stat")).is_ok_and(|stat| !stat.contains(") Z ")) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(SOON, gone).await.unwrap_or_else(|_| panic!("process {process} is still there"));
}
