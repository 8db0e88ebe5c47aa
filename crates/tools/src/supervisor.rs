//! The supervisor of a call: this program started again, twice. The outer one gets namespaces for the call and ends with the
//! command, as the command ended. The inner one starts the command within its sandbox, adopts every process of the call whose
//! parent has ended, and ends with the last of them. Must never run a command with less confinement than in its plan.

mod arguments;
mod inner;
mod mounts;
mod outer;
mod signal;
mod threads;

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::process::Command;

pub(crate) use arguments::Arguments;

use crate::cgroup::{Bounds, Group, Place};
use crate::processes::{OUTER, SUPERVISOR};
use retake_core::NoSandbox;

/// The first argument of the outer supervisor.
const OUTSIDE: &str = "supervise-call";

/// The first argument of the inner supervisor.
const INSIDE: &str = "supervise-call-inside";

/// The first argument of a process that lays out a page.
const LAYOUT: &str = "lay-out-page";

/// The prefix of variables for the command.
const GIVEN: &str = "RETAKE_GIVEN_";

/// The exit code of a command that could not be started in its sandbox, or not be kept in it.
const UNCONFINED: u8 = 126;

/// Enough for a supervisor that starts nothing.
const TRIAL: Bounds = Bounds { memory: 1 << 30, tasks: 1000 };

/// Whether the main function of this program has called [`supervise`].
static IS_READY: AtomicBool = AtomicBool::new(false);

/// The programs that were tested for namespaces, with the result.
static TRIED: Mutex<Option<HashMap<PathBuf, Result<(), NoSandbox>>>> = Mutex::new(None);

/// If this process is the supervisor of a call, or lays out a page, it does that work and returns the exit code. A program that
/// runs commands calls this at the beginning of its main function, before it starts any thread, and returns the exit code.
/// Without this call, commands run without supervisors and namespaces.
pub fn supervise() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let stage = arguments.next();
    let rest: Vec<OsString> = arguments.collect();
    match stage.as_deref().and_then(OsStr::to_str) {
        Some(OUTSIDE) => Some(outer::run(&rest)),
        Some(INSIDE) => Some(inner::run(&rest)),
        Some(LAYOUT) => Some(crate::fetch::lay_out()),
        _ => {
            IS_READY.store(true, Ordering::Relaxed);
            None
        }
    }
}

/// Reports why a command was not started, on its standard error.
#[expect(clippy::print_stderr, reason = "the standard error of a supervisor is that of its command")]
fn refuse(why: &str) -> ExitCode {
    eprintln!("retake: can't start the command in its sandbox: {why}");
    ExitCode::from(UNCONFINED)
}

/// The places for groups, for each tested program.
static PLACES: Mutex<Option<HashMap<PathBuf, Places>>> = Mutex::new(None);

/// The places for groups, or why there are none.
type Places = Result<Vec<Place>, NoSandbox>;

/// The supervisor of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supervisor {
    program: PathBuf,
    namespaces: bool,
}

impl Supervisor {
    /// This program itself, if its main function has called [`supervise`].
    pub fn own() -> Option<Self> {
        IS_READY.load(Ordering::Relaxed).then(|| Self::by("/proc/self/exe"))
    }

    /// A program whose main function calls [`supervise`].
    pub fn by(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), namespaces: true }
    }

    /// Without namespaces, even if the machine has them.
    #[must_use]
    pub fn without_namespaces(self) -> Self {
        Self { namespaces: false, ..self }
    }

    /// Whether calls get namespaces of their own: for processes, mounts and shared objects; or why not.
    pub fn namespaces(&self) -> Result<(), NoSandbox> {
        if !self.namespaces {
            return Err(NoSandbox::SwitchedOff);
        }
        let plan = Arguments { namespaces: true, ..Arguments::new("none", Path::new("/")) };
        let mut tried = TRIED.lock().unwrap_or_else(PoisonError::into_inner);
        let tried = tried.get_or_insert_default();
        tried.entry(self.program.clone()).or_insert_with(|| self.try_out(&plan)).clone()
    }

    /// The places for groups that limit the memory of calls, or why there are none.
    pub(crate) fn places(&self) -> Places {
        let namespaces = self.namespaces().is_ok();
        let mut tried = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
        let tried = tried.get_or_insert_default();
        let find = || {
            let places = Place::find()?;
            let group = Group::make(&places, "trial", TRIAL).map_err(failed)?;
            let plan =
                Arguments { namespaces, join: group.joins(), ..Arguments::new("none", Path::new("/")) };
            self.try_out(&plan).map(|()| places)
        };
        tried.entry(self.program.clone()).or_insert_with(find).clone()
    }

    /// Starts a supervisor that does all but start a command.
    fn try_out(&self, plan: &Arguments) -> Result<(), NoSandbox> {
        let mut trial = std::process::Command::new(&self.program);
        trial.arg0_retake().arg(OUTSIDE).args(plan.to_arguments()).stdin(std::process::Stdio::null());
        let output = trial.output().map_err(failed)?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(NoSandbox::Failed(said.trim().rsplit(": ").next().unwrap_or_default().to_owned()))
    }

    /// A process that lays out a page.
    pub(crate) fn layout(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.arg0("retake").arg(LAYOUT).env_clear().current_dir("/");
        command
    }

    /// A command that runs a program as the plan says, once it has its arguments and its environment, and is [`Self::shielded`].
    pub(crate) fn command(&self, plan: &Arguments, program: &OsStr) -> Command {
        let mut command = Command::new(&self.program);
        command
            .arg0("retake")
            .arg(OUTSIDE)
            .args(plan.to_arguments())
            .arg(program)
            .current_dir("/")
            .process_group(0);
        command
    }
}

fn failed(error: std::io::Error) -> NoSandbox {
    NoSandbox::Failed(error.to_string())
}

/// Whether a command inherits the environment of this process, except for its own changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inherits {
    All,
    Nothing,
}

/// Gives a supervisor the environment of its command under other names, so that variables such as `LD_PRELOAD` have no effect in
/// the supervisor itself, which is not confined.
pub(crate) fn shielded(mut command: Command, call: &str, inherits: Inherits) -> Command {
    let mut all: BTreeMap<OsString, OsString> = match inherits {
        Inherits::All => std::env::vars_os().collect(),
        Inherits::Nothing => BTreeMap::new(),
    };
    for (name, value) in command.as_std().get_envs() {
        match value {
            Some(value) => drop(all.insert(name.to_owned(), value.to_owned())),
            None => drop(all.remove(name)),
        }
    }
    command.env_clear().env(SUPERVISOR, format!("{OUTER}{call}"));
    for (name, value) in all {
        let mut given = OsString::from(GIVEN);
        given.push(name);
        command.env(given, value);
    }
    command
}

/// Names the program of a process.
trait NamedProcess {
    fn arg0_retake(&mut self) -> &mut Self;
}

impl NamedProcess for std::process::Command {
    fn arg0_retake(&mut self) -> &mut Self {
        std::os::unix::process::CommandExt::arg0(self, "retake")
    }
}
