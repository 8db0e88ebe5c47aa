//! What a subagent has from the call that started it: the permissions of that call's conversation and no more, its tools and its
//! instructions. People answer its requests in that conversation.

use std::sync::Arc;

use retake_core::{ConversationId, EntryId, Fence, Mode};
use retake_tools::{PLAN_TOOL, SUBAGENT, Toolbox};
use tokio::sync::Semaphore;

use super::{Events, Permit};
use crate::prompt_files::{PromptFile, PromptOrigin};

/// Tools that a subagent does not have: it talks to nobody, remembers nothing, and starts no further subagents.
const WITHOUT: [&str; 6] = [SUBAGENT, PLAN_TOOL, "ask", "remember", "forget", "recall"];

/// The instructions of a subagent, behind those of every agent.
const ROLE: &str = "You are a subagent: another agent has given you the task below. Nobody reads your messages while you work, \
     and nobody answers questions. Your last message is your result, and all that the other agent gets: say what you found or did, \
     with the names of files, and what is left.";

/// The names of tools in files of other agents, and ours.
const SAME_TOOLS: [(&str, &str); 4] =
    [("bash", "shell"), ("ls", "list"), ("webfetch", "fetch"), ("multiedit", "edit")];

/// Whether an agent has this tool: all of them if its file names none.
fn has(agent: &PromptFile, tool: &str) -> bool {
    let is_it = |name: &String| {
        // `Bash(git add:*)` names a tool, too: what it may run is for the permissions.
        let name = name.split('(').next().unwrap_or_default().trim().to_ascii_lowercase();
        let same = SAME_TOOLS.iter().find(|(theirs, _)| *theirs == name).map(|(_, ours)| *ours);
        same.unwrap_or(&name) == tool
    };
    agent.tools.is_empty() || agent.tools.iter().any(is_it)
}

/// The instructions of an agent, with their origin if they are not the person's own.
fn instructions(agent: &PromptFile) -> String {
    let body = agent.body.trim();
    match agent.origin {
        PromptOrigin::Settings => body.to_owned(),
        PromptOrigin::Folder => {
            format!("The file {} of the folder describes how you work:\n\n{body}", agent.path.display())
        }
    }
}

/// What a run needs to start subagents.
pub(super) struct Subagents {
    pub(super) agents: Vec<PromptFile>,
    /// The permissions and the mode of the run.
    pub(super) permit: Permit,
    pub(super) mode: Mode,
    /// The model of the run.
    pub(super) model: String,
    /// Places for those that work at the same time; further ones wait.
    pub(super) at_once: Semaphore,
}

impl Subagents {
    pub(super) fn new(
        agents: Vec<PromptFile>,
        permit: Permit,
        mode: Mode,
        model: String,
        at_once: usize,
    ) -> Self {
        Self { agents, permit, mode, model, at_once: Semaphore::new(at_once) }
    }
}

impl Subagents {
    /// The same with other permissions of the run. None may be at work.
    pub(super) fn with_permit(&self, permit: Permit) -> Self {
        let at_once = self.at_once.available_permits();
        Self::new(self.agents.clone(), permit, self.mode, self.model.clone(), at_once)
    }
}

/// The call that a subagent works for.
pub(super) struct CallerRun {
    /// The conversation of the call.
    pub(super) conversation: ConversationId,
    /// The answer that asks for it.
    pub(super) answer: EntryId,
    /// The events of its run: approval requests go there.
    pub(super) events: Events,
    pub(super) permit: Permit,
    pub(super) mode: Mode,
    pub(super) agent: Option<PromptFile>,
    /// The fence of its run: when it is over, no further call of the subagent begins.
    pub(super) fence: Fence,
    /// Its title, for approval requests.
    pub(super) title: String,
}

impl CallerRun {
    /// The tools of the subagent, of these.
    pub(super) fn tools(&self, all: &Toolbox) -> Toolbox {
        let mut tools = Toolbox::default();
        for tool in all.all().filter(|tool| self.may(tool.name())) {
            tools.add(Arc::clone(tool));
        }
        tools
    }

    /// Whether the subagent has this tool.
    pub(super) fn may(&self, tool: &str) -> bool {
        !WITHOUT.contains(&tool) && self.agent.as_ref().is_none_or(|agent| has(agent, tool))
    }

    /// The most model calls of the subagent.
    pub(super) fn limit(&self, most: u32) -> u32 {
        self.agent.as_ref().and_then(|agent| agent.turns).map_or(most, |own| own.min(most))
    }

    /// The system prompt of the subagent.
    pub(super) fn system(&self, system: Option<String>) -> String {
        let own = self.agent.as_ref().filter(|agent| !agent.body.trim().is_empty()).map(instructions);
        let parts = system.into_iter().chain([ROLE.to_owned()]).chain(own);
        parts.collect::<Vec<_>>().join("\n\n")
    }
}
