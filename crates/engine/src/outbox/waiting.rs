//! Deliveries about calls that wait for an approval. They are not stored: a request ends with its run, and nobody needs to know of it
//! later.

use std::sync::Arc;
use std::time::Duration;

use retake_core::{Attempt, ConversationId, Delivery, DeliveryEvent};

use super::Destination;
use crate::Engine;
use crate::error::Result;
use crate::log::LogFailure as _;

/// How often a delivery is tried.
const ATTEMPTS: u32 = 4;

impl Engine {
    /// Tells destinations that a call of this tool waits for an approval, until it is answered.
    pub(crate) fn tell_of_waiting(
        self: &Arc<Self>,
        conversation: ConversationId,
        call: String,
        tool: String,
    ) {
        if self.outbox.all().is_empty() {
            return;
        }
        let engine = Arc::clone(self);
        tokio::spawn(async move {
            let told = engine.told_of_waiting(conversation, &call, tool).await;
            told.or_log("no delivery of an approval request is sent");
        });
    }

    async fn told_of_waiting(&self, conversation: ConversationId, call: &str, tool: String) -> Result<()> {
        let folder = self.folder_of(conversation).await?.map(|folder| folder.to_string_lossy().into_owned());
        let event = DeliveryEvent::ApprovalWaiting;
        let destinations = self.outbox.told_of(event, folder.as_deref());
        let head = self.head(conversation).await?;
        let deliveries = destinations.iter().map(|destination| {
            let name = format!("{conversation}/{}/{call}", destination.name());
            let delivery = Delivery {
                id: format!("{:032x}", u128::from_be_bytes(retake_store::digest(&name))),
                event,
                reason: None,
                conversation,
                parent: None,
                folder: folder.clone(),
                author: String::new(),
                time: self.now(),
                head,
                gone: Vec::new(),
                came: Vec::new(),
                ended: None,
                waits: Some((call.to_owned(), tool.clone())),
            };
            self.deliver_waiting(Arc::clone(destination), delivery, call)
        });
        futures::future::join_all(deliveries).await;
        Ok(())
    }

    /// Tries until the request is answered. An attempt that has begun goes on to its end, so that no program is left behind.
    async fn deliver_waiting(&self, destination: Arc<dyn Destination>, delivery: Delivery, call: &str) {
        let session = self.session(delivery.conversation);
        for attempt in 0..ATTEMPTS {
            if !self.outbox.has(&*destination) {
                return;
            }
            let late = self.parts().clock.sleep(destination.limit());
            let tried = tokio::select! {
                biased;
                tried = destination.deliver(&delivery) => tried,
                () = late => Attempt::Later("no answer in time".to_owned(), None),
            };
            let (Attempt::Later(why, _) | Attempt::Never(_, why)) = &tried else { return };
            tracing::warn!(destination = destination.name(), outcome = why, "a delivery was not delivered");
            if matches!(tried, Attempt::Never(..)) {
                return;
            }
            tokio::select! {
                () = self.parts().clock.sleep(Duration::from_secs(1 << attempt)) => {}
                () = session.until_settled(call) => return,
            }
        }
    }
}
