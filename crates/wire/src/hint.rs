//! What to do next: text, and remedies that each client names by its own commands. It knows no client's commands.

use serde::{Deserialize, Serialize};

use crate::mark_verb::MarkVerb;

/// What to do next. In JSON a text where it is one, else a list of its pieces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "Form", into = "Form")]
pub struct Hint(pub Vec<HintPiece>);

/// A piece of a hint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum HintPiece {
    /// Text as it is.
    Text(String),
    /// Something to do.
    Do(Remedy),
}

/// Something to do, which a client has a command for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Remedy {
    /// List the alternatives of an answer.
    Choose,
    /// Choose for each file of a plan.
    ChooseFiles,
    /// List the settings.
    Config,
    /// Set a setting, which makes the file.
    ConfigSet,
    /// Say which conversation is meant.
    Conversation,
    /// Check the store.
    Doctor,
    /// Say something else instead of a message.
    Edit,
    /// Erase the same text in another conversation.
    Erase {
        /// Its id.
        conversation: String,
    },
    /// Keep a message from the model.
    Exclude,
    /// Mark messages.
    Mark {
        /// How.
        verb: MarkVerb,
    },
    /// Revert the files of a turn in another conversation.
    RewindFiles {
        /// The conversation.
        conversation: String,
        /// The number of the turn.
        turn: u64,
    },
    /// Put a summary instead of messages, for the model.
    Fold,
    /// List the conversations.
    List,
    /// List the messages.
    Log,
    /// Choose another model.
    Model,
    /// List the models.
    Models,
    /// List what was done.
    Ops,
    /// Return to an earlier head.
    Restore {
        /// `OP.SEQ`; without it, one to be named.
        head: Option<String>,
    },
    /// Ask for another answer.
    Retry,
    /// Go back to before a message.
    Rewind,
    /// Bring a hidden message back.
    Show,
    /// List the branches.
    Tree,
    /// Take back the last thing done.
    Undo,
    /// List what was seen of the folder, checkpoints among it.
    FilesLog,
    /// End what commands have left running.
    EndJobs,
    /// Leave files as they are.
    WithoutFiles,
    /// Write a backup with the command line program, which also writes to pipes and devices.
    Backup,
    /// Use another data folder.
    DataDir,
    /// Repair the store.
    DoctorMend,
    /// Import, and let commands run in the folder of the import.
    KeepFolder,
    /// Look at an MCP server of a project, and allow it.
    McpAllow {
        /// Its name.
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
    /// Restore a file that git runs or reads, which a command changed.
    PutBack {
        /// The file, or the folder that is removed with all that is in it. What is not UTF-8 is replaced in it.
        path: String,
        /// The file that keeps what it was. Absent if it did not exist: then it is removed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<String>,
        /// Its permission bits then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<u32>,
    },
    /// Something that a newer owner knows.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

impl Hint {
    /// The things to do, in their order.
    pub fn remedies(&self) -> impl Iterator<Item = &Remedy> {
        self.0.iter().filter_map(|piece| match piece {
            HintPiece::Text(_) => None,
            HintPiece::Do(remedy) => Some(remedy),
        })
    }

    /// The hint in a client's words: what it calls each thing to do.
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

/// A hint in JSON.
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
