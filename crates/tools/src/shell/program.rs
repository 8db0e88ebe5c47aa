//! Programs that the settings name: each runs within a call of another tool, to its end. Must never run one that a command could
//! not be without an approval: outside of a full sandbox.

use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use retake_core::{ToolOutcome, shell_word};

use super::follow::{Started, end};
use super::script::Spool;
use super::{ShellConfig, ShellTool};
use crate::call::Call;
use crate::sandbox::Sandboxed;
use crate::spooled_output::SpooledOutput;

/// Runs a program for a call, up to this time, with these words as its command. It is confined like a command without network.
/// All its processes are ended.
///
/// # Errors
/// Why it did not run, or how it failed, with the first line of its output.
pub(crate) async fn run_program(
    config: &ShellConfig,
    call: &Call,
    words: &[String],
    folder: &Path,
    limit: Duration,
) -> Result<(), String> {
    let is_full = |sandbox: &crate::Sandbox| sandbox.available(&call.roots) == Sandboxed::Full;
    if !config.sandbox.as_ref().is_some_and(is_full) {
        return Err("it does not run without the full sandbox, which `retake doctor` describes".to_owned());
    }
    let shell = ShellTool { about: OnceLock::new(), config: config.clone() };
    let command: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
    let command = command.join(" ");
    let not_started = |error: std::io::Error| format!("it cannot be started: {error}");
    let spool = Spool::open(&call.spool, &call.id).map_err(not_started)?;
    let (pipe, writer) = std::io::pipe().map_err(not_started)?;
    let printed = SpooledOutput::new(spool.log.clone(), config.log);
    let line = shell.line(&command, folder);
    let Started { child, group } = line.start(call, &spool, writer.into()).await.map_err(not_started)?;
    let (over, printed) = line.follow(call, child, pipe, printed, limit).await;
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
            let first = first.map(|line| format!(": {}", line.trim())).unwrap_or_default();
            Err(format!("{}{first}", said.trim_matches(['[', ']'])))
        }
    }
}
