//! Tools for memory: remember, recall and forget a fact. The words of a fact must never be in a result: they are in the call that
//! remembers it, once.

use std::sync::Arc;

use async_trait::async_trait;
use retake_core::{Fact, Intent, MEMORY_WORDS_MAX, MemoryId, MemoryScope, provided_text};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::arguments;
use crate::call::{Call, Output};
use crate::files::PathBase;
use crate::own::{OwnTool, read_only_intent};
use crate::set::Tool;

/// The tools for memory.
pub fn memory_tools() -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(Remember), Arc::new(Recall), Arc::new(Forget)]
}

struct Remember;

/// A fact to remember. The store reads the words from the argument `text`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Remembered {
    /// The fact, in one or two sentences that can be understood without this conversation.
    text: String,
    /// Whether the fact counts in all folders, not only in this one.
    #[serde(default)]
    everywhere: bool,
}

fn checked(remembered: &Remembered) -> Result<(), String> {
    if remembered.text.trim().is_empty() {
        return Err("there is no fact in `text`".to_owned());
    }
    let length = remembered.text.chars().count();
    if length > MEMORY_WORDS_MAX {
        return Err(format!("{length} characters are too many: {MEMORY_WORDS_MAX} at most"));
    }
    Ok(())
}

#[async_trait]
impl OwnTool for Remember {
    type Arguments = Remembered;
    const NAME: &'static str = "remember";
    const ABOUT: &'static str = "Remembers a fact for later conversations in this folder: a preference of the person, a decision, how something is done here. \
         Use it if the person asks for it, or if the fact will matter again and files do not say it. Never remember a secret.";
    const NEEDS_FOLDER: bool = false;

    fn intent(&self, arguments: Remembered, _: &PathBase) -> Result<Intent, String> {
        checked(&arguments)?;
        let place = if arguments.everywhere { "everywhere" } else { "in this folder" };
        Ok(read_only_intent(format!("remember {place}: {}", arguments::line(&arguments.text)), Vec::new()))
    }

    async fn call(&self, call: Call, arguments: Remembered) -> Result<Output, String> {
        checked(&arguments)?;
        let id = call.host.new_memory_id().ok_or("nothing can be remembered here")?;
        let scope = if arguments.everywhere { MemoryScope::Everywhere } else { MemoryScope::Folder };
        let facts = vec![Fact::remembering(&id, scope)];
        Ok(Output { facts, ..Output::ok(format!("Remembered as {id}.")) })
    }
}

struct Recall;

/// What to recall.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Query {
    /// Words to look for. Facts with most of them come first. Without words, the newest facts.
    #[serde(default)]
    query: String,
}

#[async_trait]
impl OwnTool for Recall {
    type Arguments = Query;
    const NAME: &'static str = "recall";
    const ABOUT: &'static str = "Looks up facts that were remembered in this folder or for all folders, also in earlier conversations. \
         The newest facts are shown to you anyway: use this to find others.";
    const NEEDS_FOLDER: bool = false;

    fn intent(&self, arguments: Query, _: &PathBase) -> Result<Intent, String> {
        let line = match arguments::line(&arguments.query) {
            words if words.trim().is_empty() => "recall facts".to_owned(),
            words => format!("recall facts about {words}"),
        };
        Ok(read_only_intent(line, Vec::new()))
    }

    async fn call(&self, call: Call, arguments: Query) -> Result<Output, String> {
        let facts = call.host.recall(&arguments.query).await;
        let mut content = match facts.len() {
            0 => "No fact was found.".to_owned(),
            1 => "1 fact was found.".to_owned(),
            count => format!("{count} facts were found."),
        };
        let (own, provided): (Vec<_>, Vec<_>) = facts.into_iter().partition(|fact| fact.id.is_some());
        if !provided.is_empty() {
            content = format!("{content}\n{}", provided_text(&provided));
        }
        let own: Vec<_> = own.into_iter().filter_map(|fact| Some((fact.id?, fact.text))).collect();
        let lines = own.iter().map(|(id, text)| format!("{id}: {text}"));
        let shown = std::iter::once(content.clone()).chain(lines).collect::<Vec<_>>().join("\n");
        let recalled = own.into_iter().map(|(id, _)| id).collect();
        Ok(Output { recalled, shown: Some(shown), ..Output::ok(content) })
    }
}

struct Forget;

/// What to forget.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Forgotten {
    /// The id of the fact.
    id: String,
}

fn id_in(arguments: &Forgotten) -> Result<MemoryId, String> {
    let id = arguments.id.trim();
    id.parse().map_err(|_| format!("`{}` is not the id of a fact", arguments::line(id)))
}

#[async_trait]
impl OwnTool for Forget {
    type Arguments = Forgotten;
    const NAME: &'static str = "forget";
    const ABOUT: &'static str = "Forgets a remembered fact that is wrong or no longer needed. To correct it, also remember the right one.";
    const NEEDS_FOLDER: bool = false;

    fn intent(&self, arguments: Forgotten, _: &PathBase) -> Result<Intent, String> {
        Ok(read_only_intent(format!("forget the fact {}", id_in(&arguments)?), Vec::new()))
    }

    async fn call(&self, call: Call, arguments: Forgotten) -> Result<Output, String> {
        let id = id_in(&arguments)?;
        match call.host.is_remembered(&id).await {
            true => Ok(Output { facts: vec![Fact::forgetting(&id)], ..Output::ok("Forgotten.") }),
            false => Err(format!("no fact with the id {id} is remembered")),
        }
    }
}
