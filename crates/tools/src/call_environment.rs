//! The environment and the umask of the client that requested a call, for its commands and new files. Held in
//! memory only, and must never be shown.

use std::ffi::OsString;
use std::fmt;

use tokio::process::Command;

use crate::processes::MARK;

/// Variables with their values, and a umask.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct CallEnvironment {
    /// Without them, those of this process.
    variables: Option<Vec<(OsString, OsString)>>,
    umask: Option<u32>,
}

impl fmt::Debug for CallEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A value may be a secret.
        let variables = self.variables.as_ref().map(Vec::len);
        write!(f, "CallEnvironment({variables:?} variables, umask {:?})", self.umask)
    }
}

impl CallEnvironment {
    /// These variables, and this umask. Without a umask, that of this process.
    pub fn new(variables: impl IntoIterator<Item = (OsString, OsString)>, umask: Option<u32>) -> Self {
        // Only we mark the processes of calls.
        let variables = variables.into_iter().filter(|(name, _)| name != MARK).collect();
        Self { variables: Some(variables), umask }
    }

    /// The variables of this process, with this umask.
    pub fn own(umask: Option<u32>) -> Self {
        Self { variables: None, umask }
    }

    /// The variables, for the code that filters secrets.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (OsString, OsString)> + '_ {
        let own = self.variables.is_none().then(std::env::vars_os);
        self.variables.iter().flatten().cloned().chain(own.into_iter().flatten())
    }

    /// The umask.
    pub fn umask(&self) -> Option<u32> {
        self.umask
    }

    /// Sets the variables of a command, instead of those of this process.
    pub fn give(&self, command: &mut Command) {
        let Some(variables) = &self.variables else { return };
        for (name, _) in std::env::vars_os() {
            if name != MARK {
                command.env_remove(name);
            }
        }
        command.envs(variables.iter().map(|(name, value)| (name, value)));
    }
}
