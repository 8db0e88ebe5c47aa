//! A run's events, converted to `wire`'s types.

use futures::StreamExt;
use futures::stream::BoxStream;
use retake_core::ConversationId;
use retake_wire::{CallNow, Ended, Outcome, Problem, Run, RunEvent, RunNotice, RunNow, RunStart, english};

use crate::InProcess;
use crate::agent;
use crate::convert::{problem, run_notice};
use crate::log::LogFailure as _;

impl InProcess {
    pub(crate) async fn start_run(&self, run: Run) -> Result<BoxStream<'static, RunEvent>, Problem> {
        let goes_back = matches!(run.start, RunStart::Edit { .. } | RunStart::Retry { .. });
        let (conversation, events) = self.begin_run(run).await?;
        let server = self.clone();
        Ok(events
            .then(move |event| {
                let server = server.clone();
                async move {
                    match event {
                        retake_engine::RunEvent::Started(Some(said), model, back) if goes_back => {
                            let receipt = server.reworded(&said, back.as_deref()).await;
                            let receipt = receipt.or_log("the receipt of a run is not told").map(Box::new);
                            RunEvent::Started { receipt, model }
                        }
                        event => server.event(conversation, event).await,
                    }
                }
            })
            .boxed())
    }

    pub(crate) async fn event(
        &self,
        conversation: ConversationId,
        event: retake_engine::RunEvent,
    ) -> RunEvent {
        match event {
            retake_engine::RunEvent::Queued => RunEvent::Queued,
            retake_engine::RunEvent::Started(receipt, model, _) => {
                let receipt = match receipt {
                    Some(receipt) => {
                        let receipt = self.wire_receipt(&receipt).await;
                        receipt.or_log("the receipt of a run is not told").map(Box::new)
                    }
                    None => None,
                };
                RunEvent::Started { receipt, model }
            }
            retake_engine::RunEvent::Text(text) => RunEvent::Text { text },
            retake_engine::RunEvent::Reasoning(text) => RunEvent::Reasoning { text },
            retake_engine::RunEvent::Notice(it) => notice(run_notice(it)),
            retake_engine::RunEvent::Answered(entry) => RunEvent::Answered { entry: entry.to_string() },
            retake_engine::RunEvent::Asks(asks) => RunEvent::Asks(Box::new(agent::asks(asks))),
            retake_engine::RunEvent::Question(question) => RunEvent::Question(agent::question(question)),
            retake_engine::RunEvent::Settled(id) => RunEvent::Settled { id },
            retake_engine::RunEvent::Calling(call) => RunEvent::Calling(agent::call(call)),
            retake_engine::RunEvent::Printed(call, text) => RunEvent::Printed { call, text },
            retake_engine::RunEvent::Called(ended) => RunEvent::Called(agent::ended(ended)),
            retake_engine::RunEvent::Joined(receipt) => match self.wire_receipt(&receipt).await {
                Ok(receipt) => RunEvent::Joined { receipt: Box::new(receipt) },
                Err(problem) => notice(RunNotice::Failed { cause: problem.into() }),
            },
            retake_engine::RunEvent::Ended(ended) => {
                RunEvent::Ended(Box::new(self.ended(conversation, ended).await))
            }
        }
    }

    async fn ended(&self, conversation: ConversationId, ended: retake_engine::Ended) -> Ended {
        let mut trouble = ended.error.map(problem);
        let mut receipt = None;
        if let Some(made) = &ended.receipt {
            match self.wire_receipt(made).await {
                Ok(made) => receipt = Some(made),
                Err(error) => trouble = trouble.or(Some(error)),
            }
        }
        let mut entry = None;
        if let Some(id) = ended.entry {
            // A late answer to a rewound prompt is not shown.
            match self.engine.shown(conversation, id).await {
                Ok(shown) => match self.wire_entries(conversation, shown.into_iter().collect()).await {
                    Ok(mut shown) => entry = shown.pop(),
                    Err(error) => trouble = trouble.or(Some(error)),
                },
                Err(error) => trouble = trouble.or(Some(problem(error))),
            }
        }
        let outcome = match ended.outcome {
            retake_engine::Outcome::Succeeded => Outcome::Succeeded,
            retake_engine::Outcome::Interrupted => Outcome::Interrupted,
            retake_engine::Outcome::RolledBack => Outcome::RolledBack,
            retake_engine::Outcome::Failed => Outcome::Failed,
            retake_engine::Outcome::Joined => Outcome::Joined,
        };
        Ended { outcome, receipt, entry, problem: trouble }
    }
}

/// The event for all subscribers: content for a composer only goes to the requester.
pub(crate) fn without_composer(mut event: RunEvent) -> RunEvent {
    match &mut event {
        RunEvent::Started { receipt: Some(receipt), .. } | RunEvent::Joined { receipt } => {
            receipt.composer = None;
            receipt.waited.clear();
        }
        RunEvent::Ended(ended) => {
            if let Some(receipt) = &mut ended.receipt {
                receipt.composer = None;
                receipt.waited.clear();
            }
        }
        _ => {}
    }
    event
}

/// The events of the current run so far.
pub(crate) fn now(now: retake_engine::RunNow) -> RunNow {
    let call = |(call, printed)| CallNow { call: agent::call(call), printed, began_ms: None };
    RunNow {
        model: now.model,
        text: now.text,
        reasoning: now.reasoning,
        calls: now.calls.into_iter().map(call).collect(),
        asks: now.asks.into_iter().map(agent::asks).collect(),
        questions: now.questions.into_iter().map(agent::question).collect(),
    }
}

/// A notice, with its sentence for clients of the previous version.
fn notice(notice: RunNotice) -> RunEvent {
    let text = english::run_notice(&notice, &english::remedy);
    RunEvent::Notice { notice, text }
}
