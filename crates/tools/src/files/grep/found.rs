//! The limited result of a search, for the model.

use std::fmt::Write;
use std::io;

use grep_searcher::{Searcher, Sink, SinkContext, SinkFinish, SinkMatch};

use super::Show;
use crate::files::text;
use crate::files::walk::WalkOmissions;

/// The most lines that are shown, context included.
const MOST_LINES: usize = 500;
/// The most bytes that are shown.
const MOST_BYTES: usize = 50_000;
/// The most bytes of a line that are shown.
const WIDTH: usize = 500;

/// The matches in all files.
pub(super) struct FoundMatches {
    show: Show,
    shown: String,
    lines: usize,
    /// Whether the limit is reached.
    pub(super) full: bool,
}

/// The matches in a file.
pub(super) struct InFile {
    show: Show,
    shown: String,
    lines: usize,
    fits: usize,
    lines_left: usize,
    bytes_left: usize,
    full: bool,
    binary: bool,
}

impl FoundMatches {
    pub(super) fn new(show: Show) -> Self {
        Self { show, shown: String::new(), lines: 0, full: false }
    }

    /// Adds the matches of a file; nothing if it is binary.
    pub(super) fn take(&mut self, name: String, file: InFile) {
        if file.fits == 0 || file.binary {
            return;
        }
        let next = match self.show {
            Show::Files => format!("{name}\n"),
            Show::Count => format!("{name}: {}\n", file.fits),
            Show::Lines => {
                let apart = if self.shown.is_empty() { "" } else { "\n" };
                format!("{apart}{name}\n{}", file.shown)
            }
        };
        self.full = file.full || self.shown.len() + next.len() > MOST_BYTES;
        self.lines += file.lines.max(1);
        self.shown.push_str(&next);
        self.full |= self.lines >= MOST_LINES;
    }

    /// The result for the model.
    pub(super) fn said(mut self, missed: WalkOmissions) -> String {
        if self.shown.is_empty() && !missed.stopped {
            self.shown.push_str("[No line matches.]\n");
        }
        if self.full {
            self.shown
                .push_str("[There may be more: narrow the pattern, `path` or `glob`, or show `files`.]\n");
        }
        self.shown.push_str(&missed.said());
        self.shown
    }
}

impl InFile {
    pub(super) fn new(found: &FoundMatches) -> Self {
        Self {
            show: found.show,
            shown: String::new(),
            lines: 0,
            fits: 0,
            lines_left: MOST_LINES.saturating_sub(found.lines),
            bytes_left: MOST_BYTES.saturating_sub(found.shown.len()),
            full: false,
            binary: false,
        }
    }

    /// Shows a line, if there is room; returns whether to continue.
    fn line(&mut self, number: Option<u64>, mark: char, line: &[u8]) -> bool {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = text::cut(line.strip_suffix(b"\r").unwrap_or(line), WIDTH);
        self.full = self.lines == self.lines_left || self.shown.len() + line.len() > self.bytes_left;
        if !self.full {
            // It cannot fail on a string.
            let _ = writeln!(self.shown, "{}{mark} {line}", number.unwrap_or_default());
            self.lines += 1;
        }
        !self.full
    }
}

impl Sink for InFile {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.fits += 1;
        Ok(match self.show {
            Show::Lines => self.line(found.line_number(), ':', found.bytes()),
            Show::Files => false,
            Show::Count => true,
        })
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let lines = self.show == Show::Lines;
        Ok(!lines || self.line(context.line_number(), '-', context.bytes()))
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        if self.show == Show::Lines {
            self.shown.push_str("--\n");
        }
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.binary = finish.binary_byte_offset().is_some();
        Ok(())
    }
}
