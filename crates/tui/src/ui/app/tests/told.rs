//! What a person learns of a run that ends in a tab that they do not see.

use retake_wire::Changed;
use retake_wire::reply::Changes;

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
