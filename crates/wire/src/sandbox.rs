//! The sandbox on the owner's machine: typed codes with fields. Only types; `english` makes the sentences.

use serde::{Deserialize, Serialize};

use crate::agent::Rule;

/// A fact about what confines commands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum SandboxFact {
    /// Landlock confines them, and these mechanisms beside it.
    Confined {
        /// A filter of system calls.
        seccomp: bool,
        /// Namespaces of their own.
        namespaces: bool,
    },
    /// Nothing confines them.
    Unconfined {
        /// Why.
        cause: SandboxCause,
    },
    /// There is no seccomp: the network cannot be closed, nor the sockets of other programs.
    NoSeccomp,
    /// They have no namespaces of their own.
    NoNamespaces {
        /// Why.
        cause: SandboxCause,
    },
    /// For want of namespaces, they have no terminals, reach no Unix sockets, and can change git's hooks and settings.
    NoTerminals,
    /// For want of namespaces, patterns of names hide no files from them.
    PatternsNotHidden,
    /// The kernel is older than Linux 6.12: they can send signals to other programs.
    SignalsOpen,
    /// The kernel is older than Linux 6.12: they cannot make Unix sockets.
    UnixSocketsClosed,
    /// Control groups limit their memory and the number of their processes.
    MemoryLimited,
    /// Nothing limits their memory.
    MemoryUnlimited {
        /// Why.
        cause: SandboxCause,
    },
    /// A rule of the settings allows any command.
    WideRule {
        /// The rule.
        rule: Rule,
    },
    /// A code of a newer owner.
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
    /// The kernel has no Landlock, it is switched off, or it is older than Linux 6.2.
    NoLandlock,
    /// A path is to be hidden, and lies below a folder that commands may write.
    Exposed {
        /// The path.
        path: String,
    },
    /// The owner does not supervise its commands.
    Unsupervised,
    /// There are no control groups.
    NoControlGroups,
    /// The user may not make control groups that limit memory.
    NotPermitted,
    /// The system refuses it.
    Failed {
        /// What the system says.
        detail: String,
    },
    /// A code of a newer owner.
    #[default]
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}
