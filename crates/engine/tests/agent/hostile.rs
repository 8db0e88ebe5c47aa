//! Tools at their worst: each call ends with a result for the model, and the turn continues.

use std::time::Duration;

use futures::StreamExt;
use retake_core::{Mode, Part};
use retake_engine::model::Chunk;
use retake_engine::{Ended, Outcome, RunEvent};
use serde_json::{Value, json};

use super::{Desk, ModelOutput, calls, words};

/// The most bytes stored of a result.
const MOST: usize = 300 << 10;

/// The small server of the tools' own tests.
const SERVER: &str = include_str!("../../../tools/tests/mcp/server.py");

fn shell(command: &str) -> Vec<ModelOutput> {
    calls(&[("shell", json!({"command": command}))])
}

/// A call with these arguments as text.
fn raw(name: &str, arguments: &str) -> ModelOutput {
    let (id, arguments) = (format!("call_{arguments}"), arguments.to_owned());
    Ok(Chunk::Part(Part::ToolCall { id, name: name.to_owned(), arguments }))
}

impl Desk {
    /// A turn in which the model makes this call once; returns its result.
    async fn hears(&self, call: Vec<ModelOutput>) -> String {
        let (ended, told) = self.turn("try", vec![call, words("I see")]).await;
        assert_eq!(ended.outcome, Outcome::Succeeded, "{told:?}");
        self.results().pop().expect("a result")
    }

    /// The results in the last prompt.
    fn results(&self) -> Vec<String> {
        let parts = self.script.asked().messages.into_iter().flat_map(|message| message.parts);
        let result = |part: Part| match part {
            Part::ToolResult { content, .. } => Some(content),
            _ => None,
        };
        parts.filter_map(result).collect()
    }

    /// Checks that the conversation is as usable as before.
    async fn is_well(&self) {
        self.write("well.txt", "well\n");
        let heard = self.hears(calls(&[("read", json!({"path": "well.txt"}))])).await;
        assert!(heard.contains("well"), "{heard}");
    }
}

#[tokio::test]
async fn arguments_that_are_none_are_reported() {
    let desk = Desk::new(Mode::AllowAll).await;
    let nested = "[".repeat(100_000);
    for arguments in
        ["{\"path\": ", "[]", "null", "7", "\u{0}", "{\"path\": 1}", "{\"other\": \"x\"}", &nested]
    {
        let answer = vec![raw("write", arguments), Ok(Chunk::End(retake_engine::model::EndReason::ToolUse))];
        let heard = desk.hears(answer).await;
        assert!(heard.starts_with("not run: ") && heard.len() < 1000, "{arguments:.20}: {heard}");
    }
    desk.is_well().await;
}

#[tokio::test]
async fn a_path_outside_of_the_workspace_is_not_written() {
    let desk = Desk::new(Mode::AllowEdits).await;
    std::os::unix::fs::symlink(desk.dir.path(), desk.path("out")).expect("a link");
    let outside = desk.dir.path().join("evil.txt");
    for path in ["../evil.txt", "out/evil.txt", outside.to_str().expect("UTF-8"), "a/../../evil.txt"] {
        desk.script.then(calls(&[("write", json!({"path": path, "content": "x"}))]));
        desk.script.then(words("then not"));
        let events = desk.say("write it").await;
        let mut asked = 0;
        let (ended, told) = desk
            .follow(events, &mut |_| {
                asked += 1;
                Some(retake_engine::Decision::Deny(None))
            })
            .await;
        assert_eq!(ended.outcome, Outcome::Succeeded, "{told:?}");
        assert!(!outside.exists(), "{path}: {told:?}");
        let heard = desk.results().pop().expect("a result");
        assert!(heard.starts_with("not run: "), "{path}, asked {asked} times: {heard}");
    }
    desk.is_well().await;
}

#[tokio::test]
async fn gigabytes_of_output_are_a_short_result() {
    let desk = Desk::new(Mode::AllowAll).await;
    let heard = desk.hears(shell("yes 0123456789 | head -c 3000000000; echo; echo the end")).await;
    assert!(heard.len() < MOST && heard.contains("the end"), "{heard:.999}");
    desk.is_well().await;
}

#[tokio::test]
async fn terminal_control_sequences_are_removed_from_results() {
    let desk = Desk::new(Mode::AllowAll).await;
    let heard = desk.hears(shell("printf '\\033[2J\\033]0;mine\\007\\r\\b\\377\\376done'")).await;
    assert!(heard.contains("done") && !heard.contains(['\u{1b}', '\u{7}', '\u{8}']), "{heard:?}");
    desk.is_well().await;
}

#[tokio::test]
async fn a_fork_bomb_ends() {
    let desk = Desk::new(Mode::AllowAll).await;
    // It stops by itself at a number that the machine can handle, if nothing else stops it.
    let bomb = "f() { if [ $1 -gt 0 ]; then f $(($1 - 1)) & f $(($1 - 1)) & fi; sleep 100; }; f 9";
    let heard = desk.hears(shell(bomb)).await;
    assert!(heard.contains("processes"), "{heard}");
    desk.is_well().await;
}

#[tokio::test]
async fn a_command_that_never_ends_ends_with_its_turn() {
    let desk = Desk::new(Mode::AllowAll).await;
    desk.script.then(shell("trap '' TERM INT; echo $$ > pid; while :; do sleep 0.05; done"));
    let events = desk.say("for ever").await;
    while desk.read("pid").is_none_or(|pid| !pid.ends_with('\n')) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(desk.engine.cancel(desk.id));
    let (ended, told) = desk.follow(events, &mut |_| None).await;
    assert_eq!(ended.outcome, Outcome::Interrupted, "{told:?}");
    let pid = desk.read("pid").expect("it was started");
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "it is still there: {stat}");
    assert_eq!(desk.shows().await, ["for ever", "calls shell", "failed"]);
    desk.is_well().await;
}

/// A turn with a server that behaves like this, and two calls of it.
async fn with_server(what: &str) -> (Desk, Ended, Vec<String>) {
    let desk = Desk::new(Mode::AllowAll).await;
    let file = desk.dir.path().join("server.py");
    std::fs::write(&file, SERVER).expect("written");
    let servers: Value = json!({"mcpServers": {"it": {"command": "python3", "args": [file, what]}}});
    std::fs::write(desk.dir.path().join("mcp.json"), servers.to_string()).expect("written");
    let call = || calls(&[("mcp__it__echo", json!({"a": 1}))]);
    let (ended, told) = desk.turn("call it", vec![call(), call(), words("a pity")]).await;
    (desk, ended, told)
}

#[tokio::test]
async fn an_mcp_server_that_dies_or_lies_fails_its_call_only() {
    for what in ["mortal", "too-giant", "fails", "refuses"] {
        let (desk, ended, told) = with_server(what).await;
        assert_eq!(ended.outcome, Outcome::Succeeded, "{what}: {told:?}");
        assert!(told.iter().any(|line| line.contains("failed: ")), "{what}: {told:?}");
        let heard = desk.results();
        assert!(heard.len() == 2 && heard.iter().all(|it| it.len() < MOST), "{what}: {told:?}");
        assert!(heard.iter().all(|it| !it.contains('\u{1b}')), "{what}: {heard:?}");
        desk.is_well().await;
    }
}

#[tokio::test]
async fn an_mcp_server_that_hangs_is_left_when_the_turn_is_stopped() {
    let desk = Desk::new(Mode::AllowAll).await;
    let file = desk.dir.path().join("server.py");
    std::fs::write(&file, SERVER).expect("written");
    let servers: Value = json!({"mcpServers": {"it": {"command": "python3", "args": [file, "sleeper"]}}});
    std::fs::write(desk.dir.path().join("mcp.json"), servers.to_string()).expect("written");
    desk.script.then(calls(&[("mcp__it__echo", json!({}))]));
    let mut events = desk.say("call it").await;
    while !matches!(events.next().await.expect("goes on"), RunEvent::Calling(_)) {}
    while desk.read("log.txt").is_none_or(|log| !log.contains("called")) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(desk.engine.cancel(desk.id));
    let (ended, told) = desk.follow(events, &mut |_| None).await;
    assert_eq!(ended.outcome, Outcome::Interrupted, "{told:?}");
    desk.is_well().await;
}
