//! What confines commands on this machine, as facts. Must name what does not hold.

use std::path::PathBuf;

/// A fact about what confines commands on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SandboxFact {
    /// Landlock confines them, and these mechanisms beside it.
    Confined {
        /// A filter of system calls.
        seccomp: bool,
        /// Namespaces of their own.
        namespaces: bool,
    },
    /// Nothing confines them.
    Unconfined(NoSandbox),
    /// The network cannot be closed, nor the sockets of other programs.
    NoSeccomp,
    /// They have no namespaces of their own.
    NoNamespaces(NoSandbox),
    /// For want of namespaces, they have no terminals, reach no Unix sockets, and can change git's hooks and settings.
    NoTerminals,
    /// For want of namespaces, patterns of names hide no files from them.
    PatternsNotHidden,
    /// The kernel is too old to keep their signals from other programs.
    SignalsOpen,
    /// The kernel is too old for them to make Unix sockets.
    UnixSocketsClosed,
    /// Control groups limit their memory and the number of their processes.
    MemoryLimited,
    /// Nothing limits their memory.
    MemoryUnlimited(NoSandbox),
}

/// Why a mechanism does not confine commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoSandbox {
    /// The settings switch it off.
    SwitchedOff,
    /// The kernel has no Landlock, or one that is too old.
    NoLandlock,
    /// This path is to be hidden, and lies below a folder that commands may write.
    Exposed(PathBuf),
    /// This program does not supervise its commands.
    Unsupervised,
    /// There are no control groups.
    NoControlGroups,
    /// This user may not make control groups that limit memory.
    NotPermitted,
    /// The system refuses it, and says this.
    Failed(String),
}
