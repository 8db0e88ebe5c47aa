//! What a capture does not know of, and why.

use retake_core::FilePath;

use super::index::{Index, Place, What, child};

/// Why a path is not covered: it is never restored as empty or missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum WhyNot {
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
    /// The folder that Retake keeps its own data in.
    DataFolder,
    /// Another file system is mounted there.
    OtherFileSystem,
    /// A file over the limit for files.
    TooLarge,
    /// An ignored file over the limit for ignored files.
    IgnoredAndLarge,
    /// Its path is longer than the system takes, or lies in too many folders.
    TooDeep,
    /// A FIFO, a socket or a device.
    Special,
    /// It changed each time that it was read.
    Unstable,
    /// It could not be read.
    Unreadable,
}

impl WhyNot {
    const ALL: [Self; 13] = [
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
    ];

    /// Its number in stored bytes; never given to another one.
    pub(crate) fn code(self) -> u8 {
        Self::ALL.iter().position(|why| *why == self).expect("BUG: every reason is listed") as u8
    }

    pub(crate) fn of_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// Whether what is there may still be what was there: its old record is kept, to be compared with later.
    pub(crate) fn is_unknown(self) -> bool {
        matches!(self, Self::OtherFileSystem | Self::Unstable | Self::Unreadable)
    }
}

impl std::fmt::Display for WhyNot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Ignored => "an ignore file excludes the folder",
            Self::NodeModules => "installed packages",
            Self::CacheFolder => "a cache, by its CACHEDIR.TAG",
            Self::VirtualEnvironment => "a Python environment, by its pyvenv.cfg",
            Self::Repository => "a bare git repository",
            Self::DataFolder => "Retake's own data",
            Self::OtherFileSystem => "another file system",
            Self::TooLarge => "the file is over the limit",
            Self::IgnoredAndLarge => "the file is ignored, and over the limit for ignored files",
            Self::TooDeep => "the path is too long, or lies in more than 256 folders",
            Self::Special => "neither a file, nor a folder, nor a link",
            Self::Unstable => "it changed while it was read",
            Self::Unreadable => "it can't be read",
        })
    }
}

/// A path that is there and not covered; of a folder, all that is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncovered {
    /// Which path.
    pub path: FilePath,
    /// Why it isn't.
    pub why: WhyNot,
}

/// How the coverage of a path, and of all below it, changed. It says nothing about what is there: a path that left
/// coverage was not deleted, one that came into it was not created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CoverageChange {
    /// It is covered from this capture on.
    Gained,
    /// It is not covered any more.
    Lost(WhyNot),
}

/// What an index has as not covered.
pub(crate) fn uncovered(index: &Index) -> Vec<Uncovered> {
    let mut list = Vec::new();
    let mut add = |place: &Place, name: &[u8], what: &What| {
        if let What::Uncovered(why) | What::Unknown(why, _) = what {
            // Of a path that is too long the folder is named.
            let path = child(place.as_ref(), name).or_else(|| place.clone());
            list.extend(path.map(|path| Uncovered { path, why: *why }));
        }
    };
    for (place, folder) in &index.folders {
        for entry in &folder.entries {
            add(place, &entry.name, &entry.what);
        }
    }
    for (path, what) in &index.extras {
        if let Some(what) = what {
            add(&path.parent(), path.name(), what);
        }
    }
    list.retain(|one| index.covers(&one.path.parent()) || index.extras.contains_key(&one.path));
    list.sort_by(|a, b| a.path.cmp(&b.path));
    list.dedup();
    list
}
