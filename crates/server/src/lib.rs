//! Gives the engine to faces: as an in-process `Client`, and over sockets. It translates and decides nothing.

mod agent;
mod convert;
mod dispatch;
mod http;
mod hub;
mod open;
mod runs;

use std::sync::Arc;

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::BoxStream;
use retake_engine::Engine;
use retake_engine::settings::Settings;
use retake_wire::{Client, Follow, Problem, Reply, Request, Run, RunEvent, Told};

use hub::Hub;

pub use http::{Served, Serving, openapi, serve, socket_of};
pub use open::{Options, open};

/// The owner in this very process, as a face sees it. Cheap to clone.
#[derive(Clone)]
pub struct InProcess {
    pub(crate) engine: Arc<Engine>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) hub: Arc<Hub>,
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
