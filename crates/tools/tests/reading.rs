//! Commands that only read, and so run without approval: in a hostile repository, whatever they start changes nothing and reaches
//! nobody.

use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use retake_core::{EffectClass, ToolOutcome};
use retake_tools::{Call, Output, Sandbox, Sandboxed, ShellConfig, Tool, shell_tools};
use serde_json::{Value, json};

use crate::stage::{Stage, tool};

const EVIL: &str = include_str!("reading/evil.py");

/// Whether this machine confines reading commands: it must with Landlock as of Linux 6.2, and seccomp. Without one of them,
/// reading commands need approval.
fn is_held() -> bool {
    let why = match crate::stage::bare().available(&[]) {
        Sandboxed::Full => return true,
        why => why,
    };
    let (landlock, seccomp) = (has_landlock(), Path::new("/proc/sys/kernel/seccomp/actions_avail").exists());
    let told =
        format!("Landlock as of Linux 6.2: {landlock}, seccomp: {seccomp}; reading is not held: {why:?}");
    assert!(!(landlock && seccomp), "this machine could hold it. {told}");
    let stage = Stage::apart();
    let shell = tool(&shell_tools(crate::stage::config()), "shell");
    let intent = shell.intent(&json!({ "command": "git status" }), stage.root(), &stage.roots);
    assert_ne!(intent.expect("an intent").class, EffectClass::None, "it runs unasked all the same. {told}");
    false
}

/// Checked in another way: the version of Landlock from its system call, which has one number everywhere.
fn has_landlock() -> bool {
    const ASK: &str = "import ctypes, sys; sys.exit(ctypes.CDLL(None).syscall(444, None, 0, 1) < 3)";
    Command::new("python3").args(["-c", ASK]).status().expect("python3 is there").success()
}

/// A repository whose settings name a program for every occasion, and the targets of that program.
struct Hostile {
    stage: Stage,
    shell: Arc<dyn Tool>,
    other: Child,
    _listens: (UnixListener, UnixDatagram, TcpListener),
}

impl Drop for Hostile {
    fn drop(&mut self) {
        let _ = self.other.kill();
        let _ = self.other.wait();
    }
}

fn git(folder: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.fsmonitor="]).args(arguments);
    let output =
        git.current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").output().expect("git is there");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
}

impl Hostile {
    /// With a sandbox for other commands, or without: it makes no difference here.
    fn new(sandbox: Option<Sandbox>) -> Self {
        let stage = Stage::apart();
        let root = stage.root();
        let listens = (
            UnixListener::bind(root.join("stream")).expect("a socket"),
            UnixDatagram::bind(root.join("datagram")).expect("a socket"),
            TcpListener::bind("127.0.0.1:0").expect("a port"),
        );
        let port = listens.2.local_addr().expect("an address").port();
        let other = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().expect("a process");
        let write = |name: &str, text: &str| std::fs::write(root.join(name), text).expect("a file");
        std::fs::create_dir_all(&stage.spool).expect("a folder");
        write("victim", "victim\n");
        write("port", &port.to_string());
        write("pid", &other.id().to_string());
        write("spool", &stage.spool.to_string_lossy());
        write("evil", EVIL);
        write("page.x", "one\n");
        write(".gitattributes", "*.x diff=x\n");
        assert!(Command::new("mkfifo").arg(root.join("fifo")).status().expect("mkfifo").success());
        std::fs::set_permissions(root.join("evil"), std::fs::Permissions::from_mode(0o755)).expect("a mode");
        git(root, &["init", "-q"]);
        git(root, &["add", ".gitattributes", "page.x", "victim"]);
        git(root, &["commit", "-qm", "one"]);
        write("page.x", "two\n");
        let shell = tool(&shell_tools(ShellConfig { sandbox, ..crate::stage::config() }), "shell");
        Self { stage, shell, other, _listens: listens }
    }

    fn set(&self, name: &str) {
        let evil = self.stage.root().join("evil");
        git(self.stage.root(), &["config", name, &evil.to_string_lossy()]);
    }

    fn class(&self, arguments: &Value) -> EffectClass {
        self.shell.intent(arguments, self.stage.root(), &self.stage.roots).expect("an intent").class
    }

    async fn run(&self, command: &str) -> Output {
        self.stage.call(&self.shell, json!({ "command": command })).await
    }

    /// All files that could have been changed.
    fn state(&self) -> Vec<String> {
        let mut state = Vec::new();
        for folder in [self.stage.root(), &self.stage.root().join(".git"), Path::new("/dev/shm")] {
            for entry in std::fs::read_dir(folder).expect("a folder") {
                let entry = entry.expect("an entry");
                let is_ours = !folder.starts_with("/dev")
                    || entry.file_name().to_string_lossy().contains("retake-reading");
                let found = entry.metadata().expect("it is there");
                let times = (found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec());
                state.extend(
                    is_ours
                        .then(|| format!("{:?} {:o} {} {times:?}", entry.path(), found.mode(), found.len())),
                );
            }
        }
        state.sort();
        state
    }

    /// Runs a command that starts the program. It can do nothing.
    async fn holds(&mut self, command: &str) {
        assert_eq!(self.class(&json!({ "command": command })), EffectClass::None, "{command}");
        let before = self.state();
        let output = self.run(command).await;
        // Git first writes the input of a filter to a file, which is refused already.
        let tried =
            ["TRIED", "unable to create temp-file"].iter().any(|words| output.content.contains(words));
        assert!(tried, "{command} does not start it: {}", output.content);
        assert!(!output.content.contains("DID"), "{command}: {}", output.content);
        assert_eq!(self.state(), before, "{command}");
        assert!(self.other.try_wait().expect("it is ours").is_none(), "{command} ended another process");
    }
}

#[tokio::test]
async fn trial_22_programs_that_a_hostile_repository_starts_in_a_reading_command_change_nothing() {
    if !is_held() {
        return;
    }
    let mut hostile = Hostile::new(None);
    for (setting, command) in [
        ("core.fsmonitor", "git status"),
        ("core.fsmonitor", "git status --short | head -50; pwd"),
        ("diff.x.textconv", "git diff"),
        ("diff.x.textconv", "git --no-pager log -p -1"),
        ("diff.x.textconv", "git show HEAD"),
        ("diff.x.command", "git diff"),
        ("diff.external", "git diff && ls"),
    ] {
        hostile.set(setting);
        hostile.holds(command).await;
        git(hostile.stage.root(), &["config", "--unset", setting]);
    }
}

/// The same with the sandbox of other commands, whose folders those may write.
#[tokio::test]
async fn trial_22_a_reading_command_has_none_of_the_rights_of_other_commands() {
    if !is_held() {
        return;
    }
    let sandbox = Sandbox { temporary: Sandbox::temporary(), ..crate::stage::bare() };
    let mut hostile = Hostile::new(Some(sandbox));
    hostile.set("core.fsmonitor");
    hostile.holds("git status").await;
}

#[tokio::test]
async fn trial_22_chains_and_pipes_of_reading_commands_run_without_approval() {
    if !is_held() {
        return;
    }
    let hostile = Hostile::new(None);
    for (command, expected) in [
        ("git log --oneline | head -1 | wc -l", "1\n[exit code 0]"),
        ("cat page.x 2>&1", "two\n[exit code 0]"),
        ("cat none 2>/dev/null || echo none", "none\n[exit code 0]"),
        ("git diff --stat | tail -1", " 1 file changed, 1 insertion(+), 1 deletion(-)\n[exit code 0]"),
        ("grep -rn two . --include='*.x' | sort | uniq -c | wc -l", "1\n[exit code 0]"),
        ("sed -n '1,2p' victim; printf '%s\\n' done", "victim\ndone\n[exit code 0]"),
        ("git --no-pager branch --list | wc -l", "1\n[exit code 0]"),
        ("find . -name '*.x' | wc -l; git status --short page.x", "1\n M page.x\n[exit code 0]"),
    ] {
        assert_eq!(hostile.class(&json!({ "command": command })), EffectClass::None, "{command}");
        assert_eq!(hostile.run(command).await.content, expected, "{command}");
    }
    let root = hostile.stage.root().to_string_lossy().into_owned();
    assert_eq!(hostile.run("pwd; ls victim").await.content, format!("{root}\nvictim\n[exit code 0]"));
    std::fs::create_dir(hostile.stage.root().join("sub")).expect("a folder");
    let moved = hostile.run("cd sub && pwd").await;
    assert_eq!(moved.facts.len(), 1, "the folder is kept: {}", moved.content);
}

/// The call is confined as it was classified, whatever the tool makes of its arguments later.
#[tokio::test]
async fn trial_22_a_call_that_was_classified_as_reading_runs_in_the_read_only_sandbox_whatever_its_line() {
    if !is_held() {
        return;
    }
    let hostile = Hostile::new(None);
    let call = |arguments: Value| Call { reads: true, ..hostile.stage.prepare(arguments) };
    let output = hostile.shell.call(call(json!({ "command": "echo x > victim" }))).await;
    assert_eq!(output.outcome, ToolOutcome::Failed);
    assert!(output.content.contains("it could write nothing"), "{}", output.content);
    for arguments in [json!({"command": "ls", "background": true}), json!({"command": "ls", "network": true})]
    {
        let output = hostile.shell.call(call(arguments)).await;
        assert_eq!(output.outcome, ToolOutcome::Failed, "{}", output.content);
    }
    assert_eq!(std::fs::read_to_string(hostile.stage.root().join("victim")).expect("a file"), "victim\n");
    // As a job, or with network, it is no reading command.
    for arguments in [json!({"command": "ls", "background": true}), json!({"command": "ls", "network": true})]
    {
        assert_eq!(hostile.class(&arguments), EffectClass::External);
    }
}
