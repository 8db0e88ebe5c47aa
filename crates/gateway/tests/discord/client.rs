//! The fake is a Discord for discord.py, a client from the Python package index that others wrote.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use retake_fakes::discord::MANAGE_MESSAGES;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use super::world::{TOKEN, World};

/// The same version as `cargo xtask test` installs.
const PACKAGE: &str = "discord.py==2.7.1";

/// The interpreter with the package, installed if necessary. Tests in several processes take turns for that.
async fn interpreter() -> PathBuf {
    let commands = match std::env::var_os("RETAKE_TEST_TOOLS") {
        Some(commands) => PathBuf::from(commands),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/bin"),
    };
    let root = commands.parent().expect("a folder above").join("discord.py");
    if is_installed(&root) {
        return root.join("bin/python3");
    }
    fs::create_dir_all(&commands).expect("a folder for tools");
    let lock = File::create(root.with_extension("lock")).expect("a lock file");
    lock.lock().expect("the lock");
    if !is_installed(&root) {
        run(Command::new("python3").args(["-m", "venv"]).arg(&root)).await;
        run(Command::new(root.join("bin/pip")).args(["install", "--quiet", PACKAGE])).await;
    }
    root.join("bin/python3")
}

fn is_installed(root: &Path) -> bool {
    let pythons = fs::read_dir(root.join("lib")).into_iter().flatten().flatten();
    pythons
        .into_iter()
        .any(|python| python.path().join("site-packages/discord_py-2.7.1.dist-info/RECORD").is_file())
}

async fn run(command: &mut Command) {
    let done = command.output().await.expect("python3 with venv is there");
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "cannot install {PACKAGE}, which the tests talk with: {errors}");
}

/// The running script. It is killed when this is dropped.
struct Script {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Script {
    async fn start(world: &World, token: &str) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/discord_client.py");
        let mut command = Command::new(interpreter().await);
        command.arg(script).args([&world.fake.rest(), &world.fake.gateway()]).args([token, &world.channel]);
        let command = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).kill_on_drop(true);
        let mut child = command.spawn().expect("the script starts");
        let output = child.stdout.take().expect("a pipe");
        Self { child, lines: BufReader::new(output).lines() }
    }

    async fn line(&mut self) -> Option<String> {
        let line = tokio::time::timeout(Duration::from_secs(60), self.lines.next_line()).await;
        line.expect("the script says something").expect("readable")
    }
}

#[tokio::test]
async fn common_client_reads_sends_edits_and_deletes_with_the_fake() {
    let world = World::new().await;
    world.fake.grant(&world.guild, &world.fake.me(), MANAGE_MESSAGES);
    let mut script = Script::start(&world, TOKEN).await;
    assert_eq!(script.line().await.as_deref(), Some("ready 1 general retake True"));
    world.fake.write(&world.channel, &world.anna, "hello");
    let mut said = Vec::new();
    while let Some(line) = script.line().await {
        said.push(line);
    }
    // The events of its own messages come in between. The client shows the first one as it is after the edit, or before.
    let (own, said): (Vec<String>, Vec<String>) = said.into_iter().partition(|line| line.starts_with("own "));
    let expected = [
        "message anna hello True",
        "sent one True",
        "edited two True",
        "gone 404 10008",
        "file a.py True",
        "bulk 3",
        "refused 400 50035",
    ];
    assert_eq!(said, expected);
    assert_eq!(
        (own.len(), &own[1..]),
        (5, &["own file", "own more 0", "own more 1", "own more 2"].map(str::to_owned)[..])
    );
    assert_eq!(world.own(&world.channel), ["file"]);
    assert_eq!(world.fake.control().called("delete_many").len(), 1);
    assert!(script.child.wait().await.expect("it ends").success());
}

#[tokio::test]
async fn common_client_with_a_wrong_token_is_refused() {
    let world = World::new().await;
    let mut script = Script::start(&world, "wrong").await;
    assert_eq!(script.line().await.as_deref(), Some("login refused"));
}
