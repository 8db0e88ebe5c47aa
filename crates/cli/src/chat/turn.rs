//! A turn: something is said, the answer comes as it is made, Ctrl-C stops it. Must never leave the person's words neither stored nor
//! in the line.

use futures::StreamExt;
use retake_wire::request::Of;
use retake_wire::{Attached, Ended, Outcome, Part, Problem, Request, Run, RunEvent, RunStart};

use super::Chat;
use crate::error::{Failure, Result, broken_run};
use crate::render::content;
use crate::render::flow::Flow;
use crate::term::progress::Progress;
use crate::term::safe;
use crate::term::style::Style;
use crate::verbs::answer::{Events, started};

/// Says something, or says it in the place of another message.
pub(super) async fn say(chat: &mut Chat<'_>, text: &str) -> Result {
    let mut parts = vec![Part::text(text)];
    parts.extend(chat.attached.iter().cloned());
    let (start, head) = match &chat.editing {
        Some(editing) => {
            let attached = Attached::Replaced;
            let start = RunStart::Edit { entry: editing.entry.clone(), parts, attached };
            (start, Some(editing.head.clone()))
        }
        None => {
            let seen = chat.seen.clone();
            (RunStart::Say { parts, seen }, None)
        }
    };
    match begin(chat, start, head).await {
        Ok(events) => {
            chat.attached.clear();
            chat.editing = None;
            follow(chat, events).await
        }
        Err(failure) => {
            chat.refresh().await?;
            Err(put_back(chat, text, failure))
        }
    }
}

/// The words go back into the line, and an edit goes on from the head that there is now.
fn put_back(chat: &mut Chat<'_>, text: &str, failure: Failure) -> Failure {
    // What begins with a slash is a message only with two of them.
    let slash = if text.starts_with('/') { "/" } else { "" };
    chat.prefill = Some(format!("{slash}{text}"));
    if let (Failure::Problem(problem), Some(editing)) = (&failure, &mut chat.editing)
        && let Some(head) = &problem.head
    {
        editing.head.clone_from(head);
    }
    failure
}

/// Another answer.
pub(super) async fn retry(chat: &mut Chat<'_>, words: &str) -> Result {
    let entry = if words.is_empty() { "@" } else { words };
    let start = RunStart::Retry { entry: entry.to_owned() };
    chat.here()?;
    let events = begin(chat, start, None).await?;
    follow(chat, events).await
}

/// Starts a run, which begins the conversation where there is none yet.
async fn begin(chat: &mut Chat<'_>, start: RunStart, head: Option<String>) -> Result<Events> {
    chat.cx.ui.listen()?;
    let run = Run {
        conversation: chat.conversation.clone().unwrap_or_default(),
        folder: Some(chat.cx.folder.to_owned()),
        start,
        model: chat.model.clone(),
        head,
        request_id: None,
    };
    let (conversation, events) = started(&chat.cx, run).await?;
    chat.conversation = Some(conversation);
    Ok(events)
}

/// Shows what comes, until it ends.
async fn follow(chat: &mut Chat<'_>, mut events: Events) -> Result {
    let mut shown = Shown::new(chat.cx.ui.look().columns);
    loop {
        let event = tokio::select! {
            biased;
            () = chat.cx.ui.interrupted() => None,
            event = events.next() => Some(event),
        };
        match event {
            None => {
                shown.waiting = None;
                let of = Of { conversation: chat.here()? };
                chat.cx.call(Request::Cancel(of)).await?;
            }
            Some(None) => return Err(broken_run()),
            Some(Some(RunEvent::Ended(ended))) => {
                shown.end(chat)?;
                return end(chat, *ended, &shown.model).await;
            }
            Some(Some(event)) => shown.event(chat, event)?,
        }
    }
}

/// What of the answer is on the screen.
struct Shown {
    text: safe::Stream,
    flow: Flow,
    /// What came last is of this kind.
    open: Option<Kind>,
    /// It ended with a newline.
    newline: bool,
    model: String,
    /// Drawn until something comes.
    waiting: Option<Progress>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Reasoning,
}

impl Shown {
    fn new(columns: usize) -> Self {
        Self {
            text: safe::Stream::default(),
            flow: Flow::new(columns),
            open: None,
            newline: false,
            model: String::new(),
            waiting: None,
        }
    }

    fn event(&mut self, chat: &mut Chat<'_>, event: RunEvent) -> Result {
        match event {
            RunEvent::Started { model, .. } => {
                let message = format!("waiting for {model}, Ctrl-C stops");
                self.waiting = Some(Progress::spinner(&message));
                self.model = model;
                Ok(())
            }
            RunEvent::Text { text } => self.piece(chat, Kind::Text, &text),
            RunEvent::Reasoning { text } => self.piece(chat, Kind::Reasoning, &text),
            RunEvent::Notice { text } => {
                self.end(chat)?;
                chat.dim(&safe::block(&text))
            }
            // The run goes on in words that come with them.
            _ => Ok(()),
        }
    }

    fn piece(&mut self, chat: &mut Chat<'_>, kind: Kind, text: &str) -> Result {
        self.waiting = None;
        if self.open.is_some_and(|open| open != kind) {
            self.end(chat)?;
            chat.print("\n")?;
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
    fn end(&mut self, chat: &mut Chat<'_>) -> Result {
        self.waiting = None;
        let Some(kind) = self.open.take() else {
            return Ok(());
        };
        let rest = self.flow.push(self.text.finish()) + &self.flow.finish();
        self.write(chat, kind, &rest)?;
        if self.newline {
            return Ok(());
        }
        chat.print("\n")
    }
}

/// Says how it ended, and what the person can do next.
async fn end(chat: &mut Chat<'_>, ended: Ended, model: &str) -> Result {
    if let Some(usage) = ended.entry.as_ref().and_then(|entry| entry.usage.as_ref()) {
        let model = safe::line(model);
        let line = match content::usage(usage) {
            Some(usage) => format!("{usage} · {model}"),
            None => model.into_owned(),
        };
        chat.dim(&line)?;
    }
    if let Some(problem) = &ended.problem {
        complain(chat, problem)?;
    }
    match ended.outcome {
        Outcome::Succeeded | Outcome::Joined => {}
        Outcome::Interrupted => {
            chat.dim("interrupted, kept: /retry asks again, /undo takes it back")?;
        }
        Outcome::RolledBack => {
            let composer = ended.receipt.as_ref().and_then(|it| it.composer.as_ref());
            match composer {
                Some(composer) => {
                    chat.take_up(composer);
                    chat.dim("stopped before any answer: your words are back in the line")?;
                }
                None => chat.dim("stopped before any answer: nothing has changed")?,
            }
        }
        Outcome::Failed => {
            chat.dim("what was said is kept: /retry asks again, /undo takes it back")?;
        }
    }
    chat.print("\n")?;
    chat.refresh().await
}

fn complain(chat: &mut Chat<'_>, problem: &Problem) -> Result {
    chat.cx.complain(&Failure::from(problem.clone()))
}
