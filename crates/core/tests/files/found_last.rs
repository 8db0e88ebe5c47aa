//! The latest failing sequences of the property test.

use retake_core::Choice;
use retake_core::Scope::{Both, Conversation, Files};

use super::run;
use super::short::{A, B, C, D, DE, DEX, DX, G, act, all, call, check, choosing, turn};
use super::steps::Do::{self, Act, Say};
use super::steps::Edit::{Flat, Lines, Link, Mode, Remove, Rename, Write};
use super::steps::Fault::Never;
use super::steps::{Aim, Bytes};

#[test]
fn a_later_turn_wrote_under_the_new_name_of_a_rename_that_is_dropped() {
    check(vec![call(&[Rename(A, DX)]), turn(&[Lines(D, 1, 0)]), act(Aim::Drop(1))]);
    check(vec![call(&[Rename(A, B)]), turn(&[Lines(B, 1, 1)]), act(Aim::Drop(1))]);
}

#[test]
fn folder_content_goes_when_exactly_the_file_in_its_place_was_chosen() {
    let steps = [
        call(&[Flat(A)]),
        all(Aim::Drop(0), Choice::Checkpoint),
        call(&[Link(DX, A)]),
        all(Aim::Undo(1), Choice::Checkpoint),
    ];
    run(&[Lines(A, 0, 0)], &steps.map(|step| (0, step)));
}

#[test]
fn a_change_under_anothers_goes_from_a_text_that_a_later_turn_removed() {
    let steps = [
        (0, call(&[Lines(A, 0, 1)])),
        (1, call(&[Lines(A, 0, 1)])),
        (0, turn(&[Remove(A)])),
        (0, Do::End),
        (0, act(Aim::Drop(1))),
    ];
    run(&[Lines(A, 0, 0)], &steps);
}

#[test]
fn adopted_lines_go_along_to_the_name_for_which_the_checkpoint_was_chosen() {
    let steps = [
        call(&[Write(A, Bytes::Empty)]),
        call(&[Write(A, Bytes::Empty)]),
        call(&[Lines(A, 0, 0)]),
        turn(&[Lines(A, 0, 1)]),
        Say,
        Act(Aim::Turn(1), Conversation, (Vec::new(), None), Never),
        call(&[Rename(A, B)]),
        Act(Aim::Turn(0), Both, (vec![(A, Choice::Checkpoint)], None), Never),
    ];
    run(&[Lines(A, 0, 0)], &steps.map(|step| (0, step)));
}

#[test]
fn content_kept_twice_is_inserted_by_no_later_step() {
    let steps = [
        call(&[Lines(A, 0, 1)]),
        choosing(Aim::Rewind(0), A, Choice::Disk),
        choosing(Aim::Undo(1), A, Choice::Disk),
        Say,
        Do::End,
        call(&[Lines(A, 0, 0)]),
        act(Aim::Rewind(0)),
    ];
    run(&[Lines(A, 0, 0)], &steps.map(|step| (0, step)));
}

#[test]
fn content_left_by_a_choice_is_not_returned_by_undo_of_files_alone() {
    let files = |aim, choice| Act(aim, Files, (Vec::new(), choice), Never);
    let steps = [
        call(&[Flat(A)]),
        files(Aim::Rewind(0), Some(Choice::Disk)),
        files(Aim::Undo(1), None),
        Say,
        act(Aim::Checkout(None)),
    ];
    run(&[Link(A, A)], &steps.map(|step| (0, step)));
}

#[test]
fn uncertain_content_that_was_exactly_reverted_may_go_unreported() {
    let steps = [
        (1, Do::Begin(false)),
        (0, call(&[Lines(DE, 0, 0)])),
        (0, choosing(Aim::Rewind(0), DE, Choice::Checkpoint)),
        (0, call(&[Lines(A, 0, 0)])),
        (0, act(Aim::Restore(3))),
    ];
    run(&[Flat(A)], &steps);
}

#[test]
fn part_of_a_skipped_change_that_others_removed_is_asked_about_again() {
    check(vec![
        call(&[Lines(A, 0, 1)]),
        choosing(Aim::Undo(1), A, Choice::Skip),
        call(&[Link(A, A)]),
        call(&[Remove(A)]),
        Do::Edit(vec![Lines(A, 0, 0)]),
        act(Aim::Checkout(Some(8))),
        act(Aim::Rewind(0)),
    ]);
}

#[test]
fn one_name_of_a_renamed_file_with_a_persons_line_is_in_conflict() {
    let steps = [
        (1, call(&[Lines(A, 0, 0)])),
        (0, Do::Edit(vec![Lines(A, 0, 1)])),
        (1, call(&[Rename(A, C), Write(A, Bytes::Empty)])),
        (1, act(Aim::Drop(0))),
    ];
    run(&[Lines(B, 0, 0)], &steps);
}

#[test]
fn nothing_is_in_the_way_of_undoing_a_choice_that_changed_nothing() {
    let steps = [
        (1, call(&[Lines(A, 0, 1)])),
        (0, Do::Edit(vec![Link(A, A)])),
        (1, choosing(Aim::Rewind(0), A, Choice::Disk)),
        (1, act(Aim::Undo(1))),
    ];
    run(&[Lines(A, 0, 0)], &steps);
}

#[test]
fn a_call_that_is_answered_after_other_messages_goes_with_its_result() {
    check(vec![
        Do::Begin(false),
        Do::Edit(vec![Write(A, Bytes::Empty)]),
        Say,
        Say,
        Do::End,
        act(Aim::Retry(0)),
    ]);
}

#[test]
fn others_wrote_over_what_a_later_call_left() {
    check(vec![
        call(&[Write(A, Bytes::Empty)]),
        choosing(Aim::Drop(0), A, Choice::Skip),
        call(&[Lines(A, 0, 0)]),
        call(&[Remove(A)]),
        Do::Edit(vec![Lines(A, 0, 0)]),
        call(&[Lines(A, 0, 0)]),
        act(Aim::Rewind(0)),
    ]);
}

#[test]
fn lines_of_a_renamed_file_that_was_skipped_go_with_the_rename() {
    check(vec![
        Do::Edit(vec![Lines(C, 0, 0)]),
        call(&[Rename(C, A)]),
        call(&[Lines(A, 0, 1)]),
        choosing(Aim::Retry(0), A, Choice::Skip),
        act(Aim::Rewind(0)),
    ]);
}

#[test]
fn content_that_returns_into_a_renamed_file_may_be_in_conflict() {
    let steps = [
        call(&[Lines(A, 0, 1)]),
        call(&[Lines(A, 0, 0)]),
        act(Aim::Rewind(4)),
        call(&[Rename(A, B)]),
        turn(&[Lines(A, 0, 0)]),
        all(Aim::Turn(1), Choice::Disk),
        act(Aim::Checkout(Some(28))),
    ];
    run(&[Lines(A, 0, 0)], &steps.map(|step| (0, step)));
}

#[test]
fn persons_edit_stays_when_an_uncertain_rename_is_reverted_at_its_new_name_alone() {
    let steps = [
        (0, call(&[Lines(A, 0, 0)])),
        (0, Do::Edit(vec![Lines(A, 0, 1)])),
        (0, Do::Begin(false)),
        (1, call(&[Rename(A, B)])),
        (0, Do::End),
        (0, all(Aim::Rewind(2), Choice::Merge)),
    ];
    run(&[Lines(B, 0, 0)], &steps);
}

#[test]
fn several_steps_that_are_undone_at_once_bring_back_all_that_the_conversation_has_then() {
    let steps = [
        (0, call(&[Lines(A, 0, 1)])),
        (0, act(Aim::Drop(0))),
        (0, call(&[Lines(A, 1, 0)])),
        (0, act(Aim::Rewind(0))),
        (0, act(Aim::Undo(2))),
    ];
    run(&[Lines(A, 0, 0)], &steps);
}

#[test]
fn a_persons_new_file_does_not_go_to_where_they_had_moved_the_agents() {
    let steps = [
        turn(&[Lines(A, 0, 1)]),
        Do::Edit(vec![Rename(A, DX), Lines(A, 0, 1)]),
        call(&[Remove(D)]),
        act(Aim::Undo(1)),
    ];
    run(&[Lines(B, 0, 0)], &steps.map(|step| (0, step)));
}

#[test]
fn a_line_that_another_conversation_brings_back_after_a_choice_is_theirs() {
    let steps = [
        (0, call(&[Lines(A, 0, 1)])),
        (1, call(&[Write(A, Bytes::Empty)])),
        (0, all(Aim::Rewind(0), Choice::Disk)),
        (1, act(Aim::Rewind(0))),
        (0, call(&[Lines(A, 0, 0)])),
        (0, act(Aim::Rewind(0))),
    ];
    run(&[Lines(A, 0, 0)], &steps);
}

#[test]
fn removal_by_another_conversation_conflicts_also_after_its_turns_left_and_returned() {
    let steps = [
        (0, call(&[Lines(DEX, 0, 0)])),
        (0, turn(&[Lines(DE, 0, 1)])),
        (1, call(&[Remove(DEX)])),
        (0, act(Aim::Checkout(None))),
        (0, act(Aim::Restore(1))),
        (0, act(Aim::Turn(0))),
    ];
    run(&[Remove(A)], &steps);
}

#[test]
fn layers_above_a_file_that_a_person_moved_do_not_block_its_turn() {
    let steps = [
        (0, call(&[Lines(A, 0, 0)])),
        (1, call(&[Remove(A)])),
        (0, call(&[Lines(A, 0, 0)])),
        (0, call(&[Lines(C, 0, 0)])),
        (0, Do::Edit(vec![Rename(C, DEX)])),
        (0, turn(&[Lines(C, 0, 0)])),
        (0, turn(&[Lines(A, 0, 0)])),
        (0, Act(Aim::Retry(3), Conversation, (Vec::new(), None), Never)),
        (0, act(Aim::Drop(1))),
    ];
    run(&[Remove(A)], &steps);
}

#[test]
fn content_left_by_a_choice_in_a_removed_file_does_not_return_with_a_restore() {
    let steps = [
        call(&[Rename(A, B)]),
        turn(&[Lines(A, 0, 0)]),
        act(Aim::Rewind(0)),
        Say,
        call(&[Lines(A, 0, 0)]),
        call(&[Lines(A, 0, 1)]),
        all(Aim::Rewind(2), Choice::Disk),
        Do::Edit(vec![Remove(A)]),
        act(Aim::Restore(9)),
    ];
    run(&[Lines(A, 0, 0)], &steps.map(|step| (0, step)));
}

#[test]
fn a_choice_for_what_an_earlier_choice_had_kept_holds_in_a_step_on_files_alone() {
    let steps = [
        call(&[Lines(A, 0, 1)]),
        Do::Edit(vec![Lines(A, 0, 0)]),
        turn(&[Mode(A)]),
        all(Aim::Undo(1), Choice::Disk),
        Act(Aim::Redo(1), Files, (Vec::new(), Some(Choice::Yours)), Never),
    ];
    run(&[Lines(A, 0, 1)], &steps.map(|step| (0, step)));
}

#[test]
fn a_file_that_another_conversation_moved_away_does_not_come_back_with_a_part_of_what_made_it() {
    let steps = [
        (0, call(&[Lines(DEX, 0, 0)])),
        (0, call(&[Lines(DE, 0, 1)])),
        (1, call(&[Rename(DEX, A)])),
        (0, act(Aim::Rewind(2))),
        (0, act(Aim::Checkout(Some(177)))),
    ];
    run(&[Remove(A)], &steps);
}

#[test]
fn a_folder_that_was_made_again_over_a_file_that_is_dropped_blocks_nothing() {
    let steps = [
        call(&[Link(DE, A)]),
        turn(&[Flat(A)]),
        turn(&[Rename(A, DX)]),
        act(Aim::Drop(1)),
        Act(Aim::Rewind(0), Conversation, (Vec::new(), None), Never),
        act(Aim::Retry(1)),
    ];
    run(&[Lines(A, 0, 0)], &steps.map(|step| (0, step)));
}

#[test]
fn a_file_that_another_conversation_took_away_is_in_the_way_of_what_comes_back_into_it() {
    let steps = [
        (1, call(&[Lines(A, 0, 0)])),
        (0, call(&[Lines(A, 1, 0)])),
        (0, act(Aim::Rewind(0))),
        (1, act(Aim::Undo(1))),
        (0, call(&[Lines(A, 0, 0)])),
        (0, act(Aim::Undo(1))),
    ];
    run(&[Lines(B, 0, 0)], &steps);
}

#[test]
fn a_file_that_stays_in_a_folder_is_in_the_way_of_an_adopted_one_in_its_place() {
    let steps = [
        call(&[Lines(DX, 0, 1)]),
        turn(&[Flat(A)]),
        Act(Aim::Undo(1), Conversation, (Vec::new(), None), Never),
        call(&[Lines(D, 0, 0)]),
        act(Aim::Rewind(2)),
    ];
    run(&[Lines(DX, 0, 0)], &steps.map(|step| (0, step)));
}

#[test]
fn a_dropped_file_does_not_come_back_with_the_removal_that_a_later_call_made() {
    let steps = [
        call(&[Lines(A, 0, 0)]),
        turn(&[Lines(A, 0, 1)]),
        call(&[Remove(A)]),
        act(Aim::Drop(1)),
        act(Aim::Rewind(0)),
    ];
    run(&[Lines(B, 0, 0)], &steps.map(|step| (0, step)));
}

#[test]
fn a_step_that_is_undone_with_the_turn_before_it_blocks_nothing() {
    let steps = [
        call(&[Write(A, Bytes::Empty)]),
        Act(Aim::Undo(1), Files, (Vec::new(), None), Never),
        call(&[Lines(A, 0, 1)]),
        act(Aim::Undo(2)),
    ];
    run(&[Lines(A, 0, 0)], &steps.map(|step| (0, step)));
}

#[test]
fn anothers_line_under_the_new_name_is_in_conflict_where_another_file_took_the_old_one() {
    let steps = [
        (0, call(&[Rename(A, G)])),
        (1, call(&[Lines(G, 0, 1)])),
        (0, call(&[Lines(A, 0, 0)])),
        (0, act(Aim::Undo(1))),
    ];
    run(&[Lines(A, 0, 0)], &steps);
    check(vec![
        call(&[Rename(A, D)]),
        call(&[Lines(A, 0, 0)]),
        Do::Edit(vec![Lines(DX, 0, 0)]),
        act(Aim::Rewind(2)),
    ]);
}

#[test]
fn folder_content_belongs_to_others_when_the_folder_replaced_an_adopted_file() {
    let steps = [
        (0, call(&[Flat(A)])),
        (0, Act(Aim::Rewind(0), Conversation, (Vec::new(), None), Never)),
        (0, call(&[Lines(DX, 0, 0)])),
        (1, call(&[Lines(DX, 0, 1)])),
        (0, act(Aim::Rewind(0))),
    ];
    run(&[Lines(A, 0, 0)], &steps);
}

#[test]
fn a_choice_for_one_name_holds_for_the_other_one_though_others_wrote_there() {
    let steps = [
        call(&[Rename(G, A)]),
        Do::Edit(vec![Lines(G, 0, 0), Remove(DX)]),
        Do::Edit(vec![Lines(DX, 0, 0)]),
        choosing(Aim::Undo(1), DX, Choice::Skip),
    ];
    run(&[Lines(G, 0, 0)], &steps.map(|step| (0, step)));
}
