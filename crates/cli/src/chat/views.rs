//! Commands that look: log, operations, search, models, export. Must never change a conversation.

use std::path::PathBuf;

use retake_wire::request::{Export, LARGEST_PAGE, Log, Page, Projection};
use retake_wire::{Reply, Request, Search};

use super::Chat;
use crate::args::limit;
use crate::error::{Result, usage};
use crate::term::pick::Row;
use crate::term::safe;
use crate::verbs::export::{of_name, to_file};
use retake_tui::models::{Known, known};
use retake_tui::render;

/// The last messages.
pub(super) async fn log(chat: &mut Chat<'_>, words: &str) -> Result {
    let limit = match words {
        "" => 20,
        words => limit(words).map_err(|_| {
            usage(format!("{words:?} is not how many"), format!("/log, or /log 50; at most {LARGEST_PAGE}"))
        })?,
    };
    let log = Log {
        conversation: chat.here()?,
        at: None,
        branch: None,
        projection: Projection::Timeline,
        limit: Some(limit),
        before: None,
        after: None,
    };
    chat.cx.show(Request::Log(log)).await
}

/// What was done.
pub(super) async fn ops(chat: &mut Chat<'_>) -> Result {
    let page = Page { conversation: chat.here()?, limit: Some(50), before: None };
    chat.cx.show(Request::Ops(page)).await
}

/// Searches this conversation, or all.
pub(super) async fn search(chat: &mut Chat<'_>, words: &str) -> Result {
    let mut search = Search::default();
    let mut all = false;
    let mut query = words;
    loop {
        let (word, rest) = query.split_once(char::is_whitespace).unwrap_or((query, ""));
        match word {
            "--all" => all = true,
            "--hidden" => search.hidden = true,
            "--rewound" => search.rewound = true,
            _ => break,
        }
        query = rest.trim_start();
    }
    query.clone_into(&mut search.query);
    search.conversation = if all { None } else { chat.conversation.clone() };
    search.limit = Some(20);
    chat.cx.show(Request::Search(search)).await
}

/// Chooses the model.
pub(super) async fn model(chat: &mut Chat<'_>, name: &str) -> Result {
    let models = chat.models().await?;
    let name = if name.is_empty() {
        let rows: Vec<Row> = models
            .models
            .iter()
            .map(|model| Row {
                title: model.name.clone(),
                detail: if model.name == models.default { models.why.clone() } else { String::new() },
                disabled: model.unavailable.clone(),
                key: None,
            })
            .collect();
        let picked = chat.cx.ui.pick("Talk to", &rows, &mut |_| String::new())?;
        match picked {
            Some(row) => models.models[row].name.clone(),
            None => return chat.dim("nothing has changed"),
        }
    } else {
        name.to_owned()
    };
    let shown = safe::line(&name);
    chat.dim(&match known(&models, &name) {
        Known::Listed => format!("model {shown}"),
        Known::Unlisted(what) => format!("model {shown}; {what}"),
        Known::Unusable(why) => format!("model {shown}, but: {why}"),
        Known::Nowhere(hint) => {
            return Err(usage(format!("there is no model “{shown}”: {hint}"), "/model lists them"));
        }
    })?;
    chat.model = Some(name);
    Ok(())
}

/// Writes the conversation to a file.
pub(super) async fn export(chat: &mut Chat<'_>, name: &str) -> Result {
    if name.is_empty() {
        return Err(usage("the file is not said", "/export notes.md"));
    }
    let output = PathBuf::from(chat.cx.absolute(name.as_ref())?);
    let export = Export { conversation: chat.here()?, format: of_name(&output), cursor: None };
    let written = to_file(chat.cx.client, export, &output).await?;
    let text = render::reply(&chat.cx.ui.look(), &Reply::Written(written));
    chat.print(&text)
}
