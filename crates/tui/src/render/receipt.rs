//! What an action did. Must never say more than the receipt proves.

use retake_wire::reply::{Counts, Plan, Receipt};
use retake_wire::{Action, MarkVerb, english};

use super::{about, content, effects, files, plan, posts, words};
use crate::hint::Audience;
use crate::text::style::Style;
use crate::text::styled::text;
use crate::text::{Look, Text, safe};

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
    let mut pieces = match step_verb(action) {
        Some(_) => moved(receipt),
        None => Vec::new(),
    };
    for (counts, what) in [(receipt.timeline.taken_back, back), (receipt.timeline.brought_back, forth)] {
        if counts != Counts::default() && step_verb(action).is_none() {
            let counts = words::counts(about::counts(action, counts));
            pieces.push(format!("{counts}{what}"));
        }
    }
    let lifted = receipt.timeline.lifted.len();
    if lifted > 0 {
        pieces.push(format!("{} no longer in force", words::count(lifted as u64, "fold")));
    }
    let short = receipt.steps.as_ref().filter(|steps| steps.done < steps.asked);
    let done = steps_made(action, receipt).unwrap_or_else(|| match short {
        Some(steps) => format!("{done} {} of {}", steps.done, steps.asked),
        None => done.to_owned(),
    });
    let pieces = if pieces.is_empty() { String::new() } else { format!(": {}", pieces.join(", ")) };
    let mut text = text![(Style::Good, done), pieces, "\n"];
    if let Some(done) = &receipt.files {
        text.push(files::done(done));
    }
    if let Some(why) = short.and_then(|steps| steps.refusal.as_ref()) {
        let line = format!("the next step is refused: {}\n", safe::line(&english::step_refusal(why)));
        text.push(line);
    } else if short.is_some() {
        let verb = if matches!(action, Some(Action::Redo { .. })) { "redo" } else { "undo" };
        text.push(format!("there is nothing more to {verb}\n"));
    }
    text.push(effects::effects(look, &receipt.outside.effects, effects::Files::of_receipt(receipt)));
    text.push(posts::posts(look, &receipt.outside.posts, posts::Step::Done));
    text.push(plan::stays(look, Audience::Shell, &receipt.conditions));
    text.push(effects::waited(look, &receipt.waited));
    if let Some(composer) = &receipt.composer {
        text.push(plan::returns(look, composer));
    }
    text
}

/// The verb of an undo or a redo, in the past tense.
fn step_verb(action: Option<&Action>) -> Option<&'static str> {
    match action {
        Some(Action::Undo { .. }) => Some("undid"),
        Some(Action::Redo { .. }) => Some("redid"),
        _ => None,
    }
}

/// What an undo or a redo was about, such as “undid the rewind to t3”. `None` if the receipt names no step.
fn steps_made(action: Option<&Action>, receipt: &Receipt) -> Option<String> {
    /// The most steps that are named.
    const NAMED: usize = 3;
    let verb = step_verb(action)?;
    let names: Vec<String> = receipt.step_summaries.iter().map(english::step_made).collect();
    let (done, asked) = match &receipt.steps {
        Some(steps) => (steps.done, steps.asked),
        None => (names.len(), names.len()),
    };
    let named = safe::line(&names.get(..NAMED).unwrap_or(&names).join(", ")).into_owned();
    match names.len() {
        0 => None,
        1 if done == asked => Some(format!("{verb} {named}")),
        _ => {
            let of = if done < asked { format!(" of {asked}") } else { String::new() };
            let more = match done.saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(", and {} more", words::number(more as u64)),
            };
            Some(format!("{verb} {done}{of} {}: {named}{more}", if asked == 1 { "step" } else { "steps" }))
        }
    }
}

/// What an undo or a redo did to messages, such as “4 messages are back”. The files have a line of their own.
fn moved(receipt: &Receipt) -> Vec<String> {
    let [taken, brought] = [receipt.timeline.taken_back, receipt.timeline.brought_back];
    let mut pieces = Vec::new();
    if taken != Counts::default() {
        pieces.push(format!("{} taken back", words::counts(taken)));
    }
    if brought != Counts::default() {
        let are = words::is_are(usize::try_from(brought.messages).unwrap_or(usize::MAX));
        pieces.push(format!("{} {are} back", words::counts(brought)));
    }
    pieces
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
    fn undo_and_redo_name_the_steps_and_what_is_back() {
        let look = Look { columns: 80, now_ms: 0, ids: false };
        let first = |action: &Action, json: &str| {
            let receipt: Receipt = serde_json::from_str(json).expect("a receipt");
            super::receipt(&look, action, &receipt).to_string().lines().next().unwrap_or_default().to_owned()
        };
        let none = r#"{"messages":0,"calls":0,"turns":0}"#;
        let four = r#"{"messages":4,"calls":0,"turns":2}"#;
        let json = |steps: &str, taken: &str, brought: &str, files: u64| {
            let files = match files {
                0 => String::new(),
                some => format!(
                    r#","files":{{"counts":{{"reverted":{some},"deleted":0,"recreated":0,"merged":0,"left":0}}}}"#
                ),
            };
            format!(
                r#"{{"conversation":"c","head":"9.9","revision":9,"step_summaries":[{steps}],"taken_back":{taken},
                "brought_back":{brought}{files}}}"#
            )
        };
        let rewind = r#"{"code":"operation","reason":"rewind","summary":{"code":"moved","message":{"turn":3,"opens_turn":true,"words":"fix\u001b it"}}}"#;
        let turn = r#"{"code":"turn","message":{"turn":4,"opens_turn":true,"words":"go"}}"#;
        let (undo, redo) = (Action::Undo { count: 1 }, Action::Redo { count: 1 });
        assert_eq!(
            first(&undo, &json(rewind, none, four, 2)),
            "undid the rewind to t3 “fix␛ it”: 4 messages (2 turns) are back"
        );
        assert_eq!(
            first(&redo, &json(rewind, four, none, 0)),
            "redid the rewind to t3 “fix␛ it”: 4 messages (2 turns) taken back"
        );
        assert_eq!(first(&undo, &json(turn, none, none, 1)), "undid the turn t4 “go”");
        let two = format!("{turn},{rewind}");
        assert_eq!(
            first(&undo, &json(&two, four, four, 1)),
            "undid 2 steps: the turn t4 “go”, the rewind to t3 “fix␛ it”: 4 messages (2 turns) taken back, 4 messages (2 turns) are back"
        );
    }

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
