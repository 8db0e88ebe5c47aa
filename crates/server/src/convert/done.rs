//! The results of operations, as codes, and marked entries. Must never show hidden text, except to clients that request just
//! that.

use retake_core::{
    Change, Head, MarkedLine, OpLine, Operation, Principal, Reason, Step, StepLine, StepTarget, shorten,
};
use retake_wire::{
    Mark, MessageName, OpSummary, OperationKind, OperationReason, PlannedStep, UndoneStep, english, reply,
};

use super::{counts, line};

/// The number of characters that identify a message.
const WORDS: usize = 40;

pub(crate) fn operation(line: OpLine) -> reply::Operation {
    let summary = summary(&line.op, line.aim.as_ref());
    let OpLine { op, before, undo_next, redo_next, aim: _ } = line;
    reply::Operation {
        number: op.no.0,
        head: Head { op: op.no, seq: op.at }.to_string(),
        kind: kind(&op.change),
        reason: reason(op.reason, &op.change),
        description: english::op_summary(&summary),
        summary,
        author: op.author,
        principal: principal(op.principal),
        time_ms: op.time.0,
        before: before.to_string(),
        undo_next,
        redo_next,
    }
}

fn principal(principal: Principal) -> retake_wire::Principal {
    match principal {
        Principal::Local => retake_wire::Principal::Local,
        Principal::Token(name) => retake_wire::Principal::Token { name },
        Principal::Member { account, person } => retake_wire::Principal::Member { account, person },
    }
}

fn kind(change: &Change) -> OperationKind {
    match change {
        Change::Move { .. } => OperationKind::Move,
        Change::Mark(_) => OperationKind::Mark,
        Change::Fold(_) => OperationKind::Fold,
        Change::Unfold(_) => OperationKind::Unfold,
        Change::Label { .. } => OperationKind::Label,
        Change::Files => OperationKind::Files,
        Change::Erase(_) => OperationKind::Erase,
        Change::Unknown { .. } => OperationKind::Unknown,
    }
}

/// The verb. That of a change of a newer program is not known either.
fn reason(reason: Reason, change: &Change) -> OperationReason {
    match reason {
        _ if matches!(change, Change::Unknown { .. }) => OperationReason::Unknown,
        Reason::Rewind => OperationReason::Rewind,
        Reason::Undo(_) => OperationReason::Undo,
        Reason::Redo(_) => OperationReason::Redo,
        Reason::Restore(_) => OperationReason::Restore,
        Reason::Checkout => OperationReason::Checkout,
        Reason::Choose => OperationReason::Choose,
        Reason::Retry => OperationReason::Retry,
        Reason::Edit => OperationReason::Edit,
        Reason::Compensate(_) => OperationReason::Compensate,
        Reason::Hide => OperationReason::Hide,
        Reason::Show => OperationReason::Show,
        Reason::Exclude => OperationReason::Exclude,
        Reason::Include => OperationReason::Include,
        Reason::Drop => OperationReason::Drop,
        Reason::Files => OperationReason::Files,
        Reason::Fold => OperationReason::Fold,
        Reason::AutoFold => OperationReason::AutoFold,
        Reason::Unfold => OperationReason::Unfold,
        Reason::Label => OperationReason::Label,
        Reason::Title => OperationReason::Title,
        Reason::Erase => OperationReason::Erase,
    }
}

pub(crate) fn mark(mark: retake_core::Mark) -> Mark {
    match mark {
        retake_core::Mark::Normal => Mark::Normal,
        retake_core::Mark::Excluded => Mark::Excluded,
        retake_core::Mark::Hidden => Mark::Hidden,
        retake_core::Mark::Dropped => Mark::Dropped,
    }
}

/// An operation's result; with the entry that it moved to, if any.
fn summary(op: &Operation, aim: Option<&StepTarget>) -> OpSummary {
    let message = || aim.map(named);
    let step = |step: Step| match step {
        Step::Turn(_) => UndoneStep::Turn { message: message() },
        Step::Op(no) => UndoneStep::Operation { number: no.0 },
    };
    match (op.reason, &op.change) {
        (Reason::Undo(of), _) => OpSummary::TookBack { step: step(of) },
        (Reason::Redo(of), _) => OpSummary::BroughtBack { step: step(of) },
        (Reason::Compensate(of), _) => OpSummary::TookBackFailed { step: step(of) },
        (Reason::Restore(head), _) => OpSummary::Restored { head: head.to_string() },
        (_, Change::Mark(changes)) => OpSummary::Marked {
            messages: changes.iter().map(|change| change.span.len()).sum(),
            first: message(),
        },
        (_, Change::Fold(fold) | Change::Unfold(fold)) => OpSummary::Folded { messages: fold.covers.len() },
        (_, Change::Label { before, after, .. }) => match (before, after) {
            (_, Some(after)) => OpSummary::Labelled { label: after.clone() },
            (before, None) => OpSummary::LabelRemoved { label: before.clone().unwrap_or_default() },
        },
        (Reason::Files, Change::Files) => OpSummary::FilesPutBack,
        (_, Change::Files) => OpSummary::Files,
        (_, Change::Erase(entries)) => OpSummary::Erased { messages: entries.len() as u64 },
        (_, Change::Unknown { kind }) => OpSummary::UnknownKind { kind: kind.clone() },
        (Reason::Retry | Reason::Edit, Change::Move { .. }) => OpSummary::Replaced { message: message() },
        (Reason::Choose, Change::Move { .. }) => OpSummary::Chose { message: message() },
        (_, Change::Move { .. }) => OpSummary::Moved { message: message() },
    }
}

/// A step of an undo or a redo.
pub(crate) fn step(step: &StepLine) -> PlannedStep {
    match &step.op {
        Some(op) => {
            let summary = summary(op, step.aim.as_ref());
            PlannedStep::Operation { reason: reason(op.reason, &op.change), summary }
        }
        None => PlannedStep::Turn { message: step.aim.as_ref().map(named) },
    }
}

/// A message by its turn and its first words; without them if they are hidden.
fn named(aim: &StepTarget) -> MessageName {
    MessageName {
        turn: aim.turn,
        opens_turn: aim.line.meta.opens_turn(),
        words: shorten(&aim.line.preview, WORDS),
    }
}

pub(crate) fn marked(marked: MarkedLine) -> reply::Marked {
    reply::Marked {
        mark: mark(marked.mark),
        turn: marked.turn,
        counts: counts(marked.totals),
        line: line(marked.first),
        last: marked.last.to_string(),
        marked_ms: marked.when.map(|time| time.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_and_verb_of_a_change_of_a_newer_program_are_unknown() {
        let newer = Change::Unknown { kind: "teleport".to_owned() };
        assert_eq!(kind(&newer), OperationKind::Unknown);
        // The verb that the store gives it is a stand-in.
        assert_eq!(reason(Reason::Label, &newer), OperationReason::Unknown);
        assert_eq!(reason(Reason::Files, &Change::Files), OperationReason::Files);
    }
}
