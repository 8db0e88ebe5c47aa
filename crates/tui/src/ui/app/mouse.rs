//! The mouse: the wheel, clicks, and text that is dragged over, which is copied. Must never be needed, and must never copy what the person
//! did not see highlighted.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;

use super::App;
use super::tab::InputFor;
use crate::render::words;
use crate::ui::keymap::Command;
use crate::ui::msg::Act;
use crate::ui::view::View;

/// So many lines a turn of the wheel moves.
const WHEEL: i32 = 3;

/// What is done with the left button, and what came of it.
#[derive(Debug, Default)]
pub(super) struct Mouse {
    /// Where it was pressed, as long as it is held.
    pressed: Option<Position>,
    /// What it was dragged over: from where, to where.
    dragged: Option<(Position, Position)>,
    /// What stands on the screen while it is held.
    seen: Buffer,
    /// What was copied: the highlight stays as long as that stands there.
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
                // A click that drops a highlight does nothing else.
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

    /// Drops what is highlighted; whether something was.
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
        self.say(format!("copied {lines}"));
    }

    /// A click: a message is selected, a row of a pane, a tab, or the composer has the keys again.
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
            return self.refuse(format!("{close} goes back first: the keys go above"));
        }
        match self.tab().line.as_ref().map(|line| &line.what) {
            Some(InputFor::Find) => self.command(Command::FindLeave, ""),
            Some(_) => {
                let leave = self.keys.named(Command::FindLeave);
                return self.refuse(format!("{leave} leaves the line above first"));
            }
            None => {}
        }
        let tab = self.tab_mut();
        tab.select(false);
        tab.composer.clicked(at);
    }

    /// Where text stands that can be dragged over: without signs beside it and the bar.
    fn text_area(&self) -> Rect {
        let tab = self.tab();
        if tab.panes.front.is_some() { tab.areas.main } else { View::text_area(tab.areas.main) }
    }

    /// Highlights what was dragged over, and keeps what stands on the screen while the button is held.
    pub(super) fn draw_dragged(&mut self, screen: &mut Buffer) {
        let area = self.text_area();
        if self.mouse.pressed.is_some() {
            self.mouse.seen = screen.clone();
        }
        let Some((from, to)) = self.mouse.dragged else { return };
        if self.mouse.copied.as_ref().is_some_and(|copied| *copied != text_of(screen, area, from, to)) {
            // Something else stands there now.
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

/// The places between two, in reading order, both with them: row by row.
fn rows(area: Rect, from: Position, to: Position) -> impl Iterator<Item = impl Iterator<Item = Position>> {
    let (first, last) = if (from.y, from.x) <= (to.y, to.x) { (from, to) } else { (to, from) };
    (first.y..=last.y).map(move |y| {
        let left = if y == first.y { first.x } else { area.x };
        let right = if y == last.y { last.x } else { area.right().saturating_sub(1) };
        (left..=right).map(move |x| Position { x, y })
    })
}

/// What stands between two places, without what is blank at the ends.
fn text_of(screen: &Buffer, area: Rect, from: Position, to: Position) -> String {
    let line = |row: &mut dyn Iterator<Item = Position>| {
        let (mut line, mut covered) = (String::new(), 0);
        for cell in row.filter_map(|at| screen.cell(at)) {
            // What a wide letter covers is no blank.
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
