//! The edges of the view: the scroll position, the selection, the sign for more below. Must never cover more than a column, and a
//! corner of the last row.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use retake_wire::reply::Entry;

use super::heights::VisibleLines;
use super::page::{DrawParameters, MARGIN};
use crate::text::time;
use crate::ui::doc;
use crate::ui::theme::Paint;

/// The scroll bar at the right. Its length is the screen's part of the whole, at any position.
pub(super) fn bar(frame: &mut Frame<'_>, area: Rect, ink: DrawParameters<'_>, shown: VisibleLines) {
    let rows = usize::from(area.height);
    let long = (rows * rows / shown.all.max(1)).clamp(1, rows.max(2) - 1);
    let (room, below) = (rows - long.min(rows), shown.all.saturating_sub(rows).max(1));
    let from = match (shown.at_end, shown.above) {
        (true, _) => room,
        (false, 0) => 0,
        // A position in between is visible as such.
        (false, above) => (room * above / below).clamp(1, room.saturating_sub(1).max(1)),
    };
    for row in (area.y..area.bottom()).skip(from).take(long) {
        if let Some(cell) = frame.buffer_mut().cell_mut((area.right() - 1, row)) {
            cell.set_symbol("▐").set_style(ink.theme.style(Paint::Bar));
        }
    }
}

/// A text at the right of the last row.
pub(super) fn corner(frame: &mut Frame<'_>, area: Rect, ink: DrawParameters<'_>, text: &str, paint: Paint) {
    let span = doc::cut(text, ink.theme.style(paint), ink.room().into());
    let wide = u16::try_from(doc::columns(&span.content)).unwrap_or(0);
    let left = area.right().saturating_sub(wide + 1).max(area.x + MARGIN);
    frame.buffer_mut().set_span(left, area.bottom() - 1, &span, wide);
}

/// A line of the selected message.
pub(super) fn barred(mut line: Line<'static>, ink: DrawParameters<'_>) -> Line<'static> {
    let first = if line.spans.is_empty() { Span::raw(" ") } else { line.spans.remove(0) };
    if !line.spans.is_empty() {
        line.spans.remove(0);
    }
    line.spans.splice(0..0, [first, ink.span("▌", Paint::Accent)]);
    line
}

/// The description of the selected message, as far as there is room.
pub(super) fn about(entry: &Entry, ink: DrawParameters<'_>, columns: usize) -> String {
    let when = time::relative(ink.now_ms, entry.time_ms);
    let all = match entry.place.turn {
        0 => [format!(" {when} "), String::new()],
        turn => [format!(" turn {turn} · {when} "), format!(" t{turn} ")],
    };
    all.into_iter().find(|text| doc::columns(text) <= columns).unwrap_or_default()
}
