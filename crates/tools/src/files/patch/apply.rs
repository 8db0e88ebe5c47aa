//! Applies hunks to a text. Every existing line of a hunk must be there, and in one place only. The line number decides
//! between several places, and may be wrong if there is only one.

use super::parse::{Hunk, Side};
use crate::files::nearest;
use crate::files::text::{self, LineEnds};

/// The content after all hunks.
pub(super) fn apply(name: &str, bytes: &[u8], hunks: &[Hunk<'_>]) -> Result<Vec<u8>, String> {
    let breaks = LineEnds::of(bytes);
    let mut text = Text::of(bytes, breaks);
    let mut after: Vec<&[u8]> = Vec::new();
    let (mut done, mut drift) = (0, 0);
    for (index, hunk) in hunks.iter().enumerate() {
        let old = side(hunk, Side::is_old, breaks);
        let at = place(&text.lines, &old, hunk, done, drift).map_err(|why| {
            let which = format!("hunk {} of `{name}` (line {} of the patch)", index + 1, hunk.line);
            match why {
                HunkMismatch::Missing => {
                    let wanted: Vec<_> = old.iter().map(|line| String::from_utf8_lossy(line)).collect();
                    let missing = format!("{which} does not fit: its old lines are not in the file");
                    nearest::why(&missing, bytes, &wanted.join("\n"))
                }
                HunkMismatch::Many(lines) => format!(
                    "{which} fits in {} (from lines {}), but not where it says: give its line number or more context",
                    text::count(lines.len(), "place"),
                    lines.iter().take(8).map(usize::to_string).collect::<Vec<_>>().join(", "),
                ),
                HunkMismatch::Nowhere => {
                    format!("{which} has no old lines, and does not say at which line to add")
                }
            }
        })?;
        if let Some(said) = said(hunk, &old).filter(|_| !old.is_empty()) {
            drift = at as i64 - said as i64;
        }
        after.extend_from_slice(&text.lines[done..at]);
        after.extend(side(hunk, Side::is_new, breaks));
        done = at + old.len();
        if done == text.lines.len() {
            text.ended = ended(hunk, text.ended);
        }
    }
    after.extend_from_slice(&text.lines[done..]);
    Ok(joined(&after, text.ended, breaks))
}

/// Lines without their line breaks.
struct Text<'a> {
    lines: Vec<&'a [u8]>,
    /// Whether the last one has a break.
    ended: bool,
}

/// Why a hunk does not match.
enum HunkMismatch {
    /// Its lines are not there.
    Missing,
    /// They are in several places, beginning at these lines.
    Many(Vec<usize>),
    /// It has no old lines and no number.
    Nowhere,
}

impl<'a> Text<'a> {
    fn of(bytes: &'a [u8], breaks: LineEnds) -> Self {
        let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        // After the last line break comes nothing, or a line without one.
        let ended = lines.last().is_some_and(|last| last.is_empty());
        if ended {
            lines.pop();
        }
        let lines = lines.into_iter().map(|line| bare(line, breaks)).collect();
        Self { lines, ended }
    }
}

/// A line for comparison: if all lines end with CRLF, the carriage return is left out.
fn bare(line: &[u8], breaks: LineEnds) -> &[u8] {
    match breaks {
        LineEnds::CrLf => line.strip_suffix(b"\r").unwrap_or(line),
        LineEnds::Lf | LineEnds::Mixed => line,
    }
}

fn side<'a>(hunk: &Hunk<'a>, of: fn(Side) -> bool, breaks: LineEnds) -> Vec<&'a [u8]> {
    let lines = hunk.lines.iter().filter(|line| of(line.side));
    lines.map(|line| bare(line.text.as_bytes(), breaks)).collect()
}

/// The number of lines before the hunk, by its own line number.
fn said(hunk: &Hunk<'_>, old: &[&[u8]]) -> Option<usize> {
    // Without old lines, the number is that of the line before.
    hunk.start.map(|start| if old.is_empty() { start } else { start.saturating_sub(1) })
}

/// The number of lines before the hunk: earlier hunks end at `done`, the last one was found `drift` lines off.
fn place(
    lines: &[&[u8]],
    old: &[&[u8]],
    hunk: &Hunk<'_>,
    done: usize,
    drift: i64,
) -> Result<usize, HunkMismatch> {
    let said = said(hunk, old);
    let drifted = said.and_then(|said| usize::try_from(said as i64 + drift).ok());
    if old.is_empty() {
        return match drifted {
            Some(at) if (done..=lines.len()).contains(&at) => Ok(at),
            None if lines.is_empty() => Ok(0),
            _ => Err(HunkMismatch::Nowhere),
        };
    }
    let fits = |at: usize| at >= done && lines.get(at..at + old.len()) == Some(old);
    if let Some(at) = [drifted, said].into_iter().flatten().find(|at| fits(*at)) {
        return Ok(at);
    }
    let places: Vec<usize> = (done..lines.len()).filter(|at| fits(*at)).collect();
    match places.as_slice() {
        [] => Err(HunkMismatch::Missing),
        [at] => Ok(*at),
        _ => Err(HunkMismatch::Many(places.iter().map(|at| at + 1).collect())),
    }
}

/// Whether the last line has a line break after a hunk that reaches the end.
fn ended(hunk: &Hunk<'_>, before: bool) -> bool {
    let unended = |side: Side| hunk.lines.iter().any(|line| line.side == side && line.unended);
    match (unended(Side::New) || unended(Side::Both), unended(Side::Old)) {
        (true, _) => false,
        (false, true) => true,
        (false, false) => before,
    }
}

fn joined(lines: &[&[u8]], ended: bool, breaks: LineEnds) -> Vec<u8> {
    let between: &[u8] = if breaks == LineEnds::CrLf { b"\r\n" } else { b"\n" };
    let mut bytes = lines.join(between);
    if ended && !lines.is_empty() {
        bytes.extend_from_slice(between);
    }
    bytes
}
