//! `retake place`: which place of a chat belongs to which conversation.

use clap::{Args, Subcommand};
use retake_wire::Request;
use retake_wire::chat::{Bind, Place as ChatPlace};

use super::RunVerb;
use crate::args::ConversationArg;
use crate::context::Context;
use crate::error::Result;

/// Show and change which place of a chat belongs to which conversation
///
/// A place gets a new conversation without a folder when somebody writes there first. Bind it to a conversation of a folder, and the agent
/// works on the files of that folder. What was said in the old conversation stays there.
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Place {
    #[command(subcommand)]
    what: PlaceCommand,
}

/// What to do with places.
#[derive(Debug, Subcommand)]
enum PlaceCommand {
    /// List the places and their conversations
    List,
    Bind(BindPlace),
    Remove(Chat),
}

/// Let a place belong to a conversation from now on
#[derive(Debug, Args)]
struct BindPlace {
    #[command(flatten)]
    chat: Chat,
    #[command(flatten)]
    conversation: ConversationArg,
}

/// Let a place belong to no conversation. A group is not answered any more, until an owner writes there
#[derive(Debug, Args)]
struct Chat {
    /// The account of the platform
    #[arg(value_name = "ACCOUNT")]
    account: String,
    /// The platform's id of the chat, as in the list
    #[arg(value_name = "CHAT", allow_hyphen_values = true)]
    chat: String,
    /// The platform's id of the thread in it
    #[arg(long, value_name = "THREAD")]
    thread: Option<String>,
}

impl Chat {
    fn place(self) -> ChatPlace {
        ChatPlace { account: self.account, chat: self.chat, thread: self.thread }
    }
}

impl RunVerb for Place {
    const EXAMPLES: &'static [&'static str] = &[
        "retake place list",
        "retake place bind matrix '!room:example.org'",
        "retake place remove matrix '!room:example.org'",
    ];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let request = match self.what {
            PlaceCommand::List => Request::PlaceList,
            PlaceCommand::Bind(BindPlace { chat, conversation }) => {
                let conversation = Some(cx.conversation(conversation.conversation).await?);
                Request::Bind(Bind { place: chat.place(), conversation })
            }
            PlaceCommand::Remove(chat) => Request::Bind(Bind { place: chat.place(), conversation: None }),
        };
        cx.show(request).await
    }
}
