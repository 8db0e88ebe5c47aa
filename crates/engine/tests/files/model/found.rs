//! Sequences that once failed in the property test, with crashes, git, links and attributes: those that need a disk.

use retake_core::Choice;
use retake_core::Scope::{Both, Files};

use super::run;
use super::short::{A, B, C, DE, DEX, DX, G, act, call, check, choosing, turn, with_fault};
use super::steps::Do::{self, Act, Git, Say};
use super::steps::Edit::{Copy, Folder, Hard, Lines, Link, Mode, Remove, Rename, Tag, Write};
use super::steps::Fault::{Dies, Fails, Never, Saves};
use super::steps::{Aim, Bytes, Fault};

#[test]
fn an_undo_that_is_interrupted_is_taken_back_whole() {
    let twice = [turn(&[Lines(A, 0, 1)]), turn(&[Lines(A, 1, 1)])];
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
fn both_names_of_a_hard_link_go_back() {
    check(vec![
        turn(&[Lines(B, 1, 1)]),
        call(&[Hard(A, C), Lines(C, 0, 1)]),
        act(Aim::Turn(0)),
        act(Aim::Undo(1)),
    ]);
}

#[test]
fn a_step_that_is_taken_back_belongs_to_nobody() {
    let yours = Act(Aim::Undo(1), Both, (Vec::new(), Some(Choice::Yours)), Never);
    let twice = [call(&[Remove(A)]), turn(&[Lines(A, 0, 1), Copy(A, C), Lines(DX, 0, 1)])];
    check(twice.into_iter().chain([with_fault(Aim::Turn(1), Saves(2, C)), yours]).collect());
}

#[test]
fn bits_of_a_hard_link_go_back_under_both_names() {
    check(vec![turn(&[Hard(A, B)]), turn(&[Mode(A)]), act(Aim::Undo(1)), act(Aim::Redo(1))]);
    // One name goes, and the other one's mode is restored.
    check(vec![turn(&[Hard(A, B)]), call(&[Mode(A)]), act(Aim::Undo(1)), act(Aim::Redo(1))]);
}

#[test]
fn the_same_request_twice_at_once_is_done_once() {
    check(vec![
        turn(&[Lines(A, 0, 1)]),
        with_fault(Aim::Turn(0), Fault::Twins),
        with_fault(Aim::Undo(1), Fault::Twins),
    ]);
}

#[test]
fn changes_of_a_killed_call_are_uncertain_and_stay() {
    let killed = |place| {
        [
            turn(&[Lines(A, 0, 1), Lines(B, 0, 1)]),
            Do::Begin(true),
            Do::Edit(vec![Lines(A, place, 1), Lines(C, 0, 1)]),
            Do::Kill,
        ]
    };
    for place in [1, 0] {
        check(
            killed(place)
                .into_iter()
                .chain([act(Aim::Turn(0)), act(Aim::Undo(1)), act(Aim::Turn(0)), Say])
                .collect(),
        );
        check(killed(place).into_iter().chain([act(Aim::Turn(1)), act(Aim::Undo(1))]).collect());
    }
}

#[test]
fn bits_of_one_name_go_back_without_those_of_another() {
    check(vec![turn(&[Copy(A, B), Mode(B)]), turn(&[Hard(A, B)]), act(Aim::Undo(1)), act(Aim::Redo(1))]);
}

#[test]
fn a_file_whose_old_name_is_in_conflict_does_not_vanish_under_the_new_one() {
    check(vec![
        call(&[Link(A, A), Lines(A, 0, 0)]),
        Do::Edit(vec![Lines(A, 0, 1)]),
        call(&[Rename(A, B)]),
        act(Aim::Drop(0)),
    ]);
    // Also if the agent created it.
    run(
        &[Lines(B, 0, 0)],
        &[
            (0, call(&[Lines(A, 0, 0)])),
            (0, call(&[Hard(A, A)])),
            (0, Do::Edit(vec![Lines(A, 1, 0)])),
            (0, turn(&[Rename(A, C)])),
            (0, act(Aim::Rewind(5))),
        ],
    );
}

#[test]
fn a_file_that_is_saved_while_bits_are_set_keeps_its_own() {
    check(vec![call(&[Mode(A)]), with_fault(Aim::Rewind(0), Fault::Saves(1, A))]);
}

#[test]
fn uncertain_change_is_reported_for_a_file_that_is_gone() {
    run(
        &[Lines(DEX, 0, 0)],
        &[
            (1, Do::Begin(false)),
            (0, Do::Edit(vec![Lines(DEX, 0, 1)])),
            (0, call(&[Rename(DEX, A)])),
            (0, Do::Kill),
            (1, act(Aim::Rewind(0))),
        ],
    );
}

#[test]
fn content_below_a_call_whose_file_others_removed() {
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
fn a_call_comes_again_where_a_choice_has_settled_what_others_put_in_its_place() {
    let steps = [
        (0, Git(1)),
        (0, Git(0)),
        (0, Do::Edit(vec![Lines(A, 0, 1)])),
        (0, call(&[Write(A, Bytes::Empty)])),
        (0, Git(1)),
        (0, Act(Aim::Rewind(0), Both, (Vec::new(), Some(Choice::Checkpoint)), Never)),
        (0, act(Aim::Checkout(Some(0)))),
    ];
    run(&[Lines(A, 0, 0)], &steps);
}

#[test]
fn a_file_that_is_saved_just_as_the_step_would_leave_it_stays_when_the_step_is_taken_back() {
    let steps = [
        (0, call(&[Lines(B, 0, 0)])),
        (0, Act(Aim::Rewind(0), Both, (Vec::new(), None), Saves(1, A))),
        (0, call(&[Lines(A, 0, 0)])),
        (0, Act(Aim::Choose(0, 1), Both, (Vec::new(), None), Saves(1, A))),
    ];
    run(&[Lines(A, 0, 0)], &steps);
}

#[test]
fn a_file_that_is_saved_just_as_it_was_is_what_the_step_found() {
    let steps = [
        (0, call(&[Lines(A, 0, 0)])),
        (0, call(&[Link(G, A)])),
        (0, call(&[Lines(A, 0, 0)])),
        (0, turn(&[Rename(G, A)])),
        (0, Act(Aim::Turn(1), Both, (Vec::new(), None), Saves(17, A))),
        (0, Act(Aim::Checkout(Some(130)), Both, (vec![(A, Choice::Checkpoint)], None), Saves(1, A))),
    ];
    run(&[Link(DE, A)], &steps);
}

#[test]
fn file_restored_by_git_does_not_keep_a_removed_file() {
    let steps = [
        (0, call(&[Lines(A, 0, 0)])),
        (0, Git(1)),
        (1, call(&[Lines(A, 2, 0)])),
        (0, call(&[Lines(A, 1, 0)])),
        (0, Git(0)),
        (0, act(Aim::Turn(0))),
    ];
    run(&[Lines(C, 0, 0)], &steps);
}

#[test]
fn a_file_that_somebody_saved_under_a_later_removal_blocks_nothing() {
    let steps = [
        call(&[Lines(A, 0, 1)]),
        Act(Aim::Rewind(0), Both, (Vec::new(), None), Saves(1, A)),
        turn(&[Remove(A)]),
        act(Aim::Drop(1)),
    ];
    run(&[Lines(A, 0, 0)], &steps.map(|step| (0, step)));
}

#[test]
fn uncertain_content_that_was_exactly_reverted_returns_with_its_turn() {
    check(vec![
        Do::Edit(vec![Write(A, Bytes::Empty), Lines(A, 0, 0)]),
        Do::Begin(false),
        Do::Edit(vec![Lines(A, 1, 0)]),
        Do::Kill,
        choosing(Aim::Drop(0), A, Choice::Checkpoint),
        act(Aim::Show),
    ]);
}

#[test]
fn bits_go_back_under_both_names_of_a_file_that_took_the_place_of_one_with_an_attribute() {
    let steps =
        [call(&[Lines(A, 0, 0)]), call(&[Tag(A)]), turn(&[Hard(C, A)]), turn(&[Mode(A)]), act(Aim::Retry(0))];
    run(&[Lines(C, 0, 0)], &steps.map(|step| (0, step)));
}

#[test]
fn later_edit_does_not_block_undo_of_a_choice_that_changed_nothing() {
    let steps = [
        (0, call(&[Lines(A, 1, 0)])),
        (0, turn(&[Lines(A, 2, 0)])),
        (0, call(&[Lines(B, 0, 0)])),
        (0, Git(0)),
        (0, choosing(Aim::Drop(0), A, Choice::Disk)),
        (0, call(&[Link(A, B)])),
        (1, call(&[Link(A, A)])),
        (0, act(Aim::Undo(1))),
    ];
    run(&[Lines(A, 0, 0)], &steps);
}

#[test]
fn uncertain_content_is_reported_at_the_name_that_a_kept_turn_moved_it_from() {
    let steps = [
        (0, call(&[Lines(A, 0, 0)])),
        (0, Do::Begin(false)),
        (1, call(&[Lines(A, 0, 1)])),
        (0, Do::Kill),
        (0, turn(&[Folder(A)])),
        (0, call(&[Rename(A, B)])),
        (0, act(Aim::Drop(1))),
    ];
    run(&[Remove(A)], &steps);
}

#[test]
fn a_choice_for_a_file_that_went_after_it_was_linked_holds_for_the_other_name() {
    check(vec![call(&[Hard(A, B)]), call(&[Remove(A)]), choosing(Aim::Undo(1), A, Choice::Skip)]);
}

#[test]
fn a_file_that_is_saved_during_an_exact_step_had_become_what_was_asked_for() {
    let exactly = Act(Aim::Rewind(0), Both, (vec![(A, Choice::Checkpoint)], None), Saves(8, A));
    run(&[Lines(A, 0, 0)], &[(0, Do::Begin(false)), (1, call(&[Lines(A, 1, 0)])), (1, exactly)]);
    check(vec![turn(&[Lines(A, 0, 1)]), with_fault(Aim::Turn(0), Saves(8, A))]);
}

#[test]
fn a_choice_for_one_name_of_a_rename_holds_for_the_other_one_though_it_is_uncertain() {
    run(
        &[Lines(A, 0, 0)],
        &[
            (1, Do::Begin(false)),
            (0, call(&[Rename(A, DEX)])),
            (0, Do::Kill),
            (0, choosing(Aim::Undo(1), A, Choice::Skip)),
        ],
    );
}

#[test]
fn uncertain_content_may_be_reported_at_the_name_that_another_removed() {
    run(
        &[Lines(B, 0, 0)],
        &[
            (0, call(&[Lines(A, 0, 0)])),
            (0, Do::Begin(false)),
            (1, call(&[Mode(A)])),
            (0, Do::Edit(vec![Rename(A, C)])),
            (1, act(Aim::Rewind(0))),
        ],
    );
    // A choice is made for that name, too.
    run(
        &[Lines(A, 0, 0)],
        &[
            (0, Do::Begin(false)),
            (1, call(&[Lines(A, 0, 1)])),
            (0, Do::Kill),
            (0, call(&[Rename(A, B)])),
            (1, choosing(Aim::Rewind(0), A, Choice::Skip)),
        ],
    );
}

#[test]
fn bytes_that_are_back_already_are_in_no_conflict_whatever_their_bits() {
    run(
        &[Lines(A, 0, 0)],
        &[
            (0, Do::Git(1)),
            (0, Do::Edit(vec![Mode(A)])),
            (0, call(&[Write(A, Bytes::Empty)])),
            (1, call(&[Lines(A, 0, 0)])),
            (0, Do::Git(0)),
            (0, call(&[Write(A, Bytes::Empty)])),
            (1, act(Aim::Restore(7))),
        ],
    );
}

#[test]
fn content_left_by_a_choice_on_files_stays_the_persons_after_a_restore() {
    let steps = [
        (0, call(&[Hard(A, B)])),
        (0, Act(Aim::Undo(1), Files, (Vec::new(), Some(Choice::Disk)), Never)),
        (0, act(Aim::Restore(5))),
        (0, act(Aim::Rewind(0))),
    ];
    run(&[Lines(A, 0, 0)], &steps);
}

#[test]
fn a_version_that_replaced_one_with_a_persons_attribute_comes_without_it() {
    let steps = [
        Do::End,
        call(&[Lines(A, 0, 0)]),
        Do::Edit(vec![Tag(A)]),
        call(&[Remove(A), Lines(A, 0, 0)]),
        act(Aim::Undo(1)),
        act(Aim::Restore(9)),
    ];
    run(&[Lines(A, 0, 0)], &steps.map(|step| (0, step)));
}

#[test]
fn a_hard_link_whose_first_name_was_replaced_may_be_in_conflict() {
    let steps = [
        call(&[Hard(A, B), Link(A, A)]),
        Do::Edit(vec![Lines(B, 0, 1)]),
        turn(&[Lines(A, 0, 0)]),
        turn(&[Lines(A, 0, 0)]),
        act(Aim::Rewind(6)),
    ];
    run(&[Lines(A, 0, 0)], &steps.map(|step| (0, step)));
}

#[test]
fn content_that_git_inserted_does_not_change_the_base_of_a_call() {
    let steps = [
        Git(1),
        Do::Edit(vec![Lines(A, 0, 1)]),
        call(&[Write(A, Bytes::Empty)]),
        Git(0),
        act(Aim::Undo(1)),
        Do::Edit(vec![Write(A, Bytes::Empty)]),
        turn(&[Lines(A, 0, 0)]),
        Act(Aim::Undo(1), Both, (Vec::new(), Some(Choice::Merge)), Never),
        act(Aim::Undo(1)),
    ];
    run(&[Lines(A, 0, 0)], &steps.map(|step| (0, step)));
}

#[test]
fn a_copy_may_be_what_a_renamed_file_was_where_that_is_kept() {
    let steps = [
        Do::Edit(vec![Hard(A, C)]),
        call(&[Hard(A, B)]),
        call(&[Rename(A, DX)]),
        choosing(Aim::Undo(1), A, Choice::Skip),
    ];
    run(&[Lines(A, 0, 0)], &steps.map(|step| (0, step)));
}

#[test]
fn a_line_that_another_conversation_put_back_goes_with_the_call_that_wrote_it() {
    let steps = [
        (0, Git(0)),
        (0, call(&[Lines(A, 0, 2)])),
        (0, Do::Edit(vec![Lines(A, 2, 1)])),
        (0, Do::Begin(false)),
        (1, call(&[Lines(A, 0, 0)])),
        (1, choosing(Aim::Undo(1), A, Choice::Checkpoint)),
        (0, Do::End),
        (0, act(Aim::Restore(3))),
    ];
    run(&[Lines(A, 0, 1)], &steps);
}

#[test]
fn trial_06_content_restored_by_git_as_several_calls_left_it_stays() {
    let binary = ([Write(A, Bytes::Binary)], [Lines(A, 0, 1)]);
    for (first, second) in [binary, ([Lines(A, 1, 1)], [Lines(A, 0, 1)])] {
        for undo in [act(Aim::Undo(2)), choosing(Aim::Undo(2), A, Choice::Merge)] {
            let steps =
                [call(&first), call(&second), Git(1), act(Aim::Drop(0)), Git(0), undo, act(Aim::Undo(1))];
            run(&[Lines(B, 0, 1)], &steps.map(|step| (0, step)));
        }
    }
}

#[test]
fn equal_change_that_somebody_removed_does_not_return_with_its_turn() {
    let steps = [
        call(&[Lines(A, 0, 2)]),
        Git(1),
        act(Aim::Drop(0)),
        Git(0),
        act(Aim::Undo(1)),
        Git(1),
        act(Aim::Undo(1)),
        act(Aim::Restore(1)),
    ];
    run(&[Lines(B, 0, 1)], &steps.map(|step| (0, step)));
}
