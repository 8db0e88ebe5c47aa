//! `retake status`: the owner's process and its state.

use clap::Args;
use retake_tui::hint::Audience;
use retake_wire::{Reply, Request};

use super::RunVerb;
use crate::connection::{AWAY, LOST};
use crate::context::{Context, document};
use crate::error::Result;
use crate::gateways::one;
use crate::owner::FoundOwner;
use crate::term::safe;
use retake_tui::render;

/// Show which process owns the conversations, and what runs in it
#[derive(Debug, Args)]
pub(crate) struct Status {}

impl RunVerb for Status {
    const EXAMPLES: &'static [&'static str] = &["retake status"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let reply = match cx.owner.find(cx.paths).await? {
            Some(FoundOwner { client, .. }) => match client.call(Request::Status).await {
                // It has just ended.
                Err(problem) if problem.code == AWAY || problem.code == LOST => None,
                answered => Some(answered.map_err(|it| Audience::Shell.word(it))?),
            },
            None => None,
        };
        let Some(mut reply) = reply else {
            let dir = cx.paths.data_dir.display().to_string();
            return cx.print(&match cx.json {
                true => "null\n".to_owned(),
                false => {
                    format!("no process owns {} now; the next command starts an owner\n", safe::line(&dir))
                }
            });
        };
        if let Reply::Status(status) = &mut reply {
            one::forget_ended(&mut status.beside.gateways);
        }
        if cx.json {
            cx.print(&document(&reply))
        } else {
            cx.print_text(&render::reply(&cx.ui.look(), &reply))
        }
    }
}
