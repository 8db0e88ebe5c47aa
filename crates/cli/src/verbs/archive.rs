//! `retake archive`: puts a conversation out of the list, or fetches it back. Must never change anything in it.

use clap::Args;
use retake_wire::Request;
use retake_wire::request::SetArchived;

use crate::args::Place;
use crate::context::Context;
use crate::error::Result;

/// Put a conversation away: lists leave it out, searches still find it
#[derive(Debug, Args)]
pub(crate) struct Archive {
    #[command(flatten)]
    place: Place,
    /// Fetch it back
    #[arg(long, requires = "conversation")]
    undo: bool,
}

impl Archive {
    /// Does it.
    pub(crate) async fn run(self, cx: &mut Context<'_>) -> Result {
        let conversation = cx.conversation(self.place.conversation).await?;
        cx.show(Request::SetArchived(SetArchived { conversation, archived: !self.undo })).await
    }
}
