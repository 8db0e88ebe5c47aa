//! `retake tree`: the branches of a conversation.

use clap::Args;
use retake_wire::Request;
use retake_wire::request::Of;

use crate::args::Place;
use crate::context::Context;
use crate::error::Result;

/// Show the branches of a conversation, and its forks
#[derive(Debug, Args)]
pub(crate) struct Tree {
    #[command(flatten)]
    place: Place,
}

impl Tree {
    /// Does it.
    pub(crate) async fn run(self, cx: &mut Context<'_>) -> Result {
        let of = Of { conversation: cx.conversation(self.place.conversation).await? };
        cx.show(Request::Tree(of)).await
    }
}
