//! What a person learns of a run that ends in a tab that they do not see.

use retake_wire::reply::Changes;
use retake_wire::reply::{Operations, Receipt};
use retake_wire::request::Apply;
use retake_wire::{Action, Changed, RunNotice};

use super::super::{RequestPurpose, Requester};
use super::*;
use crate::ui::msg::Ticket;

/// The duration of the run.
const LONG_MS: i64 = 24_000;

/// Sends the first tab an event at a time, and returns the notifications for the person.
fn hears(app: &mut App, event: Event, now_ms: i64) -> Vec<String> {
    let acts = app.on(Msg::Told(Some(TabId(1)), Box::new(NumberedEvent { id: None, event })), now_ms);
    let told = acts.into_iter().filter_map(|act| match act {
        Act::Notify(text) => Some(text),
        _ => None,
    });
    told.collect()
}

/// The owner's event when entries arrive: whether something is at work now.
fn changed(running: bool) -> Event {
    let changes = Changes {
        revision: 4,
        head: "1.3".into(),
        gone: Vec::new(),
        came: Vec::new(),
        changed: Vec::new(),
        running,
        waiting: Vec::new(),
        permissions: Permissions::default(),
    };
    let conversation = conversation("0199a000-c", Some("Sums"), "what is 6 times 7?", 1);
    Event::Changed(Box::new(Changed { conversation, changes }))
}

/// A run as its subscribers see it: the last entry comes before the event that it has ended.
fn runs(app: &mut App, lasts_ms: i64) -> Vec<String> {
    let model = "demo".to_owned();
    let ended = retake_wire::Ended {
        outcome: retake_wire::Outcome::Succeeded,
        receipt: None,
        entry: None,
        problem: None,
    };
    let mut told = hears(app, changed(true), NOW_MS);
    told.extend(hears(app, Event::Run { said: RunEvent::Started { receipt: None, model } }, NOW_MS));
    told.extend(hears(app, changed(true), NOW_MS + lasts_ms / 2));
    told.extend(hears(app, changed(false), NOW_MS + lasts_ms));
    told.extend(hears(app, Event::Run { said: RunEvent::Ended(Box::new(ended)) }, NOW_MS + lasts_ms));
    told
}

#[test]
fn long_run_that_ends_unseen_gives_one_notification() {
    let mut app = talking(Theme::default());
    assert!(runs(&mut app, LONG_MS).is_empty(), "it is seen");
    drop(app.on(Msg::Focus(false), NOW_MS));
    assert!(runs(&mut app, 1_000).is_empty(), "it was short");
    assert_eq!(runs(&mut app, LONG_MS), ["Sums is done"]);
}

#[test]
fn the_notice_that_a_run_is_being_stopped_ends_with_the_run() {
    let mut app = talking(Theme::default());
    let model = "demo".to_owned();
    drop(hears(&mut app, Event::Run { said: RunEvent::Started { receipt: None, model } }, NOW_MS));
    drop(press(&mut app, "ctrl+c", NOW_MS + 100));
    let text = "so far".to_owned();
    drop(hears(&mut app, Event::Run { said: RunEvent::Text { text } }, NOW_MS + 150));
    assert!(shown(&mut app).contains("stopping"), "{}", shown(&mut app));
    let (outcome, receipt, entry, problem) = (retake_wire::Outcome::Interrupted, None, None, None);
    let ended = Box::new(retake_wire::Ended { outcome, receipt, entry, problem });
    drop(hears(&mut app, Event::Run { said: RunEvent::Ended(ended) }, NOW_MS + 200));
    assert!(!shown(&mut app).contains("stopping"), "{}", shown(&mut app));
}

#[test]
fn a_tab_whose_run_ended_unseen_says_so_until_it_is_looked_at() {
    let bar = |app: &mut App| shown(app).lines().next().expect("a row").to_owned();
    let mut app = talking(Theme::default());
    let _ = app.open_tab();
    assert!(bar(&mut app).contains(" 1 Sums"), "{}", bar(&mut app));
    assert_eq!(runs(&mut app, LONG_MS), ["Sums is done"]);
    assert!(bar(&mut app).contains(" 1 * Sums"), "{}", bar(&mut app));
    app.tabs.current = 0;
    drop(app.on(Msg::Tick, NOW_MS + LONG_MS));
    assert!(bar(&mut app).contains(" 1 Sums"), "{}", bar(&mut app));
}

/// A turn in a folder that is never captured: its notice comes before the answer.
fn turn_with_notice(app: &mut App) {
    let model = "demo".to_owned();
    let notice = |notice: RunNotice| RunEvent::Notice { notice, text: String::new() };
    let cause =
        retake_wire::NoticeCause { message: "it is the home folder".to_owned(), ..Default::default() };
    let retry =
        RunNotice::Retry { in_ms: 10, failure: Default::default(), detail: Some("HTTP 429".to_owned()) };
    let said = [
        RunEvent::Started { receipt: None, model },
        // By the stream of the run, and by that of the conversation.
        notice(RunNotice::NothingCanChange { cause: cause.clone() }),
        notice(RunNotice::NothingCanChange { cause }),
        notice(retry),
        RunEvent::Answered { entry: "e9".to_owned() },
    ];
    for said in said {
        hears(app, Event::Run { said }, NOW_MS);
    }
}

#[test]
fn notice_about_the_whole_turn_stays_until_the_next_message_is_sent() {
    let mut app = talking(Theme::default());
    turn_with_notice(&mut app);
    let mut answer = snapshot().entries.pop().expect("an answer");
    (answer.id, answer.place.seq) = ("e9".to_owned(), 9);
    let Event::Changed(mut all) = changed(false) else { unreachable!("BUG: it is a change") };
    all.changes.came.push(answer);
    hears(&mut app, Event::Changed(all), NOW_MS);
    let seen = looks(&mut app);
    assert!(seen.contains("! it is the home folder: nothing can be changed there"), "{seen}");
    assert_eq!(seen.matches("nothing can be changed there").count(), 1, "once: {seen}");
    assert!(!seen.contains("HTTP 429"), "a retry is over: {seen}");
    let model = "demo".to_owned();
    hears(&mut app, Event::Run { said: RunEvent::Started { receipt: None, model } }, NOW_MS);
    assert!(!looks(&mut app).contains("nothing can be changed there"), "it was about the run before");
    turn_with_notice(&mut app);
    drop(app.on(Msg::Paste("go on".to_owned()), NOW_MS));
    drop(press(&mut app, "enter", NOW_MS + LATER));
    assert!(!looks(&mut app).contains("nothing can be changed there"));
}

/// The conversation has this head now. Returns the ticket of the request for the operations of other clients.
fn moved_to(app: &mut App, head: &str) -> Option<Ticket> {
    let Event::Changed(mut now) = changed(false) else { unreachable!("BUG: it is a change") };
    now.conversation.head = head.to_owned();
    let told = NumberedEvent { id: None, event: Event::Changed(now) };
    looks_elsewhere(app.on(Msg::Told(Some(TabId(1)), Box::new(told)), NOW_MS))
}

fn looks_elsewhere(acts: Vec<Act>) -> Option<Ticket> {
    acts.into_iter().find_map(|act| match act {
        Act::Ask(ticket, request) if matches!(*request, Request::Ops(_)) => Some(ticket),
        _ => None,
    })
}

fn learns(app: &mut App, ticket: Ticket, numbers: &[u64]) {
    let operations = numbers.iter().map(|number| operation(*number)).collect();
    let page = Operations { head: "9.2".to_owned(), operations, more: false };
    drop(app.on(Msg::Replied(ticket, Box::new(Ok(Reply::Operations(page)))), NOW_MS));
}

#[test]
fn change_of_another_client_is_reported_once() {
    let (mut app, next) = (talking(Theme::default()), next_operation());
    let ticket = moved_to(&mut app, &format!("{next}.4")).expect("it asks");
    learns(&mut app, ticket, &[next]);
    let told = format!("· changed in another client by ann: step {next}");
    assert!(looks(&mut app).contains(&told), "{}", looks(&mut app));
    assert_eq!(moved_to(&mut app, &format!("{next}.5")), None, "nothing is new");
    assert_eq!(looks(&mut app).matches("changed in another client").count(), 1);
}

/// The client requests a redo.
fn redoes(app: &mut App) -> Ticket {
    app.requests.acts.clear();
    let action = Action::Redo { count: 1 };
    let apply = Apply {
        conversation: "0199a000-c".to_owned(),
        action: action.clone(),
        head: None,
        since: false,
        files: retake_wire::FileOptions::default(),
        request_id: None,
    };
    let own = Requester::Tab(TabId(1), RequestPurpose::Applied(Box::new(action)));
    app.requests.ask(own, Request::Apply(apply))
}

/// The redo has made this operation. Returns the ticket of the request for the operations of other clients.
fn redone(app: &mut App, own: Ticket, number: u64) -> Option<Ticket> {
    let receipt =
        Receipt { conversation: "0199a000-c".to_owned(), operations: vec![number], ..Receipt::default() };
    looks_elsewhere(app.on(Msg::Replied(own, Box::new(Ok(Reply::Receipt(receipt)))), NOW_MS))
}

/// The number of the next operation.
fn next_operation() -> u64 {
    let last = snapshot().conversation.head.split('.').next().and_then(|op| op.parse::<u64>().ok());
    last.expect("a head") + 1
}

#[test]
fn operations_that_arrive_during_an_own_request_are_told_after_it() {
    let (mut app, next) = (talking(Theme::default()), next_operation());
    let ticket = moved_to(&mut app, &format!("{}.4", next + 1)).expect("it asks");
    let own = redoes(&mut app);
    learns(&mut app, ticket, &[next + 1, next]);
    assert!(!looks(&mut app).contains("in another client"), "one may be its own: {}", looks(&mut app));
    let ticket = redone(&mut app, own, next + 1).expect("it asks again");
    learns(&mut app, ticket, &[next + 1, next]);
    let seen = looks(&mut app);
    assert_eq!(seen.matches("in another client").count(), 1, "{seen}");
    assert!(seen.contains(&format!("by ann: step {next}")), "{seen}");
}

#[test]
fn operations_of_a_conversation_that_was_left_are_not_told() {
    let (mut app, next) = (talking(Theme::default()), next_operation());
    let ticket = moved_to(&mut app, &format!("{next}.4")).expect("it asks");
    app.tab_mut().talk.conversation.as_mut().expect("a conversation").id = "0199a000-d".to_owned();
    learns(&mut app, ticket, &[next]);
    assert!(!looks(&mut app).contains("in another client"), "{}", looks(&mut app));
}

#[test]
fn change_of_this_client_is_not_reported_as_that_of_another_one() {
    let (mut app, next) = (talking(Theme::default()), next_operation());
    let own = redoes(&mut app);
    assert_eq!(moved_to(&mut app, &format!("{}.4", next + 1)), None, "its own request has no answer yet");
    let ticket = redone(&mut app, own, next);
    learns(&mut app, ticket.expect("one is of another client"), &[next + 1, next]);
    let seen = looks(&mut app);
    assert!(seen.contains(&format!("by ann: step {}", next + 1)), "{seen}");
    assert!(
        !seen.contains(&format!("by ann: step {next}\n")) && !seen.contains(&format!("by ann: step {next} ")),
        "{seen}"
    );
}
