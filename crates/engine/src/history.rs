//! Prompts said earlier, for the composer: read from the log, so that no file of their own can leak one.

use std::collections::HashSet;

use retake_core::{Projection, Role, joined_text};
use retake_store::{ListRequest, PageRequest, Reading};

use crate::engine::Engine;
use crate::error::Result;

/// How many conversations are looked through.
const CONVERSATIONS: usize = 20;

/// A longer prompt is no history.
const LONGEST: usize = 64 * 1024;

impl Engine {
    /// The newest prompts in the newest conversations of a folder, newest first, each once.
    pub async fn history(&self, folder: Option<String>, limit: usize) -> Result<Vec<String>> {
        let list = ListRequest { folder, limit: CONVERSATIONS, before: None };
        let mut prompts = Vec::new();
        let mut known = HashSet::new();
        for summary in self.store().list(list).await? {
            let reading = Reading { projection: Projection::Timeline, at: None };
            let newest = PageRequest { limit: limit.saturating_mul(2), ..PageRequest::default() };
            let page = self.store().page(summary.id, reading, newest).await?;
            for entry in page.entries.into_iter().rev().filter_map(|shown| shown.entry.ok()) {
                let said = entry.meta.role == Role::User && !entry.meta.flags.synthetic;
                let text = if said { joined_text(&entry.parts) } else { String::new() };
                if !text.is_empty() && text.len() <= LONGEST && known.insert(text.clone()) {
                    prompts.push(text);
                }
                if prompts.len() == limit {
                    return Ok(prompts);
                }
            }
        }
        Ok(prompts)
    }
}
