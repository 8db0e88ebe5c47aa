//! `retake plan`: what any action would do. Its arguments are those of the verb that does it.

use clap::{Args, Subcommand};
use retake_wire::request;
use retake_wire::{Action, Request};

use super::change::{Act, Preview};
use super::{choose, drop, erase, files, fold, label, mark, redo, restore, rewind, title, undo, unfold};
use crate::args::files::{Diffed, PlannedFiles};
use crate::context::Context;
use crate::error::Result;

/// Show what an action would do, without doing it
///
/// The plan ends with the head that it was made from: the verb with --head does exactly this, or refuses.
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Plan {
    #[command(subcommand)]
    action: Planned,
}

/// What can be planned.
#[derive(Debug, Subcommand)]
enum Planned {
    Rewind(Preview<PlannedFiles<rewind::Rewind>>),
    Undo(Preview<PlannedFiles<undo::Undo>>),
    Redo(Preview<PlannedFiles<redo::Redo>>),
    #[command(visible_alias = "checkout")]
    Restore(Preview<PlannedFiles<restore::Restore>>),
    Edit(Preview<PlannedFiles<Edit>>),
    Choose(Preview<PlannedFiles<choose::Choose>>),
    Drop(Preview<PlannedFiles<drop::Drop>>),
    Files(Files),
    Hide(Preview<mark::Hide>),
    Show(Preview<PlannedFiles<mark::Show>>),
    Exclude(Preview<mark::Exclude>),
    Include(Preview<mark::Include>),
    Fold(Preview<fold::Fold>),
    Unfold(Preview<unfold::Unfold>),
    Label(Preview<label::Label>),
    Title(Preview<title::Title>),
    Erase(Preview<erase::Erase>),
}

/// Put files or folders back as they were
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
struct Files {
    #[command(subcommand)]
    what: OfFiles,
}

/// What can be planned of files.
#[derive(Debug, Subcommand)]
enum OfFiles {
    Restore(Preview<Diffed<files::restore::Restore>>),
}

/// Say something else in the place of a message
#[derive(Debug, Args)]
struct Edit {
    /// The message
    #[arg(value_name = "ENTRY")]
    entry: String,
}

impl Act for Edit {
    fn action(&self) -> Result<Action> {
        Ok(Action::Edit { entry: self.entry.clone() })
    }
}

impl Plan {
    /// Does it.
    pub(crate) async fn run(self, cx: &mut Context<'_>) -> Result {
        match self.action {
            Planned::Rewind(it) => it.run(cx).await,
            Planned::Undo(it) => it.run(cx).await,
            Planned::Redo(it) => it.run(cx).await,
            Planned::Restore(it) => it.run(cx).await,
            Planned::Edit(it) => it.run(cx).await,
            Planned::Choose(it) => it.run(cx).await,
            Planned::Drop(it) => it.run(cx).await,
            Planned::Files(Files { what: OfFiles::Restore(it) }) => it.run(cx).await,
            Planned::Hide(it) => it.run(cx).await,
            Planned::Show(it) => it.run(cx).await,
            Planned::Exclude(it) => it.run(cx).await,
            Planned::Include(it) => it.run(cx).await,
            Planned::Fold(it) => it.run(cx).await,
            Planned::Unfold(it) => it.run(cx).await,
            Planned::Label(it) => it.run(cx).await,
            Planned::Title(it) => it.run(cx).await,
            Planned::Erase(it) => it.run(cx).await,
        }
    }
}

impl<A: Args + Act> Preview<A> {
    async fn run(self, cx: &mut Context<'_>) -> Result {
        let action = self.act.action()?;
        let (files, diff) = (self.act.files(), self.act.diff());
        let conversation = cx.conversation(self.place.conversation).await?;
        let plan = request::Plan { conversation, action: action.clone(), files, diff };
        let reply = cx.call(Request::Plan(plan)).await?;
        cx.planned(&action, &reply)
    }
}
