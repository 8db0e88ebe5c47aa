//! Creates an engine on a data directory, with the system's clock and randomness and the SQLite store.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;

use retake_core::Time;
use retake_store::{Sqlite, Store};
use retake_tools::{
    FetchConfig, Guarded, Sandbox, ShellConfig, Toolbox, ask_tool, fetch_tool, file_tools, memory_tools,
    plan_tool, processes, shell_tools, todo_tool, with_programs,
};
use retake_worktree::Rules;

use crate::agent::AgentConfig;
use crate::clock::{Clock, SystemClock};
use crate::error::Result;
use crate::files::FilesConfig;
use crate::ids::{Random, SystemRandom};
use crate::mcp::McpFiles;
use crate::memory::MemoryService;
use crate::model::Models;
use crate::outbox::{self, EndpointGround, FolderHooks, HookGround};
use crate::secret::{Environment, KeySource};
use crate::settings::{Retention, Settings};
use crate::{Engine, MemoryProvider, Parts};

/// The input for opening an owner.
#[derive(Clone, Debug)]
pub struct OpenRequest {
    /// The data directory; created if it is missing.
    pub data_dir: PathBuf,
    /// How long to wait for another owner to end.
    pub wait_for_owner: Duration,
    /// The user's files about MCP servers.
    pub mcp: McpFiles,
    /// The user's file of approved hooks of folders; it may be missing.
    pub approved_hooks: PathBuf,
    /// The settings.
    pub settings: Settings,
    /// The settings file; it may be missing.
    pub config_file: PathBuf,
    /// The source of keys.
    pub environment: Environment,
    /// The name of the person who types.
    pub user: String,
    /// The user's home folder, which cannot be a workspace.
    pub home: Option<PathBuf>,
}

impl Engine {
    /// Becomes the owner of a data directory. Also returns warnings, a sentence each.
    pub fn open(request: OpenRequest) -> BoxFuture<'static, Result<(Arc<Self>, Vec<String>)>> {
        Box::pin(async move {
            let clock: Arc<dyn Clock> = Arc::new(SystemClock);
            let random: Arc<dyn Random> = Arc::new(SystemRandom::default());
            // The scan takes longer the more processes there are: meanwhile the store is opened.
            let living = tokio::task::spawn_blocking(processes::calls);
            // So does this; its first user waits for it.
            drop(tokio::task::spawn_blocking(|| Sandbox::bare().namespaces()));
            let opened = Sqlite::open(&request.data_dir, Time(clock.now_ms()), request.wait_for_owner)?;
            let store = Arc::new(Store::start(opened.readers, opened.writer)?);
            let system_prompt = request.settings.model.system_prompt.clone();
            let keep = Retention::from(&request.settings.files);
            let (agent, shell) = agent(&request);
            let web = EndpointGround { environment: request.environment.clone(), clock: Arc::clone(&clock) };
            let service = request.settings.agent.memory.service();
            let service = service.map(|settings| Arc::new(MemoryService::new(settings, web.clone())));
            let memory = service.map(|service| service as Arc<dyn MemoryProvider>);
            let ground = HookGround { web, shell, spool: outbox::spool(&request.data_dir) };
            let hooks = FolderHooks::new(request.approved_hooks.clone(), &request.settings, ground.clone());
            let destinations = outbox::hooks(request.settings.hooks(), ground);
            let models =
                Models::new(request.settings, request.environment, Arc::clone(&clock), Arc::clone(&random));
            let models = Arc::new(models);
            let rules = Rules { home: request.home, own: Some(request.data_dir.clone()), ..Rules::default() };
            let files = Some(FilesConfig { data_dir: request.data_dir, rules, keep });
            let (mcp, agent, hooks) = (Some(request.mcp), Some(agent), Some(Arc::new(hooks)));
            let user = request.user;
            let parts = Parts {
                store,
                clock,
                random,
                models,
                system_prompt,
                user,
                files,
                mcp,
                agent,
                destinations,
                memory,
                hooks,
            };
            let engine = Self::start(parts).await?;
            let mut notices = opened.notices;
            notices.extend(engine.settle_files().await?);
            // If the scan panicked, the panic hook has logged it.
            engine.take_over_jobs(living.await.unwrap_or_default()).await?;
            engine.collect_in_background();
            engine.deliver_in_background();
            Ok((engine, notices))
        })
    }
}

/// The most model calls in one run: more than any real task needs.
const STEPS: u32 = 200;

/// The settings folder, if it is the usual one, which contains nothing else; and the settings files.
fn own_settings(request: &OpenRequest) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let usual = [
        std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from),
        request.home.as_ref().map(|home| home.join(".config")),
    ];
    let is_usual = |folder: &&Path| usual.iter().flatten().any(|usual| usual.join("retake") == *folder);
    let folder = request.config_file.parent().filter(is_usual);
    let McpFiles { servers, allowed } = &request.mcp;
    let files = [&request.config_file, servers, allowed, &request.approved_hooks];
    (folder.into_iter().map(PathBuf::from).collect(), files.into_iter().cloned().collect())
}

/// The configuration of this data directory's agent.
fn agent(request: &OpenRequest) -> (AgentConfig, ShellConfig) {
    let settings = &request.settings;
    let keys = settings.endpoints().into_values().map(|endpoint| endpoint.key);
    let key_files = keys.filter_map(|key| match key {
        KeySource::File(path) => Some(path),
        KeySource::None | KeySource::Env(_) => None,
    });
    let key_files = key_files.chain(settings.secret_files());
    let (own_folders, own_files) = own_settings(request);
    let own = std::iter::once(request.data_dir.clone()).chain(own_folders.clone()).chain(own_files.clone());
    // The usual data folder stays hidden from an owner of another one.
    let usual = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|data| data.is_absolute());
    let own = own.chain(key_files).chain(usual.map(|data| data.join("retake")));
    let guarded = Guarded::new(&settings.permissions.secrets, request.home.as_deref(), own);
    let guarded = guarded.expect("BUG: the settings have checked each item");
    let hide = std::iter::once(request.data_dir.clone()).chain(guarded.paths().iter().cloned()).collect();
    let sandbox = Sandbox {
        temporary: Sandbox::temporary(),
        hide,
        own_folders,
        own_files,
        sockets: settings.permissions.sockets.clone(),
        ..Sandbox::bare()
    };
    let sandbox = settings.permissions.sandbox.then_some(sandbox);
    let memory = match settings.permissions.memory_mb.0 {
        0 => ShellConfig::usual_memory(),
        megabytes => megabytes * 1_000_000,
    };
    let shell = ShellConfig {
        sandbox: sandbox.clone(),
        network: settings.permissions.network,
        secrets: settings.secrets(),
        memory,
        ..ShellConfig::default()
    };
    let mut tools = Toolbox::default();
    let own = [todo_tool(), ask_tool(), plan_tool(), fetch_tool(FetchConfig::default())];
    let files = with_programs(file_tools(), settings.after_edit(shell.clone()));
    let memory_tools = if settings.agent.memory.tools { memory_tools() } else { Vec::new() };
    for tool in files.into_iter().chain(shell_tools(shell.clone())).chain(own).chain(memory_tools) {
        assert!(tools.add(tool), "BUG: two tools have one name");
    }
    let agent = AgentConfig {
        tools,
        spool: request.data_dir.join("output"),
        permission: settings.permission(),
        roots: settings.agent.roots.clone(),
        guarded: Arc::new(guarded),
        secrets: settings.secrets(),
        sandbox,
        memory,
        recall: settings.agent.memory.recalled(),
        compact_at: settings.agent.compact_at.0,
        subagents: usize::try_from(settings.agent.subagents.0).unwrap_or(usize::MAX),
        limit: STEPS,
        server_wait: settings.mcp.wait_s.0,
        answer_wait: settings.permissions.wait_s.0,
        settings: Some(request.config_file.clone()),
    };
    (agent, shell)
}
