//! A turn: a message, the answer as it comes, and Ctrl-C, which stops it. Must never lose a message: it is stored or in the line.

use std::collections::VecDeque;
use std::pin::Pin;

use futures::StreamExt;
use retake_wire::{
    Attached, Ended, FilesWish, Outcome, Part, Problem, ProblemKind, Run, RunEvent, RunStart, Steer,
};
use tokio::sync::mpsc;

use super::input::{self, Input};
use super::run_view::RunView;
use super::{Chat, agent, edit};
use crate::approvals;
use crate::context::Place;
use crate::error::{Failure, Result, broken_run};
use crate::term::safe;
use crate::ui::{Pressed, Read};
use crate::verbs::agreement::CONFLICT;
use crate::verbs::model_run::{Events, started};
use retake_tui::render::content;

/// The number of events that are buffered while the person types; then the run waits too.
const GATHERED: usize = 4096;

/// Sends a message, or replaces the message that is edited.
pub(super) async fn say(chat: &mut Chat<'_>, text: &str) -> Result {
    let mut parts = vec![Part::text(text)];
    parts.extend(chat.attached.iter().cloned());
    let (start, head, files) = match &chat.editing {
        Some(editing) => {
            let attached = Attached::Replaced;
            let start = RunStart::Edit { entry: editing.entry.clone(), parts, attached };
            (start, Some(editing.head.clone()), editing.files.clone())
        }
        None => {
            let seen = chat.seen.clone();
            (RunStart::Say { parts, seen, steer: None, piped: false }, None, FilesWish::default())
        }
    };
    match begin(chat, start, head, files).await {
        Ok(events) => {
            chat.attached.clear();
            chat.editing = None;
            follow(chat, events).await
        }
        Err(failure) => {
            chat.refresh().await?;
            match put_back(chat, text, failure) {
                Failure::Problem(why) if chat.editing.is_some() && is_decided_anew(&why) => {
                    edit::again(chat, *why).await
                }
                failure => Err(failure),
            }
        }
    }
}

/// Whether an edit that was refused for this reason is shown again with its new plan.
fn is_decided_anew(why: &Problem) -> bool {
    why.kind == ProblemKind::Stale || why.code == CONFLICT
}

/// The words go back into the line.
fn put_back(chat: &mut Chat<'_>, text: &str, failure: Failure) -> Failure {
    chat.prefill = Some(input::message(text));
    failure
}

/// Another answer.
pub(super) async fn retry(chat: &mut Chat<'_>, words: &str) -> Result {
    let entry = if words.is_empty() { "@" } else { words };
    let start = RunStart::Retry { entry: entry.to_owned() };
    chat.here()?;
    let events = begin(chat, start, None, FilesWish::default()).await?;
    follow(chat, events).await
}

/// Starts a run, which begins the conversation where there is none yet.
async fn begin(
    chat: &mut Chat<'_>,
    start: RunStart,
    head: Option<String>,
    files: FilesWish,
) -> Result<Events> {
    chat.cx.ui.listen()?;
    let run = Run {
        conversation: chat.conversation().cloned().unwrap_or_default(),
        folder: Some(chat.cx.folder.to_owned()),
        start,
        model: chat.model.clone(),
        head,
        permit: chat.permit.clone(),
        files,
        request_id: None,
    };
    let (conversation, events) = started(&chat.cx, run).await?;
    chat.cx.place = Place::Conversation(Some(conversation));
    agent::store_permissions(chat).await?;
    Ok(events)
}

/// Shows a run until its end, then the runs of messages that were sent meanwhile.
pub(super) async fn follow(chat: &mut Chat<'_>, events: Events) -> Result {
    let mut shown = RunView::new(chat.cx.ui.look().columns);
    let mut runs = VecDeque::from([(None, gathered(events))]);
    while let Some((mut words, mut events)) = runs.pop_front() {
        loop {
            let next = tokio::select! {
                biased;
                pressed = chat.cx.ui.pressed() => Next::Pressed(pressed),
                event = events.recv() => Next::Event(event),
            };
            match next {
                Next::Pressed(Pressed::Interrupt) => {
                    shown.end(chat)?;
                    stop(chat).await?;
                }
                Next::Pressed(Pressed::Keys) => {
                    shown.end(chat)?;
                    runs.extend(steer(chat).await?.map(|(words, events)| (Some(words), gathered(events))));
                    chat.cx.ui.listen()?;
                }
                Next::Event(None) => return Err(broken_run()),
                Next::Event(Some(RunEvent::Ended(ended))) => {
                    shown.end(chat)?;
                    end(chat, *ended, &shown.model).await?;
                    break;
                }
                Next::Event(Some(event)) => {
                    if let (RunEvent::Started { .. }, Some(words)) = (&event, words.take()) {
                        // Repeat them, because much may have been shown since.
                        chat.cx.aside(&format!("> {}", safe::line(&words)))?;
                    }
                    shown.event(chat, event).await?;
                }
            }
        }
    }
    Ok(())
}

/// The next event while a run is active.
enum Next {
    Pressed(Pressed),
    Event(Option<RunEvent>),
}

/// Buffers the events, so that the run continues while the person types or answers.
fn gathered(mut events: Events) -> mpsc::Receiver<RunEvent> {
    let (sender, receiver) = mpsc::channel(GATHERED);
    tokio::spawn(async move {
        while let Some(event) = events.next().await {
            if sender.send(event).await.is_err() {
                break;
            }
        }
    });
    receiver
}

async fn stop(chat: &mut Chat<'_>) -> Result {
    let conversation = chat.here()?;
    approvals::stop(&mut chat.cx, &conversation).await
}

/// Reads a line while the model works: a command runs at once, a message goes where the settings say.
async fn steer(chat: &mut Chat<'_>) -> Result<Option<(String, Events)>> {
    let prefill = chat.prefill.take();
    let line = match chat.cx.ui.read("meanwhile> ", prefill)? {
        Read::Line(line) => line,
        Read::Interrupted => return stop(chat).await.map(|()| None),
        Read::Eof => return Ok(None),
    };
    let text = match input::parse(&line) {
        Input::Empty => return Ok(None),
        Input::Message(text) => text,
        Input::Command { name, rest } => {
            let done = chat.command(name, rest, &line).await;
            return chat.report(done).map(|()| None);
        }
    };
    let (parts, seen) = (vec![Part::text(text)], chat.seen.clone());
    let start = RunStart::Say { parts, seen, steer: Some(Steer::Usual), piped: false };
    match begin(chat, start, None, FilesWish::default()).await {
        Ok(mut events) => {
            if Pin::new(&mut events).next_if(|event| *event == RunEvent::Queued).await.is_some() {
                chat.cx.aside("the model gets this at its next step; /unqueue takes it back")?;
            }
            Ok(Some((text.to_owned(), events)))
        }
        Err(failure) => {
            let failure = put_back(chat, text, failure);
            chat.cx.complain(&failure).map(|()| None)
        }
    }
}

/// Reports the end of a run, and what to do next.
async fn end(chat: &mut Chat<'_>, ended: Ended, model: &str) -> Result {
    if ended.outcome == Outcome::Joined {
        // The run that it joined reports its result.
        return Ok(());
    }
    if let Some(usage) = ended.entry.as_ref().and_then(|entry| entry.usage.as_ref()) {
        let model = safe::line(model);
        let line = match content::usage(usage) {
            Some(usage) => format!("{usage} · {model}"),
            None => model.into_owned(),
        };
        chat.cx.aside(&line)?;
    }
    if let Some(problem) = &ended.problem {
        complain(chat, problem)?;
    }
    match ended.outcome {
        Outcome::Succeeded | Outcome::Joined => {}
        Outcome::Interrupted => {
            chat.cx.aside("interrupted, partial answer stored: /retry asks again, /undo takes it back")?;
        }
        Outcome::RolledBack => {
            let composer = ended.receipt.as_ref().and_then(|it| it.composer.as_ref());
            match composer {
                Some(composer) => {
                    chat.take_up(composer);
                    chat.cx.aside("stopped before any answer: your words are back in the line")?;
                }
                None => chat.cx.aside("stopped before any answer: nothing has changed")?,
            }
        }
        Outcome::Failed => {
            chat.cx.aside("your message is stored: /retry asks again, /undo takes it back")?;
        }
    }
    chat.cx.print("\n")?;
    chat.refresh().await
}

fn complain(chat: &mut Chat<'_>, problem: &Problem) -> Result {
    chat.cx.complain(&Failure::from(problem.clone()))
}
