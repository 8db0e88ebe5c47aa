//! The call that a change of files belongs to. Must never show what a person has hidden.

use retake_core::{ConversationId, EntryId, Part, Time};

use crate::engine::Engine;
use crate::error::Result;

/// A call, as its result tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    /// What ran: one; several where nobody knows which of them it was; none where that is not known.
    pub asked: Vec<Asked>,
    /// When it began, where its call is known.
    pub began: Option<Time>,
    /// When it ended; nothing, where that is not known: it was killed, or a job of it has gone on.
    pub ended: Option<Time>,
}

/// A call, as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The tool.
    pub tool: String,
    /// Its arguments, as the model wrote them.
    pub arguments: String,
}

impl Engine {
    /// The call that an entry is of, also on another branch: of its result, or of the answer that asks for it, where what it
    /// changed was found without a result.
    pub async fn called(&self, of: ConversationId, entry: EntryId) -> Result<Called> {
        let meta = self.store().meta(of, entry).await?;
        // What can't be read any more, as it was hidden or is damaged, has no words.
        let told = self.store().content(of, entry).await.unwrap_or_default();
        let asked = asked_for(&told);
        if !asked.is_empty() {
            return Ok(Called { asked, began: Some(meta.time), ended: None });
        }
        let mut called = Called { asked, began: None, ended: Some(meta.time) };
        let Some(at) = meta.answers else {
            return Ok(called);
        };
        let call = self.store().entry_id(of, at).await?;
        called.began = Some(self.store().meta(of, call).await?.time);
        let asked = self.store().content(of, call).await;
        let id = told.iter().find_map(|part| match part {
            Part::ToolResult { call, .. } => Some(call),
            _ => None,
        });
        let own = asked.iter().flatten().filter(|part| match part {
            Part::ToolCall { id: own, .. } => Some(own) == id,
            _ => false,
        });
        called.asked = own.filter_map(asked_in).take(1).collect();
        Ok(called)
    }
}

/// The calls that an answer asks for.
fn asked_for(parts: &[Part]) -> Vec<Asked> {
    parts.iter().filter_map(asked_in).collect()
}

fn asked_in(part: &Part) -> Option<Asked> {
    match part {
        Part::ToolCall { name, arguments, .. } => {
            Some(Asked { tool: name.clone(), arguments: arguments.clone() })
        }
        _ => None,
    }
}
