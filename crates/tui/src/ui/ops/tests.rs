//! Tests of the operations, driven by keys and answers of a script. Must never ask a real owner.

use retake_wire::reply::{Counts, Line, Plan as Planned, TimelinePlan};
use retake_wire::{OpSummary, OperationKind, OperationReason, Role};

use super::*;
use crate::ui::testing::{NOW_MS, World, conversation, every_key, problem, sizes, themes};

fn op(number: u64, reason: OperationReason, description: &str) -> Operation {
    Operation {
        number,
        head: format!("{number}.40"),
        kind: OperationKind::Move,
        reason,
        summary: OpSummary::Unknown,
        description: description.to_owned(),
        principal: retake_wire::Principal::Local,
        author: "ann".to_owned(),
        time_ms: NOW_MS - i64::try_from(300 - number).expect("small") * 600_000,
        before: format!("{}.40", number - 1),
        undo_next: false,
        redo_next: false,
    }
}

fn few() -> Vec<Operation> {
    let mut ops = vec![
        op(4, OperationReason::Rewind, "to before “漢字 and 🙂 in \x1b[31mnames”"),
        op(3, OperationReason::Undo, "the rewind to before “make it atomic”"),
        op(2, OperationReason::Rewind, "to before “make it atomic”"),
        Operation {
            summary: OpSummary::Labelled { label: "before the split".to_owned() },
            ..op(1, OperationReason::Label, "")
        },
    ];
    ops[0].undo_next = true;
    ops[1].redo_next = true;
    ops
}

fn page(operations: Vec<Operation>, more: bool) -> Reply {
    Reply::Operations(Operations { head: "4.40".to_owned(), operations, more })
}

fn plan() -> Reply {
    let came = Line {
        id: "0199a000-0000-7000-8000-000000000007".to_owned(),
        role: Role::User,
        time_ms: NOW_MS,
        preview: "make it atomic".to_owned(),
        ran_by: None,
        synthetic: false,
    };
    let brought_back = Counts { messages: 4, calls: 1, turns: 2 };
    let timeline = TimelinePlan { brought_back, came: vec![came], ..TimelinePlan::default() };
    Reply::Plan(Planned { timeline, ..Planned::default() })
}

fn opened() -> (Ops, World) {
    let mut world = World { conversation: Some(conversation("c1", None, "a talk", 3)), ..World::default() };
    let mut ops = Ops::new();
    ops.opened(&mut world.cx());
    (ops, world)
}

fn filled() -> (Ops, World) {
    let (mut ops, mut world) = opened();
    world.answer(&mut ops, |request| match request {
        Request::Ops(_) => Some(Ok(page(few(), false))),
        Request::Plan(_) => Some(Ok(plan())),
        _ => None,
    });
    (ops, world)
}

fn wanted(world: &mut World) -> (&'static str, Action) {
    match world.wants.pop() {
        Some(PaneInstruction::Plan(title, action)) => (title, *action),
        other => panic!("a plan is wanted, not {other:?}"),
    }
}

#[test]
fn operations_in_every_size() {
    let (mut ops, _) = filled();
    insta::assert_snapshot!(sizes(&mut ops));
}

#[test]
fn operations_in_every_theme() {
    let (mut ops, mut world) = filled();
    world.press(&mut ops, "a t o m i c");
    insta::assert_snapshot!(themes(&mut ops, 90, 8));
}

#[test]
fn loading_empty_and_failed_lists_are_shown() {
    let (mut ops, mut world) = opened();
    insta::assert_snapshot!("loading", sizes(&mut ops));
    world.answer(&mut ops, |_| Some(Ok(page(Vec::new(), false))));
    insta::assert_snapshot!("empty", sizes(&mut ops));
    let (mut ops, mut world) = opened();
    world.answer(&mut ops, |_| Some(Err(problem("the operations can't be read"))));
    insta::assert_snapshot!("wrong", sizes(&mut ops));
    let (mut ops, mut world) = filled();
    world.press(&mut ops, "z z z");
    insta::assert_snapshot!("without_hits", sizes(&mut ops));
}

#[test]
fn every_step_shows_its_plan_first() {
    let (mut ops, mut world) = filled();
    for (keys, title, action) in [
        ("down enter", "Restore", Action::Restore { head: "2.40".to_owned() }),
        ("alt+enter", "Restore", Action::Restore { head: "3.40".to_owned() }),
        ("alt+u", "Undo", Action::Undo { count: 1 }),
        ("left", "Undo", Action::Undo { count: 1 }),
        ("alt+shift+u", "Redo", Action::Redo { count: 1 }),
        ("right", "Redo", Action::Redo { count: 1 }),
    ] {
        world.press(&mut ops, keys);
        assert_eq!(wanted(&mut world), (title, action), "{keys}");
    }
    world.press(&mut ops, "esc");
    assert!(matches!(world.wants.pop(), Some(PaneInstruction::Close)));
}

#[test]
fn plan_beside_the_list_is_for_the_selected_turn() {
    let (mut ops, mut world) = opened();
    world.answer(&mut ops, |request| matches!(request, Request::Ops(_)).then(|| Ok(page(few(), false))));
    ops.moved(&mut world.cx());
    assert_eq!(world.asked().len(), 0, "one is on its way");
    world.press(&mut ops, "down down tab shift+down");
    insta::assert_snapshot!("preview_loading", sizes(&mut ops));
    let (mut ops, mut world) = filled();
    world.press(&mut ops, "down tab");
    let asked = world.asked();
    let [(_, Request::Plan(plan))] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!(plan.action, Action::Restore { head: "2.40".to_owned() });
    assert_eq!(plan.files.scope, Scope::Conversation);
}

#[test]
fn a_change_by_anyone_is_seen() {
    let (mut ops, mut world) = filled();
    world.press(&mut ops, "down");
    ops.changed(&mut world.cx());
    world.answer(&mut ops, |request| match request {
        Request::Ops(_) => {
            let mut all = few();
            all.insert(0, op(5, OperationReason::Hide, "two messages"));
            Some(Ok(page(all, false)))
        }
        _ => Some(Ok(plan())),
    });
    assert_eq!((ops.rows.len(), ops.rows.selected().map(|op| op.it.number)), (5, Some(3)));
}

#[test]
fn older_rows_load_while_scrolling() {
    let (mut ops, mut world) = opened();
    let script = |request: &Request| match request {
        Request::Ops(asked) => {
            let last = asked.before.unwrap_or(301) - 1;
            let first = last.saturating_sub(99).max(1);
            Some(Ok(page(
                (first..=last).rev().map(|number| op(number, OperationReason::Exclude, "one")).collect(),
                first > 1,
            )))
        }
        _ => Some(Ok(plan())),
    };
    world.answer(&mut ops, script);
    let _ = sizes(&mut ops);
    assert_eq!(ops.rows.len(), 100);
    world.press(&mut ops, "end");
    world.answer(&mut ops, script);
    world.press(&mut ops, "end");
    world.answer(&mut ops, script);
    assert_eq!(ops.rows.len(), 300);
    let _ = sizes(&mut ops);
    ops.clicked((4, 4).into(), &mut world.cx());
    ops.clicked((4, 4).into(), &mut world.cx());
    assert_eq!(wanted(&mut world).0, "Restore");
}

#[test]
fn every_key_does_something() {
    let line = |number: usize| Line {
        id: format!("l{number}"),
        role: Role::User,
        time_ms: NOW_MS,
        preview: format!("line {number}"),
        ran_by: None,
        synthetic: false,
    };
    let script = |request: &Request| match request {
        Request::Ops(_) => Some(Ok(page(
            (1..=60).rev().map(|number| op(number, OperationReason::Exclude, "one")).collect(),
            false,
        ))),
        _ => {
            let brought_back = Counts { messages: 20, calls: 0, turns: 1 };
            let came = (0..20).map(line).collect();
            let timeline = TimelinePlan { brought_back, came, ..TimelinePlan::default() };
            Some(Ok(Reply::Plan(Planned { timeline, ..Planned::default() })))
        }
    };
    let make = || {
        let (mut ops, mut world) = opened();
        world.answer(&mut ops, script);
        world.press(&mut ops, "e down down down");
        world.answer(&mut ops, script);
        let _ = sizes(&mut ops);
        world.press(&mut ops, "shift+down shift+down");
        (ops, world)
    };
    every_key(make, &[]);
}
