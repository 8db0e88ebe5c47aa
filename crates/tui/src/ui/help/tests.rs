//! Tests of the help.

use super::*;
use crate::ui::testing::{THEMES, World, brush, screen, styled};

fn help(from: Context) -> (Help, Keymap) {
    (Help::new(Keymap::default(), from), Keymap::default())
}

fn seen(help: &mut Help, width: u16, height: u16) -> String {
    let keys = help.keys.clone();
    screen(width, height, |frame| help.draw(frame, frame.area(), &brush(THEMES[0], &keys)))
}

#[test]
fn how_it_looks() {
    let mut shown = String::new();
    for (width, height) in [(20, 6), (40, 12), (80, 24), (100, 70), (140, 120)] {
        let (mut help, _) = help(Context::Talk);
        shown.push_str(&format!("--- {width}x{height}\n{}", seen(&mut help, width, height)));
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn how_it_looks_in_colour() {
    let (mut help, keys) = help(Context::Rewind);
    help.filter = "file".to_owned();
    insta::assert_snapshot!(styled(80, 12, |frame| help.draw(frame, frame.area(), &brush(THEMES[1], &keys))));
}

#[test]
fn section_for_the_current_place_is_first() {
    for row in TABLE {
        let (help, _) = help(row.context);
        let titles: Vec<_> = help.sections().iter().map(|section| section.title).collect();
        assert_eq!(titles[..2], ["Most important", row.context.title()]);
    }
}

#[test]
fn every_command_is_shown_with_its_keys() {
    let (help, keys) = help(Context::Talk);
    let all: Vec<HelpRow> = help.sections().into_iter().flat_map(|section| section.rows).collect();
    for row in TABLE {
        for key in keys.keys(row.command) {
            let named = key.to_string();
            let told =
                all.iter().any(|told| told.help == row.help && told.keys.split(' ').any(|key| key == named));
            assert!(told, "{named} for {}", row.name);
        }
        if row.takes.is_some() {
            assert!(
                all.iter().any(|told| told.keys.starts_with(&format!("/{}", row.typed_name()))),
                "{}",
                row.name
            );
        }
    }
}

#[test]
fn changed_keys_are_shown() {
    let mut keys = Keymap::default();
    keys.bind(Command::Rewind, &["f5".parse().expect("a key")]);
    let mut help = Help::new(keys, Context::Talk);
    help.filter = "go back to before".to_owned();
    let shown = seen(&mut help, 80, 24);
    assert!(shown.contains("F5") && !shown.contains("Ctrl+R"), "{shown}");
}

/// The settings rebind a command by its name.
#[test]
fn help_search_shows_the_names_that_settings_use() {
    let (mut help, _) = help(Context::Talk);
    assert!(seen(&mut help, 140, 24).contains("to see the names that settings use"));
    help.typed("select a message", &mut World::default().cx());
    for columns in [80, 140] {
        let shown = seen(&mut help, columns, 24);
        let line = shown.lines().find(|line| line.contains("Select a message")).expect("it is there");
        assert!(line.trim_end().ends_with(" select"), "{shown}");
    }
}

#[test]
fn keys_filter_and_scroll() {
    let (mut help, _) = help(Context::Talk);
    let mut world = World::default();
    let whole = seen(&mut help, 80, 24);
    help.command(Command::PageDown, &mut world.cx());
    let lower = seen(&mut help, 80, 24);
    assert_eq!(lower.lines().nth(1), whole.lines().nth(22), "{lower}");
    help.command(Command::Last, &mut world.cx());
    let last = seen(&mut help, 80, 24);
    help.command(Command::PageDown, &mut world.cx());
    assert_eq!(seen(&mut help, 80, 24), last, "there is nothing behind the end");
    help.command(Command::First, &mut world.cx());
    assert_eq!(seen(&mut help, 80, 24), whole);
    help.typed("Rewind \x1b[2J", &mut world.cx());
    assert!(seen(&mut help, 80, 24).contains("nothing matches “Rewind ␛[2J”"));
    for _ in 0..4 {
        help.command(Command::Erase, &mut world.cx());
    }
    assert!(seen(&mut help, 80, 24).contains("Ctrl+R"));
    help.command(Command::EraseAll, &mut world.cx());
    assert_eq!(seen(&mut help, 80, 24), whole);
    assert!(world.wants.is_empty());
    help.command(Command::Close, &mut world.cx());
    assert!(matches!(world.wants[..], [PaneInstruction::Close]));
}

/// What Enter does now.
fn chosen(help: &mut Help, world: &mut World) -> Option<Command> {
    drop(seen(help, 80, 24));
    help.command(Command::Accept, &mut world.cx());
    match world.wants.pop()? {
        PaneInstruction::Command(command) => Some(command),
        _ => None,
    }
}

#[test]
fn selected_command_is_run() {
    let (mut help, _) = help(Context::Talk);
    let mut world = World::default();
    assert_eq!(chosen(&mut help, &mut world), None, "nothing is selected yet");
    for _ in 0..2 {
        help.command(Command::Down, &mut world.cx());
        drop(seen(&mut help, 80, 24));
    }
    // The first row is a key of the composer, which only informs.
    assert_eq!(chosen(&mut help, &mut world), Some(Command::Undo));
    help.typed("branches", &mut world.cx());
    assert_eq!(chosen(&mut help, &mut world), Some(Command::Tree));
    help.typed(" and nothing else", &mut world.cx());
    assert_eq!(chosen(&mut help, &mut world), None);
    help.command(Command::EraseAll, &mut world.cx());
    assert_eq!(chosen(&mut help, &mut world), None);
    help.command(Command::PageDown, &mut world.cx());
    drop(seen(&mut help, 80, 24));
    help.command(Command::Down, &mut world.cx());
    let place = help.places[help.selected.expect("a selection")];
    assert!(help.top > 0 && place >= help.top, "the first one that is visible");
}

#[test]
fn each_command_that_can_be_typed_is_reached_and_visible() {
    for (width, height) in [(40, 12), (80, 24), (140, 30)] {
        let (mut help, _) = help(Context::Select);
        let mut world = World::default();
        let mut reached = std::collections::BTreeSet::new();
        drop(seen(&mut help, width, height));
        for _ in 0..2 * TABLE.len() {
            help.command(Command::Down, &mut world.cx());
            drop(seen(&mut help, width, height));
            let at = help.selected.expect("a selection");
            let place = help.places[at];
            assert!((help.top..help.top + help.rows).contains(&place), "{width}x{height}: {at}");
            reached.insert(help.choices()[at]);
        }
        let all = TABLE.iter().filter(|row| row.takes.is_some()).map(|row| row.command).collect();
        assert_eq!(reached, all);
    }
}
