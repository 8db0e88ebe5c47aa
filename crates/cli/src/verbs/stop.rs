//! `retake stop`: ends the owner.

use std::time::Duration;

use clap::Args;
use retake_wire::{ProblemKind, Reply, Request};

use crate::context::document;
use crate::error::{Result, problem};
use crate::gone::Gone;
use crate::owner::{Owner, Places, Reached};
use crate::ui::Ui;
use crate::watched::{AWAY, LOST};

/// How long it may take: what runs may end first, and what does not is stopped.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often it is looked whether it can still be reached.
const LOOK: Duration = Duration::from_millis(50);

/// End the process that owns the conversations; what runs may end first, for ten seconds
#[derive(Debug, Args)]
pub(crate) struct Stop {}

impl Stop {
    /// Does it.
    pub(crate) async fn run(self, owner: &dyn Owner, places: &Places, ui: &mut dyn Ui, json: bool) -> Result {
        let Some(Reached { client, process }) = owner.find(places).await? else {
            let text =
                if json { document(&Reply::Done) } else { "nobody owns the conversations now\n".to_owned() };
            return Ok(ui.print(&text)?);
        };
        let Reply::Status(status) = client.call(Request::Status).await? else {
            return Err(
                problem(ProblemKind::Internal, "strange_answer", "the owner does not say how it is").into()
            );
        };
        let gone = process.map(Gone::of);
        match client.call(Request::Stop).await {
            // It may have ended before it could be told, or before it said so.
            Err(problem) if [AWAY, LOST].contains(&&*problem.code) => {}
            told => drop(told?),
        }
        let is_gone = match gone {
            Some(gone) => gone.within(PATIENCE).await,
            None => tokio::time::timeout(PATIENCE, is_away(owner, places)).await.is_ok(),
        };
        if !is_gone {
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

/// Waits until the owner can't be reached any more: all that can be known of one whose process is not seen here.
async fn is_away(owner: &dyn Owner, places: &Places) {
    while owner.find(places).await.is_ok_and(|found| found.is_some()) {
        tokio::time::sleep(LOOK).await;
    }
}
