//! MCP servers before a turn: a hanging one is waited for with a notice and only briefly, and its tools appear once it is
//! there.

use std::fs;
use std::time::Duration;

use futures::StreamExt;
use retake_core::{Mode, Part};
use retake_engine::{OfferedTool, Outcome, RunEvent, Start};
use retake_tools::{Sandbox, Sandboxed, ShellConfig};
use serde_json::json;

use super::{Desk, words};

/// The server of the tools' own tests.
const SERVER: &str = include_str!("../../../tools/tests/mcp/server.py");

impl Desk {
    /// A folder with servers, each a shell command line.
    async fn served(servers: &[(&str, &str)]) -> Self {
        let desk = Self::new(Mode::AllowAll).await;
        desk.serve(servers);
        desk
    }

    /// Adds servers to the user's file.
    fn serve(&self, servers: &[(&str, &str)]) {
        fs::write(self.dir.path().join("server.py"), SERVER).expect("written");
        let entry = |(name, line): &(&str, &str)| {
            ((*name).to_owned(), json!({"command": "sh", "args": ["-c", line]}))
        };
        let servers: serde_json::Map<_, _> = servers.iter().map(entry).collect();
        let file = json!({ "mcpServers": servers }).to_string();
        fs::write(self.dir.path().join("mcp.json"), file).expect("written");
    }

    /// The tools of servers in the last prompt.
    fn offered(&self) -> Vec<String> {
        let tools = self.script.asked().tools.into_iter().map(|tool| tool.name);
        tools.filter(|name| name.starts_with("mcp__")).collect()
    }
}

#[tokio::test]
async fn one_that_hangs_is_waited_for_with_a_word_and_its_tools_come_later() {
    let slow = "until [ -e go ]; do sleep 0.02; done; exec python3 ../server.py good";
    let desk = Desk::served(&[("slow", slow), ("quick", "exec python3 ../server.py good")]).await;
    let (ended, told) = desk.turn("one", vec![words("1")]).await;
    assert_eq!(ended.outcome, Outcome::Succeeded);
    // On a busy machine the quick one is not there at once either.
    let awaited = [r#"note: ServersAwaited(["slow"])"#, r#"note: ServersAwaited(["quick", "slow"])"#];
    assert!(told.first().is_some_and(|first| awaited.contains(&first.as_str())), "{told:?}");
    assert_eq!(told[1..], [r#"note: ServersLate(["slow"], 1.5s)"#]);
    assert_eq!(desk.offered(), ["mcp__quick__echo", "mcp__quick__look"]);
    let (_, told) = desk.turn("two", vec![words("2")]).await;
    assert!(told.is_empty(), "nobody waits twice: {told:?}");
    desk.write("go", "");
    let all = ["mcp__quick__echo", "mcp__quick__look", "mcp__slow__echo", "mcp__slow__look"];
    let there = async {
        let is_there = |tools: Vec<OfferedTool>| tools.iter().any(|tool| tool.name == all[3]);
        while !is_there(desk.engine.offered_tools(desk.id).await.expect("tools")) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), there).await.expect("it starts");
    let (_, told) = desk.turn("three", vec![words("3")]).await;
    assert_eq!((desk.offered(), told), (all.map(str::to_owned).to_vec(), Vec::new()));
}

#[tokio::test]
async fn one_that_cannot_be_used_is_reported_once() {
    let desk = Desk::served(&[("dead", "exit 3")]).await;
    let (_, told) = desk.turn("one", vec![words("1")]).await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].starts_with("note: ServerFailed(\"dead\"") && told[0].contains("exit code 3"),
        "{told:?}"
    );
    let (_, told) = desk.turn("two", vec![words("2")]).await;
    assert!(told.is_empty(), "{told:?}");
}

#[tokio::test]
async fn a_stop_while_they_are_waited_for_takes_the_turn_back() {
    let desk = Desk::served(&[("mute", "sleep 3600")]).await;
    let mut events = desk.run(Start::Say(vec![Part::text("one")], None)).await;
    assert!(matches!(events.next().await, Some(RunEvent::Started(..))));
    assert!(desk.engine.cancel(desk.id));
    let (ended, told) = desk.follow(events, &mut |_| None).await;
    assert_eq!((ended.outcome, told), (Outcome::RolledBack, Vec::new()));
    assert!(desk.shows().await.is_empty() && desk.script.times() <= 1);
}

#[tokio::test]
async fn what_is_wrong_with_a_file_of_servers_is_reported_once() {
    let desk = Desk::served(&[]).await;
    fs::write(desk.dir.path().join("mcp.json"), "{\n  oops\n}").expect("written");
    let (_, told) = desk.turn("one", vec![words("1")]).await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("note: ServerFile(") && told[0].contains("\"syntax\""), "{told:?}");
    let (_, told) = desk.turn("two", vec![words("2")]).await;
    assert!(told.is_empty(), "{told:?}");
}

#[tokio::test]
async fn server_that_could_not_be_held_starts_in_the_turn_after_its_folder_is_back() {
    let sandbox = Sandbox::bare();
    if sandbox.available(&[]) != Sandboxed::Full {
        return;
    }
    let desk =
        Desk::with(Mode::AllowAll, ShellConfig { sandbox: Some(sandbox), ..ShellConfig::default() }).await;
    desk.turn("one", vec![words("1")]).await;
    desk.serve(&[("it", "exec python3 ../server.py good")]);
    let (work, away) = (desk.dir.path().join("work"), desk.dir.path().join("away"));
    fs::rename(&work, &away).expect("moved");
    fs::create_dir(&work).expect("another folder");
    let is_refused =
        |line: &String| line.starts_with("note: ServerFailed(\"it\"") && line.contains("secrets");
    for turn in ["two", "three"] {
        let (_, told) = desk.turn(turn, vec![words("2")]).await;
        assert_eq!(
            told.iter().filter(|line| is_refused(line)).count(),
            usize::from(turn == "two"),
            "{told:?}"
        );
        assert!(desk.offered().is_empty());
    }
    fs::remove_dir(&work).expect("removed");
    fs::rename(&away, &work).expect("moved back");
    desk.turn("four", vec![words("4")]).await;
    assert_eq!(desk.offered(), ["mcp__it__echo", "mcp__it__look"]);
}
