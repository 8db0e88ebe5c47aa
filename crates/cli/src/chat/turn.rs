//! A turn: a message, its streamed answer, and Ctrl-C, which stops it. Must never lose a message: it is stored or in the line.

use std::collections::VecDeque;
use std::pin::Pin;

use futures::StreamExt;
use retake_wire::reply::Context;
use retake_wire::request::ContextQuery;
use retake_wire::{
    Attached, Ended, FileOptions, Outcome, Part, Problem, ProblemKind, Reply, Request, Run, RunEvent,
    RunStart, Steer,
};
use tokio::sync::mpsc;

use super::input::{self, Input};
use super::{Chat, agent, edit};
use crate::approvals;
use crate::context::Place;
use crate::error::{Failure, Result, broken_run};
use crate::run_view::RunView;
use crate::term::safe;
use crate::ui::{Pressed, Read};
use crate::verbs::agreement::CONFLICT;
use crate::verbs::model_run::{Events, started};
use retake_tui::hint::Audience;
use retake_tui::render::content;

/// The number of events that are buffered while the person types; then the run waits, too.
const GATHERED: usize = 4096;

/// What a person sends.
#[derive(Clone, Copy, Debug)]
pub(super) enum Words<'a> {
    /// A message.
    Text(&'a str),
    /// The command of a file, and its arguments.
    Command(&'a str, &'a str),
}

impl Words<'_> {
    /// The line as it is typed.
    fn line(self) -> String {
        match self {
            Self::Text(text) => input::message(text),
            Self::Command(name, arguments) => format!("/{name} {arguments}").trim_end().to_owned(),
        }
    }
}

/// Sends a message, or replaces the edited one.
pub(super) async fn say(chat: &mut Chat<'_>, words: Words<'_>) -> Result {
    if let Words::Text(text) = words
        && !may_send(chat, text).await?
    {
        return Ok(());
    }
    let mut run = message(chat, words, None);
    if let Some(editing) = &chat.editing {
        let of = editing.entry.clone();
        match &mut run.start {
            RunStart::Say { parts, .. } => {
                let parts = std::mem::take(parts);
                run.start = RunStart::Edit { entry: of, parts, attached: Attached::Replaced };
            }
            RunStart::Command { entry, .. } => *entry = Some(of),
            _ => {}
        }
        (run.head, run.files) = (Some(editing.head.clone()), editing.files.clone());
    }
    match begin(chat, run).await {
        Ok(events) => {
            chat.attached.clear();
            chat.editing = None;
            follow(chat, events).await
        }
        Err(failure) => {
            chat.refresh().await?;
            match put_back(chat, words, failure) {
                Failure::Problem(why) if chat.editing.is_some() && is_decided_again(&why) => {
                    edit::again(chat, *why).await
                }
                failure => Err(failure),
            }
        }
    }
}

/// Whether the message is sent: one that may not fit into the model's context returns to the line first, with a warning.
async fn may_send(chat: &mut Chat<'_>, text: &str) -> Result<bool> {
    let RunStart::Say { parts, .. } = message(chat, Words::Text(text), None).start else { return Ok(true) };
    let was_warned = chat.warned.take().is_some_and(|warned| warned == text);
    let (Some(conversation), None) = (chat.conversation().cloned(), &chat.editing) else { return Ok(true) };
    if was_warned || !ContextQuery::is_worth_asking(&parts) {
        return Ok(true);
    }
    let query = ContextQuery { conversation, model: chat.model.clone(), parts };
    // Without an answer it is sent, and the run says it.
    let Ok(Reply::Context(Context { warning: Some(warning), .. })) =
        chat.cx.call(Request::Context(query)).await
    else {
        return Ok(true);
    };
    let warning = Audience::Chat.notice(&warning, "");
    if !chat.cx.ui.input_is_terminal() {
        return chat.cx.aside(&safe::line(&warning)).map(|()| true);
    }
    chat.cx.aside(&format!("{}; Enter again sends it", safe::line(&warning)))?;
    chat.warned = Some(text.to_owned());
    chat.prefill = Some(input::message(text));
    Ok(false)
}

/// Whether an edit refused for this reason is shown again with its new plan.
fn is_decided_again(why: &Problem) -> bool {
    why.kind == ProblemKind::Stale || why.code == CONFLICT
}

/// Puts the text back into the line.
fn put_back(chat: &mut Chat<'_>, words: Words<'_>, failure: Failure) -> Failure {
    chat.prefill = Some(words.line());
    failure
}

/// The run of a message, with the parts that wait for it unless another run is active.
fn message(chat: &Chat<'_>, words: Words<'_>, steer: Option<Steer>) -> Run {
    let waiting = chat.attached.iter().filter(|_| steer.is_none()).cloned();
    let seen = chat.seen.clone();
    let start = match words {
        Words::Text(text) => {
            let parts = [Part::text(text)].into_iter().chain(waiting).collect();
            RunStart::Say { parts, seen, steer, piped: false }
        }
        Words::Command(name, arguments) => RunStart::Command {
            name: name.to_owned(),
            arguments: arguments.to_owned(),
            attached: waiting.collect(),
            entry: None,
            seen,
            steer,
        },
    };
    Run {
        conversation: chat.conversation().cloned().unwrap_or_default(),
        folder: None,
        start,
        model: None,
        head: None,
        permit: chat.permit.clone(),
        files: FileOptions::default(),
        request_id: None,
    }
}

/// Starts the run of a verb, and shows it until its end.
pub(super) async fn answer(chat: &mut Chat<'_>, run: Run) -> Result {
    let events = begin(chat, run).await?;
    follow(chat, events).await
}

/// Starts a run, which begins the conversation if there is none yet. The person may have chosen the model.
async fn begin(chat: &mut Chat<'_>, run: Run) -> Result<Events> {
    chat.cx.ui.listen()?;
    let model = run.model.or_else(|| chat.model.clone());
    let run = Run { folder: Some(chat.cx.folder.to_owned()), model, ..run };
    let (conversation, events) = started(&chat.cx, run).await?;
    chat.cx.place = Place::Conversation(Some(conversation));
    agent::store_permissions(chat).await?;
    Ok(events)
}

/// Shows a run until its end, then the runs of messages that were sent meanwhile.
pub(super) async fn follow(chat: &mut Chat<'_>, events: Events) -> Result {
    let mut view = RunView::new(&chat.cx, chat.cx.here()?);
    let mut runs = VecDeque::from([(None, gathered(events))]);
    while let Some((mut words, mut events)) = runs.pop_front() {
        loop {
            let next = tokio::select! {
                biased;
                pressed = chat.cx.ui.pressed() => ActiveRunEvent::Pressed(pressed),
                event = events.recv() => ActiveRunEvent::Event(event),
            };
            match next {
                ActiveRunEvent::Pressed(Pressed::Interrupt) => {
                    view.end(&mut chat.cx)?;
                    stop(chat).await?;
                }
                ActiveRunEvent::Pressed(Pressed::Keys) => {
                    view.end(&mut chat.cx)?;
                    runs.extend(steer(chat).await?.map(|(words, events)| (Some(words), gathered(events))));
                    chat.cx.ui.listen()?;
                }
                ActiveRunEvent::Event(None) => return Err(broken_run()),
                ActiveRunEvent::Event(Some(event)) => {
                    if let (RunEvent::Started { .. }, Some(words)) = (&event, words.take()) {
                        // Repeat them, because much may have been shown since.
                        chat.cx.aside(&format!("> {}", safe::line(&words)))?;
                    }
                    chat.made_by_run(&event);
                    let ended = view.event(&mut chat.cx, event).await?;
                    chat.came_late(view.late.take())?;
                    if let Some(ended) = ended {
                        end(chat, ended, &view.model).await?;
                        break;
                    }
                }
            }
        }
    }
    Ok(())
}

/// The next event while a run is active.
enum ActiveRunEvent {
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
    let conversation = chat.cx.here()?;
    approvals::stop(&mut chat.cx, &conversation).await
}

/// Reads a line while the model works: a command runs at once; the settings decide when a message is sent.
async fn steer(chat: &mut Chat<'_>) -> Result<Option<(String, Events)>> {
    let prefill = chat.prefill.take();
    let line = match chat.cx.ui.read("meanwhile> ", prefill)? {
        Read::Line(line) => line,
        Read::Interrupted => return stop(chat).await.map(|()| None),
        Read::Eof => return Ok(None),
    };
    let words = match input::parse(&line) {
        Input::Empty => return Ok(None),
        Input::Message(text) => Words::Text(text),
        Input::Command { name, rest } if chat.is_of_file(name).await => Words::Command(name, rest),
        Input::Command { name, rest } => {
            let done = chat.command(name, rest).await;
            return chat.report(done).map(|()| None);
        }
    };
    match begin(chat, message(chat, words, Some(Steer::Usual))).await {
        Ok(mut events) => {
            if Pin::new(&mut events).next_if(|event| *event == RunEvent::Queued).await.is_some() {
                chat.cx.aside("the model gets this at its next step; /unqueue takes it back")?;
            }
            let text = match words {
                Words::Text(text) => text.to_owned(),
                Words::Command(..) => words.line(),
            };
            Ok(Some((text, events)))
        }
        Err(failure) => {
            let failure = put_back(chat, words, failure);
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
        let usage = content::usage(usage).map(|usage| format!("{usage} · ")).unwrap_or_default();
        chat.cx.aside(&format!("{usage}{}", safe::line(model)))?;
    }
    if let Some(problem) = ended.problem {
        chat.cx.complain(&problem.into())?;
    }
    let next = match ended.outcome {
        Outcome::Succeeded | Outcome::Joined => "",
        Outcome::Interrupted => "interrupted, partial answer stored: /retry asks again, /undo takes it back",
        Outcome::RolledBack => match ended.receipt.and_then(|receipt| receipt.composer) {
            Some(composer) => {
                chat.take_up(&composer);
                "stopped before any answer: your words are back in the line"
            }
            None => "stopped before any answer: nothing has changed",
        },
        Outcome::Failed => "your message is stored: /retry asks again, /undo takes it back",
    };
    if !next.is_empty() {
        chat.cx.aside(next)?;
    }
    chat.cx.print("\n")?;
    chat.refresh().await
}
