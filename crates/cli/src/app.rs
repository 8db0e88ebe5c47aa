//! The composition root: the real owner of the data, the real terminal, the real process. Must never contain anything that a test of
//! [`crate::run`] needs.

use std::env;
use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures::FutureExt as _;
use retake_engine::clock::{Clock, SystemClock};
use retake_engine::settings;
use retake_server::{Options, OwnerLifetime, wrong_settings};
use retake_tui::ui;
use retake_wire::{Problem, ProblemKind};

use crate::args::TERMINATED;
use crate::attach::{self, RunningOwner, attach, become_owner};
use crate::log;
use crate::owner::{FoundOwner, Opened, Owner, Paths, ServedAccounts, Serving, Setting};
use crate::owner_process;
use crate::run::{Environment, refuse, run};
use crate::settings_file;
use crate::shutdown;
use crate::term::interrupt::{ExitRequest, Interrupts};
use crate::term::{interrupt, restore, restore_on_panic};
use crate::terminal::Terminal;

/// How long an ended owner waits for its background work.
const LAST: Duration = Duration::from_secs(5);

/// The program as the shell starts it.
pub fn main() -> ExitCode {
    if let Some(code) = retake_engine::supervise() {
        return code;
    }
    let owner = owner_process::arguments();
    if owner.is_some() {
        owner_process::detach();
    }
    restore_on_panic();
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(_) => return ExitCode::from(ProblemKind::Storage.exit_code()),
    };
    if let Some(given) = owner {
        let code = runtime.block_on(owner_process::run(given));
        // Everything is stored. Work that is blocked on the disk or on a pipe is abandoned.
        runtime.shutdown_timeout(LAST);
        return code;
    }
    let code = runtime.block_on(async {
        let graceful = Arc::new(AtomicBool::new(false));
        tokio::spawn(exit_on_signal(Arc::clone(&graceful)));
        let mut terminal = Terminal::new(now_ms);
        let arguments: Vec<OsString> = env::args_os().collect();
        match environment() {
            Ok(environment) => run(arguments, &environment, &Local { graceful }, &mut terminal).await,
            Err(problem) => refuse(*problem, &arguments, &mut terminal),
        }
    });
    restore();
    ExitCode::from(code)
}

fn now_ms() -> i64 {
    SystemClock.now_ms()
}

/// Ends the process on SIGTERM or when the terminal closes. The full-screen program stores its drafts first. Elsewhere a read of the
/// terminal cannot be interrupted, so the process exits at once: acknowledged requests are on the disk, as after a crash.
#[expect(
    clippy::disallowed_methods,
    clippy::exit,
    reason = "the main thread may be in a read of the terminal that nothing wakes"
)]
async fn exit_on_signal(graceful: Arc<AtomicBool>) {
    let Ok(terminated) = interrupt::terminated() else { return };
    let asked = terminated.await;
    if !graceful.load(Ordering::Relaxed) {
        ui::quit().await;
        // A run continues when only the terminal was closed.
        if asked == ExitRequest::Terminate {
            shutdown::stop_followed_run().await;
        }
        restore();
        std::process::exit(i32::from(TERMINATED));
    }
}

/// The log of owners, in the state folder.
pub(crate) fn log_file() -> PathBuf {
    paths(Path::new("/"), &|name| env::var_os(name)).log_file
}

fn environment() -> Result<Environment, Box<Problem>> {
    let folder =
        folder(env::current_dir(), env::var_os("PWD")).map_err(|error| Box::new(no_folder(&error)))?;
    let paths = paths(&folder, &|name| env::var_os(name));
    Ok(Environment { folder, paths })
}

/// The folder that the program is started in. If it was deleted, the path in `PWD` is used: another folder would have other
/// conversations.
fn folder(current: io::Result<PathBuf>, shell: Option<OsString>) -> io::Result<PathBuf> {
    let shell = shell.map(PathBuf::from).filter(|folder| folder.is_absolute());
    current.or_else(|error| shell.ok_or(error))
}

fn no_folder(error: &io::Error) -> Problem {
    Problem {
        code: "no_folder".into(),
        kind: ProblemKind::NotFound,
        message: "the current folder does not exist".to_owned(),
        hint: Some("change to an existing folder with `cd`".into()),
        causes: vec![error.to_string()],
        ..Problem::default()
    }
}

/// The environment variable with the path of the settings file.
const CONFIG_VARIABLE: &str = "RETAKE_CONFIG";

/// The paths from Retake's own variables, or the directories of the XDG specification, which ignores relative paths.
fn paths(folder: &Path, variable: &dyn Fn(&str) -> Option<OsString>) -> Paths {
    let absolute = |name| {
        let path = PathBuf::from(variable(name)?);
        path.is_absolute().then_some(path)
    };
    let below = |name, usual: &str| {
        absolute(name).unwrap_or_else(|| absolute("HOME").unwrap_or_default().join(usual))
    };
    let ours = |name| variable(name).filter(|path| !path.is_empty()).map(|path| folder.join(path));
    let config = ours(CONFIG_VARIABLE);
    Paths {
        data_dir: ours("RETAKE_DATA_DIR")
            .unwrap_or_else(|| below("XDG_DATA_HOME", ".local/share").join("retake")),
        log_file: below("XDG_STATE_HOME", ".local/state").join("retake/owner.log"),
        config_named_by: config.is_some().then_some(CONFIG_VARIABLE),
        config_file: config.unwrap_or_else(|| below("XDG_CONFIG_HOME", ".config").join("retake/config.toml")),
    }
}

/// The owner of the data directory, in a process of its own.
struct Local {
    /// Set if the command handles signals itself.
    graceful: Arc<AtomicBool>,
}

#[async_trait]
impl Owner for Local {
    async fn open(&self, paths: &Paths) -> Result<Opened, Problem> {
        let (attached, notices) = attach(client(paths)?).await?;
        let ended = attached.clone();
        let ending = Box::new(move || ended.end().boxed());
        Ok(Opened { client: Arc::new(attached), notices, ending })
    }

    async fn find(&self, paths: &Paths) -> Result<Option<FoundOwner>, Problem> {
        let found = attach::find(&client(paths)?).await?;
        Ok(found.map(|client| FoundOwner { process: client.process(), client: Arc::new(client) }))
    }

    async fn serve(
        &self,
        paths: &Paths,
        listen: Option<SocketAddr>,
        accounts: ServedAccounts,
    ) -> Result<Serving, Problem> {
        let signals = Interrupts::new().map_err(|error| no_signals(&error))?;
        let terminated = interrupt::terminated().map_err(|error| no_signals(&error))?;
        self.graceful.store(true, Ordering::Relaxed);
        let options = options(paths, OwnerLifetime::UntilTold)?;
        attach::replace_idle_owner(&options).await?;
        let mut told = log::start(&paths.log_file);
        log::log_panics(true);
        let RunningOwner { status, notices, gateways, over } =
            become_owner(options, listen, Some(accounts), signals, terminated).await?;
        told.extend(notices);
        let notices = told;
        Ok(Serving { status, notices, gateways, over: over.map(|ended| ended.map(drop)).boxed() })
    }

    fn ui_settings(&self, paths: &Paths) -> Result<ui::Configured, Problem> {
        let text = named(paths).and_then(|file| settings::text(file).map_err(wrong_settings))?;
        settings_file::ui_settings(&text, &paths.config_file).map_err(wrong_settings)
    }

    fn wrong(&self, paths: &Paths) -> Result<Vec<String>, Box<Problem>> {
        let text = settings::text(named(paths)?).map_err(wrong_settings)?;
        Ok(settings_file::wrong(&text, &paths.config_file))
    }

    fn warnings(&self, paths: &Paths) -> Result<Vec<String>, Box<Problem>> {
        let text = settings::text(named(paths)?).map_err(wrong_settings)?;
        Ok(settings_file::warnings(&text))
    }

    fn settings(&self, paths: &Paths, what: &Setting) -> Result<String, Box<Problem>> {
        // Setting a value creates the file.
        if !matches!(what, Setting::Set(..)) {
            named(paths)?;
        }
        settings_file::change(&paths.config_file, what).map_err(|error| Box::new(wrong_settings(error)))
    }
}

/// How long to wait for another owner of the same data to end.
const WAIT_FOR_OWNER: Duration = Duration::from_secs(5);

/// The variable that overrides it, in milliseconds, for tests.
const WAIT_VARIABLE: &str = "RETAKE_WAIT_MS";

fn wait_for_owner() -> Duration {
    let given = env::var(WAIT_VARIABLE).ok().and_then(|text| text.parse().ok());
    given.map_or(WAIT_FOR_OWNER, Duration::from_millis)
}

/// The settings file. It must exist if an option or a variable names it.
fn named(paths: &Paths) -> Result<&Path, Problem> {
    let Paths { config_file, config_named_by, .. } = paths;
    match config_named_by {
        Some(by) if !config_file.exists() => Err(Problem {
            code: "settings".into(),
            kind: ProblemKind::NotFound,
            message: format!("{by} names the settings file {}, which does not exist", config_file.display()),
            hint: Some("correct the name; `retake config set KEY VALUE` creates the file".into()),
            ..Problem::default()
        }),
        _ => Ok(config_file),
    }
}

/// The location of this user's data, for a client.
fn client(paths: &Paths) -> Result<Options, Problem> {
    options(paths, OwnerLifetime::WhileNeeded(None))
}

/// The location of this user's data.
pub(crate) fn options(paths: &Paths, stays: OwnerLifetime) -> Result<Options, Problem> {
    let user =
        ["USER", "LOGNAME"].into_iter().find_map(|name| env::var(name).ok().filter(|user| !user.is_empty()));
    Ok(Options {
        data_dir: paths.data_dir.clone(),
        config_file: named(paths)?.to_owned(),
        user: user.unwrap_or_else(|| "you".to_owned()),
        home: env::var_os("HOME").map(PathBuf::from),
        wait_for_owner: wait_for_owner(),
        stays,
    })
}

pub(crate) fn no_signals(error: &io::Error) -> Problem {
    Problem {
        code: "signals".into(),
        kind: ProblemKind::Storage,
        message: "cannot listen for signals".to_owned(),
        hint: None,
        causes: vec![error.to_string()],
        ..Problem::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_folder_is_not_confused_with_another_one() {
        let gone = || Err(io::Error::from(io::ErrorKind::NotFound));
        let named = |name: &str| folder(gone(), Some(OsString::from(name))).ok();
        assert_eq!(named("/work/gone"), Some(PathBuf::from("/work/gone")));
        assert_eq!((named("relative"), folder(gone(), None).ok()), (None, None));
        assert_eq!(folder(Ok("/here".into()), Some("/link".into())).ok(), Some(PathBuf::from("/here")));
    }

    #[test]
    fn directories_follow_the_environment() {
        let home = |name: &str| (name == "HOME").then(|| OsString::from("/home/ada"));
        let paths = |variable: &dyn Fn(&str) -> Option<OsString>| paths(Path::new("/work"), variable);
        let usual = paths(&home);
        assert_eq!(usual.data_dir, Path::new("/home/ada/.local/share/retake"));
        assert_eq!(usual.config_file, Path::new("/home/ada/.config/retake/config.toml"));
        assert_eq!(usual.log_file, Path::new("/home/ada/.local/state/retake/owner.log"));
        let set = |name: &str| match name {
            "XDG_DATA_HOME" => Some(OsString::from("/data")),
            "XDG_CONFIG_HOME" => Some(OsString::from("relative")),
            "XDG_STATE_HOME" => Some(OsString::from("/state")),
            name => home(name),
        };
        assert_eq!(paths(&set).data_dir, Path::new("/data/retake"));
        assert_eq!(paths(&set).config_file, usual.config_file);
        assert_eq!(paths(&set).log_file, Path::new("/state/retake/owner.log"));
        let own = |name: &str| match name {
            "RETAKE_DATA_DIR" => Some(OsString::from("mine")),
            "RETAKE_CONFIG" => Some(OsString::new()),
            name => home(name),
        };
        assert_eq!(paths(&own).data_dir, Path::new("/work/mine"));
        assert_eq!(paths(&own).config_file, usual.config_file);
    }
}
