//! Protection of the owner and its data from others, including commands of the agent: the token, and modes of files.

use std::fs::{self, Permissions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::harness::{World, error, manifest};
use super::model::{Model, call, words};
use super::owned::Serving;

/// Sends a raw request to the owner's socket; returns status and body of the reply.
fn asks(world: &World, request: &str, headers: &str) -> (u16, String) {
    let mut stream = UnixStream::connect(world.data().join("owner.sock")).expect("connected");
    let body = match request {
        "POST /v1/clients" => r#"{"version":"1"}"#,
        "POST /v1/clients/leave" => r#"{"client":0}"#,
        request if request.starts_with("POST") => "{}",
        _ => "",
    };
    let length = body.len();
    let text = format!(
        "{request} HTTP/1.1\r\nHost: owner\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n{headers}\r\n{body}"
    );
    stream.write_all(text.as_bytes()).expect("sent");
    let mut told = String::new();
    stream.read_to_string(&mut told).expect("an answer");
    let (head, body) = told.split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.expect("a status"), body.to_owned())
}

fn token_file(world: &World) -> PathBuf {
    world.data().join("token")
}

fn token(world: &World) -> String {
    fs::read_to_string(token_file(world)).expect("a token").trim().to_owned()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("set");
}

#[test]
fn trial_20_the_socket_answers_only_requests_with_the_token() {
    let world = World::new();
    let serving = Serving::start(&world, &[]);
    let bearer = format!("authorization: Bearer {}\r\n", token(&world));
    assert_eq!(mode(&token_file(&world)), 0o600);
    assert_eq!(asks(&world, "GET /v1/status", &bearer).0, 200);
    let wrong = format!("authorization: Bearer {}x\r\n", token(&world));
    let requests = [
        "GET /v1/status",
        "GET /openapi.json",
        "GET /v1/conversations",
        "POST /v1/runs",
        "POST /v1/stop",
        "POST /v1/clients",
        "POST /v1/clients/leave",
        "GET /v1/nothing",
    ];
    for request in requests {
        for headers in ["", &wrong, "authorization: Bearer \r\n"] {
            let (status, body) = asks(&world, request, headers);
            assert_eq!(status, 401, "{request} {headers}: {body}");
            let body: Value = serde_json::from_str(&body).expect("a problem document");
            assert_eq!((&body["status"], &body["code"]), (&json!(401), &json!("unauthorized")), "{body}");
            let hint = body["hint"].as_str().expect("a hint");
            assert!(hint.contains("older") && hint.contains("token"), "{body}");
        }
    }
    world.does(&["new"]);
    assert_eq!(world.json(&["status"])["pid"], json!(serving.pid()));
    world.does(&["stop"]);
    assert!(serving.ended());
}

/// A token that was made reads what it covers, changes nothing else, attaches no client, and ends when it is revoked.
#[test]
fn token_permits_its_grants_until_it_is_revoked() {
    let world = World::new();
    let serving = Serving::start(&world, &[]);
    world.does(&["new", "--title", "one"]);
    let id = world.json(&["list"])["conversations"][0]["id"].as_str().expect("an id").to_owned();
    let grant = format!("read@{id}");
    let told = world.json(&["token", "create", "reader", "--grant", &grant, "--expires", "1d"]);
    let secret = told["secret"].as_str().expect("a secret");
    let bearer = format!("authorization: Bearer {secret}\r\n");
    let code = |request: &str| {
        let (status, body) = asks(&world, request, &bearer);
        let body: Value = serde_json::from_str(&body).unwrap_or_default();
        (status, body["code"].as_str().unwrap_or_default().to_owned())
    };
    let refused = || (403, "not_permitted".to_owned());
    assert_eq!(code(&format!("GET /v1/conversations/{id}/entries")).0, 200);
    for request in
        ["POST /v1/stop", "POST /v1/doctor", "GET /v1/status", "POST /v1/clients", "POST /v1/clients/leave"]
    {
        assert_eq!(code(request), refused(), "{request}");
    }
    let listed = world.does(&["token", "list"]);
    assert!(listed.contains("reader") && listed.contains("read in") && !listed.contains(secret), "{listed}");
    world.does(&["token", "revoke", "reader"]);
    assert_eq!(code("GET /v1/models"), (401, "unauthorized".to_owned()));
    let again = error(&world.run(&["token", "create", "reader", "--grant", "read"]));
    assert!(again.contains("names are not used twice"), "{again}");
    world.does(&["stop"]);
    assert!(serving.ended());
}

/// A command with network reaches the socket, but not the file with the token.
#[test]
fn trial_20_a_command_with_network_does_not_drive_the_owner() {
    let model = Model::start();
    // Commands may read temporary folders with all their content.
    let data = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let world = model.world(&[]).with_data(&data.path().join("data"));
    let program = env!("CARGO_BIN_EXE_retake");
    let line = format!(
        "{program} new --title planted; echo \"new: $?\"; {program} say planted; echo \"say: $?\"; \
         cat {}; echo \"cat: $?\"",
        token_file(&world).display()
    );
    let told = model.turn(
        &world,
        "go",
        vec![call("shell", json!({"command": line, "network": true})), words("done")],
    );
    let told = serde_json::to_string(&told).expect("JSON");
    assert!(told.contains("cat: 1"), "{told}");
    assert!(!told.contains("new: 0") && !told.contains("say: 0"), "{told}");
    assert!(!told.contains(&token(&world)), "{told}");
    let list = world.json(&["list", "--all"]);
    assert_eq!(list["conversations"].as_array().map(Vec::len), Some(1), "{list}");
    assert!(!world.json(&["log"]).to_string().contains("\"text\":\"planted\""));
}

#[test]
fn trial_20_a_token_that_other_users_could_read_is_replaced() {
    let world = World::new().with("RETAKE_IDLE_S", "600");
    world.does(&["new"]);
    let first = token(&world);
    world.does(&["stop"]);
    world.does(&["new"]);
    assert_eq!(token(&world), first, "it is kept");
    world.does(&["stop"]);
    set_mode(&token_file(&world), 0o640);
    world.does(&["new"]);
    assert_ne!(token(&world), first);
    assert_eq!(mode(&token_file(&world)), 0o600);
    world.does(&["stop"]);
}

/// Deleting the token locks nobody out: the owner writes it again, and the client repeats its request.
#[test]
fn trial_20_a_token_that_was_deleted_comes_back() {
    let world = World::new().with("RETAKE_IDLE_S", "600");
    world.does(&["new"]);
    let first = token(&world);
    fs::remove_file(token_file(&world)).expect("removed");
    world.does(&["say", "still there"]);
    assert_eq!((token(&world), mode(&token_file(&world))), (first, 0o600));
    world.does(&["stop"]);
}

#[test]
fn trial_20_a_token_that_is_a_link_or_no_file_is_refused() {
    let world = World::new();
    world.does(&["new"]);
    let elsewhere = world.home().join("elsewhere");
    fs::write(&elsewhere, "known\n").expect("written");
    fs::remove_file(token_file(&world)).expect("removed");
    std::os::unix::fs::symlink(&elsewhere, token_file(&world)).expect("linked");
    let refused = world.run(&["new"]);
    assert!(!refused.status.success(), "{refused:?}");
    assert!(error(&refused).contains("token"), "{refused:?}");
}

/// The kernel protects files that are guarded by their path from a command, whether it runs without approval as a reading command
/// or not, and whatever leads there.
#[test]
fn trial_23_no_command_reads_a_file_that_is_guarded_by_its_path() {
    let model = Model::start();
    // Commands may read temporary folders with all their content.
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let world = model.world(&[]).with("HOME", home.path().to_str().expect("UTF-8"));
    fs::create_dir_all(home.path().join(".ssh")).expect("made");
    fs::write(home.path().join(".ssh/id"), "hunter2\n").expect("written");
    fs::write(home.path().join(".netrc"), "hunter2\n").expect("written");
    fs::write(home.path().join("free"), "free of secrets\n").expect("written");
    std::os::unix::fs::symlink(home.path().join(".ssh"), world.folder().join("sshlink")).expect("linked");
    let lines = [
        "cat sshlink/id ~/.ssh/id ~/.netrc; cat ~/free",
        "touch a; cat sshlink/id ~/.ssh/id ~/.netrc; cat ~/free",
    ];
    for line in lines {
        let told = model.turn(&world, "go", vec![call("shell", json!({"command": line})), words("done")]);
        let told = serde_json::to_string(&told).expect("JSON");
        assert!(told.contains("free of secrets"), "{line}: {told}");
        assert!(!told.contains("hunter2"), "{line}: {told}");
    }
}

/// Key files of the workspace are recognized by their names, unless git tracks them. A rule that allows reading one also applies
/// to commands.
#[test]
fn trial_23_commands_read_no_key_files_of_the_workspace_in_namespaces() {
    let model = Model::start();
    let files = [
        (".gitignore", "*.key\n"),
        ("server.key", "hunter2\n"),
        ("id_rsa", "hunter2\n"),
        ("free.key", "free of secrets\n"),
        ("tests.pem", "known to all\n"),
    ];
    let world = model.world(&files);
    let settings = fs::read_to_string(world.config()).expect("there are settings");
    world.settings(&format!("{settings}allow = [\"read(free.key)\"]\n"));
    for arguments in [&["init", "-q"][..], &["add", "tests.pem", ".gitignore"]] {
        let done = Command::new("git").args(arguments).current_dir(world.folder()).output().expect("git");
        assert!(done.status.success(), "{done:?}");
    }
    let holds = world.does(&["doctor"]).contains("namespaces hold commands");
    let told = |line: &str| {
        let told = model.turn(&world, "go", vec![call("shell", json!({"command": line})), words("done")]);
        serde_json::to_string(&told).expect("JSON")
    };
    for line in [
        "cat free.key tests.pem server.key id_rsa",
        "touch a; cat free.key tests.pem; cat server.key id_rsa || cp server.key b && cat b || grep -r hunter .",
    ] {
        let told = told(line);
        assert!(told.contains("free of secrets") && told.contains("known to all"), "{line}: {told}");
        assert_eq!(told.contains("hunter2"), !holds, "{line}: {told}");
        assert_eq!(told.contains("commands can neither read nor change"), holds, "{line}: {told}");
    }
    // A later file counts from the next call on, and git works beside it.
    fs::write(world.folder().join("late.pem"), "hunter2\n").expect("written");
    let late = told("echo more >> tests.pem && git add tests.pem && git status --short && cat late.pem");
    assert!(
        late.contains("M  tests.pem") || late.contains("AM tests.pem") || late.contains("A  tests.pem"),
        "{late}"
    );
    assert_eq!(late.contains("hunter2"), !holds, "{late}");
    assert_eq!(world.read("server.key").as_deref(), Some("hunter2\n"), "it is as it was");
    // Nor can a command expose a file by excluding it from captures.
    fs::create_dir(world.folder().join("keys")).expect("made");
    fs::write(world.folder().join("keys/deep.pem"), "hunter2\n").expect("written");
    let hides = "true; echo keys/ >> .gitignore; \
                 echo 'Signature: 8a477f597d28d172789f06886806bc55' > keys/CACHEDIR.TAG";
    let lines = [hides, "true; touch again", "touch a; cat keys/deep.pem"];
    let calls = lines.map(|line| call("shell", json!({"command": line})));
    let told = model.turn(&world, "go", calls.into_iter().chain([words("done")]).collect());
    let told = serde_json::to_string(&told).expect("JSON");
    assert_eq!(told.contains("hunter2"), !holds, "{told}");
}

/// A shared mapping changes a program without the system removing its special bits.
#[test]
fn trial_27_a_command_changes_no_program_that_runs_as_its_owner_in_namespaces() {
    let model = Model::start();
    let world = model.world(&[]);
    fs::create_dir(world.folder().join("bin")).expect("made");
    for name in ["bin/program", "bin/plain"] {
        fs::write(world.folder().join(name), "#!/bin/sh\ntrue\n").expect("written");
    }
    set_mode(&world.folder().join("bin/program"), 0o4755);
    let holds = world.does(&["doctor"]).contains("namespaces hold commands");
    let line = "touch a; for name in program plain; do python3 -c \"
import mmap, sys
with open(sys.argv[1], 'r+b') as file, mmap.mmap(file.fileno(), 0) as text:
    text[-5:-1] = b'evil'
\" bin/$name; done; rm -f bin/program; mv bin gone; mv gone bin";
    let told = model.turn(&world, "go", vec![call("shell", json!({"command": line})), words("done")]);
    assert_eq!(world.read("bin/plain").as_deref(), Some("#!/bin/sh\nevil\n"), "{told:?}");
    if holds {
        let stays = || {
            assert_eq!(world.read("bin/program").as_deref(), Some("#!/bin/sh\ntrue\n"), "{told:?}");
            assert_eq!(mode(&world.folder().join("bin/program")), 0o4755);
        };
        stays();
        // Nor a program that it has excluded from captures before.
        let ignores = call("shell", json!({"command": "echo bin/ > .gitignore"}));
        model.turn(&world, "go", vec![ignores, call("shell", json!({"command": line})), words("done")]);
        stays();
    } else {
        assert_eq!(world.read("bin/program"), None, "nothing holds it: {told:?}");
    }
}

/// Modes of everything in the data folder that another user could access.
fn open_to_others(data: &Path) -> Vec<(PathBuf, u32)> {
    let mut all: Vec<_> = manifest(data).into_iter().map(|(path, (mode, _))| (path, mode & 0o7777)).collect();
    all.push((data.to_owned(), mode(data)));
    all.retain(|(_, mode)| mode & 0o077 != 0);
    all
}

#[test]
fn trial_30_files_of_the_data_folder_are_private_whatever_their_earlier_modes() {
    let model = Model::start();
    let world = model.world(&[("a", "a\n")]);
    let work = || {
        let line = "seq 100000; echo b > b";
        model.turn(&world, "go", vec![call("shell", json!({"command": line})), words("done")]);
        world.does(&["rewind", "t1"]);
        world.does(&["undo"]);
    };
    work();
    assert_eq!(open_to_others(world.data()), [], "what is made is private");
    let before = manifest(world.data());
    for (path, (mode, _)) in &before {
        set_mode(path, if fs::metadata(path).expect("there").is_dir() { 0o755 } else { 0o644 | mode });
    }
    let strange = world.data().join("notes of mine");
    fs::write(&strange, "mine").expect("written");
    set_mode(&strange, 0o644);
    set_mode(world.data(), 0o755);
    let told = world.run(&["new"]);
    assert!(told.status.success(), "{told:?}");
    let notice = error(&told);
    assert!(notice.contains("other users could read"), "the person hears of it: {notice}");
    assert_eq!(open_to_others(world.data()), [(strange, 0o644)], "what is not ours stays");
    assert!(!error(&world.run(&["new"])).contains("other users"), "once");
}

/// Commands and servers get the environment of the requesting terminal, without variables that look like secrets by name or
/// value.
#[test]
fn trial_25_commands_and_mcp_servers_get_the_environment_of_the_terminal_without_secrets() {
    let world = World::working(&[]).with("RETAKE_IDLE_S", "600");
    let seen = |name: &str| world.home().join(name).display().to_string();
    let servers = json!({"mcpServers": {"it": {"command": "sh", "args": ["-c", format!("env > {}", seen("of-server"))]}}});
    fs::write(world.home().join("mcp.json"), servers.to_string()).expect("written");
    world.does(&["new"]);
    let call = format!("call shell {}", json!({"command": format!("env > {}", seen("of-command"))}));
    let mut asks = world.command(&["ask", "--mode", "allow-all", &call]);
    asks.env("OF_THE_TERMINAL", "plain");
    let secrets = [
        ("PGPASSWORD", "hunter2"),
        ("STRIPE_SECRET_KEY", "hunter2"),
        ("GITHUB_PAT", "hunter2"),
        ("SSH_AUTH_SOCK", "/tmp/hunter2"),
        ("AWS_PROFILE", "hunter2"),
        ("HF_TOKEN", "hunter2"),
        ("DATABASE_URL", "postgres://db/hunter2"),
        ("MIRROR", "https://user:hunter2@mirror/simple"),
    ];
    let told = asks.envs(secrets).output().expect("it starts");
    assert!(told.status.success(), "{told:?}");
    for name in ["of-command", "of-server"] {
        let seen = fs::read_to_string(world.home().join(name)).expect("it ran");
        assert!(seen.contains("OF_THE_TERMINAL=plain"), "{name}: {seen}");
        assert!(!seen.contains("hunter2"), "{name}: {seen}");
    }
    world.does(&["stop"]);
}

#[test]
fn trial_19_doctor_names_rules_that_allow_any_command() {
    let world = World::new();
    world.settings(
        "[model]\ndefault = \"demo\"\n[local]\nfind = false\n[permissions]\nallow = [\"shell(bash -c)\", \"shell(git push)\"]\n",
    );
    let told = world.does(&["doctor"]);
    assert!(told.contains("the rule `allow shell(bash -c)` allows any command"), "{told}");
    assert!(!told.contains("git push"), "{told}");
}
