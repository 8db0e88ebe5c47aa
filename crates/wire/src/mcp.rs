//! MCP servers: requests and replies about them. A reply must never hold the value of a variable or a header.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::agent::Rule;
use crate::mcp_remark::McpRemark;
use crate::problem::Problem;
#[cfg(feature = "schema")]
use crate::shape;

/// Names the MCP servers of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct McpOf {
    /// The folder, as an absolute path.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::ABSOLUTE)))]
    pub folder: String,
    /// The name of a server, to select only that one. Default: all servers of the folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
}

/// An MCP server to add.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct McpAdd {
    /// The name of the server.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::SERVER)))]
    pub name: String,
    /// How the server is reached.
    #[serde(flatten)]
    pub way: McpWay,
}

/// How an MCP server is reached. `${VAR}` stands for an environment variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum McpWay {
    /// Through a program that is started.
    Command {
        /// The program.
        #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::SAYS_SOMETHING)))]
        command: String,
        /// The arguments of the program.
        #[serde(default)]
        args: Vec<String>,
        /// Additional environment variables of the program.
        #[serde(default)]
        env: BTreeMap<String, String>,
    },
    /// At an address.
    Url {
        /// The address of the server.
        #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::ADDRESS)))]
        url: String,
        /// HTTP headers of every request to the server.
        #[serde(default)]
        headers: BTreeMap<String, String>,
    },
}

/// An MCP server to remove.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct McpRemove {
    /// The name of the server.
    pub name: String,
}

/// An MCP server to approve.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct McpAllow {
    /// The folder of the project that declares the server, as an absolute path.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::ABSOLUTE)))]
    pub folder: String,
    /// The name of the server.
    pub name: String,
    /// The digest of the entry that the person saw. Only that entry is approved. Default: the current entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
}

/// The MCP servers of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct McpServers {
    /// All servers, in the order of their names: bounded by the files that declare them.
    pub servers: Vec<McpServer>,
    /// The problems of the files that declare servers, bounded by those files. The fields of a problem are `what`, `path`, `line`
    /// and `key`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub file_problems: Vec<Problem>,
    /// Deprecated, the next version leaves it out: `file_problems` as English sentences; bounded by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub problems: Vec<String>,
}

/// The file that declares an MCP server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum McpOrigin {
    /// The user's own file.
    User,
    /// A file of the project.
    Project,
    /// A file that only a newer owner knows.
    #[default]
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

/// An MCP server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct McpServer {
    /// The name of the server.
    pub name: String,
    /// The file that declares the server.
    pub origin: McpOrigin,
    /// The command line or the address of the server, as written in its file.
    pub way: String,
    /// What an approval allows: the whole entry of a project's server that nobody has approved yet. Otherwise empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approval: Vec<McpApproval>,
    /// Deprecated, the next version leaves it out: `approval` as English sentences; bounded by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub asked: Vec<String>,
    /// A digest of the server's entry, folder and name.
    pub entry: String,
    /// The state of the server.
    pub state: McpState,
    /// Why the server can't be used. The problem's field `what` is `unset_variable`, `bad_address`, `not_started`, `silent`,
    /// `unauthorized`, `unreachable`, `closed`, `refused` or `bad_reply`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
    /// Deprecated, the next version leaves it out: `problem` as an English sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub why: Option<String>,
    /// The number of tools that the server offers.
    pub tools: u64,
    /// Remarks about the server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<McpRemark>,
    /// Deprecated, the next version leaves it out: `remarks` as English sentences; bounded by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub notes: Vec<String>,
}

/// Something that the approval of an MCP server allows. Terminal control characters and invisible characters are escaped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum McpApproval {
    /// The server runs a command.
    Command {
        /// The command line, quoted for a shell.
        line: String,
    },
    /// The server runs in a folder.
    Folder {
        /// The folder, quoted for a shell.
        folder: String,
    },
    /// The server runs with an environment variable from its entry.
    Variable {
        /// `NAME=VALUE`, quoted for a shell.
        variable: String,
    },
    /// The server gets the agent's calls at an address.
    Address {
        /// The address.
        address: String,
    },
    /// The server gets an HTTP header.
    Header {
        /// `NAME: VALUE`.
        header: String,
    },
    /// The server gets a variable of the user's environment.
    Given {
        /// The name of the variable.
        variable: String,
        /// Whether the variable looks like a secret.
        secret: bool,
    },
    /// A rule allows calls of the server without an approval. The rule was made for another server of the same name.
    Rule {
        /// The rule.
        rule: Rule,
    },
    /// A code of a newer owner.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

/// The state of an MCP server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum McpState {
    /// The server is being started.
    #[default]
    Starting,
    /// The tools of the server can be called.
    Ready,
    /// The server can't be used.
    Failed,
    /// A project declares the server, and nobody has approved it yet.
    NeedsApproval,
    /// The entry of the server disables it.
    Disabled,
}

/// The tools of MCP servers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct McpTools {
    /// All tools, in the order of their servers: bounded by the tools that the servers offer.
    pub tools: Vec<McpTool>,
}

/// A tool of an MCP server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct McpTool {
    /// The name that the model uses.
    pub name: String,
    /// The name of the server.
    pub server: String,
    /// What the tool does, as described by its server.
    pub about: String,
    /// Whether the server declares the tool as read-only.
    pub reads: bool,
}
