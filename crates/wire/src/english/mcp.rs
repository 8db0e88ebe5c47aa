//! The English sentences about MCP servers. Must never leave out a part of what an approval allows.

use crate::mcp::McpApproval;
use crate::mcp_remark::McpRemark;

/// What the approval of a server allows.
pub fn mcp_approval(it: &McpApproval) -> String {
    match it {
        McpApproval::Command { line } => format!("it runs {line}"),
        McpApproval::Folder { folder } => format!("it runs in the folder {folder}"),
        McpApproval::Variable { variable } => format!("it runs with the variable {variable}"),
        McpApproval::Address { address } => format!("it gets the agent's calls at {address}"),
        McpApproval::Header { header } => format!("it gets the header {header}"),
        McpApproval::Given { variable, secret: false } => format!("it is given your variable {variable}"),
        McpApproval::Given { variable, secret: true } => {
            format!("it is given your variable {variable}, which looks like a secret")
        }
        McpApproval::Rule { rule } => format!("the rule `{rule}` lets calls of it run unasked"),
        McpApproval::Unknown => super::UNKNOWN.to_owned(),
    }
}

/// The sentence for a remark about a server.
pub fn mcp_remark(it: &McpRemark) -> String {
    let left_out = |tool: &str, why: &str| format!("left out its tool “{tool}”: {why}");
    match it {
        McpRemark::ToolName { tool } => left_out(tool, "its name is empty or longer than 128 characters"),
        McpRemark::ToolTwice { tool } => left_out(tool, "there is one of that name before it"),
        McpRemark::ToolWithoutSchema { tool } => left_out(tool, "its schema is not an object"),
        McpRemark::ToolSchema { tool } => left_out(tool, "its schema describes no object"),
        McpRemark::ToolSchemaTooLong { tool } => left_out(tool, "its schema has more than 64 kB"),
        McpRemark::MoreToolsLeftOut { tools } => {
            format!("left out {tools} more of its tools, for such reasons")
        }
        McpRemark::TooManyTools { offered } => {
            format!("it offers {offered} tools and more; the first 128 are used")
        }
        McpRemark::ToolsNotListed { detail } => format!("its tools changed, and can't be listed: {detail}"),
        McpRemark::Unknown => super::UNKNOWN.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::english::rows;

    #[test]
    fn each_remark_about_a_server_has_a_sentence() {
        let rows = [
            (
                r#"{"code":"tool_name","tool":""}"#,
                "left out its tool “”: its name is empty or longer than 128 characters",
            ),
            (
                r#"{"code":"tool_twice","tool":"x"}"#,
                "left out its tool “x”: there is one of that name before it",
            ),
            (
                r#"{"code":"tool_without_schema","tool":"x"}"#,
                "left out its tool “x”: its schema is not an object",
            ),
            (r#"{"code":"tool_schema","tool":"x"}"#, "left out its tool “x”: its schema describes no object"),
            (
                r#"{"code":"tool_schema_too_long","tool":"x"}"#,
                "left out its tool “x”: its schema has more than 64 kB",
            ),
            (r#"{"code":"more_tools_left_out","tools":2}"#, "left out 2 more of its tools, for such reasons"),
            (
                r#"{"code":"too_many_tools","offered":200}"#,
                "it offers 200 tools and more; the first 128 are used",
            ),
            (
                r#"{"code":"tools_not_listed","detail":"it ended"}"#,
                "its tools changed, and can't be listed: it ended",
            ),
        ];
        rows::check(&rows, mcp_remark);
    }

    #[test]
    fn each_part_of_an_approval_has_a_sentence() {
        let rows = [
            (r#"{"code":"command","line":"uvx time"}"#, "it runs uvx time"),
            (r#"{"code":"folder","folder":"'/x y'"}"#, "it runs in the folder '/x y'"),
            (r#"{"code":"variable","variable":"A=b"}"#, "it runs with the variable A=b"),
            (r#"{"code":"address","address":"https://h/mcp"}"#, "it gets the agent's calls at https://h/mcp"),
            (r#"{"code":"header","header":"A: b"}"#, "it gets the header A: b"),
            (r#"{"code":"given","variable":"HOME","secret":false}"#, "it is given your variable HOME"),
            (
                r#"{"code":"given","variable":"TOKEN","secret":true}"#,
                "it is given your variable TOKEN, which looks like a secret",
            ),
            (
                r#"{"code":"rule","rule":{"ruling":"allow","tool":"mcp__it__x"}}"#,
                "the rule `allow mcp__it__x` lets calls of it run unasked",
            ),
        ];
        rows::check(&rows, mcp_approval);
    }
}
