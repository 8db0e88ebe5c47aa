//! Requests about MCP servers. Must never tell the value of a variable or a header.

use retake_engine::mcp::{McpWritten, ServerShown, State, Way, beginning};
use retake_wire::{
    McpAdd, McpAllow, McpOf, McpRemove, McpServer, McpServers, McpState, McpTool, McpTools, McpWay, Problem,
    ProblemKind, Reply, reply,
};

use super::absolute;
use crate::InProcess;
use crate::convert::{problem, usage};

impl InProcess {
    pub(super) async fn mcp_list(&self, of: McpOf) -> Result<Reply, Problem> {
        let (shown, problems) = self.mcp_servers(&of).await?;
        let servers = shown.into_iter().map(server).collect();
        Ok(Reply::McpServers(McpServers { servers, problems }))
    }

    pub(super) async fn mcp_tools(&self, of: McpOf) -> Result<Reply, Problem> {
        let (shown, _) = self.mcp_servers(&of).await?;
        let tools = shown.into_iter().flat_map(|server| {
            let name = server.name;
            server.tools.into_iter().map(move |tool| McpTool {
                name: tool.name,
                server: name.clone(),
                about: tool.about,
                reads: tool.reads,
            })
        });
        Ok(Reply::McpTools(McpTools { tools: tools.collect() }))
    }

    pub(super) fn mcp_add(&self, add: McpAdd) -> Result<Reply, Problem> {
        let way = match add.way {
            McpWay::Command { command, args, env } => {
                Way::Command { command, args, env: env.into_iter().collect(), cwd: None }
            }
            McpWay::Url { url, headers } => Way::Url { url, headers: headers.into_iter().collect() },
        };
        self.engine.add_server(&add.name, &way).map(written).map_err(problem)
    }

    pub(super) fn mcp_remove(&self, remove: &McpRemove) -> Result<Reply, Problem> {
        self.engine.remove_server(&remove.name).map(written).map_err(problem)
    }

    pub(super) fn mcp_allow(&self, allow: &McpAllow) -> Result<Reply, Problem> {
        let folder = absolute(&allow.folder)?;
        self.engine.allow_server(&folder, &allow.name, allow.entry.as_deref()).map(written).map_err(problem)
    }

    /// The servers that are meant, and what is wrong with the files.
    async fn mcp_servers(&self, of: &McpOf) -> Result<(Vec<ServerShown>, Vec<String>), Problem> {
        let servers = self.engine.servers(&absolute(&of.folder)?, None).await;
        servers.settled().await;
        let mut shown = servers.shown();
        let permission = self.engine.permission_for_all();
        for server in shown.iter_mut().filter(|server| server.state == State::NeedsLeave) {
            // A rule that was made for another server of that name holds for this one, too.
            let beginning = beginning(&server.name);
            let rules = permission.allowing(&beginning);
            server.asked.extend(rules.map(|rule| format!("the rule `{rule}` lets calls of it run unasked")));
        }
        if let Some(name) = &of.server {
            shown.retain(|server| server.name == *name);
            if shown.is_empty() {
                return Err(Problem {
                    kind: ProblemKind::NotFound,
                    code: "mcp".into(),
                    hint: Some("`retake mcp list` shows those that there are".into()),
                    ..usage(format!("there is no MCP server `{name}`"))
                });
            }
        }
        Ok((shown, servers.told().to_vec()))
    }
}

fn written(written: McpWritten) -> Reply {
    Reply::Written(reply::Written { path: written.path.display().to_string(), bytes: written.bytes })
}

fn server(shown: ServerShown) -> McpServer {
    let (state, why) = match shown.state {
        State::Starting => (McpState::Starting, None),
        State::Ready => (McpState::Ready, None),
        State::Failed(why) => (McpState::Failed, Some(why)),
        State::NeedsLeave => (McpState::NeedsLeave, None),
        State::Disabled => (McpState::Disabled, None),
    };
    McpServer {
        name: shown.name,
        origin: shown.origin.name().to_owned(),
        way: shown.way,
        asked: shown.asked,
        entry: shown.entry,
        state,
        why,
        tools: shown.tools.len() as u64,
        notes: shown.notes,
    }
}
