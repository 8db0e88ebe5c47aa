//! A short list above the composer, to pick from. Must never be higher than the room above.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Clear;

use crate::text::{safe, width};
use crate::ui::pane::PaneContext;
use crate::ui::scroll::draw_lines;
use crate::ui::theme::{CURSOR, Paint};

/// The most visible rows.
pub(super) const ROWS: usize = 8;

/// A row of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// Its name.
    pub(super) name: String,
    /// Its description.
    pub(super) help: String,
    /// Its value.
    pub(super) value: Value,
}

/// The value of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// A command's name.
    Command(&'static str),
    /// The name of a file's command.
    File(String),
    /// A path.
    Path {
        /// The path.
        path: String,
        /// More can follow.
        is_folder: bool,
    },
    /// An earlier prompt.
    Prompt(std::sync::Arc<str>),
}

/// A list and its selection.
#[derive(Debug, Default)]
pub(super) struct List {
    items: Vec<Item>,
    at: usize,
    top: usize,
}

impl List {
    /// A list with its first row selected.
    pub(super) fn new(items: Vec<Item>) -> Self {
        Self { items, at: 0, top: 0 }
    }

    /// Whether it is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The selected row.
    pub(super) fn selected(&self) -> Option<&Item> {
        self.items.get(self.at)
    }

    /// Replaces the rows; the selection stays.
    pub(super) fn renew(&mut self, items: Vec<Item>) {
        let kept = self.selected().and_then(|item| items.iter().position(|other| other.value == item.value));
        self.items = items;
        self.at = kept.unwrap_or(0);
        self.top = self.top.min(self.at);
    }

    /// Moves the selection, with wrap-around.
    pub(super) fn step(&mut self, rows: isize) {
        let count = self.items.len();
        if let (Ok(most), Ok(at)) = (isize::try_from(count), isize::try_from(self.at))
            && most > 0
        {
            self.at = usize::try_from((at + rows).rem_euclid(most)).unwrap_or(0);
        }
    }

    /// Draws it above an area.
    pub(super) fn draw_above(&mut self, frame: &mut Frame<'_>, area: Rect, brush: &PaneContext<'_>) {
        let room = usize::from(area.y.saturating_sub(frame.area().y));
        let rows = ROWS.min(self.items.len()).min(room);
        let height = u16::try_from(rows).unwrap_or(0);
        if height == 0 {
            return;
        }
        let over =
            Rect { x: area.x, y: area.y - height, width: area.width, height }.intersection(frame.area());
        self.top = self.top.clamp((self.at + 1).saturating_sub(rows), self.at);
        frame.render_widget(Clear, over);
        let columns = usize::from(over.width);
        let shown = self.items.iter().enumerate().skip(self.top).take(rows);
        let names = shown.clone().map(|(_, item)| width::columns(&safe::line(&item.name))).max().unwrap_or(0);
        let lines: Vec<_> = shown.map(|(at, item)| row(item, at == self.at, names, columns, brush)).collect();
        draw_lines(frame, over, &lines);
    }
}

fn row(
    item: &Item,
    is_selected: bool,
    names: usize,
    columns: usize,
    brush: &PaneContext<'_>,
) -> Line<'static> {
    let sign = if is_selected { format!("{CURSOR} ") } else { "  ".to_owned() };
    let room = columns.saturating_sub(2);
    let name = safe::line(&item.name).into_owned();
    let name_width = if item.help.is_empty() { room } else { names.min(room) };
    let name = width::fit(&name, name_width);
    let left = room.saturating_sub(name_width + 2);
    let help = if left < 4 { String::new() } else { format!("  {}", width::fit(&item.help, left)) };
    let theme = brush.theme;
    if is_selected {
        let text = width::fit(&format!("{sign}{name}{help}"), columns);
        return Line::styled(text, theme.style(Paint::Selected));
    }
    Line::from(vec![
        Span::raw(sign),
        Span::styled(name, theme.style(Paint::Accent)),
        Span::styled(help, theme.style(Paint::Dim)),
    ])
}
