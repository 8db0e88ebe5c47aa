//! What was done, in words, and what is marked. Must never tell words that are hidden, but to clients that ask for just those.

use retake_core::{Change, Head, MarkedLine, OpLine, Operation, Reason, Step, StepLine, StepTarget, shorten};
use retake_wire::reply;

use super::{counts, line};

/// So many characters of a message say which it is.
const WORDS: usize = 40;

pub(crate) fn operation(line: OpLine, description: String) -> reply::Operation {
    let OpLine { op, before, undo_next, redo_next, aim: _ } = line;
    reply::Operation {
        number: op.no.0,
        head: Head { op: op.no, seq: op.at }.to_string(),
        kind: op.change.kind().to_owned(),
        reason: op.reason.name().to_owned(),
        description,
        author: op.author,
        time_ms: op.time.0,
        before: before.to_string(),
        undo_next,
        redo_next,
    }
}

/// One line of what an operation did; of a message that it led to, which one it is.
pub(crate) fn description(op: &Operation, aim: Option<&StepTarget>) -> String {
    let step = |step: Step| match step {
        Step::Turn(_) => aim.map_or_else(|| "a turn".to_owned(), named),
        Step::Op(no) => format!("operation {no}"),
    };
    match (op.reason, &op.change) {
        (Reason::Undo(of), _) => format!("took back {}", step(of)),
        (Reason::Redo(of), _) => format!("brought back {}", step(of)),
        (Reason::Compensate(of), _) => format!("took back {}, which came to nothing", step(of)),
        (Reason::Restore(head), _) => format!("went back to what head {head} left"),
        (_, Change::Mark(changes)) => {
            let count: u64 = changes.iter().map(|change| change.span.len()).sum();
            match (aim.map(named), count) {
                (None, 1) => "1 message".to_owned(),
                (None, count) => format!("{count} messages"),
                (Some(first), 0 | 1) => first,
                (Some(first), 2) => format!("{first} and 1 more message"),
                (Some(first), count) => format!("{first} and {} more messages", count - 1),
            }
        }
        (_, Change::Fold(fold) | Change::Unfold(fold)) => {
            format!("a summary of {} messages", fold.covers.len())
        }
        (_, Change::Label { before, after, .. }) => match (before, after) {
            (_, Some(after)) => format!("“{after}”"),
            (Some(before), None) => format!("no longer “{before}”"),
            (None, None) => String::new(),
        },
        (Reason::Files, Change::Files) => "put back as they were".into(),
        (_, Change::Files) => "files".into(),
        (_, Change::Erase(entries)) => format!("the content of {} messages", entries.len()),
        (_, Change::Unknown { kind }) => format!("a “{kind}”, which this version does not know"),
        (Reason::Retry | Reason::Edit, Change::Move { .. }) => {
            aim.map_or_else(String::new, |aim| format!("of {}", named(aim)))
        }
        (Reason::Choose, Change::Move { .. }) => aim.map_or_else(String::new, named),
        (_, Change::Move { .. }) => match aim {
            Some(aim) => format!("to {}", named(aim)),
            None => "to the beginning".into(),
        },
    }
}

/// What a step takes back or brings back.
pub(crate) fn step(step: &StepLine) -> String {
    match (&step.op, &step.aim) {
        (Some(op), aim) => {
            let (verb, what) = (op.reason.name(), description(op, aim.as_ref()));
            format!("{verb} {what}").trim_end().to_owned()
        }
        (None, Some(aim)) => format!("the turn {}", named(aim)),
        (None, None) => "a turn".to_owned(),
    }
}

/// A message by its turn and its first words; without them, where they are hidden.
fn named(aim: &StepTarget) -> String {
    let (turn, opens) = (aim.turn, aim.line.meta.opens_turn());
    let turn = match (turn, opens) {
        (0, _) => "what was said first".to_owned(),
        (turn, true) => format!("t{turn}"),
        (turn, false) => format!("an answer of t{turn}"),
    };
    match aim.line.preview.as_str() {
        "" => turn,
        words => format!("{turn} “{}”", shorten(words, WORDS)),
    }
}

pub(crate) fn marked(marked: MarkedLine) -> reply::Marked {
    reply::Marked {
        mark: marked.mark.name().to_owned(),
        turn: marked.turn,
        counts: counts(marked.totals),
        line: line(marked.first),
        last: marked.last.to_string(),
        marked_ms: marked.when.map(|time| time.0),
    }
}
