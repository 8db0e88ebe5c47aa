//! The remedies and the values of an error. Each client makes its own text of them. Must never contain text for people.

use std::path::Path;

use crate::files::Choice;
use crate::id::Head;

/// A remedy, for which a client has a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// List the alternatives of an answer.
    Choose,
    /// Write a backup with the command line program, which also writes to pipes and devices.
    Backup,
    /// Make a choice for each file of a plan, out of these, or out of all if none is named.
    ChooseFiles(Vec<Choice>),
    /// List the commands and skills of the folder and the settings.
    Commands,
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
    /// List the hooks.
    Hooks,
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
