//! What an action did. Must never say more than the receipt proves.

use retake_wire::reply::{Counts, Receipt};
use retake_wire::{Action, MarkVerb};

use super::{content, plan, words};
use crate::term::style::Style;
use crate::ui::Look;

/// The action in one word of the past.
pub(crate) fn done(action: &Action) -> &'static str {
    match action {
        Action::Rewind { .. } => "rewound",
        Action::Undo { .. } => "undone",
        Action::Redo { .. } => "redone",
        Action::Restore { .. } => "restored",
        Action::Checkout { .. } => "switched",
        Action::Choose { .. } => "chosen",
        Action::Edit { .. } => "rewound",
        Action::Mark { verb, .. } => match verb {
            MarkVerb::Hide => "hidden",
            MarkVerb::Show => "shown",
            MarkVerb::Exclude => "excluded",
            MarkVerb::Include => "included",
        },
        Action::Fold { .. } => "folded",
        Action::Unfold { .. } => "unfolded",
        Action::Label { name: Some(_), .. } => "labelled",
        Action::Label { name: None, .. } => "label removed",
        Action::Title { title: Some(_) } => "titled",
        Action::Title { title: None } => "title removed",
        Action::Erase { .. } => "erased",
    }
}

/// What was done, in a few lines.
pub(crate) fn receipt(look: &Look, done: &str, receipt: &Receipt) -> String {
    if receipt.unchanged {
        return "nothing changed: it was so already\n".to_owned();
    }
    let mut pieces = Vec::new();
    for (counts, what) in [(receipt.taken_back, "taken back"), (receipt.brought_back, "brought back")] {
        if counts != Counts::default() {
            pieces.push(format!("{} {what}", words::counts(counts)));
        }
    }
    let lifted = receipt.lifted.len();
    if lifted > 0 {
        pieces.push(format!("{} no longer in force", words::count(lifted as u64, "fold")));
    }
    let done = look.palette.paint(Style::Good, done);
    let mut text =
        if pieces.is_empty() { format!("{done}\n") } else { format!("{done}: {}\n", pieces.join(", ")) };
    if let Some(composer) = &receipt.composer {
        text.push_str(&plan::returns(look, composer));
    }
    text
}

/// The same for the conversation in the terminal, where the text is in the line already.
pub(crate) fn in_line(look: &Look, done: &str, given: &Receipt) -> String {
    let attached = given.composer.as_ref().and_then(|composer| content::attached(&composer.parts));
    let without = Receipt { composer: None, ..given.clone() };
    let mut text = receipt(look, done, &without);
    if let Some(attached) = attached {
        text.push_str(&format!("{attached} goes with your next message\n"));
    }
    text
}
