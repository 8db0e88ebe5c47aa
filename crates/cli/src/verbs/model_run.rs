//! A model run of a verb: the answer goes to standard output as it comes. Must never mix anything else into it.

use std::collections::HashMap;
use std::pin::Pin;

use futures::StreamExt;
use futures::stream::{BoxStream, Peekable};
use retake_wire::request::{Of, Respond};
use retake_wire::{CallShown, Decision, Ended, Outcome, ProblemKind, Request, Run, RunEvent};

use crate::approvals::{self, Delivery};
use crate::args::CALL_NOT_ALLOWED;
use crate::context::{Context, with_progress};
use crate::error::{Failure, INTERRUPTED, Result};
use crate::shutdown;
use crate::term::safe;
use retake_tui::render::agent::is_widest;
use retake_tui::render::calls::{self, Seen};
use retake_tui::render::receipt::went_back;

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

/// Runs the model and prints its answer. The first Ctrl-C asks the run to stop, the second ends the command at once.
pub(crate) async fn answer(cx: &mut Context<'_>, run: Run) -> Result {
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

/// Runs and prints what comes, until its end.
pub(crate) async fn follow(cx: &mut Context<'_>, run: Run) -> Result<RunResult> {
    cx.ui.listen()?;
    let (conversation, mut events) = started(cx, run).await?;
    let of = Of { conversation };
    let mut shown = Shown::default();
    let (mut stopped, mut not_allowed) = (false, 0);
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
            // Who presses it again does not want to wait until the model has stopped.
            None if stopped => return Err(Failure::Reported(INTERRUPTED)),
            None => {
                stopped = true;
                cx.call(Request::Cancel(of.clone())).await?;
            }
            Some(Some(event)) => {
                not_allowed +=
                    u64::from(handle_request(cx, &of.conversation, &event).await? == Approval::Missing);
                if let Some(ended) = shown.event(cx, event)? {
                    return Ok(RunResult { ended, stopped, not_allowed });
                }
            }
            Some(None) => return Err(crate::error::broken_run()),
        }
    }
}

/// Whether a call was denied because no person could approve it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Approval {
    Missing,
    /// A person decided, or no approval was needed.
    NotMissing,
}

/// Lets the person at the terminal answer a request of the run. Without a terminal nothing is approved, and the model learns why.
async fn handle_request(cx: &mut Context<'_>, conversation: &str, event: &RunEvent) -> Result<Approval> {
    match event {
        RunEvent::Asks(asks) if cx.can_ask() => drop(approvals::request(cx, conversation, asks).await?),
        RunEvent::Question(question) if cx.can_ask() => {
            drop(approvals::question(cx, conversation, question).await?);
        }
        RunEvent::Asks(asks) => {
            let narrow = asks.offers.iter().find(|rule| !is_widest(rule));
            let rule = narrow.map(|rule| format!("--allow '{}' or ", rule.short())).unwrap_or_default();
            // A repeated external call needs a person, whatever the rules permit.
            let how = match asks.again_ms {
                Some(_) => "only a person can approve it: `retake -c` in a terminal asks".to_owned(),
                None => format!("{rule}--mode allow-all allows it"),
            };
            if !cx.json {
                let what = format!("not allowed: {} ({}); {how}", asks.call.line, asks.why);
                cx.aside(&safe::line(&what))?;
            }
            let allows = if asks.again_ms.is_some() { how } else { format!("{how} next time") };
            let came = approvals::decide(cx, conversation, asks, Decision::Unattended { allows }).await?;
            return Ok(if came == Delivery::Accepted { Approval::Missing } else { Approval::NotMissing });
        }
        RunEvent::Question(question) => {
            let answer = "no person is there to answer: continue with the most likely meaning, and state what you assumed";
            let (id, answer) = (question.id.clone(), answer.to_owned());
            let respond = Respond { conversation: conversation.to_owned(), id, answer };
            return approvals::deliver(cx, Request::Respond(respond)).await.map(|_| Approval::NotMissing);
        }
        _ => return Ok(Approval::NotMissing),
    }
    cx.ui.listen()?;
    Ok(Approval::NotMissing)
}

/// The printed part of the answer.
#[derive(Default)]
struct Shown {
    text: safe::Stream,
    any: bool,
    newline: bool,
    /// The calls that were printed.
    calls: HashMap<String, CallShown>,
}

impl Shown {
    fn event(&mut self, cx: &mut Context<'_>, event: RunEvent) -> Result<Option<Ended>> {
        if cx.json {
            cx.json(&event)?;
            return Ok(match event {
                RunEvent::Ended(ended) => Some(*ended),
                _ => None,
            });
        }
        let look = cx.ui.look();
        match event {
            RunEvent::Ended(ended) => {
                self.end_line(cx)?;
                return Ok(Some(*ended));
            }
            RunEvent::Text { text } => {
                let text = self.text.push(&text);
                self.any |= !text.is_empty();
                self.newline = text.ends_with('\n');
                cx.print(&text)?;
            }
            RunEvent::Started { receipt: Some(receipt), .. } => {
                let text = went_back(&look, &receipt, ["retake undo", "retake undo"]);
                cx.ui.note_text(&text.unwrap_or_default())?;
            }
            RunEvent::Notice { text } => cx.aside(&safe::block(&text))?,
            // The next answer begins on a line of its own.
            RunEvent::Answered { .. } => self.end_line(cx)?,
            RunEvent::Calling(call) => {
                cx.aside(&format!("● {}", safe::line(&call.line)))?;
                self.calls.insert(call.call.clone(), call);
            }
            RunEvent::Called(ended) if ended.failed => {
                let call = self.calls.get(&ended.call);
                cx.ui.note_text(&calls::called(&look, call, &ended, Seen::Nothing))?;
            }
            _ => {}
        }
        Ok(None)
    }

    fn end_line(&mut self, cx: &mut Context<'_>) -> Result {
        let rest = self.text.finish();
        let end = if self.any && !self.newline { "\n" } else { "" };
        self.newline = true;
        cx.print(&format!("{rest}{end}"))
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
