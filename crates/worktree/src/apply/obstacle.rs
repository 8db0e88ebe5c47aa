//! Why a path can't be changed. Values only.

use std::io;

use retake_core::FilePath;
use rustix::io::Errno;

/// A path, and why it stopped the apply.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {why}")]
pub struct Refusal {
    /// Which path.
    pub path: FilePath,
    /// Why.
    pub why: Obstacle,
}

/// Why a path can't be changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Obstacle {
    /// It is not what the plan found.
    #[error("somebody changed it")]
    Changed,
    /// The folder that it belongs in is not there, and the plan does not make it.
    #[error("its folder is not there")]
    NoFolder,
    /// A folder that something else takes the place of holds what the plan does not know.
    #[error("the folder holds other files")]
    NotEmpty,
    /// A folder on the way to it is a link.
    #[error("its folder is a link")]
    Linked,
    /// A folder on the way to it is another device, or was moved away.
    #[error("its folder is not in the workspace's own file system")]
    Elsewhere,
    /// A FIFO, a socket, a device.
    #[error("it is a {0}")]
    Strange(&'static str),
    /// Its folder, or it, may not be written.
    #[error("it is write-protected")]
    Protected,
    /// It is there and can't be read.
    #[error("it can't be read")]
    Unreadable,
    /// Its owner, access list or attributes would be lost.
    #[error("its {0} can't be kept")]
    Attributes(&'static str),
    /// It runs as its owner or group (setuid, setgid). The person who set the bit saw the current content, not the one
    /// that it would get.
    #[error("its setuid or setgid bit was granted to its current content only")]
    RunsAsOwner,
    /// The object store lacks the bytes of one side.
    #[error("the object store does not hold its bytes")]
    NotStored,
    /// The disk is full, or a quota is used up.
    #[error("there is no room on the disk")]
    Full,
    /// The system failed.
    #[error("the system refused")]
    System(#[source] io::Error),
}

impl Obstacle {
    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Changed | Self::NoFolder | Self::NotEmpty => "make a new plan, it sees what is there now",
            Self::Linked | Self::Elsewhere => "put a real folder there, or leave this path out",
            Self::Strange(_) => "move it away, or leave this path out",
            Self::Protected | Self::Unreadable => "change its permissions, or leave this path out",
            Self::Attributes(_) => "ask its owner, or leave this path out",
            Self::RunsAsOwner => "remove the bit (chmod ug-s), or leave this path out",
            Self::NotStored => "leave this path out; `retake doctor` looks for damage",
            Self::Full => "make room, then try again",
            Self::System(_) => "look at the disk, then try again",
        }
    }

    /// What an error of the system says about a path.
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

    /// What an error of a move says, when its folder was reached.
    pub(super) fn of_move(error: io::Error) -> Self {
        match error.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::NOENT | Errno::NOTDIR | Errno::ISDIR | Errno::LOOP | Errno::STALE) => Self::Changed,
            _ => Self::of(error),
        }
    }
}
