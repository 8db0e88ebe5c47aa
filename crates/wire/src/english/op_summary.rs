//! The English phrases for what operations did. Must never name words that are hidden: they are not in the codes.

use crate::op_summary::{MessageName, OpSummary, StepName, StepSummary};
use crate::reply::{Operation, Plan};

/// What an operation did, in one line.
pub fn op_summary(it: &OpSummary) -> String {
    match it {
        OpSummary::TookBack { step } => format!("took back {}", step_name(step)),
        OpSummary::BroughtBack { step } => format!("brought back {}", step_name(step)),
        OpSummary::CameToNothing { step } => format!("took back {}, which came to nothing", step_name(step)),
        OpSummary::WentBack { head } => format!("went back to what head {head} left"),
        OpSummary::Marked { messages, first } => match (first.as_ref().map(message), messages) {
            (None, 1) => "1 message".to_owned(),
            (None, count) => format!("{count} messages"),
            (Some(first), 0 | 1) => first,
            (Some(first), 2) => format!("{first} and 1 more message"),
            (Some(first), count) => format!("{first} and {} more messages", count - 1),
        },
        OpSummary::Folded { messages } => format!("a summary of {messages} messages"),
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

/// What a step of a plan takes back or brings back.
pub fn step_summary(it: &StepSummary) -> String {
    match it {
        StepSummary::Turn { message: Some(opened) } => format!("the turn {}", message(opened)),
        StepSummary::Turn { message: None } => "a turn".to_owned(),
        StepSummary::Operation { reason, summary } => {
            format!("{reason} {}", op_summary(summary)).trim_end().to_owned()
        }
        StepSummary::Unknown => super::UNKNOWN.to_owned(),
    }
}

/// What an operation did, also where its owner is of another version.
pub fn operation(it: &Operation) -> String {
    match &it.summary {
        OpSummary::Unknown => it.description.clone(),
        known => op_summary(known),
    }
}

/// What the steps of a plan take back or bring back, also where its owner is of an earlier version.
pub fn steps(plan: &Plan) -> Vec<String> {
    if plan.step_summaries.is_empty() {
        return plan.step_lines.clone();
    }
    plan.step_summaries.iter().map(step_summary).collect()
}

fn step_name(it: &StepName) -> String {
    match it {
        StepName::Turn { message: opened } => opened.as_ref().map_or_else(|| "a turn".to_owned(), message),
        StepName::Operation { number } => format!("operation {number}"),
        StepName::Unknown => super::UNKNOWN.to_owned(),
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
                r#"{"code":"came_to_nothing","step":{"code":"operation","number":7}}"#,
                "took back operation 7, which came to nothing",
            ),
            (r#"{"code":"went_back","head":"3.9"}"#, "went back to what head 3.9 left"),
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
        ];
        rows::check(&rows, step_summary);
    }
}
