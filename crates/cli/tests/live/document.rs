//! The API document is correct: an independent tester sends every documented request, valid and invalid, and a generated client
//! rewinds and redoes.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output};

use retake_wire::http::ENDPOINTS;

use super::harness::{NOBODY, World, out};

/// The same version as `cargo xtask test` installs.
const TESTER: (&str, &str) = ("schemathesis", "4.32.5");

/// The same version as `cargo xtask test` installs.
const GENERATOR: (&str, &str) = ("openapi-python-client", "0.29.1");

/// The folder of a program's commands; installed if necessary. Tests in several processes take turns for that.
fn commands((name, version): (&str, &str)) -> PathBuf {
    let tools = match std::env::var_os("RETAKE_TEST_TOOLS") {
        Some(commands) => PathBuf::from(commands),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/bin"),
    };
    let root = tools.parent().expect("a folder above").join(name);
    let commands = root.join("bin");
    if !commands.join(name).is_file() {
        fs::create_dir_all(&tools).expect("a folder for tools");
        let lock = File::create(root.with_extension("lock")).expect("a lock file");
        lock.lock().expect("the lock");
        if !commands.join(name).is_file() {
            let package = format!("{name}=={version}");
            install(&package, Command::new("python3").args(["-m", "venv"]).arg(&root));
            install(&package, Command::new(commands.join("pip")).args(["install", "--quiet", &package]));
        }
    }
    commands
}

fn install(package: &str, command: &mut Command) {
    let done = command.output().expect("python3 with venv is there");
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "cannot install {package}, which the tests start: {errors}");
}

/// An owner that can only write in its own home, whatever the requests.
struct Serving {
    child: Child,
    base: String,
    token: String,
    world: World,
    /// Open as long as it may print.
    _says: BufReader<ChildStdout>,
}

impl Serving {
    fn new() -> Self {
        let world = World::working(&[]);
        if rustix::process::geteuid().is_root() {
            for path in [world.home(), world.folder(), &world.config()] {
                chown(path, Some(NOBODY), Some(NOBODY)).expect("given away");
            }
        }
        let mut child = world.unprivileged(&["serve", "--listen", "127.0.0.1:0"]).spawn().expect("it starts");
        let mut says = BufReader::new(child.stdout.take().expect("a pipe"));
        let base = says.by_ref().lines().map(|line| line.expect("text")).find_map(|line| {
            Some(line.strip_prefix("listening at ")?.split(';').next().unwrap_or_default().to_owned())
        });
        let base = base.expect("it says where it listens");
        let token = fs::read_to_string(world.data().join("token")).expect("a token").trim().to_owned();
        Self { child, base, token, world, _says: says }
    }

    /// Runs a program in the home, and returns its output; it must succeed.
    fn runs(&self, command: &mut Command) -> String {
        let done: Output = command.current_dir(self.world.home()).output().expect("it starts");
        let errors = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{command:?}:\n{}\n{errors}", out(&done));
        out(&done)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Left out: `stop` ends the owner, and a stream of events does not end.
const LEFT_OUT: &str = "^/v1/(stop|events|conversations/[^/]+/events)$";

/// A run may execute commands: only as a user who owns nothing.
const RUNS: &str = "^/v1/runs$";

/// Random requests in addition to examples and limits: 3 of each kind, or as many as `RETAKE_API_EXAMPLES` says.
#[test]
fn every_reply_is_one_that_the_document_promises() {
    let commands = commands(TESTER);
    let owner = Serving::new();
    let world = &owner.world;
    fs::set_permissions(world.home(), fs::Permissions::from_mode(0o755)).expect("open to who asks");
    let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live/schemathesis.toml");
    let mut left_out = vec![LEFT_OUT];
    if !rustix::process::geteuid().is_root() {
        left_out.push(RUNS);
    }
    let examples = std::env::var("RETAKE_API_EXAMPLES").unwrap_or_else(|_| "3".to_owned());
    let said = owner.runs(
        Command::new(commands.join("schemathesis"))
            .arg("--config-file")
            .arg(rules)
            .args(["run", &format!("{}/openapi.json", owner.base)])
            .args(["--header", &format!("Authorization: Bearer {}", owner.token)])
            .args(["--exclude-path-regex", &left_out.join("|")])
            .args(["--phases", "examples,coverage,fuzzing,stateful"])
            .args(["--max-examples", &examples, "--seed", "2"])
            .args(["--generation-database", "none", "--suppress-health-check", "all"])
            .args(["--request-timeout", "30", "--warnings", "off", "--no-color"]),
    );
    let tested = said.lines().find_map(|line| line.trim().strip_prefix("Tested: ")?.parse().ok());
    assert!(tested >= Some(ENDPOINTS.len() - 1), "all but `stop` are tried, and more: {said}");
    assert!(said.contains("✅ Stateful"), "links are walked along: {said}");
}

#[test]
fn a_client_made_of_the_document_rewinds_and_undoes() {
    let commands = commands(GENERATOR);
    let owner = Serving::new();
    let made = tempfile::tempdir().expect("a folder");
    let settings = made.path().join("settings.yml");
    fs::write(&settings, "post_hooks: []\n").expect("written");
    let document = made.path().join("openapi.json");
    fs::write(&document, served(&owner)).expect("written");
    owner.runs(
        Command::new(commands.join("openapi-python-client"))
            .args(["generate", "--meta", "none", "--fail-on-warning"])
            .arg("--path")
            .arg(&document)
            .arg("--config")
            .arg(&settings)
            .arg("--output-path")
            .arg(made.path().join("made")),
    );
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live/rewind.py");
    let said = owner.runs(
        Command::new(commands.join("python"))
            .env("PYTHONPATH", made.path())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .arg(script)
            .args([&owner.base, &owner.token]),
    );
    let expected = "planned 2\nrewound 2 one\nlate stale stale_head\nundone 2 one two three\n";
    assert_eq!(said, expected);
}

/// The document as the owner sends it.
fn served(owner: &Serving) -> String {
    let script = "import sys, urllib.request as r; \
        q = r.Request(sys.argv[1], headers={'Authorization': 'Bearer ' + sys.argv[2]}); \
        sys.stdout.write(r.urlopen(q).read().decode())";
    let address = format!("{}/openapi.json", owner.base);
    owner.runs(Command::new("python3").args(["-c", script, &address, &owner.token]))
}
