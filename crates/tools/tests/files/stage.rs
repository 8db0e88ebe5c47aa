//! A folder with files, a host that only stores facts, and the tools on them.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use retake_core::{Fact, Intent, ToolOutcome};
use retake_tools::{Call, Host, Output, Piece, ToolQuestion, Toolbox, file_tools};
use serde_json::Value;
use tempfile::TempDir;

/// A host that stores facts, and asks nobody.
#[derive(Default)]
struct Fake {
    facts: Mutex<BTreeMap<String, String>>,
    stopped: Mutex<bool>,
}

#[async_trait]
impl Host for Fake {
    async fn fact(&self, key: &str) -> Option<String> {
        self.facts.lock().unwrap().get(key).cloned()
    }

    async fn facts(&self, prefix: &str) -> Vec<Fact> {
        let facts = self.facts.lock().unwrap();
        let fitting = facts.iter().filter(|(key, _)| key.starts_with(prefix));
        fitting.map(|(key, value)| Fact::new(key, value)).collect()
    }

    async fn ask(&self, _: ToolQuestion) -> Option<String> {
        None
    }

    async fn tell(&self, _: Piece) {}

    async fn stopped(&self) {
        if !*self.stopped.lock().unwrap() {
            std::future::pending::<()>().await;
        }
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(time))
    }
}

/// Time limit of any call.
const LONGEST: Duration = Duration::from_secs(30);

/// A conversation's folder, and one outside of it.
pub(super) struct Stage {
    dir: TempDir,
    host: Arc<Fake>,
    tools: Toolbox,
    runtime: Option<tokio::runtime::Runtime>,
}

impl Stage {
    /// With these files in the folder.
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("root")).unwrap();
        std::fs::create_dir(dir.path().join("outside")).unwrap();
        let mut tools = Toolbox::default();
        for tool in file_tools() {
            assert!(tools.add(tool), "two tools have one name");
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let stage = Self { dir, host: Arc::default(), tools, runtime: Some(runtime) };
        for (name, text) in files {
            stage.put(name, text);
        }
        stage
    }

    pub(super) fn root(&self) -> PathBuf {
        self.dir.path().join("root")
    }

    pub(super) fn outside(&self) -> PathBuf {
        self.dir.path().join("outside")
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    /// Writes a file like another author.
    pub(super) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    /// A file's text; `None` if it does not exist.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        std::fs::read(self.path(name)).ok().map(|bytes| String::from_utf8(bytes).unwrap())
    }

    pub(super) fn mode(&self, name: &str) -> u32 {
        std::fs::metadata(self.path(name)).unwrap().permissions().mode() & 0o7777
    }

    pub(super) fn set_mode(&self, name: &str, mode: u32) {
        std::fs::set_permissions(self.path(name), PermissionsExt::from_mode(mode)).unwrap();
    }

    pub(super) fn link(&self, name: &str, target: impl AsRef<Path>) {
        std::os::unix::fs::symlink(target, self.path(name)).unwrap();
    }

    /// Every name in the folder, to check that nothing is left over.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        collect(&self.root(), &self.root(), &mut names);
        names.sort();
        names
    }

    pub(super) fn set_fact(&self, key: &str, value: &str) {
        self.host.facts.lock().unwrap().insert(key.to_owned(), value.to_owned());
    }

    /// The agent's knowledge of a file.
    pub(super) fn known(&self, name: &str) -> Option<String> {
        let key = format!("read/{}", self.path(name).display());
        self.host.facts.lock().unwrap().get(&key).cloned()
    }

    /// Every call must stop at once from now on.
    pub(super) fn stop(&self) {
        *self.host.stopped.lock().unwrap() = true;
    }

    pub(super) fn intent(&self, tool: &str, arguments: &Value) -> Result<Intent, String> {
        let tool = self.tools.get(tool).unwrap();
        tool.intent(arguments, &self.root(), &[self.root()])
    }

    /// Runs a tool; its facts are known afterwards.
    pub(super) fn run(&self, tool: &str, arguments: &Value) -> Output {
        self.run_settled(tool, arguments, None)
    }

    /// The same, with the list of files it may write.
    pub(super) fn run_settled(&self, tool: &str, arguments: &Value, writes: Option<Vec<PathBuf>>) -> Output {
        let call = Call {
            id: "call-1".to_owned(),
            arguments: arguments.clone(),
            roots: vec![self.root()],
            writable: vec![self.root()],
            reads: false,
            writes,
            hide: Vec::new(),
            held: Vec::new(),
            spool: self.dir.path().join("spool"),
            host: self.host.clone(),
        };
        let tool = self.tools.get(tool).unwrap().clone();
        // A tool that waits for a pipe, or reads gigabytes, is detected.
        let called = async { tokio::time::timeout(LONGEST, tool.call(call)).await };
        let output = self.runtime.as_ref().unwrap().block_on(called).expect("the tool comes back");
        for fact in &output.facts {
            self.set_fact(&fact.key, &fact.value);
        }
        output
    }

    /// The output of a tool that succeeds.
    #[track_caller]
    pub(super) fn ok(&self, tool: &str, arguments: &Value) -> String {
        let output = self.run(tool, arguments);
        assert_eq!(output.outcome, ToolOutcome::Ok, "{tool} {arguments}: {}", output.content);
        output.content
    }

    /// The error of a tool that fails; nothing is written then.
    #[track_caller]
    pub(super) fn no(&self, tool: &str, arguments: &Value) -> String {
        let output = self.run(tool, arguments);
        assert_eq!(output.outcome, ToolOutcome::Failed, "{tool} {arguments}: {}", output.content);
        assert_eq!(output.written, Vec::<PathBuf>::new());
        output.content
    }

    /// Reads files, so that they may be changed.
    #[track_caller]
    pub(super) fn read(&self, names: &[&str]) {
        for name in names {
            self.ok("read", &serde_json::json!({ "path": name }));
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // A thread that hangs would delay the end of the test that detects it.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn collect(root: &Path, folder: &Path, names: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
        match path.is_dir() && !path.is_symlink() {
            true => {
                names.push(name + "/");
                collect(root, &path, names);
            }
            false => names.push(name),
        }
    }
}
