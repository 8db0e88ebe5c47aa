//! `retake say`: stores a message and calls no model.

use clap::{Args, ValueEnum};
use retake_tui::hint::Audience;
use retake_wire::request::{self, ContextQuery};
use retake_wire::{Part, Reply, Request, Role, reply};

use super::RunVerb;
use crate::args::{ConversationArg, RequestIdArg, date};
use crate::context::Context;
use crate::error::{Result, usage};
use crate::term::safe;

/// Store a message and print its id; no model is called
#[derive(Debug, Args)]
pub(crate) struct Say {
    #[command(flatten)]
    place: ConversationArg,
    /// Who speaks
    #[arg(long, value_enum, default_value_t = Speaker::User)]
    role: Speaker,
    /// The content as JSON: a list of parts, one part or a string; `-` reads standard input
    #[arg(long, value_name = "JSON", conflicts_with = "text")]
    json_content: Option<String>,
    /// The speaker's name
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    author: String,
    /// A program wrote the message: it begins no turn
    #[arg(long)]
    synthetic: bool,
    /// The message is not for the agent: it begins no turn
    #[arg(long)]
    observed: bool,
    /// The time of the message [default: now]
    #[arg(long, value_name = "DATE")]
    time: Option<String>,
    /// The id of the message on its platform; a second message with this id is not stored
    #[arg(long, value_name = "ID")]
    platform_id: Option<String>,
    /// The last entry the speaker has seen; fails if it is no longer in the conversation
    #[arg(long, value_name = "ENTRY")]
    seen: Option<String>,
    #[command(flatten)]
    repeat: RequestIdArg,
    /// The message; `-` reads standard input
    #[arg(value_name = "TEXT")]
    text: Vec<String>,
}

/// Who speaks, as typed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Speaker {
    User,
    Assistant,
    Tool,
    System,
}

impl From<Speaker> for Role {
    fn from(speaker: Speaker) -> Self {
        match speaker {
            Speaker::User => Self::User,
            Speaker::Assistant => Self::Assistant,
            Speaker::Tool => Self::Tool,
            Speaker::System => Self::System,
        }
    }
}

impl RunVerb for Say {
    const EXAMPLES: &'static [&'static str] =
        &["retake say 'The tests are in tests/'", "git diff | retake say -"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let parts = match &self.json_content {
            Some(json) => parts(cx, json)?,
            None => vec![Part::text(cx.words(&self.text, "message")?)],
        };
        let now = cx.ui.look().now_ms;
        let time_ms = self.time.map(|time| date::parse(&time, now)).transpose()?;
        let conversation = cx.conversation(self.place.conversation).await?;
        warn_if_too_long(cx, &conversation, &parts).await?;
        let say = request::Say {
            conversation,
            role: self.role.into(),
            parts,
            author: self.author,
            synthetic: self.synthetic,
            observed: self.observed,
            time_ms,
            platform_id: self.platform_id,
            seen: self.seen,
            request_id: self.repeat.request_id,
        };
        let receipt = cx.receipt(Request::Say(say)).await?;
        let ids: String = receipt.entries.iter().map(|id| format!("{id}\n")).collect();
        cx.acknowledge(&receipt, &ids)?;
        if receipt.unchanged {
            cx.aside("Nothing was stored: the conversation already has a message with this platform id.")?;
        }
        Ok(())
    }
}

/// Says that the message may not fit into the model's context.
async fn warn_if_too_long(cx: &mut Context<'_>, conversation: &str, parts: &[Part]) -> Result {
    if !ContextQuery::is_worth_asking(parts) {
        return Ok(());
    }
    let query = ContextQuery { conversation: conversation.to_owned(), model: None, parts: parts.to_vec() };
    match cx.call(Request::Context(query)).await {
        Ok(Reply::Context(reply::Context { warning: Some(warning), .. })) => {
            let warning = Audience::Shell.notice(&warning, "");
            cx.aside(&safe::line(&warning))
        }
        // The message is stored in any case.
        _ => Ok(()),
    }
}

/// Content as JSON.
fn parts(cx: &mut Context<'_>, json: &str) -> Result<Vec<Part>> {
    let json = if json == "-" { cx.input()? } else { json.to_owned() };
    read(&json).map_err(|error| {
        usage(
            format!("the content is not a list of parts: {error}"),
            "for example [{\"type\":\"text\",\"text\":\"hello\"}], or a string in quotes",
        )
    })
}

fn read(json: &str) -> serde_json::Result<Vec<Part>> {
    match serde_json::from_str(json)? {
        serde_json::Value::String(text) => Ok(vec![Part::text(text)]),
        one @ serde_json::Value::Object(_) => Ok(vec![serde_json::from_value(one)?]),
        list => serde_json::from_value(list),
    }
}
