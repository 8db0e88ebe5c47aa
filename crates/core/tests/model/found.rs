//! Sequences that once failed in the property test, each minimized.

use retake_core::Reason;

use super::run_everywhere;
use super::steps::Do::{
    Answer, Ask, Checkout, Choose, Compensate, CompensateTip, Fold, Fork, Mark, Redo, Retry, Rewind, Say,
    Undo,
};
use super::steps::Pick::{Known, OnPath};
use super::steps::Voice::{Assistant, Synthetic, User};

const U: super::Do = Say(User, None);
const A: super::Do = Say(Assistant, None);

fn hide(back: u8) -> super::Do {
    Mark(Reason::Hide, vec![OnPath(back)], false, 9)
}

fn exclude(back: u8) -> super::Do {
    Mark(Reason::Exclude, vec![OnPath(back)], false, 9)
}

/// Does the steps, each in conversation 0 unless a pair says otherwise.
fn check(steps: Vec<(u8, super::Do)>) {
    run_everywhere(&steps);
}

#[test]
fn several_turns_are_undone_at_once() {
    check(vec![(0, U), (0, U), (0, Undo(2)), (0, Redo(2))]);
}

#[test]
fn only_the_last_step_can_be_compensated() {
    check(vec![(0, A), (0, CompensateTip)]);
    let there_and_back = [Retry(OnPath(0)), Choose(OnPath(0), 1), Undo(1)];
    check(
        [U, A]
            .into_iter()
            .chain(there_and_back)
            .chain([CompensateTip, Compensate(0)])
            .map(|step| (0, step))
            .collect(),
    );
}

#[test]
fn compensated_step_stays_void_when_earlier_steps_are_undone_and_redone() {
    let steps = [
        U,
        A,
        Rewind(OnPath(0)),
        A,
        Retry(OnPath(0)),
        hide(0),
        Compensate(0),
        Undo(1),
        Undo(1),
        Redo(1),
        Redo(1),
        Undo(1),
        Undo(1),
        Undo(1),
    ];
    check(steps.into_iter().map(|step| (0, step)).collect());
}

#[test]
fn compensation_clears_the_redo_history_across_a_void_step() {
    let steps = [U, Undo(1), U, U, hide(0), Compensate(0), Undo(1), Compensate(0)];
    check(steps.into_iter().map(|step| (0, step)).collect());
}

#[test]
fn composer_gets_the_words_of_a_person_and_of_the_last_step_only() {
    check(vec![(0, Say(Synthetic, None)), (0, Rewind(OnPath(0)))]);
    check(vec![(0, U), (0, hide(0)), (0, Undo(2))]);
    check(vec![(0, U), (0, Rewind(OnPath(0))), (0, Undo(1)), (0, Redo(1))]);
}

#[test]
fn a_fork_keeps_the_folds_that_may_be_in_force_again() {
    let fold = Fold(Reason::Fold, OnPath(1), OnPath(0));
    let include = Mark(Reason::Include, vec![OnPath(0)], false, 9);
    check(vec![(0, U), (0, A), (0, fold), (0, exclude(0)), (0, Fork(None)), (1, include)]);
}

#[test]
fn branches_of_a_fork_that_leave_the_end_of_the_parent_s_path_have_their_own_entries_only() {
    check(vec![(0, U), (0, Fork(None)), (1, U), (1, Rewind(OnPath(0))), (1, U)]);
}

#[test]
fn answer_in_a_fork_without_its_prompt_is_not_late() {
    check(vec![(0, U), (0, A), (0, hide(1)), (0, Fork(None)), (1, Ask), (1, Answer(0, Assistant))]);
}

#[test]
fn a_fork_begins_with_another_branch() {
    // The newest entry is reverted, then forked from.
    let steps = [U, A, U, Rewind(OnPath(0)), U, hide(0), Fork(Some(Known(1)))];
    let mut steps: Vec<_> = steps.into_iter().map(|step| (0, step)).collect();
    steps.extend([(1, U), (1, Rewind(OnPath(1))), (1, Undo(1))]);
    check(steps);
}

#[test]
fn subscriber_learns_of_a_new_alternative() {
    check(vec![(0, U), (0, A), (0, Retry(OnPath(0))), (0, A), (0, Choose(OnPath(0), 1))]);
}

#[test]
fn context_of_a_hidden_hit_in_a_fork_has_the_same_reading() {
    let far = [U, U, U, Fork(None), U, U, U, U];
    let mut steps: Vec<_> = far.into_iter().map(|step| (0, step)).collect();
    steps.iter_mut().skip(4).for_each(|step| step.0 = 1);
    steps.push((1, hide(4)));
    steps.push((1, hide(5)));
    steps.push((1, hide(6)));
    steps.push((1, Checkout(None)));
    steps.push((1, Undo(1)));
    check(steps);
}
