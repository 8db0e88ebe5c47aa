//! `/edit`: the text of a message in the line, to replace it. Must never run before the person submits it.

use retake_wire::reply::Plan;
use retake_wire::{Action, FileOptions, Problem, ProblemKind, Scope};

use super::{Chat, Editing, pickers};
use crate::args::ChangeArgs;
use crate::error::{Failure, Result, hinted};
use crate::verbs::agreement::{CONFLICT, agree};
use crate::verbs::change;
use retake_tui::render::{self, content, effects, posts, receipt, words};

/// Puts the text of a message into the line: of the named one, or of one that the person picks.
pub(super) async fn edit(chat: &mut Chat<'_>, named: &str) -> Result {
    let conversation = chat.cx.here()?;
    let picked = match named {
        "" => pickers::turn(chat, "Edit", false).await?,
        named => Some(vec![named.to_owned()]),
    };
    let Some(entry) = picked.and_then(|mut arguments| arguments.pop()) else { return Ok(()) };
    let (action, files) = (Action::Edit { entry }, FileOptions::default());
    let mut plan = change::plan(&chat.cx, &conversation, &action, &files, false).await?;
    let Some(composer) = plan.composer.take() else {
        let message = "cannot edit this: it is not a message of a person";
        let hint = "/retry asks for another answer; /edit alone lists your messages";
        return Err(hinted(ProblemKind::Refused, "not_editable", message, hint).into());
    };
    chat.take_up(&composer);
    begun(chat, composer.entry, plan, files)
}

/// Reports what the edit takes back, and stores the plan: exactly this plan is applied.
fn begun(chat: &mut Chat<'_>, entry: String, plan: Plan, files: FileOptions) -> Result {
    let takes_back = receipt::would_take_back(&plan);
    // Effects that can't be reverted are reported first.
    if let Some(stays) = effects::brief(&plan.outside.effects, effects::Files::of_plan(&plan)) {
        chat.cx.aside(&stays)?;
    }
    if let Some(posts) = posts::brief(&plan.outside.posts, posts::Step::Planned) {
        chat.cx.aside(&posts)?;
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
        _ => FileOptions { seen: files.seen.or(seen), ..files },
    };
    chat.editing = Some(Editing { entry, head: plan.head, files });
    let attached =
        content::attached(&chat.attached).map(|attached| format!("; {attached}")).unwrap_or_default();
    chat.cx.aside(&format!(
        "Enter sends it in place of the old message and takes back {takes_back}, an empty line cancels{attached}"
    ))
}

/// The edit was refused because the plan has changed or files are in conflict. Shows the new plan, and the person decides. The
/// text is in the line again.
pub(super) async fn again(chat: &mut Chat<'_>, why: Problem) -> Result {
    let Some(Editing { entry, files, .. }) = chat.editing.take() else {
        return chat.cx.complain(&why.into());
    };
    let is_conflict = why.code == CONFLICT;
    chat.cx.complain(&Problem { hint: None, ..why }.into())?;
    let (conversation, action) = (chat.cx.here()?, Action::Edit { entry: entry.clone() });
    let mut files = FileOptions { seen: None, ..files };
    if is_conflict {
        files = FileOptions::default();
        match agree(&mut chat.cx, &mut ChangeArgs::default(), &action, &mut files, "Send it").await {
            Err(Failure::Reported(_)) => files = FileOptions::default(),
            agreed => agreed?,
        }
    }
    let plan = change::plan(&chat.cx, &conversation, &action, &files, false).await?;
    if !is_conflict {
        chat.cx.print_text(&render::plan::body(&chat.cx.ui.look(), &plan))?;
    }
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
