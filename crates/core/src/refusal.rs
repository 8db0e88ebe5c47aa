//! Why a request is refused. A refusal changes nothing; each has its own type, text and remedies.

use strum::IntoStaticStr;

use crate::id::{Head, OpNo, Pos};
use crate::mark::Mark;
use crate::remedy::{Field, Remedy};

/// A refusal. The texts name no entry: the client that shows one adds the id from the request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Refusal {
    /// The position names no entry of this conversation.
    #[error("there is no such entry in this conversation")]
    UnknownEntry,
    /// The entry is not on the path now.
    #[error("the entry was taken back and is on another branch now")]
    NotOnPath {
        /// The entry.
        entry: Pos,
        /// The operation that rewound it, and the head before it.
        taken_back: Option<(OpNo, Head)>,
    },
    /// The entry is hidden or dropped, so it cannot be a target.
    #[error("the entry is {}", .0.name())]
    NotVisible(Mark),
    /// The author saw another state than the current one.
    #[error("the conversation has changed: it was at {seen} and is at {now}")]
    #[strum(serialize = "stale_head")]
    Stale {
        /// The head that the author saw.
        seen: Head,
        /// The current head.
        now: Head,
    },
    /// The entries do not have the mark that the author saw.
    #[error("the messages are no longer marked {}", .0.name())]
    StaleMark(Mark),
    /// There is no step, or all are undone.
    #[error("there is nothing to undo")]
    NothingToUndo,
    /// Nothing was undone, or a new step was made since.
    #[error("there is nothing to redo")]
    NothingToRedo,
    /// This head never existed.
    #[error("there is no head {0} in this conversation")]
    UnknownHead(Head),
    /// The step to compensate is no longer the last one.
    #[error("something was said since, so it stays")]
    Overtaken,
    /// There is no such fold.
    #[error("there is no such fold")]
    UnknownFold,
    /// The entries to fold are not together in the prompt, or there are none.
    #[error("these messages do not stand together in the prompt, so no summary can take their place")]
    NotFoldable,
    /// A label or a title needs a text.
    #[error("a label or a title can't be empty")]
    EmptyLabel,
    /// A label or a title contains a character that it must not.
    #[error("a label or a title can't hold U+{:04X}: {}", u32::from(*.0), unfit(*.0))]
    BadName(char),
    /// A fold needs a summary.
    #[error("a summary can't be empty: it stands in the prompt in the place of the messages")]
    EmptySummary,
    /// The label names another entry.
    #[error("the label “{0}” already names another message")]
    LabelTaken(String),
    /// The entry has no such alternative.
    #[error("there is no alternative number {wanted}, the last one is {count}")]
    NoSuchAlternative {
        /// The requested number, from 1.
        wanted: usize,
        /// The number of alternatives.
        count: usize,
    },
    /// A model did not write it, so there is no other answer to request.
    #[error("the message was not written by a model")]
    NotAnAnswer,
    /// An operation of a newer version is in the log.
    #[error("the conversation is read-only: operation {op} is a “{kind}”, which this version does not know")]
    ReadOnly {
        /// The operation.
        op: OpNo,
        /// Its kind.
        kind: String,
    },
}

impl Refusal {
    /// A stable word for programs.
    pub fn code(&self) -> &'static str {
        self.into()
    }

    /// Its values, by name.
    pub fn fields(&self) -> Vec<(&'static str, Field)> {
        match self {
            Self::NotOnPath { taken_back: Some((op, head)), .. } => {
                vec![("operation", op.0.into()), ("restore", head.to_string().into())]
            }
            Self::NotVisible(mark) | Self::StaleMark(mark) => vec![("mark", mark.name().into())],
            Self::Stale { seen, now } => {
                vec![("seen", seen.to_string().into()), ("now", now.to_string().into())]
            }
            Self::UnknownHead(head) => vec![("head", head.to_string().into())],
            Self::BadName(sign) => {
                vec![("character", sign.to_string().into()), ("what", defect(*sign).into())]
            }
            Self::LabelTaken(label) => vec![("label", label.as_str().into())],
            Self::NoSuchAlternative { wanted, count } => {
                vec![("wanted", (*wanted as u64).into()), ("count", (*count as u64).into())]
            }
            Self::ReadOnly { op, kind } => vec![("operation", op.0.into()), ("kind", kind.as_str().into())],
            _ => Vec::new(),
        }
    }

    /// What helps, in the order of the hint for its code.
    pub fn remedies(&self) -> Vec<Remedy> {
        use Remedy::{Choose, Edit, Log, Ops, RemoveLabel, Restore, Show, Tree, Undo};
        match self {
            Self::UnknownEntry => vec![Log],
            Self::NotOnPath { taken_back: Some((_, head)), .. } => vec![Undo, Restore(Some(*head))],
            Self::NotOnPath { .. } => vec![Tree],
            Self::NotVisible(_) => vec![Show],
            Self::NothingToUndo => vec![Tree, Ops],
            Self::NothingToRedo => vec![Tree, Restore(None)],
            Self::UnknownHead(_) | Self::UnknownFold => vec![Ops],
            Self::Overtaken => vec![Undo],
            Self::EmptyLabel => vec![RemoveLabel],
            Self::NoSuchAlternative { .. } => vec![Choose],
            Self::NotAnAnswer => vec![Edit],
            Self::Stale { .. }
            | Self::StaleMark(_)
            | Self::NotFoldable
            | Self::BadName(_)
            | Self::EmptySummary
            | Self::LabelTaken(_)
            | Self::ReadOnly { .. } => Vec::new(),
        }
    }
}

/// Why a character is not allowed in a name, for programs.
fn defect(sign: char) -> &'static str {
    match sign {
        '\n' | '\r' | '\u{2028}' | '\u{2029}' => "line_break",
        '\t' => "tab",
        _ if sign.is_control() => "control",
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            "direction"
        }
        _ => "invisible",
    }
}

/// The same, for people.
fn unfit(sign: char) -> &'static str {
    match defect(sign) {
        "line_break" => "a name is one line",
        "tab" => "a name has no tabs",
        "control" => "a terminal may act on it",
        "direction" => "it turns the text around it",
        _ => "it is not seen",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_know_a_refusal_by_its_code_and_its_values() {
        let head = Head::new(2, 5);
        let pos = Pos::new(0, 1);
        let text = |text: &str| Field::Text(text.to_owned());
        type Row = (Refusal, &'static str, Vec<(&'static str, Field)>);
        let rows: Vec<Row> = vec![
            (Refusal::UnknownEntry, "unknown_entry", vec![]),
            (Refusal::NotOnPath { entry: pos, taken_back: None }, "not_on_path", vec![]),
            (
                Refusal::NotOnPath { entry: pos, taken_back: Some((OpNo(3), head)) },
                "not_on_path",
                vec![("operation", Field::Number(3)), ("restore", text("2.5"))],
            ),
            (Refusal::NotVisible(Mark::Hidden), "not_visible", vec![("mark", text("hidden"))]),
            (
                Refusal::Stale { seen: Head::new(1, 5), now: head },
                "stale_head",
                vec![("seen", text("1.5")), ("now", text("2.5"))],
            ),
            (Refusal::StaleMark(Mark::Normal), "stale_mark", vec![("mark", text("normal"))]),
            (Refusal::NothingToUndo, "nothing_to_undo", vec![]),
            (Refusal::NothingToRedo, "nothing_to_redo", vec![]),
            (Refusal::UnknownHead(head), "unknown_head", vec![("head", text("2.5"))]),
            (Refusal::Overtaken, "overtaken", vec![]),
            (Refusal::UnknownFold, "unknown_fold", vec![]),
            (Refusal::NotFoldable, "not_foldable", vec![]),
            (Refusal::EmptyLabel, "empty_label", vec![]),
            (Refusal::BadName('\t'), "bad_name", vec![("character", text("\t")), ("what", text("tab"))]),
            (Refusal::EmptySummary, "empty_summary", vec![]),
            (Refusal::LabelTaken("a".to_owned()), "label_taken", vec![("label", text("a"))]),
            (
                Refusal::NoSuchAlternative { wanted: 3, count: 2 },
                "no_such_alternative",
                vec![("wanted", Field::Number(3)), ("count", Field::Number(2))],
            ),
            (Refusal::NotAnAnswer, "not_an_answer", vec![]),
            (
                Refusal::ReadOnly { op: OpNo(4), kind: "merge".to_owned() },
                "read_only",
                vec![("operation", Field::Number(4)), ("kind", text("merge"))],
            ),
        ];
        for (refusal, code, fields) in rows {
            assert_eq!((refusal.code(), refusal.fields()), (code, fields));
        }
    }

    #[test]
    fn refusal_names_the_actions_that_help() {
        let (head, entry) = (Head::new(2, 5), Pos::new(0, 1));
        let rows = [
            (Refusal::UnknownEntry, vec![Remedy::Log]),
            (Refusal::NotOnPath { entry, taken_back: None }, vec![Remedy::Tree]),
            (
                Refusal::NotOnPath { entry, taken_back: Some((OpNo(3), head)) },
                vec![Remedy::Undo, Remedy::Restore(Some(head))],
            ),
            (Refusal::NotVisible(Mark::Hidden), vec![Remedy::Show]),
            (Refusal::NothingToUndo, vec![Remedy::Tree, Remedy::Ops]),
            (Refusal::NothingToRedo, vec![Remedy::Tree, Remedy::Restore(None)]),
            (Refusal::UnknownHead(head), vec![Remedy::Ops]),
            (Refusal::Overtaken, vec![Remedy::Undo]),
            (Refusal::UnknownFold, vec![Remedy::Ops]),
            (Refusal::EmptyLabel, vec![Remedy::RemoveLabel]),
            (Refusal::NoSuchAlternative { wanted: 3, count: 2 }, vec![Remedy::Choose]),
            (Refusal::NotAnAnswer, vec![Remedy::Edit]),
            (Refusal::StaleMark(Mark::Normal), vec![]),
        ];
        for (refusal, remedies) in rows {
            assert_eq!(refusal.remedies(), remedies, "{refusal}");
        }
    }

    #[test]
    fn a_bad_character_is_refused_with_what_it_does() {
        for (signs, same) in [
            ("\n\r\u{2028}\u{2029}", Some('\n')),
            ("\t", Some('\t')),
            ("\u{1b}\0\u{9b}", Some('\0')),
            ("\u{61c}\u{200e}\u{200f}\u{202e}\u{2066}", Some('\u{61c}')),
            ("\u{200b}\u{ad}\u{3164}", Some('\u{ad}')),
        ] {
            let kinds = ['\n', '\t', '\0', '\u{61c}', '\u{ad}'];
            for sign in signs.chars() {
                let alike = kinds.into_iter().filter(|kind| unfit(*kind) == unfit(sign));
                assert_eq!(alike.collect::<Vec<_>>(), Vec::from_iter(same), "{sign:?}");
                assert!(!unfit(sign).is_empty());
            }
        }
    }
}
