//! What a run works with: the folders and the tools, read once when it begins, and what it may do, read before each call.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use retake_core::{ConversationId, EffectClass, Mode, Permission, Rule, Ruling};
use retake_tools::{Guarded, Tool, Toolbox};

use super::{Events, Permit};
use crate::Engine;
use crate::error::Result;
use crate::files::Further;
use crate::prompt::{About, system_prompt};

/// What a run works with.
pub(super) struct RunSetup {
    /// The folders, the conversation's own first, then those that captures cover; none, where it works in no folder.
    pub(super) roots: Vec<PathBuf>,
    /// How many of them captures cover.
    pub(super) kept: usize,
    /// The tools.
    pub(super) tools: Toolbox,
    /// Its additional permissions.
    permit: Permit,
    /// Files that hold secrets.
    pub(super) guarded: Arc<Guarded>,
    /// The mode when it began.
    mode: Mode,
    /// Where long output is kept.
    pub(super) spool: PathBuf,
    /// The same of the conversations that this one is a fork of, its own first.
    spools: Vec<PathBuf>,
    /// How often the model is asked at most.
    pub(super) limit: u32,
    /// The system prompt; the same in the whole conversation.
    pub(super) system: Option<String>,
}

impl RunSetup {
    /// The tool of that name.
    pub(super) fn tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.tools.get(name).cloned()
    }

    /// Those of the folders that captures cover.
    pub(super) fn kept(&self) -> &[PathBuf] {
        &self.roots[..self.kept]
    }

    /// What the run may do, by what is settled now: for every conversation, for this one, and for it alone. A mode that was
    /// chosen since it began is newer than its own.
    pub(super) fn permission(&self, settled: Permission) -> Permission {
        let chosen_since = settled.mode != self.mode;
        let mut permission = with_spools(settled, &self.spools);
        permission.mode = self.permit.mode.filter(|_| !chosen_since).unwrap_or(permission.mode);
        permission.rules.extend(self.permit.rules.iter().cloned());
        permission
    }

    /// The root that names are relative to.
    pub(super) fn root(&self) -> PathBuf {
        self.roots.first().cloned().unwrap_or_default()
    }
}

impl Engine {
    pub(super) async fn scene(&self, conversation: ConversationId, permit: Permit) -> Result<RunSetup> {
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
            });
        };
        let snapshot = self.store().snapshot(conversation).await?;
        let folder = snapshot.folder().map(PathBuf::from);
        let roots: &[PathBuf] = if folder.is_some() { &config.roots } else { &[] };
        let about = folder.as_deref().map(|folder| About { folder, roots, began: snapshot.created() });
        let further = match &folder {
            Some(folder) => self.further(folder).await?,
            None => Further::default(),
        };
        let others = further.others.into_iter().map(|(folder, _)| folder);
        let kept: Vec<PathBuf> = folder.iter().cloned().chain(further.kept).collect();
        Ok(RunSetup {
            system: system_prompt(own, about.as_ref()),
            kept: kept.len(),
            roots: kept.into_iter().chain(others).collect(),
            tools: self.tools_now(conversation).await?,
            permit,
            guarded: Arc::clone(&config.guarded),
            mode: self.permission(conversation).await?.mode,
            spool: config.spool.join(conversation.to_string()),
            spools: self.spools(conversation, &config.spool).await?,
            limit: config.limit,
        })
    }

    /// The folders with what the calls of a conversation have printed, and those of the conversations that it is a fork of.
    async fn spools(&self, conversation: ConversationId, all: &Path) -> Result<Vec<PathBuf>> {
        let (mut spools, mut of) = (Vec::new(), Some(conversation));
        while let Some(id) = of {
            spools.push(all.join(id.to_string()));
            of = self.store().summary(id).await?.parent.map(|(parent, _)| parent);
        }
        Ok(spools)
    }

    /// The tools that the model of a conversation is offered, by name, with those of MCP servers. Without a folder, none that need one.
    /// Waits for servers that are still starting, as a turn does.
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

/// A tool that a model is offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedTool {
    /// Its name.
    pub name: String,
    /// What it does, as the model reads it.
    pub about: String,
    /// What its calls do to the world.
    pub class: EffectClass,
    /// What the permissions say of every call; none, where that depends on the call.
    pub ruling: Option<Ruling>,
}

/// What a call of the conversation has printed, and was too long for its answer, is there to be read.
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
