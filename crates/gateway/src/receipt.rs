//! What an inbox gives for something that it took over: it says when that is durable. Must never say so before.

use tokio::sync::oneshot;

/// The inbox takes no more events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the inbox takes no more events")]
pub struct InboxClosed;

/// Says when something that was handed over is durable. An adapter that has nothing to acknowledge may drop it.
#[derive(Debug)]
pub struct Receipt(Option<oneshot::Receiver<()>>);

impl Receipt {
    /// Of something that is durable already.
    pub fn durable_now() -> Self {
        Self(None)
    }

    /// Of something that is durable as soon as the sender is used. If the sender is dropped, the inbox is closed.
    pub fn pending() -> (Self, oneshot::Sender<()>) {
        let (sender, receiver) = oneshot::channel();
        (Self(Some(receiver)), sender)
    }

    /// Waits until it is durable. Can be dropped while it waits.
    ///
    /// # Errors
    /// The inbox was closed before.
    pub async fn durable(&mut self) -> Result<(), InboxClosed> {
        let Some(waiting) = &mut self.0 else { return Ok(()) };
        waiting.await.map_err(|_| InboxClosed)?;
        self.0 = None;
        Ok(())
    }

    /// Whether it is durable.
    ///
    /// # Errors
    /// The inbox was closed before.
    pub fn is_durable(&mut self) -> Result<bool, InboxClosed> {
        let Some(waiting) = &mut self.0 else { return Ok(true) };
        match waiting.try_recv() {
            Ok(()) => {
                self.0 = None;
                Ok(true)
            }
            Err(oneshot::error::TryRecvError::Empty) => Ok(false),
            Err(oneshot::error::TryRecvError::Closed) => Err(InboxClosed),
        }
    }
}
