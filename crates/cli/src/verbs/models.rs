//! `retake models`: the models there are.

use clap::Args;
use retake_wire::Request;

use crate::context::Context;
use crate::error::Result;

/// List the models, which one is used, and why
#[derive(Debug, Args)]
pub(crate) struct Models {}

impl Models {
    /// Does it.
    pub(crate) async fn run(self, cx: &mut Context<'_>) -> Result {
        cx.show(Request::Models).await
    }
}
