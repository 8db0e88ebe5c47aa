//! What is measured of every program that stores files.

/// Stores the content of a folder, and restores it.
pub(super) trait SnapshotProgram {
    /// Starts with an empty store.
    fn fresh(&mut self) -> anyhow::Result<()>;
    /// Takes a snapshot.
    fn snapshot(&mut self) -> anyhow::Result<()>;
    /// The part of a restore that is not measured.
    fn before_restore(&mut self) -> anyhow::Result<()>;
    /// Restores the files to the state before the last snapshot that found a change.
    fn restore(&mut self) -> anyhow::Result<()>;
    /// Bytes of the store on the disk.
    fn usage(&self) -> anyhow::Result<u64>;
}
