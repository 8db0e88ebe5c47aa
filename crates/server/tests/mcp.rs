//! Requests about MCP servers: an added server is listed, errors are reported, and a project starts nothing without
//! approval.

use retake_wire::{
    McpAdd, McpAllow, McpOf, McpOrigin, McpRemove, McpServers, McpState, McpWay, ProblemKind, Request,
};

use super::world::{Desk, get};

/// A command that is no server.
pub(super) fn none() -> McpWay {
    McpWay::Command { command: "false".into(), args: Vec::new(), env: Default::default() }
}

/// The servers of a folder without a project.
pub(super) fn of_servers() -> McpOf {
    McpOf { folder: "/".into(), server: None }
}

/// A folder whose project names a server.
pub(super) fn project(desk: &Desk) -> String {
    let folder = desk.file("project");
    std::fs::create_dir(&folder).expect("made");
    let text = r#"{"mcpServers": {"theirs": {"command": "false", "args": ["--now"]}}}"#;
    std::fs::write(folder.join(".mcp.json"), text).expect("written");
    folder.to_str().expect("a name in UTF-8").to_owned()
}

async fn list(desk: &Desk, folder: &str) -> McpServers {
    get!(desk, McpServers, Request::McpList(McpOf { folder: folder.into(), server: None }))
}

#[tokio::test]
async fn added_mcp_server_is_listed_until_it_is_removed() {
    let desk = Desk::new().await;
    assert_eq!(list(&desk, "/").await, McpServers::default());
    let add = Request::McpAdd(McpAdd { name: "it".into(), way: none() });
    let written = get!(desk, Written, add.clone());
    assert_eq!(written.path, desk.file("mcp.json").display().to_string());
    let shown = list(&desk, "/").await.servers;
    assert_eq!((shown.len(), &*shown[0].name, shown[0].state), (1, "it", McpState::Failed));
    let problem = shown[0].problem.as_ref().expect("it says why");
    assert_eq!(problem.fields["what"], "closed", "{problem:?}");
    assert_eq!(problem.message.lines().next(), Some("its process ended (exit code 1)"));
    assert_eq!(shown[0].why.as_ref(), Some(&problem.message));
    assert_eq!(desk.refused(add).await.kind, ProblemKind::Refused);
    get!(desk, Written, Request::McpRemove(McpRemove { name: "it".into() }));
    assert_eq!(list(&desk, "/").await, McpServers::default());
    let again = desk.refused(Request::McpRemove(McpRemove { name: "it".into() })).await;
    assert_eq!((again.kind, again.hint.is_some()), (ProblemKind::NotFound, true));
}

#[tokio::test]
async fn mcp_server_of_a_project_waits_for_an_approval() {
    let desk = Desk::new().await;
    let folder = project(&desk);
    let waiting = list(&desk, &folder).await.servers.remove(0);
    assert_eq!((waiting.state, waiting.origin), (McpState::NeedsApproval, McpOrigin::Project));
    assert_eq!(waiting.way, "false --now");
    assert_eq!(waiting.asked, ["it runs false --now"]);
    let allow =
        |name: &str| Request::McpAllow(McpAllow { folder: folder.clone(), name: name.into(), entry: None });
    assert_eq!(desk.refused(allow("other")).await.kind, ProblemKind::NotFound);
    let seen = |entry: &str| {
        let (folder, name) = (folder.clone(), "theirs".into());
        Request::McpAllow(McpAllow { folder, name, entry: Some(entry.into()) })
    };
    let text = r#"{"mcpServers": {"theirs": {"command": "false", "args": ["--now"], "env": {"LD_PRELOAD": "./x"}}}}"#;
    std::fs::write(desk.file("project/.mcp.json"), text).expect("written");
    let stale = desk.refused(seen(&waiting.entry)).await;
    assert_eq!(stale.kind, ProblemKind::Refused, "the entry is not the one that was seen");
    let changed = list(&desk, &folder).await.servers.remove(0);
    assert_eq!(changed.asked, ["it runs false --now", "it runs with the variable LD_PRELOAD=./x"]);
    let written = get!(desk, Written, seen(&changed.entry));
    assert_eq!(written.path, desk.file("mcp-allowed.json").display().to_string());
    assert_eq!(list(&desk, &folder).await.servers[0].state, McpState::Failed, "it was started");
    get!(desk, Written, Request::McpAdd(McpAdd { name: "theirs".into(), way: none() }));
    assert_eq!(desk.refused(allow("theirs")).await.kind, ProblemKind::Refused, "it is the user's own now");
}

#[tokio::test]
async fn invalid_mcp_file_is_reported_and_not_written() {
    let desk = Desk::new().await;
    std::fs::write(desk.file("mcp.json"), "{\n\"mcpServers\": {\n\"a\": 1}}").expect("written");
    let shown = list(&desk, "/").await;
    let [problem] = &shown.file_problems[..] else { panic!("one problem: {shown:?}") };
    let field = |name: &str| problem.fields[name].clone();
    assert_eq!(
        (field("what"), field("line"), field("key")),
        ("wrong_value".into(), 3.into(), "mcpServers.a".into())
    );
    let [problem] = &shown.problems[..] else { panic!("one problem: {shown:?}") };
    assert!(problem.contains("mcp.json, line 3: `mcpServers.a`: takes an object"), "{problem}");
    std::fs::write(desk.file("mcp.json"), "{").expect("written");
    let refused = desk.refused(Request::McpAdd(McpAdd { name: "it".into(), way: none() })).await;
    assert_eq!((refused.kind, &*refused.code), (ProblemKind::Usage, "mcp"));
    assert_eq!(std::fs::read_to_string(desk.file("mcp.json")).expect("read"), "{");
    let nameless = Request::McpTools(McpOf { folder: "/".into(), server: Some("b".into()) });
    assert_eq!(desk.refused(nameless).await.kind, ProblemKind::NotFound);
    let relative = Request::McpList(McpOf { folder: "x".into(), server: None });
    assert_eq!(desk.refused(relative).await.kind, ProblemKind::Usage);
}
