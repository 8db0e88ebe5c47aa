//! `retake mcp`, as a person sees it.

use retake_wire::{
    McpApproval, McpOrigin, McpRemark, McpServer, McpServers, McpState, McpTool, McpTools, Problem,
    ProblemCode, Reply,
};

use super::scripted::{Act, Case};

fn server(name: &str, state: McpState) -> McpServer {
    McpServer {
        name: name.to_owned(),
        origin: McpOrigin::User,
        way: format!("uvx {name}"),
        approval: match state {
            McpState::NeedsApproval => vec![
                McpApproval::Command { line: format!("uvx {name}") },
                McpApproval::Variable { variable: "TOKEN='${GITHUB_TOKEN}'".to_owned() },
                McpApproval::Given { variable: "GITHUB_TOKEN".to_owned(), secret: true },
            ],
            _ => Vec::new(),
        },
        entry: format!("entry-of-{name}"),
        state,
        ..McpServer::default()
    }
}

fn problem(message: &str) -> Problem {
    Problem { code: ProblemCode::Mcp, message: message.to_owned(), ..Problem::default() }
}

pub(super) fn servers() -> McpServers {
    let why = "its process ended (exit code 1); the last it said:\nno \x1b[2J licence".to_owned();
    McpServers {
        servers: vec![
            McpServer { problem: Some(problem(&why)), ..server("broken", McpState::Failed) },
            server("off", McpState::Disabled),
            McpServer { origin: McpOrigin::Project, ..server("theirs", McpState::NeedsApproval) },
            McpServer {
                tools: 2,
                remarks: vec![McpRemark::ToolTwice { tool: "x".to_owned() }],
                ..server("time", McpState::Ready)
            },
        ],
        file_problems: vec![problem("/home/ada/.mcp.json, line 2: this is not valid JSON")],
        ..McpServers::default()
    }
}

pub(super) fn tools() -> McpTools {
    let tool = |name: &str, about: &str, reads| McpTool {
        name: format!("mcp__time__{name}"),
        server: "time".to_owned(),
        about: about.to_owned(),
        reads,
    };
    McpTools {
        tools: vec![
            tool("convert", "Converts\x1b[2J a time\nin detail", false),
            tool("now", "Tells the time", true),
        ],
    }
}

#[test]
fn servers_are_listed_and_their_tools() {
    let none = || Case::script("").reply("mcp_list", Ok(Reply::McpServers(McpServers::default())));
    let seen = [
        Case::script("").see(&["mcp", "list"]),
        Case::script("").see(&["mcp", "list", "--json"]),
        none().see(&["mcp", "list"]),
        Case::script("").see(&["mcp", "tools"]),
        Case::script("").see(&["mcp", "tools", "time"]),
        Case::script("").reply("mcp_tools", Ok(Reply::McpTools(McpTools::default()))).see(&["mcp", "tools"]),
    ];
    insta::assert_snapshot!(seen.join("\n"));
}

#[test]
fn servers_are_added_and_removed() {
    let rows: &[&[&str]] = &[
        &["mcp", "add", "time", "--env", "TZ=UTC", "--env", "K=${K}", "--", "uvx", "mcp-server-time", "--x"],
        &["mcp", "add", "web", "--url", "https://example.org/mcp", "--header", "Authorization: Bearer ${T}"],
        &["mcp", "add", "none"],
        &["mcp", "add", "both", "--url", "https://example.org", "--", "x"],
        &["mcp", "add", "bad", "--env", "secret", "--", "x"],
        &["mcp", "add", "bad", "--header", "a: b", "--", "x"],
        &["mcp", "add", "bad", "--header", "secret", "--url", "https://example.org"],
        &["mcp", "add", "bad", "--header", "a: b"],
        &["mcp", "remove", "time"],
    ];
    let seen: Vec<_> = rows.iter().map(|words| Case::script("").see(words)).collect();
    insta::assert_snapshot!(seen.join("\n"));
}

#[test]
fn a_projects_server_starts_only_after_an_explicit_yes() {
    let one = || {
        let theirs = McpServer { origin: McpOrigin::Project, ..server("theirs", McpState::NeedsApproval) };
        Ok(Reply::McpServers(McpServers { servers: vec![theirs], ..McpServers::default() }))
    };
    let disabled = || {
        let theirs = McpServer { origin: McpOrigin::Project, ..server("theirs", McpState::Disabled) };
        Ok(Reply::McpServers(McpServers { servers: vec![theirs], ..McpServers::default() }))
    };
    let seen = [
        // If the server was not shown as waiting, the request contains the displayed entry: a different one by then
        // is refused.
        Case::terminal([]).reply("mcp_list", disabled()).see(&["mcp", "allow", "theirs"]),
        Case::terminal([Act::Answer(true)]).reply("mcp_list", one()).see(&["mcp", "allow", "theirs"]),
        Case::terminal([Act::Answer(false)]).reply("mcp_list", one()).see(&["mcp", "allow", "theirs"]),
        Case::script("").see(&["mcp", "allow", "theirs"]),
        Case::script("").see(&["mcp", "allow", "theirs", "--yes"]),
    ];
    insta::assert_snapshot!(seen.join("\n"));
}
