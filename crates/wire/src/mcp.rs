//! MCP servers: requests and replies about them. A reply must never hold the value of a variable or a header.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::agent::Rule;
use crate::mcp_remark::McpRemark;
use crate::problem::Problem;
#[cfg(feature = "schema")]
use crate::shape;

/// Names the servers of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct McpOf {
    /// The folder, absolute.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::ABSOLUTE)))]
    pub folder: String,
    /// Only this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
}

/// A server that is to be added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct McpAdd {
    /// Its name.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::SERVER)))]
    pub name: String,
    /// How it is reached.
    #[serde(flatten)]
    pub way: McpWay,
}

/// How a server is reached; `${VAR}` stands for a variable of the environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum McpWay {
    /// By a program that is started.
    Command {
        /// The program.
        #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::SAYS_SOMETHING)))]
        command: String,
        /// Its arguments.
        #[serde(default)]
        args: Vec<String>,
        /// Additional variables of its environment.
        #[serde(default)]
        env: BTreeMap<String, String>,
    },
    /// At an address.
    Url {
        /// The address.
        #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::ADDRESS)))]
        url: String,
        /// Headers of every request.
        #[serde(default)]
        headers: BTreeMap<String, String>,
    },
}

/// A server that is to be taken out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct McpRemove {
    /// Its name.
    pub name: String,
}

/// A server that may be started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct McpAllow {
    /// The folder of the project that names it, absolute.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::ABSOLUTE)))]
    pub folder: String,
    /// Its name.
    pub name: String,
    /// The entry that was shown: only this one is approved. Without it, the one that is there now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
}

/// Servers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct McpServers {
    /// They, in the order of their names: all of them, bounded by the files that name them.
    pub servers: Vec<McpServer>,
    /// What is wrong with the files that name them, with `what`, `path`, `line` and `key` in its fields; bounded by those files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub file_problems: Vec<Problem>,
    /// Deprecated, the next version leaves it out: `file_problems` as English sentences; bounded by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub problems: Vec<String>,
}

/// A server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct McpServer {
    /// Its name.
    pub name: String,
    /// Who names it: `user` or `project`.
    pub origin: String,
    /// Its command line or its address, as its file says.
    pub way: String,
    /// What an approval allows: the whole entry of a project's server that nobody has approved yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approval: Vec<McpApproval>,
    /// Deprecated, the next version leaves it out: `approval` as English sentences; bounded by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub asked: Vec<String>,
    /// A digest of its entry, folder and name.
    pub entry: String,
    /// How it is.
    pub state: McpState,
    /// Why it can't be used. Its field `what` is `unset_variable`, `bad_entry`, `not_started`, `silent`, `unauthorized`, `unreachable`,
    /// `closed`, `refused` or `bad_reply`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
    /// Deprecated, the next version leaves it out: `problem` as an English sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub why: Option<String>,
    /// How many tools it offers.
    pub tools: u64,
    /// What should be known of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<McpRemark>,
    /// Deprecated, the next version leaves it out: `remarks` as English sentences; bounded by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub notes: Vec<String>,
}

/// Something that an approval of a server allows. What acts on a terminal or is invisible stands in it as an escape.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum McpApproval {
    /// It runs a command.
    Command {
        /// The command line, as a shell would need it.
        line: String,
    },
    /// It runs in a folder.
    Folder {
        /// The folder, as a shell would need it.
        folder: String,
    },
    /// It runs with a variable of its entry.
    Variable {
        /// `NAME=VALUE`, as a shell would need it.
        variable: String,
    },
    /// It gets the agent's calls at an address.
    Address {
        /// The address.
        address: String,
    },
    /// It gets a header.
    Header {
        /// `NAME: VALUE`.
        header: String,
    },
    /// It is given a variable of the user's environment.
    Given {
        /// Its name.
        variable: String,
        /// It looks like a secret.
        secret: bool,
    },
    /// A rule lets calls of it run unasked: it was made for another server of that name.
    Rule {
        /// The rule.
        rule: Rule,
    },
    /// A code of a newer owner.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

/// How a server is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum McpState {
    /// It is being started.
    #[default]
    Starting,
    /// Its tools can be called.
    Ready,
    /// It can't be used.
    Failed,
    /// A project names it, and nobody has approved it yet.
    NeedsApproval,
    /// Its entry says that it is not to be used.
    Disabled,
}

/// Tools of servers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct McpTools {
    /// They, in the order of their servers: all of them, bounded by what the servers have.
    pub tools: Vec<McpTool>,
}

/// A tool of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct McpTool {
    /// The name that the model says.
    pub name: String,
    /// Its server.
    pub server: String,
    /// What it does, as its server says.
    pub about: String,
    /// Whether its server says that it only reads.
    pub reads: bool,
}
