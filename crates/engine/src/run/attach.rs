//! Repeated requests for a run at work: they get its events so far, and the following ones. Must never begin a run.

use std::sync::Arc;

use futures::stream::BoxStream;
use retake_core::{ChangeOrigin, ConversationId, Digest, Receipt};
use retake_store::StoreError;

use super::{Ended, Events, Outcome, RunEvent, RunNow, RunSubscription};
use crate::Engine;
use crate::error::{EngineError, Kind, Result};

impl Engine {
    /// The events of the run at work that this request has begun. None if no run at work belongs to this request.
    pub(crate) fn attach(
        self: &Arc<Self>,
        conversation: ConversationId,
        by: &ChangeOrigin,
    ) -> Result<Option<BoxStream<'static, RunEvent>>> {
        let Some(request) = &by.request else { return Ok(None) };
        // Subscribed before the run is looked up, so that the end of a run that is found is not missed.
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

/// Forwards the events of the run until it ends or the receiver is gone.
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

/// The events of a run so far. Empty if it has not begun to answer.
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

/// The event for a listener that lagged and missed events.
fn behind() -> RunEvent {
    let what = "this listener fell behind what the run says; the run goes on";
    let error = Some(EngineError::new(Kind::Refused, "behind", what));
    RunEvent::Ended(Ended { outcome: Outcome::Failed, receipt: None, entry: None, error })
}
