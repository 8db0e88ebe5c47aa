//! Styled text, broken into lines at spaces. Must never make a line wider than the limit, and must never cut a grapheme.

use std::borrow::Cow;
use std::ops::Range;

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Text in pieces of one style each. It is safe and holds no tab; a newline ends a line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Run {
    text: String,
    /// The end of each piece, and its style.
    ends: Vec<(usize, Style)>,
}

impl Run {
    /// A text of one style.
    pub(crate) fn of(text: &str, style: Style) -> Self {
        let mut run = Self::default();
        run.push(text, style);
        run
    }

    /// Appends a text.
    pub(crate) fn push(&mut self, text: &str, style: Style) {
        if text.is_empty() {
            return;
        }
        if text.contains('\t') {
            self.text.push_str(&text.replace('\t', "    "));
        } else {
            self.text.push_str(text);
        }
        match self.ends.last_mut() {
            Some((end, last)) if *last == style => *end = self.text.len(),
            _ => self.ends.push((self.text.len(), style)),
        }
    }

    /// Whether it is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The text alone.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Appends another one.
    pub(crate) fn append(&mut self, other: &Self) {
        let mut from = 0;
        for (end, style) in &other.ends {
            self.push(&other.text[from..*end], *style);
            from = *end;
        }
    }

    /// The run without trailing white space.
    pub(crate) fn trimmed(mut self) -> Self {
        let end = self.text.trim_end().len();
        self.text.truncate(end);
        while self.ends.len() > 1 && self.ends[self.ends.len() - 2].0 >= end {
            self.ends.pop();
        }
        if let Some((last, _)) = self.ends.last_mut() {
            *last = end;
        }
        self
    }

    /// The width of the widest line.
    pub(crate) fn columns(&self) -> usize {
        self.text.split('\n').map(columns).max().unwrap_or(0)
    }

    /// Its lines, each of at most so many columns, at least one.
    pub(crate) fn wrap(&self, max: usize) -> Vec<Vec<Span<'static>>> {
        self.lines(max, breaks)
    }

    /// The same, broken at any grapheme, so that no space is lost.
    pub(crate) fn chop(&self, max: usize) -> Vec<Vec<Span<'static>>> {
        self.lines(max, cuts)
    }

    fn lines(&self, max: usize, at: impl Fn(&str, usize) -> Vec<Range<usize>>) -> Vec<Vec<Span<'static>>> {
        let max = max.max(1);
        let mut lines = Vec::new();
        let mut from = 0;
        for line in self.text.split('\n') {
            for range in at(line, max) {
                lines.push(self.slice(range.start + from..range.end + from, max));
            }
            from += line.len() + 1;
        }
        lines
    }

    fn slice(&self, range: Range<usize>, max: usize) -> Vec<Span<'static>> {
        let mut spans = Vec::new();
        let first = self.ends.partition_point(|(end, _)| *end <= range.start);
        let mut from = range.start;
        for (end, style) in &self.ends[first..] {
            // A style may end within a grapheme: the whole grapheme is drawn in the style of its start.
            let to = whole(&self.text, (*end).min(range.end), range.end);
            if to > from {
                spans.push(Span::styled(fits(&self.text[from..to], max).into_owned(), *style));
                from = to;
            }
            if from >= range.end {
                break;
            }
        }
        spans
    }
}

/// The end of the grapheme that contains `at`.
fn whole(text: &str, at: usize, most: usize) -> usize {
    if at >= most || (text.as_bytes()[at].is_ascii() && text.as_bytes()[at - 1].is_ascii()) {
        return at;
    }
    let mut cursor = unicode_segmentation::GraphemeCursor::new(at, text.len(), true);
    match cursor.is_boundary(text, 0) {
        Ok(false) => cursor.next_boundary(text, 0).ok().flatten().unwrap_or(most).min(most),
        _ => at,
    }
}

/// A text wider than the whole line is replaced by a sign.
fn fits(text: &str, max: usize) -> Cow<'_, str> {
    if text.is_ascii() || columns(text) <= max {
        return Cow::Borrowed(text);
    }
    let one = |grapheme| if columns(grapheme) > max { "…" } else { grapheme };
    Cow::Owned(text.graphemes(true).map(one).collect())
}

/// The columns of a drawn text, grapheme by grapheme.
pub(crate) fn columns(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.graphemes(true).map(UnicodeWidthStr::width).sum() }
}

/// The columns of these spans.
pub(crate) fn spans_columns(spans: &[Span<'_>]) -> usize {
    spans.iter().map(|span| columns(&span.content)).sum()
}

/// The ranges of the lines of a line.
fn breaks(line: &str, max: usize) -> Vec<Range<usize>> {
    if line.len() <= max {
        return std::iter::once(0..line.len()).collect();
    }
    let mut lines = Vec::new();
    let (mut from, mut used) = (0, 0);
    // Where the line may end, where the next one would begin, and the columns up to there.
    let mut place: Option<(usize, usize, usize)> = None;
    let mut wide_before = false;
    for (at, grapheme) in line.grapheme_indices(true) {
        let wide = grapheme.width();
        if wide > 1 || wide_before {
            // Chinese and Japanese text can break between any two characters.
            place = place.filter(|(_, next, _)| *next == at).or((at > from).then_some((at, at, used)));
        }
        wide_before = wide > 1;
        if grapheme == " " {
            let end = line[..at].trim_end_matches(' ').len();
            if end > from {
                place = Some((end, at + 1, used + 1));
            }
            used += 1;
            continue;
        }
        if used + wide > max && at > from {
            let (end, next, gone) = place.take().unwrap_or((at, at, used));
            lines.push(from..end.max(from));
            used -= gone;
            from = next;
            if used + wide > max && at > from {
                lines.push(from..at);
                (from, used) = (at, 0);
            }
        }
        used += wide;
    }
    lines.push(from..line.len());
    trimmed(line, lines, max)
}

/// Spaces at the ends of lines stay only if they fit.
fn trimmed(line: &str, mut lines: Vec<Range<usize>>, max: usize) -> Vec<Range<usize>> {
    for range in &mut lines {
        if columns(&line[range.clone()]) > max {
            range.end = range.start + line[range.clone()].trim_end_matches(' ').len();
            if columns(&line[range.clone()]) > max {
                range.end = range.start + cuts(&line[range.clone()], max)[0].end;
            }
        }
    }
    lines
}

/// The same, at any grapheme.
fn cuts(line: &str, max: usize) -> Vec<Range<usize>> {
    let mut lines = Vec::new();
    let (mut from, mut used) = (0, 0);
    for (at, grapheme) in line.grapheme_indices(true) {
        let wide = grapheme.width();
        if used + wide > max && at > from {
            lines.push(from..at);
            (from, used) = (at, 0);
        }
        used += wide;
    }
    lines.push(from..line.len());
    lines
}

/// Wraps existing lines to a width.
pub(crate) fn rewrap(lines: Vec<Line<'static>>, max: usize) -> Vec<Line<'static>> {
    let mut all = Vec::with_capacity(lines.len());
    for line in lines {
        let is_simple = |span: &Span<'_>| span.content.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        if line.spans.iter().all(is_simple) && line.width() <= max {
            all.push(line);
            continue;
        }
        let mut run = Run::default();
        line.spans.iter().for_each(|span| run.push(&span.content, span.style));
        all.extend(run.wrap(max).into_iter().map(Line::from));
    }
    all
}

/// One line, cut if it is too long.
pub(crate) fn cut(text: &str, style: Style, max: usize) -> Span<'static> {
    let text = text.replace('\t', "    ");
    if columns(&text) <= max {
        return Span::styled(text, style);
    }
    let end = cuts(&text, max.saturating_sub(1).max(1))[0].end;
    let cut = if max > 1 && columns(&text[..end]) < max {
        format!("{}…", &text[..end])
    } else {
        "…".to_owned()
    };
    Span::styled(if max == 0 { String::new() } else { cut }, style)
}
