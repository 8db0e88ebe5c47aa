//! The UI as a whole: every key where it is valid, and the content of the screen.

mod asked;
mod carried;
mod context;
mod drafts;
mod editing;
mod every_key;
mod granted;
mod model;
mod once_more;
mod opening;
mod quoting;
mod retrying;
mod small;
mod subagents;
mod told;
mod typed;
mod ways;

use retake_wire::reply::{
    Branch, Counts, Entries, Line, Operation, Operations, Permissions, Plan, Receipt, TimelineChange,
    TimelinePlan, Tree,
};
use retake_wire::{
    AskCause, CallShown, EffectClass, Event, MessageName, NumberedEvent, OpSummary, PendingApproval,
    PlannedStep, Reply, Request, Role, Rule, Ruling, RunEvent, Snapshot,
};

use super::{App, Start, StartInfo};
use crate::ui::Settings;
use crate::ui::keymap::{Command, Context, Key, Keymap, TABLE};
use crate::ui::msg::{Act, Msg, PaneInstruction, TabId};
use crate::ui::testing::{NOW_MS, THEMES, conversation, entries, screen, styled};
use crate::ui::theme::Theme;

/// Longer than anything that the UI waits for.
const LATER: i64 = 5_000;

fn app(theme: Theme) -> App {
    let known = StartInfo { folder: "/work".into(), version: "1.2.3".into(), model: Some("demo".into()) };
    let mut app = App::new(known, Start::New, Settings::default(), Keymap::default(), theme, NOW_MS);
    drop(app.begin());
    app
}

/// In a conversation of two turns.
fn talking(theme: Theme) -> App {
    let mut app = app(theme);
    tell(&mut app, Event::Snapshot(Box::new(snapshot())), Some("3"));
    app
}

fn snapshot() -> Snapshot {
    let said = [
        (Role::User, "what is 6 times 7?"),
        (Role::Assistant, "**42**, as everybody knows."),
        (Role::User, "and `7 * 6`?"),
        (Role::Assistant, "The same."),
    ];
    let Reply::Entries(Entries { entries, .. }) = entries("0199a000-c", &said) else { panic!("entries") };
    Snapshot {
        conversation: conversation("0199a000-c", Some("Sums"), "what is 6 times 7?", 1),
        entries,
        earlier: false,
        running: false,
        waiting: Vec::new(),
        permissions: Permissions::default(),
        drafts: Vec::new(),
        unbegun: Vec::new(),
        cut_off: Vec::new(),
    }
}

fn tell(app: &mut App, event: Event, id: Option<&str>) {
    let told = NumberedEvent { id: id.map(str::to_owned), event };
    drop(app.on(Msg::Told(Some(TabId(1)), Box::new(told)), NOW_MS));
}

/// With an approval request for a call.
fn asked(theme: Theme) -> App {
    let mut app = talking(theme);
    let model = "demo".to_owned();
    tell(&mut app, Event::Run { said: RunEvent::Started { receipt: None, model } }, None);
    ask(&mut app, "a1");
    app
}

/// Requests approval to write a file.
fn ask(app: &mut App, id: &str) {
    let offers = vec![Rule { ruling: Ruling::Allow, tool: "write".into(), what: Some("**".into()) }];
    ask_with(app, id, "write", offers);
}

fn ask_with(app: &mut App, id: &str, tool: &str, offers: Vec<Rule>) {
    let call = CallShown {
        call: "c1".into(),
        tool: tool.into(),
        line: format!("{tool} notes.md"),
        class: EffectClass::Workspace,
        detail: Some("--- /dev/null\n+++ b/notes.md\n@@ -0,0 +1 @@\n+buy milk\n".into()),
    };
    let asks = PendingApproval {
        id: id.into(),
        call,
        cause: AskCause::Writes,
        why: String::new(),
        again_ms: None,
        offers,
    };
    tell(app, Event::Run { said: RunEvent::Asks(Box::new(asks)) }, None);
}

fn press(app: &mut App, key: &str, now_ms: i64) -> Vec<Act> {
    let key: Key = key.parse().expect("a key");
    app.on(Msg::Key(key.event()), now_ms)
}

/// The UI in a place where these keys are valid.
fn in_place(context: Context) -> App {
    let theme = Theme::default();
    let mut app = match context {
        Context::Asked | Context::Grant => asked(theme),
        _ => talking(theme),
    };
    let key = match context {
        Context::Select => "alt+up",
        Context::Find => "ctrl+f",
        Context::Grant => "alt+a",
        _ => return app,
    };
    drop(screen(80, 24, |frame| app.draw(frame)));
    drop(press(&mut app, key, NOW_MS + LATER));
    app
}

#[test]
fn reason_for_a_missing_owner_is_shown_if_known() {
    let mut app = talking(Theme::default());
    let mut shown = |code: &str| {
        let problem = retake_wire::Problem {
            code: code.into(),
            kind: retake_wire::ProblemKind::Storage,
            message: "the data were moved".into(),
            ..retake_wire::Problem::default()
        };
        drop(app.on(Msg::Lost(Some(TabId(1)), Some(Box::new(problem))), NOW_MS));
        screen(120, 12, |frame| app.draw(frame))
    };
    assert!(shown("owner_away").contains("the owner is gone, connecting again"));
    let screen = shown("data_moved");
    assert!(screen.contains("the data were moved") && !screen.contains("connecting again"), "{screen}");
}

#[test]
fn every_typed_command_is_handled() {
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
        drop(app.on(Msg::Tick, NOW_MS + LATER + 450));
        shots.push_str(&styled(80, 24, |frame| app.draw(frame)));
    }
    insta::assert_snapshot!("in_every_theme", shots);
}

/// The screen, with its styles.
fn looks(app: &mut App) -> String {
    styled(120, 12, |frame| app.draw(frame))
}

#[test]
fn tried_theme_is_kept_or_reverted() {
    let mut app = talking(THEMES[1]);
    let dark = looks(&mut app);
    app.command(Command::Theme, "");
    drop(press(&mut app, "down", NOW_MS + LATER));
    drop(press(&mut app, "down", NOW_MS + LATER));
    drop(press(&mut app, "down", NOW_MS + LATER));
    assert_eq!(app.looks.theme.chosen.map(|paints| paints.name()), Some("light"));
    drop(press(&mut app, "esc", NOW_MS + LATER));
    assert_eq!(looks(&mut app), dark, "what was tried is left");
    app.command(Command::Theme, "");
    drop(press(&mut app, "down", NOW_MS + LATER));
    let acts = press(&mut app, "enter", NOW_MS + LATER);
    assert!(matches!(&acts[..], [Act::Keep(name)] if name == "terminal"), "{acts:?}");
    assert_ne!(looks(&mut app), dark);
    drop(app.on(Msg::Kept("terminal".into(), Err("the disk is full".into())), NOW_MS));
    assert!(looks(&mut app).contains("the disk is full"));
}

#[test]
fn a_theme_has_a_name_and_needs_colours() {
    let mut app = talking(THEMES[1]);
    app.command(Command::Theme, "pink");
    let screen = looks(&mut app);
    assert!(screen.contains("there is no theme “pink”: there are auto, terminal"), "{screen}");
    app.command(Command::Theme, "paper");
    assert_eq!(app.looks.theme.chosen.map(|paints| paints.name()), Some("paper"));
    let mut app = talking(THEMES[0]);
    app.command(Command::Theme, "");
    assert!(app.tab().panes.front.is_none());
    let screen = looks(&mut app);
    assert!(screen.contains("colours are turned off"), "{screen}");
}

#[test]
fn the_ui_takes_the_background_that_the_terminal_has() {
    let mut dark = talking(THEMES[1]);
    let mut light = talking(THEMES[2]);
    let (before, after) = (looks(&mut dark), looks(&mut light));
    assert_ne!(before, after);
    drop(dark.on(Msg::Background(crate::ui::Background::Light), NOW_MS));
    assert_eq!(looks(&mut dark), after);
}

#[test]
fn second_message_before_the_conversation_exists_begins_no_other_one() {
    let mut app = app(Theme::default());
    let says = |app: &mut App, text: &str| {
        drop(app.on(Msg::Paste(text.to_owned()), NOW_MS));
        let acts = press(app, "enter", NOW_MS);
        acts.iter().filter(|act| matches!(act, Act::Run(..))).count()
    };
    assert_eq!(says(&mut app, "first"), 1);
    assert_eq!(says(&mut app, "second"), 0);
    assert!(app.tab().composer.text().contains("second"), "the words wait in the composer");
    assert!(looks(&mut app).contains("is being created"));
}

/// Answers all requests and those that follow; ignores other acts.
fn answer(app: &mut App, acts: Vec<Act>, script: &dyn Fn(&Request) -> Option<Reply>) {
    let asked = acts.into_iter().filter_map(|act| match act {
        Act::Ask(ticket, request) => Some((ticket, script(&request)?)),
        _ => None,
    });
    for (ticket, reply) in asked.collect::<Vec<_>>() {
        let more = app.on(Msg::Replied(ticket, Box::new(Ok(reply))), NOW_MS + LATER);
        answer(app, more, script);
    }
}

/// An owner with three branches, and as many operations.
fn owner(request: &Request) -> Option<Reply> {
    let said = [(Role::User, "another way"), (Role::Assistant, "Found.")];
    Some(match request {
        Request::Tree(_) => Reply::Tree(Tree {
            subagents: Vec::new(),
            head: "1.2".into(),
            branches: (0..3).map(branch).collect(),
            forks: Vec::new(),
            more: false,
        }),
        Request::Ops(_) => Reply::Operations(Operations {
            head: "1.2".into(),
            operations: (1..=3).rev().map(operation).collect(),
            more: false,
        }),
        Request::Plan(_) => {
            let taken_back = Counts { messages: 2, ..Counts::default() };
            let timeline = TimelinePlan { taken_back, ..TimelinePlan::default() };
            Reply::Plan(Plan { timeline, ..Plan::default() })
        }
        Request::Apply(_) => Reply::Receipt(Receipt::default()),
        Request::Log(log) => entries(&log.conversation, &said),
        _ => return None,
    })
}

fn branch(number: i64) -> Branch {
    let line = |what: &str| Line {
        id: format!("{what}{number}"),
        role: Role::User,
        time_ms: NOW_MS - number * 60_000,
        preview: format!("{what} of {number}"),
        ran_by: None,
        synthetic: false,
    };
    Branch {
        leaf: format!("last{number}"),
        current: number == 0,
        from: None,
        onto: None,
        shared: None,
        first: Some(line("first")),
        called: Some(line("first")),
        last: line("last"),
        messages: 4,
        own: 4,
        label: None,
    }
}

fn operation(number: u64) -> Operation {
    Operation {
        number,
        head: format!("{number}.2"),
        kind: retake_wire::OperationKind::Move,
        reason: retake_wire::OperationReason::Rewind,
        summary: OpSummary::Unknown,
        description: format!("step {number}"),
        principal: retake_wire::Principal::Local,
        author: "ann".into(),
        time_ms: NOW_MS,
        before: format!("{}.2", number - 1),
        undo_next: false,
        redo_next: false,
    }
}

/// Presses keys, and answers the requests that follow.
fn presses(app: &mut App, keys: &str) {
    for key in keys.split(' ') {
        let acts = press(app, key, NOW_MS + LATER);
        answer(app, acts, &owner);
        let acts = app.on(Msg::Tick, NOW_MS + LATER);
        answer(app, acts, &owner);
        drop(shown(app));
    }
}

fn shown(app: &mut App) -> String {
    screen(60, 20, |frame| app.draw(frame))
}

#[test]
fn esc_goes_back_to_the_pane_that_opened_this_one() {
    for (open, move_to, forth, over) in [
        ("alt+t", "down down", "enter", Context::Confirm),
        ("alt+o", "down", "enter", Context::Confirm),
        ("alt+t", "down", "f1", Context::Pane),
        ("alt+o", "down", "ctrl+o", Context::List),
        ("ctrl+r", "down", "f1", Context::Pane),
    ] {
        let mut app = talking(Theme::default());
        presses(&mut app, &format!("{open} {move_to}"));
        let (was, context) = (shown(&mut app), app.context());
        presses(&mut app, forth);
        assert_eq!(app.context(), over, "{open} {forth}");
        presses(&mut app, "esc");
        assert_eq!((app.context(), shown(&mut app)), (context, was), "{open} {forth}: as it was left");
        presses(&mut app, "esc");
        assert_eq!(app.context(), Context::Talk, "{open} {forth}");
    }
}

#[test]
fn pane_behind_another_one_gets_its_answers_and_changes() {
    let mut app = talking(Theme::default());
    let late = press(&mut app, "alt+t", NOW_MS);
    presses(&mut app, "f1");
    answer(&mut app, late, &owner);
    presses(&mut app, "esc");
    assert!(shown(&mut app).contains("first of 2"), "{}", shown(&mut app));
}

#[test]
fn applied_action_closes_the_panes() {
    let mut app = talking(Theme::default());
    presses(&mut app, "alt+t down enter enter enter");
    assert_eq!(app.context(), Context::Talk, "{}", shown(&mut app));
}

#[test]
fn only_one_pane_of_a_kind_is_open() {
    let mut app = talking(Theme::default());
    presses(&mut app, "alt+t f1 ctrl+o f1 ctrl+o f1 esc");
    assert_eq!(app.context(), Context::Tree);
    presses(&mut app, "esc");
    assert_eq!(app.context(), Context::Talk);
}

#[test]
fn esc_stays_at_a_hit_and_the_key_of_the_list_returns_to_the_search() {
    for conversation_of_hit in ["0199a000-c", "0199a000-d"] {
        let mut app = talking(Theme::default());
        presses(&mut app, "ctrl+o");
        drop(app.on(Msg::Paste("some words".into()), NOW_MS + LATER));
        let entry = Some("0199a000-0000-7000-8000-000000000002".to_owned());
        app.want(TabId(1), PaneInstruction::Show { conversation: conversation_of_hit.into(), entry });
        let found = conversation(conversation_of_hit, None, "found", 1);
        let acts = app.begin();
        answer(&mut app, acts, &|request| match request {
            Request::Info(_) => Some(Reply::Conversation(found.clone())),
            _ => None,
        });
        assert_eq!(app.context(), Context::Talk, "whoever opens a hit goes on typing");
        presses(&mut app, "esc");
        assert_eq!(app.context(), Context::Talk, "{conversation_of_hit}: the place is kept");
        presses(&mut app, "ctrl+o");
        assert_eq!(app.context(), Context::List, "{conversation_of_hit}");
        assert!(shown(&mut app).contains("some words"), "as it was left: {}", shown(&mut app));
        presses(&mut app, "esc esc");
        assert_eq!(app.context(), Context::Talk, "{conversation_of_hit}");
    }
}

#[test]
fn while_a_message_is_selected_nobody_seems_to_type() {
    let mut app = in_place(Context::Select);
    assert!(shown(&mut app).contains("a message is selected: its keys act · Esc to write"));
    drop(app.on(Msg::Paste("half a sentence".to_owned()), NOW_MS + LATER));
    assert_eq!(app.context(), Context::Talk);
    presses(&mut app, "alt+up");
    let seen = shown(&mut app);
    assert!(seen.contains("half a sentence") && seen.contains("a message is selected"), "{seen}");
}

#[test]
fn nul_characters_are_removed_before_sending_with_a_notice() {
    let mut app = talking(Theme::default());
    drop(app.on(Msg::Paste("a\0b\0c \u{1}\u{b}".to_owned()), NOW_MS));
    assert_eq!(app.tab().composer.text(), "abc \u{1}\u{b}");
    let seen = shown(&mut app);
    assert!(seen.contains("left out: 2 NUL"), "{seen}");
    assert!(seen.contains("[control U+0001][control U+000B]"), "others are sent, and seen: {seen}");
    let said = [(Role::User, "abc \u{1}\u{b}")];
    let Reply::Entries(Entries { entries, .. }) = entries("0199a000-c", &said) else { panic!("entries") };
    let mut app = talking(Theme::default());
    app.tabs[0].talk.entries = entries;
    let seen = shown(&mut app);
    assert!(seen.contains("┃ abc ␁␋"), "{seen}");
}

#[test]
fn a_plan_of_undo_says_what_is_undone() {
    let mut app = talking(Theme::default());
    let acts = press(&mut app, "alt+u", NOW_MS);
    answer(&mut app, acts, &|request| match request {
        Request::Plan(_) => Some(Reply::Plan(Plan {
            step_summaries: vec![PlannedStep::Turn {
                message: Some(MessageName { turn: 1, opens_turn: true, words: "hello".to_owned() }),
            }],
            ..Plan::default()
        })),
        _ => None,
    });
    let screen = screen(60, 12, |frame| app.draw(frame));
    assert!(screen.contains("Undo the turn t1 “hello”"), "{screen}");
}

#[test]
fn hidden_messages_are_listed_by_each_command() {
    for line in ["/hidden", "/show", "/include"] {
        let mut app = talking(Theme::default());
        drop(app.on(Msg::Paste(line.to_owned()), NOW_MS));
        let acts = press(&mut app, "enter", NOW_MS);
        let asks = |act: &Act| matches!(act, Act::Ask(_, request) if matches!(**request, Request::Marked(_)));
        assert!(acts.iter().any(asks), "{line}");
    }
}
