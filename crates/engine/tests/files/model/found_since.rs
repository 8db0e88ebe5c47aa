//! The sequences that the property test found since.

use retake_core::Choice;
use retake_engine::Scope::Conversation;

use super::found::{A, DX, act, call, choosing, turn, within};
use super::run;
use super::steps::Do;
use super::steps::Edit::{Flat, Lines, Remove, Rename, Write};
use super::steps::{Aim, Bytes};

#[test]
fn trial_06_an_adopted_removal_is_a_conflict_where_a_later_turn_made_the_file_again() {
    let steps = [
        call(&[Lines(A, 0, 1)]),
        call(&[Remove(A)]),
        call(&[Lines(A, 0, 0)]),
        within(Aim::Checkout(Some(46)), Conversation),
        act(Aim::Rewind(0)),
    ];
    run(&[Lines(A, 0, 0)], &steps.map(|step| (0, step)));
}

#[test]
fn trial_06_an_adopted_removal_is_a_conflict_where_a_person_made_the_file_again() {
    let steps = [
        call(&[Lines(A, 0, 1)]),
        turn(&[Rename(A, DX), Flat(A)]),
        within(Aim::Undo(1), Conversation),
        Do::Edit(vec![Lines(A, 0, 0)]),
        call(&[Lines(A, 1, 0)]),
        act(Aim::Drop(0)),
    ];
    run(&[Lines(A, 0, 0)], &steps.map(|step| (0, step)));
}

#[test]
fn trial_06_what_a_dropped_turn_had_emptied_is_there_below_a_later_turn() {
    let steps = [
        call(&[Write(A, Bytes::Empty)]),
        turn(&[Lines(A, 0, 0)]),
        choosing(Aim::Drop(1), A, Choice::Checkpoint),
        act(Aim::Rewind(0)),
    ];
    run(&[Lines(A, 0, 0)], &steps.map(|step| (0, step)));
}
