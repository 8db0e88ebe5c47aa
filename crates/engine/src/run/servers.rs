//! Waits for MCP servers before a turn, with a time limit and a notice. A turn must not depend on a server that does not start.

use std::future::Future;
use std::time::Duration;

use retake_core::ConversationId;

use super::Events;
use super::event::RunEvent;
use crate::Engine;
use crate::error::Result;
use crate::notice::Notice;

/// How long it waits without a notice.
const QUIET: Duration = Duration::from_secs(1);

impl Engine {
    /// Waits until the servers of a conversation's folder are ready, their time is over or the run is stopped; a server that
    /// took too long is never awaited again. Notices about them are sent once.
    pub(super) async fn await_servers(
        &self,
        conversation: ConversationId,
        events: &Events,
        stopped: impl Future<Output = ()>,
    ) -> Result<()> {
        let (Some(config), Some(_)) = (&self.parts().agent, &self.parts().mcp) else { return Ok(()) };
        let Some(folder) = self.folder_of(conversation).await? else { return Ok(()) };
        self.retry_refused_servers(&folder).await;
        let servers = self.servers(&folder, self.environment_in(conversation)).await;
        let clock = &self.parts().clock;
        let wait = config.server_wait;
        let patience = async {
            let quiet = QUIET.min(wait);
            clock.sleep(quiet).await;
            if wait > quiet && !servers.awaited().is_empty() {
                events.send(RunEvent::Notice(Notice::ServersAwaited(servers.awaited())));
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
                    events.send(RunEvent::Notice(Notice::ServersLate(late, wait)));
                }
            }
        }
        if !events.is_alone() {
            for notice in self.server_notices(&folder, &servers) {
                events.send(RunEvent::Notice(notice));
            }
        }
        Ok(())
    }
}
