//! The to-do list of a conversation: a fact that is replaced each time. It must never be stored anywhere else.

use std::sync::Arc;

use async_trait::async_trait;
use retake_core::{Fact, Intent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::arguments;
use crate::call::{Call, Output};
use crate::files::PathBase;
use crate::own::{OwnTool, read_only_intent};
use crate::set::Tool;

/// The most items: nobody reads a longer list.
const MOST: usize = 100;

/// The tool that writes the to-do list.
pub fn todo_tool() -> Arc<dyn Tool> {
    Arc::new(Todo)
}

/// The whole list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The whole list, in order. It replaces the list of before.
    items: Vec<Item>,
}

/// Something to do.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Item {
    /// The step, in one line.
    text: String,
    /// `pending` (not begun), `doing` or `done`.
    state: State,
}

#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum State {
    Pending,
    Doing,
    Done,
}

impl Item {
    fn line(&self) -> String {
        let sign = match self.state {
            State::Pending => ' ',
            State::Doing => '>',
            State::Done => 'x',
        };
        format!("[{sign}] {}", arguments::line(&self.text))
    }
}

struct Todo;

fn items(Arguments { items }: Arguments) -> Result<Vec<Item>, String> {
    if items.len() > MOST {
        return Err(format!("{} items are too many: {MOST} at most", items.len()));
    }
    match items.iter().find(|item| item.text.trim().is_empty()) {
        Some(_) => Err("an item has no text".to_owned()),
        None => Ok(items),
    }
}

#[async_trait]
impl OwnTool for Todo {
    type Arguments = Arguments;
    const NAME: &'static str = "todo";
    const ABOUT: &'static str = "Writes the to-do list of this conversation, which the person sees. Use it for work of several steps: write the \
         steps first, and keep exactly one of them `doing` while you work. Each call sends the whole list. Example: \
         {\"items\": [{\"text\": \"Find the cause\", \"state\": \"done\"}, {\"text\": \"Fix it\", \"state\": \"doing\"}]}";
    /// Of two lists the later one counts.
    const IS_PARALLEL: bool = false;
    const NEEDS_FOLDER: bool = false;

    fn intent(&self, arguments: Arguments, _: &PathBase) -> Result<Intent, String> {
        let count = items(arguments)?.len();
        let line = format!("write the to-do list, {count} item{}", if count == 1 { "" } else { "s" });
        Ok(read_only_intent(line, Vec::new()))
    }

    async fn call(&self, _: Call, arguments: Arguments) -> Result<Output, String> {
        let items = items(arguments)?;
        let list = serde_json::to_string(&items).expect("BUG: a list of texts is JSON");
        let lines: Vec<String> = items.iter().map(Item::line).collect();
        let (content, value) = if lines.is_empty() {
            ("The list is empty.".to_owned(), String::new())
        } else {
            (lines.join("\n"), list)
        };
        Ok(Output { facts: vec![Fact::new("todo", value)], ..Output::ok(content) })
    }
}
