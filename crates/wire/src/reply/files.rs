//! What was seen of folders. Must never hold what is in a file.

use serde::{Deserialize, Serialize};

/// A page of captures, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Captures {
    /// The captures.
    pub captures: Vec<Capture>,
    /// Whether there are earlier ones.
    pub more: bool,
}

/// A capture: what changed in a folder since the one before it, by nobody's call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capture {
    /// Its number in the folder: 1, 2, 3 …
    pub number: u64,
    /// When, Unix milliseconds.
    pub time_ms: i64,
    /// The name that somebody gave it.
    pub name: Option<String>,
    /// How many paths changed.
    pub changed: u64,
    /// The first of them, at most 20; what is not UTF-8 or acts on a terminal stands in them as an escape.
    pub paths: Vec<String>,
}

/// Folders that conversations work in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workspaces {
    /// They, oldest first.
    pub workspaces: Vec<Workspace>,
}

/// A folder that conversations work in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workspace {
    /// Its number.
    pub number: u64,
    /// Its path; what is not UTF-8 is replaced in it.
    pub folder: String,
    /// When it was first seen, Unix milliseconds.
    pub created_ms: i64,
}
