//! What to do next: text with remedies, for which each client has its own commands. Must never know a client's command.

use serde::{Deserialize, Serialize};

use crate::files::Choice;
use crate::mark::MarkVerb;

/// What to do next. In JSON it is a string if it is only text, and otherwise a list of pieces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "Form", into = "Form")]
pub struct Hint(pub Vec<HintPiece>);

/// A piece of a hint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum HintPiece {
    /// Text, to be shown as it is.
    Text(String),
    /// A remedy.
    Do(Remedy),
}

/// Something to do next, for which a client has a command.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Remedy {
    /// List the alternatives of an answer.
    Choose,
    /// Make a choice for each file of a plan.
    ChooseFiles {
        /// The choices that at least one of the files has; empty if that is not known.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        choices: Vec<Choice>,
    },
    /// List the settings.
    Config,
    /// Change a setting, which creates the settings file.
    ConfigSet,
    /// Name the conversation.
    Conversation,
    /// Check the store.
    Doctor,
    /// Replace a message by another one.
    Edit,
    /// Erase the same text in another conversation.
    Erase {
        /// The id of the conversation.
        conversation: String,
    },
    /// Exclude a message from the prompt.
    Exclude,
    /// Set or remove a mark of messages.
    Mark {
        /// The action.
        verb: MarkVerb,
    },
    /// Revert the files of a turn in another conversation.
    RewindFiles {
        /// The id of the conversation.
        conversation: String,
        /// The number of the turn.
        turn: u64,
    },
    /// Replace messages by a summary in the prompt.
    Fold,
    /// List the conversations.
    List,
    /// List the messages.
    Log,
    /// Choose another model.
    Model,
    /// List the models.
    Models,
    /// List the operations.
    Ops,
    /// Return to an earlier head.
    Restore {
        /// The head as `OP.SEQ`. Without it, the person names one.
        head: Option<String>,
    },
    /// Request another answer.
    Retry,
    /// Rewind to before a message.
    Rewind,
    /// Show a hidden message again.
    Show,
    /// List the branches.
    Tree,
    /// Undo the last step.
    Undo,
    /// List the captures of the folder, including checkpoints.
    FilesLog,
    /// End the processes that commands left running.
    EndJobs,
    /// Leave files as they are.
    WithoutFiles,
    /// Write a backup with the command line program, which also writes to pipes and devices.
    Backup,
    /// Use another data folder.
    DataDir,
    /// Repair the store.
    DoctorMend,
    /// Import, and keep the folder of the import, in which commands can then run.
    KeepFolder,
    /// List the commands and skills of the folder and the settings.
    Commands,
    /// List the hooks.
    Hooks,
    /// Show an MCP server of a project, and approve it.
    McpAllow {
        /// The name of the server.
        server: String,
    },
    /// List the MCP servers.
    McpList,
    /// Remove an MCP server.
    McpRemove,
    /// Remove a label or a title.
    RemoveLabel,
    /// Stop the active run.
    Stop,
    /// List the folders that conversations work in.
    WorkspaceList,
    /// Restore a file that git runs or reads as settings, and that a command changed.
    PutBack {
        /// The path of the file, or of a folder to remove with all its content. Bytes that are not UTF-8 are replaced.
        path: String,
        /// The path of the file with the earlier content. Absent if the file did not exist: then the remedy removes it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<String>,
        /// The earlier permission bits of the file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<u32>,
    },
    /// A remedy that only a newer owner knows.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

impl Hint {
    /// The remedies, in order.
    pub fn remedies(&self) -> impl Iterator<Item = &Remedy> {
        self.0.iter().filter_map(|piece| match piece {
            HintPiece::Text(_) => None,
            HintPiece::Do(remedy) => Some(remedy),
        })
    }

    /// The hint as text. `command` gives the client's command for each remedy.
    pub fn worded(&self, command: impl Fn(&Remedy) -> String) -> String {
        let words = |piece: &HintPiece| match piece {
            HintPiece::Text(text) => text.clone(),
            HintPiece::Do(remedy) => command(remedy),
        };
        self.0.iter().map(words).collect()
    }
}

impl<T: Into<String>> From<T> for Hint {
    fn from(text: T) -> Self {
        Self(vec![HintPiece::Text(text.into())])
    }
}

/// The JSON form of a hint.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
enum Form {
    Text(String),
    Pieces(Vec<HintPiece>),
}

impl From<Form> for Hint {
    fn from(form: Form) -> Self {
        match form {
            Form::Text(text) => text.into(),
            Form::Pieces(pieces) => Self(pieces),
        }
    }
}

impl From<Hint> for Form {
    fn from(Hint(mut pieces): Hint) -> Self {
        match pieces.as_mut_slice() {
            [HintPiece::Text(text)] => Self::Text(std::mem::take(text)),
            _ => Self::Pieces(pieces),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_round_trip_is_lossless() {
        let head = Some("2.5".to_owned());
        let cases = [
            (Hint::from("wait"), r#""wait""#),
            (
                Hint(vec![HintPiece::Do(Remedy::Restore { head }), HintPiece::Text(" helps".to_owned())]),
                r#"[{"do":"restore","head":"2.5"}," helps"]"#,
            ),
        ];
        for (hint, json) in cases {
            assert_eq!(serde_json::to_string(&hint).expect("written"), json);
            assert_eq!(serde_json::from_str::<Hint>(json).expect("read"), hint);
        }
    }
}
