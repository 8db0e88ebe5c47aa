//! Notes of the engine as conditions.

use retake_core::Reason;
use retake_engine::Note;
use retake_wire::{Condition, MarkCount, MarkVerb};

/// The condition of a note.
pub(crate) fn note(note: &Note) -> Condition {
    match note {
        Note::Adopted { files } => Condition::Adopted { files: *files as u64 },
        Note::Returned { files } => Condition::Returned { files: *files as u64 },
        Note::MarksStay { head, marks, back } => Condition::MarksStay {
            head: head.to_string(),
            marks: marks
                .iter()
                .map(|(mark, messages)| MarkCount { mark: mark.name().to_owned(), messages: *messages })
                .collect(),
            verbs: back.iter().filter_map(|reason| verb(*reason)).collect(),
        },
        Note::OfParent { parent, files, named, turn } => Condition::OfParent {
            parent: parent.to_string(),
            files: *files as u64,
            named: named.clone(),
            turn: *turn,
        },
    }
}

/// The verb that marks messages, of a reason that does.
fn verb(reason: Reason) -> Option<MarkVerb> {
    match reason {
        Reason::Hide => Some(MarkVerb::Hide),
        Reason::Show => Some(MarkVerb::Show),
        Reason::Exclude => Some(MarkVerb::Exclude),
        Reason::Include => Some(MarkVerb::Include),
        Reason::Drop => Some(MarkVerb::Drop),
        _ => None,
    }
}
