//! The model's context: the meter of the status bar, and the second Enter before a message that may not fit.

use super::*;
use retake_wire::request::ContextQuery;
use retake_wire::{Ended, Outcome, RunNotice, RunStart, reply};

/// Longer than a message that is sent without a question.
fn long() -> String {
    "many words ".repeat(1_000)
}

/// The question about the context, if the acts hold one.
fn asks(acts: &[Act]) -> Option<(crate::ui::msg::Ticket, ContextQuery)> {
    acts.iter().find_map(|act| match act {
        Act::Ask(ticket, request) => match &**request {
            Request::Context(query) => Some((*ticket, query.clone())),
            _ => None,
        },
        _ => None,
    })
}

fn sends(acts: &[Act]) -> bool {
    acts.iter().any(|act| matches!(act, Act::Run(..)))
}

fn enter(app: &mut App) -> Vec<Act> {
    press(app, "enter", NOW_MS + LATER)
}

/// With a long message that waits for the owner's answer.
fn waiting() -> (App, crate::ui::msg::Ticket) {
    let mut app = talking(Theme::default());
    drop(app.on(Msg::Paste(long()), NOW_MS));
    let acts = enter(&mut app);
    let (ticket, query) = asks(&acts).expect("the owner is asked");
    assert!(!sends(&acts) && query.parts.len() == 1 && query.conversation == "0199a000-c");
    (app, ticket)
}

fn fits(app: &mut App, ticket: crate::ui::msg::Ticket, warning: Option<RunNotice>) -> Vec<Act> {
    let context = reply::Context { limit: Some(2_000), used: 500, warning, ..reply::Context::default() };
    app.on(Msg::Replied(ticket, Box::new(Ok(Reply::Context(context)))), NOW_MS + LATER)
}

fn too_long() -> Option<RunNotice> {
    Some(RunNotice::TooLongForModel { model: "a/b".into(), tokens: 9_000, limit: 2_000 })
}

#[test]
fn long_message_that_fits_is_sent_after_the_owner_said_so() {
    let (mut app, ticket) = waiting();
    assert!(sends(&fits(&mut app, ticket, None)));
    // A short one is sent at once.
    let mut app = talking(Theme::default());
    drop(app.on(Msg::Paste("short".into()), NOW_MS));
    let acts = enter(&mut app);
    assert!(sends(&acts) && asks(&acts).is_none());
}

#[test]
fn message_that_does_not_fit_is_sent_by_a_second_enter() {
    let (mut app, ticket) = waiting();
    assert!(!sends(&fits(&mut app, ticket, too_long())));
    let shown = screen(110, 24, |frame| app.draw(frame));
    assert!(shown.contains("the context of a/b takes 2000: it may be refused; Enter again"), "{shown}");
    let acts = enter(&mut app);
    assert!(sends(&acts) && asks(&acts).is_none());
}

#[test]
fn message_that_changed_meanwhile_is_not_sent_by_itself() {
    let (mut app, ticket) = waiting();
    presses(&mut app, "x");
    assert!(!sends(&fits(&mut app, ticket, None)));
    assert!(asks(&enter(&mut app)).is_some(), "it is another message");
    // A question of the agent came: the message is no answer to it.
    let (mut app, ticket) = waiting();
    let model = "demo".to_owned();
    tell(&mut app, Event::Run { said: RunEvent::Started { receipt: None, model } }, None);
    ask(&mut app, "a1");
    assert!(!sends(&fits(&mut app, ticket, None)));
}

#[test]
fn messages_up_to_a_selected_one_or_from_it_on_are_summarised() {
    let last = |app: &App| app.tab().talk.entries[3].id.clone();
    for (key, is_from) in [("c", false), ("C", true)] {
        let mut app = talking(Theme::default());
        presses(&mut app, "alt+up");
        let acts = press(&mut app, key, NOW_MS + LATER);
        let start = acts.iter().find_map(|act| match act {
            Act::Run(_, run) => Some(run.start.clone()),
            _ => None,
        });
        let entry = Some(last(&app));
        let (from, to) = if is_from { (entry, None) } else { (None, entry) };
        assert_eq!(start, Some(RunStart::Compact { instructions: None, from, to, branch: None }), "{key}");
    }
}

#[test]
fn share_of_the_context_is_read_again_after_a_summary() {
    let mut app = talking(Theme::default());
    app.command(Command::Compact, " keep the number ");
    let acts = app.on(Msg::Tick, NOW_MS);
    let run = acts.iter().find_map(|act| match act {
        Act::Run(ticket, run) => Some((*ticket, &run.start)),
        _ => None,
    });
    let (run, start) = run.expect("a run");
    let is_asked = matches!(start, RunStart::Compact { instructions: Some(words), from: None, to: None, branch: None } if words == "keep the number");
    assert!(is_asked, "{start:?}");
    let ended = Ended { outcome: Outcome::Succeeded, receipt: None, entry: None, problem: None };
    let acts = app.on(Msg::Ran(run, Box::new(RunEvent::Ended(Box::new(ended)))), NOW_MS + LATER);
    let (ticket, _) = asks(&acts).expect("it is read");
    drop(fits(&mut app, ticket, None));
    assert_eq!(app.context_used(), Some(25));
    app.tabs[0].outgoing.context.operated();
    assert_eq!(app.context_used(), None, "an operation changes it");
}
