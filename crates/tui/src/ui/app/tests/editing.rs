//! Editing a message: what the screen shows while the person writes, and after they send.

use retake_wire::{Action, FilesDone, Part, Problem, ProblemKind, Run, RunStart};

use super::*;
use crate::ui::msg::Ticket;
use crate::ui::rewind::samples::{problem, with_conflict, with_files};

/// The text of the first message is in the composer, for editing.
fn editing() -> App {
    let mut app = talking(Theme::default());
    let entry = app.tab().talk.entries[0].id.clone();
    let (parts, files) = (vec![Part::text("what is 6 times 7?")], retake_wire::FileOptions::default());
    let (head, takes_back) = ("1.4".to_owned(), "2 turns, 1 file".to_owned());
    app.want(TabId(1), PaneInstruction::Rewrite { entry, head, parts, files, takes_back });
    app
}

#[test]
fn effect_of_an_edit_is_shown_until_it_is_sent_or_cancelled() {
    let mut app = editing();
    drop(app.on(Msg::Tick, NOW_MS + 60_000));
    let mut shots = String::new();
    for (width, height) in [(100, 12), (40, 10), (30, 8)] {
        let shot = screen(width, height, |frame| app.draw(frame));
        shots.push_str(&format!("══ {width}x{height}\n{shot}"));
    }
    insta::assert_snapshot!("editing", shots);
    drop(press(&mut app, "esc", NOW_MS + 61_000));
    let shown = screen(100, 12, |frame| app.draw(frame));
    assert!(!shown.contains("editing t1") && shown.contains("nothing has changed"), "{shown}");
}

#[test]
fn a_sent_edit_says_what_it_took_back_and_how_it_comes_back() {
    let mut app = editing();
    let acts = press(&mut app, "enter", NOW_MS + LATER);
    let run = acts.iter().find_map(|act| match act {
        Act::Run(ticket, _) => Some(*ticket),
        _ => None,
    });
    let files = FilesDone {
        counts: retake_wire::FileCounts { deleted: 1, ..Default::default() },
        ..FilesDone::default()
    };
    let receipt = Receipt {
        operations: vec![3],
        entries: vec!["e".into()],
        timeline: TimelineChange {
            taken_back: Counts { messages: 4, calls: 0, turns: 2 },
            ..TimelineChange::default()
        },
        files: Some(files),
        ..Receipt::default()
    };
    let begins = |app: &mut App, ticket: Ticket, receipt: &Receipt| {
        let receipt = Some(Box::new(receipt.clone()));
        let begun = RunEvent::Started { receipt, model: "demo".into() };
        drop(app.on(Msg::Ran(ticket, Box::new(begun)), NOW_MS + LATER));
        screen(100, 24, |frame| app.draw(frame))
    };
    let ticket = run.expect("a run");
    let plain = Receipt { operations: Vec::new(), ..receipt.clone() };
    assert!(!begins(&mut app, ticket, &plain).contains("edited"), "a message is no edit");
    insta::assert_snapshot!("edited", begins(&mut app, ticket, &receipt));
}

#[test]
fn the_composer_is_grey_where_keys_do_not_reach_it() {
    let mut app = talking(THEMES[1]);
    drop(app.on(Msg::Paste("half a thought".into()), NOW_MS));
    app.returned(TabId(1), &[Part::text("words that came back")]);
    let shown = |app: &mut App| screen(100, 14, |frame| app.draw(frame));
    assert!(shown(&mut app).contains("draft moved aside · Alt+D brings it back"));
    app.command(Command::Undo, "");
    let open = shown(&mut app);
    assert!(open.contains("draft moved aside") && !open.contains("brings it back"), "{open}");
    insta::assert_snapshot!("grey", styled(60, 14, |frame| app.draw(frame)));
    let mut app = talking(Theme::default());
    app.command(Command::Undo, "");
    assert!(shown(&mut app).contains("keys work in the view above · Esc returns here"));
    let mut app = asked(Theme::default());
    drop(press(&mut app, "alt+n", NOW_MS + LATER));
    assert!(shown(&mut app).contains("Enter gives the answer · Esc gives none"));
}

#[test]
fn a_draft_aside_is_told_until_the_next_key() {
    let mut app = talking(Theme::default());
    drop(app.on(Msg::Paste("half a thought".into()), NOW_MS));
    app.returned(TabId(1), &[Part::text("words that came back")]);
    assert!(shown(&mut app).contains("draft moved aside"));
    drop(press(&mut app, "end", NOW_MS));
    assert!(!shown(&mut app).contains("moved aside"), "{}", shown(&mut app));
    drop(press(&mut app, "alt+d", NOW_MS));
    assert!(shown(&mut app).contains("half a thought"));
}

#[test]
fn wider_rule_can_be_chosen_during_typing() {
    let mut app = talking(Theme::default());
    let model = "demo".to_owned();
    tell(&mut app, Event::Run { said: RunEvent::Started { receipt: None, model } }, None);
    let rule = |what: &str| Rule { ruling: Ruling::Allow, tool: "write".into(), what: Some(what.into()) };
    ask_with(&mut app, "a1", "write", vec![rule("notes.md"), rule("**")]);
    drop(app.on(Msg::Paste("some words".into()), NOW_MS));
    assert!(screen(100, 24, |frame| app.draw(frame)).contains("Alt+W"));
    drop(press(&mut app, "alt+w", NOW_MS + LATER));
    assert_eq!((app.tab().answers.offer, app.tabs.len()), (1, 1));
}

#[test]
fn a_fork_shows_its_plan_first() {
    for words in ["t1", ""] {
        let mut app = talking(Theme::default());
        app.command(Command::Fork, words);
        let acts = app.on(Msg::Tick, NOW_MS);
        let asks = |of: fn(&Request) -> bool| {
            acts.iter().any(|act| matches!(act, Act::Ask(_, request) if of(request)))
        };
        assert!(
            asks(|request| matches!(request, Request::Log(_))) && !asks(|it| matches!(it, Request::Fork(_)))
        );
        let shown = screen(120, 12, |frame| app.draw(frame));
        assert!(shown.starts_with("Fork"), "{shown}");
    }
}

#[test]
fn message_of_no_person_cannot_be_edited_and_a_notice_says_so() {
    let mut app = talking(Theme::default());
    for (key, says) in
        [("alt+up", ""), ("e", "only messages of a person can be edited"), ("up", ""), ("e", "Edit")]
    {
        drop(press(&mut app, key, NOW_MS));
        let shown = screen(120, 12, |frame| app.draw(frame));
        assert!(shown.contains(says), "{key}: {shown}");
        assert_eq!(app.tab().panes.front.is_some(), says == "Edit", "{key}");
    }
}

#[test]
fn rewind_by_name_shows_its_target() {
    for (words, title) in [("t2", "Rewind t2 “and"), ("good", "Rewind good")] {
        let mut app = talking(Theme::default());
        app.command(Command::Rewind, words);
        let shown = screen(120, 12, |frame| app.draw(frame));
        assert!(shown.contains(title), "{shown}");
    }
}

/// The message that is edited.
const FIRST: &str = "0199a000-0000-7000-8000-000000000001";

/// Sends the text, and the owner refuses it; returns the following acts.
fn refused(app: &mut App, now_ms: i64) -> Vec<Act> {
    let acts = press(app, "enter", now_ms);
    let ticket = acts.iter().find_map(|act| match act {
        Act::Run(ticket, _) => Some(*ticket),
        _ => None,
    });
    let problem = Problem { code: "stale_head".into(), ..problem(ProblemKind::Stale, "it has changed") };
    app.on(Msg::NotRun(ticket.expect("a run"), Box::new(problem)), now_ms)
}

/// Answers the requested plan.
fn planned(app: &mut App, acts: Vec<Act>, now: &Plan) {
    answer(app, acts, &|request| match request {
        Request::Plan(of) => {
            assert_eq!((&of.action, &of.files.seen), (&Action::Edit { entry: FIRST.to_owned() }, &None));
            Some(Reply::Plan(now.clone()))
        }
        _ => None,
    });
}

/// The sent run.
fn sent(acts: &[Act]) -> Option<&Run> {
    acts.iter().find_map(|act| match act {
        Act::Run(_, run) => Some(&**run),
        _ => None,
    })
}

#[test]
fn stale_edit_is_planned_again_and_sent_with_the_new_head() {
    let mut app = editing();
    let acts = refused(&mut app, NOW_MS + LATER);
    let waits = press(&mut app, "enter", NOW_MS + 2 * LATER);
    assert!(sent(&waits).is_none() && shown(&mut app).contains("is being made again"), "{}", shown(&mut app));
    planned(&mut app, acts, &Plan { head: "3.14".into(), ..with_files() });
    let seen = screen(120, 20, |frame| app.draw(frame));
    assert!(seen.contains("nothing was sent: Enter sends now and takes back 1 turn, 3 files"), "{seen}");
    assert!(
        seen.contains("sending takes back 1 turn, 3 files") && seen.contains("› what is 6 times 7?"),
        "{seen}"
    );
    let acts = press(&mut app, "enter", NOW_MS + 3 * LATER);
    let run = sent(&acts).expect("it is sent");
    assert_eq!((run.head.as_deref(), run.files.seen.as_deref()), (Some("3.14"), Some("d1")));
    assert!(
        matches!(&run.start, RunStart::Edit { parts, .. } if parts == &[Part::text("what is 6 times 7?")])
    );
}

#[test]
fn conflict_that_appears_during_an_edit_is_resolved_and_the_text_stays() {
    let mut app = editing();
    drop(press(&mut app, "!", NOW_MS + LATER));
    let acts = refused(&mut app, NOW_MS + 2 * LATER);
    planned(&mut app, acts, &with_conflict());
    let acts = app.on(Msg::Tick, NOW_MS + 3 * LATER);
    assert_eq!(app.context(), Context::Confirm);
    planned(&mut app, acts, &with_files());
    let takes = PaneInstruction::Rewrite {
        entry: FIRST.to_owned(),
        head: "3.14".into(),
        parts: vec![Part::text("what is 6 times 7?")],
        files: Default::default(),
        takes_back: "1 turn".into(),
    };
    app.want(TabId(1), takes);
    assert_eq!(app.tab().composer.text(), "what is 6 times 7?!", "the new words");
}
