//! Which variables hold secrets, so that no process gets them that was not meant to. Must never look at a value.

use std::ffi::OsStr;

/// A variable whose name ends so holds a secret.
const SECRETS: [&str; 5] = ["_API_KEY", "_TOKEN", "_SECRET", "_ACCESS_KEY", "_PASSWORD"];

/// Whether a variable of that name holds a secret.
pub(crate) fn is_secret(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_uppercase();
    SECRETS.iter().any(|end| name.ends_with(end))
}
