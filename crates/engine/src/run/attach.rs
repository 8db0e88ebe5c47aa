//! The same request again while the run that it began is at work: it hears what the run has said so far, and what comes then. Must
//! never begin a run.

use std::sync::Arc;

use futures::stream::BoxStream;
use retake_core::{By, ConversationId, Digest, Receipt};
use retake_store::StoreError;

use super::{Ended, Events, Outcome, RunEvent, RunNow, RunSubscription};
use crate::Engine;
use crate::error::{EngineError, Kind, Result};

impl Engine {
    /// The events of the run at work that this request has begun. None, where no run at work is this request's.
    pub(crate) fn attach(
        self: &Arc<Self>,
        conversation: ConversationId,
        by: &By,
    ) -> Result<Option<BoxStream<'static, RunEvent>>> {
        let Some(request) = &by.request else { return Ok(None) };
        // Before the run is looked for: so the end of one that is found will be heard.
        let (now, following) = self.follow_runs(conversation);
        let Some(serving) = self.serving(conversation, request) else { return Ok(None) };
        let same = |(serving, by): (Digest, Digest)| by.matches(serving.current);
        if !serving.by.wording.zip(by.wording).map_or(serving.by.wording == by.wording, same) {
            return Err(StoreError::RequestReused(request.clone()).into());
        }
        let (events, stream) = Events::stream();
        so_far(now, serving.began).into_iter().for_each(|event| events.answer(event));
        tokio::spawn(relay(following, events));
        Ok(Some(stream))
    }
}

/// Hands on what the run says, until it ends or nobody takes it.
async fn relay(mut following: RunSubscription, events: Events) {
    loop {
        let next = tokio::select! {
            biased;
            () = events.gone() => return,
            next = following.next() => next,
        };
        let event = next.map_or_else(behind, |event| (*event).clone());
        let is_over = matches!(event, RunEvent::Ended(_));
        events.answer(event);
        if is_over {
            return;
        }
    }
}

/// What a run has said until now, as it said it. Nothing, where it has not begun to speak.
fn so_far(now: RunNow, began: Option<Receipt>) -> Vec<RunEvent> {
    let RunNow { model, text, reasoning, calls, asks, questions } = now;
    let Some(model) = model else { return Vec::new() };
    let mut events = vec![RunEvent::Started(began, model, None)];
    events.extend(Some(reasoning).filter(|text| !text.is_empty()).map(RunEvent::Reasoning));
    events.extend(Some(text).filter(|text| !text.is_empty()).map(RunEvent::Text));
    for (call, printed) in calls {
        let id = call.call.clone();
        events.push(RunEvent::Calling(call));
        events.extend(Some(printed).filter(|text| !text.is_empty()).map(|text| RunEvent::Printed(id, text)));
    }
    events.extend(asks.into_iter().map(RunEvent::Asks));
    events.extend(questions.into_iter().map(RunEvent::Question));
    events
}

/// More was said at once than is kept for a listener.
fn behind() -> RunEvent {
    let what = "this listener fell behind what the run says; the run goes on";
    let error = EngineError::new(Kind::Refused, "behind", what);
    let error = Some(error.hint("send the same request again"));
    RunEvent::Ended(Ended { outcome: Outcome::Failed, receipt: None, entry: None, error })
}
