//! Opens the owner of a data directory in this process.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use retake_engine::mcp::McpFiles;
use retake_engine::secret::{Environment, ReceivedKeys};
use retake_engine::settings::Settings;
use retake_engine::{Engine, OpenRequest};
use retake_wire::Problem;

use crate::InProcess;
use crate::access::Caller;
use crate::convert::{problem, wrong_settings};
use crate::owner::OwnerInfo;
use crate::presence::ConnectedClients;

/// The input for opening an owner.
#[derive(Clone, Debug)]
pub struct Options {
    /// The data directory; created if it is missing.
    pub data_dir: PathBuf,
    /// The settings file; it may be missing.
    pub config_file: PathBuf,
    /// The name of the person who types.
    pub user: String,
    /// The user's home folder, which cannot be a workspace.
    pub home: Option<PathBuf>,
    /// How long to wait for another owner to end.
    pub wait_for_owner: Duration,
    /// When it ends.
    pub stays: OwnerLifetime,
}

/// When an owner ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerLifetime {
    /// When it gets a stop request.
    UntilTold,
    /// When it was not needed for the time in the settings, or for this time.
    WhileNeeded(Option<Duration>),
}

/// Opens the data directory and becomes its owner. Also returns warnings, a sentence each.
pub fn open(options: Options) -> BoxFuture<'static, Result<(InProcess, Vec<String>), Problem>> {
    Box::pin(async move {
        let settings = Settings::load(&options.config_file).map_err(wrong_settings)?;
        let config_dir = options.config_file.parent().unwrap_or(&options.data_dir);
        let handed = Arc::new(ReceivedKeys::default());
        let request = OpenRequest {
            mcp: McpFiles::below(config_dir),
            approved_hooks: config_dir.join("hooks-allowed.json"),
            data_dir: options.data_dir,
            wait_for_owner: options.wait_for_owner,
            settings: settings.clone(),
            config_file: options.config_file.clone(),
            environment: Environment::with(Arc::clone(&handed)),
            user: options.user,
            home: options.home,
        };
        let data_dir = request.data_dir.clone();
        let (engine, notices) = Engine::open(request).await.map_err(problem)?;
        crate::draft_locks::clear(&data_dir);
        let idle = match options.stays {
            OwnerLifetime::UntilTold => None,
            OwnerLifetime::WhileNeeded(given) => Some(given.unwrap_or(settings.owner.idle_s.0)),
        };
        let owner_info = OwnerInfo::new(data_dir, options.config_file, engine.by(None).time.0);
        let present = ConnectedClients::new(idle, handed);
        Ok((InProcess::made_of(engine, settings, owner_info, present), notices))
    })
}

impl InProcess {
    /// The owner around an engine that a test or a benchmark has started from parts of its own. It ends when it gets a stop request.
    pub fn around(engine: Arc<Engine>, settings: Settings, data_dir: PathBuf, config_file: PathBuf) -> Self {
        let owner_info = OwnerInfo::new(data_dir, config_file, engine.by(None).time.0);
        Self::made_of(engine, settings, owner_info, ConnectedClients::new(None, Arc::default()))
    }

    fn made_of(
        engine: Arc<Engine>,
        settings: Settings,
        owner_info: OwnerInfo,
        present: ConnectedClients,
    ) -> Self {
        let present = Arc::new(present);
        engine.listens_to(Arc::clone(&present) as Arc<dyn retake_engine::Audience>);
        Self {
            engine,
            settings: Arc::new(settings),
            hub: Arc::default(),
            owner_info: Arc::new(owner_info),
            present,
            once: Arc::default(),
            caller: Arc::new(Caller::local()),
        }
    }
}
