//! The look of the composer: attachments, text, cursor, and the popup above. Must never draw outside its area, except the popup.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::Line;
use retake_wire::Part;

use super::layout::{Glyph, GlyphDisplay, Layout};
use super::popup::Popup;
use super::{Composer, complete};
use crate::render::words;
use crate::text::{safe, width};
use crate::ui::keymap::Command;
use crate::ui::pane::PaneContext;
use crate::ui::pane_frame::prompt;
use crate::ui::rows::RowSpans;
use crate::ui::theme::Paint;

/// The sign before the text.
const SIGN: &str = "› ";

/// Its columns.
const MARGIN: u16 = 2;

/// Whose the keys are while it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    /// The composer: letters are written.
    Here,
    /// A selected message; typed commands still work.
    Commands,
    /// Elsewhere: no key reaches it.
    Elsewhere,
}

impl Composer {
    /// The rows that it needs, at least one.
    pub(crate) fn height(&mut self, width: u16) -> u16 {
        self.lay_out(Some(width));
        let rows = self.layout.rows().len() + usize::from(self.has_head());
        u16::try_from(rows).unwrap_or(u16::MAX)
    }

    /// Draws it, with the terminal's cursor if it has the focus, and the popup above it.
    pub(crate) fn draw(
        &mut self,
        frame: &mut Frame<'_>,
        area: Rect,
        brush: &PaneContext<'_>,
        keys: Keys,
        placeholder: &str,
    ) {
        let is_focused = keys == Keys::Here;
        let area = area.intersection(frame.area());
        if area.is_empty() {
            return;
        }
        self.lay_out(Some(area.width));
        let mut body = area;
        if self.has_head() && area.height > 1 {
            frame.render_widget(self.head(brush, area.width, keys), Rect { height: 1, ..area });
            body = Rect { y: area.y + 1, height: area.height - 1, ..area };
        }
        let sign = if is_focused { Paint::Accent } else { Paint::Dim };
        frame.buffer_mut().set_stringn(body.x, body.y, SIGN, body.width.into(), brush.theme.style(sign));
        let body =
            Rect { x: body.x + MARGIN.min(body.width), width: body.width.saturating_sub(MARGIN), ..body };
        self.body = body;
        let (row, column) = self.layout.find(self.buffer.cursor());
        let height = usize::from(body.height);
        // Shows as much as fits, with the cursor in it.
        let last = self.layout.rows().len().saturating_sub(height);
        self.top = self.top.clamp((row + 1).saturating_sub(height), row).min(last);
        if self.buffer.text().is_empty() {
            let text = width::truncate(placeholder, body.width.into()).into_owned();
            frame
                .render_widget(Line::styled(text, brush.theme.style(Paint::Dim)), Rect { height: 1, ..body });
        } else {
            self.draw_text(frame, body, brush, is_focused);
        }
        if is_focused && !matches!(self.popup, Some(Popup::Search { .. })) {
            let down = u16::try_from(row - self.top).unwrap_or(0);
            let x = (body.x + column).min(area.right() - 1);
            frame.set_cursor_position(Position { x, y: body.y + down });
        }
        if is_focused {
            self.draw_popup(frame, area, brush);
        }
    }

    /// Lays out the text if it has changed; without a width, uses the previous one.
    pub(super) fn lay_out(&mut self, width: Option<u16>) {
        let known = self.laid_out.as_ref().map(|(_, width)| *width);
        let width = width.or(known).unwrap_or(80);
        let text = self.buffer.text();
        if self.laid_out.as_ref().is_some_and(|(laid, of)| laid == text && *of == width) {
            return;
        }
        self.layout = Layout::new(text, &self.folds, width.saturating_sub(MARGIN));
        self.laid_out = Some((text.to_owned(), width));
    }

    fn has_head(&self) -> bool {
        !self.attached.is_empty() || self.tells_of_aside()
    }

    /// Whether a draft was just moved aside.
    fn tells_of_aside(&self) -> bool {
        self.tells_aside && !self.aside.is_empty()
    }

    /// The attachments, and whether a draft waits.
    fn head(&self, brush: &PaneContext<'_>, columns: u16, keys: Keys) -> Line<'static> {
        let mut ink = RowSpans::new(brush.theme, columns, ("", &[]), None);
        for chip in chips(&self.attached) {
            ink.text(&format!("[{chip}]"), Paint::Accent);
            ink.space(1);
        }
        if self.tells_of_aside() {
            let (back, drop) = (brush.keys.named(Command::DraftBack), brush.keys.named(Command::DraftDrop));
            let (drafts, it) = match self.aside.len() {
                1 => ("draft moved aside".to_owned(), "it"),
                more => (format!("{more} drafts moved aside"), "the last one"),
            };
            let before = if self.attached.is_empty() { "" } else { "· " };
            // A key is named only if it does something.
            let back = if keys == Keys::Elsewhere {
                String::new()
            } else {
                format!(" · {back} brings {it} back, {drop} throws it away")
            };
            ink.text(&format!("{before}{drafts}{back}"), Paint::Dim);
        }
        ink.done()
    }

    fn draw_text(&self, frame: &mut Frame<'_>, body: Rect, brush: &PaneContext<'_>, is_focused: bool) {
        let text = self.buffer.text();
        let rows = self.layout.rows().iter().skip(self.top).zip(body.y..body.bottom());
        for (row, y) in rows {
            for glyph in &row.glyphs {
                let (shown, style) = look(glyph, text, brush);
                let style = if is_focused { style } else { brush.theme.style(Paint::Dim) };
                let x = body.x + glyph.column;
                if let Some(left) = body.right().checked_sub(x)
                    && !shown.is_empty()
                {
                    frame.buffer_mut().set_stringn(x, y, shown, left.into(), style);
                }
            }
        }
        if is_focused {
            self.draw_hint(frame, body, brush);
        }
    }

    /// The arguments of a complete command name, after it, while nothing follows.
    fn draw_hint(&self, frame: &mut Frame<'_>, body: Rect, brush: &PaneContext<'_>) {
        let text = self.buffer.text();
        let Some(row) = complete::hint(text).filter(|_| text.ends_with(' ') && self.top == 0) else { return };
        let takes = row
            .takes
            .filter(|takes| !takes.is_empty() && text.trim_end().len() == row.typed_name().len() + 1);
        let (_, column) = self.layout.find(text.len());
        let x = body.x + column;
        if let (Some(takes), Some(left)) = (takes, body.right().checked_sub(x)) {
            let hint = format!("{takes}  {}", row.help);
            let hint = width::truncate(&hint, left.into()).into_owned();
            frame.buffer_mut().set_stringn(x, body.y, hint, left.into(), brush.theme.style(Paint::Dim));
        }
    }

    fn draw_popup(&mut self, frame: &mut Frame<'_>, area: Rect, brush: &PaneContext<'_>) {
        // It is also above the line between the composer and the rest.
        let over = Rect { y: area.y.saturating_sub(1).max(frame.area().y), ..area };
        match &mut self.popup {
            None => {}
            Some(Popup::Commands(list) | Popup::Paths { list, .. }) => {
                list.draw_above(frame, over, brush);
            }
            Some(Popup::Search { query, list }) => {
                let about = if list.is_empty() { "  nothing found" } else { "" };
                let foot = Rect { y: over.y.saturating_sub(1), height: over.y.min(1), ..over };
                list.draw_above(frame, Rect { y: foot.y, ..over }, brush);
                prompt(frame, foot, brush, "earlier prompts: ", [query, about]);
            }
        }
    }
}

/// The visible form of a glyph, and its style.
fn look<'a>(glyph: &'a Glyph, text: &'a str, brush: &PaneContext<'_>) -> (&'a str, Style) {
    match &glyph.sign {
        GlyphDisplay::Text => (&text[glyph.at..glyph.at + glyph.len], brush.theme.style(Paint::Plain)),
        GlyphDisplay::Space => ("", Style::new()),
        GlyphDisplay::Label(label) => (label, brush.theme.style(Paint::Accent)),
    }
}

/// The attachments in words: names of files, the rest counted.
fn chips(attached: &[Part]) -> Vec<String> {
    let images = attached.iter().filter(|part| matches!(part, Part::Image { .. })).count();
    let mut chips = Vec::new();
    if images > 0 {
        chips.push(words::count(images as u64, "image"));
    }
    let mut others = 0;
    for part in attached {
        match part {
            Part::Image { .. } => {}
            Part::File { name, .. } => {
                let name = safe::line(name);
                let last = name.rsplit('/').next().filter(|last| !last.is_empty()).unwrap_or(&name);
                chips.push(width::truncate(last, 40).into_owned());
            }
            _ => others += 1,
        }
    }
    if others > 0 {
        chips.push(format!("{others} more"));
    }
    chips
}
