//! Sequences that once failed in the property test, each minimized.

use retake_core::Choice;
use retake_core::Scope::{self, Both, Files};

use super::run;
use super::short::{A, B, C, D, DE, DEX, DX, G, act, call, check, choosing, turn, within};
use super::steps::Do::{self, Act, Say};
use super::steps::Edit::{Copy, Flat, Folder, Lines, Mode, Remove, Rename, Write};
use super::steps::Fault::Never;
use super::steps::{Aim, Bytes};

#[test]
fn choice_for_all_paths_applies_without_conflicts() {
    let yours = Act(Aim::Undo(1), Both, (Vec::new(), Some(Choice::Yours)), Never);
    check(vec![
        Do::Checkpoint,
        Do::Edit(vec![Lines(A, 1, 1)]),
        turn(&[Lines(A, 0, 1)]),
        turn(&[Lines(A, 0, 1)]),
        yours,
    ]);
}

#[test]
fn a_folder_that_is_needed_is_made_and_the_plan_says_so() {
    let tree = [call(&[Folder(DE)]), call(&[Flat(D)])];
    let skipped = choosing(Aim::Redo(1), DE, Choice::Skip);
    check(tree.iter().cloned().chain([act(Aim::Rewind(0)), act(Aim::Undo(1)), skipped]).collect());
    // The agent empties a folder, another author removes it, and the agent puts a file in its place.
    let emptied =
        [turn(&[Lines(DX, 0, 1)]), turn(&[Remove(DX)]), Do::Edit(vec![Remove(D)]), turn(&[Flat(D)])];
    check(emptied.into_iter().chain([act(Aim::Turn(1))]).collect());
}

#[test]
fn a_folder_that_somebody_removed_is_made_again_for_a_file_that_comes_back() {
    let emptied = [turn(&[Lines(DX, 0, 1)]), turn(&[Remove(DX)]), Do::Edit(vec![Remove(D)])];
    check(emptied.into_iter().chain([act(Aim::Turn(0))]).collect());
}

#[test]
fn a_line_of_a_person_below_a_layer_outlives_a_choice_and_a_rewind() {
    for place in [0, 1] {
        for choice in [Choice::Disk, Choice::Skip, Choice::Checkpoint] {
            check(vec![
                turn(&[Lines(A, 0, 1)]),
                Do::Edit(vec![Lines(A, 2, 1)]),
                turn(&[Lines(A, place, 1)]),
                choosing(Aim::Drop(1), A, choice),
                act(Aim::Turn(0)),
            ]);
        }
    }
}

#[test]
fn the_old_name_comes_back_with_the_persons_edit_and_without_the_agents() {
    let both = [turn(&[Rename(A, B)]), turn(&[Lines(B, 0, 1)]), Do::Edit(vec![Lines(B, 2, 1)])];
    check(both.into_iter().chain([act(Aim::Turn(1)), act(Aim::Undo(1)), act(Aim::Redo(1))]).collect());
    let one = [turn(&[Rename(A, B)]), Do::Edit(vec![Lines(B, 2, 1)]), call(&[Lines(B, 0, 1)])];
    check(one.into_iter().chain([act(Aim::Turn(0)), act(Aim::Undo(1))]).collect());
}

#[test]
fn certain_changes_are_rewound_and_uncertain_ones_stay() {
    let steps = [
        (0, turn(&[Lines(A, 0, 1), Lines(B, 0, 1)])),
        (1, Do::Begin(true)),
        (0, turn(&[Lines(A, 2, 1), Lines(C, 0, 1)])),
        (1, Do::End),
        (0, act(Aim::Turn(1))),
        (0, act(Aim::Undo(1))),
    ];
    run(&[Lines(A, 0, 1)], &steps);
}

#[test]
fn answer_to_a_rewind_is_undone_with_it_and_its_files() {
    let again = [turn(&[Lines(A, 0, 1)]), act(Aim::Retry(0)), call(&[Lines(A, 1, 1), Lines(B, 0, 1)])];
    check(again.iter().cloned().chain([act(Aim::Undo(1)), act(Aim::Redo(1)), act(Aim::Undo(2))]).collect());
}

#[test]
fn undo_takes_back_nothing_but_what_was_done_last() {
    // Only files were rewound: an undo of a later message does not redo them.
    let behind = [turn(&[Lines(A, 0, 1)]), within(Aim::Turn(0), Files), Say];
    check(behind.iter().cloned().chain([act(Aim::Undo(1)), act(Aim::Redo(1)), act(Aim::Undo(2))]).collect());
    // Nor does the undo of a rewind redo what another one had reverted.
    check(vec![
        call(&[Lines(B, 0, 1)]),
        turn(&[Lines(A, 0, 1)]),
        act(Aim::Turn(0)),
        call(&[Lines(A, 0, 1)]),
        within(Aim::Rewind(2), Files),
        call(&[Lines(A, 0, 1)]),
        act(Aim::Rewind(4)),
        act(Aim::Undo(1)),
    ]);
}

#[test]
fn several_steps_undone_at_once_are_redone_one_by_one() {
    let both = [turn(&[Lines(A, 0, 1)]), turn(&[Lines(B, 0, 1)]), act(Aim::Undo(2))];
    check(both.iter().cloned().chain([act(Aim::Redo(1)), act(Aim::Redo(1)), act(Aim::Undo(2))]).collect());
}

#[test]
fn two_copies_of_what_was_renamed_are_not_both_put_in_its_place() {
    let copies = turn(&[Copy(A, B), Rename(A, C)]);
    let saved = |name| Do::Edit(vec![Write(name, Bytes::Binary)]);
    check(vec![copies, saved(B), saved(C), act(Aim::Turn(0))]);
}

#[test]
fn permission_bits_go_along_with_what_was_renamed() {
    let edits = [Lines(B, 3, 1), Mode(B)];
    for count in 1..=2 {
        let changed = Do::Edit(edits[2 - count..].to_vec());
        check(vec![turn(&[Rename(A, B)]), changed, act(Aim::Turn(0)), act(Aim::Undo(1))]);
    }
}

#[test]
fn file_moved_with_its_folder_over_another_belongs_to_the_call() {
    check(vec![
        Do::Edit(vec![Lines(DX, 2, 1)]),
        call(&[]),
        Do::Edit(vec![Rename(D, G)]),
        call(&[Lines(DEX, 0, 1)]),
        call(&[Rename(D, G)]),
        act(Aim::Turn(0)),
    ]);
}

#[test]
fn showing_a_message_settles_nothing_that_another_step_left() {
    // The mode was changed while both conversations ran: undo leaves it, and it does not belong to the shown turn.
    let steps = [
        (0, call(&[Lines(A, 0, 1)])),
        (0, act(Aim::Drop(0))),
        (0, turn(&[Lines(A, 0, 1)])),
        (1, Do::Begin(false)),
        (0, turn(&[Mode(A)])),
        (0, act(Aim::Undo(1))),
        (0, act(Aim::Show)),
    ];
    run(&[Lines(A, 0, 1)], &steps);
    // Nor does it redo what a rewind of only the conversation has left.
    check(vec![
        turn(&[Lines(A, 0, 1)]),
        turn(&[Lines(B, 0, 1)]),
        turn(&[Lines(C, 0, 1)]),
        act(Aim::Drop(2)),
        within(Aim::Turn(0), Scope::Conversation),
        act(Aim::Show),
        act(Aim::Undo(1)),
    ]);
}

#[test]
fn a_line_of_a_person_between_two_layers_is_not_lost_with_the_lower_one() {
    // The same place, three times: what the drop keeps is below for the rewind.
    for choice in [Choice::Checkpoint, Choice::Disk] {
        check(vec![
            turn(&[Lines(A, 0, 1)]),
            Do::Edit(vec![Lines(A, 0, 1)]),
            turn(&[Lines(A, 0, 1)]),
            choosing(Aim::Drop(1), A, choice),
            act(Aim::Turn(0)),
        ]);
    }
}

#[test]
fn a_rename_that_comes_again_loses_nothing_of_the_persons() {
    check(vec![turn(&[Rename(A, B)]), act(Aim::Turn(0)), Do::Edit(vec![Lines(A, 0, 1)]), act(Aim::Undo(1))]);
}

#[test]
fn a_call_that_stays_keeps_its_change_when_an_undo_goes_past_it() {
    // A call without a turn of its own, after a drop: the undo of the drop reverts nothing of it.
    for choice in [None, Some(Choice::Checkpoint)] {
        let drop = Act(Aim::Drop(0), Both, (Vec::new(), choice), Never);
        check(vec![turn(&[Lines(A, 1, 1)]), drop, call(&[Lines(A, 2, 1)]), act(Aim::Undo(1)), Say]);
    }
}

#[test]
fn content_kept_without_a_change_is_the_persons_own() {
    let disk = Act(Aim::Undo(1), Both, (Vec::new(), Some(Choice::Disk)), Never);
    let nothing = [turn(&[Lines(A, 0, 1)]), turn(&[Lines(A, 0, 0)]), act(Aim::Turn(1))];
    check(nothing.into_iter().chain([disk, act(Aim::Drop(0))]).collect());
}

#[test]
fn a_file_that_a_later_call_wrote_in_does_not_go_with_the_call_that_made_it() {
    let skipped = Act(Aim::Turn(0), Both, (Vec::new(), Some(Choice::Skip)), Never);
    check(vec![turn(&[Lines(DX, 0, 1)]), skipped, turn(&[Lines(DX, 0, 1)]), turn(&[]), act(Aim::Turn(0))]);
    check(vec![turn(&[Lines(B, 0, 1)]), turn(&[Lines(B, 1, 1)]), act(Aim::Drop(1))]);
}

#[test]
fn steps_that_cancel_each_other_clash_with_nothing() {
    let exactly = Act(Aim::Rewind(0), Both, (Vec::new(), Some(Choice::Checkpoint)), Never);
    check(vec![call(&[Rename(A, B)]), exactly, Do::Edit(vec![Lines(A, 0, 1)]), act(Aim::Undo(2))]);
}

#[test]
fn an_exact_step_leaves_a_folder_in_which_another_conversation_wrote() {
    let exactly = Act(Aim::Rewind(0), Both, (Vec::new(), Some(Choice::Checkpoint)), Never);
    run(&[], &[(1, call(&[Lines(DEX, 0, 0)])), (0, call(&[Lines(D, 0, 0)])), (1, exactly)]);
}

#[test]
fn content_kept_in_between_is_not_reverted_with_several_steps() {
    run(
        &[Lines(A, 0, 0)],
        &[
            (0, call(&[Write(DX, Bytes::Empty)])),
            (0, call(&[Copy(DX, A)])),
            (1, call(&[Lines(A, 0, 0)])),
            (0, choosing(Aim::Rewind(0), A, Choice::Disk)),
            (0, act(Aim::Undo(2))),
        ],
    );
}

#[test]
fn content_kept_by_a_choice_stays_the_persons_after_a_checkout() {
    let kept = Act(Aim::Rewind(0), Both, (Vec::new(), Some(Choice::Disk)), Never);
    check(vec![call(&[Lines(A, 0, 1)]), kept, act(Aim::Checkout(Some(63))), act(Aim::Rewind(0))]);
}

#[test]
fn uncertain_content_may_conflict_with_returning_content() {
    run(
        &[Lines(A, 0, 0)],
        &[
            (0, call(&[Write(A, Bytes::Empty)])),
            (1, Do::Begin(false)),
            (0, act(Aim::Retry(0))),
            (0, call(&[Lines(A, 0, 1)])),
            (0, act(Aim::Undo(1))),
        ],
    );
}

#[test]
fn intermediate_conflict_without_a_final_difference_is_no_conflict() {
    run(
        &[Lines(A, 0, 0)],
        &[
            (1, call(&[Lines(A, 0, 1)])),
            (0, call(&[Write(A, Bytes::Empty)])),
            (0, act(Aim::Restore(1))),
            (1, act(Aim::Rewind(0))),
            (0, act(Aim::Undo(2))),
        ],
    );
}

#[test]
fn content_adopted_at_an_earlier_head_returns_with_it() {
    let half = |aim| within(aim, Scope::Conversation);
    run(
        &[Lines(A, 0, 0)],
        &[
            (0, call(&[Lines(A, 0, 1)])),
            (0, half(Aim::Undo(1))),
            (0, act(Aim::Redo(1))),
            (0, turn(&[Lines(A, 1, 0)])),
            (0, Say),
            (0, act(Aim::Rewind(4))),
            (0, act(Aim::Restore(10))),
        ],
    );
}

#[test]
fn skipped_path_keeps_certain_content_beside_uncertain_content() {
    let skip = Act(Aim::Retry(0), Both, (vec![(A, Choice::Skip)], None), Never);
    let merge = Act(Aim::Rewind(0), Both, (Vec::new(), Some(Choice::Merge)), Never);
    run(
        &[Lines(DE, 0, 0)],
        &[
            (1, call(&[Lines(A, 0, 0)])),
            (0, call(&[Lines(A, 1, 1)])),
            (0, call(&[Remove(B)])),
            (1, Do::Begin(false)),
            (0, call(&[Lines(A, 0, 1)])),
            (0, skip),
            (0, merge),
        ],
    );
}

#[test]
fn a_checkout_of_a_dropped_call_ends_at_its_result() {
    check(vec![call(&[Lines(A, 0, 0)]), act(Aim::Drop(0)), act(Aim::Checkout(Some(142)))]);
}

#[test]
fn a_renamed_file_stays_where_its_old_name_has_something_else() {
    let half = within(Aim::Rewind(5), Scope::Conversation);
    check(vec![
        call(&[Rename(A, B)]),
        turn(&[Lines(A, 0, 0)]),
        turn(&[Lines(A, 0, 0)]),
        half,
        act(Aim::Rewind(0)),
    ]);
}
