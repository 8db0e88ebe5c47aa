//! The face as a whole: every key where it holds, and what is on the screen.

mod drafts;

use retake_wire::reply::{Entries, Permissions};
use retake_wire::{Asks, CallShown, EffectClass, Event, Reply, Role, Rule, Ruling, RunEvent, Snapshot, Told};

use super::{App, Known, Start};
use crate::face::Settings;
use crate::face::keymap::{Command, Context, Key, Keymap, TABLE};
use crate::face::msg::{Act, Msg, TabId};
use crate::face::testing::{NOW_MS, THEMES, conversation, entries, screen, styled};
use crate::face::theme::Theme;

/// Nothing that is waited for takes longer.
const LATER: i64 = 5_000;

fn app(theme: Theme) -> App {
    let known = Known { folder: "/work".into(), version: "1.2.3".into(), model: Some("demo".into()) };
    let mut app = App::new(known, Start::New, Settings::default(), Keymap::default(), theme, NOW_MS);
    drop(app.begin());
    app
}

/// In a conversation of two turns.
fn talking(theme: Theme) -> App {
    let mut app = app(theme);
    let said = [
        (Role::User, "what is 6 times 7?"),
        (Role::Assistant, "**42**, as everybody knows."),
        (Role::User, "and `7 * 6`?"),
        (Role::Assistant, "The same."),
    ];
    let Reply::Entries(Entries { entries, .. }) = entries("0199a000-c", &said) else { panic!("entries") };
    let snapshot = Snapshot {
        conversation: conversation("0199a000-c", Some("Sums"), "what is 6 times 7?", 1),
        entries,
        earlier: false,
        running: false,
        waiting: Vec::new(),
        permissions: Permissions::default(),
        drafts: Vec::new(),
        unbegun: Vec::new(),
    };
    tell(&mut app, Event::Snapshot(Box::new(snapshot)), Some("3"));
    app
}

fn tell(app: &mut App, event: Event, id: Option<&str>) {
    let told = Told { id: id.map(str::to_owned), event };
    drop(app.on(Msg::Told(Some(TabId(1)), Box::new(told)), NOW_MS));
}

/// Asked whether a call may run.
fn asked(theme: Theme) -> App {
    let mut app = talking(theme);
    let call = CallShown {
        call: "c1".into(),
        tool: "write".into(),
        line: "write notes.md".into(),
        class: EffectClass::Workspace,
        detail: Some("--- /dev/null\n+++ b/notes.md\n@@ -0,0 +1 @@\n+buy milk\n".into()),
    };
    let offers = vec![Rule { ruling: Ruling::Allow, tool: "write".into(), what: Some("**".into()) }];
    let asks = Asks { id: "a1".into(), call, why: "it writes a file".into(), again_ms: None, offers };
    let model = "demo".to_owned();
    tell(&mut app, Event::Run { said: RunEvent::Started { receipt: None, model } }, None);
    tell(&mut app, Event::Run { said: RunEvent::Asks(Box::new(asks)) }, None);
    app
}

fn press(app: &mut App, key: &str, now_ms: i64) -> Vec<Act> {
    let key: Key = key.parse().expect("a key");
    app.on(Msg::Key(key.event()), now_ms)
}

/// The face where the keys of a place hold.
fn in_place(context: Context) -> App {
    let theme = Theme::default();
    let mut app = match context {
        Context::Asked => asked(theme),
        _ => talking(theme),
    };
    let key = match context {
        Context::Select => "alt+up",
        Context::Find => "ctrl+f",
        _ => return app,
    };
    drop(screen(80, 24, |frame| app.draw(frame)));
    drop(press(&mut app, key, NOW_MS + LATER));
    app
}

#[test]
fn every_key_does_its_command_where_it_holds() {
    let places = [Context::Everywhere, Context::Talk, Context::Select, Context::Asked, Context::Find];
    for row in TABLE.iter().filter(|row| places.contains(&row.context)) {
        for key in row.keys {
            let mut app = in_place(row.context);
            let context = if row.context == Context::Everywhere { Context::Talk } else { row.context };
            assert_eq!(app.context(), context, "{key}");
            let found = app.keys.find(context, key.parse().expect("a key"));
            assert_eq!(found, Some(row.command), "{key} in {context:?}");
            // That nobody does a command is a panic.
            drop(press(&mut app, key, NOW_MS + LATER));
            for (width, height) in [(80, 24), (20, 6)] {
                assert!(!screen(width, height, |frame| app.draw(frame)).is_empty(), "{key}");
            }
        }
    }
}

#[test]
fn every_typed_command_is_done_by_somebody() {
    for row in TABLE.iter().filter(|row| row.takes.is_some()) {
        for words in ["", "t1", "t1 a name", "3"] {
            for mut app in [app(Theme::default()), talking(Theme::default())] {
                app.command(row.command, words);
                assert!(!screen(60, 12, |frame| app.draw(frame)).is_empty(), "/{} {words}", row.name);
            }
        }
    }
}

#[test]
fn leave_is_given_by_a_key_that_stands_alone() {
    let decided = |acts: &[Act]| acts.iter().any(|act| matches!(act, Act::Ask(..)));
    // A key that was on its way.
    let mut app = asked(Theme::default());
    assert!(!decided(&press(&mut app, "y", NOW_MS + 10)));
    assert!(!decided(&app.on(Msg::Tick, NOW_MS + LATER)));
    // The first letter of words.
    assert!(!decided(&press(&mut app, "a", NOW_MS + LATER)));
    assert!(!decided(&press(&mut app, "l", NOW_MS + LATER + 100)));
    assert!(!decided(&app.on(Msg::Tick, NOW_MS + 2 * LATER)));
    // One key, and no other.
    assert!(!decided(&press(&mut app, "y", NOW_MS + 2 * LATER)));
    assert!(!decided(&app.on(Msg::Tick, NOW_MS + 2 * LATER + 100)));
    assert!(decided(&app.on(Msg::Tick, NOW_MS + 2 * LATER + 300)));
}

#[test]
fn keys_of_the_settings_hold() {
    let mut app = talking(Theme::default());
    app.keys.bind(Command::Rewind, &["f5".parse().expect("a key")]);
    drop(press(&mut app, "ctrl+r", NOW_MS));
    assert_eq!(app.context(), Context::Talk);
    drop(press(&mut app, "f5", NOW_MS));
    assert_eq!(app.context(), Context::Rewind);
}

#[test]
fn the_whole_screen() {
    let mut shots = String::new();
    for (name, make) in [("new", app as fn(Theme) -> App), ("talking", talking), ("asked", asked)] {
        for (width, height) in [(100, 24), (40, 12), (20, 6)] {
            let mut app = make(Theme::default());
            let shot = screen(width, height, |frame| app.draw(frame));
            shots.push_str(&format!("══ {name} {width}x{height}\n{shot}"));
        }
    }
    insta::assert_snapshot!("the_whole_screen", shots);
    let mut shots = String::new();
    for theme in THEMES {
        let mut app = asked(theme);
        drop(press(&mut app, "n", NOW_MS + LATER));
        shots.push_str(&styled(80, 24, |frame| app.draw(frame)));
    }
    insta::assert_snapshot!("in_every_theme", shots);
}
