//! The findings of a capture, and their encoding: versioned bytes that a golden test pins.

use retake_core::FilePath;
use retake_core::{FileChange, UncoveredReason};

use super::bytes::{Reader, Writer};
use super::coverage::CoverageChange;

/// The changes since the last capture, sorted by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Changes of paths that were covered on both sides.
    pub changes: Vec<FileChange>,
    /// Changes of paths that were unknown for a while: they happened at some time since an earlier capture than the
    /// last, so the call is not known.
    pub late: Vec<FileChange>,
    /// Paths whose coverage changed, only the outermost folder. Their content is not reported.
    pub coverage: Vec<(FilePath, CoverageChange)>,
}

/// The version of the bytes.
const VERSION: u8 = 1;
const GAINED: u8 = 0xff;

impl Findings {
    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.late.is_empty() && self.coverage.is_empty()
    }

    pub(crate) fn sort(&mut self) {
        self.changes.sort_by(|a, b| a.path.cmp(&b.path));
        self.late.sort_by(|a, b| a.path.cmp(&b.path));
        self.coverage.sort_by(|a, b| a.0.cmp(&b.0));
    }

    /// The findings as bytes, to be stored as an object.
    pub fn encode(&self) -> Vec<u8> {
        let mut to = Writer(vec![VERSION]);
        for changes in [&self.changes, &self.late] {
            to.number(changes.len() as u64);
            let mut last = Vec::new();
            for change in changes {
                to.path(&change.path, &mut last);
                to.record(change.before.as_ref());
                to.record(change.after.as_ref());
            }
        }
        to.number(self.coverage.len() as u64);
        let mut last = Vec::new();
        for (path, change) in &self.coverage {
            to.path(path, &mut last);
            to.byte(match change {
                CoverageChange::Gained => GAINED,
                CoverageChange::Lost(why) => why.code(),
            });
        }
        to.0
    }

    /// The findings in these bytes; `None` if they are damaged, or of an unknown version.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut from = Reader(bytes);
        if from.byte()? != VERSION {
            return None;
        }
        let mut lists = [Vec::new(), Vec::new()];
        for list in &mut lists {
            let mut last = Vec::new();
            for _ in 0..from.count()? {
                let path = from.path(&mut last)?;
                list.push(FileChange { path, before: from.record()?, after: from.record()? });
            }
        }
        let mut coverage = Vec::new();
        let mut last = Vec::new();
        for _ in 0..from.count()? {
            let path = from.path(&mut last)?;
            coverage.push((
                path,
                match from.byte()? {
                    GAINED => CoverageChange::Gained,
                    code => CoverageChange::Lost(UncoveredReason::of_code(code)?),
                },
            ));
        }
        let [changes, late] = lists;
        from.0.is_empty().then_some(Self { changes, late, coverage })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retake_core::{ContentHash, Record};

    fn sample() -> Findings {
        let path = |path: &[u8]| FilePath::new(path).unwrap();
        let file = Record::File { hash: ContentHash([7; 32]), len: 300, mode: 0o644 };
        let link = Record::Link { target: b"to\xff".as_slice().into() };
        let folder = Record::Folder { mode: 0o755 };
        let change = |at: &[u8], before, after| FileChange { path: path(at), before, after };
        Findings {
            changes: vec![
                change(b"src", None, Some(folder.clone())),
                change(b"src/a.rs", Some(file.clone()), Some(link)),
                change(b"src/b.rs", Some(file), None),
            ],
            late: vec![change(b"z", Some(folder), None)],
            coverage: vec![
                (path(b"data"), CoverageChange::Gained),
                (path(b"data/big"), CoverageChange::Lost(UncoveredReason::TooLarge)),
            ],
        }
    }

    /// Stored bytes must stay readable for ever: if this fails, the version must change, and the old one must still
    /// be read.
    #[test]
    fn the_bytes_are_pinned() {
        let sevens = "07".repeat(32);
        let golden = [
            "01",
            "03",
            "00037372630003ed03",
            &format!("03052f612e7273 01{sevens}ac02a403 0203746fff").replace(' ', ""),
            &format!("0404622e7273 01{sevens}ac02a403 00").replace(' ', ""),
            "01",
            "00017a03ed0300",
            "02",
            "000464617461ff",
            "04042f62696707",
        ]
        .concat();
        let bytes = sample().encode();
        assert_eq!(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>(), golden);
        assert_eq!(Findings::decode(&bytes), Some(sample()));
    }

    #[test]
    fn truncated_findings_are_refused() {
        let bytes = sample().encode();
        for len in 0..bytes.len() {
            assert_eq!(Findings::decode(&bytes[..len]), None, "{len} bytes");
        }
        assert_eq!(Findings::decode(&[bytes.as_slice(), b"x"].concat()), None);
        assert_eq!(Findings::decode(&[&[VERSION + 1], &bytes[1..]].concat()), None);
    }
}
