//! A preview of the selected row, beside the list. It is requested for one row at a time: a user who moves fast must not make the
//! owner read every row passed. Must never show one row's reply beside another.

use std::collections::VecDeque;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use retake_wire::request::{Log, Projection};
use retake_wire::{Problem, Reply, Request};

use super::keymap::Command;
use super::msg::Ticket;
use super::pane::{Cx, PaneContext};
use super::scroll::{ReplyDisplay, Scroll};
use super::theme::Paint;

/// With at least so many columns, list and preview are side by side.
const WIDE: u16 = 100;
/// With at least so many rows, they are above one another.
const TALL: u16 = 26;

/// The most replies that are kept.
const KEPT: usize = 32;

/// The preview of a list.
#[derive(Debug, Default)]
pub(crate) struct Preview {
    scroll: Scroll,
    /// It has the whole room.
    is_alone: bool,
    /// The shown row and its version.
    shown: Option<(String, u64)>,
    /// The request on its way.
    asked: Option<(Ticket, (String, u64))>,
    /// Replies, the newest last.
    kept: VecDeque<((String, u64), Reply)>,
}

impl Preview {
    /// Shows a version of a row, and requests it if necessary; an older version stays until the reply arrives.
    pub(crate) fn look(
        &mut self,
        row: &str,
        version: u64,
        request: impl FnOnce() -> Request,
        cx: &mut Cx<'_>,
    ) {
        let seen = (row.to_owned(), version);
        if self.shown.as_ref() == Some(&seen) {
            return;
        }
        let same = self.shown.as_ref().is_some_and(|(shown, _)| shown == row);
        if let Some((_, reply)) = self.kept.iter().find(|(kept, _)| *kept == seen) {
            let reply = reply.clone();
            if same {
                self.scroll.renew(reply);
            } else {
                self.scroll.reply(reply);
            }
            self.shown = Some(seen);
            return;
        }
        if !same {
            self.scroll.wait();
            self.shown = None;
        }
        if self.asked.is_none() {
            self.asked = Some((cx.ask(request()), seen));
        }
    }

    /// A sentence above it.
    pub(crate) fn head(&mut self, head: String) {
        self.scroll.head(head);
    }

    /// How the next replies are shown.
    pub(crate) fn manner(&mut self, manner: ReplyDisplay) {
        self.scroll.manner(manner);
    }

    /// Shows a row without a request.
    pub(crate) fn tell(&mut self, row: &str, reply: impl FnOnce() -> Reply) {
        if self.shown.as_ref().is_none_or(|(shown, _)| shown != row) {
            self.scroll.reply(reply());
            self.shown = Some((row.to_owned(), 0));
        }
    }

    /// Shows only a sentence.
    pub(crate) fn say(&mut self, text: &str) {
        self.scroll.say(text);
        self.shown = None;
    }

    /// Handles its own reply, and returns any other. The selected row must be looked up again afterwards.
    pub(crate) fn replied(
        &mut self,
        ticket: Ticket,
        reply: Result<Reply, Problem>,
    ) -> Option<Result<Reply, Problem>> {
        let Some((_, seen)) = self.asked.take_if(|(asked, _)| *asked == ticket) else { return Some(reply) };
        match reply {
            Ok(reply) => {
                self.kept.push_back((seen, reply));
                if self.kept.len() > KEPT {
                    self.kept.pop_front();
                }
            }
            Err(problem) => {
                self.scroll.wrong(problem);
                self.shown = Some(seen);
            }
        }
        None
    }

    /// Scrolls; or takes the whole room, or gives it back.
    pub(crate) fn command(&mut self, command: Command) {
        self.is_alone ^= command == Command::Other;
        self.scroll.command(command);
    }

    /// Draws it if there is room: beside the list, below it, or alone. Returns the area of the list.
    pub(crate) fn beside(
        &mut self,
        frame: &mut Frame<'_>,
        area: Rect,
        brush: &PaneContext<'_>,
    ) -> Option<Rect> {
        let (list, other) = self.split(frame, area, brush);
        if let Some(other) = other {
            self.scroll.draw(frame, other, brush);
        }
        list
    }

    /// The areas of the list and the preview, with the line between them.
    fn split(
        &self,
        frame: &mut Frame<'_>,
        area: Rect,
        brush: &PaneContext<'_>,
    ) -> (Option<Rect>, Option<Rect>) {
        if self.is_alone {
            return (None, Some(area));
        }
        let rule = brush.theme.style(Paint::Bar);
        if area.width >= WIDE {
            let left = area.width / 2;
            for y in area.y..area.bottom() {
                let at = Rect { x: area.x + left, y, width: 1, height: 1 };
                frame.render_widget(Line::styled("│", rule), at);
            }
            let x = area.x + left + 2;
            let right = Rect { x, width: area.right() - x, ..area };
            return (Some(Rect { width: left - 1, ..area }), Some(right));
        }
        if area.height >= TALL {
            let above = area.height / 2;
            let at = Rect { y: area.y + above, height: 1, ..area };
            frame.render_widget(Line::styled("─".repeat(area.width.into()), rule), at);
            let y = at.y + 1;
            let below = Rect { y, height: area.bottom() - y, ..area };
            return (Some(Rect { height: above, ..area }), Some(below));
        }
        (Some(area), None)
    }
}

/// A request for the last messages of a conversation.
pub(crate) fn last_of(conversation: &str, limit: usize) -> Log {
    Log {
        conversation: conversation.to_owned(),
        at: None,
        branch: None,
        projection: Projection::Timeline,
        limit: Some(limit),
        before: None,
        after: None,
    }
}
