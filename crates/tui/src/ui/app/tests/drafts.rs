//! Text typed before a conversation has begun: stored by the folder, restored, never sent, and gone once the owner has the
//! message.

use retake_wire::reply::{Draft, Receipt};
use retake_wire::request::SetDraftIn;
use retake_wire::{Part, Problem, ProblemKind, Request, RunEvent};

use super::*;
use crate::ui::msg::Ticket;

/// The UI after opening, and its first requests.
fn opened() -> (App, Vec<Act>) {
    let known = StartInfo { folder: "/work".into(), version: "1.2.3".into(), model: Some("demo".into()) };
    let theme = Theme::default();
    let mut app = App::new(known, Start::New, Settings::default(), Keymap::default(), theme, NOW_MS);
    let acts = app.begin();
    (app, acts)
}

fn asks_what_is_kept(acts: &[Act]) -> Option<Ticket> {
    acts.iter().find_map(|act| match act {
        Act::Ask(ticket, request) => match &**request {
            Request::ClaimDraftIn(of) if of.folder == "/work" => Some(*ticket),
            _ => None,
        },
        _ => None,
    })
}

/// With the owner's draft.
fn with(words: &[&str]) -> App {
    let (mut app, acts) = opened();
    let ticket = asks_what_is_kept(&acts).expect("it asks");
    let parts = words.iter().map(|words| Part::text(*words)).collect();
    let reply = Ok(Reply::Draft(Draft { author: "ada".to_owned(), parts, ..Draft::default() }));
    assert_eq!(kept(&app.on(Msg::Replied(ticket, Box::new(reply)), NOW_MS)), None, "it is kept already");
    app
}

/// The draft to store.
fn kept(acts: &[Act]) -> Option<Vec<Part>> {
    acts.iter().rev().find_map(|act| match act {
        Act::Ask(_, request) => match &**request {
            Request::SetDraftIn(SetDraftIn { folder, parts, .. }) if folder == "/work" => Some(parts.clone()),
            _ => None,
        },
        _ => None,
    })
}

/// The owner has stored the draft; returns the next acts.
fn has(app: &mut App, acts: &[Act]) -> Vec<Act> {
    let kept = acts.iter().rev().find_map(|act| match act {
        Act::Ask(ticket, request) if matches!(**request, Request::SetDraft(_) | Request::SetDraftIn(_)) => {
            Some(*ticket)
        }
        _ => None,
    });
    app.on(Msg::Replied(kept.expect("it is given something to keep"), Box::new(Ok(Reply::Done))), NOW_MS)
}

fn quits(acts: &[Act]) -> bool {
    acts.iter().any(|act| matches!(act, Act::Quit))
}

/// Types, and waits; the owner has stored it.
fn has_typed(app: &mut App, words: &str) -> Option<Vec<Part>> {
    drop(app.on(Msg::Paste(words.to_owned()), NOW_MS));
    let acts = app.on(Msg::Tick, NOW_MS + LATER);
    drop(has(app, &acts));
    kept(&acts)
}

/// Types, and waits.
fn types(app: &mut App, words: &str) -> Option<Vec<Part>> {
    drop(app.on(Msg::Paste(words.to_owned()), NOW_MS));
    kept(&app.on(Msg::Tick, NOW_MS + LATER))
}

/// Sends; returns the run's ticket and the draft to store.
fn sends(app: &mut App) -> (Ticket, Option<Vec<Part>>) {
    let acts = press(app, "enter", NOW_MS + LATER);
    let run = acts.iter().find_map(|act| match act {
        Act::Run(ticket, _) => Some(*ticket),
        _ => None,
    });
    (run.expect("it is sent"), kept(&acts))
}

fn begun() -> RunEvent {
    let receipt = Receipt { conversation: "0199a000-c".to_owned(), ..Receipt::default() };
    RunEvent::Started { receipt: Some(Box::new(receipt)), model: "demo".to_owned() }
}

#[test]
fn draft_is_stored_and_restored_and_never_sent() {
    let mut app = with(&[]);
    assert_eq!(types(&mut app, "half a thought"), Some(vec![Part::text("half a thought")]));
    let mut app = with(&["half a thought"]);
    let screen = screen(60, 12, |frame| app.draw(frame));
    assert!(screen.contains("half a thought"), "{screen}");
    let quits = press(&mut app, "ctrl+q", NOW_MS + LATER);
    assert_eq!(kept(&quits), Some(vec![Part::text("half a thought")]), "also where it was taken away since");
    assert!(!quits.iter().any(|act| matches!(act, Act::Run(..))), "{quits:?}");
}

#[test]
fn drafts_moved_aside_are_stored_and_restored() {
    let mut app = with(&[]);
    drop(has_typed(&mut app, "the first"));
    drop(press(&mut app, "ctrl+c", NOW_MS + LATER));
    drop(app.on(Msg::Paste("the second".to_owned()), NOW_MS + LATER));
    let acts = app.on(Msg::Tick, NOW_MS + 2 * LATER);
    let aside = acts.iter().find_map(|act| match act {
        Act::Ask(_, request) => match &**request {
            Request::SetDraftIn(set) => Some((set.parts.clone(), set.aside.clone())),
            _ => None,
        },
        _ => None,
    });
    let (parts, aside) = aside.expect("kept");
    assert_eq!(
        (&parts, &aside),
        (&vec![Part::text("the second")], &Some(vec![vec![Part::text("the first")]]))
    );
    // The next client gets both, and can restore the first one or discard it.
    let draft = Draft { parts, aside: aside.expect("aside"), ..Draft::default() };
    for (keys, text, left) in [("alt+d", "the first", 1), ("alt+shift+d", "the second", 0)] {
        let mut app = with(&[]);
        let acts = app.on(Msg::Tick, NOW_MS);
        drop(acts);
        app.take_unbegun(draft.parts.clone(), draft.aside.clone());
        assert_eq!(app.tab().composer.text(), "the second");
        drop(press(&mut app, keys, NOW_MS + LATER));
        assert_eq!((app.tab().composer.text().as_str(), app.tab().composer.aside().len()), (text, left));
    }
}

#[test]
fn text_of_a_cancelled_edit_moves_aside() {
    let mut app = talking(Theme::default());
    let rewrite = |app: &mut App| {
        let entry = app.tab().talk.entries[0].id.clone();
        let (parts, files) = (vec![Part::text("what is 6 times 7?")], retake_wire::FileOptions::default());
        let (head, takes_back) = ("1.4".to_owned(), "2 turns".to_owned());
        app.want(TabId(1), PaneInstruction::Rewrite { entry, head, parts, files, takes_back });
    };
    rewrite(&mut app);
    drop(press(&mut app, "esc", NOW_MS + LATER));
    assert_eq!(app.tab().composer.aside(), Vec::<Vec<Part>>::new(), "they say what the message says");
    rewrite(&mut app);
    drop(app.on(Msg::Paste(" or 8?".to_owned()), NOW_MS + LATER));
    drop(press(&mut app, "esc", NOW_MS + 2 * LATER));
    assert_eq!(app.tab().composer.text(), "");
    drop(press(&mut app, "alt+d", NOW_MS + 3 * LATER));
    assert_eq!(app.tab().composer.text(), "what is 6 times 7? or 8?");
}

#[test]
fn draft_is_dropped_only_when_the_owner_has_it() {
    let mut app = with(&["begin"]);
    let (run, dropped) = sends(&mut app);
    assert_eq!(dropped, None, "nobody has them yet");
    assert_eq!(has_typed(&mut app, "and then"), Some(vec![Part::text("begin"), Part::text("and then")]));
    let acts = app.on(Msg::Ran(run, Box::new(begun())), NOW_MS);
    assert_eq!(kept(&acts), Some(vec![Part::text("and then")]), "what was typed meanwhile stays");
}

#[test]
fn words_that_were_refused_stay() {
    let mut app = with(&["begin"]);
    let (run, _) = sends(&mut app);
    let problem = Problem {
        code: "x".into(),
        kind: ProblemKind::Refused,
        message: "no model".to_owned(),
        ..Problem::default()
    };
    let acts = app.on(Msg::NotRun(run, Box::new(problem)), NOW_MS);
    assert_eq!(kept(&acts).or(kept(&app.on(Msg::Tick, NOW_MS + LATER))), None, "they are kept as they were");
    assert_eq!(app.tab().composer.parts(), [Part::text("begin")]);
}

#[test]
fn several_new_tabs_keep_all_that_is_typed_in_them() {
    let mut app = with(&["one"]);
    drop(press(&mut app, "ctrl+t", NOW_MS));
    assert!(app.tab().composer.is_empty(), "it is shown beside");
    assert_eq!(has_typed(&mut app, "two"), Some(vec![Part::text("one"), Part::text("two")]));
    assert_eq!(kept(&press(&mut app, "alt+w", NOW_MS)), None, "a tab that is closed gives up nothing");
    drop(press(&mut app, "ctrl+t", NOW_MS));
    assert_eq!(app.tab().composer.parts(), [Part::text("two")]);
}

#[test]
fn unknown_draft_of_the_owner_is_never_overwritten() {
    let (mut app, _) = opened();
    assert_eq!(types(&mut app, "early"), None, "it has not answered yet");
}

#[test]
fn quit_waits_until_the_owner_has_the_draft() {
    let mut app = with(&[]);
    drop(app.on(Msg::Paste("half".to_owned()), NOW_MS));
    let acts = app.on(Msg::Tick, NOW_MS + LATER);
    assert_eq!(kept(&acts), Some(vec![Part::text("half")]));
    drop(app.on(Msg::Paste(" a thought".to_owned()), NOW_MS));
    let leaves = press(&mut app, "ctrl+q", NOW_MS);
    assert_eq!(kept(&leaves), None, "the one before is still on its way, and must not come last");
    assert!(!quits(&leaves) && app.is_lively());
    drop(press(&mut app, "x", NOW_MS));
    let next = has(&mut app, &acts);
    assert_eq!(kept(&next), Some(vec![Part::text("half a thought")]));
    assert!(!quits(&next));
    assert!(quits(&has(&mut app, &next)));
    assert!(app.unsaved().is_empty());
}

#[test]
fn early_quit_waits_for_the_stored_drafts() {
    let (mut app, acts) = opened();
    let asked = asks_what_is_kept(&acts).expect("it asks");
    drop(app.on(Msg::Paste("early".to_owned()), NOW_MS));
    assert!(!quits(&press(&mut app, "ctrl+q", NOW_MS)));
    let reply = Reply::Draft(Draft {
        author: "ada".to_owned(),
        parts: vec![Part::text("older")],
        ..Draft::default()
    });
    let acts = app.on(Msg::Replied(asked, Box::new(Ok(reply))), NOW_MS);
    assert_eq!(kept(&acts), Some(vec![Part::text("older"), Part::text("early")]));
    assert!(!quits(&acts) && quits(&has(&mut app, &acts)));
}

#[test]
fn text_typed_while_a_conversation_begins_becomes_its_draft_on_quit() {
    let mut app = talking(Theme::default());
    drop(app.on(Msg::Paste("and then".to_owned()), NOW_MS));
    assert!(!quits(&press(&mut app, "ctrl+q", NOW_MS)), "its own draft is not known yet");
    assert_eq!(app.unsaved(), ["and then"]);
    app.take_draft(TabId(1), Draft::default());
    let acts = app.on(Msg::Tick, NOW_MS);
    let set = acts.iter().any(|act| {
        matches!(act, Act::Ask(_, request) if matches!(&**request,
            Request::SetDraft(set) if set.conversation == "0199a000-c" && set.parts == [Part::text("and then")]))
    });
    assert!(set && !quits(&acts), "{acts:?}");
    assert!(quits(&has(&mut app, &acts)));
}

#[test]
fn quitting_has_a_deadline_and_returns_what_was_not_stored() {
    let mut app = with(&[]);
    drop(app.on(Msg::Paste("a thought".to_owned()), NOW_MS));
    assert!(!quits(&press(&mut app, "ctrl+q", NOW_MS)));
    assert!(!quits(&app.on(Msg::Tick, NOW_MS + 2_900)));
    assert!(quits(&app.on(Msg::Tick, NOW_MS + 3_000)));
    assert_eq!(app.unsaved(), ["a thought"]);

    let mut app = with(&[]);
    drop(app.on(Msg::Paste("a thought".to_owned()), NOW_MS));
    drop(press(&mut app, "ctrl+q", NOW_MS));
    assert!(quits(&press(&mut app, "ctrl+q", NOW_MS + 100)), "asked again, it leaves");
}

#[test]
fn cleared_composer_stays_empty_after_a_redo() {
    use retake_wire::Action;
    for (cleared, after) in [(true, ""), (false, "a draft")] {
        let mut app = talking(Theme::default());
        let id = app.tab().id;
        drop(app.on(Msg::Paste("a draft".to_owned()), NOW_MS));
        if cleared {
            drop(press(&mut app, "ctrl+c", NOW_MS));
        }
        app.returned(id, &[Part::text("what is 6 times 7?")]);
        let mut receipt = Receipt { conversation: "0199a000-c".to_owned(), ..Receipt::default() };
        receipt.timeline.brought_back.turns = 1;
        app.applied(id, &Action::Undo { count: 1 }, &receipt);
        assert_eq!(app.tab().composer.text(), after);
    }
}

#[test]
fn returned_words_are_no_draft_after_a_redo() {
    use retake_wire::Action;
    for (typed, stays) in [("", false), (" and more", true)] {
        let mut app = talking(Theme::default());
        let id = app.tab().id;
        app.returned(id, &[Part::text("what is 6 times 7?")]);
        if !typed.is_empty() {
            drop(app.on(Msg::Paste(typed.to_owned()), NOW_MS));
        }
        // As a person does to type `/undo`.
        drop(press(&mut app, "ctrl+c", NOW_MS));
        let mut receipt = Receipt { conversation: "0199a000-c".to_owned(), ..Receipt::default() };
        receipt.timeline.brought_back.turns = 1;
        app.applied(id, &Action::Undo { count: 1 }, &receipt);
        assert_eq!(!app.tab().composer.aside().is_empty(), stays, "{typed:?}");
    }
}
