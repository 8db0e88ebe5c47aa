//! `retake mcp` with a real process.

use super::harness::{World, outside, until};

/// The server of the tools' own tests.
const SERVER: &str = include_str!("../../../tools/tests/mcp/server.py");

#[test]
fn a_server_is_added_listed_and_removed_and_ends_with_the_program() {
    let world = World::working(&[
        ("server.py", SERVER),
        (".mcp.json", r#"{"mcpServers": {"theirs": {"command": "x"}}}"#),
    ]);
    let wrote = world.does(&["mcp", "add", "it", "--env", "A=${HOME}", "--", "python3", "server.py", "good"]);
    assert!(wrote.contains(&world.home().join("mcp.json").display().to_string()), "{wrote}");
    let list = world.json(&["mcp", "list"]);
    let states: Vec<_> = list["servers"].as_array().expect("servers").iter().map(|it| &it["state"]).collect();
    assert_eq!(states, ["ready", "needs_approval"]);
    assert_eq!(list["servers"][0]["tools"], 2);
    let tools = world.does(&["mcp", "tools", "it"]);
    assert!(tools.contains("mcp__it__echo") && tools.contains("mcp__it__look"), "{tools}");
    let pid = world.read("pid").expect("it was started");
    until("the server has ended", || outside(&pid, world.home()).is_none());
    world.does(&["mcp", "allow", "theirs", "--yes"]);
    assert_eq!(world.json(&["mcp", "list"])["servers"][1]["state"], "failed", "there is no such command");
    world.does(&["mcp", "remove", "it"]);
    assert_eq!(world.run(&["mcp", "tools", "it"]).status.code(), Some(3));
}
