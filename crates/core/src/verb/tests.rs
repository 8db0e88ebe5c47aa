//! Tests: each kind of action has the documented traits.

use uuid::Uuid;

use super::*;
use crate::fold::FoldId;
use crate::id::{EntryId, Head, OpNo};
use crate::undo_history::Step;

/// The traits in words, in the order of the table.
fn words(traits: Traits) -> String {
    let Traits { moves_tip, touches_files, needs_exact_head, is_planned, is_step } = traits;
    let all = [
        (moves_tip, "tip"),
        (touches_files, "files"),
        (needs_exact_head, "head"),
        (is_planned, "plan"),
        (is_step, "step"),
    ];
    all.into_iter().filter(|(has, _)| *has).map(|(_, word)| word).collect::<Vec<_>>().join(" ")
}

fn id() -> EntryId {
    EntryId::new(Uuid::from_u128(1))
}

fn mark(verb: Reason) -> Action {
    Action::Mark { verb, entries: vec![id()], range: false, seen: None }
}

fn fold(verb: Reason) -> Action {
    Action::Fold { verb, from: id(), to: id(), summary: String::new(), covers: None }
}

/// One action of each kind, the reason of its operation, and its row.
fn rows() -> Vec<(Action, Reason, &'static str)> {
    let step = Step::Op(OpNo(1));
    let fold_id = FoldId { depth: 0, op: OpNo(1) };
    let erase = Action::Erase { entries: vec![id()], matching: None, objects: Vec::new() };
    vec![
        (Action::Rewind(id()), Reason::Rewind, "tip files head plan step"),
        (Action::Edit(id()), Reason::Edit, "tip files head plan step"),
        (Action::Retry(id()), Reason::Retry, "tip head plan step"),
        (Action::Undo(1), Reason::Undo(step), "tip files head plan"),
        (Action::Redo(1), Reason::Redo(step), "tip files head plan"),
        (Action::Restore(Head::default()), Reason::Restore(Head::default()), "tip files head plan step"),
        (Action::Checkout(None), Reason::Checkout, "tip files head plan step"),
        (Action::Choose(id(), 1), Reason::Choose, "tip files head plan step"),
        (Action::Compensate(step), Reason::Compensate(step), "tip plan"),
        (mark(Reason::Hide), Reason::Hide, "plan step"),
        (mark(Reason::Show), Reason::Show, "files plan step"),
        (mark(Reason::Exclude), Reason::Exclude, "plan step"),
        (mark(Reason::Include), Reason::Include, "plan step"),
        (mark(Reason::Drop), Reason::Drop, "files plan step"),
        (fold(Reason::Fold), Reason::Fold, "plan step"),
        (fold(Reason::AutoFold), Reason::AutoFold, "plan"),
        (Action::Unfold(fold_id), Reason::Unfold, "plan step"),
        (Action::Label(Some(id()), None), Reason::Label, "plan"),
        (Action::Label(None, None), Reason::Title, "plan"),
        (Action::Files(Reason::Files), Reason::Files, "files head plan step"),
        (erase, Reason::Erase, ""),
    ]
}

#[test]
fn each_kind_of_action_has_its_row_and_its_operation_has_the_same() {
    for (action, reason, expected) in rows() {
        assert_eq!(words(action.traits()), expected, "{action:?}");
        assert_eq!(words(reason.traits()), expected, "{reason:?}");
    }
}

#[test]
fn half_of_an_action_has_only_the_traits_of_that_half() {
    for (action, _, _) in rows() {
        let whole = action.traits();
        let half = |scope| Action::Half(scope, Box::new(action.clone())).traits();
        assert_eq!(half(Scope::Both), whole);
        assert_eq!(half(Scope::Files), Traits { moves_tip: false, ..whole });
        assert_eq!(half(Scope::Conversation), Traits { touches_files: false, ..whole });
    }
}
