//! An import that arrives as one stream. Must never leave anything behind when it is interrupted.

use std::sync::Arc;

use retake_core::{ConversationId, Receipt, RequestId};

use super::import_staging::Start;
use crate::Engine;
use crate::error::Result;

/// An import in progress. If it is dropped before its end, nothing is imported.
#[must_use = "nothing is imported until it is ended"]
pub struct Inflow {
    engine: Arc<Engine>,
    import: ConversationId,
    next: u64,
}

impl Engine {
    /// Begins an import of one stream of lines.
    pub fn import_stream(
        self: &Arc<Self>,
        title: Option<String>,
        folder: Option<String>,
        request: Option<RequestId>,
    ) -> Inflow {
        let import = self.new_conversation_id();
        self.importing.open(import, Start { title, folder, lines_before: 0, request });
        Inflow { engine: Arc::clone(self), import, next: 0 }
    }
}

impl Inflow {
    /// Adds the next lines.
    pub fn lines(&mut self, lines: &[String]) -> Result<()> {
        self.engine.import_lines(self.import, self.next, lines)?;
        self.next += lines.len() as u64;
        Ok(())
    }

    /// Ends the import: the conversation exists and is durable.
    pub async fn end(self) -> Result<Receipt> {
        self.engine.import_end(self.import).await
    }
}

impl Drop for Inflow {
    fn drop(&mut self) {
        self.engine.importing.abandon(self.import);
    }
}
