//! The prompt with old results of tools in a shortened form. The whole of each is in a file, where the model may read it. Must never send
//! a shortened result whose file is not there.

use std::path::Path;

use retake_core::{ConversationId, Head, Message, Shortening};
use retake_tools::keep;

use super::compact::TOKENS_PER_BYTE;
use super::drive::Driver;
use crate::Engine;
use crate::error::Result;
use crate::files::blocking;
use crate::model::Choice;

/// How many steps of the boundary make up a prompt that is summarised. So results are shortened once it is half as long.
const STEPS: f64 = 4.0;

impl Engine {
    /// How old results of tools are shortened for a model. None if its context is not known, if nothing may be summarised, or if there is
    /// no tool to read the whole. By fixed numbers, never by what a model counted: a prompt must not change from call to call.
    pub(super) async fn shortening(
        &self,
        conversation: ConversationId,
        choice: &Choice,
    ) -> Result<Option<Shortening>> {
        let Some(agent) = &self.parts().agent else { return Ok(None) };
        let can_read = self.folder_of(conversation).await?.is_some() && agent.tools.get("read").is_some();
        let context = choice.model.info().context_tokens.filter(|_| agent.compact_at > 0 && can_read);
        Ok(context.map(|context| {
            let most = context as f64 * agent.compact_at as f64 / 100.0 / TOKENS_PER_BYTE;
            let folder = agent.spool.join(conversation.to_string()).display().to_string();
            Shortening { step: ((most / STEPS) as usize).max(1), folder }
        }))
    }
}

impl Engine {
    /// The repaired prompt for the usual model, as of a head.
    pub async fn prompt_at(&self, of: ConversationId, head: Head) -> Result<Vec<Message>> {
        let shortening = match self.models().choose(None).await {
            Ok(choice) => self.shortening(of, &choice).await?,
            Err(_) => None,
        };
        Ok(match shortening {
            Some(shortening) => self.store().shortened_prompt(of, Some(head), shortening).await?.0,
            None => self.store().prompt(of, Some(head)).await?,
        })
    }
}

impl Driver {
    /// The messages of the prompt. If the whole results cannot be kept, nothing is shortened.
    pub(super) async fn messages(&self) -> Result<Vec<Message>> {
        let (store, conversation) = (self.engine.store(), self.claim.conversation());
        let shortening = self.engine.shortening(conversation, &self.choice).await?;
        let Some(shortening) = shortening.filter(|_| self.scene.tools.get("read").is_some()) else {
            return Ok(store.prompt(conversation, None).await?);
        };
        // A subagent may read in the folder of the conversation that it works for.
        let folder = self.scene.spool.display().to_string();
        let shortening = Shortening { folder: folder.clone(), ..shortening };
        let (messages, whole) = store.shortened_prompt(conversation, None, shortening).await?;
        let keep = move || {
            let folder = Path::new(&folder);
            whole.iter().try_for_each(|result| keep(folder, &result.name, &result.content))
        };
        match blocking(keep).await? {
            Ok(()) => Ok(messages),
            Err(error) => {
                tracing::warn!(cause = error.raw_os_error(), "old results of tools are sent whole");
                Ok(store.prompt(conversation, None).await?)
            }
        }
    }
}
