//! Earlier prompts, for the composer. Read from the log: a file of its own could leak one.

use std::collections::HashSet;

use retake_core::{
    ConversationId, Entry, EntryId, ListRequest, PageRequest, Projection, Reading, Role, joined_text,
};

use crate::Engine;
use crate::error::{EngineError, Kind, Result};

/// The most conversations that are searched for a page.
const CONVERSATIONS: usize = 20;

/// The most entries in one reading.
const ENTRIES: usize = 200;

/// A longer prompt is left out.
const LONGEST: usize = 64 * 1024;

/// Prompts, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompts {
    /// The prompts, without repetitions.
    pub prompts: Vec<String>,
    /// Where earlier prompts begin, if there may be some.
    pub earlier: Option<String>,
}

/// A place in the history: before an entry of a conversation, or after a whole conversation.
type Place = (ConversationId, Option<EntryId>);

impl Engine {
    /// The newest prompts in the newest conversations of a folder, newest first, without repetitions; with a place, only
    /// earlier ones.
    pub async fn history(
        &self,
        folder: Option<String>,
        limit: usize,
        before: Option<&str>,
    ) -> Result<Prompts> {
        if limit == 0 {
            return Ok(Prompts::default());
        }
        let from = before.map(place).transpose()?;
        let list =
            ListRequest { folder, limit: CONVERSATIONS + 1, before: from.map(|(id, _)| id), shelf: None };
        let others = self.store().list(list).await?;
        let begun = from.and_then(|(id, entry)| Some((id, Some(entry?))));
        let whole = others.iter().take(CONVERSATIONS).map(|summary| (summary.id, None));
        let mut found = FoundPrompts { prompts: Vec::new(), known: HashSet::new(), limit };
        for at in begun.into_iter().chain(whole) {
            if let Some((id, entry)) = self.prompts_of(at, &mut found).await? {
                let earlier = Some(format!("{id}:{entry}"));
                return Ok(Prompts { prompts: found.prompts, earlier });
            }
        }
        let more = others.len() > CONVERSATIONS;
        let earlier = others.get(CONVERSATIONS - 1).filter(|_| more).map(|last| format!("{}:", last.id));
        Ok(Prompts { prompts: found.prompts, earlier })
    }

    /// Collects the prompts of a conversation, all or those before an entry. Returns where it stopped when there are enough.
    async fn prompts_of(
        &self,
        (id, mut before): Place,
        found: &mut FoundPrompts,
    ) -> Result<Option<(ConversationId, EntryId)>> {
        let reading = Reading::now(Projection::Timeline);
        loop {
            let page = PageRequest { limit: ENTRIES, before, after: None };
            let page = self.store().page(id, reading, page).await?;
            let mut readable = page.entries.iter().rev().filter_map(|shown| shown.entry.as_ref().ok());
            if let Some(full) = readable.find(|entry| found.is_full_with(entry)) {
                return Ok(Some((id, full.meta.id)));
            }
            before =
                page.entries.iter().find_map(|shown| shown.entry.as_ref().ok()).map(|entry| entry.meta.id);
            if !page.earlier || before.is_none() {
                return Ok(None);
            }
        }
    }
}

/// The prompts found so far.
struct FoundPrompts {
    prompts: Vec<String>,
    known: HashSet<String>,
    limit: usize,
}

impl FoundPrompts {
    /// Adds an entry if it is a new prompt. Returns whether there are enough.
    fn is_full_with(&mut self, entry: &Entry) -> bool {
        let said = entry.meta.role == Role::User && !entry.meta.flags.synthetic;
        let text = if said { joined_text(&entry.parts) } else { String::new() };
        if !text.is_empty() && text.len() <= LONGEST && self.known.insert(text.clone()) {
            self.prompts.push(text);
        }
        self.prompts.len() >= self.limit
    }
}

/// The place in a page's token.
fn place(name: &str) -> Result<Place> {
    let read = || {
        let (id, entry) = name.split_once(':')?;
        let entry = if entry.is_empty() { None } else { Some(entry.parse().ok()?) };
        Some((id.parse().ok()?, entry))
    };
    read().ok_or_else(|| {
        let what = format!("“{name}” is not a position in the history");
        EngineError::new(Kind::NotFound, "bad_place", what).with("place", name)
    })
}
