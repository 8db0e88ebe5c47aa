//! A model run without a conversation in the terminal: the answer goes to standard output as it comes. Must never mix anything else
//! into it.

use std::collections::HashMap;
use std::pin::Pin;

use futures::StreamExt;
use futures::stream::{BoxStream, Peekable};
use retake_wire::request::{Of, Respond};
use retake_wire::{CallShown, Decision, Ended, Outcome, ProblemKind, Request, Run, RunEvent};

use crate::args::CALL_NOT_ALLOWED;
use crate::asked::{self, Came};
use crate::context::{Context, watched};
use crate::error::{Failure, INTERRUPTED, Result};
use crate::term::safe;
use crate::told;
use crate::ui::Look;
use retake_tui::render::agent::is_widest;
use retake_tui::render::calls::{self, Seen};
use retake_tui::render::receipt::went_back;

/// What a run says.
pub(crate) type Events = Peekable<BoxStream<'static, RunEvent>>;

/// Starts a run. The first event says in which conversation, which the run may have begun.
pub(crate) async fn started(cx: &Context<'_>, run: Run) -> Result<(String, Events)> {
    let named = run.conversation.clone();
    let mut events = watched(cx.client, cx.json, cx.client.run(run)).await?.peekable();
    let conversation = match Pin::new(&mut events).peek().await {
        Some(RunEvent::Started { receipt: Some(receipt), .. }) => receipt.conversation.clone(),
        _ => named,
    };
    Ok((conversation, events))
}

/// Runs the model and prints its answer. The first Ctrl-C asks it to stop, the second leaves at once.
pub(crate) async fn answer(cx: &mut Context<'_>, run: Run) -> Result {
    let over = follow(cx, run).await?;
    end(cx, &over)
}

/// How a run that was followed ended.
pub(crate) struct Over {
    /// What it left.
    pub(crate) ended: Ended,
    /// Ctrl-C had asked for that.
    stopped: bool,
    /// So many calls would have been asked about, and nobody was there.
    not_allowed: u64,
}

/// Runs and prints what comes, until its end.
pub(crate) async fn follow(cx: &mut Context<'_>, run: Run) -> Result<Over> {
    cx.ui.listen()?;
    let (conversation, mut events) = started(cx, run).await?;
    let of = Of { conversation };
    let mut shown = Shown::default();
    let (mut stopped, mut not_allowed) = (false, 0);
    let there = told::There::new();
    loop {
        let event = tokio::select! {
            biased;
            () = cx.ui.interrupted() => None,
            () = there.told() => {
                cx.call(Request::Cancel(of.clone())).await?;
                return there.left().await;
            }
            event = events.next() => Some(event),
        };
        match event {
            // Who presses it again does not want to wait until the model has stopped.
            None if stopped => return Err(Failure::Said(INTERRUPTED)),
            None => {
                stopped = true;
                cx.call(Request::Cancel(of.clone())).await?;
            }
            Some(Some(event)) => {
                not_allowed += u64::from(asked(cx, &of.conversation, &event).await? == Leave::Missing);
                if let Some(ended) = shown.event(cx, event)? {
                    return Ok(Over { ended, stopped, not_allowed });
                }
            }
            Some(None) => return Err(crate::error::broken_run()),
        }
    }
}

/// Whether a call had to go without leave because nobody could be asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leave {
    Missing,
    /// Somebody has decided, or nothing was asked.
    Settled,
}

/// Passes on what a run asks to the person at the terminal. Where nobody is there, nothing is allowed, and the model is told why.
async fn asked(cx: &mut Context<'_>, conversation: &str, event: &RunEvent) -> Result<Leave> {
    match event {
        RunEvent::Asks(asks) if cx.can_ask() => drop(asked::leave(cx, conversation, asks).await?),
        RunEvent::Question(question) if cx.can_ask() => {
            drop(asked::question(cx, conversation, question).await?);
        }
        RunEvent::Asks(asks) => {
            let narrow = asks.offers.iter().find(|rule| !is_widest(rule));
            let rule = narrow.map(|rule| format!("--allow '{}' or ", rule.short())).unwrap_or_default();
            // What ran before and was not taken back is asked about whatever is allowed.
            let how = match asks.again_ms {
                Some(_) => "only a person can allow it: `retake -c` in a terminal asks".to_owned(),
                None => format!("{rule}--mode allow-all allows it"),
            };
            if !cx.json {
                let what = format!("not allowed: {} ({}); {how}", asks.call.line, asks.why);
                cx.aside(&safe::line(&what))?;
            }
            let allows = if asks.again_ms.is_some() { how } else { format!("{how} the next time") };
            let came = asked::decide(cx, conversation, asks, Decision::Unattended { allows }).await?;
            return Ok(if came == Came::InTime { Leave::Missing } else { Leave::Settled });
        }
        RunEvent::Question(question) => {
            let answer =
                "nobody is there to answer: go on with what is most likely meant, and say what you assumed";
            let (id, answer) = (question.id.clone(), answer.to_owned());
            let respond = Respond { conversation: conversation.to_owned(), id, answer };
            return asked::passed_on(cx, Request::Respond(respond)).await.map(|_| Leave::Settled);
        }
        _ => return Ok(Leave::Settled),
    }
    cx.ui.listen()?;
    Ok(Leave::Settled)
}

/// What of the answer is printed.
#[derive(Default)]
struct Shown {
    text: safe::Stream,
    any: bool,
    newline: bool,
    /// Calls that were said to begin.
    calls: HashMap<String, CallShown>,
}

impl Shown {
    fn event(&mut self, cx: &mut Context<'_>, event: RunEvent) -> Result<Option<Ended>> {
        if cx.json {
            cx.json(&event)?;
        }
        match event {
            RunEvent::Ended(ended) => {
                if !cx.json {
                    let rest = self.text.finish();
                    let end = if self.any && !self.newline { "\n" } else { "" };
                    cx.ui.print(&format!("{rest}{end}"))?;
                }
                return Ok(Some(*ended));
            }
            RunEvent::Text { text } if !cx.json => {
                let text = self.text.push(&text);
                self.any |= !text.is_empty();
                self.newline = text.ends_with('\n');
                cx.ui.print(&text)?;
            }
            RunEvent::Started { receipt: Some(receipt), .. } if !cx.json => {
                let look = Look { palette: cx.ui.error_palette(), ..cx.ui.look() };
                if let Some(text) = went_back(&look, &receipt, ["retake undo", "retake undo"]) {
                    cx.ui.note(&text)?;
                }
            }
            RunEvent::Notice { text } if !cx.json => cx.aside(&safe::block(&text))?,
            RunEvent::Answered { .. } if !cx.json => {
                // The next answer begins on a line of its own.
                let rest = self.text.finish();
                let end = if self.any && !self.newline { "\n" } else { "" };
                self.newline = true;
                cx.ui.print(&format!("{rest}{end}"))?;
            }
            RunEvent::Calling(call) if !cx.json => {
                cx.aside(&format!("● {}", safe::line(&call.line)))?;
                self.calls.insert(call.call.clone(), call);
            }
            RunEvent::Called(ended) if !cx.json && ended.failed => {
                let call = self.calls.get(&ended.call);
                let look = Look { palette: cx.ui.error_palette(), ..cx.ui.look() };
                let text = calls::called(&look, call, &ended, Seen::Nothing);
                cx.ui.note(&text)?;
            }
            _ => {}
        }
        Ok(None)
    }
}

/// Says how it ended, by words where needed and by the exit code.
pub(crate) fn end(cx: &mut Context<'_>, over: &Over) -> Result {
    let Over { ended, stopped, not_allowed } = over;
    if matches!(ended.outcome, Outcome::Succeeded | Outcome::Joined) {
        if *not_allowed == 0 {
            return Ok(());
        }
        if !cx.json {
            let calls = retake_tui::render::words::count(*not_allowed, "call");
            let were = if *not_allowed == 1 { "was" } else { "were" };
            cx.aside(&format!(
                "{calls} {were} not allowed, so not all may be done: exit code {CALL_NOT_ALLOWED}"
            ))?;
        }
        return Err(Failure::Said(CALL_NOT_ALLOWED));
    }
    if let (Some(problem), false) = (&ended.problem, cx.json) {
        cx.complain(&Failure::from(problem.clone()))?;
    }
    if !cx.json {
        match ended.outcome {
            Outcome::Interrupted => cx.aside("interrupted: what came is kept")?,
            Outcome::RolledBack => cx.aside("stopped before any answer: nothing is kept of it")?,
            Outcome::Succeeded | Outcome::Joined | Outcome::Failed => {}
        }
    }
    let code = match &ended.problem {
        Some(problem) => problem.kind.exit_code(),
        None if *stopped || ended.outcome == Outcome::RolledBack => INTERRUPTED,
        None => ProblemKind::Model.exit_code(),
    };
    Err(Failure::Said(code))
}
