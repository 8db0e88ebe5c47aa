//! Commands and skills of files: their list, and the text that a message gets. The rules are those of `prompt_files`.

use std::path::Path;

use retake_core::{ConversationId, Part};

use super::{RunRequest, Start};
use crate::Engine;
use crate::error::Result;
use crate::files::blocking;
use crate::prompt_files::CommandFiles;

impl Engine {
    /// The commands and skills for a conversation in this folder. One without a folder has those of the settings.
    pub async fn command_files(&self, folder: Option<&Path>) -> Result<CommandFiles> {
        let places = self.places(folder.unwrap_or(Path::new("")));
        blocking(move || CommandFiles::find(&places)).await
    }

    /// Adds the text of a command to the message that sends it. Other messages stay as they are.
    pub(super) async fn with_command(&self, folder: Option<&Path>, parts: Vec<Part>) -> Result<Vec<Part>> {
        if !CommandFiles::is_due(&parts) {
            return Ok(parts);
        }
        let places = self.places(folder.unwrap_or(Path::new("")));
        blocking(move || CommandFiles::added(&places, parts)).await?
    }

    /// Adds the text of a command to the message of a run, as the file is now.
    pub(super) async fn with_text_of_command(
        &self,
        of: ConversationId,
        request: RunRequest,
    ) -> Result<RunRequest> {
        let start = match request.start {
            Start::Say(parts, seen) if CommandFiles::is_due(&parts) => {
                Start::Say(self.with_command(self.folder_of(of).await?.as_deref(), parts).await?, seen)
            }
            Start::Edit(entry, parts) if CommandFiles::is_due(&parts) => {
                Start::Edit(entry, self.with_command(self.folder_of(of).await?.as_deref(), parts).await?)
            }
            start => start,
        };
        Ok(RunRequest { start, ..request })
    }
}
