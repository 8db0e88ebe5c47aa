//! The English sentences about the sandbox. Must name what the sandbox does not prevent.

use crate::sandbox::{SandboxCause, SandboxFact};

/// What confines commands, or does not confine them.
pub fn sandbox_fact(it: &SandboxFact) -> String {
    let sentence = match it {
        SandboxFact::Confined { seccomp, namespaces } => match (seccomp, namespaces) {
            (true, true) => "Landlock, seccomp and namespaces hold commands",
            (true, false) => "Landlock and seccomp hold commands",
            (false, true) => "Landlock and namespaces hold commands",
            (false, false) => "Landlock holds commands",
        },
        SandboxFact::Unconfined { cause } => {
            return format!("nothing holds commands: {}", sandbox_cause(cause));
        }
        SandboxFact::NoSeccomp => {
            "without seccomp, the network can't be closed, nor the sockets of other programs"
        }
        SandboxFact::NoNamespaces { cause } => {
            return format!("commands have no namespaces of their own: {}", sandbox_cause(cause));
        }
        SandboxFact::NoTerminals => {
            "without namespaces, commands have no terminals, reach no Unix sockets, also not those of \
             `permissions.sockets`, and can change git's hooks and settings"
        }
        SandboxFact::PatternsNotHidden => {
            "without namespaces, patterns of names such as *.pem keep files from the file tools, not from \
             commands; paths such as ~/.ssh are hidden from both"
        }
        SandboxFact::SignalsOpen => {
            "the kernel is older than Linux 6.12: commands can send signals to your other programs"
        }
        SandboxFact::UnixSocketsClosed => {
            "the kernel is older than Linux 6.12: commands can't make Unix sockets, also not to reach those of \
             `permissions.sockets`"
        }
        SandboxFact::MemoryLimited => {
            "control groups limit the memory and the number of processes of a command"
        }
        SandboxFact::MemoryUnlimited { cause } => {
            return format!(
                "the memory of commands is not limited: {}; their time, their number of processes, and the size of \
                 their output and of each file are",
                sandbox_cause(cause)
            );
        }
        SandboxFact::WideRule { rule } => {
            return format!(
                "the rule `{rule}` allows any command, because this program runs what its arguments name"
            );
        }
        SandboxFact::Unknown => super::UNKNOWN,
    };
    sentence.to_owned()
}

/// Why a mechanism does not confine commands.
pub fn sandbox_cause(it: &SandboxCause) -> String {
    let sentence = match it {
        SandboxCause::SwitchedOff => "permissions.sandbox is false",
        SandboxCause::NoLandlock => {
            "the kernel has no Landlock, it is switched off, or it is older than Linux 6.2"
        }
        SandboxCause::Exposed { path } => {
            return format!("{path} is to be hidden, and below a folder that commands may write");
        }
        SandboxCause::Unsupervised => "this program does not supervise its commands",
        SandboxCause::NoControlGroups => "there are no control groups",
        SandboxCause::NotPermitted => "this user may not make control groups that limit memory",
        SandboxCause::Failed { detail } => detail,
        SandboxCause::Unknown => super::UNKNOWN,
    };
    sentence.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::english::rows;

    #[test]
    fn each_fact_about_the_sandbox_has_a_sentence() {
        let rows = [
            (
                r#"{"code":"confined","seccomp":true,"namespaces":false}"#,
                "Landlock and seccomp hold commands",
            ),
            (
                r#"{"code":"unconfined","cause":{"code":"switched_off"}}"#,
                "nothing holds commands: permissions.sandbox is false",
            ),
            (
                r#"{"code":"no_seccomp"}"#,
                "without seccomp, the network can't be closed, nor the sockets of other programs",
            ),
            (
                r#"{"code":"no_namespaces","cause":{"code":"failed","detail":"No space left on device"}}"#,
                "commands have no namespaces of their own: No space left on device",
            ),
            (
                r#"{"code":"no_terminals"}"#,
                "without namespaces, commands have no terminals, reach no Unix sockets, also not those of \
                 `permissions.sockets`, and can change git's hooks and settings",
            ),
            (
                r#"{"code":"patterns_not_hidden"}"#,
                "without namespaces, patterns of names such as *.pem keep files from the file tools, not from \
                 commands; paths such as ~/.ssh are hidden from both",
            ),
            (
                r#"{"code":"signals_open"}"#,
                "the kernel is older than Linux 6.12: commands can send signals to your other programs",
            ),
            (
                r#"{"code":"unix_sockets_closed"}"#,
                "the kernel is older than Linux 6.12: commands can't make Unix sockets, also not to reach those of \
                 `permissions.sockets`",
            ),
            (
                r#"{"code":"memory_limited"}"#,
                "control groups limit the memory and the number of processes of a command",
            ),
            (
                r#"{"code":"memory_unlimited","cause":{"code":"no_control_groups"}}"#,
                "the memory of commands is not limited: there are no control groups; their time, their number of \
                 processes, and the size of their output and of each file are",
            ),
            (
                r#"{"code":"wide_rule","rule":{"ruling":"allow","tool":"shell","what":"env"}}"#,
                "the rule `allow shell(env)` allows any command, because this program runs what its arguments name",
            ),
        ];
        rows::check(&rows, sandbox_fact);
    }

    #[test]
    fn each_cause_for_want_of_a_sandbox_has_a_sentence() {
        let rows = [
            (r#"{"code":"switched_off"}"#, "permissions.sandbox is false"),
            (
                r#"{"code":"no_landlock"}"#,
                "the kernel has no Landlock, it is switched off, or it is older than Linux 6.2",
            ),
            (
                r#"{"code":"exposed","path":"/p/data"}"#,
                "/p/data is to be hidden, and below a folder that commands may write",
            ),
            (r#"{"code":"unsupervised"}"#, "this program does not supervise its commands"),
            (r#"{"code":"no_control_groups"}"#, "there are no control groups"),
            (r#"{"code":"not_permitted"}"#, "this user may not make control groups that limit memory"),
            (r#"{"code":"failed","detail":"Permission denied"}"#, "Permission denied"),
        ];
        rows::check(&rows, sandbox_cause);
    }
}
