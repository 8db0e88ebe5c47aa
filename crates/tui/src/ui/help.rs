//! The help: every key and every command, made from the table and the current keymap. A command that can be typed can be run
//! from here. Must never describe a key wrongly.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use retake_wire::{Problem, Reply};

use super::composer::EDITING;
use super::keymap::{Command, Context, Keymap, Row, TABLE};
use super::msg::{PaneInstruction, Ticket};
use super::pane::{Cx, Pane, PaneContext};
use super::pane_frame::PaneFrame;
use super::scroll::scrolled;
use super::theme::Paint;
use crate::text::{safe, width};

/// From this width on, there are two columns.
const WIDE: u16 = 100;

/// Commands show their names if their descriptions have at least so many columns.
const NAMED: usize = 26;

/// The gap between them.
const GAP: u16 = 2;

/// The most important keys, shown first.
const ESSENTIALS: &[Command] = &[
    Command::Send,
    Command::NewLine,
    Command::Rewind,
    Command::Undo,
    Command::Stop,
    Command::Help,
    Command::Quit,
];

/// What the mouse does.
const MOUSE: &[(&str, &str)] = &[
    ("drag", "Copy the text that you drag over; Esc or a click removes the highlight"),
    ("Shift drag", "Select text as the terminal does"),
    ("click", "Select a message, a row or a tab; in the composer, write there"),
    ("wheel", "Scroll"),
];

/// What signs and badges mean.
const SIGNS: &[(&str, &str)] = &[
    ("✓ ✗ ○ !", "a call: done, failed, not run, interrupted"),
    ("3 files", "the number of files that a turn changed"),
    ("1 command", "the number of commands that it ran"),
    ("2 posts", "the posts of its answers in chats"),
    ("1 stays", "calls with effects outside, which may stay"),
    ("~3 $1 @2 !1", "the same in a narrow window"),
    ("● ⊘ ⑂", "a conversation: at work, read-only, a fork"),
    ("2 * title", "a tab: its run has ended since you looked"),
    ("●", "the current choice in a list"),
    ("● ○ ◆", "the tree: here, another branch, the beginning"),
    ("↶ ↷", "what undo and redo do next"),
];

/// What can be named after a command.
const WORDS: &[(&str, &str)] = &[
    ("ENTRY", "a message: t3 is that of turn 3, @ the last one, or its label"),
    ("before N", "an operation by its number: /ops lists them"),
];

/// The help.
#[derive(Debug)]
pub(crate) struct Help {
    keys: Keymap,
    /// The place that it was opened in comes first.
    from: Context,
    filter: String,
    top: usize,
    /// Visible rows, and all rows.
    rows: usize,
    all: usize,
    /// The selected one of the commands that can be run.
    selected: Option<usize>,
    /// The lines of these commands at the last drawing.
    places: Vec<usize>,
    /// The selected one was just chosen: the next drawing scrolls to it.
    reveals: bool,
}

/// A group of help rows.
struct Section {
    title: &'static str,
    rows: Vec<HelpRow>,
}

/// The description of a command.
struct HelpRow {
    /// The key to press or the text to type.
    keys: String,
    /// The effect.
    help: &'static str,
    /// Its name, which the search also finds.
    name: &'static str,
    /// The command, if Enter runs it, with its number among those that can be run.
    choice: Option<(usize, Command)>,
}

impl HelpRow {
    /// A row that only informs.
    fn new(keys: impl Into<String>, help: &'static str, name: &'static str) -> Self {
        Self { keys: keys.into(), help, name, choice: None }
    }

    /// The row of a command: it can be run if it can be typed.
    fn of(row: &'static Row, keys: String, name: &'static str) -> Self {
        Self { choice: row.takes.map(|_| (0, row.command)), ..Self::new(keys, row.help, name) }
    }
}

/// Whether commands are shown with their names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    Told,
    LeftOut,
}

/// A line of the help.
enum HelpLine {
    Title(&'static str),
    /// Keys, as wide as the whole column, their effect, and the name of the command in the settings; and the number of the
    /// command, if it can be run.
    Row([String; 3], Option<usize>),
    Empty,
}

impl Help {
    /// All help, starting with that of a place.
    pub(crate) fn new(keys: Keymap, from: Context) -> Self {
        let (filter, places) = (String::new(), Vec::new());
        Self { keys, from, filter, top: 0, rows: 0, all: 0, selected: None, places, reveals: false }
    }

    /// The sections, filtered.
    fn sections(&self) -> Vec<Section> {
        let mut sections: Vec<Section> =
            places(self.from).into_iter().map(|place| self.keys_in(place)).collect();
        let writing = EDITING.iter().map(|(keys, help)| HelpRow::new(*keys, help, "")).collect();
        let after = sections.iter().position(|section| section.title == Context::Talk.title());
        let writing = Section { title: "Writing", rows: writing };
        sections.insert(after.map_or(sections.len(), |after| after + 1), writing);
        let typed = TABLE.iter().filter_map(typed);
        let words = WORDS.iter().map(|(word, help)| HelpRow::new(*word, help, ""));
        let typed = Iterator::chain(typed, words).collect();
        sections.push(Section { title: "To be typed", rows: typed });
        let mouse = MOUSE.iter().map(|(what, help)| HelpRow::new(*what, help, "mouse"));
        sections.push(Section { title: "The mouse", rows: mouse.collect() });
        let signs = SIGNS.iter().map(|(sign, help)| HelpRow::new(*sign, help, ""));
        sections.push(Section { title: "Signs", rows: signs.collect() });
        if self.filter.trim().is_empty() {
            let rows = ESSENTIALS.iter().filter_map(|command| self.told(command.row())).collect();
            sections.insert(0, Section { title: "Most important", rows });
        }
        let words: Vec<String> = self.filter.split_whitespace().map(str::to_lowercase).collect();
        for section in &mut sections {
            section.rows.retain(|HelpRow { keys, help, name, .. }| {
                let said = format!("{keys} {help} {name} {}", section.title).to_lowercase();
                words.iter().all(|word| said.contains(word))
            });
        }
        sections.retain(|section| !section.rows.is_empty());
        let choices = sections.iter_mut().flat_map(|section| &mut section.rows);
        for (number, choice) in choices.filter_map(|row| row.choice.as_mut()).enumerate() {
            choice.0 = number;
        }
        sections
    }

    /// The commands that can be run, in the order of their rows.
    fn choices(&self) -> Vec<Command> {
        let rows = self.sections().into_iter().flat_map(|section| section.rows);
        rows.filter_map(|row| row.choice).map(|(_, command)| command).collect()
    }

    /// Selects the next command that can be run; without a selection, the first one on the screen.
    fn step(&mut self, command: Command) {
        let shown = self.top..self.top + self.rows;
        let first = self.places.iter().position(|place| shown.contains(place)).unwrap_or(0);
        let next = match (self.selected, command) {
            (None, _) => first,
            (Some(at), Command::Down) => at + 1,
            (Some(at), _) => at.saturating_sub(1),
        };
        self.selected = self.places.len().checked_sub(1).map(|last| next.min(last));
        self.reveals = true;
    }

    fn keys_in(&self, place: Context) -> Section {
        let rows = TABLE.iter().filter(|row| row.context == place);
        Section { title: place.title(), rows: rows.filter_map(|row| self.told(row)).collect() }
    }

    /// A command with its keys; `None` if it has none.
    fn told(&self, row: &'static Row) -> Option<HelpRow> {
        let keys = self.keys.keys(row.command);
        // The usual key comes first, as wherever one is named.
        let first = self.keys.named(row.command);
        let mut names: Vec<String> = keys.iter().map(ToString::to_string).collect();
        names.sort_by_key(|name| *name != first);
        (!names.is_empty()).then(|| HelpRow::of(row, names.join(" "), row.name))
    }

    /// The filter has changed: its first command is selected.
    fn filtered(&mut self) {
        let is_filtered = !self.filter.trim().is_empty();
        self.selected = (is_filtered && !self.choices().is_empty()).then_some(0);
        (self.top, self.reveals) = (0, is_filtered);
    }

    /// Notes the line of each command that can be run, and scrolls to the selected one if it was just chosen.
    fn place(&mut self, columns: &[Vec<HelpLine>]) {
        let lines = columns.iter().flat_map(|lines| lines.iter().enumerate());
        let numbered = lines.filter_map(|(at, line)| match line {
            HelpLine::Row(_, Some(number)) => Some((*number, at)),
            _ => None,
        });
        // The first and the last line of each.
        let mut places = BTreeMap::new();
        for (number, at) in numbered {
            places.entry(number).or_insert((at, at)).1 = at;
        }
        self.places = places.values().map(|(first, _)| *first).collect();
        let selected = self.selected.and_then(|selected| places.get(&selected));
        if let (Some((first, last)), true) = (selected, std::mem::take(&mut self.reveals)) {
            self.top = self.top.max((last + 1).saturating_sub(self.rows)).min(*first);
        }
    }

    fn scroll(&mut self, top: usize) {
        self.top = top.min(self.all.saturating_sub(self.rows));
    }

    /// Two columns have no room for names: search results are shown in one.
    fn is_halved(&self, columns: u16) -> bool {
        columns >= WIDE && self.filter.trim().is_empty()
    }

    fn body(&mut self, frame: &mut Frame<'_>, area: Rect, brush: &PaneContext<'_>) {
        let parts = if self.is_halved(area.width) { halves(self.sections()) } else { vec![self.sections()] };
        let count = u16::try_from(parts.len()).unwrap_or(1).max(1);
        let wide = area.width.saturating_sub(GAP * (count - 1)) / count;
        let names = if count > 1 { Names::LeftOut } else { Names::Told };
        let columns: Vec<_> = parts.into_iter().map(|part| lines(part, wide.into(), names)).collect();
        self.rows = area.height.into();
        self.all = columns.iter().map(Vec::len).max().unwrap_or(0);
        self.place(&columns);
        self.scroll(self.top);
        if self.all == 0 {
            let says = format!("nothing matches “{}”", safe::line(&self.filter));
            frame
                .render_widget(Line::styled(says, brush.theme.style(Paint::Dim)), Rect { height: 1, ..area });
            return;
        }
        for (column, at) in columns.iter().zip(0..) {
            let x = area.x + at * (wide + GAP);
            for (said, y) in column.iter().skip(self.top).zip(area.y..area.bottom()) {
                frame.render_widget(
                    said.line(brush, wide.into(), self.selected),
                    Rect { x, y, width: wide, height: 1 },
                );
            }
        }
    }
}

impl HelpLine {
    fn line(&self, brush: &PaneContext<'_>, columns: usize, selected: Option<usize>) -> Line<'static> {
        let theme = brush.theme;
        match self {
            Self::Row(parts, Some(choice)) if Some(*choice) == selected => {
                let [pressed, help, name] = parts;
                let text = width::fit(&format!("{pressed}  {help}{name}"), columns);
                Line::styled(text, theme.style(Paint::Selected))
            }
            Self::Empty => Line::default(),
            Self::Title(title) => {
                Line::styled(width::truncate(title, columns).into_owned(), theme.style(Paint::Bold))
            }
            Self::Row([pressed, help, name], _) => Line::from(vec![
                Span::styled(pressed.clone(), theme.style(Paint::Accent)),
                Span::raw("  "),
                Span::raw(help.clone()),
                Span::styled(name.clone(), theme.style(Paint::Dim)),
            ]),
        }
    }
}

impl Pane for Help {
    fn context(&self) -> Context {
        Context::Pane
    }

    fn opened(&mut self, _: &mut Cx<'_>) {}

    fn command(&mut self, command: Command, cx: &mut Cx<'_>) {
        match command {
            Command::Erase => {
                width::pop_letter(&mut self.filter);
                self.filtered();
            }
            Command::EraseAll => {
                self.filter.clear();
                self.filtered();
            }
            Command::Up | Command::Down if !self.places.is_empty() => self.step(command),
            Command::Accept => match self.selected.and_then(|at| self.choices().get(at).copied()) {
                Some(chosen) => cx.want(PaneInstruction::Command(chosen)),
                None => cx.want(PaneInstruction::Close),
            },
            Command::Close | Command::Help => cx.want(PaneInstruction::Close),
            _ => {
                self.selected = None;
                self.scroll(scrolled(command, self.top, self.rows).unwrap_or(self.top));
            }
        }
    }

    fn typed(&mut self, text: &str, _: &mut Cx<'_>) {
        self.filter.push_str(&safe::line(text));
        self.filtered();
    }

    fn replied(&mut self, _: Ticket, _: Result<Reply, Problem>, _: &mut Cx<'_>) {}

    fn changed(&mut self, _: &mut Cx<'_>) {}

    fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, brush: &PaneContext<'_>) {
        let filter = if self.filter.is_empty() { "type to filter" } else { &self.filter };
        let names = if self.is_halved(area.width) { ", and to see the names that settings use" } else { "" };
        let about = format!("› {filter}{names}");
        let keys =
            [(Command::Down, "select"), (Command::Accept, "run it"), (Command::PageDown, "a page down")];
        let around = PaneFrame { title: "Keys and commands", about: &about, keys: &keys };
        let body = around.draw(frame, area, brush);
        if !body.is_empty() {
            self.body(frame, body, brush);
        }
    }
}

/// All places: first the given one, then those around it, then the others.
fn places(from: Context) -> Vec<Context> {
    let mut places: Vec<Context> = std::iter::successors(Some(from), |place| place.around()).collect();
    for row in TABLE {
        if !places.contains(&row.context) {
            places.push(row.context);
        }
    }
    places
}

fn typed(row: &'static Row) -> Option<HelpRow> {
    let keys = format!("/{} {}", row.typed_name(), row.takes?).trim_end().to_owned();
    // The typed text already is its name.
    Some(HelpRow::of(row, keys, ""))
}

/// The sections below one another. Text longer than its column continues below: nothing is cut.
fn lines(sections: Vec<Section>, columns: usize, named: Names) -> Vec<HelpLine> {
    let mut lines = Vec::new();
    let told = sections.iter().flat_map(|section| &section.rows);
    let word = |told: &HelpRow| told.keys.split(' ').map(width::columns).max().unwrap_or(0);
    // No key is broken, if that leaves half of the room for the description.
    let whole = told.clone().map(word).max().unwrap_or(0).min(columns / 2);
    let keys = told.map(|told| width::columns(&told.keys)).max().unwrap_or(0);
    let keys = keys.min((columns / 3).max(whole)).max(1);
    let names =
        sections.iter().flat_map(|section| &section.rows).map(|told| told.name.len()).max().unwrap_or(0);
    // The settings use the command's name: it is shown at the right if the description keeps enough room.
    let has_room = columns.saturating_sub(keys + names + 4) >= NAMED;
    let names = if has_room && named == Names::Told { names } else { 0 };
    let room = columns.saturating_sub(keys + 2 + if names > 0 { names + 2 } else { 0 }).max(1);
    for section in sections {
        if !lines.is_empty() {
            lines.push(HelpLine::Empty);
        }
        lines.push(HelpLine::Title(section.title));
        for told in section.rows {
            let (pressed, help) = (width::wrap(&told.keys, keys), width::wrap(told.help, room));
            let part = |of: &[String], row: usize| of.get(row).cloned().unwrap_or_default();
            lines.extend((0..pressed.len().max(help.len())).map(|row| {
                let name = if row == 0 && names > 0 { told.name } else { "" };
                let mut help = part(&help, row);
                if !name.is_empty() {
                    help = width::fit(&help, room + 2);
                }
                let parts = [width::fit(&part(&pressed, row), keys), help, name.to_owned()];
                HelpLine::Row(parts, told.choice.map(|(number, _)| number))
            }));
        }
    }
    lines
}

/// Two columns of similar height; each section is in one of them.
fn halves(mut sections: Vec<Section>) -> Vec<Vec<Section>> {
    let all: usize = sections.iter().map(|section| section.rows.len() + 2).sum();
    let mut left = 0;
    let count = sections.iter().take_while(|section| {
        let fits = left < all / 2;
        left += section.rows.len() + 2;
        fits
    });
    let right = sections.split_off(count.count());
    [sections, right].into_iter().filter(|column| !column.is_empty()).collect()
}
