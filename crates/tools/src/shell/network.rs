//! Which commands have network access. A message to a command must never promise more than the sandbox can
//! enforce.

use crate::sandbox::Net;

/// Which commands have network access, if the sandbox can close it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Network {
    /// Those whose calls request it.
    #[default]
    Ask,
    /// All of them.
    On,
    /// None.
    Off,
}

impl Network {
    /// The network access of a command.
    pub(super) fn of(self, asks: bool) -> Net {
        match self {
            Self::On => Net::Open,
            Self::Ask if asks => Net::Open,
            Self::Ask | Self::Off => Net::Closed,
        }
    }

    /// The widest network access of any call.
    pub(super) fn widest(self) -> Net {
        self.of(true)
    }

    /// The same for a call that may request the network without effect.
    pub(super) fn asked(self, asks: bool) -> Result<Net, String> {
        if asks && self == Self::Off {
            return Err("the person's settings close the network to every command (`permissions.network`); \
                        leave out `network`, or say what you need it for"
                .to_owned());
        }
        Ok(self.of(asks))
    }

    /// The note for the model after a command failed in a closed network.
    pub(super) fn was_closed(self) -> &'static str {
        match self {
            Self::Ask | Self::On => "[its network was closed; if that is why, `network: true` asks for it]",
            Self::Off => "[its network was closed, as the person's settings say]",
        }
    }
}
