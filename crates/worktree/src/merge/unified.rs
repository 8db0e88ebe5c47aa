//! A diff of two versions of a path, for people and for programs: text as a unified diff for `patch` and `git apply`,
//! everything else as remarks. File contents are unchanged: a caller that prints them on a terminal must escape them
//! first.

use std::fmt;

use retake_core::{DiffHunks, FilePath, Record};

use super::hunks::{Hunk, Hunks, Line};
use super::lines::MAX_TEXT;
use super::lines::is_text;

/// The longest diff that is shown, in bytes.
pub const MAX_SHOWN: usize = 1 << 20;

/// A version of a path.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// Its path.
    pub path: &'a FilePath,
    /// Its record; `None` if it is absent.
    pub record: Option<&'a Record>,
    /// The bytes of a file; `None` for other kinds, or if it is larger than [`MAX_TEXT`](super::MAX_TEXT) and was not
    /// read.
    pub bytes: Option<&'a [u8]>,
}

/// The difference of two versions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// Remarks, in this order.
    pub remarks: Vec<Remark>,
    /// The number of lines; `None` if they are not counted: no text, or too large to compare.
    pub counts: Option<LineCounts>,
    /// The number of hunks, shown or not; 0 if they are not counted.
    pub hunks: usize,
    /// The unified diff with its paths; empty if no line differs, or if it cannot be shown.
    pub text: Vec<u8>,
}

/// The number of lines that a diff adds and removes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineCounts {
    /// Only in the version after.
    pub added: usize,
    /// Only in the version before.
    pub removed: usize,
}

/// A remark of a diff. `Display` gives its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// It exists only after.
    Made(Record),
    /// It exists only before.
    Removed(Record),
    /// It was renamed.
    Renamed {
        /// The old name.
        before: FilePath,
        /// The new name.
        after: FilePath,
    },
    /// Its kind changed.
    Kind {
        /// The old version.
        before: Record,
        /// The new version.
        after: Record,
    },
    /// Its permission bits changed.
    Mode {
        /// The old ones.
        before: u16,
        /// The new ones.
        after: u16,
    },
    /// The link's target changed.
    Target {
        /// The old target.
        before: Vec<u8>,
        /// The new target.
        after: Vec<u8>,
    },
    /// The bytes differ, and are not text.
    Binary {
        /// The old size; `None` if there was no file.
        before: Option<u64>,
        /// The new size; `None` if there is no file.
        after: Option<u64>,
    },
    /// The bytes differ, and are too many, or have too many lines, to compare or show.
    TooLarge {
        /// The old size; `None` if there was no file.
        before: Option<u64>,
        /// The new size; `None` if there is no file.
        after: Option<u64>,
    },
}

/// The diff of two versions. The work is limited: a remark names what is too large to compare or show.
pub fn unified(before: Side<'_>, after: Side<'_>, shown: &DiffHunks) -> Diff {
    let mut diff = Diff { remarks: remarks(before, after), ..Diff::default() };
    if same_bytes(before.record, after.record) {
        return diff;
    }
    let sizes = (size(before.record), size(after.record));
    let texts = content(before).zip(content(after));
    let too_large = Remark::TooLarge { before: sizes.0, after: sizes.1 };
    let Some((old, new)) = texts.filter(|(old, new)| old.len().max(new.len()) <= MAX_TEXT) else {
        diff.remarks.push(too_large);
        return diff;
    };
    if !is_text(old) || !is_text(new) {
        diff.remarks.push(Remark::Binary { before: sizes.0, after: sizes.1 });
        return diff;
    }
    let Some(hunks) = Hunks::between(old, new) else {
        diff.remarks.push(too_large);
        return diff;
    };
    let listed = listed(&hunks, shown);
    let (added, removed) = Hunks::counts(&listed);
    diff.counts = Some(LineCounts { added, removed });
    diff.hunks = hunks.list().len();
    match text(before, after, (&hunks, &listed), shown) {
        Some(text) => diff.text = text,
        None => diff.remarks.push(too_large),
    }
    diff
}

impl Diff {
    /// The remarks, one on each line, and then the unified diff.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for remark in &self.remarks {
            bytes.extend_from_slice(format!("{remark}\n").as_bytes());
        }
        bytes.extend_from_slice(&self.text);
        bytes
    }
}

/// The remarks about two versions, without their bytes.
fn remarks(before: Side<'_>, after: Side<'_>) -> Vec<Remark> {
    let mut remarks = Vec::new();
    if before.path != after.path && before.record.is_some() && after.record.is_some() {
        remarks.push(Remark::Renamed { before: before.path.clone(), after: after.path.clone() });
    }
    match (before.record, after.record) {
        (None, None) => {}
        (None, Some(after)) => remarks.push(Remark::Made(after.clone())),
        (Some(before), None) => remarks.push(Remark::Removed(before.clone())),
        (Some(Record::Link { target: before }), Some(Record::Link { target: after })) => {
            if before != after {
                remarks.push(Remark::Target { before: before.to_vec(), after: after.to_vec() });
            }
        }
        (Some(Record::File { mode: before, .. }), Some(Record::File { mode: after, .. }))
        | (Some(Record::Folder { mode: before }), Some(Record::Folder { mode: after })) => {
            if before != after {
                remarks.push(Remark::Mode { before: *before, after: *after });
            }
        }
        (Some(before), Some(after)) => {
            remarks.push(Remark::Kind { before: before.clone(), after: after.clone() });
        }
    }
    remarks
}

/// Whether the bytes of a file are equal in both.
fn same_bytes(before: Option<&Record>, after: Option<&Record>) -> bool {
    before.and_then(Record::hash) == after.and_then(Record::hash)
}

/// The length of a file.
fn size(record: Option<&Record>) -> Option<u64> {
    match record {
        Some(Record::File { len, .. }) => Some(*len),
        _ => None,
    }
}

/// The bytes to compare: empty without a file, `None` if they were not read.
fn content<'a>(side: Side<'a>) -> Option<&'a [u8]> {
    if size(side.record).is_some() { side.bytes } else { Some(b"") }
}

/// The hunks to show. A hunk that is left out does not move the lines below it.
fn listed(hunks: &Hunks<'_>, shown: &DiffHunks) -> Vec<Hunk> {
    let DiffHunks::Only(numbers) = shown else {
        return hunks.list().to_vec();
    };
    let (mut added, mut removed) = (0, 0);
    let mut listed = Vec::new();
    for hunk in hunks.list() {
        if numbers.contains(&hunk.number) {
            let after = |line| line + removed - added;
            let mut shown = hunk.clone();
            shown.after = after(hunk.after.start)..after(hunk.after.end);
            listed.push(shown);
        } else {
            added += hunk.after.len();
            removed += hunk.before.len();
        }
    }
    listed
}

/// The unified diff, unless it is too long to show.
fn text(
    before: Side<'_>,
    after: Side<'_>,
    (hunks, listed): (&Hunks<'_>, &[Hunk]),
    shown: &DiffHunks,
) -> Option<Vec<u8>> {
    if listed.is_empty() {
        return Some(Vec::new());
    }
    let all = hunks.list().len();
    let numbered = all > 1 && *shown != DiffHunks::All;
    let mut text = Vec::new();
    text.extend_from_slice(&name(b"--- ", b"a/", before));
    text.extend_from_slice(&name(b"+++ ", b"b/", after));
    for hunk in listed {
        let (old, new) = (range(&hunk.before), range(&hunk.after));
        let number = if numbered { format!(" hunk {} of {all}", hunk.number) } else { String::new() };
        text.extend_from_slice(format!("@@ -{old} +{new} @@{number}\n").as_bytes());
        push_lines(&mut text, hunk, hunks);
        if text.len() > MAX_SHOWN {
            return None;
        }
    }
    Some(text)
}

/// Lines of a hunk, each with its sign.
fn push_lines(text: &mut Vec<u8>, hunk: &Hunk, hunks: &Hunks<'_>) {
    for line in hunks.lines(hunk) {
        let (sign, line) = match line {
            Line::Same(line) => (b' ', line),
            Line::Removed(line) => (b'-', line),
            Line::Added(line) => (b'+', line),
        };
        text.push(sign);
        text.extend_from_slice(line);
        if !line.ends_with(b"\n") {
            text.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
    }
}

/// The line with the name of a version. An ambiguous name is quoted as in git.
fn name(sign: &[u8], prefix: &[u8], side: Side<'_>) -> Vec<u8> {
    let path = side.path.as_bytes();
    let special = |byte: &u8| byte.is_ascii_control() || matches!(byte, b'"' | b'\\');
    let path = match size(side.record) {
        None => b"/dev/null".to_vec(),
        Some(_) if path.iter().any(special) => [b"\"", prefix, &quoted(path), b"\""].concat(),
        Some(_) => [prefix, path].concat(),
    };
    [sign, &path, b"\n"].concat()
}

/// A name with special characters escaped as in C.
fn quoted(path: &[u8]) -> Vec<u8> {
    let mut quoted = Vec::new();
    for byte in path {
        match byte {
            b'"' | b'\\' => quoted.extend_from_slice(&[b'\\', *byte]),
            byte if byte.is_ascii_control() => quoted.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
            byte => quoted.push(*byte),
        }
    }
    quoted
}

/// A range of lines in the form of a unified diff: the first line from 1 and the number; for an empty range, the line
/// before it.
fn range(lines: &std::ops::Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => (lines.start + 1).to_string(),
        len => format!("{},{len}", lines.start + 1),
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Made(record) => write!(f, "new {}", Words(record)),
            Self::Removed(record) => write!(f, "removed {}", Words(record)),
            Self::Renamed { before, after } => write!(f, "renamed from {before} to {after}"),
            Self::Kind { before, after } => write!(f, "{} became {}", Words(before), Words(after)),
            Self::Mode { before, after } => write!(f, "mode {before:03o} became {after:03o}"),
            Self::Target { before, after } => {
                write!(f, "link to {} became link to {}", Target(before), Target(after))
            }
            Self::Binary { before, after } => write!(f, "binary, {}", Sizes(*before, *after)),
            Self::TooLarge { before, after } => write!(f, "too large to show, {}", Sizes(*before, *after)),
        }
    }
}

/// A record in words.
struct Words<'a>(&'a Record);

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Record::File { mode, .. } => write!(f, "file, mode {mode:03o}"),
            Record::Link { target } => write!(f, "link to {}", Target(target)),
            Record::Folder { mode } => write!(f, "folder, mode {mode:03o}"),
        }
    }
}

/// A link's target in quotes: it may contain any bytes.
struct Target<'a>(&'a [u8]);

impl fmt::Display for Target<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(self.0))
    }
}

/// The sizes before and after, if there was or is a file.
struct Sizes(Option<u64>, Option<u64>);

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0, self.1) {
            (Some(before), Some(after)) => write!(f, "{before} bytes became {after} bytes"),
            (Some(bytes), None) | (None, Some(bytes)) => write!(f, "{bytes} bytes"),
            (None, None) => write!(f, "no bytes"),
        }
    }
}
