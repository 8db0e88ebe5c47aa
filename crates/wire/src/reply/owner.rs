//! The state of the owner.

use serde::{Deserialize, Serialize};

/// The state of the owner of a data folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Status {
    /// The version of the owner. A client of another version may not understand it.
    pub version: String,
    /// The id of its process.
    pub pid: u32,
    /// The path of the data folder.
    pub data_dir: String,
    /// The address where it listens in addition to the socket of the data folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// When the owner started, in Unix milliseconds.
    pub since_ms: i64,
    /// Whether a client can tell the owner to stop.
    pub serves: bool,
    /// The ids of conversations in which something runs: all of them, bounded by what the owner runs at once.
    pub running: Vec<String>,
    /// The number of subscribers.
    pub following: u64,
    /// The permission mode of new conversations, unless the request names another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<crate::Mode>,
    /// The path of its settings file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_file: Option<String>,
    /// The version of the protocol between the owner and its clients on this machine: [`crate::PROTOCOL`].
    #[serde(default)]
    pub protocol: u32,
    /// The number of attached clients on this machine: terminals and commands.
    #[serde(default)]
    pub clients: u64,
    /// What goes on beside conversations.
    #[serde(flatten)]
    pub beside: Beside,
    /// When the owner ends by itself.
    #[serde(flatten)]
    pub idle: IdleEnd,
}

/// What goes on beside conversations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Beside {
    /// The number of background jobs that still run, including jobs of earlier owners.
    #[serde(default)]
    pub jobs: u64,
    /// These jobs, at most 100. All of them continue when the owner ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs_at_work: Vec<JobAtWork>,
    /// The gateways of chat accounts that are known: bounded by the accounts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gateways: Vec<GatewayState>,
}

/// The gateway of an account of a chat platform.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GatewayState {
    /// The account.
    pub account: String,
    /// The gateway that has the account: its process and machine. Absent if none has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// Whether the owner's process runs the gateway itself.
    #[serde(default)]
    pub is_here: bool,
    /// What keeps the gateway in the owner's process from its work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<GatewayTrouble>,
    /// When it is tried again, in Unix milliseconds. Absent with a trouble that lasts until the account is changed, or that the
    /// gateway itself is still trying to get over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_ms: Option<i64>,
}

/// What keeps a gateway from its work.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum GatewayTrouble {
    /// The platform does not accept the token.
    BadToken,
    /// Another program receives the events of the account.
    Occupied,
    /// Another gateway has the account.
    Held {
        /// Its process and machine.
        holder: String,
    },
    /// The owner does not permit the gateway's requests.
    NotPermitted {
        /// The code of the problem.
        problem: String,
    },
    /// The file of the account cannot be used.
    BadAccount,
    /// The file of the account cannot be read now.
    UnreadableAccount,
    /// The platform cannot be reached. The gateway goes on trying.
    Unreachable,
    /// The platform does not do what the gateway asks for. The gateway goes on trying.
    Refused,
    /// The gateway failed because of an error in this program.
    Failed,
    /// A code that only a newer owner knows.
    #[default]
    #[serde(other)]
    Unknown,
}

/// When an owner ends by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IdleEnd {
    /// The owner ends by itself after this many seconds without clients, runs and jobs. Absent: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_s: Option<u64>,
    /// When the owner ends if nothing happens before, in Unix milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends_ms: Option<i64>,
}

/// A background job that runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobAtWork {
    /// The id of the job.
    pub job: String,
    /// What runs: the command of the job, or what is left of it.
    pub command: String,
    /// The ids of its processes.
    pub pids: Vec<u32>,
}

/// The work on files that is in progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Work {
    /// The work. Absent if none is in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doing: Option<OwnerWork>,
}

/// Work on files that takes a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "does", rename_all = "snake_case")]
pub enum OwnerWork {
    /// A folder is scanned.
    Looking {
        /// The number of folders scanned so far.
        folders: u64,
    },
    /// New content in the folder is read.
    Reading {
        /// The number of files read so far.
        done: u64,
        /// The number of all files to read.
        of: u64,
    },
    /// Files are being restored.
    Writing {
        /// The number of these files.
        files: u64,
    },
}
