//! `retake memory`: the facts that later conversations recall. A change is an entry of a conversation, so that a rewind takes it
//! back.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use retake_wire::Request;
use retake_wire::reply::fact_of;
use retake_wire::request::{EditMemory, Forget, ListMemory, MemoryHome, Remember};

use super::RunVerb;
use crate::args::RequestIdArg;
use crate::context::{Context, Place};
use crate::error::Result;
use crate::term::safe;

/// Show and change what is remembered for later conversations
///
/// A fact counts in conversations of this folder, or in all. A change is an entry of the conversation that you name. Without one,
/// it is an entry of a conversation for the memory of this folder. `retake undo` and `retake rewind` take it back there.
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Memory {
    #[command(subcommand)]
    what: Option<MemoryCommand>,
}

/// What of it.
#[derive(Debug, Subcommand)]
enum MemoryCommand {
    List(List),
    Search(Search),
    Add(Add),
    Edit(Edit),
    Forget(ForgetFact),
}

// The conversation of a change.
#[derive(Debug, Args)]
struct EntryPlace {
    /// The conversation that gets the entry [default: one for the memory of this folder]
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    conversation: Option<String>,
}

/// List the facts that count in this folder, the newest first
#[derive(Debug, Default, Args)]
struct List {
    /// List the facts of all folders
    #[arg(long)]
    all: bool,
    /// The most facts
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

/// Find facts that count in this folder by their words
#[derive(Debug, Args)]
struct Search {
    #[command(flatten)]
    list: List,
    /// The words
    #[arg(value_name = "WORDS", required = true)]
    words: Vec<String>,
}

/// Remember a fact, and print its id
#[derive(Debug, Args)]
struct Add {
    #[command(flatten)]
    place: EntryPlace,
    /// The fact counts in all folders
    #[arg(long)]
    everywhere: bool,
    #[command(flatten)]
    repeat: RequestIdArg,
    /// The fact; `-` reads standard input
    #[arg(value_name = "TEXT")]
    text: Vec<String>,
}

/// Replace a fact, and print the id of the new one
#[derive(Debug, Args)]
struct Edit {
    #[command(flatten)]
    place: EntryPlace,
    #[command(flatten)]
    repeat: RequestIdArg,
    /// The id of the fact, or the beginning of it
    #[arg(value_name = "ID")]
    fact: String,
    /// The new words; `-` reads standard input
    #[arg(value_name = "TEXT")]
    text: Vec<String>,
}

/// Forget a fact
#[derive(Debug, Args)]
struct ForgetFact {
    #[command(flatten)]
    place: EntryPlace,
    #[command(flatten)]
    repeat: RequestIdArg,
    /// The id of the fact, or the beginning of it
    #[arg(value_name = "ID")]
    fact: String,
}

impl RunVerb for Memory {
    const EXAMPLES: &'static [&'static str] = &[
        "retake memory list",
        "retake memory add 'The tests need a running database'",
        "retake memory add --everywhere 'Answer in German'",
        "retake memory search database",
        "retake memory edit 4f1c 'The tests start their own database'",
        "retake memory forget 4f1c",
    ];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        match self.what.unwrap_or_else(|| MemoryCommand::List(List::default())) {
            MemoryCommand::List(list) => list.show(cx, None).await,
            MemoryCommand::Search(search) => search.list.show(cx, Some(search.words.join(" "))).await,
            MemoryCommand::Add(add) => {
                let text = cx.words(&add.text, "fact")?;
                let conversation = home(cx, add.place, add.everywhere).await?;
                let (everywhere, request_id) = (add.everywhere, add.repeat.request_id);
                changed(cx, Request::Remember(Remember { conversation, text, everywhere, request_id }), true)
                    .await
            }
            MemoryCommand::Edit(edit) => {
                let text = cx.words(&edit.text, "fact")?;
                let conversation = home(cx, edit.place, false).await?;
                let (fact, request_id) = (edit.fact, edit.repeat.request_id);
                changed(cx, Request::EditMemory(EditMemory { conversation, fact, text, request_id }), true)
                    .await
            }
            MemoryCommand::Forget(forget) => {
                let conversation = home(cx, forget.place, false).await?;
                let (fact, request_id) = (forget.fact, forget.repeat.request_id);
                changed(cx, Request::Forget(Forget { conversation, fact, request_id }), false).await
            }
        }
    }
}

impl List {
    async fn show(self, cx: &mut Context<'_>, query: Option<String>) -> Result {
        let conversation = match &cx.place {
            Place::Conversation(here) if !self.all => here.clone(),
            _ => None,
        };
        let folder = (!self.all).then(|| cx.folder.to_owned());
        cx.show(Request::ListMemory(ListMemory { conversation, folder, query, limit: self.limit })).await
    }
}

/// The conversation for a change: the named one, that of the line client, or the one for memory.
async fn home(cx: &mut Context<'_>, place: EntryPlace, everywhere: bool) -> Result<String> {
    match place.conversation {
        Some(named) => Ok(named),
        None if cx.in_conversation() => cx.here(),
        None => {
            let folder = (!everywhere).then(|| cx.folder.to_owned());
            Ok(cx.receipt(Request::MemoryHome(MemoryHome { folder })).await?.conversation)
        }
    }
}

/// Changes memory, and prints the id of the new fact, if there is one.
async fn changed(cx: &mut Context<'_>, request: Request, has_fact: bool) -> Result {
    let receipt = cx.receipt(request).await?;
    let facts = receipt.entries.iter().filter(|_| has_fact).map(|entry| safe::line(fact_of(entry)));
    let text: String = facts.map(|fact| format!("{fact}\n")).collect();
    let text = if has_fact { text } else { "forgotten\n".to_owned() };
    cx.acknowledge(&receipt, &text)
}
