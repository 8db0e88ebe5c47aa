//! `retake checkpoint`: a look at the folder, kept under a name.

use clap::Args;
use retake_wire::Request;
use retake_wire::request;

use crate::args::Place;
use crate::context::Context;
use crate::error::Result;

/// Look at this folder now, and keep what is seen under a name
///
/// `retake files log` lists it. What you have written up to here counts as yours, whatever a later command does.
#[derive(Debug, Args)]
pub(crate) struct Checkpoint {
    #[command(flatten)]
    place: Place,
    /// The name
    #[arg(value_name = "NAME", default_value = "checkpoint")]
    name: String,
}

impl Checkpoint {
    /// Does it.
    pub(crate) async fn run(self, cx: &mut Context<'_>) -> Result {
        let conversation = cx.conversation(self.place.conversation).await?;
        cx.show(Request::Checkpoint(request::Checkpoint { conversation, name: self.name })).await
    }
}
