//! Commands and skills that files hold, for clients by lines. Must never keep anybody from a message: an owner that cannot list
//! them has none.

use retake_tui::render::commands::origin;
use retake_wire::{CommandFile, CommandsOf, Reply, Request};

use crate::context::Context;
use crate::term::safe;

async fn files(cx: &Context<'_>) -> Vec<CommandFile> {
    let of = CommandsOf { folder: cx.folder.to_owned() };
    match cx.call(Request::CommandFiles(of)).await {
        Ok(Reply::CommandFiles(found)) => {
            found.files.into_iter().filter(|file| file.hidden_by.is_none()).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether a command or a skill has this name.
pub(crate) async fn is_known(cx: &Context<'_>, name: &str) -> bool {
    files(cx).await.iter().any(|file| file.name == name)
}

/// The name and the arguments of a text that sends a command of a file.
pub(crate) async fn sent<'t>(cx: &Context<'_>, text: &'t str) -> Option<(&'t str, &'t str)> {
    let line = text.trim().strip_prefix('/')?;
    let (name, arguments) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    (!name.is_empty() && !name.contains('/') && is_known(cx, name).await).then(|| (name, arguments.trim()))
}

/// The completions of the line: names, each with what it is for and its origin.
pub(crate) async fn completions(cx: &Context<'_>) -> Vec<(String, String)> {
    let told = |file: CommandFile| {
        let help = format!("{} ({})", file.description, origin(&file));
        (safe::line(&format!("/{}", file.name)).into_owned(), safe::line(&help).into_owned())
    };
    files(cx).await.into_iter().map(told).collect()
}
