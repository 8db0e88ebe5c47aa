//! A call of a tool: its arguments, what it may request from the engine that runs it, and its result.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use retake_core::{Fact, MemoryId, ProvidedFact, ToolOutcome};
use serde_json::Value;

use crate::call_environment::CallEnvironment;

/// The engine as a tool sees it. One for each call.
#[async_trait]
pub trait Host: Send + Sync {
    /// The last fact with this key on the conversation's path, unless it was removed.
    async fn fact(&self, key: &str) -> Option<String>;
    /// The same for every key with this prefix, sorted by key.
    async fn facts(&self, prefix: &str) -> Vec<Fact>;
    /// An id for a fact to remember; `None` where nothing can be remembered.
    fn new_memory_id(&self) -> Option<MemoryId> {
        None
    }
    /// The remembered facts with these words that count here, the best ones first; without words, the newest ones.
    async fn recall(&self, _words: &str) -> Vec<ProvidedFact> {
        Vec::new()
    }
    /// Whether this fact is remembered.
    async fn is_remembered(&self, _id: &MemoryId) -> bool {
        false
    }
    /// Asks the person, and waits for the answer; `None` if no client can answer.
    async fn ask(&self, question: ToolQuestion) -> Option<String>;
    /// Gives a task to a subagent, and waits for its result.
    async fn delegate(&self, _task: SubagentTask) -> Output {
        Output::failed("no subagent can be started here")
    }
    /// Forwards the output of a running tool.
    async fn tell(&self, piece: Piece);
    /// Whether a rule hides a file or folder from this tool's search results: the tool must not read it, or only with an
    /// approval.
    fn leaves_out(&self, _tool: &str, _path: &Path) -> bool {
        false
    }
    /// Whether this file or folder, with links followed, is the one from before the call: the target of a name may change
    /// meanwhile.
    fn is_agreed(&self, _path: &Path) -> bool {
        true
    }
    /// Completes when the call must stop: the tool then ends its processes, and returns its result so far.
    async fn stopped(&self);
    /// Who or what stops it, for its result.
    fn stopped_by(&self) -> &'static str {
        "stopped by the person"
    }
    /// The environment of the client that requested the call; that of this process, if the client's is not known.
    fn environment(&self) -> Option<Arc<CallEnvironment>> {
        None
    }
    /// Completes after this time.
    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()>;
}

/// A question to the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolQuestion {
    /// The question.
    pub question: String,
    /// Answers to choose from; if empty, any text is an answer.
    pub choices: Vec<String>,
}

/// A task for a subagent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubagentTask {
    /// The task in a few words, in one line.
    pub title: String,
    /// The whole task.
    pub task: String,
    /// The name of the agent that does it; without it, one like the agent that asks.
    pub agent: Option<String>,
}

/// A piece of a tool's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The text; never cut within a character.
    pub text: String,
}

/// The input of a call.
#[derive(Clone)]
pub struct Call {
    /// Its id: unique in the data directory, and the mark of every process that it starts.
    pub id: String,
    /// The arguments, as far as their types are checked.
    pub arguments: Value,
    /// The absolute folders that the conversation works in, the first one first. Other paths are outside.
    pub roots: Vec<PathBuf>,
    /// Those of them in which programs may write: captures cover them.
    pub writable: Vec<PathBuf>,
    /// Whether it must only read, perhaps without an approval: everything that it starts is confined to reading.
    pub reads: bool,
    /// The files that it may write, from its intent; `None` without this limit.
    pub writes: Option<Vec<PathBuf>>,
    /// Files below the roots that are hidden from commands, if namespaces can do that.
    pub hide: Vec<PathBuf>,
    /// Paths that commands must not change, if namespaces can protect them. These are hooks and settings of these repositories
    /// below the roots, and these files: settings that name programs, and set-uid or set-gid programs.
    pub held: Vec<PathBuf>,
    /// A private folder for the full text of output that is too long for the model.
    pub spool: PathBuf,
    /// The engine.
    pub host: Arc<dyn Host>,
}

impl Call {
    /// The folder for relative names: the shell's current folder, or else the first root.
    pub async fn folder(&self) -> PathBuf {
        let root = self.roots.first().cloned().unwrap_or_default();
        match self.host.fact("cwd").await {
            Some(cwd) => root.join(cwd),
            None => root,
        }
    }

    /// The root that contains a path, by its name alone.
    pub fn root_of(&self, path: &Path) -> Option<&Path> {
        self.roots.iter().map(PathBuf::as_path).find(|root| path.starts_with(root))
    }
}

/// A picture or a file in a tool's result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attached {
    /// Its name.
    pub name: String,
    /// MIME type.
    pub media_type: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The text for the model, limited by the tool.
    pub content: String,
    /// Its outcome.
    pub outcome: ToolOutcome,
    /// Pictures and files beside it.
    pub attached: Vec<Attached>,
    /// Facts for later turns.
    pub facts: Vec<Fact>,
    /// Remembered facts whose words belong to the result. Only their ids are stored.
    pub recalled: Vec<MemoryId>,
    /// The absolute paths of files that the tool wrote itself: known exactly (grade *written*).
    pub written: Vec<PathBuf>,
    /// The text for people in place of the content, such as a diff.
    pub shown: Option<String>,
    /// Whether its processes still run: a background job.
    pub lives: bool,
}

impl Output {
    /// A successful result.
    pub fn ok(content: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            outcome: ToolOutcome::Ok,
            attached: Vec::new(),
            facts: Vec::new(),
            recalled: Vec::new(),
            written: Vec::new(),
            shown: None,
            lives: false,
        }
    }

    /// A failed result, with the reason: what was attempted, what stopped it, what to do instead.
    pub fn failed(content: impl Into<String>) -> Self {
        Self { outcome: ToolOutcome::Failed, ..Self::ok(content) }
    }
}
