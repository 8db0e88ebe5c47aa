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

    /// The note for the model after a command failed in a closed network, if its output says that this is the likely reason.
    pub(super) fn was_closed(self, printed: &str) -> Option<&'static str> {
        is_about_network(printed).then_some(match self {
            Self::Ask | Self::On => "[its network was closed; if that is why, `network: true` asks for it]",
            Self::Off => "[its network was closed, as the person's settings say]",
        })
    }
}

/// What programs print when they do not reach another one, in lower case.
const UNREACHED: &[&str] = &[
    "/dev/tcp/",
    "/dev/udp/",
    "connection refused",
    "connection timed out",
    "could not connect",
    "could not resolve",
    "couldn't connect",
    "couldn't resolve",
    "dial tcp",
    "dns error",
    "eai_again",
    "econnrefused",
    "enetunreach",
    "enotfound",
    "failed to connect",
    "failed to lookup address",
    "failed to resolve",
    "getaddrinfo",
    "name or service not known",
    "name resolution",
    "network error",
    "network is unreachable",
    "no route to host",
    "no such host",
    "temporary failure resolving",
    "unable to connect",
    "unable to resolve",
];

/// The system refuses sockets in a closed network with these words, and files, too.
const REFUSED: &[&str] = &["permission denied", "operation not permitted", "eacces", "eperm"];

/// With one of these words, the refusal was about a socket.
const SOCKETS: &[&str] = &["socket", "connect", "bind", "listen"];

/// Whether a command complained about the network.
fn is_about_network(printed: &str) -> bool {
    let printed = printed.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| printed.contains(word));
    has(UNREACHED) || (has(REFUSED) && has(SOCKETS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_network_is_named_only_after_a_failure_to_reach_something() {
        for (printed, is_likely) in [
            ("curl: (6) Could not resolve host: example.org", true),
            ("fatal: unable to access 'https://e.org/': Failed to connect to e.org port 443", true),
            ("bash: /dev/tcp/127.0.0.1/80: Permission denied", true),
            ("  s = socket.socket()\nPermissionError: [Errno 13] Permission denied", true),
            ("npm error code EAI_AGAIN", true),
            ("dial tcp: lookup proxy.golang.org: socket: operation not permitted", true),
            ("Error: listen EACCES: permission denied 127.0.0.1:3000", true),
            ("", false),
            ("error[E0308]: mismatched types", false),
            ("cat: /etc/shadow: Permission denied", false),
            ("test sockets_are_closed ... FAILED", false),
            ("make: *** [Makefile:3: all] Error 1", false),
        ] {
            assert_eq!(Network::Ask.was_closed(printed).is_some(), is_likely, "{printed}");
        }
    }
}
