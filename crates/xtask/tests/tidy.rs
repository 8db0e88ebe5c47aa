//! Fails if the checkout is untidy. The unit tests of each check show what is checked and how it can
//! fail.

use retake_xtask::{Checkout, root, tidy};

#[test]
fn the_tree_is_tidy() {
    let found = tidy(&Checkout::read(&root()).unwrap()).unwrap();
    let lines: Vec<_> = found.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "{} to mend:\n{}", lines.len(), lines.join("\n"));
}

#[test]
fn an_untidy_tree_is_found() {
    let root = tempfile::tempdir().unwrap();
    let source = root.path().join("crates/core/src");
    std::fs::create_dir_all(&source).unwrap();
    std::fs::write(source.join("lib.rs"), "use std::fs;\n").unwrap();
    std::fs::write(root.path().join("crates/core/Cargo.toml"), "[dependencies]\ntokio = \"1\"\n").unwrap();

    let found = tidy(&Checkout::read(root.path()).unwrap()).unwrap();
    let lines: Vec<_> = found.iter().map(ToString::to_string).collect();
    let starts = [
        ".ci/run: missing",
        "ARCHITECTURE.md: missing",
        "CHANGELOG.md: missing",
        "CONTRIBUTING.md: missing",
        "GLOSSARY.md: missing",
        "LICENSE-APACHE: missing",
        "LICENSE-MIT: missing",
        "README.md: missing",
        "crates/core/Cargo.toml: core may not depend on tokio",
        "crates/core/src/lib.rs:1: core may not use std::fs",
        "crates/core/src/lib.rs:1: no header",
        "docs/rewind.svg: missing",
    ];
    assert_eq!(lines.len(), starts.len(), "{lines:#?}");
    for (line, start) in lines.iter().zip(starts) {
        assert!(line.starts_with(start), "{line} should be: {start}");
    }
}
