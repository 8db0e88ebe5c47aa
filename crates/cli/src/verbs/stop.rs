//! `retake stop`: ends the owner.

use std::time::Duration;

use clap::Args;
use retake_wire::{ProblemKind, Reply, Request};

use crate::context::document;
use crate::error::{Result, problem};
use crate::gone::Gone;
use crate::owner::{Owner, Places};
use crate::ui::Ui;

/// How long it may take: what runs may end first, and what does not is stopped.
const PATIENCE: Duration = Duration::from_secs(30);

/// End the process that owns the conversations; what runs may end first, for ten seconds
#[derive(Debug, Args)]
pub(crate) struct Stop {}

impl Stop {
    /// Does it.
    pub(crate) async fn run(self, owner: &dyn Owner, places: &Places, ui: &mut dyn Ui, json: bool) -> Result {
        let Some(client) = owner.find(places).await? else {
            let text =
                if json { document(&Reply::Done) } else { "nobody owns the conversations now\n".to_owned() };
            return Ok(ui.print(&text)?);
        };
        let Reply::Status(status) = client.call(Request::Status).await? else {
            return Err(
                problem(ProblemKind::Internal, "strange_answer", "the owner does not say how it is").into()
            );
        };
        let gone = Gone::of(status.pid);
        client.call(Request::Stop).await?;
        if !gone.within(PATIENCE).await {
            let what = format!(
                "the owner (process {}) was told to stop, and is still there after {} seconds",
                status.pid,
                PATIENCE.as_secs()
            );
            return Err(problem(ProblemKind::Refused, "still_there", what).into());
        }
        let text = if json { document(&Reply::Done) } else { "stopped\n".to_owned() };
        Ok(ui.print(&text)?)
    }
}
