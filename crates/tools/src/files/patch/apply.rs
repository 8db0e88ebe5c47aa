//! Applies hunks to a text. Every existing line of a hunk must be there, and in one place only. The line number decides
//! between several places that are equal, and may be wrong if there is only one.

use std::borrow::Cow;

use super::parse::{Hunk, Side};
use crate::files::matching::{self, Inexact, Shift};
use crate::files::nearest;
use crate::files::text::{self, LineEnds};

/// A file after all hunks.
pub(super) struct Patched {
    pub(super) bytes: Vec<u8>,
    /// For the model: which hunks did not match exactly, and how they differed.
    pub(super) inexact: Vec<String>,
}

/// The content after all hunks.
pub(super) fn apply(name: &str, bytes: &[u8], hunks: &[Hunk<'_>]) -> Result<Patched, String> {
    let breaks = LineEnds::of(bytes);
    let mut text = Text::of(bytes, breaks);
    let mut after: Vec<Cow<'_, [u8]>> = Vec::new();
    let (mut done, mut drift, mut inexact) = (0, 0, Vec::new());
    for (index, hunk) in hunks.iter().enumerate() {
        let old = old_lines(hunk, breaks);
        let which = format!("hunk {} of `{name}` (line {} of the patch)", index + 1, hunk.line);
        let found = place(&text.lines, &old, hunk, done, drift).and_then(|found| {
            let new = new_lines(hunk, &text.lines[found.at..], &found.shift, breaks);
            new.map(|new| (found, new)).ok_or(HunkMismatch::Missing)
        });
        let (Found { at, inexact: how, .. }, new) =
            found.map_err(|why| said_why(&why, &which, bytes, &old))?;
        inexact.extend(how.map(|how| format!("{which} did not match exactly: {how}")));
        if let Some(said) = said(hunk, &old).filter(|_| !old.is_empty()) {
            drift = at as i64 - said as i64;
        }
        after.extend(text.lines[done..at].iter().map(|line| Cow::Borrowed(*line)));
        after.extend(new);
        done = at + old.len();
        if done == text.lines.len() {
            text.ended = ended(hunk, text.ended);
        }
    }
    after.extend(text.lines[done..].iter().map(|line| Cow::Borrowed(*line)));
    Ok(Patched { bytes: joined(&after, text.ended, breaks), inexact })
}

/// Why a hunk does not match, for the model.
fn said_why(why: &HunkMismatch, which: &str, bytes: &[u8], old: &[&[u8]]) -> String {
    match why {
        HunkMismatch::Missing => {
            let wanted: Vec<_> = old.iter().map(|line| String::from_utf8_lossy(line)).collect();
            let missing = format!("{which} does not fit: its old lines are not in the file");
            nearest::why(&missing, bytes, &wanted.join("\n"))
        }
        HunkMismatch::Many(lines, how) => {
            let places = text::count(lines.len(), "place");
            let starts = lines.iter().take(8).map(usize::to_string).collect::<Vec<_>>().join(", ");
            match how {
                None => format!(
                    "{which} fits in {places} (from lines {starts}), but not where it says: give its line number or more context"
                ),
                Some(how) => format!(
                    "{which} fits nowhere exactly, and in {places} (from lines {starts}) if {how}: give more context, exactly"
                ),
            }
        }
        HunkMismatch::NoAnchor(anchor) => {
            let anchor = text::escaped(anchor);
            format!("{which} does not fit: the line `{anchor}` after its `@@` is not in the file")
        }
        HunkMismatch::Nowhere => format!("{which} has no old lines, and does not say at which line to add"),
    }
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
    /// They are in several places, beginning at these lines, and differ like this.
    Many(Vec<usize>, Option<Inexact>),
    /// This line, which should come before it, is not there.
    NoAnchor(String),
    /// It has no old lines and no number.
    Nowhere,
}

/// The place of a hunk.
struct Found {
    /// The number of lines before it.
    at: usize,
    shift: Shift,
    inexact: Option<Inexact>,
}

impl Found {
    fn exact(at: usize) -> Self {
        Self { at, shift: Shift::NONE, inexact: None }
    }
}

impl<'a> Text<'a> {
    fn of(bytes: &'a [u8], breaks: LineEnds) -> Self {
        let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        // After the last line break comes nothing, or a line without one.
        let ended = lines.last().is_some_and(|last| last.is_empty());
        if ended {
            lines.pop();
        }
        let lines = lines.into_iter().map(|line| breaks.bare(line)).collect();
        Self { lines, ended }
    }
}

fn old_lines<'a>(hunk: &Hunk<'a>, breaks: LineEnds) -> Vec<&'a [u8]> {
    let lines = hunk.lines.iter().filter(|line| line.side.is_old());
    lines.map(|line| breaks.bare(line.text.as_bytes())).collect()
}

/// The lines after the hunk: context as it is in the file, new lines shifted. `None` if one cannot be shifted.
fn new_lines<'a>(
    hunk: &Hunk<'a>,
    there: &[&'a [u8]],
    shift: &Shift,
    breaks: LineEnds,
) -> Option<Vec<Cow<'a, [u8]>>> {
    let mut there = there.iter();
    let mut lines = Vec::new();
    for line in &hunk.lines {
        let old = if line.side.is_old() { there.next() } else { None };
        match (line.side, old) {
            (Side::Both, Some(old)) => lines.push(Cow::Borrowed(*old)),
            (Side::Old, _) => {}
            _ => lines.push(shift.line(breaks.bare(line.text.as_bytes()))?),
        }
    }
    Some(lines)
}

/// The number of lines before the hunk, by its own line number.
fn said(hunk: &Hunk<'_>, old: &[&[u8]]) -> Option<usize> {
    // Without old lines, the number is that of the line before.
    hunk.start.map(|start| if old.is_empty() { start } else { start.saturating_sub(1) })
}

/// The place of a hunk: earlier hunks end at `done`, the last one was found `drift` lines off.
fn place(
    lines: &[&[u8]],
    old: &[&[u8]],
    hunk: &Hunk<'_>,
    done: usize,
    drift: i64,
) -> Result<Found, HunkMismatch> {
    let said = said(hunk, old);
    let drifted = said.and_then(|said| usize::try_from(said as i64 + drift).ok());
    if old.is_empty() {
        return match drifted {
            Some(at) if (done..=lines.len()).contains(&at) => Ok(Found::exact(at)),
            None if lines.is_empty() || hunk.at_end => Ok(Found::exact(lines.len())),
            _ => Err(HunkMismatch::Nowhere),
        };
    }
    let is_equal = |at: usize| at >= done && lines.get(at..at + old.len()) == Some(old);
    if let Some(at) = [drifted, said].into_iter().flatten().find(|at| is_equal(*at)) {
        return Ok(Found::exact(at));
    }
    let equal = (done..lines.len()).filter(|at| is_equal(*at)).map(|at| (at, Shift::NONE));
    let found = only(lines, equal.collect(), old, hunk, done, None)?;
    if let Some(found) = found {
        return Ok(found);
    }
    for by in Inexact::ALL {
        let mut like = matching::windows(lines, old, by);
        like.retain(|(at, _)| *at >= done);
        if let Some(found) = only(lines, like, old, hunk, done, Some(by))? {
            return Ok(found);
        }
    }
    Err(HunkMismatch::Missing)
}

/// The only one of some places, with the anchor of the hunk.
fn only(
    lines: &[&[u8]],
    mut places: Vec<(usize, Shift)>,
    old: &[&[u8]],
    hunk: &Hunk<'_>,
    done: usize,
    inexact: Option<Inexact>,
) -> Result<Option<Found>, HunkMismatch> {
    if hunk.at_end {
        places.retain(|(at, _)| at + old.len() == lines.len());
    }
    if !hunk.anchors.is_empty() {
        // Each place of the anchors leads to the first place after it.
        let below = anchored(lines, &hunk.anchors, done)?;
        let first = |above: usize| places.iter().map(|(at, _)| *at).find(|at| *at >= above);
        let meant: Vec<usize> = below.into_iter().filter_map(first).collect();
        places.retain(|(at, _)| meant.contains(at));
    }
    match places.as_slice() {
        [] => Ok(None),
        [(at, shift)] => Ok(Some(Found { at: *at, shift: shift.clone(), inexact })),
        _ => Err(HunkMismatch::Many(places.iter().map(|(at, _)| at + 1).collect(), inexact)),
    }
}

/// The lines after each place of these lines, which stand in this order, perhaps with others between them.
fn anchored(lines: &[&[u8]], anchors: &[&str], done: usize) -> Result<Vec<usize>, HunkMismatch> {
    let mut below: Vec<usize> = (done..lines.len()).collect();
    for anchor in anchors {
        let is_anchor = |at: &usize| lines[*at].trim_ascii() == anchor.trim().as_bytes();
        let next = |from: usize| (from..lines.len()).find(is_anchor).map(|at| at + 1);
        below = below.into_iter().filter_map(next).collect();
        below.dedup();
        if below.is_empty() {
            return Err(HunkMismatch::NoAnchor((*anchor).to_owned()));
        }
    }
    Ok(below)
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

fn joined(lines: &[Cow<'_, [u8]>], ended: bool, breaks: LineEnds) -> Vec<u8> {
    let between: &[u8] = if breaks == LineEnds::CrLf { b"\r\n" } else { b"\n" };
    let mut bytes = lines.join(between);
    if ended && !lines.is_empty() {
        bytes.extend_from_slice(between);
    }
    bytes
}
