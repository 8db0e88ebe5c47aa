//! Requests that arrive while a person types: the text stays whole and answers nothing; keys answer where they should.

use retake_wire::{Decision, Question};

use super::*;
use crate::ui::app::tab::Rewriting;

/// The decision about the request, if any.
pub(super) fn decided(acts: &[Act]) -> Option<Decision> {
    acts.iter().find_map(|act| match act {
        Act::Ask(_, request) => match &**request {
            Request::Decide(decide) => Some(decide.decision.clone()),
            _ => None,
        },
        _ => None,
    })
}

/// Types with this pause between letters, from this time; returns the decision, also one made in the time after.
pub(super) fn types(app: &mut App, text: &str, pause_ms: i64, from_ms: i64) -> Option<Decision> {
    let mut acts = Vec::new();
    let mut now_ms = from_ms;
    for letter in text.chars() {
        acts.extend(app.on(Msg::Key(crossterm::event::KeyCode::Char(letter).into()), now_ms));
        for _ in 0..pause_ms / 10 {
            now_ms += 10;
            acts.extend(app.on(Msg::Tick, now_ms));
        }
    }
    acts.extend(app.on(Msg::Tick, now_ms + LATER));
    decided(&acts)
}

pub(super) fn text(app: &App) -> String {
    app.tab().composer.text()
}

/// Presses a letter and Enter, with time to read between them.
pub(super) fn answers(app: &mut App, letter: &str, at_ms: i64) -> Option<Decision> {
    drop(screen(80, 24, |frame| app.draw(frame)));
    let acts = press(app, letter, at_ms);
    assert_eq!(decided(&acts), None, "{letter} alone");
    drop(screen(80, 24, |frame| app.draw(frame)));
    let mut acts = press(app, "enter", at_ms + 600);
    acts.extend(app.on(Msg::Tick, at_ms + 700));
    decided(&acts)
}

#[test]
fn a_letter_answers_together_with_enter_however_slowly_they_are_pressed() {
    for pause_ms in [1, 60, 9_000] {
        let mut app = asked(Theme::default());
        drop(press(&mut app, "y", NOW_MS + LATER));
        assert_eq!(decided(&app.on(Msg::Tick, NOW_MS + LATER + pause_ms)), None, "a letter is text");
        assert_eq!(text(&app), "y");
        let seen = screen(80, 24, |frame| app.draw(frame));
        assert!(seen.contains("Enter  allow it, this once") && seen.contains("Enter allows it"), "{seen}");
        assert!(seen.contains("Esc    give no answer yet"), "{seen}");
        assert!(!seen.contains("y Enter"), "the letter is typed: {seen}");
        assert_eq!(decided(&press(&mut app, "enter", NOW_MS + LATER + pause_ms)), Some(Decision::Once));
        assert_eq!(text(&app), "");
    }
    let mut app = asked(Theme::default());
    drop(press(&mut app, "n", NOW_MS + LATER));
    let seen = screen(80, 24, |frame| app.draw(frame));
    assert!(seen.contains("Enter  refuse it") && seen.contains("Enter refuses it"), "{seen}");
    assert_eq!(decided(&press(&mut app, "enter", NOW_MS + 2 * LATER)), Some(Decision::Deny { words: None }));
    assert_eq!(text(&app), "");
}

#[test]
fn what_is_typed_before_the_request_could_be_read_answers_nothing() {
    for letter in ["y", "a", "c", "n", "w"] {
        for at_ms in [-9 * LATER, 10, 450] {
            let mut app = talking(Theme::default());
            if at_ms < 0 {
                drop(press(&mut app, letter, NOW_MS + at_ms));
            }
            ask(&mut app, "a1");
            if at_ms > 0 {
                drop(press(&mut app, letter, NOW_MS + at_ms));
            }
            assert_eq!(decided(&press(&mut app, "enter", NOW_MS + 2 * LATER)), None, "{letter} at {at_ms}");
            assert_eq!(text(&app), letter, "it stays");
            assert!(shown(&mut app).contains("does not answer now: delete it"), "{}", shown(&mut app));
            drop(press(&mut app, "backspace", NOW_MS + 3 * LATER));
            assert!(letter != "y" || answers(&mut app, letter, NOW_MS + 4 * LATER) == Some(Decision::Once));
        }
    }
    let mut app = asked(Theme::default());
    drop(press(&mut app, "alt+y", NOW_MS + 10));
    assert_eq!(decided(&press(&mut app, "enter", NOW_MS + 400)), None);
    assert!(shown(&mut app).contains("the agent has just asked"), "{}", shown(&mut app));
    assert_eq!(decided(&press(&mut app, "enter", NOW_MS + 600)), Some(Decision::Once));
}

/// What covers the conversation hides the request: the time to read it begins when it is on the screen.
#[test]
fn a_request_that_was_covered_is_new_when_it_appears() {
    let mut app = talking(Theme::default());
    drop(press(&mut app, "f1", NOW_MS));
    ask(&mut app, "a1");
    drop(press(&mut app, "esc", NOW_MS + 9 * LATER));
    drop(press(&mut app, "y", NOW_MS + 9 * LATER + 100));
    assert_eq!(decided(&press(&mut app, "enter", NOW_MS + 9 * LATER + 200)), None);
    assert_eq!(decided(&press(&mut app, "enter", NOW_MS + 10 * LATER)), None, "it is a text");
    drop(press(&mut app, "backspace", NOW_MS + 11 * LATER));
    // An answer that was chosen is given up by what covers it.
    drop(press(&mut app, "y", NOW_MS + 12 * LATER));
    drop(press(&mut app, "f1", NOW_MS + 13 * LATER));
    drop(press(&mut app, "esc", NOW_MS + 14 * LATER));
    assert_eq!(decided(&press(&mut app, "enter", NOW_MS + 16 * LATER)), None);
    assert_eq!(text(&app), "y");
}

/// The list of keys runs commands by name.
#[test]
fn a_command_that_answers_chooses_or_says_that_nothing_waits() {
    for command in
        [Command::AllowOnce, Command::AllowHere, Command::Deny, Command::AllowWider, Command::Grant]
    {
        let mut app = talking(Theme::default());
        app.command(command, "");
        assert!(
            shown(&mut app).contains("no call waits for your answer"),
            "{command:?}: {}",
            shown(&mut app)
        );
    }
    let mut app = asked(Theme::default());
    app.command(Command::Grant, "");
    assert!(shown(&mut app).contains("no answer is chosen"), "{}", shown(&mut app));
    app.command(Command::AllowOnce, "");
    assert_eq!(decided(&press(&mut app, "enter", NOW_MS + LATER)), Some(Decision::Once));
}

#[test]
fn a_command_that_is_typed_while_a_call_waits_is_not_called_a_refusal() {
    for (text, says) in
        [("/stop", "runs the command"), ("//stop", "refuses with this"), ("stop", "refuses with this")]
    {
        let mut app = asked(Theme::default());
        drop(types(&mut app, text, 10, NOW_MS + LATER));
        let seen = screen(80, 24, |frame| app.draw(frame));
        assert!(seen.contains(&format!("Enter {says}")), "{text}: {seen}");
    }
}

#[test]
fn any_other_key_gives_an_answer_up() {
    for (key, left) in
        [("esc", ""), ("backspace", ""), ("left", "y"), ("e", "ye"), ("pageup", "y"), ("tab", "y")]
    {
        let mut app = asked(Theme::default());
        drop(press(&mut app, "y", NOW_MS + LATER));
        drop(press(&mut app, key, NOW_MS + LATER + 100));
        assert_eq!(text(&app), left, "{key}");
        assert_eq!(app.context(), Context::Asked, "{key}");
        let said = decided(&press(&mut app, "enter", NOW_MS + 2 * LATER));
        assert!(matches!(said, None | Some(Decision::Deny { .. })), "{key}: {said:?}");
    }
    // Letters that are deleted again, and a pasted letter, choose nothing.
    let mut app = asked(Theme::default());
    for key in ["y", "e", "backspace"] {
        drop(press(&mut app, key, NOW_MS + LATER));
    }
    assert_eq!((text(&app).as_str(), decided(&press(&mut app, "enter", NOW_MS + 2 * LATER))), ("y", None));
    let mut app = asked(Theme::default());
    drop(app.on(Msg::Paste("y".to_owned()), NOW_MS + LATER));
    assert_eq!(decided(&press(&mut app, "enter", NOW_MS + 2 * LATER)), None);
}

#[test]
fn words_that_begin_like_an_answer_are_typed_whole_and_answer_nothing() {
    let letters: Vec<String> = TABLE
        .iter()
        .filter(|row| row.context == Context::Asked)
        .flat_map(|row| row.keys)
        .filter(|key| key.parse::<Key>().expect("a key").letter().is_some())
        .map(|key| (*key).to_owned())
        .collect();
    assert!(letters.len() >= 4, "{letters:?}");
    for first in letters.iter().map(String::as_str).chain(["z", "1", "!", " "]) {
        // The request comes before, during and long before the text.
        for from_ms in [10, 300, LATER] {
            let mut app = asked(Theme::default());
            let words = format!("{first}can nay, yes! 1");
            assert_eq!(types(&mut app, &words, 120, NOW_MS + from_ms), None, "{words} at {from_ms}");
            assert_eq!(text(&app), words.trim_start(), "at {from_ms}");
        }
    }
}

#[test]
fn approval_request_during_typing_takes_no_letter() {
    let mut app = talking(Theme::default());
    drop(app.on(Msg::Key(crossterm::event::KeyCode::Char('b').into()), NOW_MS));
    ask(&mut app, "a1");
    // However slowly: text that is being written is no answer.
    assert_eq!(types(&mut app, "y any", 700, NOW_MS + 100), None);
    assert_eq!(text(&app), "by any");
    // After deleting the last word the composer is empty, but the person goes on typing.
    for _ in 0..6 {
        drop(press(&mut app, "backspace", NOW_MS + LATER));
    }
    assert_eq!(types(&mut app, "yet", 100, NOW_MS + LATER + 50), None);
    assert_eq!(text(&app), "yet");
}

#[test]
fn during_typing_other_keys_answer_and_the_words_stay() {
    let rule = || Rule { ruling: Ruling::Allow, tool: "write".into(), what: Some("**".into()) };
    for (command, decision) in [
        (Command::AllowOnce, Decision::Once),
        (Command::AllowHere, Decision::InConversation { rule: rule() }),
        (Command::AllowAlways, Decision::Always { rule: rule() }),
        (Command::Deny, Decision::Deny { words: None }),
    ] {
        let mut app = asked(Theme::default());
        let key = app.keys.beside_words(command).expect("it has one").to_string().to_lowercase();
        drop(app.on(Msg::Paste("half a sentence".to_owned()), NOW_MS + LATER));
        assert_eq!(decided(&press(&mut app, &key, NOW_MS + LATER + 10)), None, "{key} chooses");
        let said = decided(&press(&mut app, "enter", NOW_MS + LATER + 600));
        assert_eq!(said, Some(decision), "{key}");
        assert_eq!(text(&app), "half a sentence", "{key}");
    }
}

#[test]
fn notice_names_the_configured_keys_that_answer_during_typing() {
    let mut app = asked(Theme::default());
    drop(app.on(Msg::Paste("half a sentence".to_owned()), NOW_MS + LATER));
    let seen = screen(80, 24, |frame| app.draw(frame));
    assert!(seen.contains("Alt+Y allows · Alt+N refuses · Enter refuses with this"), "{seen}");
    assert!(seen.contains("Alt+Y Enter  allow it, this once") && !seen.contains("\n  y "), "{seen}");
    app.keys.bind(Command::AllowOnce, &["y".parse().expect("a key"), "f6".parse().expect("a key")]);
    let seen = screen(80, 24, |frame| app.draw(frame));
    assert!(seen.contains("F6 allows") && seen.contains("F6 Enter     allow it, this once"), "{seen}");
    // If only letters are bound there is nothing to press, and no key is shown.
    app.keys.bind(Command::AllowOnce, &["y".parse().expect("a key")]);
    let seen = screen(80, 24, |frame| app.draw(frame));
    assert!(!seen.contains("allow it, this once"), "{seen}");
    let decided = decided(&press(&mut app, "f6", NOW_MS + 2 * LATER));
    assert_eq!(decided, None);
}

#[test]
fn sent_words_deny_the_call_and_never_by_accident() {
    let mut app = asked(Theme::default());
    drop(types(&mut app, "use tabs", 100, NOW_MS + 100));
    let at = app.tab().answers.asked_ms.expect("asked");
    assert_eq!(decided(&press(&mut app, "enter", at + 100)), None, "whoever typed has not looked at it");
    assert_eq!(text(&app), "use tabs");
    let said = decided(&press(&mut app, "enter", at + 600));
    assert_eq!(said, Some(Decision::Deny { words: Some("use tabs".into()) }));
    for yes in ["yes", "Y", "ok!", "yy", "Yes please", "sure, go", "go ahead", "always"] {
        let mut app = asked(Theme::default());
        drop(app.on(Msg::Paste(yes.to_owned()), NOW_MS + LATER));
        assert_eq!(decided(&press(&mut app, "enter", NOW_MS + 2 * LATER)), None, "{yes} is no no");
        assert_eq!(text(&app), yes);
        assert!(shown(&mut app).contains("Alt+Y Enter allows"), "{}", shown(&mut app));
    }
}

#[test]
fn second_approval_request_ignores_early_keys_too() {
    let mut app = asked(Theme::default());
    ask(&mut app, "a2");
    let settled =
        NumberedEvent { id: None, event: Event::Run { said: RunEvent::Settled { id: "a1".into() } } };
    drop(app.on(Msg::Told(Some(TabId(1)), Box::new(settled)), NOW_MS + LATER));
    drop(press(&mut app, "y", NOW_MS + LATER + 100));
    let said = decided(&press(&mut app, "enter", NOW_MS + LATER + 450));
    assert_eq!(said, None, "it was meant for the first one");
    // A letter that was typed for the first one is text for the second.
    let mut app = asked(Theme::default());
    ask(&mut app, "a2");
    drop(press(&mut app, "y", NOW_MS + LATER));
    tell(&mut app, Event::Run { said: RunEvent::Settled { id: "a1".into() } }, None);
    assert_eq!(decided(&press(&mut app, "enter", NOW_MS + 9 * LATER)), None);
    assert_eq!(text(&app), "y");
}

#[test]
fn a_number_and_enter_choose_an_answer_for_a_tool() {
    let answered = |acts: &[Act]| {
        acts.iter().find_map(|act| match act {
            Act::Ask(_, request) => match &**request {
                Request::Respond(respond) => Some(respond.answer.clone()),
                _ => None,
            },
            _ => None,
        })
    };
    let asked = || {
        let mut app = talking(Theme::default());
        let choices = vec!["tabs".to_owned(), "spaces".to_owned()];
        let question = Question { id: "q1".into(), question: "which?".into(), choices };
        tell(&mut app, Event::Run { said: RunEvent::Question(question) }, None);
        app
    };
    let mut app = asked();
    drop(press(&mut app, "2", NOW_MS + LATER));
    assert_eq!(answered(&app.on(Msg::Tick, NOW_MS + 2 * LATER)), None);
    assert_eq!(answered(&press(&mut app, "enter", NOW_MS + 3 * LATER)).as_deref(), Some("spaces"));
    let mut app = asked();
    drop(types(&mut app, "2 of them", 100, NOW_MS + LATER));
    assert_eq!(text(&app), "2 of them");
    assert_eq!(answered(&press(&mut app, "enter", NOW_MS + 3 * LATER)).as_deref(), Some("2 of them"));
}

/// An edited message does not answer a request that arrives meanwhile.
#[test]
fn edited_message_answers_no_request() {
    let mut app = asked(Theme::default());
    let (entry, head) = ("e1".to_owned(), "1.4".to_owned());
    app.tab_mut().outgoing.rewriting = Some(Rewriting {
        entry,
        head,
        files: retake_wire::FileOptions::default(),
        takes_back: "1 turn".to_owned(),
        is_stale: false,
    });
    drop(types(&mut app, "17 * 3", 100, NOW_MS + LATER));
    let acts = press(&mut app, "enter", NOW_MS + 4 * LATER);
    assert!(acts.iter().all(|act| !matches!(act, Act::Ask(..) | Act::Run(..))), "{acts:?}");
    assert_eq!(text(&app), "17 * 3");
    assert!(shown(&mut app).contains("a question is open: answer it first"), "{}", shown(&mut app));
}

/// Two clients may answer one request: the text of the second is kept, and is sent as a message only after Enter is
/// pressed again.
#[test]
fn words_for_a_request_answered_elsewhere_are_not_sent() {
    let says = |acts: &[Act]| acts.iter().any(|act| matches!(act, Act::Run(..)));
    let settled = |app: &mut App| tell(app, Event::Run { said: RunEvent::Settled { id: "a1".into() } }, None);
    let mut app = asked(Theme::default());
    drop(types(&mut app, "not there", 100, NOW_MS + LATER));
    settled(&mut app);
    assert!(!says(&press(&mut app, "enter", NOW_MS + 4 * LATER)));
    assert!(shown(&mut app).contains("is already answered"), "{}", shown(&mut app));
    assert_eq!(text(&app), "not there");
    assert!(says(&press(&mut app, "enter", NOW_MS + 5 * LATER)));
    // Earlier text, and text that was there when the person answered with a key, is for a message.
    let mut app = talking(Theme::default());
    drop(types(&mut app, "next", 100, NOW_MS - 9 * LATER));
    let model = "demo".to_owned();
    tell(&mut app, Event::Run { said: RunEvent::Started { receipt: None, model } }, None);
    ask(&mut app, "a1");
    settled(&mut app);
    assert!(says(&press(&mut app, "enter", NOW_MS + 4 * LATER)));
    let mut app = asked(Theme::default());
    drop(types(&mut app, "next", 100, NOW_MS + LATER));
    drop(press(&mut app, "alt+y", NOW_MS + 3 * LATER));
    assert_eq!(decided(&press(&mut app, "enter", NOW_MS + 4 * LATER)), Some(Decision::Once));
    settled(&mut app);
    assert!(says(&press(&mut app, "enter", NOW_MS + 5 * LATER)));
}

#[test]
fn refusal_notice_ends_with_its_cause() {
    let mut app = asked(Theme::default());
    drop(press(&mut app, "alt+y", NOW_MS));
    drop(press(&mut app, "enter", NOW_MS + 10));
    assert!(shown(&mut app).contains("has just asked"));
    let decided = RunEvent::Settled { id: "a1".into() };
    tell(&mut app, Event::Run { said: decided }, None);
    assert!(!shown(&mut app).contains("has just asked"), "{}", shown(&mut app));
}

/// Requests approval of a call with so many lines.
fn ask_long(app: &mut App, id: &str, lines: usize) {
    let rule = Rule { ruling: Ruling::Allow, tool: "shell".into(), what: Some("echo".into()) };
    let call = CallShown {
        call: format!("c-{id}"),
        tool: "shell".into(),
        line: "$ echo 0 …".into(),
        class: EffectClass::External,
        detail: Some((0..lines).map(|at| format!("echo {at}\n")).collect()),
    };
    let (cause, why) = (AskCause::Command, String::new());
    let asks = PendingApproval { id: id.into(), call, cause, why, again_ms: None, offers: vec![rule] };
    tell(app, Event::Run { said: RunEvent::Asks(Box::new(asks)) }, None);
}

/// With a call of so many lines that waits.
fn asked_long(lines: usize) -> App {
    let mut app = talking(Theme::default());
    let model = "demo".to_owned();
    tell(&mut app, Event::Run { said: RunEvent::Started { receipt: None, model } }, None);
    ask_long(&mut app, "a1", lines);
    app
}

/// Presses a key that stands alone, after the screen was drawn.
pub(super) fn alone(app: &mut App, key: &str, at_ms: i64) -> Option<Decision> {
    drop(screen(80, 24, |frame| app.draw(frame)));
    let mut acts = press(app, key, at_ms);
    acts.extend(app.on(Msg::Tick, at_ms + 450));
    drop(screen(80, 24, |frame| app.draw(frame)));
    decided(&acts)
}

/// An approval covers the whole call: parts that do not fit must be shown once first.
#[test]
fn hidden_parts_of_a_call_cannot_be_approved() {
    for key in ["y", "c", "alt+y", "alt+a"] {
        for show in [None, Some("space"), Some("alt+s"), Some("alt+e")] {
            let mut app = asked_long(90);
            drop(screen(80, 24, |frame| app.draw(frame)));
            match show {
                Some(show) => assert_eq!(alone(&mut app, show, NOW_MS + LATER), None),
                // Enter shows what is folded, and allows nothing.
                None => assert_eq!(answers(&mut app, key, NOW_MS + LATER), None, "{key}"),
            }
            drop(screen(80, 24, |frame| app.draw(frame)));
            assert_eq!((text(&app).as_str(), app.context()), ("", Context::Asked), "{key}, {show:?}");
            assert!(!app.tab().view.hides_asked(), "{key}, {show:?}");
            assert!(answers(&mut app, key, NOW_MS + 3 * LATER).is_some(), "{key}, {show:?}");
        }
    }
}

#[test]
fn a_letter_typed_for_a_folded_call_shows_no_yes() {
    let mut app = asked_long(90);
    drop(screen(80, 24, |frame| app.draw(frame)));
    drop(press(&mut app, "y", NOW_MS + LATER));
    let seen = screen(80, 24, |frame| app.draw(frame));
    assert!(
        seen.contains("Enter  show all of the call first") && !seen.contains("Enter  allow it"),
        "{seen}"
    );
}

#[test]
fn a_folded_card_says_how_to_see_all_of_it_and_only_this_card_unfolds() {
    let mut shots = String::new();
    for (width, height) in [(80, 24), (40, 12)] {
        let mut app = asked_long(40);
        ask_long(&mut app, "a2", 50);
        let mut shoot = |name: &str, app: &mut App| {
            drop(screen(width, height, |frame| app.draw(frame)));
            let seen = screen(width, height, |frame| app.draw(frame));
            shots.push_str(&format!("══ {name} {width}x{height}\n{seen}"));
        };
        shoot("folded", &mut app);
        drop(press(&mut app, "space", NOW_MS + LATER));
        drop(app.on(Msg::Tick, NOW_MS + LATER + 450));
        shoot("unfolded", &mut app);
        drop(press(&mut app, "ctrl+end", NOW_MS + 2 * LATER));
        shoot("its end", &mut app);
        let settled = RunEvent::Settled { id: "a1".into() };
        tell(&mut app, Event::Run { said: settled }, None);
        shoot("the next one", &mut app);
    }
    insta::assert_snapshot!("folded_card", shots);
}

#[test]
fn a_yes_right_behind_the_key_that_unfolds_a_call_allows_it() {
    let mut app = asked_long(90);
    drop(screen(80, 24, |frame| app.draw(frame)));
    drop(press(&mut app, "space", NOW_MS + LATER));
    assert_eq!(answers(&mut app, "y", NOW_MS + LATER + 150), Some(Decision::Once));
}

#[test]
fn space_looks_and_is_no_letter_at_the_beginning_of_a_text() {
    let mut app = asked(Theme::default());
    assert_eq!(alone(&mut app, "space", NOW_MS + LATER), None);
    assert_eq!(text(&app), "");
    assert!(shown(&mut app).contains("all of the call is shown"), "{}", shown(&mut app));
    let mut app = asked_long(90);
    drop(screen(80, 24, |frame| app.draw(frame)));
    assert_eq!(types(&mut app, " a word", 100, NOW_MS + LATER), None);
    assert_eq!(text(&app), "a word", "no text begins with a space");
    drop(screen(80, 24, |frame| app.draw(frame)));
    assert!(!app.tab().view.hides_asked());
}
