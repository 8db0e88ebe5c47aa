//! The mouse: the wheel, clicks, and dragging over text, which copies it. Must never be required, and must never copy text that
//! was not highlighted.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;

use super::App;
use super::tab::InputFor;
use crate::render::words;
use crate::ui::keymap::Command;
use crate::ui::msg::Act;
use crate::ui::theme::LABEL;
use crate::ui::view::View;

/// Lines per step of the wheel.
const WHEEL: i32 = 3;

/// The state of the left button.
#[derive(Debug, Default)]
pub(super) struct Mouse {
    /// Where it was pressed, while it is held.
    pressed: Option<Position>,
    /// The start and end of the drag.
    dragged: Option<(Position, Position)>,
    /// The content of the screen while it is held.
    seen: Buffer,
    /// The copied text: the highlight stays while that text is there.
    copied: Option<String>,
}

impl App {
    pub(super) fn mouse(&mut self, event: MouseEvent) {
        let at = Position { x: event.column, y: event.row };
        match event.kind {
            MouseEventKind::ScrollUp => self.wheel(-WHEEL),
            MouseEventKind::ScrollDown => self.wheel(WHEEL),
            MouseEventKind::Down(MouseButton::Left) => {
                let was_dragged = self.no_longer_dragged();
                // A click that removes a highlight does nothing else.
                self.mouse.pressed = Some(at).filter(|_| !was_dragged);
            }
            MouseEventKind::Drag(MouseButton::Left) => self.drag(at),
            MouseEventKind::Up(MouseButton::Left) => self.release(),
            _ => {}
        }
    }

    fn wheel(&mut self, lines: i32) {
        self.no_longer_dragged();
        if self.tab().panes.front.is_some() {
            let command = if lines < 0 { Command::Up } else { Command::Down };
            return self.with_pane(self.tabs.current, |pane, cx| pane.command(command, cx));
        }
        self.tab_mut().view.scroll(lines);
    }

    /// Removes the highlight; returns whether there was one.
    pub(super) fn no_longer_dragged(&mut self) -> bool {
        let was_dragged = self.mouse.dragged.is_some();
        self.mouse = Mouse::default();
        was_dragged
    }

    fn drag(&mut self, at: Position) {
        let text = self.text_area();
        let Some(from) = self.mouse.pressed.filter(|from| self.tab().areas.main.contains(*from)) else {
            return;
        };
        if text.is_empty() || (self.mouse.dragged.is_none() && at == from) {
            return;
        }
        let inside = |at: Position| Position {
            x: at.x.clamp(text.x, text.right() - 1),
            y: at.y.clamp(text.y, text.bottom() - 1),
        };
        self.mouse.dragged = Some((inside(from), inside(at)));
    }

    fn release(&mut self) {
        let pressed = self.mouse.pressed.take();
        let Some((from, to)) = self.mouse.dragged else {
            return pressed.into_iter().for_each(|at| self.click(at));
        };
        if pressed.is_none() {
            return;
        }
        let text = text_of(&self.mouse.seen, self.text_area(), from, to);
        if text.is_empty() {
            self.no_longer_dragged();
            return;
        }
        let lines = words::count(text.lines().count() as u64, "line");
        self.mouse.copied = Some(text.clone());
        self.requests.acts.push(Act::Copy(text));
        self.say(format!("sent {lines} to the terminal's clipboard"));
    }

    /// A click selects a message, a row of a pane or a tab, or gives the focus back to the composer.
    fn click(&mut self, at: Position) {
        let area = self.tab().areas.main;
        if self.tab().areas.composer.contains(at) {
            return self.click_composer(at);
        }
        if !area.contains(at) {
            return self.click_tab(at);
        }
        if self.tab().panes.front.is_some() {
            self.with_pane(self.tabs.current, |pane, cx| pane.clicked(at, cx));
        } else if self.tab_mut().view.click(at.y - area.y) {
            let tab = self.tab_mut();
            tab.selecting = tab.view.selected().is_some();
        }
    }

    fn click_composer(&mut self, at: Position) {
        if self.tab().panes.front.is_some() {
            let close = self.keys.named(Command::Close);
            return self.refuse(format!("keys work in the view above: {close} goes back"));
        }
        match self.tab().line.as_ref().map(|line| &line.what) {
            Some(InputFor::Find) => self.command(Command::FindLeave, ""),
            Some(_) => {
                let leave = self.keys.named(Command::FindLeave);
                return self.refuse(format!("keys work in the line above: {leave} closes it"));
            }
            None => {}
        }
        let tab = self.tab_mut();
        tab.select(false);
        tab.composer.clicked(at);
    }

    /// The area of text that can be dragged over: without the signs beside it and the bar.
    fn text_area(&self) -> Rect {
        let tab = self.tab();
        if tab.panes.front.is_some() { tab.areas.main } else { View::text_area(tab.areas.main) }
    }

    /// Highlights the dragged text, and remembers the screen while the button is held.
    pub(super) fn draw_dragged(&mut self, screen: &mut Buffer) {
        let area = self.text_area();
        if self.mouse.pressed.is_some() {
            self.mouse.seen = screen.clone();
        }
        let Some((from, to)) = self.mouse.dragged else { return };
        if self.mouse.copied.as_ref().is_some_and(|copied| *copied != text_of(screen, area, from, to)) {
            // The text there has changed.
            self.no_longer_dragged();
            return;
        }
        for row in rows(area, from, to) {
            for at in row {
                if let Some(cell) = screen.cell_mut(at) {
                    cell.modifier.toggle(Modifier::REVERSED);
                }
            }
        }
    }
}

/// The terminal does not get the marks of what is not copied.
pub(super) fn without_labels(screen: &mut Buffer) {
    for cell in &mut screen.content {
        cell.modifier.remove(LABEL);
    }
}

/// The positions between two, both included, in reading order: row by row.
fn rows(area: Rect, from: Position, to: Position) -> impl Iterator<Item = impl Iterator<Item = Position>> {
    let (first, last) = if (from.y, from.x) <= (to.y, to.x) { (from, to) } else { (to, from) };
    (first.y..=last.y).map(move |y| {
        let left = if y == first.y { first.x } else { area.x };
        let right = if y == last.y { last.x } else { area.right().saturating_sub(1) };
        (left..=right).map(move |x| Position { x, y })
    })
}

/// The text between two positions, without blanks at the ends.
fn text_of(screen: &Buffer, area: Rect, from: Position, to: Position) -> String {
    let line = |row: &mut dyn Iterator<Item = Position>| {
        let (mut line, mut covered) = (String::new(), 0);
        for cell in row.filter_map(|at| screen.cell(at)).filter(|cell| !cell.modifier.contains(LABEL)) {
            // A cell covered by a wide letter is not blank.
            if covered == 0 {
                line.push_str(cell.symbol());
                covered = crate::text::width::columns(cell.symbol()).max(1);
            }
            covered -= 1;
        }
        line.trim_end().to_owned()
    };
    let lines: Vec<_> = rows(area, from, to).map(|mut row| line(&mut row)).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}
