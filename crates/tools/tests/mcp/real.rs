//! A server by others: the reference server for times, from the Python package index, in a folder of its own.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use retake_tools::mcp::State;
use serde_json::{Value, json};

use super::world::{World, fails, only, said, tool};

/// The same version as `cargo xtask test` installs.
const PACKAGE: &str = "mcp-server-time==2026.10.19";

/// The program, installed if necessary. Tests in several processes take turns for that.
fn program() -> PathBuf {
    let commands = match std::env::var_os("RETAKE_TEST_TOOLS") {
        Some(commands) => PathBuf::from(commands),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/bin"),
    };
    let root = commands.parent().expect("a folder above").join("mcp-server-time");
    let program = root.join("bin/mcp-server-time");
    if program.is_file() {
        return program;
    }
    fs::create_dir_all(&commands).expect("a folder for tools");
    let lock = File::create(root.with_extension("lock")).expect("a lock file");
    lock.lock().expect("the lock");
    if !program.is_file() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&root));
        run(Command::new(root.join("bin/pip")).args(["install", "--quiet", PACKAGE]));
    }
    program
}

fn run(command: &mut Command) {
    let done = command.output().expect("python3 with venv is there");
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "cannot install {PACKAGE}, which the tests talk to: {errors}");
}

#[tokio::test]
async fn the_reference_server_for_times_is_called() {
    let world = World::new(&json!({"time": {"command": program(), "args": ["--local-timezone", "UTC"]}}));
    let servers = world.connect().await;
    let it = only(&servers);
    assert_eq!((it.state, it.notes), (State::Ready, Vec::new()));
    let names: Vec<_> = it.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["mcp__time__convert_time", "mcp__time__get_current_time"]);
    let convert = tool(&servers, names[0]);
    assert_eq!(convert.schema()["properties"]["time"]["type"], "string");
    assert!(convert.about().contains("Convert time"), "{}", convert.about());
    let noon = json!({"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"});
    let answer: Value = serde_json::from_str(&said(&servers, names[0], noon).await).expect("JSON");
    assert_eq!(answer["time_difference"], "+9.0h");
    let why = fails(&servers, names[1], json!({"timezone": "Nowhere/None"})).await;
    assert!(why.contains("Invalid timezone"), "{why}");
    servers.shutdown().await;
}
