//! Cards of calls that wait, that ran, and that were interrupted.

use retake_wire::{CallEnded, Event, NumberedEvent, RunEvent};

use super::*;

const LINE: &str = r#"{"path":"a.txt","content":"hello\n"}"#;

/// An answer with a call, as the owner sends it.
fn writing() -> LoadedConversation {
    let asked = entry(2, Role::Assistant, vec![call("toolu_1", "write", LINE)]);
    LoadedConversation { entries: vec![user(1, "write it"), asked], ..LoadedConversation::default() }
}

fn shown() -> CallShown {
    CallShown {
        call: "e2-1".to_owned(),
        tool: "write".to_owned(),
        line: "write a.txt".to_owned(),
        class: EffectClass::Workspace,
        detail: Some("--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+hello\n".to_owned()),
    }
}

fn tell(talk: &mut LoadedConversation, said: RunEvent, seconds: i64) {
    talk.told(NumberedEvent { id: None, event: Event::Run { said } }, NOW_MS + seconds * 1_000);
}

fn ask(talk: &mut LoadedConversation) {
    tell(talk, RunEvent::Started { receipt: None, model: "demo".to_owned() }, 0);
    let (cause, why) = (AskCause::Writes, String::new());
    let asks = PendingApproval {
        id: "a1".to_owned(),
        call: shown(),
        cause,
        why,
        again_ms: None,
        offers: Vec::new(),
    };
    tell(talk, RunEvent::Asks(Box::new(asks)), 0);
}

fn at(talk: &LoadedConversation, seconds: i64) -> String {
    let keys = Keymap::default();
    let brush = crate::ui::pane::PaneContext { now_ms: NOW_MS + seconds * 1_000, ..brush(THEMES[0], &keys) };
    screen(70, 24, |frame| View::default().draw(frame, frame.area(), talk, &brush))
}

#[test]
fn call_that_waits_for_an_approval_is_shown_once() {
    let mut talk = writing();
    ask(&mut talk);
    let seen = at(&talk, 1);
    assert_eq!(seen.matches("+hello").count(), 1, "{seen}");
    assert_eq!(seen.matches("write a.txt").count(), 1, "{seen}");
}

#[test]
fn card_shows_waiting_time_and_working_time() {
    let mut talk = writing();
    ask(&mut talk);
    assert!(!at(&talk, 5).contains("waits for 5"), "nobody is hurried");
    assert!(at(&talk, 61).contains("may it run? · waits for 1 min"), "{}", at(&talk, 61));
    tell(&mut talk, RunEvent::Settled { id: "a1".to_owned() }, 100);
    tell(&mut talk, RunEvent::Calling(shown()), 100);
    let ended = CallEnded {
        call: "e2-1".to_owned(),
        failed: false,
        shown: String::new(),
        not_run: None,
        changed: 1,
        entry: "e3".to_owned(),
    };
    tell(&mut talk, RunEvent::Called(ended), 103);
    let mut came = result(3, "toolu_1", "wrote a.txt", false);
    came.time_ms = NOW_MS + 103_000;
    came.took_ms = Some(3_000);
    talk.entries.push(came);
    assert!(at(&talk, 104).contains("write a.txt · took 3 s"), "{}", at(&talk, 104));
    let mut later = LoadedConversation { entries: talk.entries.clone(), ..LoadedConversation::default() };
    assert!(
        at(&later, 104).contains("write a.txt · took 3 s"),
        "the same to who comes later: {}",
        at(&later, 104)
    );
    later.entries[2].took_ms = None;
    assert!(!at(&later, 104).contains("write a.txt ·"), "what is not known is not said");
}

#[test]
fn an_edit_shows_whole_lines_and_where_they_are() {
    let given = r#"{"path":"src/main.py","edits":[{"old":"hi","new":"ho"}]}"#;
    let hunk = "@@ -1,3 +1,3 @@\n one\n-print(\"hi\")\n+print(\"ho\")\n three";
    let came = |content: &str| LoadedConversation {
        entries: vec![
            entry(1, Role::Assistant, vec![call("c", "edit", given)]),
            result(2, "c", content, false),
        ],
        ..LoadedConversation::default()
    };
    let shown = at(&came(&format!("edited src/main.py: 1 place\n{hunk}")), 1);
    for line in hunk.lines() {
        assert!(shown.contains(line), "{line} in {shown}");
    }
    assert!(!shown.contains("-hi"), "{shown}");
    assert!(at(&came("edited src/main.py: 1 place"), 1).contains("-hi"), "as it was stored before");
}

#[test]
fn a_call_that_was_cut_off_says_what_to_do() {
    let mut talk = writing();
    ask(&mut talk);
    talk.live = None;
    insta::assert_snapshot!("cut_while_asked", at(&talk, 1));
    insta::assert_snapshot!("cut_before", at(&writing(), 1));
    let mut talk = writing();
    tell(&mut talk, RunEvent::Started { receipt: None, model: "demo".to_owned() }, 0);
    tell(&mut talk, RunEvent::Calling(shown()), 0);
    talk.live = None;
    assert!(at(&talk, 1).contains("it may have run"), "nobody says that nothing has changed");
    let mut gone_on = writing();
    gone_on.entries.push(user(3, "never mind"));
    assert!(at(&gone_on, 1).contains("no result"));
}

/// An approval request for a command, as a window shows it.
fn asked_about(call: CallShown, view: &mut View, size: (u16, u16)) -> String {
    let mut talk = LoadedConversation { entries: vec![user(1, "do it")], ..LoadedConversation::default() };
    tell(&mut talk, RunEvent::Started { receipt: None, model: "demo".to_owned() }, 0);
    let (cause, why) = (AskCause::Command, String::new());
    let asks = PendingApproval { id: "a1".to_owned(), call, cause, why, again_ms: None, offers: Vec::new() };
    tell(&mut talk, RunEvent::Asks(Box::new(asks)), 0);
    drawn(view, &talk, size)
}

fn command(line: String, detail: Option<String>) -> CallShown {
    CallShown { tool: "shell".to_owned(), line, detail, class: EffectClass::External, ..shown() }
}

#[test]
fn approval_request_shows_the_whole_call() {
    let long = format!("$ echo {}; echo {}; rm -rf d; echo \u{1b}[2J ok", "a".repeat(80), "b".repeat(90));
    for width in [40, 80, 100] {
        let mut view = View::default();
        let seen = asked_about(command(long.clone(), None), &mut view, (width, 40));
        let all: String = seen.split_whitespace().collect();
        let asked: String = long.replace('\u{1b}', "␛").split_whitespace().collect();
        // Lines broken within words have only the margin between them.
        assert!(all.contains(&asked), "{width}: {seen}");
        assert!(seen.contains("may it run?") && !view.hides_asked(), "{width}: {seen}");
    }
    // Text that a carriage return would overwrite is shown.
    let hidden = command("$ sh …".to_owned(), Some("rm -rf d\recho fine\n\u{1b}[8mecho too".to_owned()));
    let seen = asked_about(hidden, &mut View::default(), (80, 30));
    assert!(seen.contains("rm -rf d") && seen.contains("[8mecho too"), "{seen}");
}

#[test]
fn long_request_is_folded_in_its_middle_until_it_is_unfolded() {
    let lines = |sign: &str| (1..=150).map(|at| format!("{sign}line {at}\n")).collect::<String>();
    let diff = format!("--- /dev/null\n+++ b/a\n@@ -0,0 +1,150 @@\n{}", lines("+"));
    let one = (1..=150).map(|at| format!("echo line {at} ;")).collect::<String>();
    for call in [
        command("$ echo line 1 …".to_owned(), Some(lines("echo "))),
        command(format!("$ {one}"), None),
        CallShown { detail: Some(diff), ..shown() },
    ] {
        let mut view = View::default();
        let seen = asked_about(call.clone(), &mut view, (60, 24));
        assert!(
            seen.contains("more lines: Space shows them, then y Enter allows") && view.hides_asked(),
            "{seen}"
        );
        assert!(seen.contains("may it run?") && seen.contains("line 150"), "{seen}");
        assert!(!seen.contains("line 75"), "{seen}");
        assert!(view.command(Command::Output, &LoadedConversation::default()));
        let seen = asked_about(call, &mut view, (60, 400));
        assert!(seen.contains("line 75") && seen.contains("line 150") && !view.hides_asked(), "{seen}");
        assert!(!seen.contains("more line"), "{seen}");
    }
}

/// It is in the conversation for the agent: a person sees one line of it.
#[test]
fn message_of_a_program_is_one_dim_line() {
    let mut talk = LoadedConversation::default();
    let mut note =
        entry(2, Role::System, vec![Part::text("Files have changed.\nChanged: a\nRead them again.")]);
    note.flags.synthetic = true;
    talk.entries = vec![user(1, "hello"), note, answer(3, "Hello.")];
    let mut view = View::default();
    let shown = drawn(&mut view, &talk, (72, 12));
    let said = "said by a program: Files have changed. … Alt+Up Enter shows";
    assert!(shown.contains(said), "{shown}");
    assert!(!shown.contains("Read them again") && !shown.contains("system"), "{shown}");
}

#[test]
fn an_unfolded_edit_shows_all_lines_that_the_call_has() {
    let lines = |word: &str, sign: &str, count| -> String {
        (0..count).map(|number| format!("{sign}{word} {number}\n")).collect()
    };
    let edits = [serde_json::json!({"old": lines("old", "", 60), "new": lines("new", "", 60)})];
    let arguments = serde_json::json!({"path": "a.txt", "edits": edits}).to_string();
    let hunks = format!("@@ -1,60 +1,60 @@\n{}", lines("old", "-", 39));
    let content = format!("edited a.txt\n{hunks}[81 more lines not shown]\n");
    let talk = |arguments: &str| LoadedConversation {
        entries: vec![
            user(1, "edit it"),
            entry(2, Role::Assistant, vec![call("c1", "edit", arguments)]),
            result(3, "c1", &content, false),
        ],
        ..LoadedConversation::default()
    };
    let both = |talk: &LoadedConversation| {
        let mut view = View::default();
        let folded = drawn(&mut view, talk, (90, 160));
        view.command(Command::Output, talk);
        (folded, drawn(&mut view, talk, (90, 160)))
    };
    let (folded, open) = both(&talk(&arguments));
    assert!(folded.contains("… 105 more lines, Alt+E shows"), "{folded}");
    assert!(open.contains("new 59") && !open.contains("more lines"), "{open}");
    let (_, open) = both(&talk("{}"));
    assert!(open.contains("… 81 more lines: /diff compares the files"), "{open}");
}
