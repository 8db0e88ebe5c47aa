//! The view of a run. In a shell only the answer goes to standard output, as it arrives; the line client also shows calls and
//! their output. Must never lose text of the answer, nor show more of a call than a person reads.

use std::collections::HashMap;

use retake_wire::{CallEnded, CallShown, EffectClass, Ended, RunEvent};

use crate::approvals;
use crate::context::Context;
use crate::error::Result;
use crate::term::progress::Progress;
use crate::term::safe;
use crate::term::style::Style;
use crate::ui::Text;
use retake_tui::render::calls::{self, CallOnScreen, OutputPreview};
use retake_tui::render::flow::Flow;

/// The view of a run.
pub(crate) struct RunView {
    conversation: String,
    text: safe::Stream,
    /// Breaks the lines of the line client. In a shell the text is unchanged.
    flow: Option<Flow>,
    /// The kind of the last text.
    open: Option<Kind>,
    /// The output is at the beginning of a line.
    newline: bool,
    /// The model that answers.
    pub(crate) model: String,
    /// Shown until the next event.
    waiting: Option<Progress>,
    calls: HashMap<String, Call>,
    /// The call whose lines were printed last.
    last: Option<String>,
    /// Text of a person that came too late for its request. The line client puts it back into the line; `retake ask` has no line
    /// and ignores it.
    pub(crate) late: Option<String>,
    /// The number of calls that needed an approval when no person could give it.
    pub(crate) not_allowed: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Reasoning,
}

/// A call that is on the screen.
struct Call {
    shown: CallShown,
    printed: OutputPreview,
    seen: CallOnScreen,
}

impl RunView {
    /// An empty view of a run of this conversation.
    pub(crate) fn new(cx: &Context<'_>, conversation: String) -> Self {
        Self {
            conversation,
            text: safe::Stream::default(),
            flow: cx.in_conversation().then(|| Flow::new(cx.ui.look().columns)),
            open: None,
            newline: true,
            model: String::new(),
            waiting: None,
            calls: HashMap::new(),
            last: None,
            late: None,
            not_allowed: 0,
        }
    }

    /// Whether it shows only the answer, and the model's activity in one line.
    fn is_brief(&self) -> bool {
        self.flow.is_none()
    }

    /// Shows an event. Requests are answered by the person, or denied if there is none. After the last event, returns how the run
    /// ended.
    pub(crate) async fn event(&mut self, cx: &mut Context<'_>, event: RunEvent) -> Result<Option<Ended>> {
        if cx.json {
            cx.json(&event)?;
        }
        match event {
            RunEvent::Ended(ended) => {
                self.end(cx)?;
                return Ok(Some(*ended));
            }
            event @ (RunEvent::Asks(_) | RunEvent::Question(_)) => self.request(cx, event).await?,
            _ if cx.json => {}
            RunEvent::Text { text } => self.piece(cx, Kind::Text, &text)?,
            // The next answer begins on a line of its own.
            RunEvent::Answered { .. } => self.end(cx)?,
            event if self.is_brief() => self.note(cx, event)?,
            RunEvent::Reasoning { text } => self.piece(cx, Kind::Reasoning, &text)?,
            RunEvent::Printed { call, text } => self.printed(cx, &call, &text)?,
            event => {
                self.end(cx)?;
                self.note(cx, event)?;
            }
        }
        Ok(None)
    }

    /// Lets the person at the terminal answer a request. Without a person nothing is approved, and the model gets the reason.
    async fn request(&mut self, cx: &mut Context<'_>, event: RunEvent) -> Result {
        if !self.is_brief() {
            self.end(cx)?;
        }
        let (can_ask, conversation) = (cx.can_ask(), self.conversation.as_str());
        match event {
            RunEvent::Asks(asks) if can_ask => {
                self.late = approvals::request(cx, conversation, &asks).await?;
                let seen =
                    if asks.call.detail.is_some() { CallOnScreen::Detail } else { CallOnScreen::Nothing };
                self.begun(asks.call, seen);
            }
            RunEvent::Asks(asks) => {
                self.not_allowed += u64::from(approvals::deny_unattended(cx, conversation, &asks).await?);
            }
            RunEvent::Question(question) if can_ask => {
                self.last = None;
                self.late = approvals::question(cx, conversation, &question).await?;
            }
            RunEvent::Question(question) => approvals::answer_unattended(cx, conversation, &question).await?,
            _ => {}
        }
        if can_ask { Ok(cx.ui.listen()?) } else { Ok(()) }
    }

    /// Shows everything except the answer.
    fn note(&mut self, cx: &mut Context<'_>, event: RunEvent) -> Result {
        match event {
            RunEvent::Started { model, receipt } => {
                if let Some(receipt) = receipt {
                    cx.went_back(&receipt)?;
                }
                self.wait(&format!("waiting for {model}, Ctrl-C stops"));
                self.model = model;
                Ok(())
            }
            RunEvent::Notice { text, .. } => cx.aside(&safe::block(&text)),
            RunEvent::Joined { .. } if !self.is_brief() => cx.aside("the model now reads your new message"),
            RunEvent::Calling(call) => self.calling(cx, call),
            RunEvent::Called(ended) => self.called(cx, &ended),
            // The other events change nothing on the screen.
            _ => Ok(()),
        }
    }

    fn begun(&mut self, shown: CallShown, seen: CallOnScreen) {
        self.last = Some(shown.call.clone());
        self.calls.insert(shown.call.clone(), Call { shown, printed: OutputPreview::default(), seen });
    }

    fn wait(&mut self, message: &str) {
        if !self.is_brief() {
            self.waiting = Some(Progress::spinner(message));
        }
    }

    fn calling(&mut self, cx: &mut Context<'_>, call: CallShown) -> Result {
        if self.is_brief() {
            cx.aside(&format!("● {}", safe::line(&call.line)))?;
        } else if self.last.as_ref() != Some(&call.call) {
            // An approval request has not shown it already.
            cx.print_text(&calls::calling(&cx.ui.look(), &call))?;
        }
        if !self.calls.contains_key(&call.call) {
            self.begun(call, CallOnScreen::Nothing);
        }
        self.wait("working, Ctrl-C stops");
        Ok(())
    }

    /// Prints the output of a call, below its own line.
    fn printed(&mut self, cx: &mut Context<'_>, id: &str, text: &str) -> Result {
        self.waiting = None;
        self.turn_to(cx, id)?;
        let Some(call) = self.calls.get_mut(id) else { return Ok(()) };
        call.seen = CallOnScreen::Printed;
        let text = call.printed.push(&cx.ui.look(), text);
        cx.print_text(&text)
    }

    fn called(&mut self, cx: &mut Context<'_>, ended: &CallEnded) -> Result {
        let is_last = self.last.as_ref() == Some(&ended.call);
        let reads = |call: &Call| call.shown.class == EffectClass::None;
        // The result of a call that only reads is for the model, and its line was shown already.
        let is_known = self.is_brief() || (!is_last && self.calls.get(&ended.call).is_some_and(reads));
        if is_known && !ended.failed {
            self.calls.remove(&ended.call);
            return Ok(());
        }
        self.turn_to(cx, &ended.call)?;
        self.last = None;
        let call = self.calls.remove(&ended.call);
        let seen = call.as_ref().map_or(CallOnScreen::Nothing, |call| call.seen);
        let text = calls::called(&cx.ui.look(), call.as_ref().map(|call| &call.shown), ended, seen);
        cx.aside_text(&text)?;
        self.wait("working, Ctrl-C stops");
        Ok(())
    }

    /// Prepares for lines of this call.
    fn turn_to(&mut self, cx: &mut Context<'_>, id: &str) -> Result {
        if self.is_brief() || self.last.as_deref() == Some(id) {
            return Ok(());
        }
        self.end(cx)?;
        if let Some(call) = self.calls.get(id) {
            cx.print_text(&calls::calling(&cx.ui.look(), &call.shown))?;
            self.last = Some(id.to_owned());
        }
        Ok(())
    }

    fn piece(&mut self, cx: &mut Context<'_>, kind: Kind, text: &str) -> Result {
        self.waiting = None;
        if self.open.is_some_and(|open| open != kind) {
            self.end(cx)?;
            cx.print("\n")?;
        } else if self.open.is_none() {
            self.end(cx)?;
        }
        self.open = Some(kind);
        let text = self.text.push(text).into_owned();
        let text = self.flow.as_mut().map(|flow| flow.push(&text)).unwrap_or(text);
        self.write(cx, kind, &text)
    }

    fn write(&mut self, cx: &mut Context<'_>, kind: Kind, text: &str) -> Result {
        if text.is_empty() {
            return Ok(());
        }
        self.newline = text.ends_with('\n');
        match kind {
            Kind::Text => cx.print(text),
            Kind::Reasoning => cx.print_text(&Text::styled(Style::Dim, text)),
        }
    }

    /// Ends the current line.
    pub(crate) fn end(&mut self, cx: &mut Context<'_>) -> Result {
        self.waiting = None;
        if let Some(call) = self.last.as_ref().and_then(|last| self.calls.get_mut(last)) {
            let text = call.printed.finish(&cx.ui.look());
            cx.print_text(&text)?;
        }
        let Some(kind) = self.open.take() else { return Ok(()) };
        self.last = None;
        let mut rest = self.text.finish().to_owned();
        if let Some(flow) = &mut self.flow {
            rest = flow.push(&rest) + &flow.finish();
        }
        self.write(cx, kind, &rest)?;
        if !std::mem::replace(&mut self.newline, true) {
            cx.print("\n")?;
        }
        Ok(())
    }
}
