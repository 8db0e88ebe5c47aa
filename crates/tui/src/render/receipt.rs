//! What an action did. Must never say more than the receipt proves.

use retake_wire::reply::{Counts, Plan, Receipt};
use retake_wire::{Action, MarkVerb, english};

use super::{about, content, effects, files, plan, words};
use crate::hint::Audience;
use crate::text::style::Style;
use crate::text::styled::text;
use crate::text::{Look, Text};

/// The action as one word in the past tense.
fn done(action: &Action) -> &'static str {
    match action {
        Action::Rewind { .. } => "rewound",
        Action::Edit { .. } => "edited",
        Action::Undo { .. } => "undone",
        Action::Redo { .. } => "redone",
        Action::Restore { .. } => "restored",
        Action::Checkout { .. } => "switched",
        Action::Choose { .. } => "chosen",
        Action::RestoreFiles { .. } => "put back",
        Action::Mark { verb: MarkVerb::Hide, .. } => "hidden",
        Action::Mark { verb: MarkVerb::Show, .. } => "shown",
        Action::Mark { verb: MarkVerb::Exclude, .. } => "excluded",
        Action::Mark { verb: MarkVerb::Include, .. } => "included",
        Action::Mark { verb: MarkVerb::Drop, .. } => "dropped",
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
pub fn receipt(look: &Look, action: &Action, receipt: &Receipt) -> Text {
    told(look, done(action), Some(action), receipt)
}

/// What an earlier request did, of any kind: with the ids of its messages and the head that it made.
pub fn earlier(look: &Look, receipt: &Receipt) -> Text {
    let mut text = told(look, "done", None, receipt);
    for id in &receipt.entries {
        text.push(format!("message {id}\n"));
    }
    text.push(format!("head {}\n", receipt.head));
    text
}

/// The same, for an action or another request, such as a retry.
fn told(look: &Look, done: &str, action: Option<&Action>, receipt: &Receipt) -> Text {
    if receipt.unchanged {
        return "nothing changed: it was already in this state\n".into();
    }
    // Marks hide and show messages; they do not take them back or bring them back.
    let (back, forth) = match action {
        Some(Action::Mark { .. }) => ("", ""),
        _ => (" taken back", " brought back"),
    };
    let mut pieces = Vec::new();
    for (counts, what) in [(receipt.timeline.taken_back, back), (receipt.timeline.brought_back, forth)] {
        if counts != Counts::default() {
            let counts = words::counts(about::counts(action, counts));
            pieces.push(format!("{counts}{what}"));
        }
    }
    let lifted = receipt.timeline.lifted.len();
    if lifted > 0 {
        pieces.push(format!("{} no longer in force", words::count(lifted as u64, "fold")));
    }
    let mut done = done.to_owned();
    let short = receipt.steps.as_ref().filter(|steps| steps.done < steps.asked);
    if let Some(steps) = &short {
        done.push_str(&format!(" {} of {}", steps.done, steps.asked));
    }
    let pieces = if pieces.is_empty() { String::new() } else { format!(": {}", pieces.join(", ")) };
    let mut text = text![(Style::Good, done), pieces, "\n"];
    if let Some(done) = &receipt.files {
        text.push(files::done(done));
    }
    if let Some(why) = short.and_then(|steps| steps.refusal.as_ref()) {
        let line =
            format!("the next step is refused: {}\n", crate::text::safe::line(&english::step_refusal(why)));
        text.push(line);
    } else if short.is_some() {
        let verb = if matches!(action, Some(Action::Redo { .. })) { "redo" } else { "undo" };
        text.push(format!("there is nothing more to {verb}\n"));
    }
    text.push(effects::effects(look, &receipt.effects, effects::Files::of_receipt(receipt)));
    text.push(plan::stays(look, Audience::Shell, &receipt.conditions));
    text.push(effects::waited(look, &receipt.waited));
    if let Some(composer) = &receipt.composer {
        text.push(plan::returns(look, composer));
    }
    text
}

/// The move that a run began with, for an edit or a retry: what it took back, what stays, and the key or command that reverts it.
/// `None` if it took nothing back.
pub fn went_back(look: &Look, given: &Receipt, undo: [&str; 2]) -> Option<Text> {
    if given.operations.is_empty() || given.unchanged {
        return None;
    }
    // A repeated request gets no information about files.
    let is_told = given.files.is_some() || !given.conditions.is_empty();
    let stays = if is_told { "" } else { "files stay as they are; " };
    let [undo, command] = undo;
    let or = if undo == command { String::new() } else { format!(" or {command}") };
    let Some(entry) = given.entries.first() else {
        let text = told(look, "asked again", None, given);
        return Some(text + format!("{stays}the old answer stays: {undo}{or} brings it back\n"));
    };
    let text = receipt(look, &Action::Edit { entry: entry.clone() }, given);
    Some(text + format!("{stays}the old words stay as a branch: {undo}{or} brings them back\n"))
}

/// What sending an edited message takes back: turns and files, from its plan.
pub fn would_take_back(plan: &Plan) -> String {
    let counts = plan.timeline.taken_back;
    let mut pieces = vec![words::turns(counts)];
    match plan.files.as_ref().map_or(0, |plan| files::changed(plan.counts)) {
        0 => {}
        some => pieces.push(words::count(some, "file")),
    }
    pieces.join(", ")
}

/// The same for the line client, where the text is in the input line already.
pub fn in_line(look: &Look, action: &Action, given: &Receipt) -> Text {
    let attached = given.composer.as_ref().and_then(|composer| content::attached(&composer.parts));
    let without = Receipt { composer: None, ..given.clone() };
    let mut text = receipt(look, action, &without);
    if let Some(attached) = attached {
        text.push(format!("{attached} goes with your next message\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use retake_wire::reply::Receipt;
    use retake_wire::{Action, Condition, FileName, FilesDone, LeftPath, PathCause, UncertainWhen};

    use crate::text::Look;

    #[test]
    fn trial_07_a_receipt_says_what_stayed_though_no_file_changed() {
        let look = Look { columns: 80, now_ms: 0, ids: false };
        let told = |receipt: &Receipt| super::receipt(&look, &Action::Undo { count: 1 }, receipt).to_string();
        let name = FileName { path: "a".to_owned(), path_base64: None };
        let cause = PathCause::Uncertain { when: vec![UncertainWhen::Several] };
        let left_paths = vec![LeftPath { name, cause, kept: Vec::new() }];
        let files = Some(FilesDone { left_paths, ..FilesDone::default() });
        let ambiguous = Receipt { files, ..Receipt::default() };
        assert_eq!(
            told(&ambiguous),
            "undone\nfiles: none changed\n  left alone: a: it changed while several calls ran: nobody knows whose change it is\n"
        );
        let conditions = vec![Condition::NoFileChanges];
        let none = Receipt { conditions, ..Receipt::default() };
        assert_eq!(told(&none), "undone\n! files stay as they are: these messages changed none\n");
        let edited = Receipt { operations: vec![1], entries: vec!["x".to_owned()], ..none };
        let text = super::went_back(&look, &edited, ["u", "/undo"]).expect("it went back").to_string();
        assert_eq!(text.matches("files stay as they are").count(), 1, "{text}");
    }
}
