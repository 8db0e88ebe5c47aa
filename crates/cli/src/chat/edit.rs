//! `/edit`: the words of a message in the line, to replace it. Must never run before they are submitted.

use retake_wire::reply::Plan;
use retake_wire::{Action, FilesWish, Problem, Scope};

use super::{Chat, Editing, pickers};
use crate::args::ChangeArgs;
use crate::error::{Failure, Result, problem};
use crate::verbs::agreement::{CONFLICT, agree};
use crate::verbs::change;
use retake_tui::render::{self, content, effects, receipt, words};

/// Puts the words of a message into the line.
pub(super) async fn edit(chat: &mut Chat<'_>, named: &str) -> Result {
    let conversation = chat.here()?;
    let entry = if named.is_empty() {
        match pickers::turn(chat, "Edit", false).await? {
            Some(entry) => entry,
            None => return Ok(()),
        }
    } else {
        named.to_owned()
    };
    let mut plan = change::plan(&chat.cx, conversation, Action::Edit { entry }, FilesWish::default()).await?;
    let Some(composer) = plan.composer.take() else {
        let mut problem = problem(
            retake_wire::ProblemKind::Refused,
            "not_editable",
            "cannot edit this: it is not a message of a person",
        );
        problem.hint = Some("/retry asks for another answer; /edit alone lists your messages".into());
        return Err(problem.into());
    };
    chat.take_up(&composer);
    begun(chat, composer.entry, plan, FilesWish::default())
}

/// Reports what the edit takes back, and stores the plan: exactly this plan is applied.
fn begun(chat: &mut Chat<'_>, entry: String, plan: Plan, files: FilesWish) -> Result {
    let takes_back = receipt::would_take_back(&plan);
    // Effects that cannot be taken back are reported first.
    if let Some(stays) = effects::brief(&plan.effects, effects::Files::of_plan(&plan)) {
        chat.cx.aside(&stays)?;
    }
    let conflicts = plan.files.as_ref().map_or(0, |files| files.conflicts);
    if conflicts > 0 {
        let files = words::count(conflicts, "file");
        chat.cx.aside(&format!("{files} in conflict: you choose when you send the message"))?;
    }
    let seen = plan.files.map(|files| files.digest);
    let files = match files.scope {
        // Files that stay need no agreement.
        Scope::Conversation => files,
        _ => FilesWish { seen: files.seen.or(seen), ..files },
    };
    chat.editing = Some(Editing { entry, head: plan.head, files });
    let attached =
        content::attached(&chat.attached).map(|attached| format!("; {attached}")).unwrap_or_default();
    chat.cx.aside(&format!(
        "Enter sends it in place of the old message and takes back {takes_back}, an empty line cancels{attached}"
    ))
}

/// The edit was refused, because the plan has changed or files are in conflict. Shows the new plan, and the person decides. The words are
/// in the line again.
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
        let (mut changing, mut files) = (ChangeArgs::default(), FilesWish::default());
        match agree(&mut chat.cx, &mut changing, &action, &mut files, "Send it").await {
            Err(Failure::Reported(_)) => files = FilesWish::default(),
            agreed => agreed?,
        }
        let plan = change::plan(&chat.cx, conversation, action, files.clone()).await?;
        return begun(chat, entry, plan, files);
    }
    let files = FilesWish { seen: None, ..files };
    let plan = change::plan(&chat.cx, conversation, action, files.clone()).await?;
    let text = render::plan::body(&chat.cx.ui.look(), &plan);
    chat.cx.print_text(&text)?;
    begun(chat, entry, plan, files)
}

/// Removes the parts that wait for the next message.
pub(super) async fn detach(chat: &mut Chat<'_>) -> Result {
    if chat.attached.is_empty() {
        return chat.cx.aside("nothing is attached");
    }
    chat.attached.clear();
    chat.cx.aside("removed: the next message is text only")
}
