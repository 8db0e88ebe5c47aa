//! Approval requests and questions of a run, answered by the person at the terminal. Must never take anything except a clear yes
//! as an approval, and must never answer anything itself.

use retake_wire::request::{ConversationTarget, Decide, Respond};
use retake_wire::{AskCause, Decision, PendingApproval, ProblemKind, Question, Request, Rule, english};

use crate::context::Context;
use crate::error::{Failure, Result};
use crate::term::pick::Row;
use crate::term::safe;
use crate::term::style::Style;
use crate::ui::Read;
use retake_tui::render::agent::{RuleExtent, allows, is_widest, looks_like_yes};
use retake_tui::render::calls;
use retake_tui::render::content::block;

/// The possible answers, in one line.
const KEYS: &str = "y once · c this conversation · a always · n no, or your words · Ctrl-C stops";

/// The answer of a person.
enum Answer {
    Once,
    InConversation,
    Always,
    No(Option<String>),
    /// Words that would refuse the call, and look like a yes.
    Unclear,
    /// An empty line.
    Nothing,
}

/// Asks for an approval until the answer is clear, and sends it. Ctrl-C stops the run instead. Returns the person's text if it
/// came too late.
pub(crate) async fn request(
    cx: &mut Context<'_>,
    conversation: &str,
    asks: &PendingApproval,
) -> Result<Option<String>> {
    cx.ui.print_text(&calls::asks(&cx.ui.look(), asks))?;
    loop {
        cx.ui.print_text(&block(&cx.ui.look(), KEYS, 2, Some(Style::Dim)))?;
        let Some(line) = answer(cx, conversation, "allow? ").await? else { return Ok(None) };
        let decision = match parse_answer(&line) {
            Answer::Nothing => continue,
            Answer::Unclear => {
                cx.aside("that does not look like a refusal: y allows the call, n refuses it")?;
                continue;
            }
            Answer::Once => Decision::Once,
            Answer::No(words) => Decision::Deny { words },
            Answer::InConversation => {
                match rule(cx, asks, "In this conversation, allow", RuleExtent::Here)? {
                    Some(rule) => Decision::InConversation { rule },
                    None => continue,
                }
            }
            Answer::Always => match rule(cx, asks, "Always allow", RuleExtent::Everywhere)? {
                Some(rule) => Decision::Always { rule },
                None => continue,
            },
        };
        let came = decide(cx, conversation, asks, decision.clone()).await?;
        if came == Delivery::Accepted {
            granted(cx, &decision)?;
        }
        return Ok(match decision {
            Decision::Deny { words } if came == Delivery::TooLate => words,
            _ => None,
        });
    }
}

/// Parses an answer. Only these words approve.
fn parse_answer(line: &str) -> Answer {
    let words = line.trim();
    match words.to_lowercase().as_str() {
        "" => Answer::Nothing,
        "y" | "yes" => Answer::Once,
        "c" => Answer::InConversation,
        "a" | "always" => Answer::Always,
        "n" | "no" => Answer::No(None),
        _ if looks_like_yes(words) => Answer::Unclear,
        _ => Answer::No(Some(words.to_owned())),
    }
}

/// The rule to store. The person picks it even if there is only one, because it permits later calls too.
fn rule(
    cx: &mut Context<'_>,
    asks: &PendingApproval,
    question: &str,
    place: RuleExtent,
) -> Result<Option<Rule>> {
    if asks.offers.is_empty() {
        cx.aside("no rule can allow this: it needs an approval each time")?;
        return Ok(None);
    }
    let row = |rule: &Rule| Row::new(rule.short(), allows(rule, place));
    // The widest rule is never the first offer.
    let none = || Row::new("no rule", "decide about this call only");
    let first = asks.offers.first().is_some_and(is_widest).then(none);
    let before = usize::from(first.is_some());
    let rows: Vec<Row> = first.into_iter().chain(asks.offers.iter().map(row)).collect();
    let picked = cx.ui.pick(question, &rows, &mut |_| String::new())?;
    Ok(picked.and_then(|row| asks.offers.get(row.checked_sub(before)?)).cloned())
}

/// Reports a rule that was stored, and how to take it back.
fn granted(cx: &mut Context<'_>, decision: &Decision) -> Result {
    let (place, rule) = match decision {
        Decision::InConversation { rule } => ("allowed in this conversation", rule),
        Decision::Always { rule } => ("granted for good, in the settings", rule),
        _ => return Ok(()),
    };
    let back = "/permissions in the conversation lists it, and /permissions forget NUMBER takes it back";
    cx.aside(&format!("{place}: {}; {back}", safe::line(&rule.short())))
}

/// Sends a decision. If the request is no longer open, this is reported and is no failure.
async fn decide(
    cx: &mut Context<'_>,
    conversation: &str,
    asks: &PendingApproval,
    decision: Decision,
) -> Result<Delivery> {
    let decide = Decide { conversation: conversation.to_owned(), id: asks.id.clone(), decision };
    deliver(cx, Request::Decide(decide)).await
}

/// Denies a call because no person can approve it, and says what would allow it. Returns whether something is missing for that
/// reason: the request was still open, and it was not for a plan, which the model gives as its answer then.
pub(crate) async fn deny_unattended(
    cx: &mut Context<'_>,
    conversation: &str,
    asks: &PendingApproval,
) -> Result<bool> {
    if asks.cause == AskCause::Plan {
        let allows = "give the plan as your answer, and change nothing".to_owned();
        decide(cx, conversation, asks, Decision::Unattended { allows }).await?;
        // Nothing is missing: the plan is the answer.
        return Ok(false);
    }
    let narrow = asks.offers.iter().find(|rule| !is_widest(rule));
    let rule = narrow.map(|rule| format!("--allow '{}' or ", rule.short())).unwrap_or_default();
    // A repeated external call needs a person, whatever the rules permit.
    let how = match asks.again_ms {
        Some(_) => "only a person can approve it: `retake -c` in a terminal asks".to_owned(),
        None => format!("{rule}--mode allow-all allows it"),
    };
    if !cx.json {
        let cause = english::ask_cause(&asks.cause);
        let what = format!("not allowed: {} ({cause}); {how}", asks.call.line);
        cx.aside(&safe::line(&what))?;
    }
    let allows = if asks.again_ms.is_some() { how } else { format!("{how} next time") };
    let came = decide(cx, conversation, asks, Decision::Unattended { allows }).await?;
    Ok(came == Delivery::Accepted)
}

/// Answers the question of a tool, because no person can.
pub(crate) async fn answer_unattended(cx: &mut Context<'_>, conversation: &str, asked: &Question) -> Result {
    let answer =
        "no person is there to answer: continue with the most likely meaning, and state what you assumed";
    respond(cx, conversation, asked, answer.to_owned()).await.map(drop)
}

/// Sends the answer to a question.
async fn respond(cx: &mut Context<'_>, here: &str, asked: &Question, answer: String) -> Result<Delivery> {
    let respond = Respond { conversation: here.to_owned(), id: asked.id.clone(), answer };
    deliver(cx, Request::Respond(respond)).await
}

/// Reads the answer of the person. Ctrl-C stops the run instead.
async fn answer(cx: &mut Context<'_>, conversation: &str, prompt: &str) -> Result<Option<String>> {
    match cx.ui.answer(prompt)? {
        Read::Line(line) => Ok(Some(line)),
        Read::Interrupted | Read::Eof => stop(cx, conversation).await.map(|()| None),
    }
}

/// Asks the question of a tool. Returns the person's text if it came too late.
pub(crate) async fn question(
    cx: &mut Context<'_>,
    conversation: &str,
    question: &Question,
) -> Result<Option<String>> {
    let look = cx.ui.look();
    let mut text = block(&look, &format!("? {}", question.question), 0, Some(Style::Accent));
    for (number, choice) in (1..).zip(&question.choices) {
        text.push(block(&look, &format!("{number}. {}", safe::line(choice)), 2, None));
    }
    let how = if question.choices.is_empty() {
        "your answer goes to the model · Ctrl-C stops"
    } else {
        "the number of an answer, or your own words · Ctrl-C stops"
    };
    text.push(block(&look, how, 2, Some(Style::Dim)));
    cx.ui.print_text(&text)?;
    loop {
        let Some(line) = answer(cx, conversation, "answer: ").await? else { return Ok(None) };
        let words = line.trim();
        if words.is_empty() {
            continue;
        }
        let chosen =
            words.parse::<usize>().ok().and_then(|number| question.choices.get(number.checked_sub(1)?));
        let answer = chosen.map_or(words, String::as_str).to_owned();
        let is_late = respond(cx, conversation, question, answer).await? == Delivery::TooLate;
        return Ok((is_late && chosen.is_none()).then(|| words.to_owned()));
    }
}

/// Cancels the run.
pub(crate) async fn stop(cx: &mut Context<'_>, conversation: &str) -> Result {
    deliver(cx, Request::Cancel(ConversationTarget { conversation: conversation.to_owned() })).await.map(drop)
}

/// Whether an answer came in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Delivery {
    /// The run received it.
    Accepted,
    /// The request was no longer open.
    TooLate,
}

/// Sends an answer. Another client may have answered, or the run may have ended: then it is too late, which is no failure.
async fn deliver(cx: &mut Context<'_>, request: Request) -> Result<Delivery> {
    match cx.call(request).await {
        Ok(_) => Ok(Delivery::Accepted),
        Err(Failure::Problem(problem))
            if matches!(problem.kind, ProblemKind::NotFound | ProblemKind::Refused) =>
        {
            cx.aside(&safe::line(&english::problem(&problem))).map(|()| Delivery::TooLate)
        }
        Err(failure) => Err(failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_explicit_yes_counts() {
        for line in ["", " ", "\n"] {
            assert!(matches!(parse_answer(line), Answer::Nothing), "{line:?}");
        }
        for line in ["y", "Y", " yes ", "YES"] {
            assert!(matches!(parse_answer(line), Answer::Once), "{line:?}");
        }
        for line in ["yes please", "ok", "sure", "yy", "go ahead", "Always!"] {
            assert!(matches!(parse_answer(line), Answer::Unclear), "{line:?}");
        }
        for line in ["1", "cc", "n", "no", "nO", "ok, but use the other file", "call it b"] {
            assert!(matches!(parse_answer(line), Answer::No(_)), "{line:?}");
        }
        assert!(
            matches!(parse_answer("c"), Answer::InConversation)
                && matches!(parse_answer("a"), Answer::Always)
        );
        assert!(matches!(parse_answer(" use jq "), Answer::No(Some(words)) if words == "use jq"));
    }
}
