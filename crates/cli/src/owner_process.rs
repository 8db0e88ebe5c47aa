//! The owner as a separate process, started by a client. It is detached from the terminal and runs until no client needs it.
//! Must never keep a descriptor of the client open.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use retake_server::{Options, OwnerLifetime};
use retake_wire::{Problem, Ready};

use crate::app;
use crate::attach::{RunningOwner, become_owner};
use crate::log;
use crate::owner::Paths;
use crate::owner_start::OWNER;
use crate::term::interrupt::{self, Interrupts};

/// The variable that overrides how many seconds an idle owner stays, for tests.
const IDLE_VARIABLE: &str = "RETAKE_IDLE_S";

/// The arguments of an owner.
pub(crate) struct OwnerArguments {
    data_dir: PathBuf,
    config_file: PathBuf,
    wait: Duration,
}

/// The arguments, if this process is to be the owner.
pub(crate) fn arguments() -> Option<OwnerArguments> {
    let mut arguments = env::args_os().skip(1);
    if arguments.next()? != OWNER {
        return None;
    }
    let rest: Vec<OsString> = arguments.collect();
    let [data_dir, config_file, wait] = <[OsString; 3]>::try_from(rest).ok()?;
    let wait = Duration::from_millis(wait.to_str()?.parse().ok()?);
    Some(OwnerArguments { data_dir: data_dir.into(), config_file: config_file.into(), wait })
}

/// Closes all descriptors of the client, and leaves its session. Call it before anything is opened.
pub(crate) fn detach() {
    let numbers = |entry: fs::DirEntry| entry.file_name().to_str()?.parse::<i32>().ok();
    let open: Vec<i32> = fs::read_dir("/proc/self/fd")
        .map(|folder| folder.flatten().filter_map(numbers).filter(|number| *number > 2).collect())
        .unwrap_or_default();
    for number in open {
        // The directory's own descriptor is closed already.
        let _ = nix::unistd::close(number);
    }
    // Fails only if it leads a session already.
    let _ = rustix::process::setsid();
    let _ = rustix::thread::set_name(c"retake");
}

/// Runs the owner until no client needs it.
pub(crate) async fn run(given: OwnerArguments) -> ExitCode {
    let log_file = app::log_file();
    let mut notices = log::start(&log_file);
    log::log_panics(false);
    let running = match begin(given, log_file.clone()).await {
        Ok(running) => running,
        Err(problem) => {
            tracing::error!(code = &*problem.code, "the owner cannot start");
            let code = problem.kind.exit_code();
            say(&Ready { problem: Some(problem), notices: Vec::new() });
            return ExitCode::from(code);
        }
    };
    notices.extend(running.notices);
    say(&Ready { problem: None, notices });
    log::take_over_output(&log_file);
    match running.over.await {
        Ok(_) => ExitCode::SUCCESS,
        Err(problem) => ExitCode::from(problem.kind.exit_code()),
    }
}

async fn begin(given: OwnerArguments, log_file: PathBuf) -> Result<RunningOwner, Problem> {
    let signals = Interrupts::new().map_err(|error| app::no_signals(&error))?;
    let terminated = interrupt::terminated().map_err(|error| app::no_signals(&error))?;
    let idle = env::var(IDLE_VARIABLE).ok().and_then(|text| text.parse().ok()).map(Duration::from_secs);
    // The client has checked a named settings file.
    let paths =
        Paths { data_dir: given.data_dir, config_file: given.config_file, log_file, config_named_by: None };
    let options = app::options(&paths, OwnerLifetime::WhileNeeded(idle))?;
    become_owner(Options { wait_for_owner: given.wait, ..options }, None, None, signals, terminated).await
}

/// Reports the result of the start to the client.
fn say(ready: &Ready) {
    let json = serde_json::to_vec(ready).unwrap_or_default();
    // The client may have ended.
    drop(std::io::stdout().write_all(&json).and_then(|()| std::io::stdout().flush()));
    if let Ok(nothing) = File::options().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&nothing);
        let _ = rustix::stdio::dup2_stderr(&nothing);
    }
}
