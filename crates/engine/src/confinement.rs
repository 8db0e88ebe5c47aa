//! How the settings and this machine confine the commands of an agent, for clients to show.

use retake_core::{NoSandbox, SandboxFact};
use retake_tools::{Network, Sandbox, Sandboxed};

use crate::settings::Settings;

/// The confinement of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confinement {
    /// Not confined reliably, with the reason.
    Free(NoSandbox),
    /// Files are confined, the network is open.
    NetworkOpen,
    /// Files are confined; a call gets the network on request.
    NetworkOnRequest,
    /// Files are confined, the network is closed.
    NetworkClosed,
}

fn sandbox(settings: &Settings) -> Option<Sandbox> {
    let sandbox = || Sandbox { temporary: Sandbox::temporary(), ..Sandbox::bare() };
    settings.permissions.sandbox.then(sandbox)
}

impl Confinement {
    /// The confinement of commands on this machine.
    pub fn of(settings: &Settings) -> Self {
        let Some(sandbox) = sandbox(settings) else { return Self::Free(NoSandbox::SwitchedOff) };
        match (sandbox.available(&[]), settings.permissions.network) {
            (Sandboxed::None(why) | Sandboxed::Exposed(why), _) => Self::Free(why),
            (Sandboxed::FilesOnly, _) | (Sandboxed::Full, Network::On) => Self::NetworkOpen,
            (Sandboxed::Full, Network::Ask) => Self::NetworkOnRequest,
            (Sandboxed::Full, Network::Off) => Self::NetworkClosed,
        }
    }

    /// What commands can do here although a machine with all mechanisms prevents it.
    pub fn weaknesses(settings: &Settings) -> Vec<SandboxFact> {
        sandbox(settings).map(|sandbox| sandbox.weaker()).unwrap_or_default()
    }

    /// Which parts of the confinement work on this machine, and which do not.
    pub fn report(settings: &Settings) -> Vec<SandboxFact> {
        let none = || vec![SandboxFact::Unconfined(NoSandbox::SwitchedOff)];
        sandbox(settings).map_or_else(none, |sandbox| sandbox.told())
    }
}
