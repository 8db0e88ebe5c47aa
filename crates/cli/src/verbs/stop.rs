//! `retake stop`: ends the owner.

use std::time::Duration;

use clap::Args;
use retake_wire::{ProblemKind, Reply, Request};

use crate::context::document;
use crate::error::{Result, problem};
use crate::owner::{Owner, Places};
use crate::ui::Ui;

/// How long it may take: what runs may end first, and what does not is stopped.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often it is looked whether it is over.
const LOOK: Duration = Duration::from_millis(50);

/// End the owner that `retake serve` started; what runs may end first, for ten seconds
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
        client.call(Request::Stop).await?;
        let mut looks = PATIENCE.as_millis() / LOOK.as_millis();
        while owner.find(places).await?.is_some() {
            looks = looks.saturating_sub(1);
            if looks == 0 {
                let what = "the owner was told to stop, and is still there after 30 seconds";
                return Err(problem(ProblemKind::Refused, "still_there", what).into());
            }
            tokio::time::sleep(LOOK).await;
        }
        let text = if json { document(&Reply::Done) } else { "stopped\n".to_owned() };
        Ok(ui.print(&text)?)
    }
}
