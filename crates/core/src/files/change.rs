//! Changes between two captures.

use super::file_path::FilePath;
use super::record::Record;

/// A path before and after. Both captures covered it; `None` means known to be absent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileChange {
    /// The path.
    pub path: FilePath,
    /// Its version before.
    pub before: Option<Record>,
    /// Its version after.
    pub after: Option<Record>,
}

impl FileChange {
    /// The change that reverts this one.
    #[must_use]
    pub fn inverse(&self) -> Self {
        Self { path: self.path.clone(), before: self.after.clone(), after: self.before.clone() }
    }
}

/// The changes of one folder to show and count, in the order of their paths. A created or removed folder is not shown if
/// something in it is.
pub fn without_full_folders<T>(changes: Vec<T>, change: impl Fn(&T) -> &FileChange) -> Vec<T> {
    let is_folder = |change: &FileChange| {
        let folder = |record: &Option<Record>| matches!(record, Some(Record::Folder { .. }));
        (folder(&change.before) && change.after.is_none())
            || (change.before.is_none() && folder(&change.after))
    };
    // The content of a folder comes right after it.
    let is_told = |at: usize| {
        changes.get(at + 1).is_some_and(|next| change(next).path.is_within(&change(&changes[at]).path))
    };
    let keeps: Vec<bool> =
        (0..changes.len()).map(|at| !(is_folder(change(&changes[at])) && is_told(at))).collect();
    changes.into_iter().zip(keeps).filter_map(|(change, keep)| keep.then_some(change)).collect()
}

/// How certain it is that the agent made a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Grade {
    /// One of our own edit tools made it, known exactly.
    Written,
    /// It happened during one call: presumed to be the agent's.
    Seen,
    /// The author is not known, for this reason: kept unless chosen.
    Ambiguous(Uncertain),
}

impl Grade {
    /// Why the author is not known; `None` if it is known.
    pub fn uncertain(self) -> Option<Uncertain> {
        match self {
            Self::Ambiguous(why) => Some(why),
            Self::Written | Self::Seen => None,
        }
    }

    /// Whether the author is not known.
    pub fn is_ambiguous(self) -> bool {
        self.uncertain().is_some()
    }
}

/// Why the author of a change is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Uncertain {
    /// No reason was recorded: earlier versions stored none.
    Unrecorded,
    /// It was found late, and may have happened at any time.
    Late,
    /// A background job of an earlier call still ran.
    Job,
    /// It happened around an interrupted call: its program was killed or crashed before the call had a result.
    CutOff,
    /// Several calls ran at the same time.
    Several,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_came_or_went_is_told_by_what_is_in_it() {
        let change = |(path, before, after): (&str, char, char)| {
            let record = |kind| match kind {
                'd' => Some(Record::Folder { mode: 0o755 }),
                'f' => Some(Record::Link { target: b"x"[..].into() }),
                _ => None,
            };
            let path = FilePath::new(path.as_bytes()).expect("a path");
            FileChange { path, before: record(before), after: record(after) }
        };
        /// The changes, and the paths to show.
        type Row<'a> = (&'a [(&'a str, char, char)], &'a [&'a str]);
        let rows: [Row<'_>; 8] = [
            (&[], &[]),
            (&[("a", '-', 'd'), ("a/b", '-', 'f')], &["a/b"]),
            (&[("a", 'd', '-'), ("a/b", 'f', '-')], &["a/b"]),
            (&[("a", '-', 'd'), ("b", '-', 'f')], &["a", "b"]),
            (&[("a", '-', 'd')], &["a"]),
            // A path that changed its kind, or only its permissions, is shown.
            (&[("a", 'd', 'f'), ("a/b", 'f', '-')], &["a", "a/b"]),
            (&[("a", 'd', 'd'), ("a/b", 'f', '-')], &["a", "a/b"]),
            (&[("a", 'f', 'd'), ("a/b", '-', 'f')], &["a", "a/b"]),
        ];
        for (changes, told) in rows {
            let changes: Vec<_> = changes.iter().copied().map(change).collect();
            let found = without_full_folders(changes, |change| change);
            let found: Vec<_> = found.iter().map(|change| change.path.to_string()).collect();
            assert_eq!(found, told);
        }
    }

    #[test]
    fn a_file_change_is_taken_back_by_its_opposite() {
        let path = FilePath::new(b"a").expect("a path");
        let change = FileChange { path, before: None, after: Some(Record::Folder { mode: 0o700 }) };
        let inverse = change.inverse();
        assert_eq!((inverse.before.as_ref(), inverse.after.as_ref()), (change.after.as_ref(), None));
        assert!(Grade::Ambiguous(Uncertain::Late).is_ambiguous() && !Grade::Seen.is_ambiguous());
    }
}
