//! Failing sequences of the property test since then.

use retake_core::Choice;
use retake_core::Scope::{Both, Conversation};

use super::run;
use super::short::{A, B, C, D, DE, DEX, DX, act, call, choosing, turn, within};
use super::steps::Do::{self, Act, Say};
use super::steps::Edit::{Copy, Flat, Folder, Lines, Link, Mode, Remove, Rename, Write};
use super::steps::Fault::Never;
use super::steps::{Aim, Bytes};

#[test]
fn content_restored_by_another_conversation_as_a_call_left_it_is_rewound_with_the_call() {
    let steps = [
        (0, call(&[Lines(A, 1, 0)])),
        (1, call(&[Rename(A, B), Lines(A, 0, 0)])),
        (0, Do::Edit(vec![Remove(A)])),
        (0, act(Aim::Rewind(0))),
        (1, choosing(Aim::Undo(1), A, Choice::Checkpoint)),
        (0, act(Aim::Undo(1))),
    ];
    run(&[Lines(A, 0, 0)], &steps);
}

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
fn trial_06_content_emptied_by_a_dropped_turn_is_there_below_a_later_turn() {
    let steps = [
        call(&[Write(A, Bytes::Empty)]),
        turn(&[Lines(A, 0, 0)]),
        choosing(Aim::Drop(1), A, Choice::Checkpoint),
        act(Aim::Rewind(0)),
    ];
    run(&[Lines(A, 0, 0)], &steps.map(|step| (0, step)));
}

#[test]
fn a_step_that_kept_a_removal_is_undone() {
    let steps = [
        (0, call(&[Link(B, A)])),
        (1, call(&[Lines(A, 0, 0)])),
        (0, call(&[Lines(A, 0, 1)])),
        (0, Do::Edit(vec![Remove(A)])),
        (0, choosing(Aim::Rewind(2), A, Choice::Disk)),
        (0, act(Aim::Undo(1))),
    ];
    run(&[Flat(A)], &steps);
}

#[test]
fn a_text_in_the_place_of_another_goes_from_its_new_name() {
    let steps = [call(&[Write(A, Bytes::Empty), Lines(A, 0, 0)]), turn(&[Rename(A, B)]), act(Aim::Drop(1))];
    run(&[Lines(A, 0, 0)], &steps.map(|step| (0, step)));
}

#[test]
fn content_that_a_restore_left_below_its_choice_belongs_to_its_turn() {
    let steps = [
        call(&[Lines(A, 0, 1)]),
        call(&[Lines(A, 0, 1)]),
        Say,
        Say,
        choosing(Aim::Turn(2), A, Choice::Skip),
        choosing(Aim::Restore(4), A, Choice::Disk),
        act(Aim::Rewind(0)),
    ];
    run(&[Lines(A, 0, 0)], &steps.map(|step| (0, step)));
}

#[test]
fn both_names_of_a_rename_that_comes_again_wait_together() {
    let steps = [
        call(&[Rename(DEX, A)]),
        act(Aim::Turn(0)),
        call(&[Lines(A, 0, 0)]),
        call(&[Lines(A, 0, 0)]),
        turn(&[Lines(B, 0, 0)]),
        Do::Edit(vec![Rename(B, A)]),
        act(Aim::Checkout(Some(129))),
    ];
    run(&[Lines(DE, 0, 0)], &steps.map(|step| (0, step)));
}

#[test]
fn trial_02_a_redo_that_skipped_a_file_is_undone_though_others_wrote_into_it() {
    let steps = [
        (0, call(&[Lines(DEX, 0, 0)])),
        (0, act(Aim::Rewind(0))),
        (0, act(Aim::Undo(1))),
        (0, Act(Aim::Redo(1), Both, (Vec::new(), Some(Choice::Skip)), Never)),
        (1, call(&[Lines(DEX, 0, 1)])),
        (0, act(Aim::Undo(1))),
    ];
    run(&[Lines(A, 0, 0)], &steps);
}

#[test]
fn content_remade_by_a_later_call_stays_its_own_after_the_choice_disk() {
    for again in [Write(DX, Bytes::Empty), Folder(D)] {
        let steps = [
            call(&[Write(DX, Bytes::Empty)]),
            act(Aim::Drop(0)),
            call(&[again]),
            Act(Aim::Undo(1), Both, (Vec::new(), Some(Choice::Disk)), Never),
            act(Aim::Drop(0)),
        ];
        run(&[Lines(B, 0, 1)], &steps.map(|step| (0, step)));
    }
}

#[test]
fn trial_06_a_change_follows_a_rename_that_left_a_link_in_the_old_place() {
    for person in [vec![], vec![Lines(A, 1, 1)]] {
        for link in [A, C] {
            let steps = [
                call(&[Lines(A, 0, 1)]),
                Do::Edit(person.clone()),
                turn(&[Rename(A, B), Link(A, link)]),
                act(Aim::Drop(1)),
                act(Aim::Undo(1)),
                act(Aim::Drop(0)),
            ];
            run(&[Lines(A, 0, 1)], &steps.map(|step| (0, step)));
        }
    }
}

#[test]
fn a_choice_in_undos_that_cancel_each_other_keeps_nothing() {
    let steps = [
        turn(&[Mode(A)]),
        choosing(Aim::Turn(0), A, Choice::Checkpoint),
        Do::Edit(vec![Write(A, Bytes::Binary)]),
        Act(Aim::Undo(2), Both, (Vec::new(), Some(Choice::Disk)), Never),
        Do::Edit(vec![Lines(A, 0, 1)]),
        act(Aim::Restore(1)),
    ];
    run(&[Lines(A, 0, 1)], &steps.map(|step| (0, step)));
}

#[test]
fn trial_06_content_restored_by_a_person_as_several_calls_left_it_stays_the_persons() {
    // The place of an existing file that both calls wrote, and a file that they created.
    for base in [[Lines(A, 0, 0)], [Lines(C, 0, 1)]] {
        for (first, second) in [(0, 0), (0, 1)] {
            for after in [vec![act(Aim::Undo(2))], vec![act(Aim::Undo(1)), act(Aim::Drop(0))]] {
                let mut steps = vec![
                    call(&[Lines(A, first, 1)]),
                    call(&[Lines(A, second, 1)]),
                    Do::Edit(vec![Copy(A, B)]),
                    act(Aim::Drop(0)),
                    Do::Edit(vec![Copy(B, A)]),
                ];
                steps.extend(after);
                run(&base, &steps.into_iter().map(|step| (0, step)).collect::<Vec<_>>());
            }
        }
    }
}

#[test]
fn trial_06_a_removal_that_somebody_made_alike_is_left_by_later_steps() {
    for after in [vec![act(Aim::Undo(2))], vec![act(Aim::Undo(1)), act(Aim::Drop(0))]] {
        let mut steps =
            vec![call(&[Lines(A, 0, 1)]), call(&[Remove(A)]), act(Aim::Drop(0)), Do::Edit(vec![Remove(A)])];
        steps.extend(after);
        run(&[Lines(A, 0, 0)], &steps.into_iter().map(|step| (0, step)).collect::<Vec<_>>());
    }
}

#[test]
fn a_restore_takes_out_again_what_its_turn_had_taken_out_and_a_choice_had_kept() {
    let steps = [
        Do::Edit(vec![Lines(A, 0, 1)]),
        call(&[Lines(A, 0, 0)]),
        choosing(Aim::Rewind(0), A, Choice::Checkpoint),
        choosing(Aim::Undo(1), A, Choice::Disk),
        act(Aim::Restore(2)),
    ];
    run(&[Lines(A, 0, 0)], &steps.map(|step| (0, step)));
}

#[test]
fn the_model_knows_a_text_that_an_undo_was_to_take_away_and_a_choice_kept() {
    let steps = [
        call(&[Lines(A, 0, 2)]),
        Do::Edit(vec![Rename(A, B)]),
        choosing(Aim::Rewind(0), A, Choice::Checkpoint),
        choosing(Aim::Undo(1), A, Choice::Disk),
        act(Aim::Undo(1)),
    ];
    run(&[Lines(A, 0, 0)], &steps.map(|step| (0, step)));
}

#[test]
fn an_undo_asks_where_others_wrote_into_what_a_choice_had_kept_on_the_way() {
    for (base, edit) in [(Lines(A, 0, 0), Write(A, Bytes::Binary)), (Flat(A), Lines(A, 1, 1))] {
        let steps = [
            call(&[Lines(A, 0, 1)]),
            act(Aim::Turn(0)),
            act(Aim::Restore(1)),
            choosing(Aim::Undo(1), A, Choice::Disk),
            Do::Edit(vec![edit]),
            act(Aim::Undo(1)),
        ];
        run(&[base], &steps.map(|step| (0, step)));
    }
}

#[test]
fn plan_may_list_unchanged_content_of_a_layer_that_a_choice_left() {
    let kept = |rewind| Act(rewind, Both, (Vec::new(), Some(Choice::Disk)), Never);
    let disk = [call(&[Flat(A)]), kept(Aim::Rewind(0)), kept(Aim::Undo(1)), act(Aim::Restore(2))];
    run(&[Lines(B, 0, 1)], &disk.map(|step| (0, step)));
    let skip = [
        call(&[Lines(A, 1, 1)]),
        Do::Edit(vec![Copy(A, B)]),
        act(Aim::Rewind(0)),
        Do::Edit(vec![Copy(B, A)]),
        act(Aim::Undo(1)),
        choosing(Aim::Rewind(0), A, Choice::Skip),
        act(Aim::Restore(0)),
    ];
    run(&[Lines(A, 0, 0)], &skip.map(|step| (0, step)));
}

#[test]
fn a_line_may_come_back_where_a_turn_that_stays_took_away_what_had_replaced_it() {
    let steps =
        [call(&[Lines(A, 0, 0)]), call(&[Lines(A, 0, 1)]), turn(&[Lines(A, 0, 0)]), act(Aim::Drop(1))];
    run(&[Lines(A, 0, 1)], &steps.map(|step| (0, step)));
}

#[test]
fn a_file_may_come_back_where_a_turn_that_stays_removed_another_one_that_went() {
    let steps = [
        turn(&[Remove(A)]),
        turn(&[Lines(A, 1, 1)]),
        turn(&[Remove(A)]),
        act(Aim::Drop(1)),
        act(Aim::Drop(1)),
    ];
    run(&[Lines(A, 0, 0)], &steps.map(|step| (0, step)));
}
