//! How a client on this machine registers with the owner. Private to this program: only over the owner's socket, and no part of
//! the API.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::problem::Problem;

/// Where a client attaches: the answer is a stream that stays open as long as both live.
pub const CLIENTS: &str = "/v1/clients";

/// Where it says that it leaves, with its number.
pub const LEAVE: &str = "/v1/clients/leave";

/// The header in which a client says who it is: its number.
pub const CLIENT: &str = "retake-client";

/// The version of what client and owner say to each other. Two programs of different versions work together where this is equal.
pub const PROTOCOL: u32 = 1;

/// The problem of an owner that is about to end and takes no client: the next one is to be started.
pub const LEAVING: &str = "owner_leaving";

/// The problem of a request that does not bear the owner's token. Nothing was done.
pub const UNAUTHORIZED: &str = "unauthorized";

/// What a client says of itself.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attach {
    /// The version of its program.
    pub version: String,
    /// Whether a person can be asked there.
    #[serde(default)]
    pub answers: bool,
    /// The variables of its environment, in which commands run that it asks for.
    #[serde(default)]
    pub variables: Vec<(String, String)>,
    /// The permission bits that files do not get which are made for it.
    #[serde(default)]
    pub umask: Option<u32>,
}

impl fmt::Debug for Attach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { version, answers, variables, umask } = self;
        // A value may be a secret.
        let count = variables.len();
        write!(f, "Attach {{ {version}, answers: {answers}, {count} variables, umask: {umask:?} }}")
    }
}

/// An attached client, as the owner knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Number {
    /// Its number.
    pub client: u64,
    /// In the owner's answer: its settings file has changed since it began, in what it does not read again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keeps_older_settings: bool,
}

/// What becomes of the owner when a client leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    /// It ends now: this was the last client, and nothing else is to be done.
    pub ends: bool,
}

/// The one message of an owner to the client that started it: it is ready, or why it can't be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// Why it can't be the owner.
    pub problem: Option<Problem>,
    /// What the person should know, a sentence each.
    pub notices: Vec<String>,
}
