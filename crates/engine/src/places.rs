//! Where files for a conversation are looked up: its folder, the folders above it, home, and the settings folder. Reads nothing
//! but names and owners.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use retake_tools::Guarded;

/// The most folders above that are searched.
pub(crate) const MOST_FOLDERS: usize = 64;

/// The folders for the lookup of file names.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The folder of the conversation.
    pub folder: PathBuf,
    /// All folders that it works in.
    pub roots: Vec<PathBuf>,
    /// The person's home folder.
    pub home: Option<PathBuf>,
    /// The folder of the settings.
    pub config: Option<PathBuf>,
    /// Files with secrets.
    pub guarded: Arc<Guarded>,
}

impl Places {
    /// The file with this name: absolute, below home with `~/`, or below the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        match (name.strip_prefix("~/").or((name == "~").then_some("")), &self.home) {
            (Some(below), Some(home)) => home.join(below),
            _ => self.folder.join(Path::new(name)),
        }
    }

    /// The folder and those above it, the nearest first, up to the repository's root, or else to home; and that root. Without
    /// either, only the folder itself: files further up are not meant for it.
    pub(crate) fn folders(&self) -> (Vec<PathBuf>, Option<PathBuf>) {
        let above: Vec<&Path> = self.folder.ancestors().take(MOST_FOLDERS).collect();
        let root = above.iter().position(|folder| folder.join(".git").symlink_metadata().is_ok());
        let home = above.iter().position(|folder| self.home.as_deref() == Some(*folder));
        let last = root.or(home).unwrap_or(0);
        let root = root.map(|root| above[root].to_path_buf());
        (above[..=last].iter().map(|folder| folder.to_path_buf()).collect(), root)
    }

    /// The folder and those above it up to the repository's root, the nearest first; without a repository only the folder.
    pub(crate) fn repository_folders(&self) -> Vec<PathBuf> {
        match self.folders() {
            (folders, Some(_)) => folders,
            (_, None) => vec![self.folder.clone()],
        }
    }

    /// Whether a file above the folder belongs to the person, the system, or the folder's owner; anybody could have put another
    /// one there.
    pub(crate) fn is_trusted(&self, owner: u32) -> bool {
        let is_folders = || self.folder.metadata().is_ok_and(|meta| meta.uid() == owner);
        owner == rustix::process::geteuid().as_raw() || owner == 0 || is_folders()
    }
}
