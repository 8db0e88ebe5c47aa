//! MCP servers and their tools. Must never show a server's text unescaped: it may act on the terminal.

use retake_wire::{McpOrigin, McpServer, McpServers, McpState, McpTools, english};

use super::table::{cell, table};
use super::words;
use crate::hint::Audience;
use crate::text::style::Style;
use crate::text::styled::text;
use crate::text::{Look, Text, safe};

/// Servers, their state and their errors.
pub fn servers(look: &Look, it: &McpServers) -> Text {
    let mut text = Text::new();
    if it.servers.is_empty() {
        text.push("no MCP servers; `retake mcp add` adds one\n");
    }
    let rows: Vec<_> = it
        .servers
        .iter()
        .map(|server| {
            let (state, style) = state(server);
            let own = if server.origin == McpOrigin::User { "" } else { "this folder's" };
            vec![
                cell(safe::line(&server.name)),
                cell(state).style(style),
                cell(own),
                cell(safe::line(&server.way)),
            ]
        })
        .collect();
    text.push(table(look, &rows));
    let warn = |line: String| text![(Style::Warn, "!"), " ", line, "\n"];
    for server in &it.servers {
        let name = safe::line(&server.name);
        let why = server.problem.iter().map(english::problem_with_causes);
        for line in why.chain(server.remarks.iter().map(english::mcp_remark)) {
            text.push(warn(format!("{name}: {}", safe::line(&line))));
        }
        for part in &server.approval {
            text.push(warn(format!("{name}: {}", safe::line(&english::mcp_approval(part)))));
        }
        if server.state == McpState::NeedsApproval {
            text.push(warn(format!(
                "{name}: this folder names it; `retake mcp allow {name}` lets it be started"
            )));
        }
    }
    for problem in &it.file_problems {
        let problem = Audience::Shell.problem(problem);
        text.push(warn(safe::line(&problem).into_owned()));
    }
    text
}

fn state(server: &McpServer) -> (String, Style) {
    match server.state {
        McpState::Starting => ("starting".to_owned(), Style::Dim),
        McpState::Ready => (words::count(server.tools, "tool"), Style::Good),
        McpState::Failed => ("failed".to_owned(), Style::Error),
        McpState::NeedsApproval => ("needs approval".to_owned(), Style::Warn),
        McpState::Disabled => ("disabled".to_owned(), Style::Dim),
    }
}

/// Tools.
pub fn tools(look: &Look, it: &McpTools) -> Text {
    if it.tools.is_empty() {
        return "no tools; `retake mcp list` says how the servers are\n".into();
    }
    let rows: Vec<_> = it
        .tools
        .iter()
        .map(|tool| {
            let reads = if tool.reads { "reads" } else { "" };
            let about = tool.about.lines().next().unwrap_or_default();
            vec![cell(safe::line(&tool.name)), cell(reads).style(Style::Dim), cell(safe::line(about))]
        })
        .collect();
    table(look, &rows)
}
