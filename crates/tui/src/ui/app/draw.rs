//! The layout of the screen. Must never change anything except what a part remembers of its own size.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph};
use retake_wire::english;

use super::App;
use super::tab::{InputFor, Rewriting, Tab};
use crate::render::words;
use crate::text::width;
use crate::ui::clusters;
use crate::ui::composer::Keys;
use crate::ui::keymap::{Command, Context, Keymap};
use crate::ui::pane::PaneContext;
use crate::ui::pane_frame::prompt;
use crate::ui::theme::Paint;

/// With fewer rows, everything optional is left out.
const LOW: u16 = 10;

/// With fewer rows, a pane gets the rows of the composer, which has no focus then.
const LOW_PANE: u16 = 14;

/// The areas of the parts.
struct Areas {
    tabs: Rect,
    main: Rect,
    line: Rect,
    rule: Rect,
    composer: Rect,
    status: Rect,
}

impl App {
    /// Draws the UI, and requests what the view lacks.
    pub(crate) fn draw(&mut self, frame: &mut Frame<'_>) {
        let areas = self.areas(frame.area());
        self.draw_tabs(frame, areas.tabs);
        let has_keys = self.context();
        let model = Some(self.model_words()).filter(|words| !words.is_empty());
        let place = Some(self.place_words()).filter(|_| self.tab().conversation().is_none());
        let recent = &self.beginning.recent;
        let recent = recent.iter().map(|it| (words::named(it), it.changed_ms)).collect();
        let limits = self.beginning.never_captured.as_ref().map(english::never_captured);
        let tab = self.tab_mut();
        tab.view.greeting.recent = recent;
        tab.view.greeting.limits = limits;
        tab.view.greeting.model = model;
        tab.view.has_rule = areas.rule.height > 0;
        tab.view.greeting.place = place;
        tab.view.asking.is_writing = !tab.is_free_to_answer();
        tab.view.asking.armed = tab.answers.armed.map(|armed| armed.command);
        tab.view.asking.offer = tab.answers.offer;
        let (theme, now_ms, current) = (self.looks.theme, self.now_ms, self.tabs.current);
        let Self { tabs, keys, .. } = self;
        let tab = &mut tabs[current];
        let brush = PaneContext { theme, keys, now_ms, conversation: tab.talk.conversation.as_ref() };
        (tab.areas.main, tab.areas.composer) = (areas.main, areas.composer);
        match &mut tab.panes.front {
            Some(pane) => pane.draw(frame, areas.main, &brush),
            None => tab.view.draw(frame, areas.main, &tab.talk, &brush),
        }
        let focus = match (&tab.panes.front, &tab.line, has_keys) {
            (Some(_), ..) | (_, Some(_), _) => Keys::Elsewhere,
            (_, _, Context::Select) => Keys::Commands,
            _ => Keys::Here,
        };
        frame.render_widget(rule(tab, focus, areas.rule.width, &brush), areas.rule);
        let empty = placeholder(tab, has_keys, brush.keys, areas.composer.width);
        tab.composer.draw(frame, areas.composer, &brush, focus, &empty);
        if let Some(line) = &tab.line {
            let label = match &line.what {
                InputFor::Find => "find",
                InputFor::Title => "title",
                InputFor::Label(_) => "label",
            };
            let count = if line.what == InputFor::Find {
                tab.view.found().unwrap_or_default()
            } else {
                String::new()
            };
            let [ask, about] = [format!("{label}: "), format!("  {count}")];
            prompt(frame, areas.line, &brush, &ask, [&line.text, &about]);
        }
        self.draw_status(frame, areas.status, has_keys, areas.rule.is_empty());
        self.want_earlier();
        self.draw_dragged(frame.buffer_mut());
        super::mouse::without_labels(frame.buffer_mut());
        clusters::settle(frame.buffer_mut());
    }

    /// The acts that follow from drawing.
    pub(crate) fn drawn(&mut self) -> Vec<crate::ui::msg::Act> {
        std::mem::take(&mut self.requests.acts)
    }

    fn areas(&mut self, all: Rect) -> Areas {
        let many = self.tabs.len() > 1 && all.height >= LOW;
        let status = self.status_rows(all);
        let tab = self.tab_mut();
        let most = (all.height / 3).max(1);
        let composer = tab.composer.height(all.width).clamp(1, most);
        let has_composer = tab.panes.front.is_none() || all.height >= LOW_PANE;
        let composer = if has_composer { composer } else { 0 };
        let rows = Layout::vertical([
            Constraint::Length(u16::from(many)),
            Constraint::Min(1),
            Constraint::Length(u16::from(tab.line.is_some())),
            Constraint::Length(u16::from(has_composer && all.height >= LOW)),
            Constraint::Length(composer),
            Constraint::Length(status),
        ]);
        let [tabs, main, line, rule, composer, status] = rows.areas(all);
        Areas { tabs, main, line, rule, composer, status }
    }

    fn draw_tabs(&self, frame: &mut Frame<'_>, area: Rect) {
        if area.height == 0 {
            return;
        }
        let spans = self.tab_spans(area.width).into_iter().map(|(_, span)| span);
        frame.render_widget(Paragraph::new(Line::from_iter(spans)), area);
    }

    /// The tabs with their columns.
    fn tab_spans(&self, columns: u16) -> Vec<(u16, Span<'static>)> {
        let each = (usize::from(columns) / self.tabs.len().max(1)).clamp(6, 30);
        let span = |(at, tab): (usize, &super::tab::Tab)| {
            let sign = match (tab.talk.is_running(), tab.is_unseen) {
                (true, _) => "● ",
                (false, true) => "* ",
                (false, false) => "",
            };
            let title = width::truncate(&format!("{} {sign}{}", at + 1, tab.title()), each - 2).into_owned();
            let paint = if at == self.tabs.current { Paint::Selected } else { Paint::Dim };
            let text = format!(" {title} ");
            let taken = u16::try_from(width::columns(&text)).unwrap_or(u16::MAX);
            (taken, Span::styled(text, self.looks.theme.style(paint)))
        };
        self.tabs.iter().enumerate().map(span).collect()
    }

    /// A click in the tab bar shows that tab.
    pub(super) fn click_tab(&mut self, at: Position) {
        if self.tabs.len() < 2 || at.y != 0 {
            return;
        }
        let mut from = 0;
        for (tab, (taken, _)) in self.tab_spans(self.tab().areas.main.width).into_iter().enumerate() {
            if (from..from + taken).contains(&at.x) {
                self.keep_draft(self.tabs.current);
                self.tabs.current = tab;
                return;
            }
            from += taken;
        }
    }
}

/// The line above the composer; it also shows what the text below is for.
fn rule(tab: &Tab, focus: Keys, columns: u16, brush: &PaneContext<'_>) -> Block<'static> {
    let theme = brush.theme;
    let colour = if focus == Keys::Here { Paint::Border } else { Paint::Bar };
    let rule = Block::new().borders(Borders::TOP).border_style(theme.style(colour));
    let below = tab.view.below().filter(|_| tab.panes.front.is_none());
    let (rule, taken) = match below {
        Some((text, paint)) => {
            let below = Line::styled(text.to_owned(), theme.style(paint)).right_aligned();
            (rule.title(below), width::columns(text) + 1)
        }
        None => (rule, 0),
    };
    let (title, paint) = match editing(tab, brush.keys, usize::from(columns).saturating_sub(2 + taken)) {
        Some(editing) => (editing, Paint::Warn),
        None if focus == Keys::Commands && !tab.composer.is_empty() => (selected(brush.keys), Paint::Dim),
        None => return rule,
    };
    rule.title(Span::styled(format!(" {title} "), theme.style(paint)))
}

/// That the next message replaces another one, and what sending it takes back, as far as there is room.
pub(super) fn editing(tab: &Tab, keys: &Keymap, columns: usize) -> Option<String> {
    let Rewriting { entry, takes_back, .. } = tab.outgoing.rewriting.as_ref()?;
    let known = tab.talk.entry(entry);
    let name = known.map_or_else(|| "a message".to_owned(), |known| format!("t{}", known.place.turn));
    let escape = keys.named(Command::Escape);
    let full = format!("editing {name}: sending takes back {takes_back} · {escape} cancels");
    let short = format!("editing {name}: takes back {takes_back}");
    let fits = [full, short].into_iter().find(|text| width::columns(text) <= columns);
    fits.or_else(|| {
        let least = format!("edit {name}: −{takes_back}");
        Some(width::truncate(&least, columns).into_owned())
    })
}

fn selected(keys: &Keymap) -> String {
    format!("a message is selected: its keys act · {} to write", keys.named(Command::SelectLeave))
}

/// The text in an empty composer: what Enter would do, or what has the focus.
fn placeholder(tab: &Tab, has_keys: Context, keys: &Keymap, columns: u16) -> String {
    let named = |command| keys.named(command);
    if let Some(pane) = &tab.panes.front {
        let close = named(Command::Close);
        return match pane.leaves() {
            true => format!("keys work in the view above · {close} quits retake"),
            false => format!("keys work in the view above · {close} returns here"),
        };
    }
    if let Some(line) = &tab.line {
        let (enter, esc) = (named(Command::FindNext), named(Command::FindLeave));
        return match line.what {
            InputFor::Find => format!("{enter} finds the earlier one · {esc} returns here"),
            InputFor::Title | InputFor::Label(_) => format!("{enter} names it · {esc} leaves it as it was"),
        };
    }
    match (&tab.outgoing.rewriting, tab.talk.is_running(), has_keys) {
        (_, _, Context::Select) => selected(keys),
        (Some(_), ..) => format!("Another wording of that message · {} cancels", named(Command::Escape)),
        (_, _, Context::Grant) => {
            let [grant, escape] = [Command::Grant, Command::Escape].map(named);
            format!("{grant} gives the answer · {escape} gives none")
        }
        (_, _, Context::Asked) if tab.view.hides_asked() => {
            let [show, deny] = [Command::ShowCall, Command::Deny].map(|it| keys.answer_name(it, false));
            format!("{show} shows all of the call · {deny} refuses it")
        }
        (_, _, Context::Asked) => {
            let [allow, deny] = [Command::AllowOnce, Command::Deny].map(|it| keys.answer_name(it, false));
            let full =
                format!("{allow} allows this call, {deny} refuses it · a text that you send refuses it, too");
            let fits = width::columns(&full) + 2 <= usize::from(columns);
            if fits { full } else { format!("{allow} allows, {deny} refuses, a text refuses it") }
        }
        _ if tab.waits()[1] => "Type the number of an answer, or another answer".to_owned(),
        (_, true, _) => "Say something meanwhile: the agent gets it next".to_owned(),
        _ => "Say something · / for commands · @ for files".to_owned(),
    }
}
