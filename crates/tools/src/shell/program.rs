//! Programs that the settings name: each runs within a call of another tool, to its end. Must never run one that a command could
//! not be without an approval: outside of a full sandbox.

use std::io::{Seek as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use retake_core::{ToolOutcome, shell_word};

use super::follow::{CommandLaunch, Started, end};
use super::script::Spool;
use super::{ShellConfig, ShellTool};
use crate::call::Call;
use crate::sandbox::{Net, Sandboxed};
use crate::spooled_output::SpooledOutput;

/// A program to run within a call.
#[derive(Clone, Debug)]
pub struct ProgramRun<'a> {
    /// The program and its arguments.
    pub words: &'a [String],
    /// The folder that it starts in.
    pub folder: &'a Path,
    /// What it reads on its standard input.
    pub input: Option<&'a [u8]>,
    /// Whether it reaches the network.
    pub network: bool,
    /// Its time limit.
    pub limit: Duration,
}

/// How a program of the settings failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramFailure {
    /// There is no full sandbox here, so it did not run.
    NotConfined,
    /// It could not be started, or failed: how, and the first line of its output.
    Failed(String, Option<String>),
}

/// Runs a program for a call, to its end. It is confined like a command. All its processes are ended.
///
/// # Errors
/// Why it did not run, or how it failed.
pub async fn run_program(
    config: &ShellConfig,
    call: &Call,
    program: ProgramRun<'_>,
) -> Result<(), ProgramFailure> {
    let is_full = |sandbox: &crate::Sandbox| sandbox.available(&call.roots) == Sandboxed::Full;
    if !config.sandbox.as_ref().is_some_and(is_full) {
        return Err(ProgramFailure::NotConfined);
    }
    let shell = ShellTool { about: OnceLock::new(), config: config.clone() };
    let command: Vec<String> = program.words.iter().map(|word| shell_word(word)).collect();
    let command = command.join(" ");
    let not_started =
        |error: std::io::Error| ProgramFailure::Failed(format!("it cannot be started: {error}"), None);
    let spool = Spool::open(&call.spool, &call.id).map_err(not_started)?;
    let (pipe, writer) = std::io::pipe().map_err(not_started)?;
    let printed = SpooledOutput::new(spool.log.clone(), config.log);
    let stdin = program.input.map(|input| readable(&spool, input)).transpose().map_err(not_started)?;
    let net = if program.network { Net::Open } else { Net::Closed };
    let line = CommandLaunch { net, stdin, ..shell.line(&command, program.folder) };
    let Started { child, group } = line.start(call, &spool, writer.into()).await.map_err(not_started)?;
    let (over, printed) = line.follow(call, child, pipe, printed, program.limit).await;
    if over.left_some() {
        end(call, None).await;
    }
    drop(group);
    let printed = printed.bounded();
    for file in [&spool.note, &spool.log] {
        // They are no longer needed; the log is there only after long output.
        let _ = std::fs::remove_file(file);
    }
    match over.said() {
        (ToolOutcome::Ok, _) => Ok(()),
        (_, said) => {
            let first = printed.lines().find(|line| !line.trim().is_empty());
            let first = first.map(|line| line.trim().to_owned());
            Err(ProgramFailure::Failed(said.trim_matches(['[', ']']).to_owned(), first))
        }
    }
}

impl std::fmt::Display for ProgramFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotConfined => {
                f.write_str("it does not run without the full sandbox, which `retake doctor` describes")
            }
            Self::Failed(how, None) => f.write_str(how),
            Self::Failed(how, Some(first)) => write!(f, "{how}: {first}"),
        }
    }
}

/// A file without a name that contains these bytes, to be read from its beginning.
fn readable(spool: &Spool, bytes: &[u8]) -> std::io::Result<OwnedFd> {
    let path = spool.log.with_extension("in");
    let mut file = crate::kept::options().read(true).write(true).create(true).truncate(true).open(&path)?;
    std::fs::remove_file(&path)?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file.into())
}
