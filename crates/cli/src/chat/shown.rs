//! What of a run is on the screen: its words, its calls, what they print. Must never lose a word of the answer, nor show more of a
//! call than a person reads.

use std::collections::HashMap;

use retake_wire::{CallEnded, CallShown, EffectClass, RunEvent};

use super::Chat;
use crate::asked;
use crate::error::Result;
use crate::term::progress::Progress;
use crate::term::safe;
use crate::term::style::Style;
use retake_tui::render::calls::{self, Printed, Seen};
use retake_tui::render::flow::Flow;
use retake_tui::render::receipt::went_back;

/// What of a run is on the screen.
pub(super) struct Shown {
    text: safe::Stream,
    flow: Flow,
    /// What came last is of this kind.
    open: Option<Kind>,
    /// It ended with a newline.
    newline: bool,
    /// The model that answers.
    pub(super) model: String,
    /// Drawn until something comes.
    waiting: Option<Progress>,
    calls: HashMap<String, Call>,
    /// The call whose lines are the last ones.
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

impl Shown {
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

    /// Shows what a run says, and asks the person what it asks.
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
                    chat.print(&text)?;
                }
                self.wait(&format!("waiting for {model}, Ctrl-C stops"));
                self.model = model;
            }
            RunEvent::Notice { text } => chat.dim(&safe::block(&text))?,
            RunEvent::Joined { .. } => chat.dim("the model reads now what you said meanwhile")?,
            RunEvent::Asks(asks) => {
                let (call, conversation) = (asks.call.clone(), chat.here()?);
                let seen = if call.detail.is_some() { Seen::Detail } else { Seen::Nothing };
                self.begun(call, seen);
                let late = asked::leave(&mut chat.cx, &conversation, &asks).await?;
                chat.came_late(late)?;
                chat.cx.ui.listen()?;
            }
            RunEvent::Question(question) => {
                self.last = None;
                let conversation = chat.here()?;
                let late = asked::question(&mut chat.cx, &conversation, &question).await?;
                chat.came_late(late)?;
                chat.cx.ui.listen()?;
            }
            RunEvent::Calling(call) => {
                // Who was asked about it has seen it.
                if self.last.as_ref() != Some(&call.call) {
                    let text = calls::calling(&chat.cx.ui.look(), &call);
                    chat.print(&text)?;
                }
                if !self.calls.contains_key(&call.call) {
                    self.begun(call, Seen::Nothing);
                }
                self.wait("working, Ctrl-C stops");
            }
            RunEvent::Called(ended) => self.called(chat, &ended)?,
            // What was said is on the screen already.
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

    /// What a call prints, below its own line.
    fn printed(&mut self, chat: &mut Chat<'_>, id: &str, text: &str) -> Result {
        self.waiting = None;
        self.turn_to(chat, id)?;
        let look = chat.cx.ui.look();
        if let Some(call) = self.calls.get_mut(id) {
            call.seen = Seen::Printed;
            let text = call.printed.push(&look, text);
            chat.print(&text)?;
        }
        Ok(())
    }

    fn called(&mut self, chat: &mut Chat<'_>, ended: &CallEnded) -> Result {
        let reads = |call: &Call| call.shown.class == EffectClass::None && !ended.failed;
        if self.last.as_ref() != Some(&ended.call) && self.calls.get(&ended.call).is_some_and(reads) {
            // That it reads was said; what it reads is the model's.
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
        chat.print(&text)?;
        self.wait("working, Ctrl-C stops");
        Ok(())
    }

    /// The lines of this call come next.
    fn turn_to(&mut self, chat: &mut Chat<'_>, id: &str) -> Result {
        if self.last.as_deref() == Some(id) {
            return Ok(());
        }
        self.end(chat)?;
        if let Some(call) = self.calls.get(id) {
            let text = calls::calling(&chat.cx.ui.look(), &call.shown);
            chat.print(&text)?;
            self.last = Some(id.to_owned());
        }
        Ok(())
    }

    fn piece(&mut self, chat: &mut Chat<'_>, kind: Kind, text: &str) -> Result {
        self.waiting = None;
        if self.open.is_some_and(|open| open != kind) {
            self.end(chat)?;
            chat.print("\n")?;
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
            Kind::Text => chat.print(text),
            Kind::Reasoning => {
                let palette = chat.cx.ui.look().palette;
                chat.print(&palette.paint(Style::Dim, text).to_string())
            }
        }
    }

    /// Ends the line that is open.
    pub(super) fn end(&mut self, chat: &mut Chat<'_>) -> Result {
        self.waiting = None;
        let look = chat.cx.ui.look();
        if let Some(call) = self.last.as_ref().and_then(|last| self.calls.get_mut(last)) {
            let text = call.printed.finish(&look);
            chat.print(&text)?;
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
        chat.print("\n")
    }
}
