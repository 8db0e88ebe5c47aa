//! Tests of the plan of a fork, driven by keys and answers of a script. Must never ask a real owner.

use retake_wire::reply::{Counts, Receipt, TimelinePlan};

use super::*;
use crate::ui::keymap::Keymap;
use crate::ui::testing::{World, brush, conversation, entries, every_key, problem, screen, sizes};
use crate::ui::theme::Theme;

const SAID: [(Role, &str); 3] = [
    (Role::User, "what is 6 times 7? 漢字 \x1b[2J and more than a narrow terminal is wide"),
    (Role::Assistant, "42"),
    (Role::User, "and 7 times 6?"),
];

/// Answers as an owner with this page; more messages are before it.
fn owner(page: &Reply, request: &Request) -> Option<Result<Reply, Problem>> {
    Some(Ok(match request {
        Request::Log(_) => page.clone(),
        Request::Plan(_) => {
            let taken_back = Counts { messages: 5, calls: 0, turns: 2 };
            let timeline = TimelinePlan { taken_back, ..TimelinePlan::default() };
            Reply::Plan(Plan { timeline, ..Plan::default() })
        }
        Request::Fork(_) => Reply::Receipt(Receipt { conversation: "c8".to_owned(), ..Receipt::default() }),
        _ => return None,
    }))
}

fn opened(entry: Option<&str>, page: &Reply) -> (ForkPane, World) {
    let mut pane = ForkPane::new(entry.map(str::to_owned));
    let here = Some(conversation("c1", Some("Sums"), "what is 6 times 7?", 1));
    let mut world = World { conversation: here, ..World::default() };
    pane.opened(&mut world.cx());
    world.answer(&mut pane, |request| owner(page, request));
    (pane, world)
}

fn shown(pane: &mut ForkPane) -> String {
    let keys = Keymap::default();
    screen(100, 16, |frame| pane.draw(frame, frame.area(), &brush(Theme::default(), &keys)))
}

#[test]
fn content_of_a_fork_is_shown_before_it_is_made() {
    let page = entries("c1", &SAID);
    let (mut pane, mut world) = opened(Some("t2"), &page);
    insta::assert_snapshot!(sizes(&mut pane));
    let text = shown(&mut pane);
    assert!(text.contains("begins with 7 messages up to t2 “and 7 times 6?”."), "{text}");
    assert!(text.contains("your message t2, unanswered"), "{text}");
    assert!(world.wants.is_empty(), "nothing is made yet");
    world.press(&mut pane, "enter");
    let asked = world.asked();
    let [(ticket, Request::Fork(fork))] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!(fork.entry.as_deref(), Some("t2"));
    let receipt = Receipt { conversation: "c8".to_owned(), ..Receipt::default() };
    pane.replied(*ticket, Ok(Reply::Receipt(receipt)), &mut world.cx());
    assert!(
        matches!(world.wants.pop(), Some(PaneInstruction::ShowBeside { conversation, .. }) if conversation == "c8")
    );
    let said = world.wants.pop();
    assert!(matches!(&said, Some(PaneInstruction::Say(says)) if says.contains("t2, unanswered")), "{said:?}");
}

#[test]
fn esc_and_words_create_nothing() {
    let (mut pane, mut world) = opened(None, &entries("c1", &SAID[..2]));
    let text = shown(&mut pane);
    assert!(text.contains("begins with 12 messages up to the answer of t1 “42”."), "{text}");
    assert!(!text.contains("unanswered") && text.contains("work in the same folder"), "{text}");
    pane.typed("ls", &mut world.cx());
    world.press(&mut pane, "enter");
    assert!(world.asked().is_empty(), "an Enter behind words agrees to nothing");
    world.press(&mut pane, "esc");
    assert!(world.asked().is_empty() && matches!(world.wants[..], [PaneInstruction::Close]));
}

#[test]
fn call_without_a_result_is_reported() {
    let mut page = entries("c1", &SAID[..2]);
    let Reply::Entries(all) = &mut page else { panic!("entries") };
    let call =
        |id: &str| Part::ToolCall { id: id.into(), name: "shell".into(), arguments: "{}".into(), sent: None };
    all.entries[1].parts.extend([call("1"), call("2")]);
    let text = shown(&mut opened(None, &page).0);
    assert!(text.contains("ends with 2 calls that have no results there"), "{text}");
    let text = shown(&mut opened(Some("t1"), &page).0);
    assert!(text.contains("Results of the calls at its end are copied too"), "{text}");
}

#[test]
fn reason_for_a_missing_plan_is_shown() {
    let (mut pane, mut world) = opened(None, &entries("c1", &SAID));
    pane.changed(&mut world.cx());
    world.answer(&mut pane, |_| Some(Err(problem("there is no such entry"))));
    assert!(shown(&mut pane).contains("there is no such entry: try it again"));
    world.press(&mut pane, "enter");
    assert!(world.asked().is_empty() && world.wants.is_empty());
}

#[test]
fn every_key_does_something() {
    let many: Vec<_> = (0..40).flat_map(|_| SAID).collect();
    let without = [Command::First, Command::Up, Command::PageUp, Command::DetailUp];
    every_key(|| opened(Some("t2"), &entries("c1", &many)), &without);
}
