//! How the commands of an agent are confined, by the settings and on this machine, for clients to show.

use retake_core::{NoSandbox, SandboxFact};
use retake_tools::{Network, Sandbox, Sandboxed};

use crate::settings::Settings;

/// What confines commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confinement {
    /// Nothing that can be relied on, and why.
    Free(NoSandbox),
    /// Files are confined, the network is open.
    NetworkOpen,
    /// Files are confined; a call that asks for the network gets it.
    NetworkOnRequest,
    /// Files are confined, the network is closed.
    NetworkClosed,
}

fn sandbox(settings: &Settings) -> Option<Sandbox> {
    let sandbox = || Sandbox { temporary: Sandbox::temporary(), ..Sandbox::bare() };
    settings.permissions.sandbox.then(sandbox)
}

impl Confinement {
    /// What confines commands here.
    pub fn of(settings: &Settings) -> Self {
        let Some(sandbox) = sandbox(settings) else { return Self::Free(NoSandbox::SwitchedOff) };
        match (sandbox.available(&[]), settings.permissions.network) {
            (Sandboxed::None(why) | Sandboxed::Exposed(why), _) => Self::Free(why),
            (Sandboxed::FilesOnly, _) | (Sandboxed::Full, Network::On) => Self::NetworkOpen,
            (Sandboxed::Full, Network::Ask) => Self::NetworkOnRequest,
            (Sandboxed::Full, Network::Off) => Self::NetworkClosed,
        }
    }

    /// What commands can do here that they could not where the machine has every mechanism.
    pub fn weaknesses(settings: &Settings) -> Vec<SandboxFact> {
        sandbox(settings).map(|sandbox| sandbox.weaker()).unwrap_or_default()
    }

    /// What confines commands on this machine and what does not.
    pub fn report(settings: &Settings) -> Vec<SandboxFact> {
        let none = || vec![SandboxFact::Unconfined(NoSandbox::SwitchedOff)];
        sandbox(settings).map_or_else(none, |sandbox| sandbox.told())
    }
}
