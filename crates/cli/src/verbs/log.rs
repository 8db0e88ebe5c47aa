//! `retake log`: the messages of a conversation, now or at an earlier head, or of another branch.

use clap::{Args, ValueEnum};
use retake_wire::Request;
use retake_wire::request::{self, At, Projection};

use super::RunVerb;
use crate::args::{ConversationArg, limit};
use crate::context::Context;
use crate::error::{Result, usage};

/// Show the messages of a conversation, at any head or on any branch
#[derive(Debug, Args)]
pub(crate) struct Log {
    #[command(flatten)]
    place: ConversationArg,
    /// Which view
    #[arg(long = "as", value_enum, default_value_t = Reading::Timeline)]
    reading: Reading,
    /// The state at this head, as OP.SEQ (`retake ops` lists them)
    #[arg(long, value_name = "HEAD")]
    at: Option<String>,
    /// The branch that ends with this entry, instead of the current one (`retake tree` lists them)
    #[arg(long, value_name = "ENTRY")]
    branch: Option<String>,
    /// The maximum number; the newest ones are shown
    #[arg(long, value_name = "N", value_parser = limit, allow_negative_numbers = true)]
    limit: Option<usize>,
    /// Only messages before this entry
    #[arg(long, value_name = "ENTRY")]
    before: Option<String>,
    /// Only messages after this entry
    #[arg(long, value_name = "ENTRY")]
    after: Option<String>,
}

/// The readings, as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Reading {
    /// What people see
    Timeline,
    /// What the model gets
    Prompt,
    /// What the scheduling of turns uses
    Scheduling,
    /// What an export contains
    Export,
}

impl RunVerb for Log {
    const EXAMPLES: &'static [&'static str] = &["retake log --limit 20", "retake log --as prompt"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let is_part = [&self.branch, &self.before, &self.after].iter().any(|it| it.is_some());
        let is_part = is_part || self.limit.is_some();
        let projection = match self.reading {
            Reading::Prompt if is_part => {
                let hint = "remove --branch, --limit, --before and --after";
                return Err(usage(
                    "the prompt can only be shown completely, and only of the current branch",
                    hint,
                ));
            }
            Reading::Timeline => Projection::Timeline,
            Reading::Prompt => Projection::Prompt,
            Reading::Scheduling => Projection::Scheduling,
            Reading::Export => Projection::Export,
        };
        let conversation = cx.conversation(self.place.conversation).await?;
        if projection == Projection::Prompt {
            let at = At { conversation, at: self.at };
            return cx.show(Request::Prompt(at)).await;
        }
        let log = request::Log {
            conversation,
            at: self.at,
            branch: self.branch,
            projection,
            limit: self.limit,
            before: self.before,
            after: self.after,
        };
        cx.show(Request::Log(log)).await
    }
}
