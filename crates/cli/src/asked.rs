//! What a run asks of the person while it goes on: whether a call may run, and questions of tools. Must never take anything but a
//! clear yes for a yes, nor answer anything by itself.

use retake_wire::request::{Decide, Of, Respond};
use retake_wire::{Asks, Decision, ProblemKind, Question, Request, Rule};

use crate::context::Context;
use crate::error::{Failure, Result};
use crate::term::pick::Row;
use crate::term::safe;
use crate::term::style::Style;
use crate::ui::Read;
use retake_tui::render::agent::{Where, allows, is_widest};
use retake_tui::render::calls;
use retake_tui::render::content::block;

/// What can be answered, in one line.
const KEYS: &str = "y once · c this conversation · a always · n no, or your words · Ctrl-C stops";

/// What a person has said.
enum Said {
    Once,
    InConversation,
    Always,
    No(Option<String>),
    /// Nothing yet.
    Nothing,
}

/// Asks whether a call may run, until that is clear, and passes it on. Ctrl-C stops the run instead. Words that came too late come
/// back.
pub(crate) async fn leave(cx: &mut Context<'_>, conversation: &str, asks: &Asks) -> Result<Option<String>> {
    let text = calls::asks(&cx.ui.look(), asks);
    cx.ui.print(&text)?;
    loop {
        let keys = block(&cx.ui.look(), KEYS, 2, Some(Style::Dim));
        cx.ui.print(&keys)?;
        let line = match cx.ui.answer("allow? ")? {
            Read::Line(line) => line,
            Read::Interrupted | Read::Eof => return stop(cx, conversation).await.map(|()| None),
        };
        let decision = match said(&line) {
            Said::Nothing => continue,
            Said::Once => Decision::Once,
            Said::No(words) => Decision::Deny { words },
            Said::InConversation => match rule(cx, asks, "In this conversation, allow", Where::Here)? {
                Some(rule) => Decision::InConversation { rule },
                None => continue,
            },
            Said::Always => match rule(cx, asks, "Always allow", Where::Everywhere)? {
                Some(rule) => Decision::Always { rule },
                None => continue,
            },
        };
        let words = match &decision {
            Decision::Deny { words } => words.clone(),
            _ => None,
        };
        let decide = Decide { conversation: conversation.to_owned(), id: asks.id.clone(), decision };
        let came = passed_on(cx, Request::Decide(decide)).await?;
        return Ok(words.filter(|_| came == Came::TooLate));
    }
}

/// Only these words are a yes.
fn said(line: &str) -> Said {
    let words = line.trim();
    match words.to_lowercase().as_str() {
        "" => Said::Nothing,
        "y" | "yes" => Said::Once,
        "c" => Said::InConversation,
        "a" | "always" => Said::Always,
        "n" | "no" => Said::No(None),
        _ => Said::No(Some(words.to_owned())),
    }
}

/// The rule to remember: the person chooses, also where there is only one, since it says what is allowed from now on.
fn rule(cx: &mut Context<'_>, asks: &Asks, question: &str, place: Where) -> Result<Option<Rule>> {
    if asks.offers.is_empty() {
        cx.aside("no rule can allow this: it is asked about each time")?;
        return Ok(None);
    }
    let row =
        |rule: &Rule| Row { title: rule.short(), detail: allows(rule, place), disabled: None, key: None };
    // The widest rule is never the first that is offered.
    let none = || Row {
        title: "no rule".to_owned(),
        detail: "ask about this call alone".to_owned(),
        disabled: None,
        key: None,
    };
    let first = asks.offers.first().is_some_and(is_widest).then(none);
    let before = usize::from(first.is_some());
    let rows: Vec<Row> = first.into_iter().chain(asks.offers.iter().map(row)).collect();
    let picked = cx.ui.pick(question, &rows, &mut |_| String::new())?;
    Ok(picked.and_then(|row| asks.offers.get(row.checked_sub(before)?)).cloned())
}

/// Passes a decision on. That nobody asks any more is said, and is no failure.
pub(crate) async fn decide(
    cx: &mut Context<'_>,
    conversation: &str,
    asks: &Asks,
    decision: Decision,
) -> Result<Came> {
    let decide = Decide { conversation: conversation.to_owned(), id: asks.id.clone(), decision };
    passed_on(cx, Request::Decide(decide)).await
}

/// Asks what a tool asks. Words that came too late come back.
pub(crate) async fn question(
    cx: &mut Context<'_>,
    conversation: &str,
    question: &Question,
) -> Result<Option<String>> {
    let look = cx.ui.look();
    let mut text = block(&look, &format!("? {}", question.question), 0, Some(Style::Accent));
    for (number, choice) in (1..).zip(&question.choices) {
        text.push_str(&block(&look, &format!("{number}. {}", safe::line(choice)), 2, None));
    }
    let how = if question.choices.is_empty() {
        "your answer goes to the model · Ctrl-C stops"
    } else {
        "the number of an answer, or other words · Ctrl-C stops"
    };
    text.push_str(&block(&look, how, 2, Some(Style::Dim)));
    cx.ui.print(&text)?;
    loop {
        let line = match cx.ui.answer("answer: ")? {
            Read::Line(line) => line,
            Read::Interrupted | Read::Eof => return stop(cx, conversation).await.map(|()| None),
        };
        let words = line.trim();
        if words.is_empty() {
            continue;
        }
        let chosen =
            words.parse::<usize>().ok().and_then(|number| question.choices.get(number.checked_sub(1)?));
        let answer = chosen.map_or(words, String::as_str).to_owned();
        let respond = Respond { conversation: conversation.to_owned(), id: question.id.clone(), answer };
        let came = passed_on(cx, Request::Respond(respond)).await?;
        let is_late = came == Came::TooLate && chosen.is_none();
        return Ok(is_late.then(|| words.to_owned()));
    }
}

/// Stops the run that asks.
pub(crate) async fn stop(cx: &mut Context<'_>, conversation: &str) -> Result {
    passed_on(cx, Request::Cancel(Of { conversation: conversation.to_owned() })).await.map(drop)
}

/// When something was passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Came {
    /// It was taken.
    InTime,
    /// Nobody asks that any more.
    TooLate,
}

/// Somebody else may have answered, or the run may be over: then this comes too late, and that is all.
pub(crate) async fn passed_on(cx: &mut Context<'_>, request: Request) -> Result<Came> {
    match cx.call(request).await {
        Ok(_) => Ok(Came::InTime),
        Err(Failure::Problem(problem))
            if matches!(problem.kind, ProblemKind::NotFound | ProblemKind::Refused) =>
        {
            cx.aside(&safe::line(&problem.message)).map(|()| Came::TooLate)
        }
        Err(failure) => Err(failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_a_yes() {
        for line in ["", " ", "\n"] {
            assert!(matches!(said(line), Said::Nothing), "{line:?}");
        }
        for line in ["y", "Y", " yes ", "YES"] {
            assert!(matches!(said(line), Said::Once), "{line:?}");
        }
        for line in ["yes please", "ok", "sure", "yy", "1", "cc", "n", "no", "nO"] {
            assert!(matches!(said(line), Said::No(_)), "{line:?}");
        }
        assert!(matches!(said("c"), Said::InConversation) && matches!(said("a"), Said::Always));
        assert!(matches!(said(" use jq "), Said::No(Some(words)) if words == "use jq"));
    }
}
