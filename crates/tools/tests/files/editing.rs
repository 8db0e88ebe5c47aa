//! The tool `edit`.

use retake_core::CallTarget;
use serde_json::{Value, json};

use super::stage::Stage;

/// Old and new texts.
type Edits<'a> = &'a [(&'a str, &'a str)];

fn edit(edits: Edits<'_>) -> Value {
    let edits: Vec<_> = edits.iter().map(|(old, new)| json!({ "old": old, "new": new })).collect();
    json!({ "path": "a", "edits": edits })
}

/// The error for an edit that does not match such a file.
#[track_caller]
fn refused(text: &str, edits: Edits<'_>) -> String {
    let stage = Stage::new(&[("a", text)]);
    stage.read(&["a"]);
    let why = stage.no("edit", &edit(edits));
    assert_eq!(stage.text("a").as_deref(), Some(text));
    assert_eq!(stage.intent("edit", &edit(edits)).unwrap_err(), why);
    why.strip_prefix("nothing was changed in `a`: ").unwrap().to_owned()
}

#[test]
fn several_texts_are_replaced_one_after_the_other() {
    let stage = Stage::new(&[("a", "one\ntwo\nthree\n")]);
    stage.read(&["a"]);
    let arguments = edit(&[("one\n", "1\n"), ("1\ntwo", "1\n2"), ("three\n", "")]);
    let intent = stage.intent("edit", &arguments).unwrap();
    assert_eq!(intent.line, "edit a (3 places)");
    assert_eq!(intent.touches, [CallTarget::Write(stage.path("a"))]);
    let output = stage.run("edit", &arguments);
    assert_eq!(output.content, "edited a: 3 places\n@@ -1,3 +1,2 @@\n-one\n-two\n-three\n+1\n+2");
    assert_eq!(output.shown, intent.detail);
    assert_eq!(output.written, [stage.path("a")]);
    assert_eq!(stage.text("a").as_deref(), Some("1\n2\n"));
    // It knows its own result.
    let said = stage.ok("edit", &edit(&[("2", "two")]));
    assert_eq!(said, "edited a: 1 place\n@@ -1,2 +1,2 @@\n 1\n-2\n+two");
}

#[test]
fn a_result_shows_numbered_whole_lines_within_its_limit() {
    let stage = Stage::new(&[("a", "one\nprint(\"hi\")\nthree\nfour\n"), ("b", &"x\n".repeat(100))]);
    stage.read(&["a", "b"]);
    let said = stage.ok("edit", &edit(&[("hi", "ho")]));
    let hunk = "@@ -1,3 +1,3 @@\n one\n-print(\"hi\")\n+print(\"ho\")\n three";
    assert_eq!(said, format!("edited a: 1 place\n{hunk}"));
    let all = json!({ "path": "b", "edits": [{ "old": "x", "new": "y", "all": true }] });
    let said = stage.ok("edit", &all);
    assert_eq!(said.lines().count(), 42, "{said}");
    assert!(said.ends_with("\n[161 more lines not shown]"), "{said}");
}

#[test]
fn every_occurrence_is_replaced_on_request() {
    let stage = Stage::new(&[("a", "aaa b aa")]);
    stage.read(&["a"]);
    let arguments = json!({ "path": "a", "edits": [{ "old": "aa", "new": "aaa", "all": true }] });
    let said = stage.ok("edit", &arguments);
    assert!(said.starts_with("edited a: 2 places\n@@ -1 +1 @@\n-aaa b aa\n"), "{said}");
    assert_eq!(stage.text("a").as_deref(), Some("aaaa b aaa"));
}

#[test]
fn an_edit_that_does_not_fit_changes_nothing_and_says_why() {
    let many = "x\ny\nx\n".repeat(6);
    let rows: [(&str, Edits<'_>, &str); 6] = [
        ("a b", &[("a", "1"), ("c", "2")], "edit 2 of 2 does not fit: its `old` is not in the file, nor is"),
        (&many, &[("x\n", "")], "the edit fits in 12 places (lines 1, 3, 4, 6, 7, 9, 10, 12, …): give more"),
        ("aaa", &[("aa", "b")], "the edit fits in 2 places (lines 1, 1)"),
        ("a", &[("", "b")], "the edit has an empty `old`"),
        ("a", &[("a", "a")], "the edit changes nothing"),
        ("a", &[("a", "b"), ("a", "c")], "edit 2 of 2 does not fit"),
    ];
    for (text, edits, why) in rows {
        let said = refused(text, edits);
        assert!(said.starts_with(why), "{said}");
    }
}

#[test]
fn the_nearest_match_is_shown() {
    let file = "fn a() {\n\tcall(1);\n}\n\nfn b() {\n\tother();\n}\n";
    assert_eq!(
        refused(file, &[("fn a() {\n    call(1);\n}", "")]),
        "the edit does not fit: its `old` is not in the file, but this is, which differs in white space only:\n     \
         1\tfn a() {\n     2\t\tcall(1);\n     3\t}\n"
    );
    assert_eq!(
        refused(file, &[("fn b() {\n\tanother();\n}", "")]),
        "the edit does not fit: its `old` is not in the file. What comes nearest:\n     \
         5\tfn b() {\n     6\t\tother();\n     7\t}\n"
    );
    assert_eq!(
        refused(file, &[("call(2, 3)", "")]),
        "the edit does not fit: its `old` is not in the file. What comes nearest:\n     \
         2\t\tcall(1);\n     3\t}\n     4\t\n"
    );
    let mixed = refused("a\r\nb\r\nc\n", &[("a\nb", "")]);
    assert!(mixed.contains("some lines of this file end with CRLF, some with LF"), "{mixed}");
}

/// The file after one edit, and the remark about it.
#[track_caller]
fn inexact(text: &str, old: &str, new: &str) -> (String, String) {
    let stage = Stage::new(&[("a", text)]);
    stage.read(&["a"]);
    let said = stage.ok("edit", &edit(&[(old, new)]));
    let remark = said.lines().find_map(|line| line.strip_prefix("[the edit did not match exactly: "));
    (stage.text("a").unwrap(), remark.unwrap_or_default().trim_end_matches(']').to_owned())
}

/// What the suites of other agents take for the same text.
#[test]
fn an_edit_matches_by_white_space_and_punctuation_where_nothing_is_equal() {
    const SPACE: &str = "white space at the ends of lines differs";
    const INDENT: &str = "the indentation differs";
    const SIGNS: &str = "Unicode quotes, dashes or spaces differ";
    let rows = [
        // Equal text wins, also where another place is only like it.
        ("a \nb\na\nb\n", "a\nb", "c", "a \nb\nc\n", ""),
        // White space at the ends of lines, in the file or in the call.
        ("foo  \nbar\t\nbaz\n", "foo\nbar\nbaz", "x", "x\n", SPACE),
        ("foo\nbar\n", "foo \nbar  \n", "x\n", "x\n", SPACE),
        ("foo\nbar", "bar ", "x", "foo\nx", SPACE),
        ("let x = f( \n\t1);", "x = f(\n\t1)", "y", "let y;", SPACE),
        // A line that old and new share stays as it is in the file.
        ("keep  \nold\nkeep\t\n", "keep\nold\nkeep\n", "keep\nnew\nkeep\n", "keep  \nnew\nkeep\t\n", SPACE),
        // Indentation: too little, too much, tabs; empty lines have none.
        (
            "    def f():\n        a\n\n        b\n",
            "def f():\n    a\n \n    b\n",
            "def f():\n    c\n\n        d\n",
            "    def f():\n        c\n\n            d\n",
            INDENT,
        ),
        ("a:\n  b\n", "    a:\n      b", "    a:\n      c\n        d", "a:\n  c\n    d\n", INDENT),
        ("\t\tx();\n\t\ty();\n", "\tx();\n\ty();\n", "\tx();\n\tz();\n", "\t\tx();\n\t\tz();\n", INDENT),
        ("  a\r\n  b\r\n", "a\nb", "a\nc\nd", "  a\r\n  c\r\n  d\r\n", INDENT),
        // Typographic quotes, dashes and spaces, also within a line.
        ("say(\u{201c}it\u{2019}s\u{201d});\n", "\"it's\"", "\"no\"", "say(\"no\");\n", SIGNS),
        ("say(\"it's\");\n", "\u{201c}it\u{2019}s\u{201d}", "no", "say(no);\n", SIGNS),
        ("1\u{2013}2 \u{2014} \u{2212}3\n", "1-2 - -3", "4", "4\n", SIGNS),
        ("a\u{a0}b\u{202f}c\u{3000}\nd", "a b c\nd", "e", "e", SIGNS),
        (
            "  # \u{2018}a\u{2019}\n  b\n",
            "# 'a'\nb\n",
            "# 'a'\nc\n",
            "  # \u{2018}a\u{2019}\n  c\n",
            "the indentation and Unicode punctuation differ",
        ),
    ];
    for (text, old, new, after, how) in rows {
        assert_eq!(inexact(text, old, new), (after.to_owned(), how.to_owned()), "{text:?} {old:?}");
    }
}

#[test]
fn an_inexact_edit_that_is_ambiguous_changes_nothing() {
    let rows: [(&str, Edits<'_>, &str); 8] = [
        (
            "a \nb\n\na\t\nb\n",
            &[("a\nb", "c")],
            "the edit fits nowhere exactly, and in 2 places (lines 1, 4) if white",
        ),
        (
            "  a\n  b\n\n a\n b\n",
            &[("a\nb", "c")],
            "the edit fits nowhere exactly, and in 2 places (lines 1, 4) if the",
        ),
        (
            "\u{201c}a\u{201d} \u{201c}a\u{201d}",
            &[("\"a\"", "b")],
            "the edit fits nowhere exactly, and in 2 places (lines 1, 1)",
        ),
        // Different shifts, a line that can't be shifted, a blank old text.
        ("  a\n    b\n", &[("a\nb", "c")], "the edit does not fit"),
        ("a\nb\n", &[("  a\n  b", "  a\nc")], "the edit does not fit"),
        ("a\n\nb\n", &[("\n  \n", "c")], "the edit does not fit"),
        ("aa\u{a0}aa\n", &[("a\u{2002}b", "c")], "the edit does not fit"),
        // A blank first line is not the end of any line.
        ("def f():\n    a()\n    b()\n", &[("  \n    b()", "    c()\n    b()")], "the edit does not fit"),
    ];
    for (text, edits, why) in rows {
        let said = refused(text, edits);
        assert!(said.starts_with(why), "{said}");
    }
    let stage = Stage::new(&[("a", "a \nb\n")]);
    stage.read(&["a"]);
    let all = json!({ "path": "a", "edits": [{ "old": "a\nb", "new": "c", "all": true }] });
    assert!(stage.no("edit", &all).contains("does not fit"));
}

#[test]
fn line_breaks_and_bytes_that_are_no_text_stay() {
    let stage = Stage::new(&[("a", "one\r\ntwo\r\nthree\r\n")]);
    stage.read(&["a"]);
    let output = stage.run("edit", &edit(&[("one\ntwo", "1\n2\n2.5")]));
    assert!(output.shown.is_some_and(|diff| diff.contains("\n+2.5\n three\n")));
    assert_eq!(stage.text("a").as_deref(), Some("1\r\n2\r\n2.5\r\nthree\r\n"));
    stage.put("a", b"gr\xfc\xdfe, one\n");
    stage.read(&["a"]);
    stage.ok("edit", &edit(&[("one", "two")]));
    assert_eq!(std::fs::read(stage.path("a")).unwrap(), b"gr\xfc\xdfe, two\n");
}

#[test]
fn a_file_is_edited_only_if_its_current_content_was_read() {
    let stage = Stage::new(&[("a", "one")]);
    let arguments = edit(&[("one", "two")]);
    assert!(stage.no("edit", &arguments).contains("you have not read it"));
    stage.read(&["a"]);
    stage.put("a", "one!");
    assert!(stage.no("edit", &arguments).contains("`a` has changed since you read it: read it again"));
    let missing = stage.no("edit", &json!({ "path": "b", "edits": [{ "old": "a", "new": "b" }] }));
    assert_eq!(missing, "cannot edit `b`: nothing is there; make it with `write`");
    assert!(stage.no("edit", &json!({ "path": "a", "edits": [] })).contains("no edits were given"));
    assert_eq!(stage.text("a").as_deref(), Some("one!"));
}
