//! The owner as a process of its own, which a client has started: detached from the terminal, with a log in the data directory, until
//! nobody needs it any more. Must never hold a descriptor of the client.

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
use crate::attach::{Over, stand};
use crate::owner::Places;
use crate::start::OWNER;
use crate::term::interrupt::{self, Interrupts};

/// The name of its log in the data directory.
const LOG: &str = "owner.log";

/// A log of so many bytes makes room for a new one; the one before is kept.
const LONGEST: u64 = 1 << 20;

/// How often it is looked whether it is too long.
const LOOK: Duration = Duration::from_secs(60);

/// The variable that says how many seconds an owner stays with nothing to do, whatever the settings say: for tests.
const IDLE_VARIABLE: &str = "RETAKE_IDLE_S";

/// What an owner is started with.
pub(crate) struct Given {
    data_dir: PathBuf,
    config_file: PathBuf,
    wait: Duration,
}

/// What this process is started with, where it is to be the owner.
pub(crate) fn given() -> Option<Given> {
    let mut arguments = env::args_os().skip(1);
    if arguments.next()? != OWNER {
        return None;
    }
    let rest: Vec<OsString> = arguments.collect();
    let [data_dir, config_file, wait] = <[OsString; 3]>::try_from(rest).ok()?;
    let wait = Duration::from_millis(wait.to_str()?.parse().ok()?);
    Some(Given { data_dir: data_dir.into(), config_file: config_file.into(), wait })
}

/// Lets go of all that belongs to whoever has started this process. To be called before anything is opened.
pub(crate) fn detach() {
    let numbers = |entry: fs::DirEntry| entry.file_name().to_str()?.parse::<i32>().ok();
    let open: Vec<i32> = fs::read_dir("/proc/self/fd")
        .map(|folder| folder.flatten().filter_map(numbers).filter(|number| *number > 2).collect())
        .unwrap_or_default();
    for number in open {
        // The one that was just read is closed already.
        let _ = nix::unistd::close(number);
    }
    // Where it leads a session already, it is in no other one.
    let _ = rustix::process::setsid();
    let _ = rustix::thread::set_name(c"retake");
}

/// Is the owner until nobody needs it.
pub(crate) async fn run(given: Given) -> ExitCode {
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

async fn begin(given: Given) -> Result<Over, Problem> {
    let signals = Interrupts::new().map_err(|error| app::no_signals(&error))?;
    let terminated = interrupt::terminated().map_err(|error| app::no_signals(&error))?;
    let idle = env::var(IDLE_VARIABLE).ok().and_then(|text| text.parse().ok()).map(Duration::from_secs);
    // The client has looked whether it is there where somebody has named it.
    let places = Places { data_dir: given.data_dir, config_file: given.config_file, config_named_by: None };
    let options = app::options(&places, Stays::WhileNeeded(idle))?;
    stand(Options { wait_for_owner: given.wait, ..options }, None, signals, terminated).await
}

/// Tells whoever has started this process how the start went.
fn say(ready: &Ready) {
    let json = serde_json::to_vec(ready).unwrap_or_default();
    // Whoever waited for it may have gone.
    drop(std::io::stdout().write_all(&json).and_then(|()| std::io::stdout().flush()));
    if let Ok(nothing) = File::options().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&nothing);
        let _ = rustix::stdio::dup2_stderr(&nothing);
    }
}

/// The log of an owner; nothing is kept where it can't be written.
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

    /// What fails in this process is said in it from now on.
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

    /// Makes room where it is too long: the end of it is kept beside.
    fn bound(&self) {
        let Some(file) = &self.file else { return };
        if file.metadata().is_ok_and(|meta| meta.len() > LONGEST) {
            drop(fs::copy(&self.path, self.path.with_extension("log.old")));
            drop(file.set_len(0));
        }
    }
}
