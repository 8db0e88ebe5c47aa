//! `retake choose`: lists the alternatives of an answer, or chooses one.

use clap::Args;
use retake_wire::request;
use retake_wire::{Action, Request};

use super::RunVerb;
use super::change::{self, ActionArgs};
use crate::args::file_options::FileArgs;
use crate::args::{ChangeArgs, how_many, limit, number};
use crate::context::Context;
use crate::error::{Result, usage};

/// List the alternatives of an answer, or choose one
#[derive(Debug, Args)]
pub(crate) struct Choose {
    /// The answer, or any message of its turn
    #[arg(value_name = "ENTRY")]
    entry: String,
    /// The number of the alternative, from 1; without it, all are listed
    #[arg(value_name = "N", value_parser = how_many, allow_negative_numbers = true)]
    number: Option<usize>,
}

impl ActionArgs for Choose {
    fn action(&self) -> Result<Action> {
        let Some(number) = self.number else {
            return Err(usage(
                "the number of the alternative is missing",
                "`retake choose ENTRY` lists them",
            ));
        };
        Ok(Action::Choose { entry: self.entry.clone(), number })
    }
}

// The verb: the list, or the choice.
#[derive(Debug, Args)]
pub(crate) struct ChooseVerb {
    #[command(flatten)]
    changing: ChangeArgs,
    /// On a terminal, do not show the plan and ask
    #[arg(short, long, requires = "number")]
    yes: bool,
    #[command(flatten)]
    files: FileArgs,
    #[command(flatten)]
    choose: Choose,
    /// Length of the list [default: 50]
    #[arg(long, value_name = "N", value_parser = limit, allow_negative_numbers = true, conflicts_with = "number")]
    limit: Option<usize>,
    /// List only those after this number
    #[arg(long, value_name = "N", value_parser = number::<usize>, allow_negative_numbers = true, conflicts_with = "number")]
    after: Option<usize>,
}

impl RunVerb for ChooseVerb {
    const EXAMPLES: &'static [&'static str] = &["retake choose @", "retake choose @ 2"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        if self.choose.number.is_some() {
            let action = self.choose.action()?;
            if cx.in_conversation() {
                return change::apply(cx, self.changing, action, self.files.options(), false).await.map(drop);
            }
            let asks = (self.yes, "Choose it");
            return change::agreed(cx, self.changing, action, self.files.options(), false, asks).await;
        }
        let of = request::Alternatives {
            conversation: cx.conversation(self.changing.place.conversation).await?,
            entry: self.choose.entry,
            limit: self.limit,
            after: self.after,
        };
        cx.show(Request::Alternatives(of)).await
    }
}
