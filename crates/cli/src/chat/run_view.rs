//! The view of a run: its text, its calls and their output. Must never lose a word of the answer, nor show more of a call than a person
//! reads.

use std::collections::HashMap;

use retake_wire::{CallEnded, CallShown, EffectClass, RunEvent};

use super::Chat;
use crate::approvals;
use crate::error::Result;
use crate::term::progress::Progress;
use crate::term::safe;
use crate::term::style::Style;
use crate::ui::Text;
use retake_tui::render::calls::{self, Printed, Seen};
use retake_tui::render::flow::Flow;
use retake_tui::render::receipt::went_back;

/// The view of a run.
pub(super) struct RunView {
    text: safe::Stream,
    flow: Flow,
    /// The kind of the last text.
    open: Option<Kind>,
    /// It ended with a newline.
    newline: bool,
    /// The model that answers.
    pub(super) model: String,
    /// Shown until the next event.
    waiting: Option<Progress>,
    calls: HashMap<String, Call>,
    /// The call whose lines were printed last.
    last: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Reasoning,
}

/// A call that is on the screen.
struct Call {
    shown: CallShown,
    printed: Printed,
    seen: Seen,
}

impl RunView {
    /// Nothing yet, on so many columns.
    pub(super) fn new(columns: usize) -> Self {
        Self {
            text: safe::Stream::default(),
            flow: Flow::new(columns),
            open: None,
            newline: false,
            model: String::new(),
            waiting: None,
            calls: HashMap::new(),
            last: None,
        }
    }

    /// Shows an event, and lets the person answer requests.
    pub(super) async fn event(&mut self, chat: &mut Chat<'_>, event: RunEvent) -> Result {
        match event {
            RunEvent::Text { text } => return self.piece(chat, Kind::Text, &text),
            RunEvent::Reasoning { text } => return self.piece(chat, Kind::Reasoning, &text),
            RunEvent::Printed { call, text } => return self.printed(chat, &call, &text),
            _ => self.end(chat)?,
        }
        match event {
            RunEvent::Started { model, receipt } => {
                let look = chat.cx.ui.look();
                let back = receipt.and_then(|receipt| went_back(&look, &receipt, ["/undo", "/undo"]));
                if let Some(text) = back {
                    chat.cx.print_text(&text)?;
                }
                self.wait(&format!("waiting for {model}, Ctrl-C stops"));
                self.model = model;
            }
            RunEvent::Notice { text } => chat.cx.aside(&safe::block(&text))?,
            RunEvent::Joined { .. } => chat.cx.aside("the model now reads your new message")?,
            RunEvent::Asks(asks) => {
                let (call, conversation) = (asks.call.clone(), chat.here()?);
                let seen = if call.detail.is_some() { Seen::Detail } else { Seen::Nothing };
                self.begun(call, seen);
                let late = approvals::request(&mut chat.cx, &conversation, &asks).await?;
                chat.came_late(late)?;
                chat.cx.ui.listen()?;
            }
            RunEvent::Question(question) => {
                self.last = None;
                let conversation = chat.here()?;
                let late = approvals::question(&mut chat.cx, &conversation, &question).await?;
                chat.came_late(late)?;
                chat.cx.ui.listen()?;
            }
            RunEvent::Calling(call) => {
                // An approval request has shown it already.
                if self.last.as_ref() != Some(&call.call) {
                    let text = calls::calling(&chat.cx.ui.look(), &call);
                    chat.cx.print_text(&text)?;
                }
                if !self.calls.contains_key(&call.call) {
                    self.begun(call, Seen::Nothing);
                }
                self.wait("working, Ctrl-C stops");
            }
            RunEvent::Called(ended) => self.called(chat, &ended)?,
            // The other events change nothing on the screen.
            _ => {}
        }
        Ok(())
    }

    fn begun(&mut self, shown: CallShown, seen: Seen) {
        self.last = Some(shown.call.clone());
        self.calls.insert(shown.call.clone(), Call { shown, printed: Printed::default(), seen });
    }

    fn wait(&mut self, message: &str) {
        self.waiting = Some(Progress::spinner(message));
    }

    /// Prints the output of a call, below its own line.
    fn printed(&mut self, chat: &mut Chat<'_>, id: &str, text: &str) -> Result {
        self.waiting = None;
        self.turn_to(chat, id)?;
        let look = chat.cx.ui.look();
        if let Some(call) = self.calls.get_mut(id) {
            call.seen = Seen::Printed;
            let text = call.printed.push(&look, text);
            chat.cx.print_text(&text)?;
        }
        Ok(())
    }

    fn called(&mut self, chat: &mut Chat<'_>, ended: &CallEnded) -> Result {
        let reads = |call: &Call| call.shown.class == EffectClass::None && !ended.failed;
        if self.last.as_ref() != Some(&ended.call) && self.calls.get(&ended.call).is_some_and(reads) {
            // A call that only reads was shown already; its result is for the model.
            self.calls.remove(&ended.call);
            return Ok(());
        }
        self.turn_to(chat, &ended.call)?;
        self.last = None;
        let call = self.calls.remove(&ended.call);
        let (shown, seen) = match &call {
            Some(call) => (Some(&call.shown), call.seen),
            None => (None, Seen::Nothing),
        };
        let text = calls::called(&chat.cx.ui.look(), shown, ended, seen);
        chat.cx.print_text(&text)?;
        self.wait("working, Ctrl-C stops");
        Ok(())
    }

    /// Prepares for lines of this call.
    fn turn_to(&mut self, chat: &mut Chat<'_>, id: &str) -> Result {
        if self.last.as_deref() == Some(id) {
            return Ok(());
        }
        self.end(chat)?;
        if let Some(call) = self.calls.get(id) {
            let text = calls::calling(&chat.cx.ui.look(), &call.shown);
            chat.cx.print_text(&text)?;
            self.last = Some(id.to_owned());
        }
        Ok(())
    }

    fn piece(&mut self, chat: &mut Chat<'_>, kind: Kind, text: &str) -> Result {
        self.waiting = None;
        if self.open.is_some_and(|open| open != kind) {
            self.end(chat)?;
            chat.cx.print("\n")?;
        } else if self.open.is_none() {
            self.end(chat)?;
        }
        let text = self.text.push(text);
        self.open = Some(kind);
        let text = self.flow.push(&text);
        self.write(chat, kind, &text)
    }

    fn write(&mut self, chat: &mut Chat<'_>, kind: Kind, text: &str) -> Result {
        if text.is_empty() {
            return Ok(());
        }
        self.newline = text.ends_with('\n');
        match kind {
            Kind::Text => chat.cx.print(text),
            Kind::Reasoning => chat.cx.print_text(&Text::styled(Style::Dim, text)),
        }
    }

    /// Ends the line that is open.
    pub(super) fn end(&mut self, chat: &mut Chat<'_>) -> Result {
        self.waiting = None;
        let look = chat.cx.ui.look();
        if let Some(call) = self.last.as_ref().and_then(|last| self.calls.get_mut(last)) {
            let text = call.printed.finish(&look);
            chat.cx.print_text(&text)?;
        }
        let Some(kind) = self.open.take() else {
            return Ok(());
        };
        self.last = None;
        let rest = self.flow.push(self.text.finish()) + &self.flow.finish();
        self.write(chat, kind, &rest)?;
        if self.newline {
            return Ok(());
        }
        chat.cx.print("\n")
    }
}
