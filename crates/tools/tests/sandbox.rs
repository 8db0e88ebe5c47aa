//! Confined commands. If the kernel can't confine them, that is reported, and nothing else is
//! checked.

use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use retake_core::{EffectClass, NoSandbox, ToolOutcome};
use retake_tools::{Network, Output, Sandbox, Sandboxed, ShellConfig, Tool, shell_tools};
use serde_json::json;

use crate::stage::{Stage, tool, until};

/// A conversation in a folder that others can't write, with a confined shell.
struct Confined {
    stage: Stage,
    shell: Arc<dyn Tool>,
    sandbox: Sandbox,
}

impl Confined {
    /// `None` if the kernel can't, which must be reported.
    fn new(network: Network) -> Option<Self> {
        let stage = Stage::apart();
        let hide = vec![stage.root().with_file_name("data")];
        // The clone may be in a temporary folder itself.
        let is_around = |folder: &PathBuf| stage.root().starts_with(folder);
        let temporary = Sandbox::temporary().into_iter().filter(|folder| !is_around(folder)).collect();
        let sandbox = Sandbox { temporary, hide, ..crate::stage::bare() };
        match sandbox.available(&stage.roots) {
            Sandboxed::None(why) | Sandboxed::Exposed(why) => {
                assert_eq!(why, NoSandbox::NoLandlock);
                return None;
            }
            Sandboxed::FilesOnly => return None,
            Sandboxed::Full => {}
        }
        let config = ShellConfig { sandbox: Some(sandbox.clone()), network, ..crate::stage::config() };
        Some(Self { stage, shell: tool(&shell_tools(config), "shell"), sandbox })
    }

    async fn run(&self, command: &str) -> Output {
        self.stage.call(&self.shell, json!({ "command": command })).await
    }

    async fn refuses(&self, command: &str, words: &str) {
        let output = self.run(command).await;
        assert_eq!(output.outcome, ToolOutcome::Failed, "{command}: {}", output.content);
        assert!(output.content.contains(words), "{command}: {}", output.content);
    }

    async fn allows(&self, command: &str) {
        let output = self.run(command).await;
        assert_eq!(output.outcome, ToolOutcome::Ok, "{command}: {}", output.content);
    }
}

#[tokio::test]
async fn nothing_is_written_outside() {
    let Some(confined) = Confined::new(Network::On) else { return };
    let outside = confined.stage.root().with_file_name("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("kept"), "kept").unwrap();
    let denied = "Permission denied";
    for command in [
        "echo x > ../outside/new",
        "echo x > ../outside/kept",
        "truncate -s 0 ../outside/kept",
        "rm ../outside/kept",
        "mkdir ../outside/folder",
        "bash -c 'bash -c \"echo x > ../outside/new\"'",
        "ln -s ../outside link; echo x > link/new",
    ] {
        confined.refuses(command, denied).await;
    }
    confined.refuses("mv ../outside/kept .", "").await;
    confined.refuses("ln ../outside/kept hard", "").await;
    assert_eq!(std::fs::read_to_string(outside.join("kept")).unwrap(), "kept");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
    // Only the command is confined, not this process.
    std::fs::write(outside.join("ours"), "").unwrap();
}

#[tokio::test]
async fn commands_work_as_usual_inside_the_writable_folders() {
    let Some(confined) = Confined::new(Network::Ask) else { return };
    for command in [
        "mkdir -p a/b && echo x > a/b/c && mv a/b/c d && rm d && ln -s a link && ls -l",
        "echo x >> /dev/null && echo x > /dev/stderr && cat /dev/zero | head -c 3 > zeros",
        "cat ../outside.txt 2>/dev/null || cat /etc/passwd > /dev/null && ls /",
        "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git log --oneline",
    ] {
        confined.allows(command).await;
    }
    // The clone may be in the usual temporary folder itself: then that one is not writable here.
    let temporary = &confined.sandbox.temporary;
    let set = match temporary.contains(&std::env::temp_dir()) {
        true => String::new(),
        false => format!("TMPDIR={} ", temporary.first().expect("a temporary folder").display()),
    };
    confined.allows(&format!("f=$({set}mktemp) && echo x > $f && rm $f")).await;
    assert_eq!(confined.run("cd a").await.facts.len(), 1, "the folder is kept");
}

#[tokio::test]
async fn hidden_files_are_not_read() {
    let Some(confined) = Confined::new(Network::On) else { return };
    let data = confined.stage.root().with_file_name("data");
    std::fs::create_dir_all(&data).unwrap();
    std::fs::write(data.join("secret"), "secret").unwrap();
    std::fs::write(data.with_file_name("beside"), "beside").unwrap();
    for command in ["cat ../data/secret", "ln -s ../data/secret link; cat link"] {
        let output = confined.run(command).await;
        assert!(output.outcome == ToolOutcome::Failed && !output.content.starts_with("secret"), "{output:?}");
    }
    assert_eq!(confined.run("cat ../beside").await.content, "beside\n[exit code 0]");
    // The environment of the host may hold secrets.
    confined.refuses(&format!("cat /proc/{}/environ", std::process::id()), "environ").await;
}

#[tokio::test]
async fn files_that_can_not_be_hidden_are_reported() {
    let stage = Stage::new();
    let hide = vec![stage.root().join("data")];
    std::fs::create_dir(&hide[0]).expect("made");
    let sandbox = Sandbox { temporary: Sandbox::temporary(), hide, ..Sandbox::bare() };
    let available = sandbox.available(&stage.roots);
    let (Sandboxed::None(why) | Sandboxed::Exposed(why)) = &available else { panic!("it can't be hidden") };
    assert!(matches!(why, NoSandbox::Exposed(_) | NoSandbox::NoLandlock), "{why:?}");
    let config = ShellConfig { sandbox: Some(sandbox), ..crate::stage::config() };
    let tool = tool(&shell_tools(config), "shell");
    let make = json!({ "command": "make" });
    let intent = tool.intent(&make, stage.root(), &stage.roots).unwrap();
    assert_eq!(intent.class, EffectClass::External);
    if matches!(available, Sandboxed::Exposed(_)) {
        // It needs approval like any other, but its effect is in the folder.
        assert_eq!(tool.leaves(&make, &stage.roots, &intent), EffectClass::Workspace);
        let asking = json!({ "command": "make", "network": true });
        assert_eq!(tool.leaves(&asking, &stage.roots, &intent), EffectClass::External);
    }
}

#[tokio::test]
async fn no_process_outside_of_the_sandbox_gets_a_signal() {
    let Some(confined) = Confined::new(Network::On) else { return };
    let mut other = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap();
    let output = confined.run(&format!("kill -9 {}", other.id())).await;
    let lived = other.try_wait().unwrap().is_none();
    let _ = other.kill();
    let _ = other.wait();
    // Kernels before 6.12 can't restrict signals.
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release.split('.').map(|number| number.parse::<u32>().unwrap_or_default());
    let tells_apart = (numbers.next(), numbers.next()) >= (Some(6), Some(12));
    assert_eq!(lived, tells_apart, "{output:?}");
    confined.allows("sleep 1000 & kill $! && { wait $!; true; }").await;
}

#[tokio::test]
async fn a_closed_network_is_closed_for_every_kind_of_socket() {
    let (Some(closed), Some(open)) = (Confined::new(Network::Ask), Confined::new(Network::On)) else {
        return;
    };
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (tcp_port, udp_port) = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
    let commands =
        [format!("exec 3<>/dev/tcp/127.0.0.1/{tcp_port}"), format!("echo x > /dev/udp/127.0.0.1/{udp_port}")];
    for command in commands {
        closed.refuses(&command, "Permission denied").await;
        open.allows(&command).await;
    }
    let path = open.stage.root().join("socket");
    let _listener = UnixListener::bind(&path).unwrap();
    let connects =
        format!("python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"{}\")'", path.display());
    if open.run(&connects).await.outcome == ToolOutcome::Ok {
        closed.refuses(&connects, "Permission denied").await;
    }
}

#[tokio::test]
async fn a_command_has_the_network_access_that_its_call_requests() {
    let Some(confined) = Confined::new(Network::Ask) else { return };
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let connects = format!("exec 3<>/dev/tcp/127.0.0.1/{}", tcp.local_addr().unwrap().port());
    for background in [false, true] {
        let asking = json!({ "command": connects, "network": true, "background": background });
        let output = confined.stage.call(&confined.shell, asking).await;
        assert_eq!(output.outcome, ToolOutcome::Ok, "{}", output.content);
        let silent = json!({ "command": connects, "background": background });
        let output = confined.stage.call(&confined.shell, silent).await;
        assert_eq!(output.outcome, ToolOutcome::Failed);
        assert!(output.content.contains("`network: true` asks for it]"), "{}", output.content);
    }
    let fails = confined.run("env sh -c 'echo wrong; exit 1'").await;
    assert_eq!(fails.content, "wrong\n[it ended with exit code 1]", "it is no failure of the network");
    let succeeds = confined.run("true").await;
    assert_eq!(succeeds.content, "[exit code 0]", "nothing is said where nothing failed");
}

#[tokio::test]
async fn access_beyond_the_sandbox_is_known_before_a_call() {
    use EffectClass::{External, None, Workspace};
    for (network, make, ls, asking, widest) in [
        (Network::Ask, Workspace, None, Some(External), External),
        (Network::On, External, None, Some(External), External),
        (Network::Off, Workspace, None, Option::None, Workspace),
    ] {
        let Some(Confined { stage, shell, .. }) = Confined::new(network) else { return };
        let intent = |call| shell.intent(&call, stage.root(), &stage.roots);
        assert_eq!(intent(json!({ "command": "make" })).unwrap().class, make, "{network:?}");
        assert_eq!(intent(json!({ "command": "ls" })).unwrap().class, ls, "{network:?}");
        let asks = intent(json!({ "command": "make", "network": true }));
        assert_eq!(asks.as_ref().ok().map(|intent| intent.class), asking, "{network:?}");
        match asks {
            Ok(intent) => assert_eq!(intent.line, "with network: $ make"),
            Err(why) => assert!(why.contains("permissions.network"), "{why}"),
        }
        assert_eq!(shell.class(), widest, "{network:?}");
    }
}

#[tokio::test]
async fn a_job_is_confined_too() {
    let Some(confined) = Confined::new(Network::Ask) else { return };
    let line = json!({ "command": "echo x > ../outside; echo still; sleep 1000", "background": true });
    let output = confined.stage.call(&confined.shell, line).await;
    let call = output.facts[0].key.strip_prefix("job/").unwrap().to_owned();
    let log: PathBuf = confined.stage.spool.join(format!("{call}.log"));
    let prints = async || std::fs::read_to_string(&log).unwrap().ends_with("still\n");
    until("it prints", prints).await;
    assert!(std::fs::read_to_string(&log).unwrap().contains("Permission denied"));
}

#[tokio::test]
async fn a_worktree_reaches_its_repository_and_no_other_folder() {
    let Some(mut confined) = Confined::new(Network::Ask) else { return };
    let repository = confined.stage.root().with_file_name("repository");
    let git = |arguments: &[&str]| {
        let done =
            Command::new("git").arg("-C").arg(&repository).args(arguments).stdout(Stdio::null()).status();
        assert!(done.unwrap().success());
    };
    std::fs::create_dir(&repository).unwrap();
    git(&["init", "-q", "."]);
    git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"]);
    git(&["worktree", "add", "-q", "../tree"]);
    let tree = repository.with_file_name("tree");
    confined.stage.roots = vec![tree.clone()];
    confined.allows("git -c user.name=a -c user.email=a@b commit -q --allow-empty -m y").await;
    confined.refuses("echo x > ../repository/file", "Permission denied").await;
    // A link that a command has written itself opens nothing.
    let lure = repository.with_file_name("lure");
    std::fs::create_dir(&lure).unwrap();
    std::fs::write(tree.join(".git"), format!("gitdir: {}\n", lure.display())).unwrap();
    confined.refuses("echo x > ../lure/file", "Permission denied").await;
    // Nor does a fake repository in the workspace that points back.
    let fake = tree.join("fake");
    std::fs::create_dir(&fake).unwrap();
    std::fs::write(tree.join(".git"), "gitdir: fake\n").unwrap();
    std::fs::write(fake.join("gitdir"), format!("{}\n", tree.join(".git").display())).unwrap();
    for common in [lure.display().to_string(), "/".to_owned(), "../..".to_owned()] {
        std::fs::write(fake.join("commondir"), format!("{common}\n")).unwrap();
        confined.refuses("echo x > ../lure/file", "Permission denied").await;
    }
    assert_eq!(confined.sandbox.available(&confined.stage.roots), Sandboxed::Full);
}
