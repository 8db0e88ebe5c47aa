//! The beginning of a turn: captures the folder, and stores before the prompt what is new for the agent there. Mentioned files
//! are attached to the message.

use std::collections::BTreeSet;
use std::path::PathBuf;

use retake_core::{CallTarget, ConversationId, Fact, Flags, Part, Role, SayRequest};

use super::drive::Driver;
use crate::Engine;
use crate::error::Result;
use crate::files::blocking;
use crate::notice::Notice;
use crate::prompt;

/// The prefix of the fact for the version of a file that the agent has seen; the path follows.
const READ: &str = "read/";

impl Engine {
    /// Captures the folder, and stores what the agent must know before the prompt. Returns the notices for the person: without
    /// a captured folder the agent can only talk.
    pub(super) async fn open_turn(
        &self,
        conversation: ConversationId,
        message: String,
    ) -> Result<Vec<Notice>> {
        let Some(agent) = &self.parts().agent else {
            return Ok(Vec::new());
        };
        let folder = async {
            match self.folder_of(conversation).await? {
                Some(folder) => self.open_folder(conversation, folder).await,
                None => Ok(Vec::new()),
            }
        };
        let recalled = async {
            match agent.recall {
                0 => Ok(Default::default()),
                limit => self.recalled_for(conversation, message, limit).await,
            }
        };
        let (notices, recalled) = tokio::join!(folder, recalled);
        let (mut notices, (notes, failures)) = (notices?, recalled?);
        for parts in notes {
            self.note(conversation, parts).await?;
        }
        notices.extend(failures.into_iter().map(Notice::NothingRecalled));
        Ok(notices)
    }

    pub(super) async fn open_folder(
        &self,
        conversation: ConversationId,
        folder: PathBuf,
    ) -> Result<Vec<Notice>> {
        let of_git = folder.clone();
        let given = self.store().unfolded_facts(conversation, prompt::FACT.to_owned()).await?;
        let mut instructions = self.instructions(&folder).await?;
        let below = prompt::known_below(&folder, &given);
        instructions.extend(self.nested_instructions(&folder, below).await?);
        if let Some(parts) = prompt::due(&instructions, &given) {
            self.note(conversation, parts).await?;
        }
        if self.is_first_turn(conversation).await?
            && let Some(parts) = blocking(move || prompt::git_note(&of_git)).await?
        {
            self.note(conversation, parts).await?;
        }
        let read = self.store().facts(conversation, READ.to_owned()).await?;
        let further = self.further(&folder).await?;
        let not_captured = |(folder, why)| Notice::FolderNotCaptured(folder, why);
        let mut notices: Vec<Notice> = further.others.into_iter().map(not_captured).collect();
        match self.changed_since(conversation, &further.kept, read).await {
            Ok((changed, lost)) => {
                notices.extend(lost.into_iter().map(not_captured));
                if !changed.is_empty() {
                    self.note(conversation, told(&changed)).await?;
                }
            }
            Err(error) => notices.push(Notice::NothingCanChange(error)),
        }
        Ok(notices)
    }

    /// Whether no prompt is on the path, and the agent does not know of the git repository.
    async fn is_first_turn(&self, conversation: ConversationId) -> Result<bool> {
        let turns = self.store().snapshot(conversation).await?.conversation().totals.turns;
        Ok(turns == 0 && self.store().facts(conversation, prompt::GIT_FACT.to_owned()).await?.is_empty())
    }

    /// Stores a message of the program.
    pub(super) async fn note(&self, conversation: ConversationId, parts: Vec<Part>) -> Result<()> {
        self.store().say(conversation, self.noting(parts)).await?;
        Ok(())
    }

    fn noting(&self, parts: Vec<Part>) -> SayRequest {
        let flags = Flags { synthetic: true, ..Flags::default() };
        SayRequest { flags, ..self.saying(Role::System, parts, self.by(None)) }
    }

    /// A person's message with the files that it mentions, and the notices about them.
    pub(super) async fn with_mentions(
        &self,
        conversation: ConversationId,
        mut parts: Vec<Part>,
    ) -> Result<(Vec<Part>, Vec<Notice>)> {
        let folder = self.folder_of(conversation).await?;
        match folder.filter(|_| self.parts().agent.is_some()) {
            Some(folder) => self.mentions(parts, &folder).await,
            None => {
                crate::prompt::unmark(&mut parts);
                Ok((parts, Vec::new()))
            }
        }
    }
}

impl Driver {
    /// Remembers the folders of what a call reads and writes: their instruction files count from now on.
    pub(super) fn touched(&mut self, touches: &[CallTarget]) {
        let Some(folder) = self.scene.roots.first() else { return };
        for touch in touches {
            if let CallTarget::Read(path) | CallTarget::Write(path) = touch {
                self.so_far.touched.extend(prompt::folders_below(folder, path));
            }
        }
    }

    /// Stores the instruction files of folders that calls have touched, if the path does not know them.
    pub(super) async fn note_touched(&mut self) -> Result<()> {
        let touched = std::mem::take(&mut self.so_far.touched);
        let Some(folder) = self.scene.roots.first().filter(|_| !touched.is_empty()) else { return Ok(()) };
        let conversation = self.claim.conversation();
        let mut given = self.engine.store().unfolded_facts(conversation, prompt::FACT.to_owned()).await?;
        let known = prompt::known_below(folder, &given);
        let is_touched = |fact: &Fact| {
            let of = prompt::known_below(folder, std::slice::from_ref(fact));
            of.iter().any(|of| touched.contains(of))
        };
        given.retain(is_touched);
        let room = prompt::MOST_FILES_BELOW.saturating_sub(known.difference(&touched).count());
        let mut nested = self.engine.nested_instructions(folder, touched).await?;
        nested.truncate(room);
        match prompt::due(&nested, &given) {
            Some(parts) => self.note(parts).await,
            None => Ok(()),
        }
    }

    /// Stores the instruction files again that a summary covers now.
    pub(super) async fn note_covered(&mut self) -> Result<()> {
        let Some(folder) = self.scene.roots.first().cloned() else { return Ok(()) };
        let (store, conversation) = (self.engine.store(), self.claim.conversation());
        let known = store.facts(conversation, prompt::FACT.to_owned()).await?;
        let given = store.unfolded_facts(conversation, prompt::FACT.to_owned()).await?;
        if known == given {
            return Ok(());
        }
        let mut instructions = self.engine.instructions(&folder).await?;
        let below = prompt::known_below(&folder, &known);
        instructions.extend(self.engine.nested_instructions(&folder, below).await?);
        match prompt::due(&instructions, &given) {
            Some(parts) => self.note(parts).await,
            None => Ok(()),
        }
    }

    /// Stores a message of the program within the run.
    async fn note(&self, parts: Vec<Part>) -> Result<()> {
        let say = SayRequest {
            answering: Some(self.answering()),
            fence: Some(self.fence),
            ..self.engine.noting(parts)
        };
        self.engine.store().say(self.claim.conversation(), say).await?;
        Ok(())
    }
}

/// A file that differs from the version that the agent has seen.
pub(crate) struct Changed {
    /// The key of its fact.
    pub(crate) key: String,
    /// Whether it still exists.
    pub(crate) is_there: bool,
}

/// The message to the agent about files that others changed. It must read them again before it may edit them.
fn told(changed: &[Changed]) -> Vec<Part> {
    let names = |there: bool| -> BTreeSet<&str> {
        let names = changed.iter().filter(|changed| changed.is_there == there);
        names.map(|changed| changed.key.strip_prefix(READ).unwrap_or(&changed.key)).collect()
    };
    let mut text = String::from(
        "Files that you have read have changed since then: by a person, a command or another program.",
    );
    for (what, names) in [("Changed", names(true)), ("Gone", names(false))] {
        if !names.is_empty() {
            let names: Vec<&str> = names.into_iter().collect();
            text.push_str(&format!("\n{what}: {}", names.join(", ")));
        }
    }
    text.push_str("\nRead them again before you edit them.");
    let facts = changed.iter().map(|changed| Fact::new(changed.key.clone(), "")).collect();
    vec![Part::text(text), Part::Facts(facts)]
}
