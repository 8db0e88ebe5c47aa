//! `retake choose`: the alternatives of an answer, and the choice of one.

use clap::Args;
use retake_wire::request;
use retake_wire::{Action, Request};

use super::change::{self, Act};
use crate::args::files::FileArgs;
use crate::args::{Changing, how_many, limit, number};
use crate::context::Context;
use crate::error::{Result, usage};

/// List the alternatives of an answer, or choose one
#[derive(Debug, Args)]
pub(crate) struct Choose {
    /// The answer, or any message of its turn
    #[arg(value_name = "ENTRY")]
    entry: String,
    /// Which alternative, from 1; without it they are listed
    #[arg(value_name = "N", value_parser = how_many, allow_negative_numbers = true)]
    number: Option<usize>,
}

impl Act for Choose {
    fn action(&self) -> Result<Action> {
        let Some(number) = self.number else {
            return Err(usage("which alternative is not said", "`retake choose ENTRY` lists them"));
        };
        Ok(Action::Choose { entry: self.entry.clone(), number })
    }
}

// The verb: the list, or the choice.
#[derive(Debug, Args)]
pub(crate) struct ChooseVerb {
    #[command(flatten)]
    changing: Changing,
    #[command(flatten)]
    files: FileArgs,
    #[command(flatten)]
    choose: Choose,
    /// Of the list, at most so many; 50, without
    #[arg(long, value_name = "N", value_parser = limit, allow_negative_numbers = true, conflicts_with = "number")]
    limit: Option<usize>,
    /// Of the list, only those after this number
    #[arg(long, value_name = "N", value_parser = number::<usize>, allow_negative_numbers = true, conflicts_with = "number")]
    after: Option<usize>,
}

impl ChooseVerb {
    /// Does it.
    pub(crate) async fn run(self, cx: &mut Context<'_>) -> Result {
        if self.choose.number.is_some() {
            let action = self.choose.action()?;
            return change::apply(cx, self.changing, action, self.files.wish(), false).await;
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
