//! The English phrases for operations. Must never name hidden text: the codes do not contain it.

use super::count;
use crate::op_summary::{MessageName, OpSummary, OperationReason, PlannedStep, UndoneStep};
use crate::reply::{NextSteps, Operation, Plan};

/// The effect of an operation, in one line.
pub fn op_summary(it: &OpSummary) -> String {
    match it {
        OpSummary::TookBack { step } => format!("took back {}", undone_step(step)),
        OpSummary::BroughtBack { step } => format!("brought back {}", undone_step(step)),
        OpSummary::TookBackFailed { step } => {
            format!("took back {}, which came to nothing", undone_step(step))
        }
        OpSummary::Restored { head } => format!("went back to what head {head} left"),
        OpSummary::Marked { messages, first } => match (first.as_ref().map(message), messages) {
            (None, 1) => "1 message".to_owned(),
            (None, count) => format!("{count} messages"),
            (Some(first), 0 | 1) => first,
            (Some(first), 2) => format!("{first} and 1 more message"),
            (Some(first), count) => format!("{first} and {} more messages", count - 1),
        },
        OpSummary::Folded { messages } => format!("a summary of {}", count(*messages, "message")),
        OpSummary::Labelled { label } => format!("“{label}”"),
        OpSummary::LabelRemoved { label } => format!("no longer “{label}”"),
        OpSummary::FilesPutBack => "put back as they were".to_owned(),
        OpSummary::Files => "files".to_owned(),
        OpSummary::Erased { messages } => format!("the content of {messages} messages"),
        OpSummary::Replaced { message: of } => {
            of.as_ref().map_or_else(String::new, |of| format!("of {}", message(of)))
        }
        OpSummary::Chose { message: chosen } => chosen.as_ref().map_or_else(String::new, message),
        OpSummary::Moved { message: Some(to) } => format!("to {}", message(to)),
        OpSummary::Moved { message: None } => "to the beginning".to_owned(),
        OpSummary::UnknownKind { kind } => format!("a “{kind}”, which this version does not know"),
        OpSummary::Unknown => super::UNKNOWN.to_owned(),
    }
}

/// The step that a plan takes back or brings back.
pub fn planned_step(it: &PlannedStep) -> String {
    match it {
        PlannedStep::Turn { message: Some(opened) } => format!("the turn {}", message(opened)),
        PlannedStep::Turn { message: None } => "a turn".to_owned(),
        step if is_of_newer(step) => super::UNKNOWN.to_owned(),
        PlannedStep::Operation { reason, summary } => {
            format!("{} {}", reason.name(), op_summary(summary)).trim_end().to_owned()
        }
        PlannedStep::Unknown => super::UNKNOWN.to_owned(),
    }
}

/// The effect of an operation. Its owner may have another version.
pub fn operation(it: &Operation) -> String {
    match &it.summary {
        OpSummary::Unknown if !it.description.is_empty() => it.description.clone(),
        known => op_summary(known),
    }
}

/// The steps that a plan takes back or brings back. Its owner may have an earlier version.
pub fn steps(plan: &Plan) -> Vec<String> {
    if plan.step_summaries.is_empty() {
        return plan.step_lines.clone();
    }
    let lines = plan.step_lines.iter().map(Some).chain(std::iter::repeat(None));
    let one = |(step, line): (&PlannedStep, Option<&String>)| match (step, line) {
        (step, Some(line)) if is_of_newer(step) => line.clone(),
        (known, _) => planned_step(known),
    };
    plan.step_summaries.iter().zip(lines).map(one).collect()
}

/// A step as a noun, such as “the rewind to t3”.
pub fn step_made(it: &PlannedStep) -> String {
    match it {
        PlannedStep::Operation { reason, summary } if !is_of_newer(it) => made(*reason, summary),
        turn => planned_step(turn),
    }
}

fn made(reason: OperationReason, summary: &OpSummary) -> String {
    use OperationReason as R;
    let noun = match (reason, summary) {
        (R::Undo, OpSummary::TookBack { step }) => return format!("the undo of {}", undone_step(step)),
        (R::Redo, OpSummary::BroughtBack { step }) => return format!("the redo of {}", undone_step(step)),
        (R::Restore, OpSummary::Restored { head }) => return format!("the return to head {head}"),
        (R::Files, _) => return "the restore of files".to_owned(),
        (R::Fold | R::AutoFold, OpSummary::Folded { messages }) => {
            return format!("the fold of {}", count(*messages, "message"));
        }
        (R::Choose, OpSummary::Chose { message: Some(chosen) }) => {
            return format!("the choice of {}", message(chosen));
        }
        (R::Choose, _) => "choice of another answer",
        (R::Checkout, _) => "switch",
        (R::Hide, _) => "hiding of",
        (R::Show, _) => "showing of",
        (R::Exclude, _) => "exclusion of",
        (R::Include, _) => "inclusion of",
        (R::Drop, _) => "drop of",
        (R::Unfold, _) => "removal of",
        (R::Erase, _) => "erasure of",
        (other, _) => other.name(),
    };
    format!("the {noun} {}", op_summary(summary)).trim_end().to_owned()
}

/// Whether only a newer owner knows a step.
fn is_of_newer(step: &PlannedStep) -> bool {
    matches!(step, PlannedStep::Unknown | PlannedStep::Operation { reason: OperationReason::Unknown, .. })
}

/// The step that `undo` would take back next. Its owner may have another version. Empty if there is none.
pub fn next_undo(it: &NextSteps) -> String {
    next_step(it.undo_step.as_ref(), it.undo.as_ref())
}

/// The same for `redo`.
pub fn next_redo(it: &NextSteps) -> String {
    next_step(it.redo_step.as_ref(), it.redo.as_ref())
}

fn next_step(step: Option<&PlannedStep>, word: Option<&String>) -> String {
    match (step, word) {
        (None, Some(word)) => word.clone(),
        (Some(step), Some(word)) if is_of_newer(step) => word.clone(),
        (Some(known), _) => planned_step(known),
        (None, None) => String::new(),
    }
}

fn undone_step(it: &UndoneStep) -> String {
    match it {
        UndoneStep::Turn { message: opened } => opened.as_ref().map_or_else(|| "a turn".to_owned(), message),
        UndoneStep::Operation { number } => format!("operation {number}"),
        UndoneStep::Unknown => super::UNKNOWN.to_owned(),
    }
}

fn message(it: &MessageName) -> String {
    let turn = match (it.turn, it.opens_turn) {
        (0, _) => "what was said first".to_owned(),
        (turn, true) => format!("t{turn}"),
        (turn, false) => format!("an answer of t{turn}"),
    };
    if it.words.is_empty() { turn } else { format!("{turn} “{}”", it.words) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::english::rows;

    #[test]
    fn each_summary_of_an_operation_has_a_phrase() {
        let rows = [
            (
                r#"{"code":"took_back","step":{"code":"turn","message":{"turn":2,"opens_turn":true,"words":"fix it"}}}"#,
                "took back t2 “fix it”",
            ),
            (r#"{"code":"took_back","step":{"code":"turn"}}"#, "took back a turn"),
            (r#"{"code":"brought_back","step":{"code":"operation","number":7}}"#, "brought back operation 7"),
            (
                r#"{"code":"took_back_failed","step":{"code":"operation","number":7}}"#,
                "took back operation 7, which came to nothing",
            ),
            (r#"{"code":"restored","head":"3.9"}"#, "went back to what head 3.9 left"),
            (r#"{"code":"marked","messages":1}"#, "1 message"),
            (r#"{"code":"marked","messages":3}"#, "3 messages"),
            (
                r#"{"code":"marked","messages":1,"first":{"turn":1,"opens_turn":false,"words":""}}"#,
                "an answer of t1",
            ),
            (
                r#"{"code":"marked","messages":2,"first":{"turn":1,"opens_turn":true,"words":"a"}}"#,
                "t1 “a” and 1 more message",
            ),
            (
                r#"{"code":"marked","messages":3,"first":{"turn":0,"opens_turn":false,"words":"a"}}"#,
                "what was said first “a” and 2 more messages",
            ),
            (r#"{"code":"folded","messages":4}"#, "a summary of 4 messages"),
            (r#"{"code":"folded","messages":1}"#, "a summary of 1 message"),
            (r#"{"code":"labelled","label":"good"}"#, "“good”"),
            (r#"{"code":"label_removed","label":"good"}"#, "no longer “good”"),
            (r#"{"code":"files_put_back"}"#, "put back as they were"),
            (r#"{"code":"files"}"#, "files"),
            (r#"{"code":"erased","messages":2}"#, "the content of 2 messages"),
            (r#"{"code":"replaced","message":{"turn":1,"opens_turn":true,"words":"a"}}"#, "of t1 “a”"),
            (r#"{"code":"replaced"}"#, ""),
            (
                r#"{"code":"chose","message":{"turn":1,"opens_turn":false,"words":"b"}}"#,
                "an answer of t1 “b”",
            ),
            (r#"{"code":"moved","message":{"turn":1,"opens_turn":true,"words":"a"}}"#, "to t1 “a”"),
            (r#"{"code":"moved"}"#, "to the beginning"),
            (r#"{"code":"unknown_kind","kind":"new"}"#, "a “new”, which this version does not know"),
        ];
        rows::check(&rows, op_summary);
    }

    #[test]
    fn operation_and_step_of_a_newer_owner_are_shown_in_its_own_words() {
        let json = r#"{"number":1,"head":"1.0","kind":"new","reason":"new","summary":{"code":"new"},"description":"did it",
            "author":"ada","time_ms":0,"before":"0.0","undo_next":false,"redo_next":false}"#;
        let mut it: Operation = serde_json::from_str(json).expect("an operation");
        assert_eq!(operation(&it), "did it");
        it.description.clear();
        assert_eq!(operation(&it), super::super::UNKNOWN);
        it.summary = OpSummary::Files;
        assert_eq!(operation(&it), "files");
        let turn = PlannedStep::Turn { message: None };
        let lines = vec!["the first".to_owned(), "the second".to_owned()];
        let mut plan = Plan { step_lines: lines, ..Plan::default() };
        assert_eq!(steps(&plan), ["the first", "the second"], "of an earlier owner");
        let (reason, summary) = (OperationReason::Unknown, OpSummary::Files);
        for newer in [PlannedStep::Unknown, PlannedStep::Operation { reason, summary }] {
            plan.step_summaries = vec![turn.clone(), newer];
            assert_eq!(steps(&plan), ["a turn", "the second"]);
        }
        plan.step_lines.clear();
        assert_eq!(steps(&plan), ["a turn", super::super::UNKNOWN]);
    }

    #[test]
    fn next_steps_of_an_owner_of_another_version_are_shown_in_its_own_words() {
        let word = |word: &str| Some(word.to_owned());
        let older = NextSteps { undo: word("turn"), ..NextSteps::default() };
        assert_eq!((next_undo(&older), next_redo(&older)), ("turn".to_owned(), String::new()));
        let turn = PlannedStep::Turn { message: None };
        let (undo_step, redo_step) = (Some(PlannedStep::Unknown), Some(turn));
        let newer = NextSteps { rewinds: 1, undo: word("merge"), redo: word("turn"), undo_step, redo_step };
        assert_eq!((next_undo(&newer), next_redo(&newer)), ("merge".to_owned(), "a turn".to_owned()));
    }

    #[test]
    fn each_kind_of_step_has_a_noun() {
        let first = r#""first":{"turn":2,"opens_turn":true,"words":"a"}"#;
        let to = r#""message":{"turn":3,"opens_turn":true,"words":"fix it"}"#;
        for (reason, summary, noun) in [
            ("rewind", format!(r#""code":"moved",{to}"#), "the rewind to t3 “fix it”"),
            ("rewind", r#""code":"moved""#.to_owned(), "the rewind to the beginning"),
            ("checkout", format!(r#""code":"moved",{to}"#), "the switch to t3 “fix it”"),
            ("restore", r#""code":"restored","head":"3.9""#.to_owned(), "the return to head 3.9"),
            ("edit", format!(r#""code":"replaced",{to}"#), "the edit of t3 “fix it”"),
            ("retry", r#""code":"replaced""#.to_owned(), "the retry"),
            ("choose", format!(r#""code":"chose",{to}"#), "the choice of t3 “fix it”"),
            ("choose", r#""code":"chose""#.to_owned(), "the choice of another answer"),
            (
                "hide",
                format!(r#""code":"marked","messages":2,{first}"#),
                "the hiding of t2 “a” and 1 more message",
            ),
            ("drop", r#""code":"marked","messages":3"#.to_owned(), "the drop of 3 messages"),
            ("files", r#""code":"files_put_back""#.to_owned(), "the restore of files"),
            ("fold", r#""code":"folded","messages":4"#.to_owned(), "the fold of 4 messages"),
            ("auto-fold", r#""code":"folded","messages":1"#.to_owned(), "the fold of 1 message"),
            (
                "unfold",
                r#""code":"folded","messages":4"#.to_owned(),
                "the removal of a summary of 4 messages",
            ),
            (
                "undo",
                r#""code":"took_back","step":{"code":"operation","number":7}"#.to_owned(),
                "the undo of operation 7",
            ),
            ("redo", r#""code":"brought_back","step":{"code":"turn"}"#.to_owned(), "the redo of a turn"),
        ] {
            let json = format!(r#"{{"code":"operation","reason":"{reason}","summary":{{{summary}}}}}"#);
            assert_eq!(step_made(&serde_json::from_str(&json).expect("a step")), noun, "{json}");
        }
    }

    #[test]
    fn each_step_of_a_plan_has_a_phrase() {
        let rows = [
            (
                r#"{"code":"turn","message":{"turn":2,"opens_turn":true,"words":"fix it"}}"#,
                "the turn t2 “fix it”",
            ),
            (r#"{"code":"turn"}"#, "a turn"),
            (
                r#"{"code":"operation","reason":"rewind","summary":{"code":"moved"}}"#,
                "rewind to the beginning",
            ),
            (r#"{"code":"operation","reason":"choose","summary":{"code":"chose"}}"#, "choose"),
            (r#"{"code":"operation","reason":"unknown","summary":{"code":"chose"}}"#, super::super::UNKNOWN),
        ];
        rows::check(&rows, planned_step);
    }
}
