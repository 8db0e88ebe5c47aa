//! The first screen, and ways out of the UI: what it begins with, and what leaves it.

use super::*;
use retake_wire::reply::{Model, Models, Status};
use retake_wire::{ModelCause, Usage};

/// Answers the first requests of the UI.
fn begun(start: Start, mode: retake_wire::Mode) -> App {
    let known = StartInfo { folder: "/home/ann/work".into(), version: "1.2.3".into(), model: None };
    let mut app = App::new(known, start, Settings::default(), Keymap::default(), Theme::default(), NOW_MS);
    let acts = app.begin();
    answer(&mut app, acts, &move |request| {
        Some(match request {
            Request::Status => Reply::Status(Status {
                version: "1".into(),
                pid: 8,
                data_dir: "/d".into(),
                address: None,
                since_ms: 0,
                serves: true,
                running: Vec::new(),
                following: 1,
                mode: Some(mode),
                config_file: None,
                ..Default::default()
            }),
            Request::Models => Reply::Models(Models {
                default: "a/b".into(),
                cause: ModelCause::Settings,
                models: vec![Model {
                    name: "a/b".into(),
                    context_tokens: Some(200_000),
                    ..Default::default()
                }],
                ..Models::default()
            }),
            _ => return None,
        })
    });
    app
}

fn wide(app: &mut App) -> String {
    screen(110, 24, |frame| app.draw(frame))
}

#[test]
fn empty_conversation_shows_folder_mode_and_how_to_quit() {
    let mut app = begun(Start::New, retake_wire::Mode::Ask);
    let shown = wide(&mut app);
    let place =
        "in /home/ann/work · mode ask: reads in the workspace unasked, and asks about everything else";
    assert!(shown.contains(place), "{shown}");
    app.beginning.never_captured = Some(retake_wire::NoticeCause {
        code: "no_workspace".into(),
        fields: [("path".to_owned(), "/home/ann/work".into())].into(),
        ..Default::default()
    });
    let home = wide(&mut app);
    assert!(
        home.contains("in /home/ann/work · mode ask\n") && !home.contains("reads in the workspace"),
        "{home}"
    );
    assert!(shown.contains("Ctrl+Q") && shown.contains("quit; everything is kept"), "{shown}");
}

#[test]
fn permissions_before_the_first_message_show_the_mode_of_the_settings() {
    let mut app = begun(Start::New, retake_wire::Mode::Plan);
    app.command(Command::Permissions, "");
    let shown = wide(&mut app);
    assert!(shown.lines().any(|line| line.contains("● plan")), "{shown}");
}

#[test]
fn the_key_for_the_next_mode_begins_with_the_mode_of_the_settings() {
    let mut app = begun(Start::New, retake_wire::Mode::Plan);
    presses(&mut app, "shift+tab");
    let shown = wide(&mut app);
    assert!(shown.contains("mode ask:") && !shown.contains("allow-edits"), "{shown}");
}

#[test]
fn second_ctrl_d_in_an_empty_composer_quits() {
    let mut app = talking(Theme::default());
    assert!(press(&mut app, "ctrl+d", NOW_MS).is_empty());
    assert!(shown(&mut app).contains("Ctrl+D again quits; everything is kept"));
    let acts = press(&mut app, "ctrl+d", NOW_MS + 1_000);
    assert!(app.is_leaving() || acts.iter().any(|act| matches!(act, Act::Quit)));

    let mut app = talking(Theme::default());
    drop(press(&mut app, "x", NOW_MS));
    drop(press(&mut app, "ctrl+d", NOW_MS));
    assert!(!shown(&mut app).contains("again quits"), "with words it deletes");
}

#[test]
fn esc_in_the_first_list_quits() {
    let mut app = begun(Start::Pick, retake_wire::Mode::Ask);
    assert_eq!(app.context(), Context::List);
    let shown = wide(&mut app);
    assert!(shown.lines().any(|line| line.trim_end().ends_with("Esc quit")), "{shown}");
    assert!(shown.contains("Esc quits retake"), "{shown}");
    let acts = press(&mut app, "esc", NOW_MS + LATER);
    assert!(app.is_leaving() || acts.iter().any(|act| matches!(act, Act::Quit)));

    let mut app = talking(Theme::default());
    presses(&mut app, "ctrl+o esc");
    assert_eq!((app.context(), app.is_leaving()), (Context::Talk, false), "there it goes back");
}

#[test]
fn undo_in_the_operations_pane_stays_there() {
    let mut app = talking(Theme::default());
    presses(&mut app, "alt+o");
    assert_eq!(app.context(), Context::Ops);
    presses(&mut app, "left enter");
    assert_eq!(app.context(), Context::Ops);
}

#[test]
fn the_share_of_the_context_is_in_the_status_where_it_is_known() {
    let mut app = begun(Start::New, retake_wire::Mode::Ask);
    let Reply::Entries(Entries { mut entries, .. }) =
        crate::ui::testing::entries("0199a000-c", &[(Role::User, "hello"), (Role::Assistant, "Hello.")])
    else {
        panic!("entries")
    };
    entries[1].author = "a/b".into();
    entries[1].usage = Some(Usage {
        input_tokens: Some(49_000),
        cached_input_tokens: None,
        output_tokens: Some(1_000),
        cost_usd: None,
    });
    tell(&mut app, Event::Snapshot(Box::new(Snapshot { entries, ..snapshot() })), Some("3"));
    assert!(wide(&mut app).contains("25 % of the context"), "{}", wide(&mut app));
}
