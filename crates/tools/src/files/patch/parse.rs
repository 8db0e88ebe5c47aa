//! Parses a unified diff. It accepts what models write (wrong counts of lines, no line numbers, empty lines without their
//! space), which existing libraries refuse. An ambiguous line is an error with its number.

use std::borrow::Cow;

/// The change of one file in a patch.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FilePatch<'a> {
    /// The old file; `None` for a new one.
    pub(super) old: Option<Cow<'a, str>>,
    /// The new file; `None` for a removed one.
    pub(super) new: Option<Cow<'a, str>>,
    /// Whether it becomes executable, if the patch sets that.
    pub(super) runs: Option<bool>,
    /// Its changes, from top to bottom.
    pub(super) hunks: Vec<Hunk<'a>>,
}

/// Neighbouring changed lines.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Hunk<'a> {
    /// Its line in the patch, from 1.
    pub(super) line: usize,
    /// The declared first old line.
    pub(super) start: Option<usize>,
    /// Lines of the file somewhere above it, from top to bottom.
    pub(super) anchors: Vec<&'a str>,
    /// Whether it reaches the end of the file.
    pub(super) at_end: bool,
    /// Its lines.
    pub(super) lines: Vec<Line<'a>>,
    /// The declared numbers of old and new lines.
    counts: Option<(usize, usize)>,
}

/// A line of a hunk.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    pub(super) side: Side,
    /// Without its line break.
    pub(super) text: &'a str,
    /// Whether it is the last of its file, without a line break.
    pub(super) unended: bool,
    /// Whether it was empty in the patch, without the space of a context line.
    bare: bool,
}

/// The versions that contain a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Both,
    Old,
    New,
}

const NOWHERE: &str = "/dev/null";

/// Headers of git that are ignored.
const PASSED: [&str; 5] =
    ["index ", "similarity index ", "dissimilarity index ", "old mode ", "deleted file mode "];

impl Side {
    pub(super) fn is_old(self) -> bool {
        self != Self::New
    }

    pub(super) fn is_new(self) -> bool {
        self != Self::Old
    }
}

impl<'a> Line<'a> {
    pub(super) fn new(side: Side, text: &'a str) -> Self {
        Self { side, text, unended: false, bare: false }
    }
}

impl<'a> Hunk<'a> {
    /// An empty one without line numbers, below a line of the file.
    pub(super) fn below(anchor: Option<&'a str>, line: usize) -> Self {
        Self { line, anchors: anchor.into_iter().collect(), ..Self::default() }
    }

    fn many(&self, of: fn(Side) -> bool) -> usize {
        self.lines.iter().filter(|line| of(line.side)).count()
    }

    /// The declared numbers of lines that are still to come.
    fn left(&self) -> Option<(usize, usize)> {
        let (old, new) = self.counts?;
        Some((old.saturating_sub(self.many(Side::is_old)), new.saturating_sub(self.many(Side::is_new))))
    }
}

/// The changes of the patch, file by file.
pub(super) fn parse(patch: &str) -> Result<Vec<FilePatch<'_>>, String> {
    let mut lines: Vec<&str> = patch.split('\n').collect();
    if lines.last() == Some(&"") {
        lines.pop();
    }
    let mut reader = Reader { lines, at: 0 };
    let mut files: Vec<FilePatch<'_>> = Vec::new();
    while let Some(line) = reader.line() {
        if let Some(names) = line.strip_prefix("diff --git ") {
            reader.at += 1;
            files.push(reader.git_file(names)?);
        } else if reader.at_names() {
            files.push(reader.names(FilePatch::default())?);
        } else if line.starts_with("@@") {
            let file = files.last_mut().ok_or_else(|| reader.wrong("a hunk has no file names above it"))?;
            file.hunks.push(reader.hunk()?);
        } else if files.is_empty() || line.is_empty() || line.starts_with("```") {
            reader.at += 1;
        } else if line == "-- " {
            // The signature of a mail ends the patch.
            break;
        } else {
            return Err(reader.wrong("a line of a hunk begins with a space, `-` or `+`"));
        }
    }
    if files.is_empty() {
        return Err("it names no file: a unified diff has lines `--- a/name` and `+++ b/name`".to_owned());
    }
    Ok(files)
}

struct Reader<'a> {
    lines: Vec<&'a str>,
    at: usize,
}

impl<'a> Reader<'a> {
    fn line(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    fn starts(&self, ahead: usize, with: &str) -> bool {
        self.lines.get(self.at + ahead).is_some_and(|line| line.starts_with(with))
    }

    fn wrong(&self, why: &str) -> String {
        format!("line {} of the patch: {why}", self.at + 1)
    }

    fn at_names(&self) -> bool {
        self.starts(0, "--- ") && self.starts(1, "+++ ")
    }

    /// Parses the rest of a line `diff --git`.
    fn git_file(&mut self, names: &'a str) -> Result<FilePatch<'a>, String> {
        let mut file = FilePatch::default();
        let (mut made, mut gone) = (false, false);
        while let Some(line) = self.line() {
            if let Some(name) = line.strip_prefix("rename from ") {
                file.old = Some(unquoted(name));
            } else if let Some(name) = line.strip_prefix("rename to ") {
                file.new = Some(unquoted(name));
            } else if let Some(mode) = line.strip_prefix("new file mode ") {
                (made, file.runs) = (true, self.mode(mode)?);
            } else if let Some(mode) = line.strip_prefix("new mode ") {
                file.runs = self.mode(mode)?;
            } else if line.starts_with("copy ") {
                return Err(self.wrong("copies are not known; make the file with `--- /dev/null`"));
            } else if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
                return Err(self.wrong("only texts can be patched"));
            } else if !PASSED.iter().any(|header| line.starts_with(header)) {
                break;
            }
            gone |= line.starts_with("deleted file mode ");
            self.at += 1;
        }
        if self.at_names() {
            return self.names(file);
        }
        if file.old.is_none() || file.new.is_none() {
            let name = twice(names).ok_or_else(|| self.wrong("the names of the file are missing"))?;
            file.old = (!made).then_some(Cow::Borrowed(name));
            file.new = (!gone).then_some(Cow::Borrowed(name));
        }
        Ok(file)
    }

    fn mode(&self, mode: &str) -> Result<Option<bool>, String> {
        match mode.trim_end() {
            "100644" => Ok(Some(false)),
            "100755" => Ok(Some(true)),
            _ => Err(self.wrong("only files can be patched, no links or submodules")),
        }
    }

    /// The lines `---` and `+++`.
    fn names(&mut self, mut file: FilePatch<'a>) -> Result<FilePatch<'a>, String> {
        let name = |line: &'a str| unquoted(line[4..].split('\t').next().unwrap_or_default().trim_end());
        let (old, new) = (name(self.lines[self.at]), name(self.lines[self.at + 1]));
        let is_git = |name: &str, prefix: &str| name == NOWHERE || name.starts_with(prefix);
        let (old, new) = match is_git(&old, "a/") && is_git(&new, "b/") {
            true => (without_prefix(old), without_prefix(new)),
            false => (old, new),
        };
        if old == NOWHERE && new == NOWHERE {
            return Err(self.wrong("both names are /dev/null"));
        }
        file.old = (old != NOWHERE).then_some(old);
        file.new = (new != NOWHERE).then_some(new);
        self.at += 2;
        Ok(file)
    }

    fn hunk(&mut self) -> Result<Hunk<'a>, String> {
        let head = self.lines[self.at];
        let (start, counts) = ranges(head);
        let mut hunk = Hunk { line: self.at + 1, start, counts, ..Hunk::default() };
        self.at += 1;
        while let Some(line) = self.line() {
            if self.ends(line, &hunk) {
                break;
            }
            let (side, text) = match line.split_at_checked(1) {
                None => (Side::Both, ""),
                Some((" ", text)) => (Side::Both, text),
                Some(("-", text)) => (Side::Old, text),
                Some(("+", text)) => (Side::New, text),
                Some(("\\", _)) => {
                    let last = hunk.lines.last_mut().ok_or_else(|| self.wrong("no line is before this"))?;
                    last.unended = true;
                    self.at += 1;
                    continue;
                }
                // The line between two files that a model leaves empty except for a carriage return.
                Some(("\r", "")) => (Side::Both, "\r"),
                Some(_) => return Err(self.wrong("a line of a hunk begins with a space, `-` or `+`")),
            };
            hunk.lines.push(Line { side, text, unended: false, bare: line.is_empty() });
            self.at += 1;
        }
        // Empty lines at the end belong between two hunks, unless the declared counts include them.
        let (old, _) = hunk.counts.unwrap_or_default();
        while hunk.lines.last().is_some_and(|line| line.bare) && hunk.many(Side::is_old) > old {
            hunk.lines.pop();
        }
        if hunk.lines.iter().all(|line| line.side == Side::Both) {
            return Err(format!("line {} of the patch: the hunk changes nothing", hunk.line));
        }
        Ok(hunk)
    }

    /// Whether this line begins something else.
    fn ends(&self, line: &str, hunk: &Hunk<'_>) -> bool {
        if line.starts_with("@@") || line.starts_with("diff --git ") || line.starts_with("```") {
            return true;
        }
        if self.at_names() {
            // A removed line may begin with `--`, and an added one with `++`: if the declared counts need two more lines,
            // they belong to the hunk.
            return match hunk.left() {
                Some((1, 1)) => false,
                Some((0, 0)) | None => true,
                Some(_) => self.starts(2, "@@"),
            };
        }
        line == "-- " && hunk.left() == Some((0, 0))
    }
}

/// The declared beginning and numbers of lines: `@@ -1,2 +1,3 @@`.
fn ranges(head: &str) -> (Option<usize>, Option<(usize, usize)>) {
    let range = |text: &str, sign: char| {
        let text = text.strip_prefix(sign)?;
        let (start, many) = text.split_once(',').unwrap_or((text, "1"));
        Some((start.parse::<usize>().ok()?, many.parse::<usize>().ok()?))
    };
    let mut words = head.trim_start_matches('@').split_whitespace();
    let mut next = |sign| words.next().and_then(|word| range(word, sign));
    match (next('-'), next('+')) {
        (Some((start, old)), Some((_, new))) => (Some(start), Some((old, new))),
        (old, _) => (old.map(|(start, _)| start), None),
    }
}

/// The name in `a/name b/name`.
fn twice(names: &str) -> Option<&str> {
    let names = names.trim_end();
    let length = names.len().checked_sub("a/ b/".len())? / 2;
    let (first, second) = names.split_at_checked("a/".len() + length)?;
    let (first, second) = (first.strip_prefix("a/")?, second.strip_prefix(" b/")?);
    (first == second).then_some(first)
}

fn without_prefix(name: Cow<'_, str>) -> Cow<'_, str> {
    match name {
        name if name == NOWHERE => name,
        Cow::Borrowed(name) => Cow::Borrowed(&name[2..]),
        Cow::Owned(name) => Cow::Owned(name[2..].to_owned()),
    }
}

/// A name without git's quotes: `"a\303\274.txt"`. Any other name is unchanged.
fn unquoted(name: &str) -> Cow<'_, str> {
    let inner = name.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
    let Some(inner) = inner else { return Cow::Borrowed(name) };
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'r') => bytes.push(b'\r'),
            Some(first @ b'0'..=b'3') => {
                let digits = [Some(first), rest.next(), rest.next()].map(|digit| digit.unwrap_or(b'0') & 7);
                bytes.push(digits[0] << 6 | digits[1] << 3 | digits[2]);
            }
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}
