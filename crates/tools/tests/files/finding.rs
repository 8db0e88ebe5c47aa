//! The tools `list`, `glob` and `grep`.

use std::fs::File;
use std::time::{Duration, UNIX_EPOCH};

use retake_core::{CallTarget, EffectClass};
use serde_json::json;

use super::stage::Stage;

fn project() -> Stage {
    let stage = Stage::new(&[
        (".gitignore", "target/\n*.log\n"),
        (".hidden", "x"),
        ("src/main.rs", "fn main() {\n    let Needle = 1;\n}\n"),
        ("src/deep/lib.rs", "// needle\n"),
        ("target/out.rs", "needle\n"),
        ("a.log", "needle\n"),
        (".git/config", "needle\n"),
    ]);
    stage.link("link", "src");
    stage
}

#[test]
fn a_list_of_a_folder_follows_the_ignore_rules() {
    let stage = project();
    let listed = stage.ok("list", &json!({}));
    assert_eq!(listed, ".gitignore  14 B\n.hidden  1 B\nlink -> src\nsrc/\n");
    let deep = stage.ok("list", &json!({ "path": "src", "depth": 5 }));
    assert_eq!(deep, "deep/\ndeep/lib.rs  10 B\nmain.rs  34 B\n");
    let all = stage.ok("list", &json!({ "all": true }));
    assert_eq!(all, ".gitignore  14 B\n.hidden  1 B\na.log  7 B\nlink -> src\nsrc/\ntarget/\n");
    let target = stage.ok("list", &json!({ "path": "target" }));
    assert_eq!(target, "out.rs  7 B\n");
    assert_eq!(
        stage.no("list", &json!({ "path": "src/main.rs" })),
        "`src/main.rs` is not a folder; to see a file, use `read`"
    );
    assert!(stage.no("list", &json!({ "path": "none" })).starts_with("cannot look at `none`: "));
    std::fs::create_dir(stage.path("empty")).unwrap();
    assert!(stage.ok("list", &json!({ "path": "empty" })).starts_with("[Nothing is here"));
}

#[test]
fn a_long_list_is_bounded() {
    let stage = Stage::new(&[]);
    for number in 0..1_005 {
        stage.put(&format!("{number:04}"), "");
    }
    let listed = stage.ok("list", &json!({}));
    assert_eq!(listed.lines().count(), 1_001);
    assert!(
        listed.ends_with(
            "0999  0 B\n[There are more entries: list a folder below, less deep, or use `glob`.]\n"
        )
    );
}

#[test]
fn files_are_found_by_name_the_newest_first() {
    let stage = project();
    let touch = |name: &str, seconds| {
        let file = File::options().write(true).open(stage.path(name)).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
    };
    touch("src/main.rs", 1_000);
    touch("src/deep/lib.rs", 2_000);
    let glob = |arguments| stage.ok("glob", &arguments);
    assert_eq!(glob(json!({ "pattern": "*.rs" })), "src/deep/lib.rs\nsrc/main.rs\n");
    assert_eq!(glob(json!({ "pattern": "src/*.rs" })), "src/main.rs\n");
    assert_eq!(glob(json!({ "pattern": "./src/**/*.{rs,txt}" })), "src/deep/lib.rs\nsrc/main.rs\n");
    assert_eq!(glob(json!({ "pattern": "*.rs", "path": "src/deep" })), "src/deep/lib.rs\n");
    assert_eq!(glob(json!({ "pattern": "out.rs", "all": true })), "target/out.rs\n");
    assert_eq!(glob(json!({ "pattern": "*.c" })), "[No file has such a name.]\n");
    let bad = stage.no("glob", &json!({ "pattern": "a{b" }));
    assert!(bad.starts_with("the pattern `a{b` cannot be read: "), "{bad}");
    let leaves = stage.no("glob", &json!({ "pattern": "../*" }));
    assert_eq!(leaves, "the pattern `../*` leaves the folder: name that folder in `path` instead");
    for number in 0..205 {
        stage.put(&format!("many/{number}.x"), "");
    }
    let many = glob(json!({ "pattern": "*.x" }));
    assert_eq!(many.lines().count(), 201);
    assert!(many.ends_with("[5 older files not shown: narrow the pattern or the folder.]\n"));
}

#[test]
fn lines_are_found_by_a_regular_expression() {
    let stage = project();
    let grep = |arguments| stage.ok("grep", &arguments);
    assert_eq!(grep(json!({ "pattern": "needle" })), "src/deep/lib.rs\n1: // needle\n");
    assert_eq!(
        grep(json!({ "pattern": "needle", "ignore_case": true, "context": 1 })),
        "src/deep/lib.rs\n1: // needle\n\nsrc/main.rs\n1- fn main() {\n2:     let Needle = 1;\n3- }\n"
    );
    assert_eq!(grep(json!({ "pattern": "(?i)needle", "show": "files" })), "src/deep/lib.rs\nsrc/main.rs\n");
    assert_eq!(grep(json!({ "pattern": "\\{|\\}", "show": "count" })), "src/main.rs: 2\n");
    assert_eq!(grep(json!({ "pattern": "e", "glob": "main.*" })), "src/main.rs\n2:     let Needle = 1;\n");
    assert_eq!(grep(json!({ "pattern": "needle", "path": "a.log" })), "a.log\n1: needle\n");
    assert_eq!(
        grep(json!({ "pattern": "needle", "all": true, "show": "count" })),
        "a.log: 1\nsrc/deep/lib.rs: 1\ntarget/out.rs: 1\n"
    );
    assert_eq!(grep(json!({ "pattern": "nothing such" })), "[No line matches.]\n");
    assert_eq!(
        grep(json!({ "pattern": "^fn|^\\}", "path": "src" })),
        "src/main.rs\n1: fn main() {\n--\n3: }\n".replace("--\n", "")
    );
}

#[test]
fn an_invalid_search_is_reported() {
    let stage = project();
    let bad = stage.no("grep", &json!({ "pattern": "a(b" }));
    assert!(
        bad.starts_with("the pattern is not a valid regular expression:\n") && bad.contains("unclosed group"),
        "{bad}"
    );
    assert_eq!(stage.intent("grep", &json!({ "pattern": "a(b" })).unwrap_err(), bad);
    assert!(
        stage
            .no("grep", &json!({ "pattern": "a\\nb" }))
            .starts_with("the pattern is not a valid regular expression:")
    );
    assert!(stage.no("grep", &json!({ "pattern": "a", "glob": "{" })).contains("cannot be read"));
    assert!(stage.no("grep", &json!({ "pattern": "a", "show": "all" })).contains("`show` must be one of"));
}

#[test]
fn matches_are_bounded_and_binary_files_are_skipped() {
    let many = "needle\n".repeat(2_000);
    let wide = format!("needle {}\n", "x".repeat(10_000));
    let stage = Stage::new(&[("many", &many), ("wide", &wide)]);
    stage.put("binary", b"needle\nneedle\0\n");
    let lines = stage.ok("grep", &json!({ "pattern": "needle" }));
    assert_eq!(lines.lines().count(), 502);
    assert!(lines.ends_with(
        "500: needle\n[There may be more: narrow the pattern, `path` or `glob`, or show `files`.]\n"
    ));
    assert_eq!(stage.ok("grep", &json!({ "pattern": "needle", "show": "count" })), "many: 2000\nwide: 1\n");
    let cut = stage.ok("grep", &json!({ "pattern": "needle", "path": "wide" }));
    assert!(cut.len() < 600 && cut.ends_with("more bytes of this line]\n"), "{cut}");
}

#[test]
fn the_files_of_a_search_are_known_before_it_runs() {
    let stage = project();
    for (tool, line) in [("list", "list src"), ("glob", "glob x in src"), ("grep", "grep x in src")] {
        let arguments =
            if tool == "list" { json!({ "path": "src" }) } else { json!({ "path": "src", "pattern": "x" }) };
        let intent = stage.intent(tool, &arguments).unwrap();
        assert_eq!((intent.class, intent.line.as_str()), (EffectClass::None, line));
        assert_eq!(intent.touches, [CallTarget::Read(stage.path("src"))]);
    }
}

#[test]
fn a_search_stops_on_request() {
    let stage = Stage::new(&[]);
    for number in 0..3_000 {
        stage.put(&format!("{}/{number}", number % 50), "needle\n");
    }
    stage.stop();
    for (tool, arguments) in
        [("grep", json!({ "pattern": "needle", "show": "count" })), ("glob", json!({ "pattern": "*" }))]
    {
        let found = stage.ok(tool, &arguments);
        assert!(found.ends_with("[It was stopped before everything was looked at.]\n"), "{tool}: {found}");
        assert!(found.lines().count() < 3_000, "{tool}");
    }
}
