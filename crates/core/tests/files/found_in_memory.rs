//! Sequences that first failed in core's property test, each minimized.

use retake_core::Choice;
use retake_core::Scope::Files;

use super::run;
use super::short::{A, B, act, all, call, turn};
use super::steps::Aim;
use super::steps::Bytes::Empty;
use super::steps::Do::{Act, Begin, Edit, End};
use super::steps::Edit::{Lines, Remove, Rename, Write};
use super::steps::Fault::Never;

#[test]
fn several_undos_at_once_leave_what_is_uncertain_as_one_after_the_other_do() {
    let kept = Act(Aim::Undo(1), Files, (Vec::new(), Some(Choice::Disk)), Never);
    let several = [(1, Begin(false)), (0, call(&[Lines(A, 0, 1)])), (0, kept), (0, act(Aim::Undo(2)))];
    run(&[Lines(A, 0, 0)], &several);
}

#[test]
fn several_undos_at_once_lose_nothing_that_others_wrote_between_the_turns() {
    let others = Edit(vec![Write(A, Empty)]);
    let steps = [
        call(&[Lines(A, 1, 0)]),
        others,
        call(&[Lines(A, 0, 0)]),
        turn(&[Lines(A, 0, 1)]),
        act(Aim::Drop(0)),
        act(Aim::Undo(3)),
    ];
    run(&[Lines(A, 0, 0)], &steps.map(|step| (0, step)));
}

#[test]
fn what_is_perhaps_a_rename_does_not_go_from_the_new_name_where_a_later_call_took_the_old_one() {
    let steps = [
        (1, Begin(false)),
        (0, Edit(vec![Lines(A, 0, 1)])),
        (0, call(&[Rename(A, B)])),
        (0, End),
        (0, turn(&[Lines(A, 0, 0)])),
        (0, all(Aim::Drop(1), Choice::Merge)),
    ];
    run(&[Lines(A, 0, 0)], &steps);
}

#[test]
fn a_file_comes_back_under_the_new_name_of_one_that_a_dropped_turn_had_made_in_its_place() {
    let steps = [
        call(&[Remove(A)]),
        call(&[Lines(A, 0, 0)]),
        turn(&[Rename(A, B)]),
        turn(&[Lines(A, 0, 0)]),
        act(Aim::Drop(2)),
    ];
    run(&[Lines(A, 0, 0)], &steps.map(|step| (0, step)));
}

#[test]
fn what_goes_from_below_a_removal_that_stays_is_not_in_the_way_of_what_others_made_since() {
    let steps = [
        (0, call(&[Remove(A)])),
        (0, turn(&[Remove(A)])),
        (0, Edit(vec![Lines(A, 0, 0)])),
        (0, turn(&[Remove(A)])),
        (1, call(&[Lines(A, 0, 0)])),
        (0, act(Aim::Drop(2))),
    ];
    run(&[Lines(A, 0, 0)], &steps);
}
