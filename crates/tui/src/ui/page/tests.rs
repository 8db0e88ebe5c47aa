//! Tests of the pages, driven by keys and answers of a script. Must never ask a real owner.

use retake_wire::reply::{Differences, Todo, TodoItem, TodoState};
use retake_wire::request::ConversationTarget;

use super::*;
use crate::ui::keymap::Keymap;
use crate::ui::testing::{World, brush, every_key, problem, screen, sizes, themes};
use crate::ui::theme::Theme;

fn todo(items: usize) -> Reply {
    let states = [TodoState::Done, TodoState::Doing, TodoState::Open];
    let item = |number: usize| TodoItem {
        text: format!("step {number}: 漢字 \x1b[2J and a text that is longer than a narrow terminal is wide"),
        state: states[number % 3],
    };
    Reply::Todo(Todo { items: (0..items).map(item).collect() })
}

fn opened(reply: Option<Result<Reply, Problem>>) -> (Page, World) {
    let mut page = Page::new("To do", Request::Todo(ConversationTarget { conversation: "c1".to_owned() }));
    let mut world = World::default();
    page.opened(&mut world.cx());
    if let Some(reply) = reply {
        world.answer(&mut page, |_| Some(reply.clone()));
    }
    (page, world)
}

#[test]
fn a_page_in_every_size() {
    insta::assert_snapshot!("few", sizes(&mut opened(Some(Ok(todo(3)))).0));
    insta::assert_snapshot!("many", sizes(&mut opened(Some(Ok(todo(100)))).0));
    insta::assert_snapshot!("empty", sizes(&mut opened(Some(Ok(todo(0)))).0));
    insta::assert_snapshot!("loading", sizes(&mut opened(None).0));
    insta::assert_snapshot!("wrong", sizes(&mut opened(Some(Err(problem("the list can't be read")))).0));
    let same = Reply::Differences(Differences { files: Vec::new() });
    insta::assert_snapshot!("no_difference", sizes(&mut opened(Some(Ok(same))).0));
}

#[test]
fn a_page_in_every_theme() {
    insta::assert_snapshot!(themes(&mut opened(Some(Ok(todo(4)))).0, 60, 8));
}

/// The position in the page.
fn at(page: &mut Page) -> Option<String> {
    let keys = Keymap::default();
    let theme = Theme::default();
    let _ = screen(120, 12, |frame| page.draw(frame, frame.area(), &brush(theme, &keys)));
    page.scroll.place()
}

#[test]
fn keys_scroll_as_far_as_there_is_something() {
    let (mut page, mut world) = opened(Some(Ok(todo(100))));
    let place = |line: usize| Some(format!("{line} of 100"));
    assert_eq!(at(&mut page), place(10));
    for (keys, line) in [
        ("up", 10),
        ("down", 11),
        ("pagedown", 20),
        ("pageup", 11),
        ("end", 100),
        ("down pagedown", 100),
        ("home", 10),
        ("ctrl+n", 11),
        ("ctrl+p", 10),
        ("shift+down", 11),
        ("ctrl+k", 10),
    ] {
        world.press(&mut page, keys);
        assert_eq!(at(&mut page), place(line), "{keys}");
    }
    for keys in ["x", "esc", "enter"] {
        world.press(&mut page, keys);
    }
    assert!(matches!(world.wants.as_slice(), [PaneInstruction::Close, PaneInstruction::Close]));
}

#[test]
fn change_is_visible_where_the_person_reads() {
    let (mut page, mut world) = opened(Some(Ok(todo(100))));
    let _ = at(&mut page);
    world.press(&mut page, "pagedown down");
    let before = at(&mut page);
    page.changed(&mut world.cx());
    world.answer(&mut page, |_| Some(Ok(todo(90))));
    assert_eq!((before.as_deref(), at(&mut page).as_deref()), (Some("20 of 100"), Some("20 of 90")));
    page.clicked((1, 1).into(), &mut world.cx());
    assert!(world.wants.is_empty());
}

#[test]
fn every_key_does_something() {
    let make = || {
        let (mut page, mut world) = opened(Some(Ok(todo(100))));
        let _ = at(&mut page);
        world.press(&mut page, "pagedown pagedown");
        (page, world)
    };
    // There is no filter, and no other part.
    every_key(make, &[Command::Erase, Command::EraseAll, Command::Other]);
}
