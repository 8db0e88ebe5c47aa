//! Gives the engine to faces: as an in-process `Client`, and over sockets. It translates and decides nothing.

mod agent;
mod convert;
mod dispatch;
mod http;
mod hub;
mod office;
mod open;
mod runs;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::BoxStream;
use retake_engine::Engine;
use retake_engine::settings::Settings;
use retake_wire::{Client, Follow, Problem, Reply, Request, Run, RunEvent, Told};

use hub::Hub;
use office::Office;

pub use http::{Served, Serving, openapi, reachable, serve, socket_of};
pub use open::{Options, open};

/// The owner in this very process, as a face sees it. Cheap to clone.
#[derive(Clone)]
pub struct InProcess {
    pub(crate) engine: Arc<Engine>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) hub: Arc<Hub>,
    pub(crate) office: Arc<Office>,
}

impl InProcess {
    /// Waits until a client tells the owner to stop. From the call on, as long as what comes back lives, clients can.
    pub fn told_to_stop(&self) -> impl Future<Output = ()> + Send + use<> {
        self.office.told_to_stop()
    }

    /// Waits until nothing runs, for so long; what runs then is stopped, and what it has said so far is stored. Nothing new
    /// begins meanwhile where everybody has been sent away before.
    pub async fn finish(&self, patience: Duration) {
        self.engine.finish(patience).await;
    }
}

#[async_trait]
impl Client for InProcess {
    async fn call(&self, request: Request) -> Result<Reply, Problem> {
        self.dispatch(request).await
    }

    async fn run(&self, run: Run) -> Result<BoxStream<'static, RunEvent>, Problem> {
        self.start_run(run).await
    }

    async fn follow(&self, follow: Follow) -> Result<BoxStream<'static, Told>, Problem> {
        Ok(self.frames(follow).await?.map(|frame| frame.told().clone()).boxed())
    }
}
