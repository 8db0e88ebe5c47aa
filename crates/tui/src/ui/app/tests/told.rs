//! What a person learns of a run that ends in a tab that they do not see.

use retake_wire::reply::Changes;
use retake_wire::{Changed, RunNotice};

use super::*;

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
    assert!(!seen.contains("HTTP 429"), "a retry is over: {seen}");
    turn_with_notice(&mut app);
    assert_eq!(looks(&mut app).matches("nothing can be changed there").count(), 1, "of the newest run only");
    drop(app.on(Msg::Paste("go on".to_owned()), NOW_MS));
    drop(press(&mut app, "enter", NOW_MS + LATER));
    assert!(!looks(&mut app).contains("nothing can be changed there"));
}
