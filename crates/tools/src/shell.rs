//! Command lines: run to their end, or in the background as jobs. A tool here must never decide about its permission, and never
//! leave a process behind without reporting it.

mod about;
mod class;
mod follow;
mod jobs;
mod network;
mod program;
mod script;
mod stand;
mod waiting;
mod writing;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use retake_core::{CallTarget, EffectClass, Intent};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

pub use class::{Confined, class_of};
pub use network::Network;
pub use program::{ProgramFailure, ProgramRun, run_program};
pub use script::{code_of, is_log_of};

use self::follow::{CommandLaunch, Started};
use self::script::Spool;
use self::stand::StartFolder;
use crate::arguments;
use crate::call::{Call, Output};
use crate::cgroup::Group;
use crate::sandbox::{Net, Sandbox, Sandboxed};
use crate::secret::Secrets;
use crate::set::{Schema, Tool, schema_of};
use crate::spooled_output::SpooledOutput;
use crate::supervisor::Supervisor;

/// The tool that runs command lines.
pub const SHELL: &str = "shell";

/// The default time limit of a command.
const LIMIT_S: u64 = 120;

/// The longest time limit.
const MOST_S: u64 = 600;

/// The note to the model on a command that failed in the read-only sandbox.
const READ_ONLY: &str = "[it ran as a command that only reads: it could write nothing and had no network. If it failed for that reason, \
                         begin it with `env`]";

/// The note on a command that could not write git's settings.
const GIT_HELD: &str = "[git's hooks and settings are read only for commands, because git runs what they name; the person can change \
                        them in their own terminal, or with `retake exec`]";

/// The most hidden files that are named.
const NAMED: usize = 3;

/// How commands are run.
#[derive(Clone, Debug)]
pub struct ShellConfig {
    /// What they are confined by; nothing, without.
    pub sandbox: Option<Sandbox>,
    /// What supervises them; nothing, where a program does not. That of the sandbox is the same.
    pub supervisor: Option<Supervisor>,
    /// Which of them reach the network.
    pub network: Network,
    /// Which variables no command gets.
    pub secrets: Secrets,
    /// A command that has more processes than that is ended.
    pub processes: usize,
    /// So many bytes of what one prints are kept on disk.
    pub log: u64,
    /// No file that one writes grows larger, where it is supervised.
    pub file_size: u64,
    /// Bytes of memory that the processes of one have together, where the machine has control groups for that.
    pub memory: u64,
}

impl ShellConfig {
    /// Three quarters of this machine's memory; no limit if the system does not report it.
    pub fn usual_memory() -> u64 {
        let told = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let all = told.lines().find_map(|line| line.strip_prefix("MemTotal:")?.strip_suffix("kB"));
        let kilobytes: Option<u64> = all.and_then(|all| all.trim().parse().ok());
        kilobytes.map_or(1 << 60, |all| all * 1024 / 4 * 3)
    }
}

impl Default for ShellConfig {
    fn default() -> Self {
        Self {
            sandbox: None,
            supervisor: Supervisor::own(),
            network: Network::default(),
            secrets: Secrets::default(),
            processes: 4096,
            log: 64 << 20,
            file_size: 64 << 30,
            memory: Self::usual_memory(),
        }
    }
}

/// The tools for commands and jobs.
pub fn shell_tools(config: ShellConfig) -> Vec<Arc<dyn Tool>> {
    let shell = ShellTool { about: OnceLock::new(), config };
    vec![
        Arc::new(shell),
        Arc::new(jobs::JobOutput),
        Arc::new(jobs::JobStop),
        Arc::new(jobs::JobList),
        Arc::new(writing::JobInput),
    ]
}

/// A command line to be run.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The command line, run with `bash -c` (with `sh -c` if there is no bash).
    command: String,
    /// The time limit in seconds, at most 600. Default: 120. Then all its processes are ended.
    timeout_s: Option<u64>,
    /// Run it as a job that goes on in the background: for servers, and for commands that take longer than the limit.
    /// `job_output` shows what it prints, `job_stop` stops it.
    #[serde(default)]
    background: bool,
    /// Keep the standard input of the job open, so that `job_input` can write to it.
    #[serde(default)]
    input: bool,
    /// Request network access, also to servers on this machine, or to be one: for installs, downloads, pushes, dev servers.
    /// The person may be asked, so request it only if the command needs it.
    #[serde(default)]
    network: bool,
    /// The purpose of the command in a few words, for the person.
    description: Option<String>,
}

/// Runs command lines.
struct ShellTool {
    config: ShellConfig,
    /// Made when it is first asked for: to know what holds commands here takes a moment.
    about: OnceLock<String>,
}

impl ShellTool {
    fn confined(&self, roots: &[PathBuf], net: Net) -> Confined {
        let holds = |sandbox: &Sandbox| sandbox.available(roots) == Sandboxed::Full;
        match net {
            Net::Closed if self.config.sandbox.as_ref().is_some_and(holds) => Confined::Yes,
            Net::Closed | Net::Open => Confined::No,
        }
    }

    /// Whether a command can reach only files of the folder and temporary ones. This is weaker than being confined: a hidden path
    /// may be a temporary file.
    fn stays_here(&self, roots: &[PathBuf], net: Net) -> bool {
        let holds =
            |sandbox: &Sandbox| matches!(sandbox.available(roots), Sandboxed::Full | Sandboxed::Exposed(_));
        net == Net::Closed && self.config.sandbox.as_ref().is_some_and(holds)
    }

    /// Whether a call needs an approval for the network: it requests it, or this machine cannot close it. If the settings open it
    /// to every command, or disable the sandbox, they are the permission.
    fn reaches_network(&self, asks: bool, roots: &[PathBuf]) -> bool {
        let is_open =
            |sandbox: &Sandbox| matches!(sandbox.available(roots), Sandboxed::FilesOnly | Sandboxed::None(_));
        match self.config.network {
            Network::On => false,
            Network::Ask | Network::Off => asks || self.config.sandbox.as_ref().is_some_and(is_open),
        }
    }

    /// The sandbox, if the kernel has one; if it is weaker than requested, the class shows that, and so does the approval
    /// request.
    fn sandbox(&self) -> Option<&Sandbox> {
        self.config.sandbox.as_ref().filter(|_| crate::sandbox::is_there())
    }

    /// A command without network, by the settings.
    fn line<'a>(&'a self, command: &'a str, folder: &'a Path) -> CommandLaunch<'a> {
        CommandLaunch {
            command,
            folder,
            sandbox: self.sandbox(),
            supervisor: self.config.supervisor.as_ref(),
            job: None,
            input: None,
            stdin: None,
            net: Net::Closed,
            reads: false,
            secrets: &self.config.secrets,
            processes: self.config.processes,
            file_size: self.config.file_size,
            memory: self.config.memory,
        }
    }

    async fn run(&self, call: &Call, arguments: &Arguments) -> std::io::Result<Output> {
        let stand = StartFolder::of(call).await;
        let spool = Spool::open(&call.spool, &call.id)?;
        let net = self.config.network.of(arguments.network);
        let line = CommandLaunch { net, reads: call.reads, ..self.line(&arguments.command, &stand.folder) };
        let (pipe, writer) = std::io::pipe()?;
        let printed = SpooledOutput::new(spool.log.clone(), self.config.log);
        let Started { child, group } = line.start(call, &spool, writer.into()).await?;
        let limit = Duration::from_secs(arguments.timeout_s.unwrap_or(LIMIT_S).clamp(1, MOST_S));
        let (over, printed) = line.follow(call, child, pipe, printed, limit).await;
        let noted = spool.noted();
        // It is no longer needed.
        let _ = std::fs::remove_file(&spool.note);
        let (fact, now) = stand.left(call, &noted);
        let (outcome, said) = over.said();
        let mut output = Output { outcome, ..Output::ok(printed.bounded()) };
        output.facts.extend(fact);
        output.lives = over.living > 0;
        let left = over.left_some().then(|| {
            output.facts.push(jobs::fact(call, &arguments.command, None));
            jobs::left(call, over.living)
        });
        let closed = match call.reads {
            _ if !over.has_failed() => None,
            true => Some(READ_ONLY.to_owned()),
            false => self.was_closed(net, &output.content),
        };
        let held = (!call.reads && self.has_namespaces() && is_about_git(&output.content))
            .then(|| GIT_HELD.to_owned());
        let kept = (over.has_failed() && self.has_namespaces()).then(|| kept_back(call)).flatten();
        let bounds = group.and_then(|group| self.bounds(group.as_ref().map_err(String::as_str)));
        add_lines(&mut output.content, [stand.remark, Some(said), bounds, closed, held, kept, now, left]);
        Ok(output)
    }

    fn has_namespaces(&self) -> bool {
        self.sandbox().is_some_and(|sandbox| sandbox.namespaces().is_ok())
    }

    /// The note on the limits of a command: that they were reached, or that there were none.
    fn bounds(&self, group: Result<&Group, &str>) -> Option<String> {
        match group {
            Ok(group) if group.was_out_of_memory() => Some(format!(
                "[it used more than {} MB of memory, and the system ended processes of it; permissions.memory_mb is the limit]",
                self.config.memory / 1_000_000
            )),
            Ok(_) => None,
            Err(why) => Some(format!("[its memory was not limited: {why}]")),
        }
    }

    /// The note on a command that failed with a closed network: that may be the reason.
    fn was_closed(&self, net: Net, printed: &str) -> Option<String> {
        let is_held = net == Net::Closed && self.sandbox().is_some();
        self.config.network.was_closed(printed).filter(|_| is_held).map(str::to_owned)
    }
}

/// The note on a command that failed with hidden files: that may be the reason.
fn kept_back(call: &Call) -> Option<String> {
    let (named, more) = call.hide.split_at(call.hide.len().min(NAMED));
    let shown = |path: &PathBuf| {
        let below = call.root_of(path).and_then(|root| path.strip_prefix(root).ok());
        below.unwrap_or(path).display().to_string()
    };
    let names: Vec<String> = named.iter().map(shown).collect();
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    let names = arguments::line(&names.join(", "));
    (!named.is_empty()).then(|| {
        format!(
            "[commands can neither read nor change {names}{more}, which hold secrets by their names; the person can allow it by \
             permissions.secrets, or with a rule such as `read({})`]",
            arguments::line(&shown(&named[0]))
        )
    })
}

/// Whether a command complained about read-only files of a repository.
fn is_about_git(printed: &str) -> bool {
    let is_refused = |line: &str| {
        let refused =
            ["Read-only file system", "Device or resource busy"].iter().any(|why| line.contains(why));
        let held = ["config", "hooks", "attributes"].iter().any(|name| line.contains(name));
        refused && held && (line.contains(".git") || line.contains("config file"))
    };
    printed.lines().any(is_refused)
}

/// Notes below the output, each on a line of its own.
fn add_lines(content: &mut String, lines: impl IntoIterator<Item = Option<String>>) {
    for line in lines.into_iter().flatten() {
        if !content.is_empty() && !content.ends_with('\n') {
            content.push('\n');
        }
        content.push_str(&line);
    }
}

#[async_trait]
impl Tool for ShellTool {
    fn name(&self) -> &str {
        SHELL
    }

    fn about(&self) -> &str {
        self.about.get_or_init(|| {
            let sandbox = self.config.sandbox.as_ref();
            let held = sandbox.map(|sandbox| sandbox.available(&[]));
            let temporary = sandbox.map(|sandbox| sandbox.temporary.as_slice()).unwrap_or_default();
            about::about(held.as_ref(), temporary, self.config.network)
        })
    }

    fn schema(&self) -> Schema {
        let mut schema = schema_of::<Arguments>();
        // With other settings, a request changes nothing.
        let parameters = schema["properties"].as_object_mut();
        if let Some(parameters) = parameters.filter(|_| self.config.network != Network::Ask) {
            parameters.remove("network");
        }
        schema
    }

    fn class(&self) -> EffectClass {
        self.confined(&[], self.config.network.widest()).class()
    }

    fn accepts(&self, given: &Value) -> bool {
        arguments::read::<Arguments>(given).is_ok()
    }

    fn intent(&self, given: &Value, folder: &Path, roots: &[PathBuf]) -> Result<Intent, String> {
        let given: Arguments = arguments::read(given)?;
        if given.input && !given.background {
            return Err("`input` is only for jobs: set `background`, too".to_owned());
        }
        if given.command.trim().is_empty() {
            return Err("there is no command in `command`".to_owned());
        }
        let net = self.config.network.asked(given.network)?;
        let confined = self.confined(roots, net);
        let class = match class_of(&given.command, roots, confined) {
            _ if given.network => EffectClass::External,
            // A job is permanent; and without a sandbox the claim to only read is not trusted.
            EffectClass::None if given.background || !crate::sandbox::holds_reading() => confined.class(),
            class => class,
        };
        let network = self.reaches_network(given.network, roots).then_some(CallTarget::Network);
        let elsewhere = roots.first().is_some_and(|root| folder != root).then_some(CallTarget::Elsewhere);
        let whole = given.command.trim().contains('\n').then(|| given.command.clone());
        let detail: Vec<String> = given.description.into_iter().chain(whole).collect();
        // Before the command, so that a long one cannot hide it.
        let with = if given.network { "with network: " } else { "" };
        Ok(Intent {
            class,
            line: format!("{with}$ {}", arguments::line(&given.command)),
            detail: (!detail.is_empty()).then(|| detail.join("\n")),
            touches: [CallTarget::Command(given.command)]
                .into_iter()
                .chain(network)
                .chain(elsewhere)
                .collect(),
        })
    }

    fn leaves(&self, given: &Value, roots: &[PathBuf], intent: &Intent) -> EffectClass {
        let stays = |given: Arguments| self.stays_here(roots, self.config.network.of(given.network));
        match arguments::read::<Arguments>(given).is_ok_and(stays) {
            true => intent.class.min(EffectClass::Workspace),
            false => intent.class,
        }
    }

    async fn call(&self, call: Call) -> Output {
        let given: Arguments = match arguments::read(&call.arguments) {
            Ok(given) => given,
            Err(why) => return Output::failed(why),
        };
        if call.reads && (given.background || given.network) {
            return Output::failed("a command that only reads runs neither as a job nor with network");
        }
        let done = if given.background {
            self.background(&call, &given).await
        } else {
            self.run(&call, &given).await
        };
        done.unwrap_or_else(|error| {
            Output::failed(format!("can't run `{}`: {error}", arguments::line(&given.command)))
        })
    }
}
