//! Gives the engine to clients: as an in-process `Client`, and over sockets. It translates requests and replies. It decides only
//! about clients: which are attached, which events they get, and when the owner is no longer needed.

mod access;
mod agent;
mod convert;
mod dispatch;
mod draft_locks;
mod events;
mod http;
mod idempotency;
mod log;
mod open;
mod owner;
mod presence;
mod runs;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::BoxStream;
use retake_engine::Engine;
use retake_engine::settings::Settings;
use retake_wire::reply::GatewayState;
use retake_wire::{Client, Follow, NumberedEvent, Problem, Reply, Request, Run, RunEvent};

use tokio::sync::watch;

use access::Caller;
use events::Subscriptions;
use idempotency::RequestsInProgress;
use owner::OwnerInfo;
use presence::ConnectedClients;

pub use convert::wrong_settings;
pub use draft_locks::{Holding, hold};
pub use http::{ListeningOwner, OPENAPI, Serving, reachable, serve, socket_of, token_of};
pub use open::{Options, OwnerLifetime, open};
pub use presence::AttachedClient;

/// How often an owner checks that its data directory was not moved. Each client that attaches and each write checks it, too.
const LOOK: Duration = Duration::from_secs(1);

/// The owner in this process, as a client. Cheap to clone.
#[derive(Clone)]
pub struct InProcess {
    pub(crate) engine: Arc<Engine>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) hub: Arc<Subscriptions>,
    pub(crate) owner_info: Arc<OwnerInfo>,
    pub(crate) present: Arc<ConnectedClients>,
    /// Requests in progress with a key.
    pub(crate) once: Arc<RequestsInProgress>,
    /// Who sends the requests.
    pub(crate) caller: Arc<Caller>,
}

impl InProcess {
    /// Waits until a client tells the owner to stop. While the result lives, clients can.
    pub fn told_to_stop(&self) -> impl Future<Output = ()> + Send + use<> {
        self.owner_info.told_to_stop()
    }

    /// Waits until the data directory is no longer where it was opened, and returns the problem; after the owner's end it never
    /// completes.
    pub fn displaced(&self) -> impl Future<Output = Problem> + Send + use<> {
        let (engine, owner_info) = (Arc::downgrade(&self.engine), Arc::clone(&self.owner_info));
        async move {
            loop {
                match engine.upgrade().map(|engine| engine.check_place()) {
                    Some(Err(error)) => return convert::problem(error),
                    Some(Ok(())) => {}
                    None => return std::future::pending().await,
                }
                tokio::select! {
                    () = tokio::time::sleep(LOOK) => {}
                    () = owner_info.displaced.notified() => {}
                }
            }
        }
    }

    /// Whether the data directory is still in its place. If it was moved or deleted, the owner ends.
    pub(crate) fn is_in_place(&self) -> bool {
        let is_there = self.engine.check_place().is_ok();
        if !is_there {
            self.owner_info.displaced.notify_one();
        }
        is_there
    }

    /// Sets the umask for files of clients that send none.
    pub fn makes_files_with(&self, umask: Option<u32>) {
        self.engine.set_own_umask(umask);
    }

    /// The gateways in this process, by their accounts. The part that runs them says here how they are, and each client can read it.
    pub fn gateways(&self) -> watch::Sender<BTreeMap<String, GatewayState>> {
        self.owner_info.gateways.clone()
    }

    /// Accepts no further client: they go to the next owner.
    pub fn closes_the_door(&self) {
        self.present.refuse_all();
    }

    /// Waits for this time until nothing runs, then stops all runs and stores their output so far. After that no run can begin.
    pub async fn finish(&self, patience: Duration) {
        self.engine.finish(patience).await;
    }
}

#[async_trait]
impl Client for InProcess {
    async fn call(&self, mut request: Request) -> Result<Reply, Problem> {
        let (span, is_line) = log::of_request(&mut request);
        let makes = matches!(request, Request::Create(_) | Request::ImportStart(_));
        let work = async {
            self.authorize(request.demand()).await?;
            if request.only_reads() {
                return self.dispatch(request).await;
            }
            let server = self.clone();
            let answer = self.engine.run_to_completion(async move { server.done_once(request).await }).await;
            if let Ok(Reply::Receipt(receipt)) = &answer
                && makes
            {
                log::names(&receipt.conversation);
            }
            answer
        };
        self.logged(span, is_line, work).await
    }

    async fn run(&self, run: Run) -> Result<BoxStream<'static, RunEvent>, Problem> {
        let (span, server) = (log::of_run(&run), self.clone());
        let work = async {
            self.authorize(run.demand()).await?;
            self.engine.run_to_completion(async move { server.begun_once(run).await }).await
        };
        let events = self.logged(span, true, work).await?;
        Ok(events.take_until(Box::pin(self.refused())).boxed())
    }

    async fn follow(&self, follow: Follow) -> Result<BoxStream<'static, NumberedEvent>, Problem> {
        Ok(self.frames(follow).await?.map(|frame| frame.told().clone()).boxed())
    }
}
