//! `/edit`: the words of a message in the line, to be said in its place. Must never run before they are submitted.

use retake_wire::reply::Plan;
use retake_wire::{Action, FilesWish, Problem, Scope};

use super::{CONFLICT, Chat, Editing, rewind};
use crate::error::{Result, problem};
use crate::verbs::change;
use retake_tui::render::{self, content, effects, receipt, words};

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
    let mut plan = change::plan(&chat.cx, conversation, Action::Edit { entry }, FilesWish::default()).await?;
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
    begun(chat, composer.entry, plan, FilesWish::default())
}

/// The words are in the line, and what saying them takes back is said; what is done then is what was shown.
fn begun(chat: &mut Chat<'_>, entry: String, plan: Plan, files: FilesWish) -> Result {
    let takes_back = receipt::would_take_back(&plan);
    // What nothing takes back is said before.
    if let Some(stays) = effects::brief(&plan.effects, effects::Files::of_plan(&plan)) {
        chat.dim(&stays)?;
    }
    let conflicts = plan.files.as_ref().map_or(0, |files| files.conflicts);
    if conflicts > 0 {
        let files = words::count(conflicts, "file");
        chat.dim(&format!("{files} in conflict: you choose what becomes of it when you have said it"))?;
    }
    let seen = plan.files.map(|files| files.digest);
    let files = match files.scope {
        // Nothing is agreed to for files that stay.
        Scope::Conversation => files,
        _ => FilesWish { seen: files.seen.or(seen), ..files },
    };
    chat.editing = Some(Editing { entry, head: plan.head, files });
    let attached =
        content::attached(&chat.attached).map(|attached| format!("; {attached}")).unwrap_or_default();
    chat.dim(&format!(
        "Enter says it in the place of the old one and takes back {takes_back}, an empty line leaves it{attached}"
    ))
}

/// The edit was refused, as what it takes back is not what was shown, or files are in conflict: the new plan is shown, and the person
/// decides. The words are in the line again.
pub(super) async fn again(chat: &mut Chat<'_>, why: Problem) -> Result {
    let Some(Editing { entry, files, .. }) = chat.editing.take() else {
        return chat.cx.complain(&why.into());
    };
    let is_conflict = why.code == CONFLICT;
    let why = Problem { hint: None, ..why };
    chat.cx.complain(&why.into())?;
    let action = Action::Edit { entry: entry.clone() };
    let conversation = chat.here()?;
    if is_conflict {
        let Some((_, files)) = rewind::agreed(chat, &action, "Say it").await? else {
            let plan = change::plan(&chat.cx, conversation, action, FilesWish::default()).await?;
            return begun(chat, entry, plan, FilesWish::default());
        };
        let plan = change::plan(&chat.cx, conversation, action, files.clone()).await?;
        return begun(chat, entry, plan, files);
    }
    let files = FilesWish { seen: None, ..files };
    let plan = change::plan(&chat.cx, conversation, action, files.clone()).await?;
    let text = render::plan::body(&chat.cx.ui.look(), &plan);
    chat.print(&text)?;
    begun(chat, entry, plan, files)
}

/// Leaves out what waits to go with the next message.
pub(super) async fn detach(chat: &mut Chat<'_>) -> Result {
    if chat.attached.is_empty() {
        return chat.dim("nothing is attached");
    }
    chat.attached.clear();
    chat.dim("left out: the next message is its words only")
}
