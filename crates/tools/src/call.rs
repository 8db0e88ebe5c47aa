//! A call of a tool: its arguments, what it may request from the engine that runs it, and its result.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use retake_core::{Fact, ToolOutcome};
use serde_json::Value;

use crate::call_environment::CallEnvironment;

/// The engine that runs a tool, as the tool sees it. One for each call.
#[async_trait]
pub trait Host: Send + Sync {
    /// What the path of the conversation says of this key: the last fact of it that is not taken away.
    async fn fact(&self, key: &str) -> Option<String>;
    /// The same for every key that begins so, in the order of keys.
    async fn facts(&self, prefix: &str) -> Vec<Fact>;
    /// Asks the person, and waits for the answer; nothing, when nobody is there to answer.
    async fn ask(&self, question: Asked) -> Option<String>;
    /// Hands on what the tool prints while it works.
    async fn tell(&self, piece: Piece);
    /// Whether a rule keeps a file or folder from what a call of this tool shows of many: it is not for the tool, or only where a
    /// person agrees.
    fn leaves_out(&self, _tool: &str, _path: &Path) -> bool {
        false
    }
    /// Whether this file or folder, links followed, is the one that was looked at before the call began: what a name leads to may change
    /// meanwhile.
    fn is_agreed(&self, _path: &Path) -> bool {
        true
    }
    /// Completes when the call is to stop: the tool then ends what it started, and answers with what it has.
    async fn stopped(&self);
    /// What stops it, as its result says.
    fn stopped_by(&self) -> &'static str {
        "stopped by the person"
    }
    /// The environment of the client that requested the call; that of this process, where the client's is not known.
    fn environment(&self) -> Option<Arc<CallEnvironment>> {
        None
    }
    /// Completes when the time has passed.
    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()>;
}

/// A question to the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The question.
    pub question: String,
    /// Answers to choose from; any words, when there are none.
    pub choices: Vec<String>,
}

/// A piece of what a tool prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The text, as far as it is one; never cut within a character.
    pub text: String,
}

/// What a call is given.
#[derive(Clone)]
pub struct Call {
    /// Its id: unique in the data directory, and the mark of every process that it starts.
    pub id: String,
    /// The arguments, which fit the tool's schema as far as its type says.
    pub arguments: Value,
    /// The folders that the conversation works in, absolute, the first one first. What is not below one of them is outside.
    pub roots: Vec<PathBuf>,
    /// Its intent was to change nothing, and perhaps nobody was asked: whatever it starts is held to reading.
    pub reads: bool,
    /// Files that it was settled to write, as its intent named them: it writes no other ones. Nothing, where nobody settled it.
    pub writes: Option<Vec<PathBuf>>,
    /// Files below the roots that commands are not to read, where namespaces can hide them.
    pub hide: Vec<PathBuf>,
    /// What commands are not to change, where namespaces can hold it. These are hooks and settings of these repositories below the
    /// roots, and these files: settings that name programs, and programs that run as their owner.
    pub held: Vec<PathBuf>,
    /// A private folder where output that is too long for the model is kept whole.
    pub spool: PathBuf,
    /// The engine that runs it.
    pub host: Arc<dyn Host>,
}

impl Call {
    /// The folder that relative names are below: the one the shell stands in, or else the first root.
    pub async fn folder(&self) -> PathBuf {
        let root = self.roots.first().cloned().unwrap_or_default();
        match self.host.fact("cwd").await {
            Some(cwd) => root.join(cwd),
            None => root,
        }
    }

    /// The root that a path is below, by its name alone.
    pub fn root_of(&self, path: &Path) -> Option<&Path> {
        self.roots.iter().map(PathBuf::as_path).find(|root| path.starts_with(root))
    }
}

/// A picture or a file that a tool answers with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attached {
    /// Its name.
    pub name: String,
    /// MIME type.
    pub media_type: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// What comes of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// What the model reads. Bounded by the tool.
    pub content: String,
    /// Whether it did what was asked.
    pub outcome: ToolOutcome,
    /// Pictures and files beside it.
    pub attached: Vec<Attached>,
    /// What later turns are to know.
    pub facts: Vec<Fact>,
    /// The files that it wrote itself, absolute: known exactly, not only seen (grade *written*).
    pub written: Vec<PathBuf>,
    /// What a person is shown instead of the content, such as a diff.
    pub shown: Option<String>,
    /// Processes live on: a background job.
    pub lives: bool,
}

impl Output {
    /// It did what was asked.
    pub fn ok(content: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            outcome: ToolOutcome::Ok,
            attached: Vec::new(),
            facts: Vec::new(),
            written: Vec::new(),
            shown: None,
            lives: false,
        }
    }

    /// It did not, and why: what was attempted, what stopped it, what to do instead.
    pub fn failed(content: impl Into<String>) -> Self {
        Self { outcome: ToolOutcome::Failed, ..Self::ok(content) }
    }
}
