//! The events of a fake, and their deliveries: any event can be delivered again. Must never drop one.

use serde_json::Value;
use tokio::sync::watch;

/// Events in the order of their deliveries. The clones share them.
#[derive(Clone, Debug, Default)]
pub struct Events {
    deliveries: watch::Sender<Vec<Value>>,
}

impl Events {
    /// Delivers an event. Returns the position of the delivery.
    pub fn deliver(&self, event: Value) -> usize {
        let mut position = 0;
        self.deliveries.send_modify(|deliveries| {
            position = deliveries.len();
            deliveries.push(event);
        });
        position
    }

    /// Delivers the event of this delivery once more, unchanged. Returns the position of the new delivery.
    ///
    /// # Panics
    /// There is no such delivery.
    pub fn redeliver(&self, position: usize) -> usize {
        let event = self.get(position).expect("BUG: there is no such delivery");
        self.deliver(event)
    }

    /// The event of a delivery.
    pub fn get(&self, position: usize) -> Option<Value> {
        self.deliveries.borrow().get(position).cloned()
    }

    /// How many deliveries there are.
    pub fn len(&self) -> usize {
        self.deliveries.borrow().len()
    }

    /// Whether there was no delivery yet.
    pub fn is_empty(&self) -> bool {
        self.deliveries.borrow().is_empty()
    }

    /// The event of a delivery, as soon as there is one.
    pub async fn wait_for(&self, position: usize) -> Value {
        let mut deliveries = self.deliveries.subscribe();
        let there = deliveries.wait_for(|deliveries| deliveries.len() > position).await;
        there.expect("BUG: the events are held here")[position].clone()
    }
}
