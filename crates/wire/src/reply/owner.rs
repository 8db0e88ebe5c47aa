//! The reply to who asks how the owner is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The owner of a data directory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    /// Its version; a client of another one may not understand it.
    pub version: String,
    /// Its process.
    pub pid: u32,
    /// The data directory.
    pub data_dir: String,
    /// Where it listens besides the socket of the data directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Since when, Unix milliseconds.
    pub since_ms: i64,
    /// Whether it is there for others: it can be told to stop. One that belongs to a terminal ends with that.
    pub serves: bool,
    /// Conversations in which something runs.
    pub running: Vec<String>,
    /// Clients that follow something.
    pub following: u64,
    /// How far the agent may go in a conversation that begins, unless another mode is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<crate::Mode>,
    /// Its settings file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_file: Option<String>,
}
