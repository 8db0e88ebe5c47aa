//! A model run of a verb, until its end, and the exit code. Must never report success for a task that may be incomplete.

use std::pin::Pin;

use futures::StreamExt;
use futures::stream::{BoxStream, Peekable};
use retake_wire::request::ConversationTarget;
use retake_wire::{Ended, Outcome, ProblemKind, Request, Run, RunEvent};

use crate::args::CALL_NOT_ALLOWED;
use crate::context::{Context, FollowUp, with_progress};
use crate::error::{Failure, INTERRUPTED, Result};
use crate::run_view::RunView;
use crate::shutdown;

/// The events of a run.
pub(crate) type Events = Peekable<BoxStream<'static, RunEvent>>;

/// Starts a run. The first event names the conversation, which may be new.
pub(crate) async fn started(cx: &Context<'_>, run: Run) -> Result<(String, Events)> {
    let named = run.conversation.clone();
    let mut events = with_progress(cx.client, cx.json, cx.client.run(run)).await?.peekable();
    let conversation = match Pin::new(&mut events).peek().await {
        Some(RunEvent::Started { receipt: Some(receipt), .. }) => receipt.conversation.clone(),
        _ => named,
    };
    Ok((conversation, events))
}

/// Runs the model and prints its answer. The first Ctrl-C asks the run to stop, the second ends the command at once. The line
/// client starts the run itself, because the person can type meanwhile.
pub(crate) async fn answer(cx: &mut Context<'_>, run: Run) -> Result {
    if cx.in_conversation() {
        cx.follow_up = Some(FollowUp::Run(Box::new(run)));
        return Ok(());
    }
    let result = follow(cx, run).await?;
    end(cx, &result)
}

/// How a run ended.
pub(crate) struct RunResult {
    /// The result.
    pub(crate) ended: Ended,
    /// Whether Ctrl-C stopped it.
    stopped: bool,
    /// The number of calls that needed an approval, without a person to give it.
    not_allowed: u64,
}

/// Runs the model and prints its events until the end.
pub(crate) async fn follow(cx: &mut Context<'_>, run: Run) -> Result<RunResult> {
    cx.ui.listen()?;
    let (conversation, mut events) = started(cx, run).await?;
    let mut view = RunView::new(cx, conversation.clone());
    let of = ConversationTarget { conversation };
    let mut stopped = false;
    let followed = shutdown::FollowedRun::new();
    loop {
        let event = tokio::select! {
            biased;
            () = cx.ui.interrupted() => None,
            () = followed.stop_requested() => {
                cx.call(Request::Cancel(of.clone())).await?;
                return followed.stopped().await;
            }
            event = events.next() => Some(event),
        };
        match event {
            // The second Ctrl-C means not to wait until the model has stopped.
            None if stopped => return Err(Failure::Reported(INTERRUPTED)),
            None => {
                stopped = true;
                cx.call(Request::Cancel(of.clone())).await?;
            }
            Some(Some(event)) => {
                if let Some(ended) = view.event(cx, event).await? {
                    return Ok(RunResult { ended, stopped, not_allowed: view.not_allowed });
                }
            }
            Some(None) => return Err(crate::error::broken_run()),
        }
    }
}

/// Reports the result, by a message if needed and by the exit code.
pub(crate) fn end(cx: &mut Context<'_>, result: &RunResult) -> Result {
    let RunResult { ended, stopped, not_allowed } = result;
    if matches!(ended.outcome, Outcome::Succeeded | Outcome::Joined) {
        if *not_allowed == 0 {
            return Ok(());
        }
        if !cx.json {
            let calls = retake_tui::render::words::count(*not_allowed, "call");
            let were = if *not_allowed == 1 { "was" } else { "were" };
            cx.aside(&format!(
                "{calls} {were} not allowed, so the task may be incomplete: exit code {CALL_NOT_ALLOWED}"
            ))?;
        }
        return Err(Failure::Reported(CALL_NOT_ALLOWED));
    }
    if let (Some(problem), false) = (&ended.problem, cx.json) {
        cx.complain(&Failure::from(problem.clone()))?;
    }
    if !cx.json {
        match ended.outcome {
            Outcome::Interrupted => cx.aside("interrupted: the partial answer is stored")?,
            Outcome::RolledBack => cx.aside("stopped before any answer: nothing was stored")?,
            Outcome::Succeeded | Outcome::Joined | Outcome::Failed => {}
        }
    }
    let code = match &ended.problem {
        Some(problem) => problem.kind.exit_code(),
        None if *stopped || ended.outcome == Outcome::RolledBack => INTERRUPTED,
        None => ProblemKind::Model.exit_code(),
    };
    Err(Failure::Reported(code))
}
