//! `/edit`: the words of a message in the line, to be said in its place. Must never run before they are submitted.

use retake_wire::{Action, FilesWish};

use super::{Chat, Editing, rewind};
use crate::error::{Result, problem};
use crate::verbs::change;
use retake_tui::render::{content, effects, receipt};

/// Puts the words of a message into the line.
pub(super) async fn edit(chat: &mut Chat<'_>, named: &str) -> Result {
    let conversation = chat.here()?;
    let entry = if named.is_empty() {
        match rewind::pick(chat, "Edit", false).await? {
            Some(entry) => entry,
            None => return chat.dim("nothing has changed"),
        }
    } else {
        named.to_owned()
    };
    let action = Action::Edit { entry: entry.clone() };
    let mut plan = change::plan(&chat.cx, conversation, action, FilesWish::default()).await?;
    let Some(composer) = plan.composer.take() else {
        let mut problem = problem(
            retake_wire::ProblemKind::Refused,
            "not_editable",
            "that is not a message of a person, so there are no words to edit",
        );
        problem.hint = Some("/retry asks for another answer; /edit alone lists your messages".into());
        return Err(problem.into());
    };
    chat.take_up(&composer);
    let takes_back = receipt::would_take_back(&plan);
    // What nothing takes back is said before.
    if let Some(stays) = effects::brief(&plan.effects, effects::Files::of_plan(&plan)) {
        chat.dim(&stays)?;
    }
    chat.editing = Some(Editing { entry: composer.entry, head: plan.head });
    let attached =
        content::attached(&chat.attached).map(|attached| format!("; {attached}")).unwrap_or_default();
    chat.dim(&format!(
        "Enter says it in the place of the old one and takes back {takes_back}, an empty line leaves it{attached}"
    ))
}

/// Leaves out what waits to go with the next message.
pub(super) async fn detach(chat: &mut Chat<'_>) -> Result {
    if chat.attached.is_empty() {
        return chat.dim("nothing is attached");
    }
    chat.attached.clear();
    chat.dim("left out: the next message is its words only")
}
