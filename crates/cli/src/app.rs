//! The composition root: the real owner of the data, the real terminal, the real process. Must never hold anything that a test of
//! [`crate::run`] would want to see.

use std::env;
use std::error::Error;
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
use retake_engine::settings::{self, SettingsError};
use retake_server::{Options, Stays};
use retake_tui::ui;
use retake_wire::{Problem, ProblemKind};

use crate::args::TERMINATED;
use crate::attach::{self, Over, attach, stand};
use crate::config;
use crate::own;
use crate::owner::{Opened, Owner, Places, Reached, Setting, Standing};
use crate::run::{Surroundings, refuse, run};
use crate::term::interrupt::{Asked, Interrupts};
use crate::term::{interrupt, restore, restore_on_panic};
use crate::terminal::Terminal;
use crate::told;

/// How long an owner that has ended waits for what it had begun.
const LAST: Duration = Duration::from_secs(5);

/// The program as the shell starts it.
pub fn main() -> ExitCode {
    if let Some(code) = retake_engine::supervise() {
        return code;
    }
    let own = own::given();
    if own.is_some() {
        own::detach();
    }
    restore_on_panic();
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(_) => return ExitCode::from(ProblemKind::Storage.exit_code()),
    };
    if let Some(given) = own {
        let code = runtime.block_on(own::run(given));
        // All is stored. What still waits for the disk, or for a file that never comes, is not waited for.
        runtime.shutdown_timeout(LAST);
        return code;
    }
    let code = runtime.block_on(async {
        let graceful = Arc::new(AtomicBool::new(false));
        tokio::spawn(leave_when_told(Arc::clone(&graceful)));
        let mut terminal = Terminal::new(now_ms);
        let arguments: Vec<OsString> = env::args_os().collect();
        match surroundings() {
            Ok(surroundings) => run(arguments, &surroundings, &Local { graceful }, &mut terminal).await,
            Err(problem) => refuse(*problem, &arguments, &mut terminal),
        }
    });
    restore();
    ExitCode::from(code)
}

fn now_ms() -> i64 {
    SystemClock.now_ms()
}

/// Ends the process when the system or a closed terminal asks for it. The full-screen face has the owner keep what was typed first. A
/// read of the terminal elsewhere can't be woken, so nothing else is waited for: what was acknowledged is on the disk, and the rest is
/// what a crash leaves.
#[expect(
    clippy::disallowed_methods,
    clippy::exit,
    reason = "the main thread may be in a read of the terminal that nothing wakes"
)]
async fn leave_when_told(graceful: Arc<AtomicBool>) {
    let Ok(terminated) = interrupt::terminated() else { return };
    let asked = terminated.await;
    if !graceful.load(Ordering::Relaxed) {
        ui::quit().await;
        // Of a closed terminal, what runs goes on.
        if asked == Asked::ToEnd {
            told::leave().await;
        }
        restore();
        std::process::exit(i32::from(TERMINATED));
    }
}

fn surroundings() -> Result<Surroundings, Box<Problem>> {
    let folder =
        folder(env::current_dir(), env::var_os("PWD")).map_err(|error| Box::new(no_folder(&error)))?;
    let places = places(&folder, &|name| env::var_os(name));
    Ok(Surroundings { folder, places })
}

/// The folder that the program is started in. One that is gone is the one that the shell still names: another one in its place would
/// have other conversations.
fn folder(current: io::Result<PathBuf>, shell: Option<OsString>) -> io::Result<PathBuf> {
    let shell = shell.map(PathBuf::from).filter(|folder| folder.is_absolute());
    current.or_else(|error| shell.ok_or(error))
}

fn no_folder(error: &io::Error) -> Problem {
    Problem {
        code: "no_folder".into(),
        kind: ProblemKind::NotFound,
        message: "the folder that this is started in is not there".to_owned(),
        hint: Some("go to a folder that is there with `cd`".into()),
        causes: vec![error.to_string()],
        ..Problem::default()
    }
}

/// The variable that names the settings file.
const CONFIG_VARIABLE: &str = "RETAKE_CONFIG";

/// What our own variables say, else the directories of the XDG specification, which ignores those that are not absolute.
fn places(folder: &Path, variable: &dyn Fn(&str) -> Option<OsString>) -> Places {
    let absolute = |name| {
        let path = PathBuf::from(variable(name)?);
        path.is_absolute().then_some(path)
    };
    let below = |name, usual: &str| {
        absolute(name).unwrap_or_else(|| absolute("HOME").unwrap_or_default().join(usual))
    };
    let ours = |name| variable(name).filter(|path| !path.is_empty()).map(|path| folder.join(path));
    let config = ours(CONFIG_VARIABLE);
    Places {
        data_dir: ours("RETAKE_DATA_DIR")
            .unwrap_or_else(|| below("XDG_DATA_HOME", ".local/share").join("retake")),
        config_named_by: config.is_some().then_some(CONFIG_VARIABLE),
        config_file: config.unwrap_or_else(|| below("XDG_CONFIG_HOME", ".config").join("retake/config.toml")),
    }
}

/// The owner of the data directory, in a process of its own.
struct Local {
    /// What is told to end by a signal ends by itself.
    graceful: Arc<AtomicBool>,
}

#[async_trait]
impl Owner for Local {
    async fn open(&self, places: &Places) -> Result<Opened, Problem> {
        let (attached, notices) = attach(client(places)?).await?;
        let ended = attached.clone();
        let ending = Box::new(move || ended.end().boxed());
        Ok(Opened { client: Arc::new(attached), notices, ending })
    }

    async fn find(&self, places: &Places) -> Result<Option<Reached>, Problem> {
        let found = attach::find(&client(places)?).await?;
        Ok(found.map(|client| Reached { process: client.process(), client: Arc::new(client) }))
    }

    async fn serve(&self, places: &Places, listen: Option<SocketAddr>) -> Result<Standing, Problem> {
        let signals = Interrupts::new().map_err(|error| no_signals(&error))?;
        let terminated = interrupt::terminated().map_err(|error| no_signals(&error))?;
        self.graceful.store(true, Ordering::Relaxed);
        let options = options(places, Stays::UntilTold)?;
        attach::make_way(&options).await?;
        let Over { status, notices, over } = stand(options, listen, signals, terminated).await?;
        Ok(Standing { status, notices, over: over.map(|ended| ended.map(drop)).boxed() })
    }

    fn face(&self, places: &Places) -> Result<ui::Configured, Problem> {
        let text = named(places).and_then(|file| settings::text(file).map_err(|error| explain(&error)))?;
        config::of_face(&text, &places.config_file).map_err(|error| explain(&error))
    }

    fn wrong(&self, places: &Places) -> Result<Vec<String>, Box<Problem>> {
        let text = settings::text(named(places)?).map_err(|error| explain(&error))?;
        Ok(config::wrong(&text, &places.config_file))
    }

    fn settings(&self, places: &Places, what: &Setting) -> Result<String, Box<Problem>> {
        // Setting something makes the file.
        if !matches!(what, Setting::Set(..)) {
            named(places)?;
        }
        config::change(&places.config_file, what).map_err(|error| Box::new(explain(&error)))
    }
}

/// How long another owner of the same data may take to end.
const WAIT_FOR_OWNER: Duration = Duration::from_secs(5);

/// The same in milliseconds, for those who can't wait so long: tests.
const WAIT_VARIABLE: &str = "RETAKE_WAIT_MS";

fn wait_for_owner() -> Duration {
    let given = env::var(WAIT_VARIABLE).ok().and_then(|text| text.parse().ok());
    given.map_or(WAIT_FOR_OWNER, Duration::from_millis)
}

/// The settings file. One that somebody named is there.
fn named(places: &Places) -> Result<&Path, Problem> {
    let Places { config_file, config_named_by, .. } = places;
    match config_named_by {
        Some(by) if !config_file.exists() => Err(Problem {
            code: "settings".into(),
            kind: ProblemKind::NotFound,
            message: format!("{by} names the settings file {}, which is not there", config_file.display()),
            hint: Some("correct the name; `retake config set KEY VALUE` makes the file".into()),
            ..Problem::default()
        }),
        _ => Ok(config_file),
    }
}

/// Where this user's data are, for a client.
fn client(places: &Places) -> Result<Options, Problem> {
    options(places, Stays::WhileNeeded(None))
}

/// Where this user's data are.
pub(crate) fn options(places: &Places, stays: Stays) -> Result<Options, Problem> {
    let user =
        ["USER", "LOGNAME"].into_iter().find_map(|name| env::var(name).ok().filter(|user| !user.is_empty()));
    Ok(Options {
        data_dir: places.data_dir.clone(),
        config_file: named(places)?.to_owned(),
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
        message: "can't listen for signals".to_owned(),
        hint: None,
        causes: vec![error.to_string()],
        ..Problem::default()
    }
}

fn explain(error: &SettingsError) -> Problem {
    let kind = match error {
        SettingsError::Unreadable { .. } | SettingsError::Unwritable { .. } => ProblemKind::Storage,
        _ => ProblemKind::Usage,
    };
    let causes = std::iter::successors(error.source(), |cause| (*cause).source());
    Problem {
        code: "settings".into(),
        kind,
        message: error.to_string(),
        hint: Some(error.hint().into()),
        causes: causes.map(ToString::to_string).collect(),
        ..Problem::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_gone_is_no_other_one() {
        let gone = || Err(io::Error::from(io::ErrorKind::NotFound));
        let named = |name: &str| folder(gone(), Some(OsString::from(name))).ok();
        assert_eq!(named("/work/gone"), Some(PathBuf::from("/work/gone")));
        assert_eq!((named("relative"), folder(gone(), None).ok()), (None, None));
        assert_eq!(folder(Ok("/here".into()), Some("/link".into())).ok(), Some(PathBuf::from("/here")));
    }

    #[test]
    fn directories_follow_the_environment() {
        let home = |name: &str| (name == "HOME").then(|| OsString::from("/home/ada"));
        let places = |variable: &dyn Fn(&str) -> Option<OsString>| places(Path::new("/work"), variable);
        let usual = places(&home);
        assert_eq!(usual.data_dir, Path::new("/home/ada/.local/share/retake"));
        assert_eq!(usual.config_file, Path::new("/home/ada/.config/retake/config.toml"));
        let set = |name: &str| match name {
            "XDG_DATA_HOME" => Some(OsString::from("/data")),
            "XDG_CONFIG_HOME" => Some(OsString::from("relative")),
            name => home(name),
        };
        assert_eq!(places(&set).data_dir, Path::new("/data/retake"));
        assert_eq!(places(&set).config_file, usual.config_file);
        let own = |name: &str| match name {
            "RETAKE_DATA_DIR" => Some(OsString::from("mine")),
            "RETAKE_CONFIG" => Some(OsString::new()),
            name => home(name),
        };
        assert_eq!(places(&own).data_dir, Path::new("/work/mine"));
        assert_eq!(places(&own).config_file, usual.config_file);
    }
}
