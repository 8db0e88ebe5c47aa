//! `retake models`: the available models.

use clap::Args;
use retake_wire::Request;

use super::RunVerb;
use crate::context::Context;
use crate::error::Result;

/// List the models, and show which one is used and why
#[derive(Debug, Args)]
pub(crate) struct Models {}

impl RunVerb for Models {
    const EXAMPLES: &'static [&'static str] = &["retake models"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        cx.show(Request::Models).await
    }
}
