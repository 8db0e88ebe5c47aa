//! `retake request`: what an earlier request did, for a script that lost its output. Must never repeat the request.

use clap::Args;
use retake_wire::Request;
use retake_wire::request::EarlierRequest;

use super::RunVerb;
use crate::args::{ConversationArg, request_id};
use crate::context::Context;
use crate::error::Result;

/// Show the receipt of an earlier request, by its --request-id
#[derive(Debug, Args)]
#[command(name = "request")]
pub(crate) struct RequestVerb {
    /// The id that the request had
    #[arg(value_parser = request_id)]
    key: String,
    #[command(flatten)]
    place: ConversationArg,
}

impl RunVerb for RequestVerb {
    const EXAMPLES: &'static [&'static str] =
        &["retake request nightly-1", "retake request nightly-1 --conversation 0192f3a1"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let conversation = Some(cx.conversation(self.place.conversation).await?);
        cx.show(Request::EarlierRequest(EarlierRequest { key: self.key, conversation })).await
    }
}
