//! Keys that do something on the second press, while a notice says so.

use super::*;

/// This long after the first press.
fn after(app: &mut App, key: &str, wait_ms: i64) -> (bool, bool) {
    drop(app.on(Msg::Tick, NOW_MS + wait_ms));
    let acts = press(app, key, NOW_MS + wait_ms);
    let picks = app.tab().panes.front.is_some();
    (picks, app.is_leaving() || acts.iter().any(|act| matches!(act, Act::Quit)))
}

#[test]
fn second_esc_opens_the_rewind_while_the_notice_is_shown() {
    let said = "Esc again: back to an earlier message";
    let mut app = talking(Theme::default());
    drop(press(&mut app, "esc", NOW_MS));
    assert!(shown(&mut app).contains(said));
    assert_eq!(after(&mut app, "esc", 3_900), (true, false));
    assert!(!shown(&mut app).contains(said), "it is done");

    let mut app = talking(Theme::default());
    drop(press(&mut app, "esc", NOW_MS));
    drop(app.on(Msg::Tick, NOW_MS + 4_001));
    assert!(!shown(&mut app).contains(said));
    assert_eq!(after(&mut app, "esc", 4_001), (false, false), "this is a first press");
}

#[test]
fn esc_during_an_answer_says_at_once_which_key_stops_it() {
    for escape_rewinds in [true, false] {
        let mut app = talking(Theme::default());
        app.settings.escape_rewinds = escape_rewinds;
        let model = "demo".to_owned();
        tell(&mut app, Event::Run { said: RunEvent::Started { receipt: None, model } }, None);
        drop(press(&mut app, "esc", NOW_MS));
        let foot = |app: &mut App| shown(app).lines().last().map(str::to_owned).unwrap_or_default();
        assert!(foot(&mut app).contains("Ctrl+C stops the answer"), "{}", foot(&mut app));
        drop(press(&mut app, "esc", NOW_MS + 300));
        let then = if escape_rewinds { "stops it, then go back" } else { "stops the answer" };
        assert!(foot(&mut app).contains(then), "{}", foot(&mut app));
    }
}

#[test]
fn enter_and_esc_at_an_approval_say_which_keys_answer() {
    for key in ["enter", "esc"] {
        let mut app = asked(Theme::default());
        let acts = press(&mut app, key, NOW_MS + LATER);
        assert!(!acts.iter().any(|act| matches!(act, Act::Ask(..) | Act::Run(..))), "{acts:?}");
        let screen = looks(&mut app);
        assert!(
            screen.contains("a call waits for you: y Enter allows it, n Enter refuses it"),
            "{key}: {screen}"
        );
    }
}

#[test]
fn second_ctrl_c_quits_while_the_notice_is_shown() {
    let mut app = talking(Theme::default());
    drop(press(&mut app, "ctrl+c", NOW_MS));
    assert!(shown(&mut app).contains("Ctrl+C again quits"));
    assert_eq!(after(&mut app, "ctrl+c", 1_000), (false, true));
}

#[test]
fn key_between_two_presses_makes_both_first_presses() {
    for (first, second) in [("esc", "esc"), ("ctrl+c", "ctrl+c"), ("ctrl+c", "esc"), ("esc", "ctrl+c")] {
        let mut app = talking(Theme::default());
        drop(press(&mut app, first, NOW_MS));
        if first == second {
            drop(press(&mut app, "x", NOW_MS));
            drop(press(&mut app, "backspace", NOW_MS));
        }
        assert_eq!(after(&mut app, second, 100), (false, false), "{first} and {second}");
    }
}

#[test]
fn quitting_during_a_run_is_immediate_and_the_run_continues() {
    let mut app = talking(Theme::default());
    let model = "demo".to_owned();
    tell(&mut app, Event::Run { said: RunEvent::Started { receipt: None, model } }, None);
    drop(press(&mut app, "ctrl+q", NOW_MS));
    assert!(app.is_leaving());
    let goes_on =
        |app: &App| app.running_runs().iter().map(super::super::RunningRun::line).collect::<Vec<_>>();
    assert_eq!(goes_on(&app), ["still running: the answer of the model"]);
    assert_eq!(goes_on(&asked(Theme::default())), ["waits for your answer: write notes.md"]);
}

#[test]
fn hint_about_a_key_ends_with_the_next_key_or_pane() {
    let esc = ("esc", "Esc again: back to an earlier message");
    let leave = ("ctrl+c", "Ctrl+C again quits");
    for (first, said) in [esc, leave] {
        for next in ["x", "ctrl+r", "f1", "alt+u", "ctrl+t", "up"] {
            let mut app = talking(Theme::default());
            drop(press(&mut app, first, NOW_MS));
            assert!(shown(&mut app).contains(said));
            drop(press(&mut app, next, NOW_MS + 100));
            assert!(!shown(&mut app).contains(said), "{first}, {next}");
        }
    }
    let mut app = talking(Theme::default());
    drop(press(&mut app, "x", NOW_MS));
    drop(press(&mut app, "ctrl+c", NOW_MS));
    let said = "brings your words back";
    assert!(shown(&mut app).contains(said), "{}", shown(&mut app));
    drop(press(&mut app, "alt+d", NOW_MS + 100));
    assert!(shown(&mut app).contains("› x") && !shown(&mut app).contains(said), "{}", shown(&mut app));
}

/// A refusal is no hint: it stays while the person continues, and it belongs to the place where it
/// was shown.
#[test]
fn notice_stays_in_its_place_and_is_never_truncated_for_keys() {
    let mut app = talking(Theme::default());
    for key in "/ x y z".split(' ') {
        drop(press(&mut app, key, NOW_MS));
    }
    drop(press(&mut app, "enter", NOW_MS + 1_000));
    let said = "there is no command /xyz: F1 lists them; // begins a message with /";
    for columns in [80, 100] {
        let seen = crate::ui::testing::screen(columns, 24, |frame| app.draw(frame));
        assert!(seen.lines().last().is_some_and(|foot| foot.starts_with(said)), "{columns}: {seen}");
    }
    drop(press(&mut app, "x", NOW_MS + 1_100));
    assert!(shown(&mut app).contains("there is no command"));
    drop(press(&mut app, "f1", NOW_MS + 1_200));
    assert!(!shown(&mut app).contains("there is no command"));
    drop(press(&mut app, "esc", NOW_MS + 1_300));
    assert!(!shown(&mut app).contains("there is no command"));
}

/// A step returns a message, then Enter is pressed at these times; returns which press sends.
fn enters(at: &[i64]) -> (App, Vec<bool>) {
    let mut app = talking(Theme::default());
    app.returned(TabId(1), &[retake_wire::Part::Text { text: "old words".into() }]);
    let mut sends =
        |at: &i64| press(&mut app, "enter", NOW_MS + at).iter().any(|act| matches!(act, Act::Run(..)));
    let sent = at.iter().map(&mut sends).collect();
    (app, sent)
}

#[test]
fn enter_right_after_a_step_sends_nothing_and_says_so() {
    for (at, sent) in [
        (&[10][..], &[false][..]),
        (&[800], &[false]),
        (&[1_600], &[true]),
        (&[800, 1_400], &[false, true]),
        (&[800, 3_400], &[false, true]),
        // A key that is held, or pressed again before anyone can have read the notice.
        (&[10, 40, 70, 100, 900], &[false, false, false, false, true]),
    ] {
        assert_eq!(enters(at).1, sent, "{at:?}");
    }
    let (mut app, _) = enters(&[800]);
    let seen = shown(&mut app);
    assert!(seen.contains("Enter again sends it") && seen.contains("old words"), "{seen}");
}

#[test]
fn enter_after_another_key_sends_the_words() {
    for key in ["!", "left", "end"] {
        let (mut app, _) = enters(&[]);
        drop(press(&mut app, key, NOW_MS + 300));
        let acts = press(&mut app, "enter", NOW_MS + 500);
        assert!(acts.iter().any(|act| matches!(act, Act::Run(..))), "{key}");
    }
}
