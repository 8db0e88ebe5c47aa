//! `retake status`: who owns the conversations.

use clap::Args;
use retake_wire::Request;

use crate::context::document;
use crate::error::Result;
use crate::owner::{Owner, Places, Reached};
use crate::term::safe;
use crate::ui::Ui;
use retake_tui::render;

/// Show which process owns the conversations, and what runs in it
#[derive(Debug, Args)]
pub(crate) struct StatusVerb {}

impl StatusVerb {
    /// Does it.
    pub(crate) async fn run(self, owner: &dyn Owner, places: &Places, ui: &mut dyn Ui, json: bool) -> Result {
        let Some(Reached { client, .. }) = owner.find(places).await? else {
            let dir = places.data_dir.display().to_string();
            let text = match json {
                true => "null\n".to_owned(),
                false => {
                    format!("nobody owns {} now; the next command starts an owner\n", safe::line(&dir))
                }
            };
            return Ok(ui.print(&text)?);
        };
        let reply = client.call(Request::Status).await?;
        let text = if json { document(&reply) } else { render::reply(&ui.look(), &reply) };
        Ok(ui.print(&text)?)
    }
}
