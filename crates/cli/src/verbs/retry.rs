//! `retake retry`: another answer.

use clap::Args;
use retake_wire::{Run, RunStart};

use super::RunVerb;
use super::model_run::answer;
use crate::args::file_options::FileArgs;
use crate::args::{ChangeArgs, PermissionArgs};
use crate::context::Context;
use crate::error::Result;

/// Ask for another answer; the old one stays as an alternative
#[derive(Debug, Args)]
pub(crate) struct Retry {
    #[command(flatten)]
    changing: ChangeArgs,
    /// The model to ask, as provider/model
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    #[command(flatten)]
    may: PermissionArgs,
    #[command(flatten)]
    files: FileArgs,
    /// The answer, or the message that it answers
    #[arg(value_name = "ENTRY", default_value = "@")]
    entry: String,
}

impl RunVerb for Retry {
    const EXAMPLES: &'static [&'static str] = &["retake retry", "retake retry t2 --model demo"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let run = Run {
            conversation: cx.conversation(self.changing.place.conversation).await?,
            folder: None,
            start: RunStart::Retry { entry: self.entry },
            files: self.files.options(),
            model: self.model,
            head: self.changing.head,
            permit: self.may.permit(),
            request_id: self.changing.repeat.request_id,
        };
        answer(cx, run).await
    }
}
