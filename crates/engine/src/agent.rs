//! The agent: which tools there are, what it may do, and who is asked. What it has done follows the path, as facts, effects
//! and runs of the store; nothing of it is kept here but what waits for a person.

mod environment;
mod inspect;
mod permissions;
mod presence;
mod settings_file;
mod spool;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use retake_core::{Fact, Permission, Steer};
use retake_tools::{CallEnvironment, Guarded, Sandbox, Secrets, Toolbox, processes};

use crate::Engine;
use crate::error::Result;
use crate::files::blocking;
use crate::log::LogFailure as _;

pub use environment::CommandEnvironment;
pub(crate) use inspect::JOBS;
use inspect::job_of;
pub use inspect::{JobPrinted, JobShown, Todo, TodoState, Used};
pub use permissions::{PermissionChange, SettledRules};
pub use presence::{Audience, Present};

/// What an agent can do, and may.
#[derive(Clone)]
pub struct AgentConfig {
    /// The tools of every conversation.
    pub tools: Toolbox,
    /// Where output is kept that is too long for a model: a folder in the data directory.
    pub spool: PathBuf,
    /// What holds where a conversation settles nothing.
    pub permission: Permission,
    /// What becomes of words that are said while a run goes on.
    pub steer: Steer,
    /// Further folders that the agent works in, absolute.
    pub roots: Vec<PathBuf>,
    /// Files that hold secrets: read only where a person allows it.
    pub guarded: Arc<Guarded>,
    /// Which variables no MCP server gets.
    pub secrets: Secrets,
    /// What holds the processes of MCP servers.
    pub sandbox: Option<Sandbox>,
    /// Bytes of memory that the processes of an MCP server have together, as those of a command have.
    pub memory: u64,
    /// How often the model is asked in one run at most.
    pub limit: u32,
    /// How long a turn waits for MCP servers that are starting.
    pub server_wait: Duration,
    /// How long an approval request or a question waits after the last client that could answer has left.
    pub answer_wait: Duration,
    /// The settings file, where permanent rules are stored. Its present content replaces `permission`.
    pub settings: Option<PathBuf>,
}

/// What the agent keeps in memory for all conversations.
#[derive(Default)]
pub(crate) struct AgentState {
    /// Calls that were begun in the background, or that left something running.
    jobs: Mutex<HashSet<String>>,
    /// In which environments the commands of requests run.
    environments: Mutex<environment::Given>,
    /// In which one they run where that is not known.
    own: OnceLock<Arc<CallEnvironment>>,
    /// Who says whether a person is there.
    audience: OnceLock<Arc<dyn Audience>>,
    /// What the settings file allows.
    settings_file: Mutex<settings_file::SettingsFile>,
}

impl AgentState {
    /// What a call has noted of a job of its own.
    pub(crate) fn notes(&self, facts: &[Fact]) {
        locked(&self.jobs).extend(facts.iter().filter_map(job_of).map(str::to_owned));
    }
}

/// A background job that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobAtWork {
    /// The call.
    pub call: String,
    /// What runs: the command, or what is left of it.
    pub command: String,
    /// Its processes.
    pub pids: Vec<u32>,
}

impl Engine {
    /// How many background jobs still run, those that an earlier owner has begun included.
    pub async fn living_jobs(&self) -> usize {
        let jobs = self.known_jobs();
        if jobs.is_empty() {
            return 0;
        }
        // To look for processes takes a while.
        if let Some(living) = blocking(processes::calls).await.or_log("ended jobs count as running") {
            let is_over = |call: &String| jobs.contains(call) && !living.contains(call);
            locked(&self.waits.jobs).retain(|call| !is_over(call));
        }
        locked(&self.waits.jobs).len()
    }

    /// Background jobs that still run, each with its processes.
    pub async fn jobs_at_work(&self) -> Vec<JobAtWork> {
        let jobs = self.known_jobs();
        if jobs.is_empty() {
            return Vec::new();
        }
        let at_work = |call: String| {
            let pids = processes::members(&call);
            let command = processes::line(*pids.first()?);
            let pids = pids.into_iter().map(|pid| pid.as_raw_pid().unsigned_abs()).collect();
            Some(JobAtWork { call, command, pids })
        };
        let found = blocking(move || jobs.into_iter().filter_map(at_work).collect());
        found.await.or_log("jobs that run are not listed").unwrap_or_default()
    }

    fn known_jobs(&self) -> Vec<String> {
        locked(&self.waits.jobs).iter().cloned().collect()
    }

    /// Takes over what calls of an earlier owner have left running: of these calls those that the store knows.
    pub(crate) async fn take_over_jobs(&self, living: HashSet<String>) -> Result<()> {
        if living.is_empty() {
            return Ok(());
        }
        let living: Vec<String> = living.into_iter().collect();
        let began = self.store().began(living.clone()).await?;
        // A person's command is in no ledger.
        let open: HashSet<String> =
            self.store().open_calls().await?.into_iter().map(|call| call.id).collect();
        let known = living.into_iter().zip(began);
        let known = known.filter(|(call, began)| began.is_some() || open.contains(call));
        locked(&self.waits.jobs).extend(known.map(|(call, _)| call));
        Ok(())
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
