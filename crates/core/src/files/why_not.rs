//! Paths that captures do not cover, with the reason. Must never report one as empty or missing.

use super::FilePath;

/// An existing path that is not covered; for a folder, all its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncovered {
    /// The path.
    pub path: FilePath,
    /// The reason.
    pub why: UncoveredReason,
}

/// Why a path is not covered: it is never restored as empty or missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum UncoveredReason {
    /// A folder that `.gitignore`, `.ignore` or `.retakeignore` excludes.
    Ignored,
    /// A `node_modules` folder.
    NodeModules,
    /// A folder with a valid `CACHEDIR.TAG`.
    CacheFolder,
    /// A folder with a `pyvenv.cfg`.
    VirtualEnvironment,
    /// A bare git repository.
    Repository,
    /// The folder with Retake's own data.
    DataFolder,
    /// Another file system is mounted there.
    OtherFileSystem,
    /// A file larger than the limit for files.
    TooLarge,
    /// An ignored file larger than the limit for ignored files.
    IgnoredAndLarge,
    /// Its path is longer than the system accepts, or has too many folders.
    TooDeep,
    /// A FIFO, a socket or a device.
    Special,
    /// It changed during each reading.
    Unstable,
    /// It could not be read.
    Unreadable,
    /// Its wanted version is no longer stored.
    NotKept,
}

impl UncoveredReason {
    const ALL: [Self; 14] = [
        Self::Ignored,
        Self::NodeModules,
        Self::CacheFolder,
        Self::VirtualEnvironment,
        Self::Repository,
        Self::DataFolder,
        Self::OtherFileSystem,
        Self::TooLarge,
        Self::IgnoredAndLarge,
        Self::TooDeep,
        Self::Special,
        Self::Unstable,
        Self::Unreadable,
        Self::NotKept,
    ];

    /// Its number in stored bytes; never used for another reason.
    pub fn code(self) -> u8 {
        Self::ALL.iter().position(|why| *why == self).expect("BUG: every reason is listed") as u8
    }

    /// The reason with this number.
    pub fn of_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// Whether it may still be unchanged: its old record is kept, to be compared later.
    pub fn is_unknown(self) -> bool {
        matches!(self, Self::OtherFileSystem | Self::Unstable | Self::Unreadable)
    }

    /// The name used in every format.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ignored => "ignored",
            Self::NodeModules => "node_modules",
            Self::CacheFolder => "cache_folder",
            Self::VirtualEnvironment => "virtual_environment",
            Self::Repository => "repository",
            Self::DataFolder => "data_folder",
            Self::OtherFileSystem => "other_file_system",
            Self::TooLarge => "too_large",
            Self::IgnoredAndLarge => "ignored_and_large",
            Self::TooDeep => "too_deep",
            Self::Special => "special",
            Self::Unstable => "unstable",
            Self::Unreadable => "unreadable",
            Self::NotKept => "not_kept",
        }
    }

    /// The reason with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|why| why.name() == name)
    }
}
