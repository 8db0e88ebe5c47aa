//! Requests about MCP servers. Must never tell the value of a variable or a header.

use retake_engine::mcp::{McpServerInfo, McpState as State, McpTransport, McpWritten};
use retake_wire::{
    McpAdd, McpAllow, McpOf, McpRemove, McpServer, McpServers, McpState, McpTool, McpTools, McpWay, Problem,
    Reply, reply,
};

use super::absolute;
use crate::InProcess;
use crate::convert::problem;

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
                McpTransport::Command { command, args, env: env.into_iter().collect() }
            }
            McpWay::Url { url, headers } => McpTransport::Url { url, headers: headers.into_iter().collect() },
        };
        self.engine.add_server(&add.name, way).map(written).map_err(problem)
    }

    pub(super) fn mcp_remove(&self, remove: &McpRemove) -> Result<Reply, Problem> {
        self.engine.remove_server(&remove.name).map(written).map_err(problem)
    }

    pub(super) fn mcp_allow(&self, allow: &McpAllow) -> Result<Reply, Problem> {
        let folder = absolute(&allow.folder)?;
        self.engine.allow_server(&folder, &allow.name, allow.entry.as_deref()).map(written).map_err(problem)
    }

    async fn mcp_servers(&self, of: &McpOf) -> Result<(Vec<McpServerInfo>, Vec<String>), Problem> {
        let folder = absolute(&of.folder)?;
        self.engine.mcp_servers(&folder, of.server.as_deref()).await.map_err(problem)
    }
}

fn written(written: McpWritten) -> Reply {
    Reply::Written(reply::Written { path: written.path.display().to_string(), bytes: written.bytes })
}

fn server(shown: McpServerInfo) -> McpServer {
    let (state, why) = match shown.state {
        State::Starting => (McpState::Starting, None),
        State::Ready => (McpState::Ready, None),
        State::Failed(why) => (McpState::Failed, Some(why)),
        State::NeedsApproval => (McpState::NeedsApproval, None),
        State::Disabled => (McpState::Disabled, None),
    };
    McpServer {
        name: shown.name,
        origin: shown.origin.to_owned(),
        way: shown.command_line,
        asked: shown.approval,
        entry: shown.entry,
        state,
        why,
        tools: shown.tools.len() as u64,
        notes: shown.notes,
    }
}
