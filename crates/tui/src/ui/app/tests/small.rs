//! What a small window shows first.

use retake_wire::reply::{EffectLine, EffectState, EffectWords, Effects, Outside};

use super::*;
use crate::ui::Background;
use crate::ui::testing::screen;

fn shown_in(app: &mut App, width: u16, height: u16) -> String {
    screen(width, height, |frame| app.draw(frame))
}

#[test]
fn approval_request_in_a_small_window_shows_yes_and_no() {
    let long = format!("shell rm -rf {} && echo x", "some/folder/or/other ".repeat(20));
    for (line, end) in [("write", "write notes.md"), (&*long, "echo x notes.md")] {
        let mut app = talking(Theme::default());
        let model = "demo".to_owned();
        tell(&mut app, Event::Run { said: RunEvent::Started { receipt: None, model } }, None);
        let rule = |what: &str| Rule { ruling: Ruling::Allow, tool: "write".into(), what: Some(what.into()) };
        ask_with(&mut app, "a1", line, vec![rule("docs/**"), rule("**")]);
        for (width, height) in [(40, 12), (40, 8), (24, 10), (20, 6)] {
            let seen = shown_in(&mut app, width, height);
            let words = seen.replace('▐', "").split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains("? may it run?"), "{seen}");
            assert!(words.replace(' ', "").contains(&end.replace(' ', "")), "{seen}");
            let yes = ["y Enter allow it, this once", "y allow ·", "y Enter allows", "Space all ·"];
            for keys in [&yes[..], &["n Enter refuse it", "n no"]] {
                assert!(keys.iter().any(|key| words.contains(key)), "{keys:?}: {seen}");
            }
            let foot = seen.lines().last().unwrap_or_default();
            assert!(!foot.contains("always") || foot.contains("n no"), "{foot}");
        }
        insta::assert_snapshot!(format!("small_question_{}", line.len() > 10), shown_in(&mut app, 40, 12));
    }
}

#[test]
fn receipt_is_wrapped_once_to_the_width() {
    let effect = |number: i64| EffectLine {
        line: format!(
            "mail send --to team@example.org --subject 'build number {number} of the week is done, and its report is ready'"
        ),
        words: EffectWords::Shown,
        tool: "shell".into(),
        class: EffectClass::External,
        began_ms: NOW_MS - number * 60_000,
        state: EffectState::Done,
    };
    let effects = Effects { count: 3, calls: (1..=3).map(effect).collect() };
    let receipt = Receipt { outside: Outside { effects, ..Outside::default() }, ..Receipt::default() };
    for width in [80, 70, 60] {
        let mut app = talking(Theme::default());
        let action = retake_wire::Action::Undo { count: 1 };
        app.want(TabId(1), PaneInstruction::Applied(Box::new(action), Box::new(receipt.clone())));
        let seen = shown_in(&mut app, width, 24);
        let lines: Vec<_> = seen.lines().skip_while(|line| !line.contains("can't be taken back")).collect();
        let end = lines.iter().position(|line| line.trim().is_empty()).expect("an end");
        // Each line is as full as its words allow: the first word of the next line had no room. A call
        // begins with its command in quotes.
        let continued = lines[..end].windows(2).filter(|pair| !pair[1].trim_start().starts_with('`'));
        let continued: Vec<_> = continued.collect();
        assert!(!continued.is_empty(), "{width}: {seen}");
        for pair in continued {
            let word = pair[1].split_whitespace().next().unwrap_or_default();
            let room = crate::text::width::columns(pair[0]) + 1 + crate::text::width::columns(word);
            // All lines end where those with the larger indentation do.
            assert!(room + 2 >= usize::from(width), "{width}: {seen}");
        }
    }
}

/// The content of windows that are not much larger than a card.
#[test]
fn every_place_in_a_small_window() {
    let mut shots = String::new();
    let mut shoot = |name: &str, make: &dyn Fn() -> App| {
        for (width, height) in [(40, 10), (30, 8)] {
            let mut app = make();
            drop(shown_in(&mut app, width, height));
            shots.push_str(&format!("══ {name} {width}x{height}\n{}", shown_in(&mut app, width, height)));
        }
    };
    let keys = |keys: &'static str| {
        move || {
            let mut app = talking(Theme::default());
            presses(&mut app, keys);
            app
        }
    };
    shoot("help", &keys("f1"));
    shoot("operations", &keys("alt+o"));
    shoot("tree", &keys("alt+t"));
    shoot("conversations", &keys("ctrl+o"));
    shoot("tabs", &keys("ctrl+t ctrl+t"));
    shoot("what is said once", &keys("/ x y z w enter"));
    shoot("what a key does next", &keys("esc"));
    shoot("find", &keys("ctrl+f 4 2"));
    shoot("a selected message", &keys("alt+up"));
    shoot("a question of a tool", &|| {
        let mut app = talking(Theme::default());
        let model = "demo".to_owned();
        tell(&mut app, Event::Run { said: RunEvent::Started { receipt: None, model } }, None);
        let question = retake_wire::Question {
            id: "q1".into(),
            question: "Which of the two parsers shall stay, the old one by hand or the new one made by the generator?".into(),
            choices: vec!["the old one".into(), "the new one".into(), "neither, write a third".into()],
        };
        tell(&mut app, Event::Run { said: RunEvent::Question(question) }, None);
        app
    });
    insta::assert_snapshot!("every_place", shots);
}

#[test]
fn theme_for_another_background_is_named_once() {
    let mut app = talking(THEMES[1]);
    app.command(Command::Theme, "paper");
    let warns = |app: &mut App| looks(app).contains("the theme paper is for a light background");
    assert!(!warns(&mut app));
    drop(app.on(Msg::Background(Background::Dark), NOW_MS));
    assert!(warns(&mut app), "{}", looks(&mut app));
    drop(app.on(Msg::Tick, NOW_MS + 60_000));
    assert!(!warns(&mut app));
    drop(app.on(Msg::Background(Background::Dark), NOW_MS + 60_000));
    assert!(!warns(&mut app), "once");
    for (name, background) in [("dark", "light"), ("ember", "light"), ("light", "dark"), ("paper", "dark")] {
        let reported = if background == "dark" { Background::Dark } else { Background::Light };
        for is_reported in [false, true] {
            let mut app = talking(if background == "dark" { THEMES[1] } else { THEMES[2] });
            if is_reported {
                drop(app.on(Msg::Background(reported), NOW_MS));
            }
            app.command(Command::Theme, name);
            drop(app.on(Msg::Kept(name.to_owned(), Ok(())), NOW_MS));
            let seen = looks(&mut app);
            let warning = format!("and that of this terminal is {background}");
            assert_eq!(seen.contains(&warning), is_reported, "{name}: {seen}");
            assert!(seen.contains("in the settings"), "{name}: {seen}");
        }
    }
    let mut app = talking(THEMES[1]);
    app.command(Command::Theme, "terminal");
    drop(app.on(Msg::Background(Background::Light), NOW_MS));
    assert!(!looks(&mut app).contains("background"), "its colours are those of the terminal");
}

#[test]
fn state_of_a_run_is_on_the_screen_once() {
    let mut app = talking(THEMES[0]);
    let started = RunEvent::Started { receipt: None, model: "demo/echo".to_owned() };
    tell(&mut app, Event::Run { said: started }, None);
    let seen = looks(&mut app);
    for fact in ["demo/echo", "stops"] {
        assert_eq!(seen.matches(fact).count(), 1, "{fact}: {seen}");
    }
    app.command(Command::Help, "");
    let seen = shown_in(&mut app, 120, 20);
    assert!(seen.lines().last().is_some_and(|line| line.contains("stops")), "{seen}");
}
