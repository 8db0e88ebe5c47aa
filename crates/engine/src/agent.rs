//! The agent: its tools, its permissions, and its approval requests. Results of its work are facts, effects and runs of the
//! store; this module keeps only what waits for a person.

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

use retake_core::{Fact, Permission};
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
pub use presence::{Audience, ClientPresence};

/// The configuration of the agent.
#[derive(Clone)]
pub struct AgentConfig {
    /// The tools of every conversation.
    pub tools: Toolbox,
    /// The folder in the data directory for output that is too long for the model.
    pub spool: PathBuf,
    /// The permission of a conversation without settings of its own.
    pub permission: Permission,
    /// Absolute paths of further folders that the agent works in.
    pub roots: Vec<PathBuf>,
    /// Files with secrets: the agent reads them only with a person's permission.
    pub guarded: Arc<Guarded>,
    /// The variables that are removed from the environment of MCP servers.
    pub secrets: Secrets,
    /// The sandbox for the processes of MCP servers.
    pub sandbox: Option<Sandbox>,
    /// The memory limit for all processes of one MCP server, in bytes; the same as for a command.
    pub memory: u64,
    /// The most remembered facts that a turn recalls by itself; none with 0.
    pub recall: usize,
    /// At which percentage of the model's context earlier messages are summarised; never with 0.
    pub compact_at: u64,
    /// The most subagents of one run that work at the same time; with 0 there are none.
    pub subagents: usize,
    /// The most calls of the model in one run.
    pub limit: u32,
    /// How long a turn waits for MCP servers that are starting.
    pub server_wait: Duration,
    /// How long an approval request or a question waits after the last client that could answer has left.
    pub answer_wait: Duration,
    /// The settings file, where permanent rules are stored. Its current content replaces `permission`.
    pub settings: Option<PathBuf>,
}

/// The agent's memory for all conversations.
#[derive(Default)]
pub(crate) struct AgentState {
    /// Calls that run in the background, or that left processes running.
    jobs: Mutex<HashSet<String>>,
    /// The environments for the commands of requests.
    environments: Mutex<environment::RequestEnvironments>,
    /// The environment for commands of requests without one.
    own: OnceLock<Arc<CallEnvironment>>,
    /// Knows whether a person is present.
    audience: OnceLock<Arc<dyn Audience>>,
    /// The permissions of the settings file.
    settings_file: Mutex<settings_file::SettingsFile>,
}

impl AgentState {
    /// Remembers the background jobs that a call's facts contain.
    pub(crate) fn notes(&self, facts: &[Fact]) {
        locked(&self.jobs).extend(facts.iter().filter_map(job_of).map(str::to_owned));
    }
}

/// A background job with running processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobAtWork {
    /// The call.
    pub call: String,
    /// Its command, or what is left of it.
    pub command: String,
    /// Its processes.
    pub pids: Vec<u32>,
}

impl Engine {
    /// The number of background jobs that still run, including jobs of earlier owners.
    pub async fn living_jobs(&self) -> usize {
        let jobs = self.known_jobs();
        if jobs.is_empty() {
            return 0;
        }
        // The search for processes takes a while.
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

    /// Takes over the jobs of an earlier owner: those calls that the store knows.
    pub(crate) async fn take_over_jobs(&self, living: HashSet<String>) -> Result<()> {
        if living.is_empty() {
            return Ok(());
        }
        let living: Vec<String> = living.into_iter().collect();
        let began = self.store().began(living.clone()).await?;
        // Commands that a person runs are not in the ledger.
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
