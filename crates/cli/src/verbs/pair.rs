//! `retake pair`: people of chats who may write to the agent.

use clap::{Args, Subcommand};
use retake_wire::Request;
use retake_wire::chat::{Pair as PairRequest, Unpair};

use super::RunVerb;
use crate::context::Context;
use crate::error::Result;

/// Let a person of a chat write to the agent
///
/// Somebody who writes to the bot for the first time gets a code, which is valid for 10 minutes. Type it here.
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true, args_conflicts_with_subcommands = true)]
pub(crate) struct Pair {
    #[command(subcommand)]
    what: Option<PairCommand>,
    /// The code that the person was told
    #[arg(value_name = "CODE", required = true)]
    code: Option<String>,
    /// The person may do everything in chats, such as allow a group. Otherwise they may talk, and take back their own turns
    #[arg(long)]
    owner: bool,
}

/// What else to do with people.
#[derive(Debug, Subcommand)]
enum PairCommand {
    /// List the people who are paired, or have asked for it
    List,
    Remove(Person),
}

/// Take a person's rights away
#[derive(Debug, Args)]
struct Person {
    /// The account of the platform
    #[arg(value_name = "ACCOUNT")]
    account: String,
    /// The platform's id of the person
    #[arg(value_name = "PERSON")]
    person: String,
}

impl RunVerb for Pair {
    const EXAMPLES: &'static [&'static str] =
        &["retake pair K7Q2MNPX --owner", "retake pair list", "retake pair remove matrix @ann:example.org"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        match (self.what, self.code) {
            (Some(PairCommand::Remove(Person { account, person })), _) => {
                cx.show(Request::Unpair(Unpair { account, person })).await
            }
            (None, Some(code)) => cx.show(Request::Pair(PairRequest { code, as_owner: self.owner })).await,
            (Some(PairCommand::List) | None, _) => cx.show(Request::PeopleList).await,
        }
    }
}
