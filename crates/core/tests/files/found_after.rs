//! The next failing sequences of the property test.

use retake_core::Choice;
use retake_core::Scope::{Both, Conversation, Files};

use super::run;
use super::short::{A, B, C, D, DEX, DX, act, call, turn};
use super::steps::Do::{self, Act, Begin, Say};
use super::steps::Edit::{Flat, Lines, Link, Mode, Remove, Rename, Write};
use super::steps::Fault::Never;
use super::steps::{Aim, Bytes};

#[test]
fn a_choice_in_a_step_on_files_alone_holds_for_what_is_uncertain_too() {
    let steps = [
        (1, Begin(false)),
        (0, call(&[Lines(DEX, 0, 0), Lines(A, 0, 1)])),
        (0, Act(Aim::Rewind(0), Files, (vec![(A, Choice::Disk)], None), Never)),
        (0, act(Aim::Rewind(0))),
    ];
    run(&[Lines(A, 0, 0)], &steps);
}

#[test]
fn other_bits_of_what_makes_way_block_nothing() {
    let steps = [
        (0, Do::Edit(vec![Lines(A, 0, 0)])),
        (0, call(&[Rename(A, D), Lines(A, 0, 0)])),
        (0, call(&[Lines(A, 0, 0)])),
        (0, call(&[Lines(A, 0, 0)])),
        (0, act(Aim::Turn(0))),
        (0, call(&[Flat(A)])),
        (0, Say),
        (1, call(&[Mode(A)])),
        (0, act(Aim::Restore(3))),
    ];
    run(&[Lines(D, 0, 0)], &steps);
}

#[test]
fn undo_of_a_step_that_kept_the_file_and_of_the_call_before_takes_out_what_the_call_wrote() {
    let steps = [
        (0, call(&[Lines(A, 0, 1), Lines(A, 0, 1)])),
        (0, Do::Edit(vec![Write(A, Bytes::Empty)])),
        (0, call(&[Lines(A, 0, 0)])),
        (0, Act(Aim::Restore(1), Both, (Vec::new(), Some(Choice::Disk)), Never)),
        (0, act(Aim::Undo(2))),
    ];
    run(&[Lines(A, 0, 0)], &steps);
}

#[test]
fn a_rename_that_can_t_come_again_as_its_new_name_is_taken_waits_under_both() {
    let steps = [
        (0, call(&[Lines(A, 0, 0)])),
        (0, call(&[Link(A, A)])),
        (0, call(&[Lines(A, 0, 0)])),
        (0, Do::Call(true, vec![Rename(A, C)])),
        (0, Act(Aim::Undo(1), Files, (Vec::new(), None), Never)),
        (0, Do::Edit(vec![Lines(C, 0, 0)])),
        (0, act(Aim::Undo(1))),
    ];
    run(&[Remove(A)], &steps);
    let steps = [
        (0, call(&[Lines(B, 0, 0)])),
        (1, call(&[Write(A, Bytes::Empty), Rename(B, D)])),
        (1, act(Aim::Rewind(0))),
        (0, Do::Edit(vec![Lines(DX, 0, 0)])),
        (1, act(Aim::Undo(1))),
    ];
    run(&[Remove(A), Lines(A, 0, 0)], &steps);
}

#[test]
fn others_removed_what_was_below_and_not_what_a_later_call_put_there() {
    let steps = [
        (0, call(&[Lines(A, 0, 0)])),
        (1, call(&[Rename(A, B), Lines(C, 0, 0)])),
        (0, call(&[Rename(B, A)])),
        (0, act(Aim::Rewind(2))),
        (0, act(Aim::Restore(1))),
    ];
    run(&[Remove(A)], &steps);
}

#[test]
fn exactly_as_it_was_before_steps_that_cancel_each_other() {
    let steps = [
        (0, call(&[Lines(A, 0, 1)])),
        (0, act(Aim::Rewind(0))),
        (0, Do::Edit(vec![Mode(A)])),
        (0, Act(Aim::Undo(2), Both, (Vec::new(), Some(Choice::Checkpoint)), Never)),
    ];
    run(&[Lines(A, 0, 0)], &steps);
}

#[test]
fn content_overwritten_by_a_dropped_call_returns_at_its_new_name() {
    let steps = [(0, call(&[Lines(A, 0, 0)])), (0, turn(&[Rename(A, B)])), (0, act(Aim::Drop(1)))];
    run(&[Write(A, Bytes::Empty)], &steps);
}

#[test]
fn a_name_that_is_left_alone_leaves_the_other_one_that_a_link_has_taken() {
    let steps = [
        (0, call(&[Write(DX, Bytes::Empty), Rename(A, C)])),
        (0, turn(&[Link(C, A)])),
        (0, Act(Aim::Drop(1), Both, (vec![(A, Choice::Skip)], None), Never)),
        (0, Act(Aim::Retry(0), Conversation, (Vec::new(), None), Never)),
        (0, act(Aim::Rewind(0))),
    ];
    run(&[Lines(A, 0, 0)], &steps);
}

#[test]
fn others_content_of_a_folder_waits_when_a_file_returns_in_its_place() {
    let steps = [
        (0, call(&[Lines(DX, 0, 0)])),
        (1, call(&[Lines(DEX, 0, 0)])),
        (0, call(&[Remove(D)])),
        (0, act(Aim::Turn(0))),
    ];
    run(&[Flat(D)], &steps);
}

#[test]
fn a_version_of_somebody_else_is_chosen_where_steps_cancel_each_other() {
    let steps = [
        (1, call(&[Lines(A, 0, 0)])),
        (0, Do::Edit(vec![Lines(A, 0, 1)])),
        (0, call(&[Lines(A, 0, 0)])),
        (1, call(&[Lines(A, 1, 0)])),
        (0, act(Aim::Rewind(0))),
        (0, Act(Aim::Undo(2), Both, (Vec::new(), Some(Choice::Yours)), Never)),
    ];
    run(&[Lines(A, 0, 0)], &steps);
}

#[test]
fn a_link_that_a_person_makes_just_as_a_call_had_left_it_is_not_distinguished_from_that() {
    let steps = [
        (0, call(&[Link(A, A)])),
        (0, turn(&[Lines(A, 0, 0)])),
        (0, Act(Aim::Undo(1), Both, (vec![(A, Choice::Disk)], None), Never)),
        (0, Do::Edit(vec![Link(A, A)])),
        (0, act(Aim::Rewind(0))),
    ];
    run(&[Lines(A, 0, 0)], &steps);
}

#[test]
fn changes_seen_of_a_call_during_a_later_message_stay_when_that_message_is_undone() {
    let steps = [
        (0, Begin(false)),
        (0, Say),
        (0, Do::Edit(vec![Lines(A, 0, 1)])),
        (0, Do::Checkpoint),
        (0, Do::End),
        (0, act(Aim::Undo(1))),
    ];
    run(&[Lines(A, 0, 0)], &steps);
}

#[test]
fn bits_that_a_call_found_go_back_where_others_have_put_the_text_itself_back() {
    let steps = [
        (1, call(&[Lines(A, 0, 0)])),
        (0, Do::Edit(vec![Lines(A, 0, 1)])),
        (1, call(&[Mode(A)])),
        (0, call(&[Remove(A), Lines(A, 0, 0)])),
        (1, Act(Aim::Rewind(0), Both, (vec![(A, Choice::Yours)], None), Never)),
        (0, act(Aim::Rewind(0))),
    ];
    run(&[Lines(A, 0, 0)], &steps);
}
