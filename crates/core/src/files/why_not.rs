//! Paths that captures do not cover, with the reason. Must never report one as empty or missing.

use strum::{EnumString, IntoStaticStr, VariantArray};

use super::FilePath;

/// An existing path that is not covered; for a folder, all its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncovered {
    /// The path.
    pub path: FilePath,
    /// The reason.
    pub why: UncoveredReason,
}

/// Why a path is not covered: it is never restored as empty or missing. The order is stored: add at the end only.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, EnumString, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "snake_case")]
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
    /// Its number in stored bytes; never used for another reason.
    pub fn code(self) -> u8 {
        Self::VARIANTS.iter().position(|why| *why == self).expect("BUG: every reason is listed") as u8
    }

    /// The reason with this number.
    pub fn of_code(code: u8) -> Option<Self> {
        Self::VARIANTS.get(usize::from(code)).copied()
    }

    /// Whether it may still be unchanged: its old record is kept, to be compared later.
    pub fn is_unknown(self) -> bool {
        matches!(self, Self::OtherFileSystem | Self::Unstable | Self::Unreadable)
    }

    /// The name used in every format.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The reason with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::UncoveredReason;

    /// Manifests, indexes and findings have these numbers and names.
    #[test]
    fn each_reason_keeps_its_number_and_its_name() {
        let names = [
            "ignored",
            "node_modules",
            "cache_folder",
            "virtual_environment",
            "repository",
            "data_folder",
            "other_file_system",
            "too_large",
            "ignored_and_large",
            "too_deep",
            "special",
            "unstable",
            "unreadable",
            "not_kept",
        ];
        for (code, name) in (0..).zip(names) {
            let reason = UncoveredReason::of_code(code).expect("a reason");
            assert_eq!((reason.code(), reason.name()), (code, name));
            assert_eq!(UncoveredReason::from_name(name), Some(reason));
        }
        assert_eq!(UncoveredReason::of_code(14), None);
    }
}
