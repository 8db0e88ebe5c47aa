//! Conversations on the screen, and that no more of them is laid out.

mod bar;
mod cards;
mod found;
mod greeting;

use proptest::prelude::*;
use retake_wire::reply::{Entry, EntryFlags, EntryPlace, Words};
use retake_wire::{
    AskCause, CallNow, CallShown, EffectClass, Part, PendingApproval, Question, Role, Rule, Ruling, Usage,
};

use super::View;
use crate::ui::keymap::{Command, Keymap};
use crate::ui::talk::{LiveAnswer, LiveCall, LoadedConversation, Note, Tone, Until};
use crate::ui::testing::{NOW_MS, THEMES, brush, screen, styled};
use crate::ui::theme::Theme;

fn entry(number: u64, role: Role, parts: Vec<Part>) -> Entry {
    Entry {
        id: format!("e{number}"),
        place: EntryPlace {
            seq: number,
            depth: 0,
            turn: if number < 1_000 { 3 } else { number },
            opens_turn: role == Role::User,
        },
        role,
        author: String::new(),
        time_ms: NOW_MS - 600_000,
        mark: retake_wire::Mark::Normal,
        fold: None,
        label: None,
        flags: EntryFlags::default(),
        alternative: None,
        parts,
        usage: None,
        took_ms: None,
        platform_id: None,
        origin: None,
    }
}

fn call(id: &str, name: &str, arguments: &str) -> Part {
    Part::ToolCall { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_owned(), sent: None }
}

fn result(number: u64, id: &str, content: &str, failed: bool) -> Entry {
    let part = Part::ToolResult { call: id.to_owned(), content: content.to_owned(), failed };
    entry(number, Role::Tool, vec![part])
}

fn user(number: u64, text: &str) -> Entry {
    entry(number, Role::User, vec![Part::text(text)])
}

fn answer(number: u64, text: &str) -> Entry {
    entry(number, Role::Assistant, vec![Part::text(text)])
}

/// A conversation with all kinds of entries.
fn rich() -> LoadedConversation {
    let reasoning = Part::Reasoning { text: "It may be\nthe port.".to_owned(), signature: None };
    let edit =
        r#"{"path":"src/main.rs","edits":[{"old":"fn a() {\n    one\n}","new":"fn a() {\n    two\n}"}]}"#;
    let todo = r#"{"items":[{"text":"look","state":"done"},{"text":"mend it","state":"doing"},{"text":"test","state":"pending"}]}"#;
    let mut work = entry(
        2,
        Role::Assistant,
        vec![
            reasoning,
            Part::text("I look at **it** first."),
            call("c1", "read", r#"{"path":"src/main.rs"}"#),
            call("c2", "edit", edit),
            call("c3", "shell", r#"{"command":"cargo test"}"#),
            call("c4", "fetch", r#"{"url":"https://example.org"}"#),
            call("c5", "todo", todo),
        ],
    );
    work.flags.interrupted = true;
    let printed: String = (1..=9).map(|number| format!("\x1b[32mtest {number}\x1b[0m ok\n")).collect();
    let mut shell = result(5, "c3", &printed, false);
    shell.time_ms += 12_000;
    let mut last = answer(8, "# Done\n\n- it **works**\n- see `main`");
    last.usage = Some(Usage { input_tokens: Some(1_200), output_tokens: Some(34), ..Usage::default() });
    last.alternative = Some((2, 3));
    last.label = Some("good".to_owned());
    let mut hidden = user(9, "not for the model");
    hidden.mark = retake_wire::Mark::Excluded;
    hidden.parts.push(Part::Image { media_type: "image/png".to_owned(), data: None, url: None });
    LoadedConversation {
        entries: vec![
            user(1, "mend the server,\nplease"),
            work,
            result(3, "c1", "one\ntwo\nthree\n", false),
            result(4, "c2", "edited src/main.rs: 1 place", false),
            shell,
            result(6, "c4", "cannot fetch: no network", true),
            result(7, "c5", "[x] look", false),
            last,
            hidden,
        ],
        ..LoadedConversation::default()
    }
}

/// A run with output, an approval request and a question.
fn busy() -> LoadedConversation {
    let shown = |call: &str, line: &str, detail: Option<&str>| CallShown {
        call: call.to_owned(),
        tool: "shell".to_owned(),
        line: line.to_owned(),
        class: EffectClass::External,
        detail: detail.map(str::to_owned),
    };
    let rule =
        |what: &str| Rule { ruling: Ruling::Allow, tool: "shell".to_owned(), what: Some(what.to_owned()) };
    let live = LiveAnswer {
        model: Some("acme/large".to_owned()),
        since_ms: NOW_MS - 12_000,
        text: "Now I *push*".to_owned(),
        reasoning: "hm".to_owned(),
        calls: vec![LiveCall {
            now: CallNow {
                call: shown("c8", "$ cargo build", None),
                printed: "one\ntwo\n".to_owned(),
                began_ms: None,
            },
            since_ms: NOW_MS - 3_000,
        }],
        asked_ms: [("a1".to_owned(), NOW_MS - 75_000)].into(),
        asks: vec![PendingApproval {
            id: "a1".to_owned(),
            call: shown("c9", "$ git push", Some("@@ -1 +1 @@\n-old\n+new")),
            cause: AskCause::Network,
            why: String::new(),
            again_ms: Some(NOW_MS - 120_000),
            offers: vec![rule("git push"), rule("git")],
        }],
        questions: vec![Question {
            id: "q1".to_owned(),
            question: "Which one?".to_owned(),
            choices: vec!["first".to_owned(), "second".to_owned()],
        }],
        notice: Some("asked again in 2 s".to_owned()),
    };
    let words = Words { parts: vec![Part::text("and then stop")], author: String::new(), time_ms: NOW_MS };
    LoadedConversation {
        entries: vec![user(1, "push it")],
        live: Some(live),
        waiting: vec![words],
        notes: vec![Note {
            text: "rewound to before t3: Alt+U takes it back".into(),
            tone: Tone::Done,
            until: Until::Entry,
        }],
        ..LoadedConversation::default()
    }
}

fn drawn(view: &mut View, talk: &LoadedConversation, size: (u16, u16)) -> String {
    let keys = Keymap::default();
    screen(size.0, size.1, |frame| view.draw(frame, frame.area(), talk, &brush(THEMES[0], &keys)))
}

fn looks(talk: &LoadedConversation, size: (u16, u16), theme: Theme) -> String {
    let keys = Keymap::default();
    let mut view = View::default();
    styled(size.0, size.1, |frame| view.draw(frame, frame.area(), talk, &brush(theme, &keys)))
}

#[test]
fn a_conversation() {
    insta::assert_snapshot!(drawn(&mut View::default(), &rich(), (60, 44)));
    insta::assert_snapshot!(drawn(&mut View::default(), &rich(), (24, 12)));
    insta::assert_snapshot!(drawn(&mut View::default(), &rich(), (80, 24)));
    insta::assert_snapshot!(drawn(&mut View::default(), &rich(), (140, 40)));
}

#[test]
fn a_conversation_in_colours() {
    crate::ui::doc::warm("rust");
    for (theme, name) in THEMES.into_iter().zip(["none", "dark", "light"]) {
        insta::assert_snapshot!(format!("colours_{name}"), looks(&rich(), (50, 34), theme));
    }
}

#[test]
fn a_run_at_work() {
    insta::assert_snapshot!(drawn(&mut View::default(), &busy(), (70, 44)));
    insta::assert_snapshot!(drawn(&mut View::default(), &busy(), (32, 12)));
}

#[test]
fn old_todo_list_is_one_line_until_a_run_may_continue_it() {
    let mut talk = rich();
    let seen = |talk: &LoadedConversation| {
        let shown = drawn(&mut View::default(), talk, (60, 50));
        let line = shown.lines().find(|line| line.contains("to do: 1 of 3 done")).map(str::to_owned);
        line.map(|line| line.contains(" · next: "))
    };
    assert_eq!(seen(&talk), Some(false), "all of it");
    talk.entries.push(user(1_000, "something else"));
    assert_eq!(seen(&talk), Some(true), "a line, as long as something is open");
    talk.live = Some(LiveAnswer::default());
    assert_eq!(seen(&talk), Some(false));
    talk.live = None;
    talk.entries.clear();
    assert_eq!(seen(&talk), None);
}

#[test]
fn whole_message_is_shown_on_request() {
    let mut view = View::default();
    let talk = rich();
    view.command(Command::Reasoning, &talk);
    view.command(Command::Output, &talk);
    insta::assert_snapshot!(drawn(&mut view, &talk, (60, 50)));
}

#[test]
fn messages_are_selected() {
    let (mut view, talk) = (View::default(), rich());
    drawn(&mut view, &talk, (40, 16));
    let mut seen = Vec::new();
    for command in
        [Command::Select, Command::SelectUp, Command::SelectUp, Command::SelectUp, Command::SelectUp]
    {
        assert!(view.command(command, &talk));
        seen.push(view.selected().unwrap_or_default().to_owned());
    }
    assert_eq!(seen, ["e9", "e8", "e2", "e1", "e1"], "results stand in the cards of their calls");
    insta::assert_snapshot!(drawn(&mut view, &talk, (40, 10)));
    view.command(Command::SelectDown, &talk);
    insta::assert_snapshot!(drawn(&mut view, &talk, (40, 10)));
    view.command(Command::SelectOpen, &talk);
    assert!(drawn(&mut view, &talk, (40, 16)).contains("It may be"), "all of it is shown");
    view.command(Command::SelectLeave, &talk);
    assert_eq!(view.selected(), None);
    assert!(view.click(0) && view.selected().is_some());
}

#[test]
fn entry_is_copied_with_its_results() {
    let (view, talk) = (View::default(), rich());
    assert_eq!(view.text_of("e8", &talk), "# Done\n\n- it **works**\n- see `main`");
    assert!(view.text_of("e2", &talk).contains("cannot fetch: no network"));
}

fn long(count: u64) -> LoadedConversation {
    let pair = |at: u64| {
        [user(2 * at, &format!("question {at}")), answer(2 * at + 1, &format!("Answer *{at}*.\n\nMore."))]
    };
    LoadedConversation { entries: (0..count / 2).flat_map(pair).collect(), ..LoadedConversation::default() }
}

#[test]
fn only_what_is_near_the_screen_is_laid_out() {
    const ROWS: u16 = 40;
    let mut talk = long(10_000);
    let mut view = View::default();
    let laid = |view: &mut View, talk: &LoadedConversation, what: &str| {
        let before = view.cache.count;
        drawn(view, talk, (80, ROWS));
        let count = view.cache.count - before;
        assert!(count <= 2 * usize::from(ROWS), "{what}: {count}");
        count
    };
    laid(&mut view, &talk, "first");
    assert_eq!(laid(&mut view, &talk, "again"), 0);
    talk.live = Some(LiveAnswer::default());
    for _ in 0..100 {
        talk.live.as_mut().expect("it runs").text.push_str("word after word\n\n");
        talk.version += 1;
        assert_eq!(laid(&mut view, &talk, "streaming"), 0);
    }
    talk.live = None;
    for command in
        [Command::ScrollUp, Command::ScrollTop, Command::ScrollDown, Command::ScrollEnd, Command::Reasoning]
    {
        view.command(command, &talk);
        laid(&mut view, &talk, "scrolling");
    }
    view.find("question 17", &talk);
    laid(&mut view, &talk, "finding");
    for _ in 0..50 {
        view.command(Command::ScrollUp, &talk);
        laid(&mut view, &talk, "page after page");
    }
    assert!(view.cache.len() <= 500, "what is far away is let go: {}", view.cache.len());
}

#[test]
fn text_being_read_stays_in_its_place() {
    let mut talk = long(200);
    talk.earlier = true;
    let mut view = View::default();
    drawn(&mut view, &talk, (60, 12));
    assert!(!view.needs_earlier());
    for _ in 0..8 {
        view.command(Command::ScrollUp, &talk);
    }
    view.scroll(1);
    let before = drawn(&mut view, &talk, (60, 12));
    talk.entries.push(answer(9_999, "something new"));
    let after = drawn(&mut view, &talk, (60, 12));
    let without_last = |text: &str| {
        text.lines().take(11).map(|line| line.trim_end_matches(['▐', ' ']).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(without_last(&before), without_last(&after));
    assert!(after.contains("↓ new · Ctrl+End"), "{after}");
    let mut older = long(100).entries;
    older.iter_mut().for_each(|entry| entry.id.insert(0, 'y'));
    talk.loaded(older, true);
    assert_eq!(without_last(&after), without_last(&drawn(&mut view, &talk, (60, 12))));
    view.command(Command::ScrollTop, &talk);
    drawn(&mut view, &talk, (60, 12));
    assert!(view.needs_earlier());
    let mut more = long(100).entries;
    more.iter_mut().for_each(|entry| entry.id.insert(0, 'x'));
    talk.loaded(more, false);
    let loaded = drawn(&mut view, &talk, (60, 12));
    assert!(loaded.starts_with("┃ question 0"), "the way to the beginning goes on: {loaded}");
    assert!(!view.needs_earlier());
    view.to_end();
    assert!(drawn(&mut view, &talk, (60, 12)).contains("something new"));
}

#[test]
fn streamed_answer_stays_in_place_when_it_is_stored() {
    let mut talk = long(20);
    let text: String = (0..60).map(|line| format!("Line {line}.\n\n")).collect();
    talk.live = Some(LiveAnswer { text: text.clone(), ..LiveAnswer::default() });
    let mut view = View::default();
    drawn(&mut view, &talk, (60, 12));
    view.scroll(-40);
    let before = drawn(&mut view, &talk, (60, 12));
    talk.live = None;
    talk.entries.push(answer(9_999, &text));
    let after = drawn(&mut view, &talk, (60, 12));
    let first =
        |text: &str| text.lines().find(|line| line.contains("Line")).map(|line| line.replace('▐', ""));
    assert_eq!(
        first(&before).map(|line| line.trim().to_owned()),
        first(&after).map(|line| line.trim().to_owned())
    );
}

#[test]
fn words_are_found() {
    let (mut view, talk) = (View::default(), long(200));
    drawn(&mut view, &talk, (60, 12));
    view.find("question 1", &talk);
    assert_eq!(view.found().as_deref(), Some("1 of 11"), "the newest is the first");
    assert!(drawn(&mut view, &talk, (60, 12)).contains("question 19"));
    view.command(Command::FindNext, &talk);
    assert!(drawn(&mut view, &talk, (60, 12)).contains("question 18"));
    view.command(Command::FindPrevious, &talk);
    view.command(Command::FindPrevious, &talk);
    assert_eq!(view.found().as_deref(), Some("11 of 11"));
    view.find("nowhere", &talk);
    assert_eq!(view.found().as_deref(), Some("nothing found"));
    view.command(Command::FindLeave, &talk);
    assert_eq!(view.found(), None);
}

#[test]
fn folded_text_is_found_too() {
    let (mut view, talk) = (View::default(), rich());
    assert!(!drawn(&mut view, &talk, (60, 20)).contains("test 2 ok"));
    view.find("test 2", &talk);
    assert!(drawn(&mut view, &talk, (60, 20)).contains("test 2 ok"));
}

fn anything() -> impl Strategy<Value = String> {
    let piece = proptest::sample::select(vec![
        "\x1b[2J",
        "\x1b]0;x\x07",
        "\r",
        "\n",
        "\t",
        "漢字",
        "👩‍👩‍👧",
        "مرحبا",
        "\u{202e}",
        "```\n",
        "- ",
        "word ",
        "&#27;",
        "| a | b |\n|-|-|\n",
    ]);
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn untrusted_text_is_never_interpreted_by_the_terminal(text in anything(), width in 1u16..50, height in 1u16..20) {
        let mut talk = rich();
        for entry in &mut talk.entries {
            for part in &mut entry.parts {
                match part {
                    Part::Text { text: said } | Part::Reasoning { text: said, .. } => said.clone_from(&text),
                    Part::ToolCall { name, arguments, .. } if name == "shell" => arguments.clone_from(&text),
                    Part::ToolResult { content, .. } => content.clone_from(&text),
                    _ => {}
                }
            }
            entry.label = Some(text.clone());
        }
        talk.live = busy().live;
        let live = talk.live.as_mut().expect("it runs");
        live.text.clone_from(&text);
        live.asks[0].call.line.clone_from(&text);
        live.asks[0].call.detail = Some(text.clone());
        live.questions[0].choices[0].clone_from(&text);
        live.calls[0].now.printed.clone_from(&text);
        let mut view = View::default();
        for command in [Command::Output, Command::ScrollTop, Command::Select, Command::ScrollUp] {
            let seen = drawn(&mut view, &talk, (width, height));
            prop_assert!(!seen.contains(|c| c != '\n' && crate::text::safe::acts_on_terminal(c)), "{seen:?}");
            view.command(command, &talk);
        }
    }
}

#[test]
fn long_words_of_a_person_are_folded() {
    let many: String = (0..200).map(|line| format!("line {line}\n")).collect();
    let talk = LoadedConversation {
        entries: vec![user(1, &many), user(2, &"x".repeat(100_000))],
        ..LoadedConversation::default()
    };
    let mut view = View::default();
    insta::assert_snapshot!(drawn(&mut view, &talk, (40, 60)));
    view.command(Command::SelectFirst, &talk);
    view.command(Command::SelectOpen, &talk);
    assert!(drawn(&mut view, &talk, (40, 210)).contains("line 199"));
}

fn commands() -> impl Strategy<Value = Vec<(Command, u16, u16, u8)>> {
    let command = proptest::sample::select(vec![
        Command::ScrollUp,
        Command::ScrollDown,
        Command::ScrollTop,
        Command::ScrollEnd,
        Command::Reasoning,
        Command::Output,
        Command::Select,
        Command::SelectUp,
        Command::SelectPageUp,
        Command::SelectPageDown,
        Command::SelectFirst,
        Command::SelectLast,
        Command::SelectOpen,
        Command::FindNext,
        Command::FindPrevious,
    ]);
    proptest::collection::vec((command, 1u16..60, 1u16..20, 0u8..6), 1..30)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn end_is_reachable_after_any_sequence_of_keys(steps in commands()) {
        let mut talk = rich();
        talk.entries.extend(long(60).entries.into_iter().skip(20));
        let mut view = View::default();
        for (command, width, height, change) in steps {
            view.command(command, &talk);
            match change {
                0 => talk.entries.truncate(talk.entries.len() / 2),
                1 => talk.entries.push(answer(1_000 + u64::from(width), "and more")),
                2 => talk.live = busy().live,
                3 => talk.live = None,
                4 => view.find("o", &talk),
                _ => view.scroll(i32::from(height) - 10),
            }
            drawn(&mut view, &talk, (width, height));
            let selected = view.selected().map(str::to_owned);
            prop_assert!(selected.is_none_or(|id| id.starts_with('e')));
        }
        talk.live = None;
        talk.entries.push(answer(5_000, "the very last"));
        view.deselect();
        view.command(Command::ScrollEnd, &talk);
        prop_assert!(drawn(&mut view, &talk, (60, 20)).contains("the very last"));
    }
}
