//! The environment of whoever asked for a call, for the commands that it starts. It is held in memory only, and never shown.

use std::ffi::OsString;
use std::fmt;

use tokio::process::Command;

use crate::processes::MARK;

/// Variables with their values.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Surroundings(Vec<(OsString, OsString)>);

impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A value may be a secret.
        write!(f, "Surroundings({} variables)", self.0.len())
    }
}

impl Surroundings {
    /// These variables.
    pub fn new(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        // Whose process a call's is, only we say.
        Self(variables.into_iter().filter(|(name, _)| name != MARK).collect())
    }

    /// They, for whoever keeps secrets back.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (OsString, OsString)> + '_ {
        self.0.iter().cloned()
    }

    /// Gives them to a command, in the place of those of this process.
    pub fn give(&self, command: &mut Command) {
        for (name, _) in std::env::vars_os() {
            if name != MARK {
                command.env_remove(name);
            }
        }
        command.envs(self.0.iter().map(|(name, value)| (name, value)));
    }
}
