//! What each kind of action does and does not do, as a sentence and a verb. Must never promise what the action does not do.

use retake_wire::reply::Counts;
use retake_wire::{Action, MarkVerb};

/// A sentence about what an action of this kind does and leaves alone. `None` if the plan itself says it.
pub fn sentence(action: &Action) -> Option<&'static str> {
    Some(match action {
        Action::Mark { verb, .. } => mark(*verb),
        Action::Rewind { .. } => "Goes back to before this message; what was said since stays as a branch.",
        Action::Undo { .. } => "Takes back what was done last; redo brings it back.",
        Action::Redo { .. } => "Brings back what was undone last.",
        Action::Restore { .. } => {
            "Returns to how the conversation was then; how it is now stays as a branch."
        }
        Action::Checkout { .. } => "Goes to another place of the tree; what you leave stays as a branch.",
        Action::Choose { .. } => "Goes on with another answer to the same message; this one stays.",
        Action::RestoreFiles { .. } => "Puts files back as they were; the conversation stays as it is.",
        _ => return None,
    })
}

fn mark(verb: MarkVerb) -> &'static str {
    match verb {
        MarkVerb::Hide => {
            "Out of sight for you and for the model, as if deleted. Only what is named goes: an answer to it stays, and files stay as they are. Show brings it back."
        }
        MarkVerb::Show => "Brings back what was hidden, and a dropped turn with its files.",
        MarkVerb::Exclude => {
            "You go on seeing it, the model doesn't; files stay (hide: nor do you; drop: its turn goes, with its files). Include sends it again."
        }
        MarkVerb::Include => "Is sent to the model again.",
        MarkVerb::Drop => {
            "Takes whole turns out of the middle, and what they did to files; later turns stay. Show brings them back."
        }
    }
}

/// Whether the action hides messages from people or from the model, so that they are listed and can be shown again.
pub fn is_hiding(action: &Action) -> bool {
    matches!(action, Action::Mark { verb: MarkVerb::Hide | MarkVerb::Exclude | MarkVerb::Drop, .. })
}

/// How much an action hides or shows. Marks apply to messages: hiding the first message of a turn does not hide the turn. Only a
/// drop takes whole turns.
pub fn counts(action: Option<&Action>, counts: Counts) -> Counts {
    match action {
        Some(Action::Mark { verb: MarkVerb::Drop, .. }) | None => counts,
        Some(Action::Mark { .. }) => Counts { turns: 0, ..counts },
        Some(_) => counts,
    }
}

/// The verbs for messages that leave the conversation, and for messages that enter it.
pub fn verbs(action: Option<&Action>) -> (&'static str, &'static str) {
    match action {
        Some(Action::Mark { verb: MarkVerb::Drop, .. }) => ("takes out", "shows"),
        Some(Action::Mark { .. }) => ("hides", "shows"),
        _ => ("takes back", "brings back"),
    }
}
