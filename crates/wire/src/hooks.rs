//! Hooks of the settings and of folders: requests and replies about them. A reply must never hold a secret, nor the whole address
//! of a hook of the settings.

use serde::{Deserialize, Serialize};

use crate::problem::Problem;
#[cfg(feature = "schema")]
use crate::shape;

/// Names the hooks of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HooksOf {
    /// The folder, as an absolute path.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::ABSOLUTE)))]
    pub folder: String,
}

/// A hook of a folder to approve.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookApprove {
    /// The folder that brings the hook, as an absolute path.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::ABSOLUTE)))]
    pub folder: String,
    /// The name of the hook.
    pub name: String,
    /// The digest of the entry that the person saw. Only that entry is approved.
    pub entry: String,
}

/// A hook of a folder that no longer gets events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookRevoke {
    /// The folder that brings the hook, as an absolute path.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::ABSOLUTE)))]
    pub folder: String,
    /// The name of the hook.
    pub name: String,
}

/// The hooks of the settings, and those of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hooks {
    /// All hooks, those of the settings first, in the order of their names: bounded by the files that describe them.
    pub hooks: Vec<Hook>,
    /// Why the file of the approvals and that of the folder cannot be used: at most one problem of each. The fields of a problem
    /// are `what`, `path`, `line`, `key` and `problem`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub file_problems: Vec<Problem>,
}

/// Who describes a hook.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HookOrigin {
    /// The user's settings.
    Settings,
    /// A file of the folder.
    Folder,
    /// A file that only a newer owner knows.
    #[default]
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

/// The state of a hook.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HookState {
    /// The hook gets events.
    Set,
    /// The folder brings the hook, and nobody has approved it yet.
    NeedsApproval,
    /// The entry of the hook has changed since its approval. Its events wait.
    Changed,
    /// The hook was approved, and the file of the folder no longer has it. Its events wait.
    Missing,
    /// The hook can't get events.
    Incomplete,
    /// A state that only a newer owner knows.
    #[default]
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

/// A hook: what gets events, and which.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hook {
    /// The name of the hook.
    pub name: String,
    /// Who describes the hook.
    pub origin: HookOrigin,
    /// The state of the hook.
    pub state: HookState,
    /// Why the hook can't get events. The problem's field `what` is `incomplete`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
    /// The events of the hook, by their names in the settings: bounded by these names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
    /// The command that reads events, quoted for a shell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The address that gets events. Of a hook of the settings only the host, as the rest may be a secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Whether events carry the texts of messages and results of tools.
    #[serde(default)]
    pub texts: bool,
    /// Whether the command reaches the network.
    #[serde(default)]
    pub network: bool,
    /// The folders that the command may write, quoted for a shell; bounded by the entry of the hook.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub write: Vec<String>,
    /// The environment variable whose value signs requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// The seconds that an event may take.
    pub timeout_s: u64,
    /// The seconds that an event is tried again.
    pub keep_trying_s: u64,
    /// A digest of the entry of a folder's hook, its folder and its name, which an approval is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
}
