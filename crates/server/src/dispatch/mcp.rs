//! Requests about MCP servers. Must never return the value of a variable or a header.

use retake_core::mcp::Approves;
use retake_engine::EngineError;
use retake_engine::mcp::{McpServerInfo, McpState as State, McpTransport, McpWritten};
use retake_wire::{
    McpAdd, McpAllow, McpApproval, McpOf, McpOrigin, McpRemove, McpServer, McpServers, McpState, McpTool,
    McpTools, McpWay, Problem, Reply, english, reply,
};

use super::absolute;
use crate::InProcess;
use crate::agent::rule;
use crate::convert::{mcp_remark, problem, shown_problem};

impl InProcess {
    pub(super) async fn mcp_list(&self, of: McpOf) -> Result<Reply, Problem> {
        let (shown, problems) = self.mcp_servers(&of).await?;
        let servers = shown.into_iter().map(server).collect();
        let file_problems: Vec<_> = problems.into_iter().map(shown_problem).collect();
        let sentence = |it| english::problem_with_hint(it, &english::remedy);
        let problems = file_problems.iter().map(sentence).collect();
        Ok(Reply::McpServers(McpServers { servers, file_problems, problems }))
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

    pub(super) async fn mcp_add(&self, add: McpAdd) -> Result<Reply, Problem> {
        let way = match add.way {
            McpWay::Command { command, args, env } => {
                McpTransport::Command { command, args, env: env.into_iter().collect() }
            }
            McpWay::Url { url, headers } => McpTransport::Url { url, headers: headers.into_iter().collect() },
        };
        self.engine.add_server(add.name, way).await.map(written).map_err(problem)
    }

    pub(super) async fn mcp_remove(&self, remove: McpRemove) -> Result<Reply, Problem> {
        self.engine.remove_server(remove.name).await.map(written).map_err(problem)
    }

    pub(super) async fn mcp_allow(&self, allow: McpAllow) -> Result<Reply, Problem> {
        let folder = absolute(&allow.folder)?;
        self.engine.allow_server(folder, allow.name, allow.entry).await.map(written).map_err(problem)
    }

    async fn mcp_servers(&self, of: &McpOf) -> Result<(Vec<McpServerInfo>, Vec<EngineError>), Problem> {
        let folder = absolute(&of.folder)?;
        self.engine.mcp_servers(&folder, of.server.as_deref()).await.map_err(problem)
    }
}

fn written(written: McpWritten) -> Reply {
    Reply::Written(reply::Written { path: written.path.display().to_string(), bytes: written.bytes })
}

fn approves(of: Approves) -> McpApproval {
    match of {
        Approves::Command(line) => McpApproval::Command { line },
        Approves::Folder(folder) => McpApproval::Folder { folder },
        Approves::Variable(variable) => McpApproval::Variable { variable },
        Approves::Address(address) => McpApproval::Address { address },
        Approves::Header(header) => McpApproval::Header { header },
        Approves::Given { variable, secret } => McpApproval::Given { variable, secret },
    }
}

fn server(shown: McpServerInfo) -> McpServer {
    let (state, problem) = match shown.state {
        State::Starting => (McpState::Starting, None),
        State::Ready => (McpState::Ready, None),
        State::Failed(error) => (McpState::Failed, Some(shown_problem(error))),
        State::NeedsApproval => (McpState::NeedsApproval, None),
        State::Disabled => (McpState::Disabled, None),
    };
    let rules = shown.rules.into_iter().map(|it| McpApproval::Rule { rule: rule(it) });
    let approval: Vec<_> = shown.approval.into_iter().map(approves).chain(rules).collect();
    let remarks: Vec<_> = shown.notes.into_iter().map(mcp_remark).collect();
    McpServer {
        name: shown.name,
        origin: if shown.is_of_project { McpOrigin::Project } else { McpOrigin::User },
        way: shown.command_line,
        asked: approval.iter().map(english::mcp_approval).collect(),
        approval,
        entry: shown.entry,
        state,
        why: problem.as_ref().map(|problem| problem.message.clone()),
        problem,
        tools: shown.tools.len() as u64,
        notes: remarks.iter().map(english::mcp_remark).collect(),
        remarks,
    }
}
