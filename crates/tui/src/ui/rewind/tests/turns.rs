//! The list of turns: its content, its order, and the selection.

use retake_wire::reply::Target;
use retake_wire::{ProblemKind, Request};

use super::super::load::join;
use super::super::samples::{Owner, TestPane, entry, plan, problem, target};
use super::super::{Order, Rewind, Rows};
use super::stage;
use crate::ui::pane::Pane;

/// A picker of turns with these texts, the oldest first.
fn picker(words: &[&str]) -> TestPane<Rewind> {
    let targets: Vec<_> = (1..).zip(words).map(|(turn, words)| target(turn, words)).collect();
    let mut owner = Owner::new(0, plan());
    owner.targets = targets.into_iter().rev().collect();
    let mut stage = TestPane::new(Rewind::new(), owner);
    stage.wait(1_000);
    stage
}

fn typed(stage: &mut TestPane<Rewind>, text: &str) {
    stage.pane.typed(text, &mut stage.world.cx());
    stage.wait(1_000);
}

/// The rows of the list, without the plan beside them.
fn rows(stage: &mut TestPane<Rewind>) -> Vec<String> {
    let screen = stage.screen(120, 40);
    let rows = screen.lines().skip(2).filter_map(|line| line.split('│').next());
    let is_turn = |row: &&str| row.starts_with("❯ t") || row.starts_with("  t");
    rows.filter(is_turn).map(|row| row.trim_end().to_owned()).collect()
}

/// The numbers of the turns.
fn numbers(stage: &mut TestPane<Rewind>) -> Vec<u64> {
    let number = |row: &String| row[row.find('t')? + 1..].split(' ').next()?.parse().ok();
    rows(stage).iter().filter_map(number).collect()
}

#[test]
fn the_newest_turn_is_first_and_selected() {
    let mut stage = picker(&["one", "two", "three"]);
    assert_eq!(numbers(&mut stage), [3, 2, 1]);
    assert!(rows(&mut stage)[0].starts_with("❯ t3"));
    assert_eq!(stage.planned(), [entry(3)]);
}

#[test]
fn a_turn_is_found_by_its_number() {
    let mut stage = picker(&["one"; 30]);
    typed(&mut stage, "t27");
    assert_eq!(numbers(&mut stage), [27]);
}

#[test]
fn the_best_match_is_first_and_stays_selected_without_the_filter() {
    let mut stage = picker(&["fix the parser", "write docs", "fix tests of the parser"]);
    typed(&mut stage, "fxpar");
    assert_eq!(numbers(&mut stage), [1, 3]);
    typed(&mut stage, "zz");
    assert_eq!(numbers(&mut stage), [0; 0]);
    stage.keys("backspace backspace");
    assert_eq!(numbers(&mut stage), [1, 3]);
    stage.keys("ctrl+u");
    assert_eq!(numbers(&mut stage), [3, 2, 1]);
    assert_eq!(stage.planned().last(), Some(&entry(1)));
}

#[test]
fn control_characters_and_wide_words_are_shown_safely_and_found() {
    let mut stage = picker(&["one", "\x1b]0;x\x07 漢字 👩‍👩‍👧 héllo\nthere", "two"]);
    typed(&mut stage, "字h");
    let rows = rows(&mut stage);
    assert!(rows[0].ends_with("␛]0;x␇ 漢字 👩‍👩‍👧 héllo⏎there"), "{rows:?}");
    assert_eq!(rows.len(), 1);
}

#[test]
fn older_pages_join_while_something_is_typed() {
    let words = |turn: u64| if turn.is_multiple_of(2) { "nine" } else { "six" };
    let mut owner = Owner::new(0, plan());
    owner.targets = (1..=500).rev().map(|turn| target(turn, words(turn))).collect();
    owner.silent.push("targets");
    let mut stage = TestPane::new(Rewind::new(), owner);
    typed(&mut stage, "nine");
    stage.release();
    assert_eq!(numbers(&mut stage)[..3], [500, 498, 496]);
    assert!(stage.screen(120, 40).contains("250 of 500"), "{}", stage.screen(120, 40));
}

#[test]
fn failed_page_is_reported_beside_the_turns() {
    let mut stage = picker(&["one", "two"]);
    stage.owner.silent.push("targets");
    stage.changed();
    let ticket = stage.held(|request| matches!(request, Request::Targets(_)));
    let failed = Err(problem(ProblemKind::Storage, "the disk is gone"));
    stage.pane.replied(ticket, failed, &mut stage.world.cx());
    assert!(stage.screen(120, 40).contains("the disk is gone"));
    assert_eq!(numbers(&mut stage), [2, 1]);
}

#[test]
fn selection_stays_when_the_list_changes() {
    let all = |turns: std::ops::RangeInclusive<u64>| -> Vec<Target> {
        turns.rev().map(|turn| target(turn, "words")).collect()
    };
    let numbers = |turns: &Rows<Target>| turns.items().map(|it| it.turn).collect::<Vec<_>>();
    let selected = |turns: &Rows<Target>| turns.selected().map(|it| it.turn);
    let mut turns: Rows<Target> = Rows::new(Order::Best);
    turns.set(all(1..=4));
    turns.select(&entry(2));
    assert!(join(&mut turns, &all(4..=6)));
    assert_eq!((numbers(&turns), selected(&turns)), (vec![6, 5, 4, 3, 2, 1], Some(2)));
    assert!(!join(&mut turns, &[target(9, "nine")]), "nothing is common");
    assert!(!join(&mut turns, &[target(6, "six"), target(4, "four")]), "turn 5 is gone between them");
    assert_eq!(numbers(&turns), [6, 5, 4, 3, 2, 1]);
    turns.set(all(1..=2));
    assert_eq!(selected(&turns), Some(2));
    turns.set([]);
    assert_eq!(selected(&turns), None);
}

/// Under load a plan takes long: nobody waits for that of a turn that was left behind.
#[test]
fn plan_that_was_left_behind_is_given_up() {
    let mut stage = stage(100, plan());
    stage.owner.silent.push("plan");
    for _ in 0..5 {
        stage.press("down");
        stage.wait(200);
    }
    assert_eq!(stage.planned().last(), Some(&entry(95)), "it waits for no other plan");
    assert_eq!(stage.held_back(), 1, "the others are given up");
    stage.release();
    assert!(stage.screen(140, 30).contains("takes back 2 messages"));
    stage.owner.silent.push("plan");
    stage.press("down");
    stage.wait(200);
    stage.keys("esc");
    assert!(stage.is_closed() && stage.held_back() == 0, "the last one, too");
}

#[test]
fn counts_of_a_turn_are_shown_before_its_plan() {
    let mut owner = Owner::new(3_000, plan());
    owner.silent.push("plan");
    let mut stage = TestPane::new(Rewind::new(), owner);
    let mut shots = String::new();
    for (width, height) in [(80, 24), (40, 12)] {
        stage.press("down");
        stage.press("down");
        assert!(stage.plans().is_empty(), "a moving selection plans nothing");
        shots.push_str(&stage.screen(width, height));
    }
    stage.wait(200);
    assert_eq!(stage.planned(), [entry(2_996)], "only where it rests");
    insta::assert_snapshot!("counts_before_the_plan", shots);
}
