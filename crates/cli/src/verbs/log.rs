//! `retake log`: the messages of a conversation, now or at an earlier head.

use clap::{Args, ValueEnum};
use retake_wire::Request;
use retake_wire::request::{self, At, Projection};

use crate::args::Place;
use crate::context::Context;
use crate::error::{Result, usage};

/// Show the messages of a conversation, now or at any earlier head
#[derive(Debug, Args)]
pub(crate) struct Log {
    #[command(flatten)]
    place: Place,
    /// Which reading
    #[arg(long = "as", value_enum, default_value_t = Reading::Timeline)]
    reading: Reading,
    /// As it was at this head, as OP.SEQ (`retake ops` lists them)
    #[arg(long, value_name = "HEAD")]
    at: Option<String>,
    /// At most so many, the newest
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Only those before this entry
    #[arg(long, value_name = "ENTRY")]
    before: Option<String>,
    /// Only those after this entry
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
    /// What turn taking looks at
    Scheduling,
    /// What an export takes along
    Export,
}

impl Log {
    /// Does it.
    pub(crate) async fn run(self, cx: &mut Context<'_>) -> Result {
        let paged = self.limit.is_some() || self.before.is_some() || self.after.is_some();
        let projection = match self.reading {
            Reading::Prompt if paged => {
                return Err(usage("a prompt is read whole", "leave out --limit, --before and --after"));
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
            projection,
            limit: self.limit,
            before: self.before,
            after: self.after,
        };
        cx.show(Request::Log(log)).await
    }
}
