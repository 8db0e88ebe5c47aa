//! The state of the owner.

use serde::{Deserialize, Serialize};

/// The owner of a data directory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Status {
    /// Its version; a client of another one may not understand it.
    pub version: String,
    /// Its process.
    pub pid: u32,
    /// The data directory.
    pub data_dir: String,
    /// The address where it listens in addition to the socket of the data directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Since when, Unix milliseconds.
    pub since_ms: i64,
    /// Whether it can be told to stop.
    pub serves: bool,
    /// Conversations in which something runs: all of them, bounded by what the owner runs at once.
    pub running: Vec<String>,
    /// Clients that follow something.
    pub following: u64,
    /// The permission mode of new conversations, unless the request names another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<crate::Mode>,
    /// Its settings file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_file: Option<String>,
    /// The version of what it and its clients on this machine say to each other: [`crate::PROTOCOL`].
    #[serde(default)]
    pub protocol: u32,
    /// Clients on this machine that are attached: terminals and commands.
    #[serde(default)]
    pub clients: u64,
    /// Background jobs that it started and that still run.
    #[serde(default)]
    pub jobs: u64,
    /// These jobs, of which all go on when the owner ends: 100 at most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs_at_work: Vec<JobAtWork>,
    /// When it ends by itself.
    #[serde(flatten)]
    pub idle: IdleEnd,
}

/// When an owner ends by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IdleEnd {
    /// After how many seconds without clients, runs and jobs it ends by itself; absent: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_s: Option<u64>,
    /// When it ends by itself unless something happens, Unix milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends_ms: Option<i64>,
}

/// A background job that runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobAtWork {
    /// Its id.
    pub job: String,
    /// What runs: the command, or what is left of it.
    pub command: String,
    /// Its processes.
    pub pids: Vec<u32>,
}

/// What is being done to files right now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Work {
    /// It; absent when nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doing: Option<Doing>,
}

/// Something that takes a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "does", rename_all = "snake_case")]
pub enum Doing {
    /// A folder is looked through.
    Looking {
        /// So many folders in it up to now.
        folders: u64,
    },
    /// What is new in it is read.
    Reading {
        /// So many files up to now.
        done: u64,
        /// Of so many.
        of: u64,
    },
    /// Files are put back.
    Writing {
        /// So many.
        files: u64,
    },
}
