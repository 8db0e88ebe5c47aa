//! MCP servers before a turn: waited for, but never for long, and never without a word. A turn must not depend on a server that
//! does not start.

use std::future::Future;
use std::time::Duration;

use retake_core::ConversationId;

use super::Events;
use super::event::RunEvent;
use crate::Engine;
use crate::error::Result;

/// So long is waited without a word.
const QUIET: Duration = Duration::from_secs(1);

impl Engine {
    /// Waits until the servers of a conversation's folder are there, their time is over or somebody stops; for one that took
    /// too long, never again. Notices about them are sent once.
    pub(super) async fn await_servers(
        &self,
        conversation: ConversationId,
        events: &Events,
        stopped: impl Future<Output = ()>,
    ) -> Result<()> {
        let (Some(config), Some(_)) = (&self.parts().agent, &self.parts().mcp) else { return Ok(()) };
        let Some(folder) = self.folder_of(conversation).await? else { return Ok(()) };
        let servers = self.servers(&folder, self.environment_in(conversation)).await;
        let clock = &self.parts().clock;
        let wait = config.server_wait;
        let patience = async {
            let quiet = QUIET.min(wait);
            clock.sleep(quiet).await;
            if wait > quiet && !servers.awaited().is_empty() {
                let text = format!("waiting for {} to start", named(&servers.awaited()));
                events.send(RunEvent::Notice(text));
            }
            clock.sleep(wait.saturating_sub(quiet)).await;
        };
        tokio::select! {
            biased;
            () = stopped => return Ok(()),
            () = servers.settled() => {}
            () = patience => {
                let late = servers.awaited();
                servers.give_up();
                if !late.is_empty() {
                    let text = format!(
                        "{} took longer than {} s to start: this turn goes on without, and a later one may have the tools",
                        named(&late),
                        wait.as_secs_f32(),
                    );
                    events.send(RunEvent::Notice(text));
                }
            }
        }
        if !events.is_alone() {
            for notice in servers.news() {
                events.send(RunEvent::Notice(notice));
            }
        }
        Ok(())
    }
}

/// Servers, in words.
fn named(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("“{name}”")).collect();
    format!("the MCP server{} {}", if names.len() == 1 { "" } else { "s" }, names.join(", "))
}
