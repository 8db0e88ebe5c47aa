//! Servers that die, hang, lie or flood: the person gets an error, and nothing hangs or grows.

use std::sync::Arc;
use std::time::Duration;

use retake_core::mcp::{LeftOut, Note};
use retake_core::{CallTarget, EffectClass, ToolOutcome};
use retake_tools::mcp::{Failure, FailureKind, ServerNotice, State};
use serde_json::json;

use super::world::{Caller, World, ask, ask_as, fails, failure, gone, only, said, tool};

const SHORT: Duration = Duration::from_millis(1_500);

#[tokio::test]
async fn a_server_that_ends_at_once_is_reported_with_its_last_output() {
    let servers = World::with("dies").connect().await;
    assert_eq!(failure(&servers), "its process ended (exit code 3); the last it said:\nno[2J licence\nbye");
    assert!(servers.tools().is_empty());
    let missing = World::new(&json!({"it": {"command": "no-such-command-of-retake"}}));
    let why = failure(&missing.connect().await);
    assert!(why.starts_with("its command `no-such-command-of-retake` can't be started: "), "{why}");
}

#[tokio::test]
async fn a_server_that_dies_after_its_handshake_is_reported() {
    let servers = World::with("dies-after-hello").connect().await;
    let why = failure(&servers);
    assert!(why.contains("its process ended (exit code 1)") && why.ends_with("gone"), "{why}");
}

#[tokio::test]
async fn a_silent_server_fails_at_its_time_limit_and_other_servers_work() {
    let mut world = World::with("mute");
    world.start_limit = SHORT;
    let (mute, good) = (world.server("mute"), world.server("good"));
    std::fs::write(world.user_file(), json!({"mcpServers": {"a": mute, "b": good}}).to_string())
        .expect("written");
    let servers = world.connect().await;
    let states: Vec<_> = servers.shown().into_iter().map(|server| server.state).collect();
    let silent = Failure {
        kind: FailureKind::Silent,
        why: "it did not answer the first request (`initialize`) within 1 s".to_owned(),
    };
    assert_eq!(states, [State::Failed(silent), State::Ready]);
    assert_eq!(said(&servers, "mcp__b__echo", json!({"x": 1})).await, r#"{"x": 1}"#);
}

#[tokio::test]
async fn missing_and_invalid_lists_of_tools_are_reported() {
    let rows = [
        ("liar", "it answered a request that was not sent"),
        ("no-list", "its list of tools is not valid"),
        ("deaf", "it did not list its tools within 1 s"),
    ];
    for (what, expected) in rows {
        let mut world = World::with(what);
        world.start_limit = SHORT;
        assert_eq!(failure(&world.connect().await), expected);
    }
    let endless = failure(&World::with("endless").connect().await);
    assert_eq!(endless, "it sent a message of more than 16 MB");
    let pages = World::with("pages").connect().await;
    assert_eq!((only(&pages).state, only(&pages).tools.len()), (State::Ready, 0));
}

#[tokio::test]
async fn garbage_between_messages_is_ignored() {
    let servers = World::with("garbage").connect().await;
    assert_eq!(said(&servers, "mcp__it__echo", json!({"a": "ö"})).await, r#"{"a": "\u00f6"}"#);
}

#[tokio::test]
async fn a_flood_of_errors_stops_nothing() {
    let servers = World::with("flood").connect().await;
    assert_eq!(said(&servers, "mcp__it__echo", json!({})).await, "{}");
}

#[tokio::test]
async fn a_list_of_tools_is_bounded_and_invalid_tools_are_left_out() {
    let servers = World::with("many").connect().await;
    let it = only(&servers);
    assert_eq!((it.tools.len(), it.notes.len()), (128, 1), "{:?}", it.notes);
    assert_eq!(it.tools[0].name, "mcp__it__tool000000");
    let servers = World::with("bad-tools").connect().await;
    let it = only(&servers);
    let names: Vec<_> = it.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["mcp__it__good", "mcp__it__two_words"]);
    assert_eq!(it.notes.len(), 4, "{:?}", it.notes);
    let first = ServerNotice::Note(Note::ToolLeftOut("none".to_owned(), LeftOut::NoSchema));
    assert_eq!(servers.news()[0], ("it".to_owned(), first));
    assert_eq!(servers.news(), [], "news is told once");
    assert_eq!(said(&servers, "mcp__it__two_words", json!({})).await, "{}");
}

#[tokio::test]
async fn a_server_that_dies_during_a_call_is_reported_and_the_next_call_starts_it_again() {
    let world = World::with("mortal");
    let servers = world.connect().await;
    said(&servers, "mcp__it__echo", json!({})).await;
    let why = fails(&servers, "mcp__it__echo", json!({})).await;
    let expected = "the call of the MCP server “it” failed: its process ended (exit code 9); the last it said:\n\
                    cannot go on\nThe next call starts it again.";
    assert_eq!(why, expected);
    assert_eq!(said(&servers, "mcp__it__echo", json!({"again": true})).await, r#"{"again": true}"#);
    assert_eq!(world.file("starts").await, "2");
}

#[tokio::test]
async fn a_server_that_closes_its_pipe_during_a_call_is_started_again_and_leaves_no_process() {
    let world = World::with("closes");
    let servers = world.connect().await;
    let first = world.file("pid").await;
    let why = fails(&servers, "mcp__it__echo", json!({})).await;
    assert!(why.contains("it closed the connection"), "{why}");
    let why = fails(&servers, "mcp__it__echo", json!({})).await;
    assert!(why.contains("it closed the connection"), "{why}");
    gone(&first).await;
    assert_eq!(world.file("starts").await, "2", "each call starts it once at most");
}

#[tokio::test]
async fn a_hanging_call_ends_at_its_time_limit_or_when_stopped_and_is_cancelled() {
    for (what, limit) in [("sleeper", SHORT), ("wrong-ids", SHORT), ("sleeper", Duration::from_secs(60))] {
        let mut world = World::with(what);
        world.call_limit = limit;
        let servers = world.connect().await;
        let host = Arc::new(Caller::default());
        let call = ask_as(&host, &servers, "mcp__it__echo", json!({}));
        let stop = async {
            if limit != SHORT {
                assert_eq!(world.file("log.txt").await, "called\n");
                host.stop.notify_one();
            }
        };
        let (output, ()) = tokio::join!(call, stop);
        let how = if limit == SHORT { "not answered within 1 s" } else { "stopped by the person" };
        assert_eq!(output.outcome, ToolOutcome::Failed);
        let expected =
            format!("the call of the MCP server “it” was {how}; what it did until then is not known");
        assert_eq!(output.content, expected);
        if what == "sleeper" {
            let log = async {
                while !world.file("log.txt").await.contains("cancelled") {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            };
            tokio::time::timeout(Duration::from_secs(20), log).await.expect("it is told that nobody waits");
        }
    }
}

#[tokio::test]
async fn gigantic_answers_are_cut_or_end_the_connection() {
    let servers = World::with("giant").connect().await;
    let answer = said(&servers, "mcp__it__echo", json!({})).await;
    assert!(answer.len() < 34 << 10, "{} bytes", answer.len());
    assert!(answer.starts_with("begin ä") && answer.ends_with("ä end"));
    assert!(answer.contains("bytes are left out here; the whole is in /"));
    let servers = World::with("too-giant").connect().await;
    let why = fails(&servers, "mcp__it__echo", json!({})).await;
    assert!(why.contains("it sent a message of more than 16 MB"), "{why}");
    let servers = World::with("pings").connect().await;
    let why = fails(&servers, "mcp__it__echo", json!({})).await;
    assert!(why.contains("it sent thousands of messages and read none"), "{why}");
}

#[tokio::test]
async fn a_partly_invalid_answer_is_read_as_far_as_possible() {
    let odd = said(&World::with("odd").connect().await, "mcp__it__echo", json!({})).await;
    assert_eq!(odd, "[content of the kind “hologram”, which is not supported]\nand words");
    let nothing = fails(&World::with("nothing").connect().await, "mcp__it__echo", json!({})).await;
    assert_eq!(nothing, "the MCP server “it” answered with something that is not a tool result");
    let shape = said(&World::with("shape").connect().await, "mcp__it__echo", json!({})).await;
    assert_eq!(shape, "{\n  \"degrees\": 21\n}");
    assert_eq!(
        fails(&World::with("fails").connect().await, "mcp__it__echo", json!({})).await,
        "it is broken"
    );
    let refused = fails(&World::with("refuses").connect().await, "mcp__it__echo", json!({})).await;
    assert_eq!(refused, "the call of the MCP server “it” failed: no[31m such thing");
}

#[tokio::test]
async fn pictures_and_files_are_attached_and_resources_are_named() {
    let output = ask(&World::with("pictures").connect().await, "mcp__it__echo", json!({})).await;
    let attached: Vec<_> =
        output.attached.iter().map(|one| (&*one.name, &*one.media_type, one.bytes.len())).collect();
    assert_eq!(attached, [("it-1.png", "image/png", 8), ("file:///b.bin", "application/octet-stream", 3)]);
    let expected = "[it-2.bin: left out, its bytes can't be read]\n[resource: file:///a.txt]\ninside\n\
                    [resource: c, file:///c.txt, see there]";
    assert_eq!(output.content, expected);
}

#[tokio::test]
async fn changed_tools_are_listed_again_before_the_next_turn() {
    let servers = World::with("changes").connect().await;
    let names = || servers.tools().iter().map(|tool| tool.name().to_owned()).collect::<Vec<_>>();
    let before = ["mcp__it__echo", "mcp__it__look"];
    servers.refresh().await;
    assert_eq!(names(), before);
    said(&servers, "mcp__it__echo", json!({})).await;
    assert_eq!(names(), before, "a turn has the tools that it began with");
    let anew = async {
        while names() == before {
            servers.refresh().await;
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), anew).await.expect("they are listed anew");
    assert_eq!(names(), ["mcp__it__added", "mcp__it__echo"]);
}

#[tokio::test]
async fn hints_of_a_server_never_replace_an_approval() {
    let servers = World::with("good").connect().await;
    let rows = [("mcp__it__echo", EffectClass::External), ("mcp__it__look", EffectClass::Workspace)];
    for (name, class) in rows {
        let tool = tool(&servers, name);
        let folder = std::path::Path::new("/");
        let intent = tool.intent(&json!({"a": "b\x1b[2J"}), folder, &[]).expect("an intent");
        assert_eq!((tool.class(), tool.is_parallel(), tool.needs_folder()), (class, false, true));
        assert_eq!((intent.class, intent.touches), (class, vec![CallTarget::Other]), "a person is asked");
        assert!(intent.line.starts_with("it: ") && !intent.line.contains('\x1b'), "{}", intent.line);
        assert!(tool.intent(&json!([1]), folder, &[]).is_err());
    }
}

#[tokio::test]
async fn processes_end_with_their_servers() {
    let world = World::with("family");
    let servers = world.connect().await;
    let (own, child) = (world.file("pid").await, world.file("child").await);
    drop(servers);
    gone(&own).await;
    gone(&child).await;
    let world = World::with("stubborn");
    let servers = world.connect().await;
    servers.shutdown().await;
    gone(&world.file("pid").await).await;
}
