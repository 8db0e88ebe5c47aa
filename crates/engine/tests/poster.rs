//! Runs `llmposter`, an independent model server, as a separate process; installs it if it is missing.
//!
//! Its licence (AGPL) forbids nothing of that, but it must never be linked.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

const VERSION: &str = "0.5.0";

/// Time limit for the start of the server.
const STARTS_WITHIN: Duration = Duration::from_secs(30);

/// A running server with its own fixtures. Dropping it stops it.
pub(crate) struct Poster {
    child: Child,
    address: String,
    _fixtures: tempfile::TempDir,
}

impl Poster {
    /// Starts a server on a free port.
    pub(crate) fn start(fixtures: &str) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        fs::write(dir.path().join("fixtures.yaml"), fixtures).expect("fixtures");
        let mut child = Command::new(binary())
            .args(["--bind", "127.0.0.1", "--port", "0", "--fixtures"])
            .arg(dir.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("llmposter starts");
        let errors = BufReader::new(child.stderr.take().expect("piped"));
        let (tell, told) = mpsc::channel();
        // Reads to the end, so that the server never blocks on a full pipe.
        std::thread::spawn(move || {
            for line in errors.lines().map_while(Result::ok) {
                if let Some((_, address)) = line.split_once("listening on ") {
                    // The test may have given up waiting.
                    let _ = tell.send(address.trim().to_owned());
                }
            }
        });
        let address = told.recv_timeout(STARTS_WITHIN);
        let poster = Self { child, address: address.unwrap_or_default(), _fixtures: dir };
        assert!(!poster.address.is_empty(), "llmposter does not listen");
        poster
    }

    /// `http://127.0.0.1:port`.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Its port.
    pub(crate) fn port(&self) -> u16 {
        self.address.rsplit(':').next().and_then(|port| port.parse().ok()).expect("an address with a port")
    }
}

impl Drop for Poster {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program, installed if necessary. Tests in several processes take turns for that.
fn binary() -> PathBuf {
    let commands = match std::env::var_os("RETAKE_TEST_TOOLS") {
        Some(commands) => PathBuf::from(commands),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/bin"),
    };
    let program = commands.join("llmposter");
    if program.is_file() {
        return program;
    }
    fs::create_dir_all(&commands).expect("a folder for tools");
    let root = commands.parent().expect("a folder above");
    let lock = File::create(root.join("llmposter.lock")).expect("a lock file");
    lock.lock().expect("the lock");
    if !program.is_file() {
        let done = Command::new(env!("CARGO"))
            .args(["install", "--locked", "--no-default-features", "--root"])
            .arg(root)
            .arg(format!("llmposter@{VERSION}"))
            .output()
            .expect("cargo runs");
        let errors = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "cannot install llmposter: {errors}");
    }
    program
}
