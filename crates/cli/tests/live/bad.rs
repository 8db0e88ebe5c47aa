//! Invalid names, heads, numbers and request ids: refused with a message, and nothing changes. Also settings and models.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

use super::harness::{World, out, shows};

/// Runs all commands, and nothing of the conversation changes.
fn changes_nothing(world: &World, commands: &[&[&str]]) -> String {
    let before = world.does(&["--json", "log"]);
    let seen = world.transcript(commands);
    assert_eq!(world.does(&["--json", "log"]), before);
    seen
}

#[test]
fn unknown_names_are_refused_with_the_nearest() {
    let world = World::talking();
    world.does(&["label", "t1", "draft"]);
    let list = world.json(&["list"]);
    let id = list["conversations"][0]["id"].as_str().expect("an id").to_owned();
    let mut near = id.clone();
    near.replace_range(id.len() - 1.., if id.ends_with('0') { "1" } else { "0" });
    shows!(changes_nothing(
        &world,
        &[
            &["rewind", "darft"],
            &["rewind", "t7"],
            &["rewind", "0192"],
            &["log", "--conversation", &near],
            &["log", "--conversation", "nonsense"],
            &["--json", "rewind", "darft"],
            &["ask", "--seen", "darft", "hello"],
            &["restore", "99.9"],
            &["choose", "@", "7"],
        ]
    ));
}

/// Conversations can be listed and continued even if the default model in the settings is unknown.
#[test]
fn an_unknown_default_model_is_reported_and_the_list_still_works() {
    let world = World::new();
    for (default, why) in [
        ("nope/x", "names an endpoint that is not there; there are demo, "),
        ("openai/", "names an endpoint without a model"),
    ] {
        world.settings(&format!("[local]\nfind = false\n[model]\ndefault = \"{default}\"\n"));
        let listed = world.does(&["models"]);
        assert!(listed.contains("demo") && listed.contains("it can't be used: "), "{listed}");
        let models = world.json(&["models"]);
        assert!(models["problem"]["code"] == "model" && models["default"] == default, "{models}");
        let checked = world.run(&["config", "check"]);
        assert_eq!(checked.status.code(), Some(2), "{}", out(&checked));
        let said = out(&checked);
        assert!(said.contains("model.default (line 4)") && said.contains(why), "{said}");
    }
    for (default, unchecked) in [("openai/gpt-x", true), ("openai", false), ("demo", false)] {
        world.settings(&format!("[model]\ndefault = \"{default}\"\n"));
        let said = world.does(&["config", "check"]);
        assert_eq!(said.contains("not checked: whether openai has the model gpt-x"), unchecked, "{said}");
    }
}

#[test]
fn a_prefix_of_several_ids_is_refused_also_in_a_fork() {
    let world = World::talking();
    let id = world.json(&["log"])["entries"][0]["id"].as_str().expect("an id").to_owned();
    let prefix = &id[..4];
    let refused = |world: &World| {
        let seen = changes_nothing(world, &[&["rewind", prefix]]);
        seen.replace(&format!("rewind {prefix}"), "rewind PREFIX").replace(&format!("“{prefix}”"), "“PREFIX”")
    };
    shows!(refused(&world));
    world.does(&["fork", "t1"]);
    world.does(&["ask", "three plums"]);
    shows!(refused(&world));
}

#[test]
fn a_stale_head_is_refused_and_the_new_one_is_given() {
    let world = World::talking();
    world.does(&["rewind", "t2"]);
    shows!(changes_nothing(
        &world,
        &[
            &["undo", "--head", "0.4"],
            &["--json", "undo", "--head", "0.4"],
            &["--json", "rewind", "t1", "--head", "0.4"],
            &["edit", "t1", "--head", "0.4", "other words"],
            &["retry", "t1", "--head", "0.4"],
            &["undo", "--head", "nonsense"],
            &["undo", "0"],
            &["undo", "--", "-1"],
            &["redo", "many"],
        ]
    ));
}

#[test]
fn missing_steps_are_counted() {
    let world = World::talking();
    let commands: [&[&str]; 6] =
        [&["undo", "99"], &["undo"], &["--json", "redo", "99"], &["undo", "2"], &["redo", "3"], &["redo"]];
    shows!(world.transcript(&commands));
}

#[test]
fn a_settings_file_that_is_named_is_there() {
    let world = World::new();
    let commands: [&[&str]; 8] = [
        &["--config", "gone.toml", "list"],
        &["--config", "gone.toml", "status"],
        &["--config", "gone.toml", "--json", "config", "get", "model.default"],
        &["--config", "gone.toml", "config", "check"],
        &["--config", "gone.toml", "config", "path"],
        &["--config", "gone.toml", "config", "set", "model.default", "demo"],
        &["--config", "gone.toml", "config", "get", "model.default"],
        &["--config", "gone.toml", "list"],
    ];
    shows!(world.transcript(&commands));
    std::fs::remove_file(world.config()).expect("removed");
    let output = world.run(&["list"]);
    shows!(world.seen(&["list"], &output));
}

#[test]
fn errors_in_the_settings_are_reported_with_their_lines() {
    let world = World::new();
    world.settings("[model]\ndefault = \"demo\"\n[face]\ntheme = \"blue\"\n[face.keys]\nrewin = [\"f5\"]\n");
    let commands: [&[&str]; 3] =
        [&["config", "check"], &["--json", "config", "check"], &["config", "set", "face.theme", "green"]];
    shows!(world.transcript(&commands));
    world.settings("[model]\nfoo = 1\n\n[retry]\ntries = 0\n");
    shows!(world.transcript(&[&["config", "check"], &["list"], &["config", "get", "model.default"]]));
    world.settings("[model]\ndefault = \"demo\"\n");
    shows!(world.transcript(&[&["config", "check"]]));
}

#[test]
fn hints_of_a_verb_name_verbs() {
    let world = World::talking();
    world.settings("[retry]\ntries = 1\n[local]\nollama_port = 1\n");
    let commands: [&[&str]; 3] = [
        &["ask", "--model", "ollama/none", "hello"],
        &["--json", "retry", "--model", "ollama/none"],
        &["ask", "--model", "olama/none", "hello"],
    ];
    shows!(world.transcript(&commands));
}

#[test]
fn a_name_that_is_not_utf_8_is_no_other_file() {
    let world = World::talking();
    let name = OsStr::from_bytes(b"copy\xff.db");
    let output = world.command(&["backup"]).arg(name).output().expect("it starts");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    shows!(world.seen(&["backup"], &output));
}

#[test]
fn an_empty_message_is_refused() {
    let world = World::talking();
    shows!(changes_nothing(&world, &[&["search", "AND ("], &["title", ""], &["label", "t1", " "]]));
}

#[test]
fn a_request_is_done_once_and_its_id_names_no_other_request() {
    let world = World::talking();
    let id = world.json(&["log"])["entries"][2]["id"].as_str().expect("an id").to_owned();
    let rewind = ["--json", "rewind", &id, "--request-id", "r1"];
    let first = world.does(&rewind);
    world.does(&["ask", "three plums"]);
    assert_eq!(world.does(&rewind), first);
    shows!(changes_nothing(
        &world,
        &[
            &["undo", "--request-id", "r1"],
            &["say", "--request-id", "r1", "hello"],
            &["undo", "--request-id", ""],
        ]
    ));
}

#[test]
fn a_repeated_request_is_done_once_also_if_its_names_have_other_targets_now() {
    let world = World::talking();
    let rewind = ["--json", "rewind", "t2", "--request-id", "r1"];
    let first = world.does(&rewind);
    assert_eq!(world.does(&rewind), first, "there is no turn 2 any more");
    world.does(&["ask", "something else"]);
    let before = world.does(&["--json", "log"]);
    assert_eq!(world.does(&rewind), first, "turn 2 is another one now");
    let hide = ["--json", "hide", "@", "--request-id", "r2"];
    let hidden = world.does(&hide);
    assert_ne!(world.does(&["--json", "log"]), before);
    let say = ["--json", "say", "--request-id", "r3", "--seen", "t1", "noted"];
    let said = world.does(&say);
    assert_eq!(world.does(&hide), hidden, "the last message is another one now");
    assert_eq!(world.does(&say), said);
}

/// Commands that create something, with names that are taken or invalid afterwards.
const BY_NAMES: &[&[&str]] = &[
    &["edit", "t2", "two plums"],
    &["edit", "t2", "two plums", "--no-run"],
    &["retry", "t2"],
    &["ask", "--seen", "@", "and more"],
    &["fork", "@"],
    &["fork", "t2", "--title", "aside"],
    &["ask", "--new", "something new"],
    &["new", "--title", "empty"],
];

/// The receipts in a verb's JSON lines.
fn receipts(printed: &str) -> Vec<serde_json::Value> {
    let lines = printed.lines().map(|line| serde_json::from_str(line).expect("a JSON document"));
    let receipt =
        |line: serde_json::Value| if line["event"].is_null() { line } else { line["receipt"].clone() };
    let receipts: Vec<_> = lines.map(receipt).filter(|receipt| !receipt.is_null()).collect();
    assert!(!receipts.is_empty(), "{printed}");
    receipts
}

#[test]
fn store_case_22_a_repeated_request_creates_nothing_twice() {
    for request in BY_NAMES {
        let world = World::talking();
        let here = world.json(&["list"])["conversations"][0]["id"].as_str().expect("an id").to_owned();
        let apart = request.contains(&"--new") || request[0] == "new";
        let place = ["--conversation", &here];
        let mut sent = [&["--json"], *request, &["--request-id", "r1"]].concat();
        sent.extend(place.iter().filter(|_| !apart));
        let all = || {
            world.does(&["--json", "list", "--all"]) + &world.does(&[&["--json", "log"], &place[..]].concat())
        };
        let first = world.does(&sent);
        assert_eq!(world.does(&sent).lines().last(), first.lines().last(), "{request:?}: the answer, too");
        if !apart {
            world.does(&[&["rewind", "t1"], &place[..]].concat());
        }
        let before = all();
        assert_eq!(receipts(&world.does(&sent)), receipts(&first), "{request:?}");
        assert_eq!(all(), before, "{request:?}");
    }
}

#[test]
fn a_repeated_request_for_an_answer_prints_it_again() {
    let world = World::talking();
    let ask = ["ask", "--request-id", "r1", "three plums"];
    assert_eq!(world.does(&ask), world.does(&ask));
}

#[test]
fn a_request_id_names_one_message_with_one_wording() {
    let world = World::talking();
    let ids = world.json(&["log"]);
    let id = |at: usize| ids["entries"][at]["id"].as_str().expect("an id").to_owned();
    let here = world.json(&["list"])["conversations"][0]["id"].as_str().expect("an id").to_owned();
    let place = ["--conversation", here.as_str()];
    world.does(&["edit", &id(2), "same words", "--request-id", "r1"]);
    world.does(&["fork", "t1", "--request-id", "f1"]);
    for other in [
        &["edit", &id(0), "same words", "--request-id", "r1"][..],
        &["edit", &id(2), "other words", "--request-id", "r1"],
        &["edit", &id(2), "same words", "--request-id", "r1", "--no-run"],
        &["retry", &id(2), "--request-id", "r1"],
        &["fork", "t2", "--request-id", "f1"],
        &["new", "--request-id", "f1"],
        &["ask", "--new", "same words", "--request-id", "f1"],
    ] {
        let apart = other.contains(&"--new") || other[0] == "new";
        let place = if apart { &[][..] } else { &place[..] };
        let refused = world.run(&[&["--json"], other, place].concat());
        assert!(out(&refused).contains("\"request_reused\""), "{other:?}: {refused:?}");
    }
}

#[test]
fn an_unknown_model_creates_no_conversation() {
    let world = World::new();
    let seen = world.transcript(&[
        &["ask", "--model", "nope/x", "hello"],
        &["ask", "--model", "antropic/x", "hello"],
        &["--json", "ask", "--model", "ollama/", "hello"],
        &["list", "--all"],
    ]);
    let piped = world.pipe(&["--model", "nope/x"], "hello");
    shows!(seen + &world.seen(&["--model", "nope/x"], &piped));
    assert_eq!(out(&world.run(&["--json", "list", "--all"])).matches("\"id\"").count(), 0);
}

#[test]
fn settings_that_make_no_sense_are_named_with_their_line() {
    let world = World::talking();
    let before = world.texts();
    let mut seen = String::new();
    for text in [
        "[model]\ndefalt = \"demo\"\n",
        "[model]\ndefault = \"demo\n",
        "[demo]\nword_delay_ms = \"fast\"\n",
        "[endpoint.mine]\nkind = \"openia\"\nbase_url = \"http://127.0.0.1:9/v1\"\n",
    ] {
        world.settings(text);
        seen += &format!("{text}{}", world.transcript(&[&["list"]]));
    }
    world.settings("[model]\ndefault = \"demo\"\n");
    shows!(seen);
    assert_eq!(world.texts(), before);
}

#[test]
fn a_key_file_that_other_users_can_read_is_not_used() {
    let world = World::new();
    let file = world.home().join("key");
    std::fs::write(&file, "sk-secret-in-a-file\n").expect("written");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).expect("mode");
    let file = file.display();
    world.settings(&format!(
        "[local]\nfind = false\n[endpoint.mine]\nbase_url = \"http://127.0.0.1:9/v1\"\nkey_file = \"{file}\"\n"
    ));
    let seen = world.transcript(&[&["ask", "--model", "mine/x", "hello"], &["models"]]);
    assert!(!seen.contains("sk-secret"), "{seen}");
    shows!(seen);
}

#[test]
fn an_empty_name_names_nothing() {
    let world = World::working(&[("a", "one\n")]);
    world.exec("echo two > a");
    let before = (world.does(&["--json", "list", "--all"]), world.does(&["--json", "workspace", "list"]));
    let lines: [&[&str]; 6] = [
        &["ask", "hello", "--conversation", ""],
        &["-r", ""],
        &["search", "one", "--conversation", ""],
        &["workspace", "forget", "", "--yes"],
        &["workspace", "show", ""],
        &["exec", "--", ""],
    ];
    for arguments in lines {
        let refused = world.pipe(arguments, "hello");
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}: {refused:?}");
    }
    let after = (world.does(&["--json", "list", "--all"]), world.does(&["--json", "workspace", "list"]));
    assert_eq!(after, before, "an empty variable of a script is neither this folder nor a new conversation");
}

#[test]
fn a_removed_folder_is_reported_and_not_confused_with_another_one() {
    let world = World::talking();
    let program = env!("CARGO_BIN_EXE_retake");
    let there = |verb: &str| {
        let mut shell = world.command(&[]);
        let line = format!("mkdir gone && cd gone && rmdir ../gone && exec '{program}' {verb}");
        let mut here = std::process::Command::new("/bin/sh");
        here.args(["-c", &line]).current_dir(world.home()).stdin(std::process::Stdio::null());
        for (name, value) in shell.env("PAGER", "").get_envs() {
            match value {
                Some(value) => here.env(name, value),
                None => here.env_remove(name),
            };
        }
        here.output().expect("it starts")
    };
    for verb in ["ask hello", "new", "exec -- true"] {
        let refused = there(verb);
        let said = super::harness::error(&refused);
        assert!(said.contains("gone") && said.contains("hint: "), "{verb}: {refused:?}");
        assert!(!refused.status.success(), "{verb}: {refused:?}");
    }
    for verb in ["undo", "log"] {
        let refused = there(verb);
        assert_eq!(refused.status.code(), Some(3), "nothing was said there: {verb}: {refused:?}");
    }
    assert!(there("list --all").status.success() && there("status").status.success());
    assert_eq!(world.json(&["list", "--all"])["conversations"].as_array().map(Vec::len), Some(1));
}
