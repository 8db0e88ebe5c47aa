//! Files that name servers: what is read, errors with their lines, what a change leaves alone, and that a project starts nothing
//! without approval.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use retake_tools::mcp::{Origin, ServerNotice, ServerTransport, State, add, remove};
use serde_json::json;

use super::world::{World, failure, only, said};

/// The project's file.
fn project(world: &World, text: &str) {
    fs::write(world.folder().join(".mcp.json"), text).expect("written");
}

fn way(command: &str) -> ServerTransport {
    ServerTransport::Command { command: command.into(), args: Vec::new(), env: Vec::new(), cwd: None }
}

#[test]
fn trial_23_a_projects_file_of_servers_that_leads_out_is_not_read() {
    let world = World::new(&json!({}));
    let other = world.user_file().with_file_name("other.json");
    fs::write(&other, "{\"mcpServers\": {\"theirs\": {\"command\": \"x\", \"hunter2\": 1}}")
        .expect("written");
    let link = world.folder().join(".mcp.json");
    std::os::unix::fs::symlink(&other, &link).expect("linked");
    let config = world.config();
    assert!(config.servers.is_empty());
    let [problem] = &config.problems[..] else { panic!("{:?}", config.problems) };
    let cause = std::error::Error::source(problem).map(ToString::to_string).unwrap_or_default();
    assert!(cause.contains("leads out of the folder"), "{problem}: {cause}");
    fs::remove_file(&link).expect("removed");
    fs::write(world.folder().join("servers.json"), "{}").expect("written");
    std::os::unix::fs::symlink("servers.json", &link).expect("linked");
    assert!(world.config().problems.is_empty(), "within the folder a link is followed");
}

#[test]
fn an_error_names_file_line_and_key_and_the_valid_entries_are_used() {
    let rows = [
        ("{\n\"mcpServers\": {\n", "line 3: this is not valid JSON: EOF while parsing an object"),
        ("[]", "line 1: this is not valid JSON: an object in braces is expected"),
        ("{\n\n\"mcpServers\": 1}", "line 3: `mcpServers`: takes an object: a name and a server each"),
        (
            "{\"mcpServers\": {\n\"a\": {\"command\": 1}}}",
            "line 2: `mcpServers.a.command`: takes a text in quotes",
        ),
        (
            "{\"mcpServers\": {\"a\":\n{\"command\": \"x\",\n\"args\": [1]}}}",
            "line 3: `mcpServers.a.args`: takes a list of texts",
        ),
        (
            "{\"mcpServers\": {\"a\":\n{\"url\": \"x\",\n\"headers\": {\"b\": null}}}}",
            "line 3: `mcpServers.a.headers`: takes an object of texts",
        ),
        (
            "{\"mcpServers\": {\"a b\": {\"command\": \"x\"}}}",
            "line 1: `mcpServers.a b`: a name has letters, digits, `-`, `_` and `.`, at most 40",
        ),
        ("{\"mcpServers\": {\"a\": {}}}", "line 1: `mcpServers.a`: has neither “command” nor “url”"),
        (
            "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"url\": \"y\"}}}",
            "line 1: `mcpServers.a`: has both “command” and “url”; one is enough",
        ),
        (
            "{\"mcpServers\": {\"a\": {\"type\": \"sse\", \"url\": \"y\"}}}",
            "line 1: `mcpServers.a.type`: the older transport “sse” is not supported; many servers also support “http”",
        ),
        (
            "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"disabled\": 1}}}",
            "line 1: `mcpServers.a.disabled`: takes true or false",
        ),
    ];
    for (text, expected) in rows {
        let world = World::with("good");
        project(&world, text);
        let config = world.config();
        let path = world.folder().join(".mcp.json");
        assert_eq!(config.problems.len(), 1, "{text}: {:?}", config.problems);
        let said = config.problems[0].to_string();
        assert_eq!(said.strip_prefix(&format!("{}, ", path.display())), Some(expected), "{said}");
        assert_eq!(config.servers.len(), 1, "the other file counts");
    }
}

#[test]
fn unknown_keys_and_files_of_other_programs_are_reported() {
    let world = World::with("good");
    project(&world, "{\"mcpServers\": {\"a\": {\"command\": \"x\",\n\"colour\": \"red\"}}}");
    let [warning] = &world.config().warnings[..] else { panic!("one warning") };
    assert!(
        warning.to_string().ends_with(".mcp.json, line 2: “colour” of the server “a” means nothing here"),
        "{warning}"
    );
    project(&world, "{\"servers\": {}}");
    let [warning] = &world.config().warnings[..] else { panic!("one warning") };
    assert!(
        warning.to_string().ends_with("names no server: it has “servers”, and no “mcpServers”"),
        "{warning}"
    );
}

#[test]
fn pipes_and_devices_are_not_waited_for() {
    let world = World::with("good");
    let pipe = world.folder().join(".mcp.json");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
    assert!(made.success());
    assert_eq!(world.config().problems.len(), 1);
    fs::remove_file(&pipe).expect("removed");
    fs::write(&pipe, " ".repeat(2 << 20)).expect("written");
    assert_eq!(world.config().problems.len(), 1, "nor read without an end");
}

#[test]
fn the_users_servers_come_before_the_projects() {
    let world = World::with("good");
    project(&world, r#"{"mcpServers": {"it": {"command": "evil"}, "other": {"url": "http://127.0.0.1"}}}"#);
    let servers = world.config().servers;
    let found: Vec<_> = servers.iter().map(|entry| (entry.name.as_str(), entry.origin)).collect();
    assert_eq!(found, [("it", Origin::User), ("other", Origin::Project)]);
}

#[test]
fn a_change_keeps_the_rest_of_the_file() {
    let world = World::new(&json!({}));
    let path = world.user_file();
    let text = "{\"theme\": \"dark\", \"mcpServers\": {\"z\": {\"command\": \"z\", \"colour\": \"red\"}, \"a\": {\"command\": \"a\"}}}";
    fs::write(&path, text).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("set");
    let mut new = way("m");
    if let ServerTransport::Command { env, args, .. } = &mut new {
        env.push(("K".into(), "${K}".into()));
        args.push("-x".into());
    }
    add(&path, "m", &new).expect("added");
    remove(&path, "a").expect("removed");
    let expected = json!({"theme": "dark", "mcpServers": {"z": {"command": "z", "colour": "red"},
        "m": {"command": "m", "args": ["-x"], "env": {"K": "${K}"}}}});
    assert_eq!(fs::read_to_string(&path).expect("read"), format!("{expected:#}\n"));
    assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o640);
    let beside: Vec<_> = fs::read_dir(path.parent().expect("a folder")).expect("read").flatten().collect();
    assert!(beside.iter().all(|file| !file.file_name().to_string_lossy().ends_with(".new")), "no litter");
}

#[test]
fn an_invalid_change_changes_nothing() {
    let world = World::with("good");
    let path = world.user_file();
    let before = fs::read_to_string(&path).expect("read");
    let url = ServerTransport::Url { url: "ftp://x".into(), headers: Vec::new() };
    let header = ServerTransport::Url { url: "http://x".into(), headers: vec![("a b".into(), "c".into())] };
    let refused = [
        add(&path, "it", &way("x")).expect_err("there is one").to_string(),
        add(&path, "a/b", &way("x")).expect_err("no name").to_string(),
        add(&path, "a", &way(" ")).expect_err("no command").to_string(),
        add(&path, "a", &url).expect_err("no address").to_string(),
        add(&path, "a", &header).expect_err("no header").to_string(),
        remove(&path, "a").expect_err("there is none").to_string(),
    ];
    let expected = [
        format!("there is an MCP server `it` in {}", path.display()),
        "`a/b` can't be the name of an MCP server".into(),
        "the MCP server `a` can't be added: its command is empty".into(),
        "the MCP server `a` can't be added: its address begins neither with `https://` nor with `http://`"
            .into(),
        "the MCP server `a` can't be added: a header is not valid".into(),
        format!("there is no MCP server `a` in {}", path.display()),
    ];
    assert_eq!(refused, expected);
    assert_eq!(fs::read_to_string(&path).expect("read"), before);
    fs::write(&path, "{ broken").expect("written");
    add(&path, "a", &way("x")).expect_err("the file is no JSON");
    assert_eq!(fs::read_to_string(&path).expect("read"), "{ broken");
    let new = path.with_file_name("new.json");
    add(&new, "a", &way("x")).expect("a new file");
    assert_eq!(fs::metadata(&new).expect("there").permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn a_project_starts_nothing_without_approval_and_an_approval_covers_only_the_entry_that_was_shown() {
    let world = World::new(&json!({}));
    let entry = |what: &str| json!({"mcpServers": {"it": world.server(what)}}).to_string();
    project(&world, &entry("good"));
    let waiting = world.connect().await;
    assert_eq!((only(&waiting).state, only(&waiting).origin), (State::NeedsApproval, Origin::Project));
    assert!(!world.folder().join("pid").exists(), "nothing was started");
    assert_eq!(waiting.news(), [("it".to_owned(), ServerNotice::NeedsApproval)]);
    world.allowed().allow(&world.folder(), &world.config().servers[0]).expect("allowed");
    assert!(!waiting.are_of(&world.config(), &world.allowed()), "they are others now");
    let servers = world.connect().await;
    assert_eq!(said(&servers, "mcp__it__echo", json!({})).await, "{}");
    assert!(servers.are_of(&world.config(), &world.allowed()));
    project(&world, &entry("flood"));
    assert_eq!(only(&world.connect().await).state, State::NeedsApproval, "the entry is another one now");
}

#[test]
fn an_approval_holds_for_any_order_of_keys_and_that_of_an_earlier_version_still_counts() {
    let world = World::new(&json!({}));
    let entry = |text: &str| {
        project(&world, &format!("{{\"mcpServers\": {{\"it\": {text}}}}}"));
        world.config().servers.remove(0)
    };
    let holds = |text: &str| {
        let entry = entry(text);
        world.allowed().holds(&entry).expect("read")
    };
    let shown = r#"{"command":"x","args":["a","b"],"env":{"B":"2","A":"1"}}"#;
    let sorted = r#"{"args":["a","b"],"command":"x","env":{"A":"1","B":"2"}}"#;
    assert!(!holds(shown));
    let mut hasher = blake3::Hasher::new_derive_key("retake mcp leave 1");
    let folder = world.folder();
    for part in [folder.as_os_str().as_encoded_bytes(), b"it", shown.as_bytes()] {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    let earlier = json!({"folder": folder, "name": "it", "digest": hasher.finalize().to_hex().to_string()});
    let file = world.user_file().with_file_name("mcp-allowed.json");
    fs::write(&file, json!({ "allowed": [earlier] }).to_string()).expect("written");
    assert!(holds(shown), "an earlier version stored it");
    assert!(!holds(sorted), "an earlier version knew one order");
    fs::remove_file(&file).expect("removed");
    world.allowed().allow(&folder, &entry(shown)).expect("allowed");
    assert!(holds(shown) && holds(sorted));
    for changed in [sorted.replace(r#""a","b""#, r#""b","a""#), sorted.replace(r#""A":"1""#, r#""A":"2""#)] {
        assert!(!holds(&changed), "{changed}");
    }
}

#[test]
fn the_order_in_the_file_does_not_choose_between_headers_that_differ_in_case() {
    let world = World::new(&json!({}));
    let ways = [r#"{"A": "1", "a": "2"}"#, r#"{"a": "2", "A": "1"}"#].map(|headers| {
        let url = r#"{"mcpServers": {"it": {"url": "http://127.0.0.1", "headers": HEADERS}}}"#;
        project(&world, &url.replace("HEADERS", headers));
        world.config().servers.remove(0).way
    });
    assert_eq!(ways[0], ways[1]);
}

#[tokio::test]
async fn a_projects_server_that_is_too_long_to_be_shown_is_refused() {
    let world = World::new(&json!({}));
    let entry = |length: usize| {
        json!({"mcpServers": {"it": {"command": "true", "args": ["x".repeat(length)]}}}).to_string()
    };
    project(&world, &entry(4000));
    assert_eq!(world.config().servers.len(), 1);
    project(&world, &entry(5000));
    let config = world.config();
    assert!(config.servers.is_empty(), "{config:?}");
    assert!(config.problems[0].to_string().contains("at most 4 KB"), "{config:?}");
    std::fs::write(world.user_file(), entry(5000)).expect("written");
    assert_eq!(world.config().servers.len(), 1, "who writes it knows it");
}

#[tokio::test]
async fn a_call_is_shown_whole_however_long_it_is() {
    let world = World::new(&json!({}));
    let server = json!({"mcpServers": {"it": world.server("good")}});
    std::fs::write(world.user_file(), server.to_string()).expect("written");
    let servers = world.connect().await;
    let tool = servers.tools().into_iter().find(|tool| tool.name() == "mcp__it__echo").expect("a tool");
    let arguments = json!({"text": format!("{} the end", "x".repeat(100_000))});
    let intent = tool.intent(&arguments, &world.folder(), &[]).expect("an intent");
    assert!(intent.detail.is_some_and(|detail| detail.contains(" the end")));
}

#[tokio::test]
async fn variables_are_expanded_keys_withheld_and_values_not_shown() {
    let world = World::new(&json!({}));
    let mut server = world.server("environment");
    server["env"] = json!({"GIVEN_TOKEN": "${HOME:-x}", "B": "${CARGO_MANIFEST_DIR}"});
    fs::write(world.user_file(), json!({"mcpServers": {"it": server}}).to_string()).expect("written");
    let servers = world.connect().await;
    let names = json!({"names": ["B", "GIVEN_TOKEN", "PATH"]});
    let given: serde_json::Value =
        serde_json::from_str(&said(&servers, "mcp__it__echo", names).await).expect("JSON");
    assert_eq!(given["B"], env!("CARGO_MANIFEST_DIR"));
    assert!(given["GIVEN_TOKEN"].is_string() && given["PATH"].is_string());
    let unset = World::new(&json!({"it": {"url": "http://127.0.0.1:1/${NO_SUCH_VARIABLE}"}}));
    assert_eq!(failure(&unset.connect().await), "the environment variable NO_SUCH_VARIABLE is not set");
    let refused = World::new(&json!({"it": {"url": "http://127.0.0.1:1${CARGO_MANIFEST_DIR}"}}));
    let why = failure(&refused.connect().await);
    assert!(why.contains("${CARGO_MANIFEST_DIR}") && !why.contains(env!("CARGO_MANIFEST_DIR")), "{why}");
}
