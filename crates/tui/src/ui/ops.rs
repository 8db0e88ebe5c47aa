//! All operations of a conversation, newest first: undo, redo, and restore, each with its plan first. Must never do a step
//! itself.

#[cfg(test)]
mod tests;

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use retake_wire::reply::{Operation, Operations};
use retake_wire::request::{Page, Plan};
use retake_wire::{Action, FileOptions, Problem, Reply, Request, Scope, english};

use super::keymap::{Command, Context};
use super::msg::{PaneInstruction, Ticket};
use super::pane::{Cx, Pane, PaneContext};
use super::pane_frame::{PaneFrame, told};
use super::preview::Preview;
use super::rows::{InputEffect, Order, Row, RowSpans, Rows};
use super::theme::Paint;
use crate::render::lists;
use crate::text::time;

/// Operations per request.
const PAGE: usize = 200;

/// With fewer columns, keys have shorter descriptions.
const NARROW: u16 = 36;

/// With at least so many columns, operations show their numbers.
const NUMBERED: usize = 30;

/// The operations.
#[derive(Debug)]
pub(crate) struct Ops {
    rows: Rows<Op>,
    /// Their head.
    head: String,
    more: bool,
    /// The page on its way, and whether it is the first.
    loading: Option<(Ticket, bool)>,
    wrong: Option<Problem>,
    preview: Preview,
}

/// A row.
#[derive(Debug)]
struct Op {
    key: String,
    it: Operation,
}

impl Row for Op {
    fn key(&self) -> &str {
        &self.key
    }

    fn fields(&self) -> Vec<String> {
        vec![english::operation(&self.it), lists::verb(self.it.reason).to_owned(), self.it.author.clone()]
    }
}

impl Ops {
    /// The operations of the tab's conversation.
    pub(crate) fn new() -> Self {
        Self {
            rows: Rows::new(Order::Kept),
            head: String::new(),
            more: false,
            loading: None,
            wrong: None,
            preview: Preview::default(),
        }
    }

    fn load(&mut self, before: Option<u64>, cx: &mut Cx<'_>) {
        let page = Page { conversation: cx.id(), limit: Some(PAGE), before };
        self.loading = Some((cx.ask(Request::Ops(page)), before.is_none()));
    }

    fn moved(&mut self, cx: &mut Cx<'_>) {
        let oldest = self.rows.items().next_back().map(|op| op.it.number);
        if self.more && self.loading.is_none() && self.rows.at_end() {
            self.load(oldest, cx);
        }
        let Some(op) = self.rows.selected() else {
            self.preview.head(String::new());
            return self.preview.say("");
        };
        let about = format!("{}: {}", lists::verb(op.it.reason), english::operation(&op.it));
        let about = about.trim_end_matches([':', ' ']);
        let number = op.it.number;
        self.preview.head(format!(
            "{number}: {about}\n/restore before {number} goes back to before this\n/restore {number} goes back to right after it\nwhat going back to before this does:"
        ));
        let conversation = cx.id();
        let ask = || {
            let action = Action::Restore { head: op.it.before.clone() };
            let files = FileOptions { scope: Scope::Conversation, ..FileOptions::default() };
            Request::Plan(Plan { conversation, action, files, diff: false })
        };
        self.preview.look(&format!("{} {}", op.key, self.head), 0, ask, cx);
    }

    fn loaded(&mut self, page: Operations, first: bool) {
        self.more = page.more;
        self.head = page.head;
        let items = page.operations.into_iter().map(|it| Op { key: it.number.to_string(), it });
        if first { self.rows.set(items) } else { self.rows.extend(items) }
    }

    /// Restores the state before the selected operation, or after it.
    fn restore(&mut self, after: bool, cx: &mut Cx<'_>) {
        if let Some(op) = self.rows.selected() {
            let head = if after { &op.it.head } else { &op.it.before };
            cx.want(PaneInstruction::Plan("Restore", Box::new(Action::Restore { head: head.clone() })));
        }
    }
}

impl Pane for Ops {
    fn context(&self) -> Context {
        Context::Ops
    }

    fn opened(&mut self, cx: &mut Cx<'_>) {
        self.load(None, cx);
    }

    fn command(&mut self, command: Command, cx: &mut Cx<'_>) {
        match command {
            Command::Close => cx.want(PaneInstruction::Close),
            Command::Accept => self.restore(false, cx),
            Command::RestoreAfter => self.restore(true, cx),
            Command::StepBack => cx.want(PaneInstruction::Plan("Undo", Box::new(Action::Undo { count: 1 }))),
            Command::StepForth => cx.want(PaneInstruction::Plan("Redo", Box::new(Action::Redo { count: 1 }))),
            Command::Other | Command::DetailUp | Command::DetailDown => self.preview.command(command),
            _ => {
                self.rows.command(command);
                self.moved(cx);
            }
        }
    }

    fn typed(&mut self, text: &str, cx: &mut Cx<'_>) {
        self.rows.typed(text);
        self.moved(cx);
    }

    fn replied(&mut self, ticket: Ticket, reply: Result<Reply, Problem>, cx: &mut Cx<'_>) {
        let Some(reply) = self.preview.replied(ticket, reply) else { return self.moved(cx) };
        let Some((_, first)) = self.loading.take_if(|(asked, _)| *asked == ticket) else { return };
        match reply {
            Ok(Reply::Operations(page)) => {
                self.wrong = None;
                self.loaded(page, first);
                self.moved(cx);
            }
            Ok(_) => {}
            Err(problem) => {
                self.more = false;
                self.wrong = Some(problem);
            }
        }
    }

    fn changed(&mut self, cx: &mut Cx<'_>) {
        self.load(None, cx);
    }

    fn clicked(&mut self, at: Position, cx: &mut Cx<'_>) {
        match self.rows.clicked(at) {
            InputEffect::Taken => self.restore(false, cx),
            InputEffect::Moved => self.moved(cx),
            InputEffect::Nothing | InputEffect::Filtered => {}
        }
    }

    fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, brush: &PaneContext<'_>) {
        let keys = [
            (Command::Accept, if area.width < NARROW { "restores" } else { "back to before it" }),
            (Command::RestoreAfter, "after it"),
            (Command::StepBack, "undo"),
            (Command::StepForth, "redo"),
            (Command::Other, "preview"),
        ];
        let about = "what was done to this conversation, newest first";
        let body = PaneFrame { title: "Operations", about, keys: &keys }.draw(frame, area, brush);
        if let Some(list) = self.preview.beside(frame, body, brush) {
            let nothing = "nothing was done here yet: a rewind, a hidden message or a label will stand here";
            let empty = told(self.wrong.as_ref(), self.loading.is_some(), nothing);
            self.rows.draw(frame, list, brush, &empty, |op, ink| draw(&op.it, ink, brush.now_ms));
        }
    }
}

fn draw(op: &Operation, ink: &mut RowSpans<'_>, now_ms: i64) {
    match (op.undo_next, op.redo_next) {
        (true, _) => ink.text("↶ ", Paint::Good),
        (_, true) => ink.text("↷ ", Paint::Accent),
        _ => ink.text("  ", Paint::Plain),
    }
    if ink.room() >= NUMBERED {
        // `/restore` names an operation by it.
        ink.column_right(&op.number.to_string(), 3, Paint::Dim);
        ink.space(1);
    }
    let room = ink.room();
    let (when, author, next) = match room {
        90.. => (18, 12, 11),
        72.. => (18, 0, 11),
        44.. => (5, 0, 0),
        // The distinguishing text is more important than the time.
        _ => (0, 0, 0),
    };
    ink.field_column(1, 9, Paint::Bold);
    ink.space(1);
    ink.field_column(0, room.saturating_sub(10 + when + author + next), Paint::Plain);
    let stands = match (op.undo_next, op.redo_next) {
        (true, _) => "undo next",
        (_, true) => "redo next",
        _ => "",
    };
    ink.column_right(stands, next, Paint::Good);
    if author > 0 {
        ink.space(2);
        ink.field_column(2, author - 2, Paint::Dim);
    }
    let at = match when {
        0 => String::new(),
        1..=5 => time::short(now_ms, op.time_ms),
        _ => time::relative(now_ms, op.time_ms),
    };
    ink.column_right(&at, when, Paint::Dim);
}
