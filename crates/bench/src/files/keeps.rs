//! What is measured of everyone who keeps files.

/// Keeps what is in a folder, and puts it back.
pub(super) trait Keeps {
    /// Begins with an empty store.
    fn fresh(&mut self) -> anyhow::Result<()>;
    /// Takes a snapshot.
    fn snapshot(&mut self) -> anyhow::Result<()>;
    /// What is not measured of a restore.
    fn before_restore(&mut self) -> anyhow::Result<()>;
    /// Puts the files back as they were before the last snapshot that found a change.
    fn restore(&mut self) -> anyhow::Result<()>;
    /// Bytes of the store on the disk.
    fn usage(&self) -> anyhow::Result<u64>;
}
