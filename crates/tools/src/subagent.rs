//! A task for a subagent: a conversation of its own with the same tools, whose last message is the result. The engine runs it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use retake_core::{EffectClass, Intent};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::arguments;
use crate::call::{Call, Output, SubagentTask};
use crate::listed::listed;
use crate::own::read_only_intent;
use crate::set::{Schema, Tool, schema_of};

/// The name of the tool that starts a subagent.
pub const SUBAGENT: &str = "subagent";

const ABOUT: &str = "Gives a task to a subagent, and waits for its result. A subagent is a copy of you with a fresh conversation: it \
     knows nothing of this one, works in the same folder, and its last message is your result. Use it for work that reads a lot and \
     needs a short answer, and for independent parts of a task: calls in one answer run at the same time. Do not give two of them \
     the same file to change.";

/// The tool that starts one, with the agents that it may be, each with what it is for.
pub fn subagent_tool(agents: &[(String, String)]) -> Arc<dyn Tool> {
    let names: Vec<_> = agents.iter().map(|(name, what)| (&**name, &**what)).collect();
    let about = listed(ABOUT, "Agents for `agent`:", &names);
    Arc::new(Subagent { about })
}

/// A task.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The task in a few words, for the person.
    title: String,
    /// The whole task: what to do, what to know, what to report. The subagent sees nothing else.
    task: String,
    /// The name of the agent that does it. Without it, a copy of you does.
    #[serde(default)]
    agent: Option<String>,
}

struct Subagent {
    about: String,
}

fn task(arguments: &Value) -> Result<SubagentTask, String> {
    let Arguments { title, task, agent } = arguments::read(arguments)?;
    if task.trim().is_empty() {
        return Err("there is no task in `task`".to_owned());
    }
    let agent = agent.map(|agent| agent.trim().to_owned()).filter(|agent| !agent.is_empty());
    Ok(SubagentTask { title: arguments::line(&title), task, agent })
}

#[async_trait]
impl Tool for Subagent {
    fn name(&self) -> &str {
        SUBAGENT
    }

    fn about(&self) -> &str {
        &self.about
    }

    fn schema(&self) -> Schema {
        schema_of::<Arguments>()
    }

    /// Its own calls change something, each with a class and a permission of its own.
    fn class(&self) -> EffectClass {
        EffectClass::None
    }

    /// The same question may have another answer later.
    fn may_repeat(&self) -> bool {
        true
    }

    fn accepts(&self, arguments: &Value) -> bool {
        arguments::read::<Arguments>(arguments).is_ok()
    }

    fn intent(&self, arguments: &Value, _: &Path, _: &[PathBuf]) -> Result<Intent, String> {
        let SubagentTask { title, agent, .. } = task(arguments)?;
        let who = agent.map_or_else(|| "a subagent".to_owned(), |agent| arguments::line(&agent));
        Ok(read_only_intent(format!("task for {who}: {title}"), Vec::new()))
    }

    async fn call(&self, call: Call) -> Output {
        match task(&call.arguments) {
            Ok(task) => call.host.delegate(task).await,
            Err(why) => Output::failed(why),
        }
    }
}
