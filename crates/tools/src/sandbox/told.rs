//! What a sandbox is on this machine, in sentences for people. Must name what does not hold.

use super::{Sandbox, rules};

impl Sandbox {
    /// What holds commands on this machine and what does not, a sentence each.
    pub fn told(&self) -> Vec<String> {
        if let Err(why) = rules::files() {
            return vec![format!("nothing holds commands: {why}")];
        }
        let by = match (rules::has_filter(), self.namespaces().is_ok()) {
            (true, true) => "Landlock, seccomp and namespaces hold commands",
            (true, false) => "Landlock and seccomp hold commands",
            (false, true) => "Landlock and namespaces hold commands",
            (false, false) => "Landlock holds commands",
        };
        let memory = match self.places() {
            Ok(_) => "control groups limit the memory and the number of processes of a command",
            Err(why) => &format!(
                "the memory of commands is not limited: {why}; their time, their number of processes, and the size of \
                     their output and of each file are"
            ),
        };
        std::iter::once(by.to_owned()).chain(self.weaker()).chain([memory.to_owned()]).collect()
    }

    /// What commands can do here that they can't where the machine has everything, a sentence each.
    pub fn weaker(&self) -> Vec<String> {
        if rules::files().is_err() {
            return Vec::new();
        }
        let mut weaker = Vec::new();
        if !rules::has_filter() {
            weaker.push(
                "without seccomp, the network can't be closed, nor the sockets of other programs".to_owned(),
            );
        }
        let has_scopes = rules::scopes().is_ok();
        if let Err(why) = self.namespaces() {
            weaker.push(format!("commands have no namespaces of their own: {why}"));
            weaker.push(
                "without namespaces, commands have no terminals, reach no Unix sockets, also not those of \
                 `permissions.sockets`, and can change git's hooks and settings"
                    .to_owned(),
            );
            weaker.push(
                "without namespaces, patterns of names such as *.pem keep files from the file tools, not from \
                 commands; paths such as ~/.ssh are hidden from both"
                    .to_owned(),
            );
            if !has_scopes {
                let what =
                    "the kernel is older than Linux 6.12: commands can send signals to your other programs";
                weaker.push(what.to_owned());
            }
        } else if !has_scopes {
            let what = "the kernel is older than Linux 6.12: commands can't make Unix sockets, also not to reach those of \
                        `permissions.sockets`";
            weaker.push(what.to_owned());
        }
        weaker
    }
}
