//! The set-up for attacks: a workspace, a confined shell, and the four ways to run it.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use retake_core::{SandboxFact, ToolOutcome};
use retake_testkit::again;
use retake_tools::{Network, Output, Sandbox, Sandboxed, ShellConfig, Tool, shell_tools};
use serde_json::{Value, json};

use crate::stage::{FOLDER, SUPERVISOR, Stage, bare, config, supervisor, tool};

/// The plain user.
const NOBODY: u32 = 65534;

/// Set in the process that runs a test again as the plain user.
const PLAIN: &str = "RETAKE_TEST_PLAIN";

/// How commands are confined in this run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Namespaces,
    WithoutNamespaces,
}

/// A workspace with a confined shell.
pub(crate) struct Ground {
    pub(crate) how: How,
    pub(crate) stage: Stage,
    /// The sandbox facts, as reported to a person.
    pub(crate) told: Vec<SandboxFact>,
    tools: Vec<Arc<dyn Tool>>,
}

impl Ground {
    /// With network according to the settings.
    pub(crate) fn new(how: How, network: Network) -> Self {
        Self::with(how, network, |_, _| ())
    }

    /// With a sandbox that a test changes once the folders exist.
    pub(crate) fn with(how: How, network: Network, change: impl FnOnce(&Stage, &mut Sandbox)) -> Self {
        Self::set(how, ShellConfig { network, ..config() }, change)
    }

    /// With further settings.
    pub(crate) fn set(how: How, config: ShellConfig, change: impl FnOnce(&Stage, &mut Sandbox)) -> Self {
        let stage = Stage::apart();
        let own = match how {
            How::Namespaces => supervisor(),
            How::WithoutNamespaces => supervisor().without_namespaces(),
        };
        let is_around = |folder: &PathBuf| stage.root().starts_with(folder);
        let temporary = Sandbox::temporary().into_iter().filter(|folder| !is_around(folder)).collect();
        let hide = vec![stage.root().with_file_name("data")];
        let mut sandbox = Sandbox { temporary, hide, supervisor: Some(own.clone()), ..bare() };
        change(&stage, &mut sandbox);
        assert_eq!(sandbox.available(&stage.roots), Sandboxed::Full);
        let told = sandbox.told();
        let config = ShellConfig { sandbox: Some(sandbox), supervisor: Some(own), ..config };
        Self { how, stage, told, tools: shell_tools(ShellConfig { log: 1 << 16, ..config }) }
    }

    pub(crate) async fn call(&self, name: &str, arguments: Value) -> Output {
        self.stage.call(&tool(&self.tools, name), arguments).await
    }

    /// Runs a command; with network if that must be requested.
    pub(crate) async fn run(&self, command: &str) -> Output {
        // Not a reading one: those are confined in another way.
        self.call("shell", json!({ "command": format!("env true; {command}") })).await
    }

    /// Runs a command that succeeds, and returns its output.
    pub(crate) async fn prints(&self, command: &str) -> String {
        let output = self.run(command).await;
        assert_eq!(output.outcome, ToolOutcome::Ok, "{:?}: {command}: {}", self.how, output.content);
        output.content.trim_end_matches("[exit code 0]").trim_end().to_owned()
    }

    /// Runs a program that tries forbidden things, and prints a line that begins with DID for each success.
    pub(crate) async fn can_not(&self, program: &str, arguments: &[&str]) {
        let line = format!("python3 -c \"$(cat attack.py)\" {}", arguments.join(" "));
        std::fs::write(self.stage.root().join("attack.py"), program).expect("a file");
        let printed = self.prints(&line).await;
        assert!(printed.contains("TRIED") && !printed.contains("DID"), "{:?}: {printed}", self.how);
    }

    /// Runs a command that fails with this text.
    pub(crate) async fn refuses(&self, command: &str, words: &str) {
        let output = self.run(command).await;
        let is_refused = output.outcome == ToolOutcome::Failed && output.content.contains(words);
        assert!(is_refused, "{:?}: {command}: {}", self.how, output.content);
    }
}

/// Whether programs of this user can have namespaces, checked with another program.
fn has_namespaces() -> bool {
    let user = if rustix::process::geteuid().is_root() { "-mpf" } else { "-Umpf" };
    let tried = Command::new("unshare").args([user, "--mount-proc", "true"]).stderr(Stdio::null()).status();
    tried.is_ok_and(|status| status.success())
}

/// Runs a part of a test with namespaces and without, as this user; as root, also as a plain user. The name is the test's full
/// path.
pub(crate) async fn everywhere(test: &str, part: impl AsyncFn(How)) {
    match supervisor().namespaces() {
        Ok(()) => part(How::Namespaces).await,
        Err(why) => {
            assert!(!has_namespaces(), "this machine has namespaces: {why:?}");
        }
    }
    part(How::WithoutNamespaces).await;
    if rustix::process::geteuid().is_root() && std::env::var_os(PLAIN).is_none() {
        let test = test.to_owned();
        tokio::task::spawn_blocking(move || as_plain_user(&test)).await.expect("the test as a plain user");
    }
}

fn as_plain_user(test: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let open = |path: &std::path::Path, mode| std::fs::set_permissions(path, Permissions::from_mode(mode));
    open(folder.path(), 0o755).expect("open");
    let copy = |program: &std::path::Path| again::for_everybody(program, folder.path());
    let work = folder.path().join("work");
    std::fs::create_dir(&work).expect("a folder");
    std::os::unix::fs::chown(&work, Some(NOBODY), Some(NOBODY)).expect("theirs");
    let mut command = Command::new(copy(&again::this_program()));
    command.uid(NOBODY).gid(NOBODY).current_dir("/").env(PLAIN, "1").env("HOME", &work).env(FOLDER, &work);
    command.env(SUPERVISOR, copy(env!("CARGO_BIN_EXE_retake-supervisor").as_ref()));
    again::again(command, test);
}
