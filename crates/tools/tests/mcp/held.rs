//! Started servers are confined like commands with network, unless the user's own file says otherwise.

use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use retake_tools::Sandbox;
use retake_tools::mcp::{Failure, FailureKind, State};
use serde_json::{Value, json};

use super::world::{World, failure, only};
use crate::hold::memory::{MEMORY, may_limit, uses};
use crate::hold::stand::{How, everywhere};
use crate::stage::{bare, supervisor, until};

const SOCKETS: &str = include_str!("../hold/sockets.py");

/// A server entry that does something before it begins.
fn server(world: &World, first: &str, more: Value) -> Value {
    let program = world.folder().with_file_name("server.py");
    let line = format!("{first}; exec python3 {} echo", program.display());
    let mut server = json!({ "command": "sh", "args": ["-c", line] });
    let fields = server.as_object_mut().expect("an object");
    fields.extend(more.as_object().expect("an object").clone());
    server
}

/// A folder with one confined server.
fn world(how: How, server: impl FnOnce(&World) -> Value) -> World {
    let mut world = World::new(&json!({}));
    let own = match how {
        How::Namespaces => supervisor(),
        How::WithoutNamespaces => supervisor().without_namespaces(),
    };
    let hide = vec![world.folder().with_file_name("data")];
    for name in ["data", "outside"] {
        std::fs::create_dir(world.folder().with_file_name(name)).expect("a folder");
    }
    world.sandbox = Some(Sandbox { hide, supervisor: Some(own), ..bare() });
    let servers = json!({ "mcpServers": { "it": server(&world) } });
    std::fs::write(world.user_file(), servers.to_string()).expect("written");
    world
}

fn has_written(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()).collect()
}

#[tokio::test]
async fn trial_20_a_server_reaches_no_socket_and_writes_in_the_workspace_only() {
    let test = "mcp::held::trial_20_a_server_reaches_no_socket_and_writes_in_the_workspace_only";
    everywhere(test, async |how| {
        let first = "python3 ../attack.py ../data/socket $PWD/../data/socket > report 2>&1; cat ../data/key >> report; \
                     echo x > ../outside/by-a-shell; kill -0 \"$OWNER\" 2>/dev/null && echo DID signal >> report; \
                     echo end >> report";
        let world = world(how, |world| {
            let owner = std::process::id().to_string();
            server(world, first, json!({ "env": { "OWNER": owner } }))
        });
        let beside = |name: &str| world.folder().with_file_name(name);
        std::fs::write(beside("attack.py"), SOCKETS).expect("a file");
        std::fs::write(beside("data/key"), "DID read").expect("a file");
        let _owner = UnixListener::bind(beside("data/socket")).expect("a socket");
        let servers = world.connect().await;
        assert_eq!(only(&servers).state, State::Ready, "{how:?}: {:?}", only(&servers));
        let report = world.file("report").await;
        assert!(report.contains("TRIED") && report.ends_with("end\n") && !report.contains("DID"), "{how:?}: {report}");
        assert_eq!(has_written(&beside("outside")), Vec::<PathBuf>::new(), "{how:?}");
        drop(servers);
    })
    .await;
}

#[tokio::test]
async fn trial_20_the_user_s_file_opens_the_sandbox_of_a_server_and_a_project_s_does_not() {
    let test = "mcp::held::trial_20_the_user_s_file_opens_the_sandbox_of_a_server_and_a_project_s_does_not";
    everywhere(test, async |how| {
        for (more, writes) in [
            (json!({}), false),
            (json!({ "confined": true, "write": [] }), false),
            (json!({ "confined": false }), true),
            (json!({ "write": ["${HERE}/outside"], "env": {} }), true),
        ] {
            let world = world(how, |world| {
                let here = world.folder().parent().expect("a folder").to_string_lossy().into_owned();
                let more: Value =
                    serde_json::from_str(&more.to_string().replace("${HERE}", &here)).expect("JSON");
                server(world, "echo x > ../outside/new", more)
            });
            let servers = world.connect().await;
            assert_eq!(only(&servers).state, State::Ready, "{how:?}: {more}");
            let outside = world.folder().with_file_name("outside");
            assert_eq!(has_written(&outside).len(), usize::from(writes), "{how:?}: {more}");
            drop(servers);
            std::fs::write(world.user_file(), "{}").expect("a file");
            let project = json!({ "mcpServers": { "it": server(&world, "true", more.clone()) } });
            std::fs::write(world.folder().join(".mcp.json"), project.to_string()).expect("a file");
            let problems = world.config().problems;
            assert_eq!(problems.len(), usize::from(writes), "{more}: {problems:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn trial_26_no_process_of_a_server_is_left_when_it_ends() {
    let test = "mcp::held::trial_26_no_process_of_a_server_is_left_when_it_ends";
    everywhere(test, async |how| {
        let number = format!("7{:07}{}", std::process::id(), u8::from(how == How::Namespaces));
        let first = format!("env -i setsid sleep {number} < /dev/null > /dev/null 2>&1 &");
        let sleeps = || {
            let line = format!("sleep\0{number}\0").into_bytes();
            let is_it = |entry: std::fs::DirEntry| {
                std::fs::read(entry.path().join("cmdline")).is_ok_and(|found| found == line)
            };
            std::fs::read_dir("/proc").expect("processes").flatten().any(is_it)
        };
        let world = world(how, |world| server(world, &format!("{first} true"), json!({})));
        let servers = world.connect().await;
        assert_eq!(only(&servers).state, State::Ready, "{how:?}");
        until("it sleeps", async || sleeps()).await;
        drop(servers);
        until("it is gone", async || !sleeps()).await;
    })
    .await;
}

#[tokio::test]
async fn trial_20_the_error_of_a_server_that_fails_in_its_sandbox_says_how_to_open_the_sandbox() {
    let test =
        "mcp::held::trial_20_the_error_of_a_server_that_fails_in_its_sandbox_says_how_to_open_the_sandbox";
    everywhere(test, async |how| {
        let world = world(how, |world| server(world, "mkdir ../outside/cache || exit 3", json!({})));
        let servers = world.connect().await;
        let why = failure(&servers);
        assert!(why.contains("exit code 3") && why.contains("“confined”: false"), "{how:?}: {why}");
        drop(servers);
    })
    .await;
}

/// The linker complains once for each program started with a missing library: only the server.
#[tokio::test]
async fn trial_20_variables_of_an_entry_take_no_effect_outside_of_its_sandbox() {
    let test = "mcp::held::trial_20_variables_of_an_entry_take_no_effect_outside_of_its_sandbox";
    everywhere(test, async |how| {
        let env = json!({ "LD_PRELOAD": "/not/there.so" });
        let world = world(how, |_| json!({ "command": "sh", "args": ["-c", "exit 3"], "env": env }));
        let servers = world.connect().await;
        let why = failure(&servers);
        // The value of a variable is not shown.
        assert_eq!(why.matches("cannot be preloaded").count(), 1, "{how:?}: {why}");
        drop(servers);
    })
    .await;
}

#[tokio::test]
async fn trial_26_a_server_gets_no_more_memory_and_writes_no_larger_files_than_a_command() {
    let test = "mcp::held::trial_26_a_server_gets_no_more_memory_and_writes_no_larger_files_than_a_command";
    everywhere(test, async |how| {
        let first = format!(
            "python3 -c 'import resource; print(resource.getrlimit(resource.RLIMIT_FSIZE)[0])' > size; {} > used; echo $? >> used",
            uses(400)
        );
        let mut world = world(how, |world| server(world, &first, json!({})));
        (world.memory, world.file_size) = (MEMORY, 1 << 30);
        let servers = world.connect().await;
        assert_eq!(world.file("size").await, "1073741824\n", "{how:?}");
        // All of its processes end, or the one that used too much.
        let used = std::fs::read_to_string(world.folder().join("used")).expect("written");
        assert!(!may_limit() || !used.contains("400000000"), "{how:?}: {used}");
        if let State::Failed(why) = only(&servers).state {
            assert!(why.why.contains("permissions.memory_mb"), "{how:?}: {why}");
        }
    })
    .await;
}

#[tokio::test]
async fn trial_23_a_server_reads_no_key_files_of_the_workspace_in_namespaces() {
    let test = "mcp::held::trial_23_a_server_reads_no_key_files_of_the_workspace_in_namespaces";
    everywhere(test, async |how| {
        let mut world =
            world(how, |world| server(world, "cat key.pem > report; echo end >> report", json!({})));
        let key = world.folder().join("key.pem");
        std::fs::write(&key, "DID read\n").expect("a file");
        world.hide = vec![key];
        let servers = world.connect().await;
        assert_eq!(only(&servers).state, State::Ready, "{how:?}: {:?}", only(&servers));
        let report = world.file("report").await;
        assert_eq!(report == "end\n", how == How::Namespaces, "{how:?}: {report}");
    })
    .await;
}

#[tokio::test]
async fn server_that_is_held_does_not_start_where_what_it_must_not_read_is_not_known() {
    let test = "mcp::held::server_that_is_held_does_not_start_where_what_it_must_not_read_is_not_known";
    everywhere(test, async |how| {
        let mut world = world(how, |world| server(world, "echo 1 > started", json!({})));
        let why = "the secret files cannot be listed".to_owned();
        world.refused = Some(Failure { kind: FailureKind::NotStarted, why: why.clone() });
        let servers = world.connect().await;
        assert_eq!((failure(&servers), world.folder().join("started").exists()), (why, false), "{how:?}");
        assert!(servers.are_refused() && servers.are_of(&world.config(), &world.allowed()), "{how:?}");
    })
    .await;
}
