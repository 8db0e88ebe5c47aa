//! The description of `shell` for the model: what a command can reach on this machine. It must never promise a limit that the
//! sandbox here cannot hold, nor name one that it does not have.

use std::path::PathBuf;

use retake_core::NoSandbox;

use super::Network;
use crate::sandbox::Sandboxed;

const ABOUT: &str = "Runs a command line in a shell, and shows its output and its exit code. A command begins in the folder where \
     the last one ended, if that is in the conversation's folders. Variables are not kept. Standard input is empty, \
     except for a job with `input`. Variables that hold secrets by their names (API_KEY, TOKEN, PASSWORD) are not passed on. The middle of long output is \
     left out; the result names a file with all of it.";

/// The description, with the part of the sandbox that works here; `held` is `None` if the settings disable it.
pub(super) fn about(held: Option<&Sandboxed>, temporary: &[PathBuf], network: Network) -> String {
    let (files, is_closed) = match held {
        None => (false, false),
        Some(Sandboxed::Full | Sandboxed::Exposed(_)) => (true, true),
        Some(Sandboxed::FilesOnly | Sandboxed::None(NoSandbox::Exposed(_))) => (true, false),
        Some(Sandboxed::None(_)) => (false, false),
    };
    if !files {
        return format!(
            "{ABOUT} There is no sandbox: a command can change every file of the person, and can reach the network."
        );
    }
    let temporary =
        temporary.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ");
    let network = match (is_closed, network) {
        (true, Network::Ask) => {
            "Its network is closed, also to servers on this machine: `network: true` requests it."
        }
        (true, Network::Off) => "It cannot reach the network, nor servers on this machine, nor be one.",
        (true, Network::On) | (false, _) => "It can reach the network.",
    };
    format!(
        "{ABOUT} A command runs in a sandbox: it can write only in the conversation's folders and in {temporary}. {network}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn description_says_what_the_sandbox_of_this_machine_holds() {
        let temporary = [PathBuf::from("/tmp"), PathBuf::from("/var/tmp")];
        let exposed = || NoSandbox::Exposed("/work/secret".into());
        let writes = "can write only in the conversation's folders and in /tmp, /var/tmp.";
        let (open, requests, closed) =
            ("It can reach the network.", "`network: true`", "cannot reach the network");
        let free =
            "There is no sandbox: a command can change every file of the person, and can reach the network.";
        for (held, network, words) in [
            (None, Network::Ask, vec![free]),
            (Some(Sandboxed::None(NoSandbox::NoLandlock)), Network::Off, vec![free]),
            (Some(Sandboxed::None(exposed())), Network::Off, vec![writes, open]),
            (Some(Sandboxed::FilesOnly), Network::Ask, vec![writes, open]),
            (Some(Sandboxed::Full), Network::On, vec![writes, open]),
            (Some(Sandboxed::Full), Network::Ask, vec![writes, requests]),
            (Some(Sandboxed::Exposed(exposed())), Network::Off, vec![writes, closed]),
            (Some(Sandboxed::Full), Network::Off, vec![writes, closed]),
        ] {
            let told = about(held.as_ref(), &temporary, network);
            for word in [free, writes, open, requests, closed] {
                assert_eq!(told.contains(word), words.contains(&word), "{held:?} {network:?} {word}: {told}");
            }
        }
    }
}
