//! Sequences that the property test once found wrong, each told as short as it was.

use retake_core::Choice;
use retake_engine::Scope::{self, Both, Files};

use super::run;
use super::steps::Do::{Act, Call, Say};
use super::steps::Edit::{Copy, Folder, Line, Mode, Remove, Rename, Write};
use super::steps::Fault::{Dies, Fails, Never, Saves};
use super::steps::{Aim, Bytes, Do, Edit, Fault, Name};

const A: Name = Name(0);
const B: Name = Name(1);
const C: Name = Name(2);
const D: Name = Name(3);
const DE: Name = Name(4);
const DEX: Name = Name(5);
const DX: Name = Name(6);

/// Does the steps in one conversation, over a text in `a`.
fn check(steps: Vec<Do>) {
    run(&[Line(A, 0, 1)], &steps.into_iter().map(|step| (0, step)).collect::<Vec<_>>());
}

/// A call in a turn of its own.
fn turn(edits: &[Edit]) -> Do {
    Call(true, edits.to_vec())
}

/// A call that goes on with a turn.
fn call(edits: &[Edit]) -> Do {
    Call(false, edits.to_vec())
}

fn act(aim: Aim) -> Do {
    within(aim, Both)
}

fn within(aim: Aim, scope: Scope) -> Do {
    Act(aim, scope, (Vec::new(), None), Never)
}

fn choosing(aim: Aim, name: Name, choice: Choice) -> Do {
    Act(aim, Both, (vec![(name, choice)], None), Never)
}

fn with_fault(aim: Aim, fault: Fault) -> Do {
    Act(aim, Both, (Vec::new(), None), fault)
}

#[test]
fn an_undo_that_is_interrupted_is_taken_back_whole() {
    let twice = [turn(&[Line(A, 0, 2)]), turn(&[Line(A, 1, 2)])];
    for fault in [Saves(1, A), Fails(9), Dies(9)] {
        for count in 1..3 {
            let undo = with_fault(Aim::Undo(count), fault);
            let after = [act(Aim::Undo(1)), act(Aim::Redo(2))];
            check(twice.iter().cloned().chain([undo]).chain(after).collect());
            let redo = [act(Aim::Undo(count)), with_fault(Aim::Redo(count), fault), act(Aim::Redo(1))];
            check(twice.iter().cloned().chain(redo).collect());
        }
    }
}

#[test]
fn what_is_chosen_for_all_paths_is_done_where_nothing_is_in_conflict() {
    let yours = Act(Aim::Undo(1), Both, (Vec::new(), Some(Choice::Yours)), Never);
    check(vec![
        Do::Checkpoint,
        Do::Edit(vec![Line(A, 1, 1)]),
        turn(&[Line(A, 0, 2)]),
        turn(&[Line(A, 0, 3)]),
        yours,
    ]);
}

#[test]
fn a_folder_that_is_needed_is_made_and_the_plan_says_so() {
    let tree = [call(&[Folder(DEX)]), call(&[Line(D, 0, 1)])];
    let skipped = choosing(Aim::Redo(1), DE, Choice::Skip);
    check(tree.iter().cloned().chain([act(Aim::Rewind(0)), act(Aim::Undo(1)), skipped]).collect());
    // The agent empties a folder, somebody removes it, and the agent puts a file in its place.
    let emptied =
        [turn(&[Line(DX, 0, 1)]), turn(&[Remove(DX)]), Do::Edit(vec![Remove(D)]), turn(&[Line(D, 0, 1)])];
    check(emptied.into_iter().chain([act(Aim::Turn(1))]).collect());
}

#[test]
fn what_was_said_in_answer_to_a_rewind_goes_with_it_files_included() {
    let again = [turn(&[Line(A, 0, 2)]), act(Aim::Retry(0)), call(&[Line(A, 1, 3), Line(B, 0, 1)])];
    check(again.iter().cloned().chain([act(Aim::Undo(1)), act(Aim::Redo(1)), act(Aim::Undo(2))]).collect());
}

#[test]
fn undo_takes_back_nothing_but_what_was_done_last() {
    // Files went back alone: undoing what was said later does not bring them forward.
    let behind = [turn(&[Line(A, 0, 2)]), within(Aim::Turn(0), Files), Say];
    check(behind.iter().cloned().chain([act(Aim::Undo(1)), act(Aim::Redo(1)), act(Aim::Undo(2))]).collect());
    // Nor does undoing a rewind bring forward what another one had taken back.
    check(vec![
        call(&[Line(B, 0, 1)]),
        turn(&[Line(A, 0, 2)]),
        act(Aim::Turn(0)),
        call(&[Line(A, 0, 2)]),
        within(Aim::Rewind(2), Files),
        call(&[Line(A, 0, 2)]),
        act(Aim::Rewind(4)),
        act(Aim::Undo(1)),
    ]);
}

#[test]
fn what_was_undone_at_once_comes_forward_step_by_step() {
    let both = [turn(&[Line(A, 0, 2)]), turn(&[Line(B, 0, 2)]), act(Aim::Undo(2))];
    check(both.iter().cloned().chain([act(Aim::Redo(1)), act(Aim::Redo(1)), act(Aim::Undo(2))]).collect());
}

#[test]
fn two_copies_of_what_was_renamed_are_not_both_put_in_its_place() {
    let copies = turn(&[Copy(A, B), Rename(A, C)]);
    let saved = |name| Do::Edit(vec![Write(name, Bytes::Binary(name == B))]);
    check(vec![copies, saved(B), saved(C), act(Aim::Turn(0))]);
}

#[test]
fn permission_bits_go_along_with_what_was_renamed() {
    let edits = [Line(B, 3, 1), Mode(B, 1)];
    for count in 1..=2 {
        let changed = Do::Edit(edits[2 - count..].to_vec());
        check(vec![turn(&[Rename(A, B)]), changed, act(Aim::Turn(0)), act(Aim::Undo(1))]);
    }
}

#[test]
fn a_step_that_is_taken_back_is_nobody_s_change() {
    let yours = Act(Aim::Undo(1), Both, (Vec::new(), Some(Choice::Yours)), Never);
    let twice = [call(&[Remove(A)]), turn(&[Line(A, 0, 2), Copy(A, C), Line(D, 0, 1)])];
    check(twice.into_iter().chain([with_fault(Aim::Turn(1), Saves(2, C)), yours]).collect());
}

#[test]
fn what_comes_with_its_folder_into_the_place_of_another_is_the_call_s() {
    check(vec![
        Do::Edit(vec![Line(DE, 2, 3)]),
        call(&[]),
        Do::Edit(vec![Rename(D, C)]),
        call(&[Line(DEX, 0, 3)]),
        call(&[Rename(D, C)]),
        act(Aim::Turn(0)),
    ]);
}

#[test]
fn what_is_shown_again_settles_nothing_that_another_step_left() {
    // The change of the mode was made while both conversations ran: undo leaves it, and it is no matter of the turn that is shown.
    let steps = [
        (0, call(&[Line(A, 0, 1)])),
        (0, act(Aim::Drop(0))),
        (0, turn(&[Line(A, 0, 1)])),
        (1, Do::Begin(false)),
        (0, turn(&[Mode(A, 1)])),
        (0, act(Aim::Undo(1))),
        (0, act(Aim::Show)),
    ];
    run(&[Line(A, 0, 1)], &steps);
    // Nor does it bring forward what a rewind of the conversation alone has left.
    check(vec![
        turn(&[Line(A, 0, 2)]),
        turn(&[Line(B, 0, 2)]),
        turn(&[Line(C, 0, 2)]),
        act(Aim::Drop(2)),
        within(Aim::Turn(0), Scope::Conversation),
        act(Aim::Show),
        act(Aim::Undo(1)),
    ]);
}
