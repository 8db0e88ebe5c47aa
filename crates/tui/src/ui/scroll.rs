//! A rendering that is longer than its area: it is rendered once per width and scrolled. Must never render again only because it
//! is drawn again.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use retake_wire::reply::Plan;
use retake_wire::{Problem, Reply};

use super::doc;
use super::keymap::Command;
use super::pane::PaneContext;
use super::pane_frame::wrong;
use super::theme::{Paint, Theme};
use super::words;
use crate::render;
use crate::text::{Look, Text, safe, width};

/// Times are shown in minutes.
const MINUTE_MS: i64 = 60_000;

/// A text to read.
#[derive(Debug, Default)]
pub(crate) struct Scroll {
    /// The text above it.
    head: String,
    manner: ReplyDisplay,
    /// More messages follow the loaded ones.
    more: bool,
    what: ScrollContent,
    /// The first drawn line.
    top: usize,
    /// The end is shown, until the person scrolls.
    end: bool,
    /// Number of rows at the last drawing.
    rows: usize,
    laid: Option<LaidOutText>,
}

/// How a reply is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ReplyDisplay {
    /// The end of messages, the beginning of anything else.
    #[default]
    Plain,
    /// The beginning, also of messages.
    FromTop,
    /// A plan as a comparison.
    Compared,
}

#[derive(Debug, Default)]
enum ScrollContent {
    /// It has not arrived yet.
    #[default]
    Waits,
    Said(String),
    Reply(Box<Reply>),
    Plan(Box<Plan>),
    Wrong(Box<Problem>),
}

/// A rendering and its parameters.
#[derive(Debug)]
struct LaidOutText {
    columns: u16,
    theme: Theme,
    minute: i64,
    lines: Vec<Line<'static>>,
}

impl Scroll {
    /// Nothing is known yet.
    pub(crate) fn wait(&mut self) {
        self.put(ScrollContent::Waits);
    }

    /// A sentence.
    pub(crate) fn say(&mut self, text: impl Into<String>) {
        self.put(ScrollContent::Said(text.into()));
    }

    /// A reply of the owner.
    pub(crate) fn reply(&mut self, reply: Reply) {
        match reply {
            Reply::Entries(mut page) => {
                // These two lines would tell shell users how to see more.
                page.earlier = false;
                let more = std::mem::take(&mut page.later);
                self.put(ScrollContent::Reply(Box::new(Reply::Entries(page))));
                (self.more, self.end) = (more, self.manner != ReplyDisplay::FromTop);
            }
            Reply::Plan(plan) => self.put(ScrollContent::Plan(Box::new(plan))),
            reply => self.put(ScrollContent::Reply(Box::new(reply))),
        }
    }

    /// A newer version of the same reply: the scroll position stays.
    pub(crate) fn renew(&mut self, reply: Reply) {
        let (top, end) = (self.top, self.end);
        self.reply(reply);
        (self.top, self.end) = (top, end);
    }

    /// It failed.
    pub(crate) fn wrong(&mut self, problem: Problem) {
        self.put(ScrollContent::Wrong(Box::new(problem)));
    }

    fn put(&mut self, what: ScrollContent) {
        let head = std::mem::take(&mut self.head);
        *self = Self { head, manner: self.manner, what, rows: self.rows, ..Self::default() };
    }

    /// How the next replies are shown.
    pub(crate) fn manner(&mut self, manner: ReplyDisplay) {
        if self.manner != manner {
            self.manner = manner;
            self.laid = None;
        }
    }

    /// A sentence above any content.
    pub(crate) fn head(&mut self, head: String) {
        if self.head != head {
            self.head = head;
            self.laid = None;
        }
    }

    /// Scrolls, if the command is for that.
    pub(crate) fn command(&mut self, command: Command) {
        let Some(top) = scrolled(command, self.top, self.rows) else { return };
        let lines = self.laid.as_ref().map_or(0, |laid| laid.lines.len());
        self.top = top.min(lines.saturating_sub(self.rows));
        self.end = false;
    }

    /// The reading position, if not all is visible: "12 of 80".
    pub(crate) fn place(&self) -> Option<String> {
        let lines = self.laid.as_ref()?.lines.len();
        (lines > self.rows).then(|| format!("{} of {lines}", (self.top + self.rows).min(lines)))
    }

    /// Draws the visible part.
    pub(crate) fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, brush: &PaneContext<'_>) {
        self.rows = area.height.into();
        if area.is_empty() {
            return;
        }
        let minute = brush.now_ms / MINUTE_MS;
        let fits =
            |laid: &LaidOutText| (laid.columns, laid.theme, laid.minute) == (area.width, brush.theme, minute);
        if !self.laid.as_ref().is_some_and(fits) {
            let lines = self.lines(area.width, brush);
            self.laid = Some(LaidOutText { columns: area.width, theme: brush.theme, minute, lines });
        }
        let Some(laid) = &self.laid else { return };
        let last = laid.lines.len().saturating_sub(self.rows);
        self.top = if self.end { last } else { self.top.min(last) };
        draw_lines(frame, area, &laid.lines[self.top..]);
    }

    fn lines(&self, columns: u16, brush: &PaneContext<'_>) -> Vec<Line<'static>> {
        let look = words::look(columns, brush.now_ms);
        let dim = |text: &str| -> Vec<Line<'static>> {
            let lines = width::wrap(&safe::block(text), columns.into());
            lines.into_iter().map(|line| Line::styled(line, brush.theme.style(Paint::Dim))).collect()
        };
        let mut lines = if self.head.is_empty() { Vec::new() } else { dim(&self.head) };
        lines.extend(match &self.what {
            ScrollContent::Waits => dim("…"),
            ScrollContent::Said(text) => dim(text),
            ScrollContent::Reply(reply) => rendered(&look, &render::reply(&look, reply), brush.theme),
            ScrollContent::Plan(plan) if self.manner == ReplyDisplay::Compared => {
                rendered(&look, &render::plan::comparison(&look, plan), brush.theme)
            }
            ScrollContent::Plan(plan) => rendered(&look, &render::plan::body(&look, plan), brush.theme),
            ScrollContent::Wrong(problem) => rendered(&look, &wrong(problem), brush.theme),
        });
        if self.more {
            lines.push(Line::default());
            lines.extend(dim("… more was said after that"));
        }
        lines
    }
}

/// The line that a list command leads to from a line, with so many visible rows. `None` for another command. The end may be
/// beyond the last line.
pub(crate) fn scrolled(command: Command, from: usize, rows: usize) -> Option<usize> {
    let page = rows.max(2) - 1;
    Some(match command {
        Command::Up | Command::DetailUp => from.saturating_sub(1),
        Command::Down | Command::DetailDown => from.saturating_add(1),
        Command::PageUp => from.saturating_sub(page),
        Command::PageDown => from.saturating_add(page),
        Command::First => 0,
        Command::Last => usize::MAX,
        _ => return None,
    })
}

/// Draws lines as far as there is room.
pub(crate) fn draw_lines(frame: &mut Frame<'_>, area: Rect, lines: &[Line<'_>]) {
    for (y, line) in (area.y..area.bottom()).zip(lines) {
        frame.render_widget(line, Rect { y, height: 1, ..area });
    }
}

/// The lines of a rendering; longer ones continue below, broken at a word if possible.
fn rendered(look: &Look, text: &Text, theme: Theme) -> Vec<Line<'static>> {
    doc::rewrap(words::lines(text, theme), look.columns)
}
