//! The tool `read`.

use retake_core::{CallTarget, EffectClass};
use serde_json::json;

use super::stage::Stage;

#[test]
fn a_text_is_read_with_line_numbers_and_known_by_its_whole_content() {
    let stage = Stage::new(&[("src/a.txt", "one\ntwo\nthree\n")]);
    assert_eq!(
        stage.ok("read", &json!({ "path": "src/a.txt" })),
        "     1\tone\n     2\ttwo\n     3\tthree\n"
    );
    let whole = blake3::hash(b"one\ntwo\nthree\n").to_hex().to_string();
    assert_eq!(stage.known("src/a.txt"), Some(whole.clone()));
    stage.set_fact(&format!("read/{}", stage.path("src/a.txt").display()), "");
    let part = stage.run("read", &json!({ "path": "src/a.txt", "offset": 2, "limit": 1 }));
    assert_eq!(part.shown.as_deref(), Some("1 line"));
    assert_eq!(part.content, "     2\ttwo\n[Lines 2 to 2 of 3 are shown. To read on: offset 3.]\n");
    assert_eq!(stage.known("src/a.txt"), Some(whole));
    let end = stage.ok("read", &json!({ "path": "src/a.txt", "offset": 3 }));
    assert_eq!(end, "     3\tthree\n[Line 3 is the last one.]\n");
}

#[test]
fn a_relative_name_starts_at_the_folder_of_the_shell() {
    let stage = Stage::new(&[("src/a.txt", "here")]);
    stage.set_fact("cwd", "src");
    assert_eq!(stage.ok("read", &json!({ "path": "a.txt" })), "     1\there\n");
    let absolute = stage.path("src/../src/./a.txt");
    assert_eq!(stage.ok("read", &json!({ "path": absolute })), "     1\there\n");
}

#[test]
fn the_beginning_and_end_of_a_text_are_marked() {
    let stage = Stage::new(&[("empty", ""), ("two", "a\nb")]);
    assert_eq!(stage.ok("read", &json!({ "path": "empty" })), "[The file is empty.]\n");
    assert_eq!(stage.ok("read", &json!({ "path": "two" })), "     1\ta\n     2\tb\n");
    let past = stage.no("read", &json!({ "path": "two", "offset": 3 }));
    assert_eq!(past, "cannot read `two`: it has 2 lines only; begin at an earlier one");
    let zero = stage.no("read", &json!({ "path": "two", "offset": 0 }));
    assert_eq!(zero, "the arguments are not valid: `offset` must be at least 1");
    let other = stage.no("read", &json!({ "path": "two", "lines": 3 }));
    assert!(other.contains("there is no parameter `lines`; there are `path`, `offset`, `limit`"), "{other}");
    assert_eq!(stage.no("read", &json!({ "path": "" })), "cannot read: the path is empty");
}

#[test]
fn a_read_is_bounded_and_can_be_continued() {
    let many: String = (1..=4_500).map(|n| format!("line {n}\n")).collect();
    let wide = format!("{}\n", "x".repeat(1_500)).repeat(100);
    let stage = Stage::new(&[("many", &many), ("wide", &wide)]);
    let first = stage.ok("read", &json!({ "path": "many", "limit": 1_000_000 }));
    assert!(
        first.ends_with("  2000\tline 2000\n[Lines 1 to 2000 of 4500 are shown. To read on: offset 2001.]\n")
    );
    let last = stage.ok("read", &json!({ "path": "many", "offset": 4_001 }));
    assert!(last.starts_with("  4001\tline 4001\n"));
    assert!(last.ends_with("  4500\tline 4500\n[Line 4500 is the last one.]\n"));
    let bytes = stage.ok("read", &json!({ "path": "wide" }));
    assert!(bytes.len() < 50_200, "{}", bytes.len());
    assert!(bytes.ends_with("[Lines 1 to 33 of 100 are shown. To read on: offset 34.]\n"));
}

#[test]
fn a_very_long_line_is_cut() {
    let long = format!("{}ü{}\nnext\n", "x".repeat(1_999), "y".repeat(100_000));
    let stage = Stage::new(&[("long", &long)]);
    let shown = stage.ok("read", &json!({ "path": "long" }));
    let expected = format!("     1\t{}… [100002 more bytes of this line]\n     2\tnext\n", "x".repeat(1_999));
    assert_eq!(shown, expected);
}

#[test]
fn the_encoding_and_line_breaks_of_a_text_are_reported() {
    let stage = Stage::new(&[("crlf", "a\r\nb\r\n")]);
    stage.put("latin", b"gr\xfc\xdfe\n");
    let crlf = stage.ok("read", &json!({ "path": "crlf" }));
    assert_eq!(crlf, "     1\ta\n     2\tb\n[The lines end with CRLF; edits keep that.]\n");
    let latin = stage.ok("read", &json!({ "path": "latin" }));
    assert!(latin.starts_with("     1\tgr\u{fffd}\u{fffd}e\n[The file is not valid UTF-8"), "{latin}");
}

#[test]
fn pictures_and_documents_are_returned_unchanged() {
    let stage = Stage::new(&[]);
    let kinds: [(&str, &[u8], &str); 5] = [
        ("a.png", b"\x89PNG\r\n\x1a\n\0\0", "image/png"),
        ("a.jpg", b"\xff\xd8\xff\xe0\0", "image/jpeg"),
        ("a.gif", b"GIF89a\0", "image/gif"),
        ("a.webp", b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        ("a.pdf", b"%PDF-1.7\n", "application/pdf"),
    ];
    for (name, bytes, media_type) in kinds {
        stage.put(name, bytes);
        let output = stage.run("read", &json!({ "path": name }));
        let attached = &output.attached[0];
        assert_eq!((attached.name.as_str(), attached.media_type.as_str()), (name, media_type));
        assert_eq!(attached.bytes, bytes);
        assert_eq!(stage.known(name), Some(blake3::hash(bytes).to_hex().to_string()));
    }
    let mut large = b"\x89PNG\r\n\x1a\n".to_vec();
    large.resize(5_000_001, 0);
    stage.put("large.png", large);
    let refused = stage.no("read", &json!({ "path": "large.png" }));
    assert_eq!(
        refused,
        "cannot read `large.png`: it is image/png of 5.0 MB, and at most 5.0 MB are shown; make it smaller first"
    );
}

#[test]
fn content_that_is_no_text_is_refused() {
    let stage = Stage::new(&[("src/a.txt", "")]);
    stage.put("binary", b"\x7fELF\0\0\0\0");
    stage.put("late", [vec![b'\n'; 9_000], b"a\0b".to_vec()].concat());
    let binary = stage.no("read", &json!({ "path": "binary" }));
    assert!(binary.contains("it is not text but 8 B of binary data"), "{binary}");
    let late = stage.no("read", &json!({ "path": "late", "offset": 9_000 }));
    assert!(late.contains("there is binary data within these lines"), "{late}");
    assert_eq!(stage.no("read", &json!({ "path": "src" })), "cannot read `src`: it is a folder; use `list`");
    assert_eq!(stage.no("read", &json!({ "path": "none" })), "cannot read `none`: nothing is there");
    assert_eq!(stage.no("read", &json!({ "path": "binary/x" })), "cannot read `binary/x`: nothing is there");
}

#[test]
fn the_files_of_a_read_are_known_before_it_runs() {
    let stage = Stage::new(&[("src/main.rs", "x")]);
    std::fs::write(stage.outside().join("secret"), "s").unwrap();
    stage.link("link", stage.outside().join("secret"));
    let read = |path: &str| stage.intent("read", &json!({ "path": path })).unwrap();
    let inside = read("src/../src/main.rs");
    assert_eq!((inside.class, inside.line.as_str()), (EffectClass::None, "read src/main.rs"));
    assert_eq!(inside.touches, [CallTarget::Read(stage.path("src/main.rs"))]);
    let secret = stage.outside().join("secret");
    assert_eq!(read("../outside/secret").touches, [CallTarget::Read(secret.clone())]);
    // Both its name and its target, so that a rule for either applies.
    assert_eq!(read("link").touches, [CallTarget::Read(secret), CallTarget::Read(stage.path("link"))]);
}
