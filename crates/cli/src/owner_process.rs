//! The owner as a separate process, started by a client: detached from the terminal, with a log in the data directory, until no client
//! needs it. Must never keep a descriptor of the client open.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use retake_engine::clock::{Clock as _, SystemClock};
use retake_server::{Options, Stays};
use retake_wire::{Problem, Ready};

use crate::app;
use crate::attach::{RunningOwner, become_owner};
use crate::owner::Paths;
use crate::owner_start::OWNER;
use crate::term::interrupt::{self, Interrupts};

/// The name of the log in the data directory.
const LOG: &str = "owner.log";

/// The longest log in bytes; then a new one begins, and the previous one is kept.
const LONGEST: u64 = 1 << 20;

/// How often to check its length.
const LOOK: Duration = Duration::from_secs(60);

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
        // The one that was just read is closed already.
        let _ = nix::unistd::close(number);
    }
    // Fails only if it leads a session already.
    let _ = rustix::process::setsid();
    let _ = rustix::thread::set_name(c"retake");
}

/// Runs the owner until no client needs it.
pub(crate) async fn run(given: OwnerArguments) -> ExitCode {
    let data_dir = given.data_dir.clone();
    let standing = match begin(given).await {
        Ok(standing) => standing,
        Err(problem) => {
            let code = problem.kind.exit_code();
            say(&Ready { problem: Some(problem), notices: Vec::new() });
            return ExitCode::from(code);
        }
    };
    let log = Log::open(&data_dir);
    log.write(&format!("retake {} owns {}", env!("CARGO_PKG_VERSION"), data_dir.display()));
    for notice in &standing.notices {
        log.write(notice);
    }
    say(&Ready { problem: None, notices: standing.notices });
    log.takes_over();
    let bounded = async {
        loop {
            tokio::time::sleep(LOOK).await;
            log.bound();
        }
    };
    let ended = tokio::select! {
        ended = standing.over => ended,
        never = bounded => never,
    };
    match ended {
        Ok(why) => {
            log.write(&format!("ended: {why}"));
            ExitCode::SUCCESS
        }
        Err(problem) => {
            log.write(&format!("ended: {}", problem.message));
            ExitCode::from(problem.kind.exit_code())
        }
    }
}

async fn begin(given: OwnerArguments) -> Result<RunningOwner, Problem> {
    let signals = Interrupts::new().map_err(|error| app::no_signals(&error))?;
    let terminated = interrupt::terminated().map_err(|error| app::no_signals(&error))?;
    let idle = env::var(IDLE_VARIABLE).ok().and_then(|text| text.parse().ok()).map(Duration::from_secs);
    // The client has checked a named settings file.
    let paths = Paths { data_dir: given.data_dir, config_file: given.config_file, config_named_by: None };
    let options = app::options(&paths, Stays::WhileNeeded(idle))?;
    become_owner(Options { wait_for_owner: given.wait, ..options }, None, signals, terminated).await
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

/// The log of an owner; without write access there is none.
struct Log {
    path: PathBuf,
    file: Option<File>,
}

impl Log {
    fn open(data_dir: &Path) -> Self {
        let path = data_dir.join(LOG);
        if fs::metadata(&path).is_ok_and(|meta| meta.len() > LONGEST) {
            drop(fs::rename(&path, path.with_extension("log.old")));
        }
        let file = File::options().append(true).create(true).mode(0o600).open(&path).ok();
        Self { path, file }
    }

    /// Redirects standard output and error to the log.
    fn takes_over(&self) {
        if let Some(file) = &self.file {
            let _ = rustix::stdio::dup2_stdout(file);
            let _ = rustix::stdio::dup2_stderr(file);
        }
    }

    fn write(&self, text: &str) {
        let time = jiff::Timestamp::from_millisecond(SystemClock.now_ms()).unwrap_or_default();
        let line = format!("{time:.3} process {}: {}\n", std::process::id(), text.escape_debug());
        if let Some(mut file) = self.file.as_ref() {
            drop(file.write_all(line.as_bytes()));
        }
    }

    /// Empties a log that is too long, after a copy.
    fn bound(&self) {
        let Some(file) = &self.file else { return };
        if file.metadata().is_ok_and(|meta| meta.len() > LONGEST) {
            drop(fs::copy(&self.path, self.path.with_extension("log.old")));
            drop(file.set_len(0));
        }
    }
}
