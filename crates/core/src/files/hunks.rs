//! Applies only some hunks of a path's change (spec `rewind.md`, case 37). Hunks are of bytes: the mode stays, and a
//! path that is created, removed or changes its kind has none.

use strum::IntoStaticStr;

use super::file_path::FilePath;
use super::merge::{MergeBytes, NoSuchHunks};
use super::record::Record;

/// A choice of hunks that the path does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("can't choose hunks of {path}: {why}")]
pub struct BadHunks {
    /// The path.
    pub path: FilePath,
    /// The reason.
    pub why: HunkDefect,
}

/// Why a choice of hunks does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum HunkDefect {
    /// The plan does not change it.
    #[error("nothing would be done to it")]
    NotPlanned,
    /// It does not exist now.
    #[error("it comes back as a whole")]
    ComesBack,
    /// It would be removed.
    #[error("it goes as a whole")]
    Goes,
    /// It is a link or a folder, or becomes one.
    #[error("only a file that stays a file has hunks")]
    NoFile,
    /// Its bytes do not change.
    #[error("none of its lines would change")]
    SameBytes,
    /// Its bytes have no such hunks.
    #[error(transparent)]
    Bytes(NoSuchHunks),
}

/// The version of a path with only these hunks of its change.
pub(super) fn part(
    disk: Option<&Record>,
    whole: Option<&Record>,
    hunks: &[u32],
    bytes: &mut dyn MergeBytes,
) -> Result<Record, HunkDefect> {
    match (disk, whole) {
        _ if disk == whole => Err(HunkDefect::SameBytes),
        (None, _) => Err(HunkDefect::ComesBack),
        (_, None) => Err(HunkDefect::Goes),
        (Some(Record::File { hash: before, .. }), Some(Record::File { hash: after, .. }))
            if before == after =>
        {
            Err(HunkDefect::SameBytes)
        }
        (Some(Record::File { hash: before, mode, .. }), Some(Record::File { hash: after, .. })) => {
            let (hash, len) = bytes.part(*before, *after, hunks).map_err(HunkDefect::Bytes)?;
            Ok(Record::File { hash, len, mode: *mode })
        }
        _ => Err(HunkDefect::NoFile),
    }
}

#[cfg(test)]
pub(super) mod tests;
