//! What a model gets in addition to the conversation: its instructions, the folder's instruction files, and the files that a person
//! mentions.
//!
//! None of it may change within a conversation without an entry that records the change. A prompt is a function of the path, and
//! its beginning stays the same from call to call, so that a provider's cache keeps hitting.
//!
//! Instruction files therefore go into the log. At the beginning of a turn, before the prompt, [`due`] finds those that are new
//! on the path or have changed. They are stored as a synthetic entry of [`Role::System`], with a fact `instructions/<path>` for
//! each version. One of a subfolder is stored before the next model call after a call has touched that folder. A rewind to before that entry removes the facts, so that the model gets the files again. A rewind to after it
//! keeps the prompt as it was, whatever the files contain now. The state of the git repository is such an entry, too, before the
//! first prompt only.
//!
//! [`Role::System`]: retake_core::Role::System

mod bounded_read;
mod complete;
mod git;
mod instructions;
mod mentions;
mod system;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use retake_core::Part;

use crate::Engine;
use crate::error::Result;
use crate::files::blocking;
use crate::notice::Notice;

pub use complete::{PathMatch, PathMatches, paths_like};
pub use git::{GIT_FACT, git_note};
pub use instructions::{
    FACT, Instruction, MOST_FILES_BELOW, due, folders_below, instructions, known_below, nested,
};
pub use mentions::{mentions, piped, unmark};
pub use system::{About, system_prompt};

pub use crate::places::Places;

impl Engine {
    /// The folders for the lookup of file names, for a conversation in this one.
    pub fn places(&self, folder: &Path) -> Places {
        let settings = self.parts().agent.as_ref().and_then(|agent| agent.settings.as_deref());
        let config = settings.and_then(Path::parent).map(Path::to_path_buf);
        let guarded = self.parts().agent.as_ref().map(|agent| Arc::clone(&agent.guarded)).unwrap_or_default();
        guarded.look_again();
        let further = self.parts().agent.as_ref().map(|agent| agent.roots.clone()).unwrap_or_default();
        let roots = [vec![folder.to_path_buf()], further].concat();
        Places { folder: folder.to_path_buf(), roots, home: self.files.home(), config, guarded }
    }

    /// The current instruction files of a folder, the nearest last.
    pub async fn instructions(&self, folder: &Path) -> Result<Vec<Instruction>> {
        let places = self.places(folder);
        blocking(move || instructions(&places)).await
    }

    /// The current instruction files of these folders below the conversation's folder, the outermost first.
    pub async fn nested_instructions(
        &self,
        folder: &Path,
        folders: BTreeSet<PathBuf>,
    ) -> Result<Vec<Instruction>> {
        let places = self.places(folder);
        blocking(move || nested(&places, &folders)).await
    }

    /// A person's message with the files that it mentions, and the notices about them.
    pub async fn mentions(&self, parts: Vec<Part>, folder: &Path) -> Result<(Vec<Part>, Vec<Notice>)> {
        let places = self.places(folder);
        blocking(move || mentions(parts, &places)).await
    }
}

#[cfg(test)]
mod tests;
