//! A home of its own for the real program: a data directory, settings with only the demo model, and the output. Must never reach
//! a network or the data of the person who runs it.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use retake_testkit::again::for_everybody;
use retake_wire::OwnerAddress;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::term::pty::{Pty, now};

/// No delay between words, and no search for servers.
const SETTINGS: &str = "[model]\ndefault = \"demo\"\n[local]\nfind = false\n[demo]\nword_delay_ms = 0\n";

/// Keys of the person who runs the tests must not affect them.
const KEYS: [&str; 3] = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"];

/// A user who owns nothing.
pub(super) const NOBODY: u32 = 65534;

/// A folder that ends all its owners when it is dropped.
pub(super) struct HomeDir(TempDir);

impl HomeDir {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    /// The processes that own data below it.
    pub(super) fn owners(&self) -> Vec<String> {
        let below = format!("\0owner-process\0{}", self.path().display());
        let is_one = |entry: &std::fs::DirEntry| {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(&below)
        };
        let all = std::fs::read_dir("/proc").expect("Linux").flatten();
        let pids = all.filter(is_one).filter_map(|entry| entry.file_name().into_string().ok());
        pids.filter(|pid| runs(pid)).collect()
    }

    /// Kills them.
    pub(super) fn kill_owners(&self) {
        for pid in self.owners() {
            // It may have ended by itself.
            let _ = pid.parse().ok().and_then(Pid::from_raw).map(|pid| kill_process(pid, Signal::KILL));
            until("the owner is dead", || !runs(&pid));
        }
    }
}

impl Drop for HomeDir {
    fn drop(&mut self) {
        let began = now();
        let mut left = self.owners();
        while !std::thread::panicking() && !left.is_empty() && now() - began < LEFT {
            std::thread::sleep(Duration::from_millis(10));
            left = self.owners();
        }
        self.kill_owners();
        assert!(std::thread::panicking() || left.is_empty(), "a test leaves an owner behind: {left:?}");
    }
}

/// How long an owner may take to end after its test: one that a client has just started before it ended waits ten seconds.
const LEFT: Duration = Duration::from_secs(40);

pub(super) struct World {
    home: HomeDir,
    data: PathBuf,
    folder: PathBuf,
    variables: Vec<(&'static str, String)>,
}

impl World {
    pub(super) fn new() -> Self {
        let home = HomeDir::new();
        let data = home.path().join("data");
        let folder = home.path().to_owned();
        let world = Self { home, data, folder, variables: Vec::new() };
        world.settings(SETTINGS);
        world
    }

    /// In a folder below the home, with these files.
    pub(super) fn working(files: &[(&str, &str)]) -> Self {
        let world = Self::new();
        let folder = world.home().join("work");
        std::fs::create_dir(&folder).expect("made");
        let world = Self { folder, ..world };
        files.iter().for_each(|(name, text)| world.write(name, text));
        world
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.join(name), text).expect("written");
    }

    /// The content of a file; `None` if it does not exist.
    pub(super) fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.folder.join(name)).ok()
    }

    /// Where the program runs.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A shell script as the agent's call, in a turn of its own.
    pub(super) fn exec(&self, script: &str) -> String {
        self.does(&["exec", "--say", "do it", "--", "sh", "-c", script])
    }

    /// A command line that runs until a file exists, or until the whole world is gone: a failing test leaves nothing behind.
    pub(super) fn waits_for(&self, name: &str) -> String {
        let home = self.home().display();
        format!("until [ -e '{home}/{name}' ] || [ ! -e '{home}' ]; do sleep 0.05; done")
    }

    /// With the data in another place.
    pub(super) fn with_data(self, data: &Path) -> Self {
        Self { data: data.to_owned(), ..self }
    }

    /// With a variable in the environment.
    pub(super) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.variables.push((name, value.to_owned()));
        self
    }

    /// With two messages and their answers.
    pub(super) fn talking() -> Self {
        let world = Self::new();
        world.does(&["ask", "one apple"]);
        world.does(&["ask", "two pears"]);
        world
    }

    pub(super) fn settings(&self, text: &str) {
        std::fs::write(self.config(), text).expect("written");
    }

    pub(super) fn config(&self) -> PathBuf {
        self.home().join("config.toml")
    }

    pub(super) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Starts `retake serve`, and waits until it is the owner.
    pub(super) fn serves(&self) -> Child {
        let owner = self.command(&["serve"]).spawn().expect("it starts");
        until("it serves", || self.json(&["status"])["pid"] == owner.id());
        owner
    }

    /// The processes that own data here.
    pub(super) fn owners(&self) -> Vec<String> {
        self.home.owners()
    }

    /// Kills a client, and then the owner that it has started.
    pub(super) fn kill(&self, mut client: Child) {
        client.kill().expect("killed");
        client.wait().expect("ended");
        self.kill_owners();
    }

    /// Kills every owner.
    pub(super) fn kill_owners(&self) {
        self.home.kill_owners();
    }

    pub(super) fn data(&self) -> &Path {
        &self.data
    }

    /// The folder of the owner's log, unless a variable moves it.
    pub(super) fn state(&self) -> PathBuf {
        self.home().join(".local/state/retake")
    }

    /// The log of the owner.
    pub(super) fn owner_log(&self) -> String {
        std::fs::read_to_string(self.state().join("owner.log")).expect("a log")
    }

    /// How a client reaches the owner.
    pub(super) fn reach(&self) -> OwnerAddress {
        let token = std::fs::read_to_string(self.data().join("token")).ok();
        OwnerAddress::Socket {
            path: self.data().join("owner.sock"),
            token: token.map(|it| it.trim().to_owned()),
        }
    }

    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        self.command_of(Path::new(env!("CARGO_BIN_EXE_retake")), arguments)
    }

    /// As a user without root's rights, even if root runs the tests: for root, as one who owns nothing, with a copy of the
    /// program in the home.
    pub(super) fn unprivileged(&self, arguments: &[&str]) -> Command {
        if !rustix::process::geteuid().is_root() {
            return self.command(arguments);
        }
        let copy = for_everybody(Path::new(env!("CARGO_BIN_EXE_retake")), self.home());
        let mut command = self.command_of(&copy, arguments);
        command.uid(NOBODY).gid(NOBODY);
        command
    }

    fn command_of(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        for key in KEYS {
            command.env_remove(key);
        }
        command
            .args(arguments)
            .current_dir(&self.folder)
            .env("HOME", self.home())
            .env("USER", "ada")
            .env("RETAKE_DATA_DIR", &self.data)
            .env("RETAKE_CONFIG", self.config())
            .env("RETAKE_WAIT_MS", "200")
            .env("RETAKE_IDLE_S", "0")
            .env("RUST_BACKTRACE", "0")
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("it starts")
    }

    /// With this on standard input.
    pub(super) fn pipe(&self, arguments: &[&str], input: &str) -> Output {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().expect("it starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(input.as_bytes()).expect("written");
        drop(stdin);
        child.wait_with_output().expect("it ends")
    }

    /// A command that succeeds; returns its output.
    pub(super) fn does(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        out(&output)
    }

    /// The line client, in a terminal.
    pub(super) fn converse(&self) -> Pty {
        let all = self.json(&["list", "--all"]);
        let id = all["conversations"][0]["id"].as_str().expect("an id");
        self.types(&["--plain", "-r", id])
    }

    /// A command, in a terminal.
    pub(super) fn types(&self, arguments: &[&str]) -> Pty {
        let path = |path: &Path| path.display().to_string();
        let (home, data, config) = (path(self.home()), path(self.data()), path(&self.config()));
        let own = self.variables.iter().map(|(name, value)| (*name, value.as_str()));
        let variables: Vec<_> = [
            ("HOME", home.as_str()),
            ("RETAKE_DATA_DIR", data.as_str()),
            ("RETAKE_CONFIG", config.as_str()),
            ("PAGER", ""),
        ]
        .into_iter()
        .chain(own)
        .collect();
        Pty::run(Path::new(env!("CARGO_BIN_EXE_retake")), arguments, &variables)
    }

    pub(super) fn json(&self, arguments: &[&str]) -> Value {
        let mut all = vec!["--json"];
        all.extend(arguments);
        let text = self.does(&all);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// The stored texts of the conversation.
    pub(super) fn texts(&self) -> Vec<String> {
        let log = self.json(&["log"]);
        let entries = log["entries"].as_array().expect("entries");
        let text = |entry: &Value| entry["parts"][0]["text"].as_str().unwrap_or("?").to_owned();
        entries.iter().map(text).collect()
    }

    /// Commands with their output and exit codes, without what differs each time.
    pub(super) fn transcript(&self, commands: &[&[&str]]) -> String {
        commands.iter().map(|arguments| self.seen(arguments, &self.run(arguments))).collect()
    }

    /// One of them.
    pub(super) fn seen(&self, arguments: &[&str], output: &Output) -> String {
        let code = output.status.code().map_or("killed".to_owned(), |code| code.to_string());
        // The sandbox differs from machine to machine, and so does the path of the log.
        let differs = |line: &&str| line.starts_with("sandbox: ") || line.starts_with("log: ");
        let out = out(output);
        let out: String = out.split_inclusive('\n').filter(|line| !differs(line)).collect();
        let text = format!("$ retake {}\n{out}{}[{code}]\n", arguments.join(" "), error(output));
        let home = self.home().display().to_string();
        text.replace(&self.data.display().to_string(), "DATA").replace(&home, "HOME")
    }
}

/// Kind, mode and bytes of everything in a folder.
pub(super) type Manifest = BTreeMap<PathBuf, (u32, Vec<u8>)>;

pub(super) fn manifest(folder: &Path) -> Manifest {
    let mut all = Manifest::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let meta = std::fs::symlink_metadata(&path).expect("it is there");
        let bytes = if meta.is_symlink() {
            std::fs::read_link(&path).expect("a link").into_os_string().into_encoded_bytes()
        } else if meta.is_dir() {
            all.extend(manifest(&path));
            Vec::new()
        } else {
            std::fs::read(&path).expect("a file")
        };
        all.insert(path, (meta.permissions().mode(), bytes));
    }
    all
}

/// Waits for an effect of a process.
pub(super) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = now();
    while !is_so() {
        assert!(now() - began < Duration::from_secs(60), "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The process outside that has this number for a command of a conversation, which may have a pid namespace of its own. `home`
/// distinguishes its environment from others.
pub(super) fn outside(inside: &str, home: &Path) -> Option<String> {
    let home = home.to_str()?.as_bytes();
    let bears = |pid: &str| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.windows(home.len()).any(|part| part == home)
    };
    let is_it = |pid: &String| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:")).unwrap_or_default();
        numbers.split_whitespace().last() == Some(inside.trim()) && bears(pid)
    };
    let all = std::fs::read_dir("/proc").ok()?.flatten();
    let mut pids = all.filter_map(|entry| entry.file_name().into_string().ok());
    pids.find(is_it)
}

/// Whether a process runs; a zombie does not.
pub(super) fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

pub(super) fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

pub(super) fn error(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

/// Compares with a snapshot in which ids and times have names.
macro_rules! shows {
    ($text:expr) => {
        insta::with_settings!({
            omit_expression => true,
            filters => vec![
                (r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "ID"),
                (r"\b0[0-9a-f]{7}-[0-9a-f]{1,4}(-[0-9a-f]+)*", "SHORT"),
                (r#""(time|created|changed)_ms":\d+"#, r#""${1}_ms":TIME"#),
                (r"process \d+ \(.*?\)", "process PID (SINCE)"),
                (r"( `[^`\n]*`), \d+ s\n", "$1\n"),
                (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
            ],
        }, { insta::assert_snapshot!($text) })
    };
}
pub(super) use shows;

/// Sends a signal to a process, by its number.
pub(super) fn signal(pid: &str, signal: Signal) {
    let pid = pid.parse().ok().and_then(Pid::from_raw).expect("the number of a process");
    kill_process(pid, signal).expect("it is told");
}
