//! A page to read: a reply of the owner, in the same words as on the command line. Must never change anything.

#[cfg(test)]
mod tests;

use ratatui::Frame;
use ratatui::layout::Rect;
use retake_wire::{Problem, Reply, Request};

use super::keymap::{Command, Context};
use super::msg::{PaneInstruction, Ticket};
use super::pane::{Cx, Pane, PaneContext};
use super::pane_frame::PaneFrame;
use super::scroll::Scroll;

/// A page.
#[derive(Debug)]
pub(crate) struct Page {
    title: String,
    request: Request,
    loading: Option<Ticket>,
    /// It was shown once.
    there: bool,
    scroll: Scroll,
}

impl Page {
    /// The reply to a request, under a title.
    pub(crate) fn new(title: &str, request: Request) -> Self {
        Self { title: title.to_owned(), request, loading: None, there: false, scroll: Scroll::default() }
    }

    fn load(&mut self, cx: &mut Cx<'_>) {
        self.loading = Some(cx.ask(self.request.clone()));
    }
}

impl Pane for Page {
    fn context(&self) -> Context {
        Context::Pane
    }

    fn opened(&mut self, cx: &mut Cx<'_>) {
        self.load(cx);
    }

    fn command(&mut self, command: Command, cx: &mut Cx<'_>) {
        match command {
            Command::Close | Command::Accept => cx.want(PaneInstruction::Close),
            _ => self.scroll.command(command),
        }
    }

    fn typed(&mut self, _text: &str, _cx: &mut Cx<'_>) {}

    fn replied(&mut self, ticket: Ticket, reply: Result<Reply, Problem>, _cx: &mut Cx<'_>) {
        if self.loading.take_if(|asked| *asked == ticket).is_none() {
            return;
        }
        match reply {
            Ok(Reply::Differences(all)) if all.files.is_empty() => self.scroll.say("no file differs"),
            Ok(reply) if self.there => self.scroll.renew(reply),
            Ok(reply) => self.scroll.reply(reply),
            Err(problem) => self.scroll.wrong(problem),
        }
        self.there = true;
    }

    fn changed(&mut self, cx: &mut Cx<'_>) {
        self.load(cx);
    }

    fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, brush: &PaneContext<'_>) {
        let keys = [(Command::Up, ""), (Command::Down, "scroll"), (Command::PageDown, "a page down")];
        let body = PaneFrame { title: &self.title, about: "", keys: &keys }.draw(frame, area, brush);
        self.scroll.draw(frame, body, brush);
        // The position is known once the text is laid out.
        if let Some(about) = self.scroll.place() {
            PaneFrame { title: &self.title, about: &about, keys: &keys }.draw(frame, area, brush);
        }
    }
}
