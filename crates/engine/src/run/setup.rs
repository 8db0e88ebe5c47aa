//! The setup of a run: folders and tools, read once at its beginning, and permissions, read before each call.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use retake_core::{ConversationId, EffectClass, Mode, Permission, Rule, Ruling};
use retake_tools::{Guarded, SkillText, Tool, Toolbox, skill_tool, subagent_tool};

use super::subagent::{CallerRun, Subagents};
use super::{Events, Permit};
use crate::Engine;
use crate::error::Result;
use crate::files::{FurtherFolders, blocking};
use crate::prompt::{About, system_prompt};
use crate::prompt_files::{self, PromptFile, PromptKind};

/// The setup of a run.
pub(super) struct RunSetup {
    /// The folders, the conversation's own first, then those that captures cover; none for a conversation without a folder.
    pub(super) roots: Vec<PathBuf>,
    /// The number of them that captures cover.
    pub(super) kept: usize,
    /// The tools.
    pub(super) tools: Toolbox,
    /// Its additional permissions.
    permit: Permit,
    /// Files with secrets.
    pub(super) guarded: Arc<Guarded>,
    /// The mode when it began.
    mode: Mode,
    /// The folder for long output.
    pub(super) spool: PathBuf,
    /// The spools of the conversation and its ancestors, its own first.
    spools: Vec<PathBuf>,
    /// The most model calls.
    pub(super) limit: u32,
    /// The system prompt, which stays the same in the whole conversation.
    pub(super) system: Option<String>,
    /// What it needs to start subagents; a subagent starts none.
    pub(super) subagents: Option<Arc<Subagents>>,
}

impl RunSetup {
    /// The tool with this name.
    pub(super) fn tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.tools.get(name).cloned()
    }

    /// Those of the folders that captures cover.
    pub(super) fn kept(&self) -> &[PathBuf] {
        &self.roots[..self.kept]
    }

    /// The run's current permissions: those for all conversations, for this one, and for the run. A mode that was chosen after
    /// its beginning overrides its own.
    pub(super) fn permission(&self, settled: Permission) -> Permission {
        let chosen_since = settled.mode != self.mode;
        let mut permission = with_spools(settled, &self.spools);
        permission.mode = self.permit.mode.filter(|_| !chosen_since).unwrap_or(permission.mode);
        permission.rules.extend(self.permit.rules.iter().cloned());
        permission
    }

    /// The run's own mode ends, if it is plan mode.
    pub(super) fn leave_plan_mode(&mut self) {
        self.permit.mode = self.permit.mode.filter(|mode| *mode != Mode::Plan);
        let subagents = self.subagents.take();
        self.subagents = subagents.map(|subagents| Arc::new(subagents.with_permit(self.permit.clone())));
    }

    /// The root for relative names.
    pub(super) fn root(&self) -> PathBuf {
        self.roots.first().cloned().unwrap_or_default()
    }
}

impl Engine {
    /// The setup of a run with this model. A subagent has the folders, permissions and tools of the call that it works for.
    pub(super) async fn scene(
        &self,
        conversation: ConversationId,
        permit: Permit,
        caller: Option<&CallerRun>,
        model: &str,
    ) -> Result<RunSetup> {
        let own = self.parts().system_prompt.as_deref();
        let Some(config) = &self.parts().agent else {
            return Ok(RunSetup {
                roots: Vec::new(),
                kept: 0,
                tools: Toolbox::default(),
                permit,
                guarded: Arc::default(),
                mode: Mode::default(),
                spool: PathBuf::new(),
                spools: Vec::new(),
                limit: 1,
                system: own.map(str::to_owned),
                subagents: None,
            });
        };
        let home = caller.map_or(conversation, |caller| caller.conversation);
        let snapshot = self.store().snapshot(conversation).await?;
        let folder = snapshot.folder().map(PathBuf::from);
        let roots: &[PathBuf] = if folder.is_some() { &config.roots } else { &[] };
        let (began, tools) = (snapshot.created(), &config.tools);
        let about = folder.as_deref().map(|folder| About { folder, roots, began, tools });
        let further = match &folder {
            Some(folder) => self.further(folder).await?,
            None => FurtherFolders::default(),
        };
        let others = further.others.into_iter().map(|(folder, _)| folder);
        let kept: Vec<PathBuf> = folder.iter().cloned().chain(further.kept).collect();
        let system = system_prompt(own, about.as_ref());
        let (all, mode) = (self.tools_now(home).await?, self.permission(home).await?.mode);
        let (mut tools, permit, mode, system) = match caller {
            Some(caller) => {
                (caller.tools(&all), caller.permit.clone(), caller.mode, Some(caller.system(system)))
            }
            None => (all, permit, mode, system),
        };
        if let Some(folder) = &folder {
            let skills = self.skills(folder).await?;
            if !skills.is_empty() && caller.is_none_or(|caller| caller.may("skill")) {
                tools.add(skill_tool(skills));
            }
        }
        let mut subagents = None;
        if caller.is_none() && folder.is_some() && config.subagents > 0 {
            let agents = self.agents(&folder.clone().unwrap_or_default()).await?;
            tools.add(subagent_tool(&agents.iter().map(told).collect::<Vec<_>>()));
            subagents = Some(Arc::new(Subagents::new(
                agents,
                permit.clone(),
                mode,
                model.to_owned(),
                config.subagents,
            )));
        }
        Ok(RunSetup {
            system,
            kept: kept.len(),
            roots: kept.into_iter().chain(others).collect(),
            tools,
            permit,
            guarded: Arc::clone(&config.guarded),
            mode,
            spool: config.spool.join(home.to_string()),
            spools: self.spools(home, &config.spool).await?,
            limit: caller.map_or(config.limit, |caller| caller.limit(config.limit)),
            subagents,
        })
    }

    /// The skills of a folder and of the settings.
    async fn skills(&self, folder: &Path) -> Result<Vec<SkillText>> {
        let places = self.places(folder);
        let found = blocking(move || prompt_files::find(PromptKind::Skill, &places).files).await?;
        let text = |skill: PromptFile| SkillText {
            text: format!("{}\n\nIts further files are beside {}.", skill.body.trim(), skill.path.display()),
            name: skill.name,
            description: skill.description,
        };
        Ok(found.into_iter().map(text).collect())
    }

    /// The agents that files of a folder and of the settings describe.
    async fn agents(&self, folder: &Path) -> Result<Vec<PromptFile>> {
        let places = self.places(folder);
        blocking(move || prompt_files::find(PromptKind::Agent, &places).files).await
    }

    /// The spools of a conversation and its ancestors.
    async fn spools(&self, conversation: ConversationId, all: &Path) -> Result<Vec<PathBuf>> {
        let (mut spools, mut of) = (Vec::new(), Some(conversation));
        while let Some(id) = of {
            spools.push(all.join(id.to_string()));
            of = self.store().summary(id).await?.parent.map(|(parent, _)| parent);
        }
        Ok(spools)
    }

    /// The tools for the model of a conversation, by name, with those of MCP servers. Without a folder, none that need one. Waits
    /// for starting servers, as a turn does.
    pub async fn offered_tools(&self, conversation: ConversationId) -> Result<Vec<OfferedTool>> {
        self.await_servers(conversation, &Events::none(), std::future::pending()).await?;
        let permission = self.permission(conversation).await?;
        let tools = self.tools_now(conversation).await?;
        let offered = tools.all().map(|tool| OfferedTool {
            name: tool.name().to_owned(),
            about: tool.about().to_owned(),
            class: tool.class(),
            ruling: permission.always(tool.name(), tool.class()),
        });
        Ok(offered.collect())
    }

    /// The tools of a conversation, without those of servers that are still starting.
    async fn tools_now(&self, conversation: ConversationId) -> Result<Toolbox> {
        let Some(config) = &self.parts().agent else { return Ok(Toolbox::default()) };
        let Some(folder) = self.folder_of(conversation).await? else {
            let mut tools = Toolbox::default();
            for tool in config.tools.all().filter(|tool| !tool.needs_folder()) {
                tools.add(Arc::clone(tool));
            }
            return Ok(tools);
        };
        let mut tools = config.tools.clone();
        if self.parts().mcp.is_some() {
            for tool in self.servers(Path::new(&folder), self.environment_in(conversation)).await.tools() {
                tools.add(tool);
            }
        }
        Ok(tools)
    }
}

/// A tool that a model can call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedTool {
    /// Its name.
    pub name: String,
    /// Its description for the model.
    pub about: String,
    /// What its calls do to the world.
    pub class: EffectClass,
    /// The ruling for every call; `None` if it depends on the call.
    pub ruling: Option<Ruling>,
}

/// An agent for the model: its name, and what it is for.
fn told(agent: &PromptFile) -> (String, String) {
    (agent.name.clone(), agent.description.clone())
}

/// Long output of the conversation's calls may be read in the spool.
fn with_spools(mut settled: Permission, spools: &[PathBuf]) -> Permission {
    let free = spools.iter().flat_map(|spool| {
        ["read", "grep"].map(|tool| Rule {
            ruling: Ruling::Allow,
            tool: tool.to_owned(),
            what: Some(format!("{}/**", spool.display())),
        })
    });
    settled.rules.extend(free);
    settled
}
