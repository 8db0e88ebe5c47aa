//! Gives the engine to faces: today as an in-process `Client`, later over sockets. It translates and decides
//! nothing.

mod agent;
mod convert;
mod dispatch;
mod http;
mod open;
mod runs;

use std::sync::Arc;

use async_trait::async_trait;
use futures::stream::BoxStream;
use retake_engine::Engine;
use retake_engine::settings::Settings;
use retake_wire::{Client, Problem, Reply, Request, Run, RunEvent};

pub use http::{Served, Serving, openapi, serve, socket_of};
pub use open::{Options, open};

/// The owner in this very process, as a face sees it. Cheap to clone.
#[derive(Clone)]
pub(crate) struct InProcess {
    pub(crate) engine: Arc<Engine>,
    pub(crate) settings: Arc<Settings>,
}

#[async_trait]
impl Client for InProcess {
    async fn call(&self, request: Request) -> Result<Reply, Problem> {
        self.dispatch(request).await
    }

    async fn run(&self, run: Run) -> Result<BoxStream<'static, RunEvent>, Problem> {
        self.start_run(run).await
    }
}
