//! What to do next, for any client: text and remedies, each of which a client shows as its own command. Must never contain the
//! wording of one client.

use std::fmt;
use std::path::Path;

use crate::id::Head;

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint(Vec<HintPiece>);

/// A piece of a hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HintPiece {
    /// Text as it is.
    Text(String),
    /// A remedy.
    Do(Remedy),
}

/// A remedy, for which a client has a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// List the alternatives of an answer.
    Choose,
    /// Write a backup with the command line program, which also writes to pipes and devices.
    Backup,
    /// Make a choice for each file of a plan.
    ChooseFiles,
    /// List the settings.
    Config,
    /// Change a setting, which creates the file.
    ConfigSet,
    /// Name the conversation.
    Conversation,
    /// Use another data folder.
    DataDir,
    /// Check the store.
    Doctor,
    /// Repair the store.
    DoctorMend,
    /// Replace a message.
    Edit,
    /// End the processes that commands have left running.
    EndJobs,
    /// Exclude a message from the prompt.
    Exclude,
    /// Replace messages by a summary in the prompt.
    Fold,
    /// Import, and keep the folder of the import, in which commands will run.
    KeepFolder,
    /// List the conversations.
    List,
    /// List the messages.
    Log,
    /// Show an MCP server of a project, and approve it.
    McpAllow(String),
    /// List the MCP servers.
    McpList,
    /// Remove an MCP server.
    McpRemove,
    /// Choose another model.
    Model,
    /// List the models.
    Models,
    /// List the operations.
    Ops,
    /// Remove a label or a title.
    RemoveLabel,
    /// Return to an earlier head: this one, or one that the person names.
    Restore(Option<Head>),
    /// Request another answer.
    Retry,
    /// Rewind to before a message.
    Rewind,
    /// Show a hidden message again.
    Show,
    /// Stop the active run.
    Stop,
    /// List the branches.
    Tree,
    /// Undo the last step.
    Undo,
    /// List the captures of the folder, checkpoints included.
    FilesLog,
    /// Leave files as they are.
    WithoutFiles,
    /// List the folders that conversations work in.
    WorkspaceList,
}

/// A named value of a refusal or an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// A text.
    Text(String),
    /// A number.
    Number(u64),
    /// Several numbers.
    Numbers(Vec<u64>),
    /// Several texts.
    Texts(Vec<String>),
}

impl From<Vec<String>> for Field {
    fn from(texts: Vec<String>) -> Self {
        Self::Texts(texts)
    }
}

impl From<&Path> for Field {
    fn from(path: &Path) -> Self {
        Self::Text(path.display().to_string())
    }
}

impl From<Vec<u64>> for Field {
    fn from(numbers: Vec<u64>) -> Self {
        Self::Numbers(numbers)
    }
}

impl From<&str> for Field {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Field {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Field {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<usize> for Field {
    fn from(number: usize) -> Self {
        Self::Number(number as u64)
    }
}

impl Hint {
    /// A hint in which each `{}` is the next of these remedies.
    pub fn new(template: &str, remedies: impl IntoIterator<Item = Remedy>) -> Self {
        let mut remedies = remedies.into_iter();
        let mut pieces = Vec::new();
        for text in template.split("{}") {
            if !pieces.is_empty() {
                let remedy = remedies.next().expect("BUG: a hint has a remedy for each {}");
                pieces.push(HintPiece::Do(remedy));
            }
            pieces.push(HintPiece::Text(text.to_owned()));
        }
        assert!(remedies.next().is_none(), "BUG: a hint has a {{}} for each remedy");
        Self(pieces)
    }

    /// The hint after another sentence, which may contain any characters.
    #[must_use]
    pub fn after(mut self, sentence: String) -> Self {
        self.0.insert(0, HintPiece::Text(sentence + " "));
        self
    }

    /// Its pieces, in order.
    pub fn into_pieces(self) -> Vec<HintPiece> {
        self.0
    }
}

impl<T: Into<String>> From<T> for Hint {
    fn from(text: T) -> Self {
        Self(vec![HintPiece::Text(text.into())])
    }
}

/// For readers that are no client, such as a log: a remedy is shown by its name.
impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|piece| match piece {
            HintPiece::Text(text) => f.write_str(text),
            HintPiece::Do(Remedy::Restore(Some(head))) => write!(f, "`restore {head}`"),
            HintPiece::Do(Remedy::Restore(None)) => f.write_str("`restore`"),
            HintPiece::Do(remedy) => write!(f, "`{}`", format!("{remedy:?}").to_lowercase()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_hole_is_a_remedy_and_other_text_may_hold_anything() {
        let head = Head::new(2, 5);
        let hint = Hint::new("{} or {}", [Remedy::Undo, Remedy::Restore(Some(head))]);
        assert_eq!(hint.after("no {} here:".to_owned()).to_string(), "no {} here: `undo` or `restore 2.5`");
        assert_eq!(Hint::from("wait").into_pieces(), [HintPiece::Text("wait".to_owned())]);
    }

    #[test]
    #[should_panic(expected = "a {} for each remedy")]
    fn remedy_without_a_placeholder_is_a_defect() {
        drop(Hint::new("wait", [Remedy::Undo]));
    }
}
