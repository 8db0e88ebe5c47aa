//! The updates that were handed over and are not confirmed: those that are not durable, and those after them. Must never confirm an update
//! that is not durable, and never hand one over twice.

use std::collections::VecDeque;
use std::time::Duration;

use retake_wire::chat::Inbound;
use serde_json::Value;
use tokio::time::sleep;

use crate::adapter::Inbox;
use crate::failure::Failure;
use crate::receipt::{InboxClosed, Receipt};

/// How soon we ask for more while updates wait: what is one message with them may come.
const SOON: Duration = Duration::from_millis(250);

/// How often we ask so soon after the last new update. That is longer than the inbox waits for more.
const TIMES: u32 = 12;

/// How soon we ask after that: the updates wait for something else.
const LATER: Duration = Duration::from_secs(5);

/// The updates that are not confirmed, in order.
#[derive(Debug)]
pub(super) struct Queue {
    /// The last update before which everything is durable.
    last: Option<i64>,
    waiting: VecDeque<(i64, Receipt)>,
    /// How often nothing new came.
    idle: u32,
}

impl Queue {
    pub(super) fn after(last: Option<i64>) -> Self {
        Self { last, waiting: VecDeque::new(), idle: 0 }
    }

    pub(super) fn last(&self) -> Option<i64> {
        self.last
    }

    /// Hands over the updates of one poll that are new. One that was not confirmed comes with each poll \[S\].
    pub(super) async fn take(
        &mut self,
        updates: &[Value],
        read: impl Fn(&Value) -> Option<Inbound>,
        inbox: &dyn Inbox,
    ) -> Result<(), Failure> {
        self.idle += 1;
        for update in updates {
            let Some(id) = update["update_id"].as_i64() else { continue };
            if self.waiting.iter().any(|(other, _)| *other == id) {
                continue;
            }
            let receipt = match read(update) {
                Some(event) => inbox.arrived(&id.to_string(), event).await?,
                None => Receipt::durable_now(),
            };
            self.waiting.push_back((id, receipt));
            self.idle = 0;
        }
        Ok(())
    }

    /// Waits until everything is durable, or it is time to ask for more.
    pub(super) async fn wait(&mut self, inbox: &dyn Inbox) -> Result<(), Failure> {
        let pause = if self.idle < TIMES { SOON } else { LATER };
        let all = async {
            for (_, receipt) in &mut self.waiting {
                receipt.durable().await?;
            }
            Ok::<_, InboxClosed>(())
        };
        tokio::select! {
            biased;
            durable = all => durable?,
            () = sleep(pause) => {}
        }
        let before = self.last;
        while let Some((id, receipt)) = self.waiting.front_mut()
            && receipt.is_durable()?
        {
            // After a week without updates, ids go on at a random number [D], perhaps a lower one.
            self.last = Some(*id);
            self.waiting.pop_front();
        }
        if let Some(last) = self.last.filter(|last| before != Some(*last)) {
            inbox.advance(&last.to_string()).await?;
        }
        Ok(())
    }
}
