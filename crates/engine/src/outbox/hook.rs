//! Hooks of the settings: an address that gets a signed request, or a command that reads a delivery on its standard input. Must never
//! store or log what a command prints.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use retake_core::{Attempt, Delivery, DeliveryEvent, DeliveryOrder, Fact, OutboxFailure};
use retake_tools::{Call, Host, Piece, ProgramFailure, ProgramRun, ShellConfig, ToolQuestion, run_program};

use super::endpoint::{Endpoint, EndpointGround};
use super::folder_hooks::Approved;
use super::{Destination, cloud_event};
use crate::clock::Clock;
use crate::settings::{Hook, HookTarget};

/// How much longer than its time limit a delivery may take until it is dropped.
const GRACE: Duration = Duration::from_secs(15);

/// What hooks need from their owner.
#[derive(Clone)]
pub struct HookGround {
    /// What addresses need.
    pub web: EndpointGround,
    /// How commands are confined.
    pub shell: ShellConfig,
    /// A private folder for their output.
    pub spool: PathBuf,
}

/// The destinations of hooks.
pub fn hooks(hooks: Vec<Hook>, ground: HookGround) -> Vec<Arc<dyn Destination>> {
    let ground = Arc::new(ground);
    hooks.into_iter().map(|hook| destination(hook, None, &ground)).collect()
}

/// The destination of a hook. That of a folder's hook delivers only while its approval holds.
pub(super) fn destination(
    hook: Hook,
    approved: Option<Approved>,
    ground: &Arc<HookGround>,
) -> Arc<dyn Destination> {
    Arc::new(HookDestination { hook, approved, ground: Arc::clone(ground) })
}

struct HookDestination {
    hook: Hook,
    approved: Option<Approved>,
    ground: Arc<HookGround>,
}

#[async_trait]
impl Destination for HookDestination {
    fn name(&self) -> &str {
        &self.hook.name
    }

    fn folder(&self) -> Option<&str> {
        self.hook.folder.as_deref()
    }

    fn events(&self) -> &[DeliveryEvent] {
        &self.hook.events
    }

    fn texts(&self) -> bool {
        self.hook.texts
    }

    fn limit(&self) -> Duration {
        // A request ends at its own limit before that, and a command has time to end with all its processes.
        self.hook.limit + GRACE
    }

    fn keep_trying(&self) -> Duration {
        self.hook.keep_trying
    }

    fn order(&self) -> DeliveryOrder {
        self.hook.order
    }

    async fn deliver(&self, delivery: &Delivery) -> Attempt {
        if let Some(approved) = &self.approved
            && let Some(attempt) = approved.refuses(delivery).await
        {
            return attempt;
        }
        match &self.hook.target {
            HookTarget::Url(url, secret) => {
                let (url, secret, limit) = (url.clone(), secret.clone(), self.hook.limit);
                Endpoint { url, secret, limit, ground: self.ground.web.clone() }.deliver(delivery).await
            }
            HookTarget::Command { words, network, write } => {
                self.command((words, *network, write), delivery).await
            }
        }
    }
}

impl HookDestination {
    async fn command(
        &self,
        (words, network, write): (&[String], bool, &[PathBuf]),
        delivery: &Delivery,
    ) -> Attempt {
        let ground = &self.ground;
        let call = Call {
            id: format!("hook-{}", delivery.id),
            arguments: serde_json::Value::Null,
            roots: write.to_vec(),
            writable: write.to_vec(),
            reads: false,
            writes: None,
            hide: Vec::new(),
            held: Vec::new(),
            spool: ground.spool.clone(),
            host: Arc::new(HookHost(Arc::clone(&ground.web.clock))),
        };
        let folder = delivery.folder.as_ref().map(PathBuf::from).filter(|folder| folder.is_dir());
        let folder = folder.unwrap_or_else(|| PathBuf::from("/"));
        let event = cloud_event(delivery);
        let limit = self.hook.limit;
        let program = ProgramRun { words, folder: &folder, input: Some(&event), network, limit };
        match run_program(&ground.shell, &call, program).await {
            Ok(()) => Attempt::Done,
            Err(ProgramFailure::NotConfined) => Attempt::Never(
                OutboxFailure::NotPermitted,
                "there is no full sandbox for its command".to_owned(),
            ),
            // What it printed may quote the delivery.
            Err(ProgramFailure::Failed(how, _)) => Attempt::Later(how, None),
        }
    }
}

/// The host of a hook's command: it has no conversation.
struct HookHost(Arc<dyn Clock>);

#[async_trait]
impl Host for HookHost {
    async fn fact(&self, _: &str) -> Option<String> {
        None
    }

    async fn facts(&self, _: &str) -> Vec<Fact> {
        Vec::new()
    }

    async fn ask(&self, _: ToolQuestion) -> Option<String> {
        None
    }

    async fn tell(&self, _: Piece) {}

    async fn stopped(&self) {
        futures::future::pending::<()>().await;
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        self.0.sleep(time)
    }
}
