//! The environment and the umask of the client that requested a call, for the commands that it starts and the files
//! that it makes. They are held in memory only, and never shown.

use std::ffi::OsString;
use std::fmt;

use tokio::process::Command;

use crate::processes::MARK;

/// Variables with their values, and a umask.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct CallEnvironment {
    /// Those of this process, without.
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
    /// These variables, and this umask; without one, that of this process.
    pub fn new(variables: impl IntoIterator<Item = (OsString, OsString)>, umask: Option<u32>) -> Self {
        // Whose process a call's is, only we say.
        let variables = variables.into_iter().filter(|(name, _)| name != MARK).collect();
        Self { variables: Some(variables), umask }
    }

    /// The variables of this process, with this umask.
    pub fn own(umask: Option<u32>) -> Self {
        Self { variables: None, umask }
    }

    /// The variables, for the code that withholds secrets.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (OsString, OsString)> + '_ {
        let own = self.variables.is_none().then(std::env::vars_os);
        self.variables.iter().flatten().cloned().chain(own.into_iter().flatten())
    }

    /// The permission bits that new files do not get.
    pub fn umask(&self) -> Option<u32> {
        self.umask
    }

    /// Gives the variables to a command, instead of those of this process.
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
