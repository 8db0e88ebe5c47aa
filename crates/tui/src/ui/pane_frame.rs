//! The common parts of panes: a title above, the keys below, and an input line for a name. Must never name a key
//! that is not in the keymap.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use retake_wire::{Problem, english};

use super::keymap::Command;
use super::pane::PaneContext;
use super::theme::Paint;
use crate::hint::Audience;
use crate::text::style::Style;
use crate::text::styled::text;
use crate::text::{Text, safe, width};

/// The frame around the body of a pane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PaneFrame<'a> {
    /// The title.
    pub(crate) title: &'a str,
    /// Further information, in a few words.
    pub(crate) about: &'a str,
    /// Keys and their effects, the most important first. A key without an effect shares that of the next one.
    pub(crate) keys: &'a [(Command, &'a str)],
}

impl PaneFrame<'_> {
    /// Draws title and keys if there is room; returns the rest for the body.
    pub(crate) fn draw(self, frame: &mut Frame<'_>, area: Rect, brush: &PaneContext<'_>) -> Rect {
        self.closing(frame, area, brush, "back")
    }

    /// The same, with the effect of closing it.
    pub(crate) fn closing(
        self,
        frame: &mut Frame<'_>,
        area: Rect,
        brush: &PaneContext<'_>,
        does: &str,
    ) -> Rect {
        let head = u16::from(area.height >= 4);
        let foot = u16::from(area.height >= 6);
        if head > 0 {
            self.draw_title(frame, Rect { height: 1, ..area }, brush);
        }
        if foot > 0 {
            let line = self.keys_in(brush, area.width.into(), does);
            frame.render_widget(line, Rect { y: area.bottom() - 1, height: 1, ..area });
        }
        Rect { y: area.y + head, height: area.height - head - foot, ..area }
    }

    fn draw_title(self, frame: &mut Frame<'_>, area: Rect, brush: &PaneContext<'_>) {
        let columns = usize::from(area.width);
        let title = safe::line(self.title);
        let title = width::truncate(&title, columns);
        let room = columns.saturating_sub(width::columns(&title) + 2);
        let about = safe::line(self.about);
        let line = Line::from(vec![
            Span::styled(title.into_owned(), brush.theme.style(Paint::Bold)),
            Span::raw("  "),
            Span::styled(width::truncate(&about, room).into_owned(), brush.theme.style(Paint::Dim)),
        ]);
        frame.render_widget(line, area);
    }

    /// As many keys as fit, always with the way back.
    pub(crate) fn keys_in(self, brush: &PaneContext<'_>, columns: usize, closes: &str) -> Line<'static> {
        let theme = brush.theme;
        let named = |(command, does): (Command, &str)| (brush.keys.named(command), does.to_owned());
        let close = named((Command::Close, closes));
        let wide = |(key, does): &(String, String)| width::columns(key) + 1 + width::columns(does);
        let mut used = wide(&close);
        let mut shown = Vec::new();
        let mut shares = String::new();
        for (key, does) in self.keys.iter().copied().map(named) {
            if does.is_empty() {
                shares = format!("{key}/");
                continue;
            }
            let key = (std::mem::take(&mut shares) + &key, does);
            used += wide(&key) + 3;
            if used > columns {
                break;
            }
            shown.push(key);
        }
        shown.push(close);
        let mut spans = Vec::new();
        for (at, (key, does)) in shown.into_iter().enumerate() {
            if at > 0 {
                spans.push(Span::styled(" · ", theme.style(Paint::Dim)));
            }
            spans.push(Span::styled(key, theme.style(Paint::Accent)));
            spans.push(Span::styled(format!(" {does}"), theme.style(Paint::Dim)));
        }
        Line::from(spans)
    }
}

/// An input line for a name, in place of the keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NameInput {
    /// The thing to name.
    pub(crate) what: String,
    /// The name typed so far.
    pub(crate) text: String,
}

impl NameInput {
    /// Text was typed.
    pub(crate) fn typed(&mut self, text: &str) {
        self.text.extend(text.chars().filter(|c| !c.is_control()));
    }

    /// A command while a name is typed. At the end, returns the named thing and its name; `None` for an empty
    /// name.
    pub(crate) fn command(naming: &mut Option<Self>, command: Command) -> Option<(String, Option<String>)> {
        let mut it = naming.take()?;
        match command {
            Command::Close => return None,
            Command::Accept => {
                let name = Some(it.text.trim()).filter(|name| !name.is_empty()).map(str::to_owned);
                return Some((it.what, name));
            }
            Command::Erase => {
                width::pop_letter(&mut it.text);
            }
            Command::EraseAll => it.text.clear(),
            _ => {}
        }
        *naming = Some(it);
        None
    }

    /// Draws it in the last row.
    pub(crate) fn draw(&self, frame: &mut Frame<'_>, area: Rect, brush: &PaneContext<'_>, ask: &str) {
        let row = Rect { y: area.bottom().saturating_sub(1), height: area.height.min(1), ..area };
        prompt(frame, row, brush, &format!("{ask}: "), [&self.text, ""]);
    }
}

/// An input line: its label, the text, and a note after it.
pub(crate) fn prompt(
    frame: &mut Frame<'_>,
    row: Rect,
    brush: &PaneContext<'_>,
    ask: &str,
    [text, about]: [&str; 2],
) {
    if row.is_empty() {
        return;
    }
    // Room for the cursor after the text, and for the ellipsis before it.
    let room = usize::from(row.width).saturating_sub(width::columns(ask) + 2);
    // People look at the end, where they type.
    let text = width::end(&safe::line(text), room);
    let end = width::columns(ask) + width::columns(&text);
    let line = Line::from(vec![
        Span::styled(ask, brush.theme.style(Paint::Accent)),
        Span::raw(text),
        Span::styled(about, brush.theme.style(Paint::Dim)),
    ]);
    frame.render_widget(ratatui::widgets::Clear, row);
    frame.render_widget(line, row);
    let x = row.x + u16::try_from(end).unwrap_or(u16::MAX).min(row.width - 1);
    frame.set_cursor_position(Position::new(x, row.y));
}

/// An error as a rendering.
pub(crate) fn wrong(problem: &Problem) -> Text {
    let mut text = text![(Style::Error, safe::line(&english::problem(problem))), "\n"];
    let hint = problem.hint.as_ref().map(|hint| Audience::Screen.words(hint));
    for line in problem.causes.iter().chain(&hint) {
        text.push(text![(Style::Dim, safe::line(line)), "\n"]);
    }
    text
}

/// The text in place of rows: an error, that they are loading, or a hint.
pub(crate) fn told(problem: Option<&Problem>, loading: bool, nothing: &str) -> String {
    match problem {
        Some(problem) => plain(problem),
        None if loading => "loading…".to_owned(),
        None => nothing.to_owned(),
    }
}

/// An error in plain lines.
fn plain(problem: &Problem) -> String {
    let mut lines = vec![english::problem(problem)];
    lines.extend(problem.causes.iter().cloned());
    lines.extend(problem.hint.as_ref().map(|hint| Audience::Screen.words(hint)));
    safe::block(&lines.join("\n")).into_owned()
}
