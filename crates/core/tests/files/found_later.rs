//! More failing sequences of the property test.

use retake_core::Choice;
use retake_core::Scope::{Both, Conversation, Files};

use super::run;
use super::short::{A, B, C, D, DE, DEX, DX, G, act, all, call, check, choosing, turn, within};
use super::steps::Do::{self, Act, Say};
use super::steps::Edit::{Flat, Folder, Lines, Link, Mode, Remove, Rename, Write};
use super::steps::Fault::Never;
use super::steps::{Aim, Bytes};

#[test]
fn content_kept_by_a_choice_is_asked_about_again_when_its_undo_is_skipped() {
    check(vec![
        call(&[Lines(A, 1, 0)]),
        choosing(Aim::Rewind(0), A, Choice::Disk),
        all(Aim::Undo(1), Choice::Skip),
        act(Aim::Restore(2)),
    ]);
}

#[test]
fn skipped_content_belongs_to_its_turn_also_when_merged_in_parts() {
    check(vec![
        call(&[Remove(A), Lines(A, 0, 0)]),
        call(&[Lines(A, 1, 1), Mode(A)]),
        all(Aim::Drop(0), Choice::Skip),
        call(&[Lines(B, 0, 0)]),
        act(Aim::Rewind(0)),
    ]);
}

#[test]
fn a_name_of_a_rename_stays_where_the_other_one_has_anothers_link() {
    run(
        &[Lines(A, 0, 0)],
        &[
            (0, call(&[Rename(A, B)])),
            (1, call(&[Link(A, A)])),
            (0, call(&[Rename(A, B)])),
            (0, act(Aim::Turn(0))),
        ],
    );
}

#[test]
fn skipped_content_belongs_to_its_turn_when_the_conversation_alone_returns() {
    for last in [Aim::Undo(1), Aim::Rewind(0)] {
        check(vec![
            call(&[Lines(A, 0, 1)]),
            all(Aim::Rewind(0), Choice::Skip),
            within(Aim::Undo(1), Conversation),
            act(last),
        ]);
    }
    // Nothing of it is in the files: it does not return with a later step.
    check(vec![
        turn(&[Lines(A, 0, 1)]),
        act(Aim::Turn(0)),
        all(Aim::Undo(1), Choice::Skip),
        within(Aim::Turn(0), Conversation),
        turn(&[Lines(B, 0, 1)]),
        act(Aim::Turn(0)),
    ]);
}

#[test]
fn change_of_a_missing_file_is_in_conflict_when_it_returns() {
    run(
        &[Write(A, Bytes::Empty)],
        &[
            (0, call(&[Lines(A, 0, 0)])),
            (0, turn(&[Lines(A, 0, 1)])),
            (0, act(Aim::Undo(1))),
            (0, within(Aim::Rewind(0), Files)),
            (0, act(Aim::Checkout(Some(30)))),
        ],
    );
    check(vec![
        call(&[Lines(G, 0, 0)]),
        call(&[Lines(G, 0, 1)]),
        act(Aim::Retry(0)),
        within(Aim::Rewind(0), Conversation),
        within(Aim::Restore(3), Conversation),
        call(&[Lines(A, 0, 0)]),
        act(Aim::Checkout(Some(16))),
    ]);
}

#[test]
fn a_line_of_a_dropped_file_does_not_come_back_with_the_turn_that_wrote_over_it() {
    let later = |person: &[Do]| {
        let steps = [turn(&[Lines(A, 0, 1)])].into_iter().chain(person.iter().cloned());
        let dropped = [turn(&[Lines(A, 1, 1)]), choosing(Aim::Drop(1), A, Choice::Disk), act(Aim::Turn(0))];
        steps.chain(dropped).map(|step| (0, step)).collect::<Vec<_>>()
    };
    for edits in [&[Lines(B, 0, 1)][..], &[Write(A, Bytes::Empty)]] {
        run(edits, &later(&[]));
        run(edits, &later(&[Do::Edit(vec![Lines(A, 2, 1)])]));
    }
}

#[test]
fn a_rename_that_comes_again_clashes_with_what_was_written_under_its_old_name() {
    check(vec![
        call(&[Rename(A, B)]),
        within(Aim::Rewind(0), Files),
        Do::Edit(vec![Lines(A, 1, 0)]),
        act(Aim::Restore(10)),
    ]);
}

#[test]
fn bits_of_a_renamed_file_go_back_to_a_name_that_a_link_took() {
    check(vec![call(&[Rename(A, DEX), Link(A, A)]), Do::Edit(vec![Mode(DEX)]), act(Aim::Rewind(0))]);
}

#[test]
fn content_left_by_a_choice_stays_the_persons_after_a_restore_of_the_conversation_alone() {
    check(vec![
        call(&[Lines(A, 0, 1)]),
        Say,
        act(Aim::Undo(1)),
        call(&[Write(A, Bytes::Empty)]),
        all(Aim::Undo(1), Choice::Disk),
        within(Aim::Restore(5), Conversation),
        act(Aim::Checkout(Some(0))),
    ]);
}

#[test]
fn undo_of_a_turn_meets_a_removal_or_a_rename_that_the_person_kept() {
    for edit in [Remove(A), Rename(A, B)] {
        check(vec![
            call(&[Lines(A, 0, 1)]),
            turn(&[edit]),
            within(Aim::Undo(1), Conversation),
            act(Aim::Undo(1)),
        ]);
    }
}

#[test]
fn bits_that_a_person_set_on_a_file_go_along_with_the_text_that_comes_back() {
    check(vec![
        call(&[Link(A, A), Lines(A, 0, 0)]),
        Do::Edit(vec![Mode(A)]),
        call(&[Lines(A, 1, 0), Rename(A, B)]),
        act(Aim::Checkout(None)),
    ]);
}

#[test]
fn a_turn_that_goes_from_below_another_clashes_only_with_what_was_written_in_its_own_place() {
    let dropped = Act(Aim::Drop(1), Both, (vec![(A, Choice::Skip)], None), Never);
    run(
        &[Lines(A, 1, 0)],
        &[
            (0, call(&[Mode(A)])),
            (0, turn(&[Lines(A, 0, 0)])),
            (0, dropped),
            (0, act(Aim::Restore(0))),
            (0, act(Aim::Undo(1))),
            (1, call(&[Lines(A, 0, 1)])),
            (0, act(Aim::Checkout(Some(18)))),
        ],
    );
}

#[test]
fn exact_choice_of_a_path_changes_nothing_at_its_other_name() {
    check(vec![
        call(&[Rename(A, DEX)]),
        Do::Edit(vec![Mode(DEX)]),
        choosing(Aim::Rewind(0), A, Choice::Checkpoint),
    ]);
}

#[test]
fn a_change_goes_out_of_a_file_that_was_renamed_though_another_one_took_its_old_name() {
    check(vec![
        call(&[Lines(A, 0, 1)]),
        turn(&[Rename(A, B)]),
        call(&[Lines(A, 0, 0)]),
        act(Aim::Drop(1)),
        act(Aim::Undo(1)),
    ]);
}

#[test]
fn path_that_another_conversation_made_a_folder_does_not_block_a_branch() {
    let steps = [
        (0, call(&[Lines(DX, 0, 0)])),
        (1, call(&[Flat(A)])),
        (1, call(&[Folder(A)])),
        (0, act(Aim::Rewind(0))),
        (0, act(Aim::Checkout(Some(3)))),
    ];
    run(&[Lines(A, 0, 0)], &steps);
}

#[test]
fn a_text_that_was_moved_back_over_another_one_and_changed_goes_back() {
    run(
        &[Lines(A, 0, 0)],
        &[
            (0, call(&[Lines(A, 0, 1)])),
            (1, call(&[Rename(A, DE), Lines(A, 0, 0)])),
            (0, Do::End),
            (0, call(&[Rename(DEX, A), Lines(A, 0, 0)])),
            (0, act(Aim::Rewind(0))),
        ],
    );
}

#[test]
fn others_edits_of_a_file_that_an_exact_step_took_are_not_requested_by_a_restore() {
    let steps = [
        (0, call(&[Write(A, Bytes::Empty)])),
        (0, Say),
        (0, Say),
        (0, call(&[Lines(A, 0, 0)])),
        (1, call(&[Lines(A, 0, 1)])),
        (0, call(&[Lines(A, 0, 0)])),
        (0, all(Aim::Rewind(2), Choice::Checkpoint)),
        (0, act(Aim::Restore(8))),
    ];
    run(&[Lines(A, 0, 0)], &steps);
}

#[test]
fn a_persons_file_where_a_later_turn_had_removed_the_dropped_one_s_blocks_nothing() {
    check(vec![
        call(&[Lines(D, 0, 0)]),
        turn(&[Flat(A), Folder(A)]),
        Do::Edit(vec![Rename(A, D), Lines(A, 0, 0)]),
        turn(&[Folder(A)]),
        act(Aim::Drop(2)),
    ]);
}

#[test]
fn a_change_goes_from_a_file_that_a_later_turn_removed_and_a_person_made_again() {
    check(vec![
        call(&[Lines(A, 0, 1)]),
        Say,
        turn(&[Remove(A)]),
        Do::Edit(vec![Lines(A, 0, 0)]),
        act(Aim::Drop(2)),
    ]);
}

#[test]
fn skipped_content_is_undone_with_the_turn_that_skipped_it() {
    run(
        &[Lines(A, 0, 0)],
        &[
            (0, call(&[Lines(A, 0, 0)])),
            (0, turn(&[Lines(A, 0, 1)])),
            (0, Do::End),
            (0, all(Aim::Undo(1), Choice::Skip)),
            (0, call(&[Lines(A, 0, 0)])),
            (0, act(Aim::Undo(1))),
        ],
    );
}

#[test]
fn file_that_replaced_a_folder_from_another_conversation_is_reported_as_a_conflict() {
    let steps = [
        (0, call(&[Lines(DX, 0, 0)])),
        (0, Act(Aim::Rewind(0), Conversation, (Vec::new(), None), Never)),
        (0, turn(&[Lines(A, 0, 0)])),
        (0, turn(&[Flat(A)])),
        (1, call(&[Flat(A)])),
        (0, act(Aim::Undo(1))),
    ];
    run(&[Lines(A, 0, 0)], &steps);
}

#[test]
fn content_adopted_since_stays_when_an_earlier_step_is_undone() {
    let alone = |aim| Act(aim, Conversation, (Vec::new(), None), Never);
    let steps = [
        (0, act(Aim::Rewind(0))),
        (0, Say),
        (0, alone(Aim::Restore(1))),
        (0, call(&[Lines(A, 0, 1)])),
        (0, alone(Aim::Undo(1))),
        (0, act(Aim::Undo(1))),
    ];
    run(&[Lines(A, 0, 0)], &steps);
}

#[test]
fn others_content_conflicts_with_a_removed_change_that_returned() {
    let steps = [
        (1, call(&[Lines(A, 0, 0)])),
        (0, Do::Edit(vec![Rename(A, C)])),
        (1, act(Aim::Drop(0))),
        (1, act(Aim::Show)),
        (0, call(&[Lines(A, 0, 0)])),
        (1, act(Aim::Rewind(0))),
    ];
    run(&[Lines(B, 0, 0)], &steps);
}

#[test]
fn content_under_a_removed_text_does_not_return_with_the_removal() {
    check(vec![
        call(&[Lines(A, 1, 0)]),
        turn(&[Lines(A, 0, 0)]),
        Say,
        call(&[Remove(A)]),
        turn(&[Lines(A, 0, 0)]),
        choosing(Aim::Drop(3), A, Choice::Disk),
        act(Aim::Checkout(None)),
    ]);
}

#[test]
fn lines_that_a_person_took_away_do_not_keep_a_file_that_goes() {
    let steps = [
        call(&[Lines(A, 3, 0)]),
        Do::Edit(vec![Lines(A, 0, 0)]),
        call(&[Rename(A, B)]),
        call(&[Lines(A, 0, 0)]),
        turn(&[Remove(A)]),
        act(Aim::Drop(1)),
    ];
    run(&[Write(A, Bytes::Empty)], &steps.map(|step| (0, step)));
}

#[test]
fn a_removal_that_another_conversation_made_again_is_its_own() {
    let steps = [
        (0, call(&[Remove(A)])),
        (0, act(Aim::Drop(0))),
        (1, call(&[Remove(A)])),
        (0, act(Aim::Undo(1))),
        (0, act(Aim::Rewind(0))),
    ];
    run(&[Lines(A, 0, 0)], &steps);
}

#[test]
fn content_kept_by_a_choice_is_not_removed_by_undo_of_an_earlier_step() {
    let kept = |path| choosing(Aim::Undo(1), path, Choice::Disk);
    check(vec![
        call(&[Lines(A, 0, 0)]),
        act(Aim::Rewind(2)),
        call(&[Lines(A, 0, 1)]),
        kept(A),
        act(Aim::Undo(1)),
    ]);
    let steps =
        [call(&[Lines(A, 0, 0)]), act(Aim::Rewind(0)), turn(&[Lines(A, 0, 0)]), kept(A), act(Aim::Undo(1))];
    run(&[Folder(A)], &steps.map(|step| (0, step)));
}

#[test]
fn adopted_content_stays_over_two_more_undos() {
    check(vec![
        call(&[Lines(B, 0, 0)]),
        act(Aim::Rewind(0)),
        turn(&[Lines(A, 0, 1)]),
        Act(Aim::Undo(1), Conversation, (Vec::new(), None), Never),
        act(Aim::Undo(1)),
        act(Aim::Undo(1)),
    ]);
}

#[test]
fn a_folder_stays_for_what_is_skipped_in_it() {
    let skipped = Act(Aim::Retry(0), Both, (vec![(DX, Choice::Skip)], None), Never);
    let steps = [call(&[Remove(D)]), Say, Do::End, call(&[Lines(A, 0, 0), Lines(D, 0, 0)]), skipped];
    run(&[Link(DX, A)], &steps.map(|step| (0, step)));
}

#[test]
fn a_choice_for_one_name_of_a_rename_is_kept_for_the_other_one() {
    let kept = Act(Aim::Retry(0), Both, (vec![(A, Choice::Disk)], None), Never);
    let steps = [(1, Do::Begin(false)), (0, call(&[Rename(A, DX)])), (0, kept), (0, act(Aim::Restore(2)))];
    run(&[Lines(A, 0, 0)], &steps);
}
