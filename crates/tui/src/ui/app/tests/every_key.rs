//! Every key of the table where it is valid: it works, and the person sees that it was pressed.

use super::*;

/// Commands without a visible effect in a conversation that fits on the screen, with an empty composer: the view is
/// already at that end.
const NOTHING_TO_SEE: &[Command] = &[
    Command::Send,
    Command::ScrollUp,
    Command::ScrollDown,
    Command::ScrollTop,
    Command::ScrollEnd,
    Command::HistoryUp,
    Command::HistoryDown,
    Command::SelectDown,
    Command::SelectPageDown,
    Command::SelectLast,
    Command::FindNext,
    Command::FindPrevious,
];

/// What a person sees, and what is requested.
fn seen(app: &mut App, acts: &[Act]) -> String {
    format!("{}{acts:?}{:?}", styled(100, 12, |frame| app.draw(frame)), app.drawn())
}

#[test]
fn every_key_runs_its_command_and_has_a_visible_effect() {
    let places =
        [Context::Everywhere, Context::Talk, Context::Select, Context::Asked, Context::Grant, Context::Find];
    let mut unseen = Vec::new();
    for row in TABLE.iter().filter(|row| places.contains(&row.context)) {
        for key in row.keys {
            let mut app = in_place(row.context);
            let context = if row.context == Context::Everywhere { Context::Talk } else { row.context };
            assert_eq!(app.context(), context, "{key}");
            let found = app.keys.find(context, key.parse().expect("a key"));
            assert_eq!(found, Some(row.command), "{key} in {context:?}");
            drop(seen(&mut app, &[]));
            let before = seen(&mut app, &[]);
            // A command without a handler panics.
            let acts = press(&mut app, key, NOW_MS + LATER);
            let after = seen(&mut app, &acts);
            let rested = app.on(Msg::Tick, NOW_MS + LATER + 450);
            if before == after && seen(&mut app, &rested) == before {
                unseen.push((row.context, row.command));
            }
            for (width, height) in [(80, 24), (20, 6)] {
                assert!(!screen(width, height, |frame| app.draw(frame)).is_empty(), "{key}");
            }
        }
    }
    unseen.retain(|(_, command)| !NOTHING_TO_SEE.contains(command));
    assert_eq!(unseen, []);
}

/// A conversation of many turns, with earlier prompts, in its middle.
fn in_the_middle(context: Context) -> App {
    let mut app = talking(Theme::default());
    let long: String = (1..=40).map(|line| format!("line {line}\n")).collect();
    let said: Vec<_> =
        (0..7).flat_map(|_| [(Role::User, &*long), (Role::Assistant, "The word is 42.")]).collect();
    let Reply::Entries(Entries { entries: mut many, .. }) = entries("0199a000-c", &said) else {
        panic!("entries")
    };
    for (at, entry) in many.iter_mut().enumerate() {
        entry.id = format!("0199a000-0000-7000-8000-0000000000{at:02}");
    }
    app.tabs[0].talk.entries = many;
    app.tabs[0].talk.version += 1;
    app.tabs[0].composer.remember(vec!["an earlier prompt".into(), "another one".into()]);
    let keys: &[&str] = match context {
        Context::Select => &["pageup", "pageup", "alt+up", "up", "up"],
        Context::Find => &["ctrl+f", "4", "2", "enter", "enter"],
        _ => &["pageup", "pageup", "up"],
    };
    for key in keys {
        drop(seen(&mut app, &[]));
        drop(press(&mut app, key, NOW_MS + LATER));
    }
    drop(seen(&mut app, &[]));
    app
}

#[test]
fn commands_on_rows_act_where_there_are_rows() {
    for command in NOTHING_TO_SEE {
        let context = command.row().context;
        for key in command.row().keys {
            let mut app = in_the_middle(context);
            let before = seen(&mut app, &[]);
            let acts = press(&mut app, key, NOW_MS + 2 * LATER);
            assert_ne!(seen(&mut app, &acts), before, "{key}: {command:?}");
        }
    }
}
