//! The sandbox on the owner's computer: typed codes with fields. Only types; `english` makes the sentences.

use serde::{Deserialize, Serialize};

use crate::agent::Rule;

/// A fact about the sandbox of commands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum SandboxFact {
    /// Landlock confines commands, together with these mechanisms.
    Confined {
        /// Whether seccomp filters their system calls.
        seccomp: bool,
        /// Whether they have their own namespaces.
        namespaces: bool,
    },
    /// Nothing confines commands.
    Unconfined {
        /// Why nothing confines them.
        cause: SandboxCause,
    },
    /// Seccomp is not available. Access to the network and to the sockets of other programs cannot be blocked.
    NoSeccomp,
    /// Commands do not have their own namespaces.
    NoNamespaces {
        /// Why they have none.
        cause: SandboxCause,
    },
    /// Without namespaces, commands have no terminals, cannot reach Unix sockets, and can change git's hooks and settings.
    NoTerminals,
    /// Without namespaces, patterns of file names hide no files from commands.
    PatternsNotHidden,
    /// The kernel is older than Linux 6.12: commands can send signals to other programs.
    SignalsOpen,
    /// The kernel is older than Linux 6.12: commands cannot create Unix sockets.
    UnixSocketsClosed,
    /// Control groups limit the memory of commands and the number of their processes.
    MemoryLimited,
    /// The memory of commands is not limited.
    MemoryUnlimited {
        /// Why it is not limited.
        cause: SandboxCause,
    },
    /// A rule in the settings allows any command.
    WideRule {
        /// The rule.
        rule: Rule,
    },
    /// A code that only a newer owner knows.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

/// Why a mechanism does not confine commands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum SandboxCause {
    /// The setting `permissions.sandbox` is false.
    SwitchedOff,
    /// The kernel has no Landlock, Landlock is disabled, or the kernel is older than Linux 6.2.
    NoLandlock,
    /// A path that must be hidden is below a folder that commands may write to.
    Exposed {
        /// The path.
        path: String,
    },
    /// The owner does not supervise its commands.
    Unsupervised,
    /// There are no control groups.
    NoControlGroups,
    /// The user has no permission to create control groups that limit memory.
    NotPermitted,
    /// The system refused it.
    Failed {
        /// The error message of the system.
        detail: String,
    },
    /// A code that only a newer owner knows.
    #[default]
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}
