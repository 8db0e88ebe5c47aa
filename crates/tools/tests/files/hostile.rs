//! Names and files made to do harm.

use std::fs::File;
use std::io::Write;

use retake_core::ToolOutcome;
use rustix::fs::{CWD, FileType, Mode};
use serde_json::{Value, json};

use super::stage::Stage;

/// Each tool that writes, on this path.
fn writes(path: &str) -> [(&'static str, Value); 3] {
    let patch = format!("--- /dev/null\n+++ {path}\n@@ -0,0 +1 @@\n+x\n");
    [
        ("write", json!({ "path": path, "content": "x" })),
        ("edit", json!({ "path": path, "edits": [{ "old": "s", "new": "x" }] })),
        ("patch", json!({ "patch": patch })),
    ]
}

#[test]
fn nothing_is_written_outside_of_the_roots() {
    let stage = Stage::new(&[("in", "s")]);
    let outside = stage.outside();
    std::fs::write(outside.join("secret"), "s").unwrap();
    stage.link("file", outside.join("secret"));
    stage.link("folder", &outside);
    stage.link("dangling", outside.join("new"));
    stage.link("up", "..");
    stage.link("chain", "up/outside");
    stage.link("proc", format!("/proc/self/cwd/{}", outside.join("secret").display()));
    let absolute = outside.join("secret");
    let paths = [
        absolute.to_str().unwrap(),
        "../outside/secret",
        "in/../../outside/secret",
        "file",
        "folder/secret",
        "folder/new",
        "dangling",
        "up/outside/secret",
        "chain/secret",
        "up/root/../outside/new",
        "proc",
    ];
    for path in paths {
        stage.run("read", &json!({ "path": path }));
        for (tool, arguments) in writes(path) {
            let refused = stage.no(tool, &arguments);
            assert!(refused.contains("is outside of the conversation's folders"), "{tool} {path}: {refused}");
            assert_eq!(stage.intent(tool, &arguments).unwrap_err(), refused);
        }
    }
    assert_eq!(std::fs::read_to_string(outside.join("secret")).unwrap(), "s");
    assert!(!outside.join("new").exists());
}

#[test]
fn a_link_that_stays_inside_is_followed() {
    let stage = Stage::new(&[("real/a", "old")]);
    stage.link("link", "real/a");
    stage.link("back", "../root/real");
    stage.read(&["link"]);
    let output = stage.run("write", &json!({ "path": "link", "content": "new" }));
    assert_eq!(output.written, [stage.path("real/a")]);
    assert_eq!(stage.text("real/a").as_deref(), Some("new"));
    assert!(stage.path("link").is_symlink());
    // It is one file under all of its names.
    let edit = json!({ "path": "back/a", "edits": [{ "old": "new", "new": "newer" }] });
    assert!(stage.ok("edit", &edit).starts_with("edited real/a: 1 place\n"));
}

#[test]
fn a_loop_of_links_ends() {
    let stage = Stage::new(&[]);
    stage.link("a", "b");
    stage.link("b", "a");
    let refused = stage.no("write", &json!({ "path": "a/x", "content": "" }));
    assert_eq!(refused, "cannot tell where `a/x` leads: too many links, one leading to the next");
}

/// A repository is recognized by its content, whatever its name, and must not be completed, either.
#[test]
fn trial_27_a_git_repository_is_protected_under_every_name() {
    let whole = [("HEAD", "ref: x"), ("objects/k", ""), ("refs/k", "")];
    let (mut files, mut left_out): (Vec<(String, &str)>, Vec<String>) = (Vec::new(), Vec::new());
    for (at, (out, _)) in whole.iter().enumerate() {
        let of = |name: &str| format!("almost{at}/{name}");
        files.extend(whole.iter().filter(|(name, _)| name != out).map(|(name, text)| (of(name), *text)));
        left_out.push(of(out));
    }
    files.extend(whole.map(|(name, text)| (format!("bare/{name}"), text)));
    files.extend([("tree/HEAD".to_owned(), "ref: x"), ("tree/commondir".to_owned(), "../bare")]);
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    let stage = Stage::new(&files);
    let inside = ["bare/config", "bare/hooks/post-commit", "bare/info/attributes", "tree/config.worktree"];
    for path in inside.into_iter().chain(left_out.iter().map(String::as_str)) {
        for (tool, arguments) in writes(path) {
            let refused = stage.no(tool, &arguments);
            assert!(refused.contains("is in git's own folder"), "{tool} {path}: {refused}");
        }
    }
    for path in ["almost0/config", "HEAD", "refs/k"] {
        stage.ok("write", &json!({ "path": path, "content": "" }));
    }
}

#[test]
fn git_keeps_its_own_folder() {
    let stage = Stage::new(&[(".git/config", "s"), ("sub/.git/hooks/x", "s")]);
    stage.link("hooks", ".git");
    for path in [".git/config", ".GIT/config", "sub/.git/hooks/x", "hooks/config", "hooks/new", ".git"] {
        for (tool, arguments) in writes(path) {
            let refused = stage.no(tool, &arguments);
            assert!(refused.contains("is in git's own folder"), "{tool} {path}: {refused}");
        }
    }
    assert_eq!(stage.text(".git/config").as_deref(), Some("s"));
    assert_eq!(
        stage.ok("write", &json!({ "path": ".gitignore", "content": "" })),
        "made .gitignore: 0 lines, 0 B"
    );
}

#[test]
fn pipes_and_devices_are_refused_without_waiting() {
    let stage = Stage::new(&[("a", "needle\n")]);
    rustix::fs::mknodat(CWD, stage.path("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    stage.link("zero", "/dev/zero");
    assert_eq!(stage.no("read", &json!({ "path": "pipe" })), "cannot read `pipe`: it is a pipe, not a file");
    assert_eq!(
        stage.no("read", &json!({ "path": "zero" })),
        "cannot read `zero`: it is a device, not a file"
    );
    assert_eq!(
        stage.no("write", &json!({ "path": "pipe", "content": "" })),
        "cannot write `pipe`: it is a pipe, not a file"
    );
    assert_eq!(stage.ok("grep", &json!({ "pattern": "needle", "all": true })), "a\n1: needle\n");
    assert_eq!(
        stage.no("grep", &json!({ "pattern": "x", "path": "pipe" })),
        "`pipe` is neither a file nor a folder"
    );
    assert!(stage.ok("list", &json!({})).contains("pipe  (a pipe, a socket or a device)\n"));
}

#[test]
fn a_large_file_is_read_in_part_and_not_edited() {
    let stage = Stage::new(&[]);
    let mut file = File::create(stage.path("large")).unwrap();
    file.write_all("line\n".repeat(5_000).as_bytes()).unwrap();
    file.set_len(5_000_000_000).unwrap();
    let output = stage.run("read", &json!({ "path": "large" }));
    assert!(output.content.contains("  2000\tline\n[Lines 1 to 2000 are shown. To read on: offset 2001.]\n"));
    assert!(output.content.ends_with(
        "[The file is large (5.0 GB): it can be read, but not be edited or replaced by tools for files.]\n"
    ));
    assert!(output.content.len() < 51_000 && output.facts.is_empty());
    for (tool, arguments) in [
        ("write", json!({ "path": "large", "content": "" })),
        ("edit", json!({ "path": "large", "edits": [{ "old": "a", "new": "b" }] })),
    ] {
        let refused = stage.no(tool, &arguments);
        assert!(refused.contains("it is too large (5.0 GB; at most 50.0 MB are edited)"), "{refused}");
    }
}

#[test]
fn reading_a_large_file_stops_on_request() {
    let stage = Stage::new(&[]);
    let mut file = File::create(stage.path("large")).unwrap();
    file.write_all("line\n".repeat(5_000).as_bytes()).unwrap();
    file.set_len(50_000_000_000).unwrap();
    stage.stop();
    let output = stage.run("read", &json!({ "path": "large", "offset": 6_000 }));
    assert_eq!(output.outcome, ToolOutcome::Failed);
    assert_eq!(output.content, "cannot read `large`: it was stopped");
}

#[test]
fn one_endless_line_costs_no_memory() {
    let stage = Stage::new(&[("b", "needle\n")]);
    stage.put("a", "needle ".repeat(3_000_000));
    let found = stage.ok("grep", &json!({ "pattern": "needle" }));
    assert_eq!(found, "b\n1: needle\n[1 file or folder could not be read.]\n");
}

#[test]
fn file_names_are_never_interpreted_as_terminal_control_sequences() {
    let name = "a\u{1b}[2J\nb: 1\u{202e}";
    let shown = "a\\u{1b}[2J\\nb: 1\\u{202e}";
    let stage = Stage::new(&[(name, "needle\n")]);
    assert_eq!(stage.ok("list", &json!({})), format!("{shown}  7 B\n"));
    assert_eq!(stage.ok("glob", &json!({ "pattern": "*" })), format!("{shown}\n"));
    assert_eq!(stage.ok("grep", &json!({ "pattern": "needle" })), format!("{shown}\n1: needle\n"));
    stage.read(&[name]);
    for (tool, arguments) in &writes(name)[..2] {
        let arguments: &Value = arguments;
        match stage.intent(tool, arguments) {
            Ok(intent) => {
                assert_eq!(intent.line, format!("{tool} {shown}"));
                assert!(intent.detail.unwrap().starts_with(&format!("--- a/{shown}\n+++ b/{shown}\n")));
            }
            Err(why) => {
                assert!(why.starts_with(&format!("nothing was changed in `{shown}`: the edit")), "{why}");
            }
        }
        assert!(!stage.run(tool, arguments).content.contains(['\u{1b}', '\u{202e}']));
    }
    let nul = stage.no("read", &json!({ "path": "a\0b" }));
    assert_eq!(nul, "the path `a\\u{0}b` holds a NUL character: no file has one");
}

/// What a tool finds within a time limit; `None` if it is blocked.
fn soon(stage: Stage, tool: &'static str, asked: Value) -> Option<String> {
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || tell.send(stage.ok(tool, &asked)));
    told.recv_timeout(std::time::Duration::from_secs(60)).ok()
}

#[test]
fn trial_24_pipes_and_endless_links_as_ignore_files_do_not_delay_a_search() {
    for name in [".gitignore", ".ignore", ".git/info/exclude"] {
        for is_pipe in [true, false] {
            for (tool, asked) in [
                ("list", json!({ "depth": 3 })),
                ("glob", json!({ "pattern": "**/*.rs" })),
                ("grep", json!({ "pattern": "needle" })),
            ] {
                let stage = Stage::new(&[("src/a.rs", "needle\n"), (".git/info/attributes", "")]);
                let path = stage.path(name);
                match is_pipe {
                    true => rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::RWXU, 0).unwrap(),
                    false => std::os::unix::fs::symlink("/dev/zero", &path).unwrap(),
                }
                let found = soon(stage, tool, asked);
                let found = found.unwrap_or_else(|| panic!("{tool} waits for {name}, a pipe: {is_pipe}"));
                assert!(found.contains("a.rs"), "{found}");
            }
        }
    }
}

#[test]
fn trial_24_fifty_megabytes_of_ignore_rules_do_not_delay_a_search() {
    let rules: String = (0..90_000).map(|at| format!("x{at}y\n")).collect();
    let files: Vec<(String, &str)> = (0..60)
        .flat_map(|no| {
            [
                (format!("sub{no}/.gitignore"), &*rules),
                (format!("sub{no}/kept"), ""),
                (format!("sub{no}/x7y"), ""),
            ]
        })
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (&**name, *text)).collect();
    assert!(rules.len() * 60 > 40_000_000);
    let found = soon(Stage::new(&files), "glob", json!({ "pattern": "**/kept" })).expect("in time");
    assert_eq!(found.lines().filter(|line| line.ends_with("kept")).count(), 60);
    // The amount of rules that is read is limited: the first files count, and the others do not.
    let found = soon(Stage::new(&files), "glob", json!({ "pattern": "**/x7y" })).expect("in time");
    let left_out = 60 - found.lines().filter(|line| line.ends_with("x7y")).count();
    assert!((1..10).contains(&left_out), "{left_out} of 60");
}
