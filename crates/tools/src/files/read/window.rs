//! A part of a text, line by line, with a limit on memory: even for a line of gigabytes.

use std::fmt::Write;
use std::io::{self, BufRead};

use crate::files::text::{self, LineEnds, MOST_OF_LINE};

/// The most bytes that are shown at once.
const MOST_BYTES: usize = 50_000;

/// Lines of a text.
#[derive(Debug, Default)]
pub(super) struct Window {
    /// The lines with their numbers.
    pub(super) text: String,
    /// The number of the first line.
    first: usize,
    /// The number of its lines.
    pub(super) shown: usize,
    /// The number of lines before it.
    pub(super) passed: usize,
    /// Whether there are more after it.
    more: bool,
}

/// The beginning of a line, and its length.
struct Line {
    head: Vec<u8>,
    length: usize,
}

impl Window {
    /// The lines from `first` on, up to this number.
    pub(super) fn read(
        mut from: impl BufRead,
        first: usize,
        most: usize,
        breaks: LineEnds,
    ) -> io::Result<Self> {
        let mut window = Self { first, ..Self::default() };
        while window.passed + 1 < first {
            if line(&mut from, 0)?.is_none() {
                return Ok(window);
            }
            window.passed += 1;
        }
        while !from.fill_buf()?.is_empty() {
            if window.shown == most {
                window.more = true;
                break;
            }
            let Some(mut line) = line(&mut from, MOST_OF_LINE + 1)? else { break };
            if line.length == line.head.len() && breaks == LineEnds::CrLf && line.head.last() == Some(&b'\r')
            {
                line.head.pop();
                line.length -= 1;
            }
            let cut = text::cut_of(&line.head, line.length, MOST_OF_LINE);
            let shown = format!("{:>6}\t{cut}\n", first + window.shown);
            if window.shown > 0 && window.text.len() + shown.len() > MOST_BYTES {
                window.more = true;
                break;
            }
            window.text.push_str(&shown);
            window.shown += 1;
        }
        Ok(window)
    }

    /// The lines, with a note about what was left out and how to read on.
    pub(super) fn said(&self, total: Option<usize>) -> String {
        let mut said = self.text.clone();
        let last = self.first + self.shown - usize::from(self.shown > 0);
        let of = total.map(|total| format!(" of {total}")).unwrap_or_default();
        // It cannot fail on a string.
        let _ = match (self.shown, self.more) {
            (0, _) => writeln!(said, "[The file is empty.]"),
            (_, true) => writeln!(
                said,
                "[Lines {} to {last}{of} are shown. To read on: offset {}.]",
                self.first,
                last + 1
            ),
            (_, false) if self.first > 1 => writeln!(said, "[Line {last} is the last one.]"),
            _ => Ok(()),
        };
        said
    }
}

/// The next line, up to this length.
fn line(from: &mut impl BufRead, keep: usize) -> io::Result<Option<Line>> {
    let mut line = Line { head: Vec::new(), length: 0 };
    let mut ended = false;
    while !ended {
        let ready = from.fill_buf()?;
        if ready.is_empty() {
            return Ok((line.length > 0).then_some(line));
        }
        let end = memchr::memchr(b'\n', ready);
        let part = &ready[..end.unwrap_or(ready.len())];
        let room = keep - line.head.len();
        line.head.extend_from_slice(&part[..part.len().min(room)]);
        line.length += part.len();
        ended = end.is_some();
        let used = part.len() + usize::from(ended);
        from.consume(used);
    }
    Ok(Some(line))
}
