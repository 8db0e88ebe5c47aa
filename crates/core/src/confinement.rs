//! How commands are confined on this machine, as facts. Must name each mechanism that does not work.

use std::path::PathBuf;

/// A fact about the confinement of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SandboxFact {
    /// Landlock confines them, together with these mechanisms.
    Confined {
        /// A filter of system calls.
        seccomp: bool,
        /// Namespaces of their own.
        namespaces: bool,
    },
    /// They are not confined.
    Unconfined(NoSandbox),
    /// Neither the network nor the sockets of other programs can be closed.
    NoSeccomp,
    /// They have no namespaces of their own.
    NoNamespaces(NoSandbox),
    /// Without namespaces they have no terminals, reach no Unix sockets, and can change git's hooks and settings.
    NoTerminals,
    /// Without namespaces, files cannot be hidden from them by name patterns.
    PatternsNotHidden,
    /// The kernel is too old to prevent signals to other programs.
    SignalsOpen,
    /// The kernel is too old to let them create Unix sockets.
    UnixSocketsClosed,
    /// Control groups limit their memory and the number of their processes.
    MemoryLimited,
    /// Their memory is not limited.
    MemoryUnlimited(NoSandbox),
}

/// Why a mechanism does not confine commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoSandbox {
    /// The settings disable it.
    SwitchedOff,
    /// The kernel has no Landlock, or one that is too old.
    NoLandlock,
    /// This path must be hidden, and is below a folder that commands may write.
    Exposed(PathBuf),
    /// This program does not supervise its commands.
    Unsupervised,
    /// There are no control groups.
    NoControlGroups,
    /// This user has no permission to create control groups that limit memory.
    NotPermitted,
    /// The system refuses it with this error.
    Failed(String),
}
