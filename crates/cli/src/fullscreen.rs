//! The full-screen conversation: starts the full-screen program from the arguments, and prints its results afterwards. Must never print
//! while that program has the terminal.

use std::sync::{Arc, Mutex};

use retake_tui::hint::Audience;
use retake_tui::ui::{self, Configured, Connection, Launch, UiError, World};
use retake_wire::{Client, Problem, ProblemKind};

use crate::args::Start;
use crate::context::Context;
use crate::error::{Result, hinted};
use crate::host::HostWithSettings;
use crate::owner::{Ending, LazyClient, Opened, Owner, Paths};
use crate::run::ended;
use crate::ui::{Text, Ui};
use crate::undelivered;
use retake_tui::render::id;
use retake_tui::text::safe;
use retake_tui::text::style::Style;

/// Runs the full-screen program until the person quits.
pub(crate) async fn begin(
    owner: &dyn Owner,
    paths: &Paths,
    ui: &mut dyn Ui,
    world: &mut dyn World,
    start: Start,
    folder: String,
) -> Result {
    let opened = existing(owner, paths, ui, &start, &folder).await?;
    let configured = owner.ui_settings(paths)?;
    let coloured = ui.palette().is_coloured();
    let theme = configured.theme(coloured, &|name| std::env::var(name).ok());
    let Configured { settings, keys, themes, wrong } = configured;
    let beginning = Launch {
        start: match (start.go_on, start.resume) {
            (true, _) => ui::Start::GoOn,
            (_, Some(Some(conversation))) => ui::Start::In(conversation),
            (_, Some(None)) => ui::Start::Pick,
            (false, None) => ui::Start::New,
        },
        folder,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        model: start.model,
        settings,
        keys,
        theme,
        themes,
        notices: wrong,
    };
    let ending: Mutex<Option<(Ending, Arc<dyn Client>)>> = Mutex::new(None);
    let opening = async {
        let opened = match opened {
            Some(opened) => opened,
            None => owner.open(paths).await?,
        };
        *ending.lock().expect("BUG: nobody panics with it") =
            Some((opened.ending, Arc::clone(&opened.client)));
        Ok(Connection { client: opened.client, notices: opened.notices })
    };
    let left = ui::run(opening, &mut HostWithSettings { world, owner, paths }, beginning).await;
    let ending = ending.into_inner().expect("BUG: nobody panics with it");
    if let Some((ending, client)) = ending {
        if let Some(line) = undelivered::line(&*client).await {
            ui.print_text(&(Text::styled(Style::Warn, line) + "\n"))?;
        }
        drop(client);
        ended(ending(), ui).await?;
    }
    match left {
        Ok(left) => {
            for run in left.running {
                ui.print(&format!("{}\n", run.line()))?;
            }
            for words in left.unsaved {
                ui.print(&format!("your text may not be stored; here it is:\n{}\n", safe::block(&words)))?;
            }
            if let Some(conversation) = left.conversation {
                let line = format!("to continue: retake -c, or retake -r {}", id::short(&conversation));
                ui.print_text(&(Text::styled(Style::Dim, line) + "\n"))?;
            }
            Ok(())
        }
        Err(UiError::Owner(problem)) => Err(Audience::Shell.word(problem).into()),
        Err(error) => Err(broken(&error).into()),
    }
}

/// The client that has found the conversation of the arguments; `None` if they name none. If it does not exist, no screen opens.
async fn existing(
    owner: &dyn Owner,
    paths: &Paths,
    ui: &mut dyn Ui,
    start: &Start,
    folder: &str,
) -> Result<Option<Opened>> {
    let named = start.resume.clone().flatten();
    if named.is_none() && !start.go_on {
        return Ok(None);
    }
    let client = LazyClient::new(owner, paths, Audience::Shell);
    let cx = Context::new(owner, paths, &client, ui, folder, false);
    let found = match named {
        Some(id) => cx.info(&id).await.map(drop),
        None => cx.last().await.and_then(|last| last.map(drop).ok_or_else(|| cx.no_conversation())),
    };
    match found {
        Ok(()) => Ok(client.into_opened()),
        Err(failure) => {
            ended(client.end(), ui).await?;
            Err(failure)
        }
    }
}

fn broken(error: &UiError) -> Problem {
    let kind = match error {
        UiError::Panicked => ProblemKind::Internal,
        _ => ProblemKind::Storage,
    };
    let causes = std::error::Error::source(error).map(ToString::to_string).into_iter().collect();
    let hint = "`retake -c` continues the conversation, and `retake --plain` does so line by line";
    Problem { causes, ..hinted(kind, "client", error.to_string(), hint) }
}
