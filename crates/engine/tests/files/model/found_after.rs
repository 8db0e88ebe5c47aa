//! The sequences that the property test found after that.

use retake_core::Choice;
use retake_engine::Scope::{Both, Files};

use super::found::{A, D, DE, DEX, act, call};
use super::run;
use super::steps::Do::{self, Act, Begin, Git, Say};
use super::steps::Edit::{Flat, Hard, Lines, Mode, Rename, Write};
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
fn other_bits_of_what_makes_way_are_in_nobody_s_way() {
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
fn what_comes_below_a_call_whose_file_others_removed() {
    let steps = [
        (0, call(&[Lines(DEX, 0, 0)])),
        (0, act(Aim::Drop(0))),
        (0, Git(1)),
        (0, Do::Edit(vec![Lines(DE, 0, 0)])),
        (0, call(&[Hard(A, DE)])),
        (0, Git(0)),
        (0, act(Aim::Show)),
    ];
    run(&[Lines(A, 0, 0)], &steps);
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
