//! How a client on this machine registers with the owner. This is private to this program: it is only available over the owner's
//! socket, and is not part of the API.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::problem::Problem;

/// The path where a client attaches. The reply is a stream that stays open while both processes run.
pub const CLIENTS: &str = "/v1/clients";

/// The path where a client reports that it leaves, with its number.
pub const LEAVE: &str = "/v1/clients/leave";

/// The header that identifies a client by its number.
pub const CLIENT: &str = "retake-client";

/// The version of the protocol between client and owner. Programs of different versions work together if this number is equal.
pub const PROTOCOL: u32 = 1;

/// The problem code of an owner that is about to end and accepts no client. The client must start the next owner.
pub const LEAVING: &str = "owner_leaving";

/// The problem code of a request without the owner's token. Nothing was done.
pub const UNAUTHORIZED: &str = "unauthorized";

/// The code of the problem of a request that no grant of its sender covers.
pub const NOT_PERMITTED: &str = "not_permitted";

/// The information with which a client attaches.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attach {
    /// The version of the client's program.
    pub version: String,
    /// Whether the client can ask a person.
    #[serde(default)]
    pub answers: bool,
    /// The environment variables of the client. Commands that it requests run with them.
    #[serde(default)]
    pub variables: Vec<(String, String)>,
    /// The umask of the client: the permission bits that files made for it do not get.
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

/// An attached client, identified by the number from the owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Number {
    /// The number of the client.
    pub client: u64,
    /// In the owner's reply: whether settings in the file have changed that the owner reads only at its start. It keeps the older
    /// ones.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keeps_older_settings: bool,
}

/// What happens to the owner when a client leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnerAfterLeave {
    /// Whether the owner ends now. It does if this was the last client and no work is left.
    pub ends: bool,
}

/// The only message of an owner to the client that started it: it is ready, or it can't be the owner.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// Why it can't be the owner. Absent if it is ready.
    pub problem: Option<Problem>,
    /// Notices for the person, one sentence each.
    pub notices: Vec<String>,
}
