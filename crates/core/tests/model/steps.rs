//! Random steps, as plain numbers: their meaning depends on the state when they are done. So any part of a sequence
//! is a sequence, and shrinking works.

use proptest::prelude::*;
use proptest::sample::select;
use retake_core::Reason;

/// The target entry or head of a step.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pick {
    /// One on the path, counted from the tip.
    OnPath(u8),
    /// Any entry of the conversation.
    Known(u8),
    /// An entry of another conversation.
    Foreign(u8),
}

/// The author of an entry.
#[derive(Clone, Copy, Debug)]
pub(super) enum Voice {
    User,
    Assistant,
    Synthetic,
    Observed,
    System,
    /// A model with this number of calls.
    Call(u8),
    /// The result of one of the last calls.
    Result(u8),
}

/// A step. The first number is the index of its conversation.
#[derive(Clone, Debug)]
pub(super) enum Do {
    Say(Voice, Option<Pick>),
    /// A message with a platform id, one of a few.
    Deliver(u8),
    /// Starts a run, to be answered later.
    Ask,
    /// Answers one of the runs started, however late.
    Answer(u8, Voice),
    Rewind(Pick),
    Retry(Pick),
    Edit(Pick),
    /// An edit: move and say as one.
    Reword(Pick),
    Undo(u8),
    Redo(u8),
    Restore(u8),
    RestoreNever(u8, u8),
    Checkout(Option<Pick>),
    Choose(Pick, u8),
    Compensate(u8),
    CompensateTip,
    Mark(Reason, Vec<Pick>, bool, u8),
    Fold(Reason, Pick, Pick),
    Unfold(u8),
    Label(Option<Pick>, Option<u8>),
    Fork(Option<Pick>),
    /// A repeated request.
    Again(u8),
    /// A move with an earlier head.
    Stale(u8, Pick),
    Reopen,
}

fn pick() -> impl Strategy<Value = Pick> {
    prop_oneof![
        12 => (0..6u8).prop_map(Pick::OnPath),
        6 => any::<u8>().prop_map(Pick::OnPath),
        4 => any::<u8>().prop_map(Pick::Known),
        1 => any::<u8>().prop_map(Pick::Foreign),
    ]
}

fn voice() -> impl Strategy<Value = Voice> {
    prop_oneof![
        8 => Just(Voice::User),
        8 => Just(Voice::Assistant),
        1 => Just(Voice::Synthetic),
        1 => Just(Voice::Observed),
        1 => Just(Voice::System),
        3 => (1..3u8).prop_map(Voice::Call),
        4 => any::<u8>().prop_map(Voice::Result),
    ]
}

fn says() -> impl Strategy<Value = Do> {
    prop_oneof![
        24 => (voice(), Just(None)).prop_map(|(voice, seen)| Do::Say(voice, seen)),
        2 => (voice(), pick().prop_map(Some)).prop_map(|(voice, seen)| Do::Say(voice, seen)),
        2 => any::<u8>().prop_map(Do::Deliver),
        3 => Just(Do::Ask),
        4 => (any::<u8>(), voice()).prop_map(|(run, voice)| Do::Answer(run, voice)),
    ]
}

fn moves() -> impl Strategy<Value = Do> {
    prop_oneof![
        4 => pick().prop_map(Do::Rewind),
        3 => pick().prop_map(Do::Retry),
        1 => pick().prop_map(Do::Edit),
        1 => pick().prop_map(Do::Reword),
        6 => (0..4u8).prop_map(Do::Undo),
        4 => (0..4u8).prop_map(Do::Redo),
        2 => any::<u8>().prop_map(Do::Restore),
        1 => (0..8u8, 0..12u8).prop_map(|(op, seq)| Do::RestoreNever(op, seq)),
        2 => proptest::option::weighted(0.9, pick()).prop_map(Do::Checkout),
        2 => (pick(), 0..4u8).prop_map(|(entry, number)| Do::Choose(entry, number)),
        1 => any::<u8>().prop_map(Do::Compensate),
        2 => (0..3u8).prop_map(Do::Compensate),
        1 => Just(Do::CompensateTip),
        1 => (any::<u8>(), pick()).prop_map(|(head, entry)| Do::Stale(head, entry)),
    ]
}

fn others() -> impl Strategy<Value = Do> {
    let verbs = [Reason::Hide, Reason::Hide, Reason::Show, Reason::Exclude, Reason::Include, Reason::Drop];
    let marks = (select(verbs.to_vec()), proptest::collection::vec(pick(), 1..4), any::<bool>(), 0..12u8);
    let folds = (select(vec![Reason::Fold, Reason::AutoFold]), pick(), pick());
    prop_oneof![
        10 => marks.prop_map(|(verb, picks, range, seen)| Do::Mark(verb, picks, range, seen)),
        5 => folds.prop_map(|(verb, from, to)| Do::Fold(verb, from, to)),
        2 => any::<u8>().prop_map(Do::Unfold),
        2 => (proptest::option::weighted(0.8, pick()), proptest::option::weighted(0.8, 0..4u8))
            .prop_map(|(entry, name)| Do::Label(entry, name)),
        3 => proptest::option::of(pick()).prop_map(Do::Fork),
        1 => any::<u8>().prop_map(Do::Again),
        1 => Just(Do::Reopen),
    ]
}

/// A sequence: each step with the index of its conversation.
pub(super) fn steps() -> impl Strategy<Value = Vec<(u8, Do)>> {
    let step = prop_oneof![5 => says(), 4 => moves(), 3 => others()];
    proptest::collection::vec((0..6u8, step), 1..60)
}
