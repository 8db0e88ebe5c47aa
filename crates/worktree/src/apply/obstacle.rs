//! Why a path cannot be changed. Values only.

use std::io;

use retake_core::{FilePath, Remedy};
use rustix::io::Errno;
use strum::IntoStaticStr;

/// A path that stopped the apply, with the reason.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {why}")]
pub struct Refusal {
    /// The path.
    pub path: FilePath,
    /// The reason.
    pub why: Obstacle,
}

/// Why a path cannot be changed.
#[derive(Debug, thiserror::Error, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Obstacle {
    /// It is not the version that the plan found.
    #[error("somebody changed it")]
    Changed,
    /// Its folder does not exist, and the plan does not create it.
    #[error("its folder is not there")]
    NoFolder,
    /// A folder that would be replaced has content that the plan does not know.
    #[error("the folder holds other files")]
    NotEmpty,
    /// A folder above it is a link.
    #[error("its folder is a link")]
    #[strum(serialize = "folder_is_link")]
    Linked,
    /// A folder above it is on another device, or was moved away.
    #[error("its folder is not in the workspace's own file system")]
    #[strum(serialize = "other_file_system")]
    Elsewhere,
    /// It is a FIFO, a socket or a device.
    #[error("it is a {0}")]
    #[strum(serialize = "special_file")]
    Strange(&'static str),
    /// It, or its folder, is write-protected.
    #[error("it is write-protected")]
    #[strum(serialize = "write_protected")]
    Protected,
    /// It cannot be read.
    #[error("it can't be read")]
    Unreadable,
    /// Its owner, access list or attributes would be lost.
    #[error("its {0} can't be kept")]
    Attributes(&'static str),
    /// It is a set-uid or set-gid file. The person who set the bit saw the current content, not the new one.
    #[error("its setuid or setgid bit was granted to its current content only")]
    #[strum(serialize = "setuid")]
    RunsAsOwner,
    /// The object store lacks one of its versions.
    #[error("the object store does not hold its bytes")]
    NotStored,
    /// The disk is full, or a quota is reached.
    #[error("there is no room on the disk")]
    #[strum(serialize = "disk_full")]
    Full,
    /// The system failed.
    #[error("the system refused")]
    System(#[source] io::Error),
}

impl Obstacle {
    /// What helps, in the order of the hint for it.
    pub fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::NotStored => vec![Remedy::Doctor],
            _ => Vec::new(),
        }
    }

    /// The name of the obstacle, for programs.
    pub fn name(&self) -> &'static str {
        self.into()
    }

    /// The kind of a special file, or the attribute that would be lost.
    pub fn detail(&self) -> Option<&'static str> {
        match self {
            Self::Strange(what) | Self::Attributes(what) => Some(*what),
            _ => None,
        }
    }

    /// The obstacle for a system error.
    pub(super) fn of(error: io::Error) -> Self {
        match error.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::NOENT | Errno::NOTDIR) => Self::NoFolder,
            Some(Errno::EXIST) => Self::Changed,
            Some(Errno::NOTEMPTY) => Self::NotEmpty,
            Some(Errno::LOOP) => Self::Linked,
            Some(Errno::XDEV) => Self::Elsewhere,
            Some(Errno::ACCESS | Errno::PERM | Errno::ROFS) => Self::Protected,
            Some(Errno::NOSPC | Errno::DQUOT) => Self::Full,
            _ => Self::System(error),
        }
    }

    /// The obstacle for a system error of a move whose folder was reached.
    pub(super) fn of_move(error: io::Error) -> Self {
        match error.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::NOENT | Errno::NOTDIR | Errno::ISDIR | Errno::LOOP | Errno::STALE) => Self::Changed,
            _ => Self::of(error),
        }
    }
}
