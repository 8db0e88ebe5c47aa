//! Finds the one place that a text of a model means: exactly, or else by looser comparisons, from the strictest on. The first
//! comparison that finds anything decides. It must never choose between two places, or change a byte outside of the place.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use super::text::LineEnds;

/// What a text and its place may differ in, when no place is equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inexact {
    /// White space at the ends of lines.
    TrailingSpace,
    /// Also the indentation, by the same white space in each line.
    Indentation,
    /// White space at the ends of lines, and typographic quotes, dashes and spaces.
    Punctuation,
    /// All of these.
    IndentationAndPunctuation,
}

impl Inexact {
    /// From the strictest to the loosest.
    pub(super) const ALL: [Self; 4] =
        [Self::TrailingSpace, Self::Indentation, Self::Punctuation, Self::IndentationAndPunctuation];

    /// Whether the new text is indented like the file.
    fn shifts(self) -> bool {
        matches!(self, Self::Indentation | Self::IndentationAndPunctuation)
    }

    fn has_punctuation(self) -> bool {
        matches!(self, Self::Punctuation | Self::IndentationAndPunctuation)
    }
}

/// For the model.
impl fmt::Display for Inexact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TrailingSpace => "white space at the ends of lines differs",
            Self::Indentation => "the indentation differs",
            Self::Punctuation => "Unicode quotes, dashes or spaces differ",
            Self::IndentationAndPunctuation => "the indentation and Unicode punctuation differ",
        })
    }
}

/// Why a text has no place.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Mismatch {
    /// It is not there.
    Missing,
    /// It is in several places, beginning at these bytes; they differ from it like this.
    Many(Vec<usize>, Option<Inexact>),
}

/// What to replace.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Replacement {
    /// The bytes of the file.
    pub(super) range: Range<usize>,
    /// What replaces them.
    pub(super) new: Vec<u8>,
    /// How the place differs from the text; `None` if it is equal.
    pub(super) inexact: Option<Inexact>,
}

/// How much farther right or left lines stand in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shift {
    /// The file has this before each line.
    Right(Vec<u8>),
    /// The text has this before each line.
    Left(Vec<u8>),
}

impl Shift {
    /// No shift.
    pub(super) const NONE: Self = Self::Right(Vec::new());

    fn between(there: &[u8], wanted: &[u8]) -> Option<Self> {
        let right = there.strip_suffix(wanted).map(|more| Self::Right(more.to_owned()));
        right.or_else(|| wanted.strip_suffix(there).map(|more| Self::Left(more.to_owned())))
    }

    /// A new line, shifted; `None` if it does not reach so far.
    pub(super) fn line<'a>(&self, line: &'a [u8]) -> Option<Cow<'a, [u8]>> {
        match self {
            _ if line.trim_ascii().is_empty() => Some(Cow::Borrowed(line)),
            Self::Right(more) if more.is_empty() => Some(Cow::Borrowed(line)),
            Self::Right(more) => Some(Cow::Owned([more, line].concat())),
            Self::Left(more) => line.strip_prefix(more.as_slice()).map(Cow::Borrowed),
        }
    }
}

/// The places of a text, byte by byte; also overlapping ones, unless all must be replaced.
pub(super) fn exact(bytes: &[u8], text: &[u8], apart: bool) -> Vec<usize> {
    let finder = memchr::memmem::Finder::new(text);
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = finder.find(&bytes[from..]) {
        found.push(from + at);
        from += at + if apart { text.len() } else { 1 };
    }
    found
}

/// What to replace for the text `old`, which has the line ends of the file and is not empty.
pub(super) fn find(bytes: &[u8], old: &str, new: &str, breaks: LineEnds) -> Result<Replacement, Mismatch> {
    let equal = exact(bytes, old.as_bytes(), false);
    match equal.as_slice() {
        [] => {}
        [at] => {
            let new = new.as_bytes().to_owned();
            return Ok(Replacement { range: *at..at + old.len(), new, inexact: None });
        }
        _ => return Err(Mismatch::Many(equal, None)),
    }
    for by in Inexact::ALL {
        let mut found = if by.shifts() { in_lines(bytes, old, breaks, by) } else { in_text(bytes, old, by) };
        match found.pop() {
            None => {}
            Some((range, shift)) if found.is_empty() => {
                let (range, new) = narrowed(bytes, range, old, new);
                let lines = whole_lines(new);
                let shifted: Option<Vec<_>> = lines.iter().map(|line| shift.line(line)).collect();
                let new = shifted.ok_or(Mismatch::Missing)?.concat();
                return Ok(Replacement { range, new, inexact: Some(by) });
            }
            Some(last) => {
                found.push(last);
                let starts = found.into_iter().map(|(range, _)| range.start).collect();
                return Err(Mismatch::Many(starts, Some(by)));
            }
        }
    }
    Err(Mismatch::Missing)
}

/// The windows of lines that are like these, with their shift. Lines have no line breaks.
pub(super) fn windows(lines: &[&[u8]], old: &[&[u8]], by: Inexact) -> Vec<(usize, Shift)> {
    let plain = |line: &&[u8]| Plain::of(line, by).bytes;
    let old: Vec<_> = old.iter().map(plain).collect();
    if old.iter().all(|line| line.is_empty()) {
        return Vec::new();
    }
    let lines: Vec<_> = lines.iter().map(plain).collect();
    let windows = lines.windows(old.len()).enumerate();
    windows.filter_map(|(at, window)| Some((at, shift(window, &old, by)?))).collect()
}

/// The one shift of all lines, if they are otherwise equal.
fn shift(window: &[Vec<u8>], old: &[Vec<u8>], by: Inexact) -> Option<Shift> {
    let mut common = None;
    for (there, wanted) in window.iter().zip(old) {
        if there.is_empty() && wanted.is_empty() {
            continue;
        }
        let (rest, wanted_rest) = (there.trim_ascii_start(), wanted.trim_ascii_start());
        let indent = |line: &[u8], rest: &[u8]| line[..line.len() - rest.len()].to_owned();
        let shift = Shift::between(&indent(there, rest), &indent(wanted, wanted_rest))?;
        let is_same = common.as_ref().is_none_or(|common| *common == shift);
        if rest != wanted_rest || !is_same || (!by.shifts() && shift != Shift::NONE) {
            return None;
        }
        common = Some(shift);
    }
    common
}

/// The whole lines of a file that are like those of a text.
fn in_lines<'a>(bytes: &'a [u8], old: &'a str, breaks: LineEnds, by: Inexact) -> Vec<(Range<usize>, Shift)> {
    let ended = old.ends_with('\n');
    let (there, wanted) = (whole_lines(bytes), whole_lines(old.as_bytes()));
    let starts: Vec<usize> = there
        .iter()
        .scan(0, |at, line| {
            *at += line.len();
            Some(*at - line.len())
        })
        .collect();
    let bare = |line: &&'a [u8]| breaks.bare(line.strip_suffix(b"\n").unwrap_or(line));
    let wanted: Vec<&[u8]> = wanted.iter().map(bare).collect();
    let lines: Vec<&[u8]> = there.iter().map(bare).collect();
    let range = |at: usize| {
        let last = at + wanted.len() - 1;
        let length = if ended { there[last].len() } else { lines[last].len() };
        starts[at]..starts[last] + length
    };
    // A last line without a break is not a line with one.
    let fits = |at: usize| !ended || there[at + wanted.len() - 1].ends_with(b"\n");
    let found = windows(&lines, &wanted, by).into_iter().filter(|(at, _)| fits(*at));
    found.map(|(at, shift)| (range(at), shift)).collect()
}

/// The places of a text that may begin and end within a line.
fn in_text(bytes: &[u8], old: &str, by: Inexact) -> Vec<(Range<usize>, Shift)> {
    let wanted = Plain::of(old.as_bytes(), by);
    if wanted.bytes.trim_ascii().is_empty() {
        return Vec::new();
    }
    let there = Plain::of(bytes, by);
    let to_line_end = wanted.is_cut;
    // A first line of nothing but white space stands for such a line, not for the end of any line.
    let first = old.split_once('\n').map_or("", |(first, _)| first.trim_end_matches('\r'));
    let from_line_start = !first.is_empty() && first.trim_matches([' ', '\t']).is_empty();
    let mut found = Vec::new();
    for at in exact(&there.bytes, &wanted.bytes, false) {
        let before = &there.bytes[..at];
        if from_line_start && !before.is_empty() && !before.ends_with(b"\n") {
            continue;
        }
        let end = at + wanted.bytes.len();
        let rest = &there.bytes[end..];
        let is_line_end = rest.is_empty() || rest.starts_with(b"\n") || rest.starts_with(b"\r\n");
        if !to_line_end || is_line_end {
            let end = if to_line_end { there.starts[end] } else { there.ends[end - 1] };
            found.push((there.starts[at]..end, Shift::NONE));
        }
    }
    found
}

/// A place without the first and last lines that old and new text share: they stay as they are in the file.
fn narrowed<'a>(bytes: &[u8], range: Range<usize>, old: &str, new: &'a str) -> (Range<usize>, &'a [u8]) {
    let there = whole_lines(&bytes[range.clone()]);
    let (old, news) = (whole_lines(old.as_bytes()), whole_lines(new.as_bytes()));
    if there.len() != old.len() {
        return (range, new.as_bytes());
    }
    let first = old.iter().zip(&news).take_while(|(old, new)| old == new).count();
    let both = old[first..].iter().rev().zip(news[first..].iter().rev());
    let last = both.take_while(|(old, new)| old == new).count();
    let length = |lines: &[&[u8]]| lines.iter().map(|line| line.len()).sum::<usize>();
    let narrow = range.start + length(&there[..first])..range.end - length(&there[there.len() - last..]);
    let kept = length(&news[..first])..new.len() - length(&news[news.len() - last..]);
    (narrow, &new.as_bytes()[kept])
}

/// Lines with their line breaks.
fn whole_lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// A text in the form that is compared, with the place of each of its bytes.
struct Plain {
    bytes: Vec<u8>,
    /// Where the character of each byte begins, and at last the end of the text.
    starts: Vec<usize>,
    /// Where it ends.
    ends: Vec<usize>,
    /// Whether white space was left out at the end.
    is_cut: bool,
}

impl Plain {
    fn of(text: &[u8], by: Inexact) -> Self {
        let (mut bytes, mut starts, mut ends) = (Vec::with_capacity(text.len()), Vec::new(), Vec::new());
        let mut push = |plain: &[u8], at: usize, length: usize| {
            bytes.extend_from_slice(plain);
            starts.extend(plain.iter().map(|_| at));
            ends.extend(plain.iter().map(|_| at + length));
        };
        let mut at = 0;
        for chunk in text.utf8_chunks() {
            for letter in chunk.valid().chars() {
                let plain = if by.has_punctuation() { plain_letter(letter) } else { letter };
                push(plain.encode_utf8(&mut [0; 4]).as_bytes(), at, letter.len_utf8());
                at += letter.len_utf8();
            }
            for byte in chunk.invalid() {
                push(&[*byte], at, 1);
                at += 1;
            }
        }
        let is_kept = trailing(&bytes);
        let is_cut = is_kept.last() == Some(&false);
        let kept = |of: Vec<usize>| of.into_iter().zip(&is_kept).filter(|(_, kept)| **kept).map(|(at, _)| at);
        let (mut starts, ends): (Vec<_>, Vec<_>) = (kept(starts).collect(), kept(ends).collect());
        starts.push(text.len());
        let bytes =
            bytes.into_iter().zip(&is_kept).filter(|(_, kept)| **kept).map(|(byte, _)| byte).collect();
        Self { bytes, starts, ends, is_cut }
    }
}

/// For each byte, whether it is not white space at the end of a line.
fn trailing(bytes: &[u8]) -> Vec<bool> {
    let mut at_end = true;
    let mut kept = vec![true; bytes.len()];
    for (at, byte) in bytes.iter().enumerate().rev() {
        match byte {
            b'\n' => at_end = true,
            // Part of the line break.
            b'\r' if bytes.get(at + 1) == Some(&b'\n') => {}
            b' ' | b'\t' if at_end => kept[at] = false,
            _ => at_end = false,
        }
    }
    kept
}

/// The plain form of a typographic quote, dash or space.
fn plain_letter(letter: char) -> char {
    match letter {
        '\u{2018}'..='\u{201b}' => '\'',
        '\u{201c}'..='\u{201f}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        other => other,
    }
}
