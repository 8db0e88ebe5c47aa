//! What a run works with: the folders, the tools, what it may do. Read once when it begins.

use std::path::PathBuf;
use std::sync::Arc;

use retake_core::{ConversationId, Permission};
use retake_tools::{Tool, Toolbox};

use crate::engine::Engine;
use crate::error::Result;

/// What a run works with.
pub(super) struct Scene {
    /// The folders, the conversation's own first; none, where it works in no folder.
    pub(super) roots: Vec<PathBuf>,
    /// The tools.
    pub(super) tools: Toolbox,
    /// What is settled for every conversation, and then for this one.
    pub(super) permission: Permission,
    /// Where long output is kept.
    pub(super) spool: PathBuf,
    /// How often the model is asked at most.
    pub(super) limit: u32,
}

impl Scene {
    /// The tool of that name.
    pub(super) fn tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.tools.get(name).cloned()
    }

    /// The root that names are relative to.
    pub(super) fn root(&self) -> PathBuf {
        self.roots.first().cloned().unwrap_or_default()
    }
}

impl Engine {
    pub(super) async fn scene(&self, conversation: ConversationId) -> Result<Scene> {
        let Some(config) = &self.parts().agent else {
            let (tools, permission) = (Toolbox::default(), Permission::default());
            return Ok(Scene { roots: Vec::new(), tools, permission, spool: PathBuf::new(), limit: 1 });
        };
        let folder = self.store().summary(conversation).await?.folder.map(PathBuf::from);
        let has_folder = folder.is_some();
        let roots = folder.into_iter().chain(config.roots.iter().filter(|_| has_folder).cloned()).collect();
        Ok(Scene {
            roots,
            tools: self.tools_of(conversation).await?,
            permission: self.permission(conversation).await?,
            spool: config.spool.clone(),
            limit: config.limit,
        })
    }

    /// The tools of a conversation: without a folder none that need one.
    pub async fn tools_of(&self, conversation: ConversationId) -> Result<Toolbox> {
        let Some(config) = &self.parts().agent else { return Ok(Toolbox::default()) };
        if self.store().summary(conversation).await?.folder.is_some() {
            return Ok(config.tools.clone());
        }
        let mut tools = Toolbox::default();
        for tool in config.tools.all().filter(|tool| !tool.needs_folder()) {
            tools.add(Arc::clone(tool));
        }
        Ok(tools)
    }
}
