//! The tool `write`.

use retake_core::{CallTarget, EffectClass};
use serde_json::json;

use super::stage::Stage;

#[test]
fn a_new_file_is_written_with_its_folders() {
    let stage = Stage::new(&[]);
    let output = stage.run("write", &json!({ "path": "a/b/c.txt", "content": "one\ntwo\n" }));
    assert_eq!(output.content, "made a/b/c.txt: 2 lines, 8 B");
    assert_eq!(output.written, [stage.path("a/b/c.txt")]);
    assert_eq!(
        output.shown.as_deref(),
        Some("--- /dev/null\n+++ b/a/b/c.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n")
    );
    assert_eq!(stage.text("a/b/c.txt").as_deref(), Some("one\ntwo\n"));
    assert_eq!(stage.names(), ["a/", "a/b/", "a/b/c.txt"]);
    assert_eq!(stage.known("a/b/c.txt"), Some(blake3::hash(b"one\ntwo\n").to_hex().to_string()));
    // It knows what it wrote.
    stage.ok("write", &json!({ "path": "a/b/c.txt", "content": "three\n" }));
    assert_eq!(stage.text("a/b/c.txt").as_deref(), Some("three\n"));
}

#[test]
fn a_file_that_was_not_read_is_not_replaced() {
    let stage = Stage::new(&[("a", "old")]);
    let write = json!({ "path": "a", "content": "new" });
    let refused = stage.no("write", &write);
    assert_eq!(refused, "nothing was changed. `a` is there and you have not read it: read it first");
    stage.read(&["a"]);
    stage.put("a", "other");
    let refused = stage.no("write", &write);
    assert_eq!(
        refused,
        "nothing was changed. `a` has changed since you read it: read it again, then decide what to change"
    );
    assert_eq!(stage.text("a").as_deref(), Some("other"));
    stage.read(&["a"]);
    assert_eq!(stage.ok("write", &write), "replaced a: 1 line, 3 B");
    assert_eq!(stage.text("a").as_deref(), Some("new"));
}

#[test]
fn only_the_approved_content_is_written() {
    let stage = Stage::new(&[("notes", "mine")]);
    std::fs::create_dir(stage.path("d")).expect("a folder");
    let calls = [
        ("write", json!({ "path": "d/y", "content": "x" })),
        ("patch", json!({ "patch": "--- /dev/null\n+++ b/d/y\n@@ -0,0 +1 @@\n+x\n" })),
    ];
    for (tool, call) in calls {
        let intent = stage.intent(tool, &call).expect("an intent");
        let settled: Vec<_> = intent
            .touches
            .iter()
            .filter_map(|touch| match touch {
                CallTarget::Write(path) => Some(path.clone()),
                _ => None,
            })
            .collect();
        std::fs::remove_dir(stage.path("d")).expect("removed");
        std::os::unix::fs::symlink(stage.path("other"), stage.path("d")).expect("a link");
        std::fs::create_dir_all(stage.path("other")).expect("a folder");
        let refused = stage.run_settled(tool, &call, Some(settled.clone())).content;
        assert!(
            refused.starts_with("nothing was changed. The path now leads to other/y"),
            "{tool}: {refused}"
        );
        assert_eq!(stage.text("other/y"), None);
        std::fs::remove_file(stage.path("d")).expect("removed");
        std::fs::create_dir(stage.path("d")).expect("a folder");
        stage.run_settled(tool, &call, Some(settled));
        assert!(stage.text("d/y").is_some(), "{tool}");
        std::fs::remove_file(stage.path("d/y")).expect("removed");
    }
}

#[test]
fn a_write_that_changes_nothing_is_reported() {
    let stage = Stage::new(&[("a", "same")]);
    let output = stage.run("write", &json!({ "path": "a", "content": "same" }));
    assert_eq!(output.content, "nothing to do: a has exactly this content already");
    assert!(output.written.is_empty() && output.shown.is_none());
    assert!(stage.known("a").is_some());
}

#[test]
fn mode_bits_and_line_breaks_stay() {
    let stage = Stage::new(&[("run", "#!/bin/sh\r\na\r\n"), ("mixed", "a\r\nb\n")]);
    stage.set_mode("run", 0o751);
    stage.read(&["run", "mixed"]);
    stage.ok("write", &json!({ "path": "run", "content": "#!/bin/sh\nb\r\n" }));
    assert_eq!(stage.text("run").as_deref(), Some("#!/bin/sh\r\nb\r\n"));
    assert_eq!(stage.mode("run"), 0o751);
    // But not the bits with which the agent's text would run as its owner.
    stage.set_mode("run", 0o6751);
    stage.ok("write", &json!({ "path": "run", "content": "#!/bin/sh\nc\n" }));
    assert_eq!(stage.mode("run"), 0o751);
    stage.ok("write", &json!({ "path": "mixed", "content": "x\ny\r\n" }));
    assert_eq!(stage.text("mixed").as_deref(), Some("x\ny\r\n"));
    assert_eq!(stage.names(), ["mixed", "run"]);
}

#[test]
fn a_file_that_may_not_be_written_is_refused() {
    let stage = Stage::new(&[("a", "x"), ("folder/b", "")]);
    stage.set_mode("a", 0o444);
    stage.read(&["a"]);
    let refused = stage.no("write", &json!({ "path": "a", "content": "y" }));
    assert_eq!(
        refused,
        "nothing was changed. Cannot write `a`: it may not be written: its mode is read-only"
    );
    assert_eq!(
        stage.no("write", &json!({ "path": "folder", "content": "" })),
        "cannot write `folder`: it is a folder"
    );
    let slash = stage.no("write", &json!({ "path": "new/", "content": "" }));
    assert_eq!(slash, "`new/` names a folder, not a file");
    let below = stage.no("write", &json!({ "path": "a/new/c", "content": "" }));
    assert!(below.contains("a part of its path is not a folder"), "{below}");
    assert_eq!(stage.names(), ["a", "folder/", "folder/b"]);
}

#[test]
fn the_change_of_a_write_is_shown_before_it_runs() {
    let stage = Stage::new(&[("src/a.rs", "one\ntwo\n")]);
    let intent = stage.intent("write", &json!({ "path": "src/a.rs", "content": "one\n2\n" })).unwrap();
    assert_eq!((intent.class, intent.line.as_str()), (EffectClass::Workspace, "write src/a.rs"));
    assert_eq!(intent.touches, [CallTarget::Write(stage.path("src/a.rs"))]);
    let diff = "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n";
    assert_eq!(intent.detail.as_deref(), Some(diff));
    // An approval request contains all of it.
    let long: String = (0..500).map(|n| format!("{n} {}\n", "x".repeat(3_000))).collect();
    let intent = stage.intent("write", &json!({ "path": "b", "content": long })).unwrap();
    let asked: String = long.lines().map(|line| format!("+{line}\n")).collect();
    assert!(intent.detail.unwrap().ends_with(&asked));
    let long: String = (0..21_000).map(|n| format!("{n}\n")).collect();
    let intent = stage.intent("write", &json!({ "path": "b", "content": long })).unwrap();
    let detail = intent.detail.unwrap();
    assert_eq!(detail.lines().count(), 20_001);
    assert!(detail.ends_with("[1003 more lines not shown]\n"), "{}", &detail[detail.len() - 100..]);
    let other = stage.intent("write", &json!({ "path": "b", "content": "\0" })).unwrap();
    assert_eq!(other.detail.as_deref(), Some("--- /dev/null\n+++ b/b\n[not text]\n"));
    assert_eq!(stage.names(), ["src/", "src/a.rs"]);
}
