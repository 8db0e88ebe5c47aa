//! Merges three versions of a path: kind, mode and bytes separately (spec `rewind.md`, *Plan*).

use super::record::{ContentHash, Record};

/// Merges the bytes of files. Core knows only their hashes.
pub trait MergeBytes {
    /// The bytes with the changes of both `ours` and `theirs` to `base`; `None` if both changed the same place, or if they are no
    /// text.
    fn merge(
        &mut self,
        base: ContentHash,
        ours: ContentHash,
        theirs: ContentHash,
    ) -> Option<(ContentHash, u64)>;
    /// The bytes with all of `ours`, and the changes of `theirs` to lines of `base` that `ours` did not change; without `theirs`,
    /// all lines of `base` are removed. `None` if they are no text.
    fn over(
        &mut self,
        base: ContentHash,
        ours: ContentHash,
        theirs: Option<ContentHash>,
    ) -> Option<(ContentHash, u64)>;
    /// The bytes of `theirs` without the lines that it only added to `base` where `ours` wrote too: those that [`Self::over`]
    /// does not add. `None` if they are no text.
    fn beside(
        &mut self,
        base: ContentHash,
        ours: ContentHash,
        theirs: ContentHash,
    ) -> Option<(ContentHash, u64)>;
    /// The bytes of `before` with only these hunks (from 1) of the change to `after`.
    fn part(
        &mut self,
        before: ContentHash,
        after: ContentHash,
        hunks: &[u32],
    ) -> Result<(ContentHash, u64), NoSuchHunks>;
}

/// Why bytes do not have the requested hunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSuchHunks {
    /// They are no text, or too large to compare.
    #[error("it is not text, or it is too large, so it has no hunks")]
    NoText,
    /// There are only this many.
    #[error("it has {} hunk{}", .0, match .0 { 1 => "", _ => "s" })]
    Only(u32),
}

/// Why two versions cannot be merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Clash {
    /// Both changed the same place of the bytes (case 17).
    Bytes,
    /// Both changed the permission bits.
    Mode,
    /// One is a file, the other a link or a folder.
    Kind,
    /// Somebody removed it (case 18).
    Removed,
    /// Somebody created something there (case 18).
    Made,
    /// Its parent is no folder any more.
    Parent,
    /// A folder is in its place whose content cannot be removed completely.
    Sealed,
}

/// A version with the changes of both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The version; `None` if the path is absent.
    pub record: Option<Record>,
    /// Whether both sides had changes.
    pub mixed: bool,
}

impl Merged {
    fn one_side(record: Option<&Record>) -> Self {
        Self { record: record.cloned(), mixed: false }
    }
}

/// Merges: applies the change from `base` to `theirs` to `ours`.
pub fn merge(
    base: Option<&Record>,
    ours: Option<&Record>,
    theirs: Option<&Record>,
    bytes: &mut dyn MergeBytes,
) -> Result<Merged, Clash> {
    if ours == base || ours == theirs {
        return Ok(Merged::one_side(theirs));
    }
    if theirs == base {
        return Ok(Merged::one_side(ours));
    }
    match (base, ours, theirs) {
        (
            Some(Record::File { hash: base, mode: base_mode, .. }),
            Some(Record::File { hash: ours, len: our_len, mode: our_mode }),
            Some(Record::File { hash: theirs, len: their_len, mode: their_mode }),
        ) => {
            let mode = pick(base_mode, our_mode, their_mode).ok_or(Clash::Mode)?;
            let (hash, len) = match pick(base, ours, theirs) {
                Some(hash) => (hash, if hash == *ours { *our_len } else { *their_len }),
                None => bytes.merge(*base, *ours, *theirs).ok_or(Clash::Bytes)?,
            };
            Ok(Merged { record: Some(Record::File { hash, len, mode }), mixed: true })
        }
        (_, None, Some(_)) => Err(Clash::Removed),
        (None, Some(_), _) => Err(Clash::Made),
        (Some(Record::Folder { .. }), Some(Record::Folder { .. }), Some(Record::Folder { .. })) => {
            Err(Clash::Mode)
        }
        (Some(_), Some(ours), theirs) => match theirs {
            Some(theirs) if kind(ours) != kind(theirs) => Err(Clash::Kind),
            _ => Err(Clash::Bytes),
        },
        (_, None, None) => Ok(Merged::one_side(theirs)),
    }
}

/// Merges as far as possible: in a place that both changed, `ours` stays. There is a clash only if `theirs` is no file or folder
/// any more and `ours` has a part of `base` that would be lost.
pub(super) fn merge_over(
    base: Option<&Record>,
    ours: Option<&Record>,
    theirs: Option<&Record>,
    bytes: &mut dyn MergeBytes,
) -> Result<Option<Record>, Clash> {
    let clash = match merge(base, ours, theirs, bytes) {
        Ok(merged) => return Ok(merged.record),
        Err(clash) => clash,
    };
    match (base, ours, theirs) {
        (
            Some(Record::File { hash: base, mode: base_mode, .. }),
            Some(Record::File { hash: our_hash, len, mode: our_mode }),
            Some(Record::File { hash: theirs, mode: their_mode, .. }),
        ) => {
            let (hash, len) = bytes.over(*base, *our_hash, Some(*theirs)).unwrap_or((*our_hash, *len));
            let mode = pick(base_mode, our_mode, their_mode).unwrap_or(*our_mode);
            Ok(Some(Record::File { hash, len, mode }))
        }
        (Some(Record::File { hash: base, .. }), Some(Record::File { hash, .. }), _) => {
            match bytes.over(*base, *hash, None) {
                Some((left, _)) if left != *hash => Err(clash),
                _ => Ok(ours.cloned()),
            }
        }
        (
            Some(Record::Folder { .. }),
            Some(Record::Folder { .. }),
            None | Some(Record::Link { .. } | Record::File { .. }),
        ) => Err(clash),
        _ => Ok(ours.cloned()),
    }
}

/// The value that one side changed; `None` if both changed it differently.
fn pick<T: PartialEq + Copy>(base: &T, ours: &T, theirs: &T) -> Option<T> {
    if ours == base || ours == theirs {
        Some(*theirs)
    } else if theirs == base {
        Some(*ours)
    } else {
        None
    }
}

fn kind(record: &Record) -> std::mem::Discriminant<Record> {
    std::mem::discriminant(record)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// Bytes that always merge to this, or never; they have no hunks.
    struct Bytes(Option<(ContentHash, u64)>);

    impl MergeBytes for Bytes {
        fn merge(&mut self, _: ContentHash, _: ContentHash, _: ContentHash) -> Option<(ContentHash, u64)> {
            self.0
        }

        fn over(
            &mut self,
            _: ContentHash,
            _: ContentHash,
            _: Option<ContentHash>,
        ) -> Option<(ContentHash, u64)> {
            self.0
        }

        fn beside(&mut self, _: ContentHash, _: ContentHash, _: ContentHash) -> Option<(ContentHash, u64)> {
            None
        }

        fn part(
            &mut self,
            _: ContentHash,
            _: ContentHash,
            _: &[u32],
        ) -> Result<(ContentHash, u64), NoSuchHunks> {
            Err(NoSuchHunks::NoText)
        }
    }

    /// Bytes that never merge, and whose rest is nines.
    struct Over;

    impl MergeBytes for Over {
        fn merge(&mut self, _: ContentHash, _: ContentHash, _: ContentHash) -> Option<(ContentHash, u64)> {
            None
        }

        fn over(
            &mut self,
            base: ContentHash,
            ours: ContentHash,
            theirs: Option<ContentHash>,
        ) -> Option<(ContentHash, u64)> {
            { NINES }.over(base, ours, theirs)
        }

        fn beside(&mut self, _: ContentHash, _: ContentHash, _: ContentHash) -> Option<(ContentHash, u64)> {
            None
        }

        fn part(
            &mut self,
            before: ContentHash,
            after: ContentHash,
            hunks: &[u32],
        ) -> Result<(ContentHash, u64), NoSuchHunks> {
            { NINES }.part(before, after, hunks)
        }
    }

    const NEVER: Bytes = Bytes(None);
    const NINES: Bytes = Bytes(Some((ContentHash([9; 32]), 99)));

    fn file(byte: u8, mode: u16) -> Record {
        Record::File { hash: ContentHash([byte; 32]), len: byte.into(), mode }
    }

    #[test]
    fn change_of_one_side_alone_is_taken_unchanged() {
        let (a, b) = (file(1, 0o644), file(2, 0o600));
        for (base, ours, theirs, expected) in [
            (Some(&a), Some(&a), Some(&b), Some(&b)),
            (Some(&a), Some(&b), Some(&a), Some(&b)),
            (Some(&a), Some(&b), Some(&b), Some(&b)),
            (Some(&a), None, None, None),
            (Some(&a), None, Some(&a), None),
            (None, None, Some(&a), Some(&a)),
            (None, Some(&a), Some(&a), Some(&a)),
            (Some(&a), Some(&a), None, None),
        ] {
            let merged = merge(base, ours, theirs, &mut { NEVER }).unwrap();
            assert_eq!((merged.record.as_ref(), merged.mixed), (expected, false));
        }
    }

    #[test]
    fn mode_and_bytes_merge_apart() {
        let merged =
            merge(Some(&file(1, 0o644)), Some(&file(2, 0o644)), Some(&file(1, 0o755)), &mut { NEVER });
        assert_eq!(merged.unwrap(), Merged { record: Some(file(2, 0o755)), mixed: true });
        let merged =
            merge(Some(&file(1, 0o644)), Some(&file(2, 0o644)), Some(&file(3, 0o755)), &mut { NINES });
        let both = Record::File { hash: ContentHash([9; 32]), len: 99, mode: 0o755 };
        assert_eq!(merged.unwrap(), Merged { record: Some(both), mixed: true });
    }

    #[test]
    fn merge_conflict_names_what_clashes() {
        let (a, b, c) = (file(1, 0o644), file(2, 0o644), file(3, 0o644));
        let link = Record::Link { target: Arc::from(b"x".as_slice()) };
        for (base, ours, theirs, clash) in [
            (Some(&a), Some(&b), Some(&c), Clash::Bytes),
            (Some(&a), Some(&file(1, 0o600)), Some(&file(1, 0o755)), Clash::Mode),
            (Some(&a), None, Some(&b), Clash::Removed),
            (None, Some(&a), Some(&b), Clash::Made),
            (None, Some(&a), None, Clash::Made),
            (Some(&a), Some(&link), Some(&b), Clash::Kind),
            (Some(&a), Some(&b), None, Clash::Bytes),
        ] {
            let refused = merge(base, ours, theirs, &mut { NEVER });
            // There is no change from nothing to nothing.
            let expected = if base.is_none() && theirs.is_none() { None } else { Some(clash) };
            assert_eq!(refused.err(), expected, "{base:?} {ours:?} {theirs:?}");
        }
    }

    #[test]
    fn trial_06_a_merge_that_goes_as_far_as_it_can_keeps_ours_in_the_same_place() {
        let (a, b, c) = (file(1, 0o644), file(2, 0o644), file(3, 0o644));
        let nines = |mode| Record::File { hash: ContentHash([9; 32]), len: 99, mode };
        let link = Record::Link { target: Arc::from(b"x".as_slice()) };
        for (base, ours, theirs, expected) in [
            (Some(&a), Some(&b), Some(&c), Ok(Some(nines(0o644)))),
            (Some(&a), Some(&file(2, 0o755)), Some(&file(3, 0o600)), Ok(Some(nines(0o755)))),
            // A part of the created content is left, and none of it.
            (Some(&a), Some(&b), None, Err(Clash::Bytes)),
            (Some(&a), Some(&nines(0o644)), None, Ok(Some(nines(0o644)))),
            // Something else in its place.
            (Some(&a), Some(&link), Some(&c), Ok(Some(link.clone()))),
            (None, Some(&b), Some(&a), Ok(Some(b.clone()))),
            (Some(&a), None, Some(&c), Ok(None)),
        ] {
            let merged = merge_over(base, ours, theirs, &mut Over);
            assert_eq!(merged, expected, "{base:?} {ours:?} {theirs:?}");
        }
        let refused = merge_over(Some(&a), Some(&b), Some(&c), &mut { NEVER });
        assert_eq!(refused, Ok(Some(b)), "what is no text is one place");
    }
}
