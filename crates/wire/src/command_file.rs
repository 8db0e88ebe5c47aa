//! Commands and skills, which are files of a folder or of the settings: the request for their list, and its reply.

use serde::{Deserialize, Serialize};

use crate::problem::Problem;
#[cfg(feature = "schema")]
use crate::shape;

/// Names the commands and skills of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommandsOf {
    /// The folder, as an absolute path.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::ABSOLUTE)))]
    pub folder: String,
}

/// The commands and skills of a folder and of the settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommandFiles {
    /// The commands, then the skills, each by name; those that another one hides come last. Bounded: at most 200 of a kind.
    pub files: Vec<CommandFile>,
    /// Why other files can't be used, bounded by 200 problems of a kind. The fields of a problem are `what`, `path`, `line`, `most` and
    /// `problem`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

/// What a file is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CommandKind {
    /// A message that a person sends by its name.
    Command,
    /// Instructions that the model reads when it needs them. A person can send them by their name, too.
    Skill,
    /// A kind that only a newer owner knows.
    #[default]
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

/// Where a file comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CommandOrigin {
    /// The user's settings folder.
    Settings,
    /// The folder, or one above it in its repository.
    Folder,
    /// A place that only a newer owner knows.
    #[default]
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

/// A command or a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommandFile {
    /// The name, which a person types after a slash.
    pub name: String,
    /// Whether it is a command or a skill.
    pub kind: CommandKind,
    /// What it is for, in one line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The arguments, as a hint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument_hint: Option<String>,
    /// Where the file comes from.
    pub origin: CommandOrigin,
    /// The path of the file.
    pub path: String,
    /// The tools that the file names. They grant no permission. Bounded by the size of the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The model that the file names. It is not used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The path of the file with the same name that counts in place of this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden_by: Option<String>,
}
