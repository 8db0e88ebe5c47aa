//! `retake plan`: what any action would do. Its arguments are those of the verb that does it.

use clap::{Args, Subcommand};
use retake_wire::request;
use retake_wire::{Action, Request};

use super::RunVerb;
use super::change::{ActionArgs, Preview};
use super::{choose, drop, erase, files, fold, label, mark, redo, restore, rewind, title, undo, unfold};
use crate::args::file_options::{Diffed, PlannedFiles};
use crate::context::Context;
use crate::error::Result;

/// Show what an action would do, without doing it
///
/// The plan ends with the head that it was made for. The verb with --head does exactly this, or fails.
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Plan {
    #[command(subcommand)]
    action: Planned,
}

subcommands! {
    /// What can be planned.
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
}

/// Restore files or folders
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
struct Files {
    #[command(subcommand)]
    what: PlannedFileVerb,
}

subcommands! {
    /// What can be planned of files.
    enum PlannedFileVerb {
        Restore(Preview<Diffed<files::restore::Restore>>),
    }
}

/// Replace a message
#[derive(Debug, Args)]
struct Edit {
    /// The message
    #[arg(value_name = "ENTRY")]
    entry: String,
}

impl ActionArgs for Edit {
    fn action(&self) -> Result<Action> {
        Ok(Action::Edit { entry: self.entry.clone() })
    }
}

impl RunVerb for Plan {
    const EXAMPLES: &'static [&'static str] = &[
        "retake plan rewind t2 --diff",
        "retake plan undo 2",
        "retake plan redo",
        "retake plan restore 3.14",
        "retake plan edit t2",
        "retake plan choose @ 1",
        "retake plan drop t2",
        "retake plan files restore src --to t2",
        "retake plan hide t2",
        "retake plan show t2",
        "retake plan exclude t1",
        "retake plan include t1",
        "retake plan fold --from t1 --to t2 --summary 'what was decided'",
        "retake plan unfold t1",
        "retake plan label t2 draft",
        "retake plan title 'Release notes'",
        "retake plan erase --matching 'my password'",
    ];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        self.action.run(cx).await
    }
}

impl RunVerb for Files {
    async fn run(self, cx: &mut Context<'_>) -> Result {
        self.what.run(cx).await
    }
}

impl<A: Args + ActionArgs> RunVerb for Preview<A> {
    async fn run(self, cx: &mut Context<'_>) -> Result {
        let action = self.act.action()?;
        let (files, diff) = (self.act.files(), self.act.diff());
        let conversation = cx.conversation(self.place.conversation).await?;
        let plan = request::Plan { conversation, action: action.clone(), files, diff };
        let reply = cx.call(Request::Plan(plan)).await?;
        cx.planned(&action, &reply)
    }
}
