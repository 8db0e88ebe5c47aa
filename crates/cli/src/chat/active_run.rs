//! Follows a run that is active when the person opens a conversation: its output so far, its open requests, and what follows. Must never
//! stop the run.

use std::collections::VecDeque;
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use retake_wire::{Event, Follow, NumberedEvent, RunEvent, RunNow};

use super::{Chat, turn};
use crate::error::Result;

/// Activity without an event for this long is no run, but another operation.
const PATIENCE: Duration = Duration::from_secs(1);

/// Follows the active run of the conversation, if there is one, until its end.
pub(super) async fn follow(chat: &mut Chat<'_>) -> Result {
    let Some(conversation) = chat.conversation().cloned() else { return Ok(()) };
    let told = chat.cx.client.follow(Follow { conversation: Some(conversation), since: None }).await?;
    let mut events = of_run(told).peekable();
    if tokio::time::timeout(PATIENCE, std::pin::Pin::new(&mut events).peek()).await.ok().flatten().is_none() {
        return Ok(());
    }
    chat.cx.aside("a run is active:")?;
    chat.cx.ui.listen()?;
    turn::follow(chat, events.boxed().peekable()).await
}

/// The events of the active run; empty if there is no run.
fn of_run(told: BoxStream<'static, NumberedEvent>) -> BoxStream<'static, RunEvent> {
    let next = |(mut told, mut ready): (BoxStream<'static, NumberedEvent>, VecDeque<RunEvent>)| async move {
        loop {
            if let Some(event) = ready.pop_front() {
                // The next run is not followed.
                let told = if matches!(event, RunEvent::Ended(_)) { stream::empty().boxed() } else { told };
                return Some((event, (told, ready)));
            }
            match told.next().await?.event {
                Event::Snapshot(snapshot) if !snapshot.running => return None,
                Event::Now(now) => ready.extend(so_far(*now)),
                Event::Run { said } => ready.push_back(said),
                _ => {}
            }
        }
    };
    stream::unfold((told, VecDeque::new()), next).boxed()
}

/// The output of a run so far, as events.
fn so_far(now: RunNow) -> Vec<RunEvent> {
    let RunNow { model, text, reasoning, calls, asks, questions } = now;
    let Some(model) = model else { return Vec::new() };
    let mut said = vec![RunEvent::Started { receipt: None, model }];
    said.extend((!reasoning.is_empty()).then_some(RunEvent::Reasoning { text: reasoning }));
    said.extend((!text.is_empty()).then_some(RunEvent::Text { text }));
    for now in calls {
        let call = now.call.call.clone();
        said.push(RunEvent::Calling(now.call));
        said.extend((!now.printed.is_empty()).then_some(RunEvent::Printed { call, text: now.printed }));
    }
    said.extend(asks.into_iter().map(|asks| RunEvent::Asks(Box::new(asks))));
    said.extend(questions.into_iter().map(RunEvent::Question));
    said
}
