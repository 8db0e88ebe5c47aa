//! Commands about files: drop, diff, checkpoint. Must never change a file by itself: the owner does that.

use retake_wire::request::{Checkpoint, Plan};
use retake_wire::{Action, FileName, FilesWish, MarkVerb, Reply, Request, Scope};

use super::{Chat, choices};
use crate::error::{Result, unexpected, usage};
use crate::verbs::change;
use retake_tui::render;

/// Takes a turn out of the middle, with its files.
pub(super) async fn drop_turn(chat: &mut Chat<'_>, named: &str) -> Result {
    if named.is_empty() {
        return Err(usage("which turn is not said", "/drop tN; /log shows the turns"));
    }
    let entries = named.split_whitespace().map(str::to_owned).collect();
    let action = Action::Mark { verb: MarkVerb::Drop, entries, range: false, seen: None };
    match chat.apply(action, None).await? {
        Some(_) => chat.dim(super::marks::LATER),
        None => Ok(()),
    }
}

/// Shows how files would change by going back.
pub(super) async fn diff(chat: &mut Chat<'_>, named: &str) -> Result {
    let entry = if named.is_empty() { "t1" } else { named };
    let plan = Plan {
        conversation: chat.here()?,
        action: Action::Rewind { entry: entry.to_owned() },
        files: FilesWish { scope: Scope::Files, ..FilesWish::default() },
        diff: true,
    };
    match chat.cx.call(Request::Plan(plan)).await? {
        Reply::Plan(plan) => {
            let text = render::plan::body(&chat.cx.ui.look(), &plan);
            Ok(chat.cx.ui.page(&text)?)
        }
        other => Err(unexpected(&other)),
    }
}

/// Puts files back as they were: `PATH… [to NAME]`.
pub(super) async fn restore(chat: &mut Chat<'_>, words: &str) -> Result {
    let (paths, to) = match words.split_once(" to ") {
        Some((paths, to)) => (paths, Some(to.trim().to_owned())),
        None => (words, None),
    };
    let name = |path: &str| FileName { path: path.to_owned(), path_base64: None };
    let action = Action::RestoreFiles { paths: paths.split_whitespace().map(name).collect(), to };
    let conversation = chat.here()?;
    let mut wish = FilesWish::default();
    let mut plan = change::plan(&chat.cx, conversation, action.clone(), wish.clone()).await?;
    let digest = loop {
        let text = render::plan::body(&chat.cx.ui.look(), &plan);
        chat.cx.ui.page(&text)?;
        let Some(files) = plan.files.filter(|_| !plan.unchanged) else {
            return Ok(());
        };
        if files.conflicts > 0 {
            match choices::choose(chat, &action, &wish).await? {
                Some(chosen) => (wish, plan) = chosen,
                None => return chat.dim("nothing has changed"),
            }
        } else if chat.cx.ui.confirm("Put them back?")? {
            break files.digest;
        } else {
            return chat.dim("nothing has changed");
        }
    };
    // What was shown is what is done.
    let wish = FilesWish { seen: Some(digest), ..wish };
    chat.apply_with(action, Some(plan.head), wish).await?;
    chat.dim("/undo takes this back")
}

/// Looks at the folder, and keeps what is seen under a name.
pub(super) async fn checkpoint(chat: &mut Chat<'_>, name: &str) -> Result {
    let name = if name.is_empty() { "checkpoint" } else { name };
    let request = Checkpoint { conversation: chat.here()?, name: name.to_owned() };
    let reply = chat.cx.call(Request::Checkpoint(request)).await?;
    let text = render::reply(&chat.cx.ui.look(), &reply);
    chat.print(&text)
}
