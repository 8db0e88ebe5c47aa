//! MCP servers and their tools. Must never show what a server says as it says it: it may act on a terminal.

use retake_wire::{McpServer, McpServers, McpState, McpTools};

use super::table::{cell, table};
use super::words;
use crate::text::Look;
use crate::text::safe;
use crate::text::style::Style;

/// Servers, how they are, and what is wrong with them.
pub fn servers(look: &Look, it: &McpServers) -> String {
    let mut text = String::new();
    if it.servers.is_empty() {
        text.push_str("no MCP servers; `retake mcp add` adds one\n");
    }
    let rows: Vec<_> = it
        .servers
        .iter()
        .map(|server| {
            let (state, style) = state(server);
            let own = if server.origin == "user" { "" } else { "this folder's" };
            vec![
                cell(safe::line(&server.name)),
                cell(state).style(style),
                cell(own),
                cell(safe::line(&server.way)),
            ]
        })
        .collect();
    text.push_str(&table(look, &rows));
    let sign = look.palette.paint(Style::Warn, "!");
    for server in &it.servers {
        let name = safe::line(&server.name);
        for line in server.why.iter().chain(&server.notes) {
            text.push_str(&format!("{sign} {name}: {}\n", safe::line(line)));
        }
        for line in &server.asked {
            text.push_str(&format!("{sign} {name}: {}\n", safe::line(line)));
        }
        if server.state == McpState::NeedsLeave {
            text.push_str(&format!(
                "{sign} {name}: this folder names it; `retake mcp allow {name}` lets it be started\n"
            ));
        }
    }
    for problem in &it.problems {
        text.push_str(&format!("{sign} {}\n", safe::line(problem)));
    }
    text
}

fn state(server: &McpServer) -> (String, Style) {
    match server.state {
        McpState::Starting => ("starting".to_owned(), Style::Dim),
        McpState::Ready => (words::count(server.tools, "tool"), Style::Good),
        McpState::Failed => ("failed".to_owned(), Style::Error),
        McpState::NeedsLeave => ("needs leave".to_owned(), Style::Warn),
        McpState::Disabled => ("disabled".to_owned(), Style::Dim),
    }
}

/// Tools.
pub fn tools(look: &Look, it: &McpTools) -> String {
    if it.tools.is_empty() {
        return "no tools; `retake mcp list` says how the servers are\n".to_owned();
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
