//! `retake search`: full-text search.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use retake_wire::{self as wire, Request};

use super::RunVerb;
use super::say::Speaker;
use crate::args::{date, limit, number};
use crate::context::Context;
use crate::error::Result;

/// Search the messages of all conversations
#[derive(Debug, Args)]
pub(crate) struct Search {
    /// Search all conversations; this is the default
    #[arg(long, conflicts_with = "conversation")]
    all: bool,
    /// Search only this conversation
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    conversation: Option<String>,
    /// Only messages of this role
    #[arg(long, value_enum)]
    role: Option<Speaker>,
    /// Only messages of this person, provider/model or tool
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// No messages of this person, provider/model or tool
    #[arg(long, value_name = "NAME")]
    not_source: Option<String>,
    /// Only at or after this date
    #[arg(long, value_name = "DATE")]
    since: Option<String>,
    /// Only before this date
    #[arg(long, value_name = "DATE")]
    until: Option<String>,
    /// The order
    #[arg(long, value_enum, default_value_t = Sort::Rank)]
    sort: Sort,
    /// The maximum number of hits
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = limit, allow_negative_numbers = true)]
    limit: usize,
    /// The number of hits to skip
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = number::<usize>, allow_negative_numbers = true)]
    offset: usize,
    /// Also search messages that are rewound or hidden; they are marked
    #[arg(long, value_name = "WHAT", value_enum, value_delimiter = ',')]
    include: Vec<IncludeArg>,
    /// Words, "phrases", prefix*, AND, OR, NOT, (parentheses); a hyphen is not an operator
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
}

/// The orders, as typed.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Sort {
    /// Best first
    Rank,
    /// Newest first
    Newest,
    /// Oldest first
    Oldest,
}

/// What else is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum IncludeArg {
    /// On other branches
    Rewound,
    /// Hidden
    Hidden,
}

impl RunVerb for Search {
    const EXAMPLES: &'static [&'static str] =
        &["retake search 'release notes'", "retake search parser --since 2d --include rewound"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let now = cx.ui.look().now_ms;
        let ms = |date: Option<String>| date.map(|date| date::parse(&date, now)).transpose();
        let search = wire::Search {
            query: self.query.join(" "),
            conversation: self.conversation,
            role: self.role.map(Into::into),
            source: self.source,
            not_source: self.not_source,
            from_ms: ms(self.since)?,
            to_ms: ms(self.until)?,
            sort: match self.sort {
                Sort::Rank => wire::Sort::Rank,
                Sort::Newest => wire::Sort::Newest,
                Sort::Oldest => wire::Sort::Oldest,
            },
            limit: Some(self.limit),
            offset: self.offset,
            rewound: self.include.contains(&IncludeArg::Rewound),
            hidden: self.include.contains(&IncludeArg::Hidden),
        };
        cx.show(Request::Search(search)).await
    }
}
