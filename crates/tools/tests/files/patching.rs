//! The tool `patch`.

use retake_core::CallTarget;
use serde_json::{Value, json};

use super::stage::Stage;

fn patch(text: &str) -> Value {
    json!({ "patch": text })
}

/// The result of hunks for such a file `a`; or why they do not match.
fn patched(before: &str, hunks: &str) -> Result<String, String> {
    let stage = Stage::new(&[("a", before)]);
    stage.read(&["a"]);
    let arguments = patch(&format!("--- a/a\n+++ b/a\n{hunks}"));
    let output = stage.run("patch", &arguments);
    match output.written.is_empty() {
        true => Err(output.content),
        false => Ok(stage.text("a").unwrap()),
    }
}

const ALL: &str = "\
diff --git a/change b/change
index 1..2 100644
--- a/change
+++ b/change
@@ -1,3 +1,3 @@ fn
 one
-two
+2
 three
--- /dev/null
+++ b/new/file
@@ -0,0 +1,2 @@
+a
+b
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-bye
diff --git a/old.sh b/new.sh
similarity index 90%
rename from old.sh
rename to new.sh
--- a/old.sh
+++ b/new.sh
@@ -1,2 +1,2 @@
 #!/bin/sh
-a
+b
diff --git a/empty b/empty
new file mode 100755
index 0..1
diff --git a/change.sh b/change.sh
old mode 100644
new mode 100755
";

#[test]
fn a_patch_changes_makes_deletes_and_moves_files() {
    let stage = Stage::new(&[
        ("change", "one\ntwo\nthree\n"),
        ("gone", "bye\n"),
        ("old.sh", "#!/bin/sh\na\n"),
        ("change.sh", "x"),
    ]);
    stage.set_mode("old.sh", 0o700);
    stage.read(&["change", "gone", "old.sh", "change.sh"]);
    let intent = stage.intent("patch", &patch(ALL)).unwrap();
    assert_eq!(intent.line, "patch 6 files (change, new/file, gone, …)");
    let touched = ["change", "new/file", "gone", "old.sh", "new.sh", "empty", "change.sh"];
    assert_eq!(intent.touches, touched.map(|name| CallTarget::Write(stage.path(name))));
    let output = stage.run("patch", &patch(ALL));
    let said =
        "changed change\nmade new/file\ndeleted gone\nmoved old.sh to new.sh\nmade empty\nchanged change.sh";
    assert_eq!(output.content, said);
    assert_eq!(output.written, touched.map(|name| stage.path(name)));
    assert_eq!(stage.names(), ["change", "change.sh", "empty", "new.sh", "new/", "new/file"]);
    assert_eq!(stage.text("change").as_deref(), Some("one\n2\nthree\n"));
    assert_eq!(stage.text("new/file").as_deref(), Some("a\nb\n"));
    assert_eq!(stage.text("new.sh").as_deref(), Some("#!/bin/sh\nb\n"));
    assert_eq!((stage.mode("new.sh"), stage.mode("empty") & 0o100), (0o700, 0o100));
    assert_eq!(stage.mode("change.sh") & 0o111, 0o111);
    // A removed file is no longer known, a moved one is.
    assert_eq!((stage.known("gone").as_deref(), stage.known("old.sh").as_deref()), (Some(""), Some("")));
    assert!(stage.known("new.sh").is_some_and(|known| !known.is_empty()));
}

#[test]
fn nothing_is_written_when_one_part_does_not_fit() {
    let stage = Stage::new(&[("change", "one\ntwo\nthree\n"), ("gone", "bye\n"), ("old.sh", "other\n")]);
    stage.put("change.sh", "");
    stage.read(&["change", "gone", "old.sh", "change.sh"]);
    let refused = stage.no("patch", &patch(ALL));
    assert!(refused.contains("hunk 1 of `old.sh` (line 25 of the patch) does not fit"), "{refused}");
    stage.put("old.sh", "#!/bin/sh\na\n");
    let refused = stage.no("patch", &patch(ALL));
    assert!(refused.contains("`old.sh` has changed since you read it"), "{refused}");
    assert_eq!(stage.names(), ["change", "change.sh", "gone", "old.sh"]);
    assert_eq!(stage.text("change").as_deref(), Some("one\ntwo\nthree\n"));
    // A file that can't be written is found only when the others are on the disk already: they are
    // reverted.
    stage.read(&["old.sh"]);
    stage.set_mode("change.sh", 0o400);
    let refused = stage.no("patch", &patch(ALL));
    assert!(refused.contains("Cannot write `change.sh`"), "{refused}");
    assert_eq!(stage.names(), ["change", "change.sh", "gone", "old.sh"]);
}

#[test]
fn line_numbers_may_be_off_but_not_the_lines() {
    let twice = "a\nx\nb\na\nx\nb\n";
    let rows = [
        ("1\n2\n3\n4\n", "@@ -1,2 +1,2 @@\n 3\n-4\n+four\n", Ok("1\n2\n3\nfour\n")),
        ("1\n2\n", "@@\n-2\n+two\n", Ok("1\ntwo\n")),
        // Wrong counts, an empty line without its space, and one after the hunk.
        ("1\n\n2\n", "@@ -1,9 +1,9 @@\n 1\n\n-2\n+two\n\n", Err("does not fit")),
        ("1\n\n2\n", "@@ -1,3 +1,3 @@\n 1\n\n-2\n+two\n\n", Ok("1\n\ntwo\n")),
        ("1\n\n2\n", "@@ -1 +1 @@\n 1\n\n-2\n+two\n", Ok("1\n\ntwo\n")),
        (twice, "@@ -4,3 +4,3 @@\n a\n-x\n+y\n b\n", Ok("a\nx\nb\na\ny\nb\n")),
        (
            twice,
            "@@ -2,3 +2,3 @@\n a\n-x\n+y\n b\n",
            Err("fits in 2 places (from lines 1, 4), but not where it says"),
        ),
        // The second is as far off as the first one was.
        (
            "0\n0\na\nx\nb\na\nx\nb\n",
            "@@ -1,2 +1,3 @@\n 0\n 0\n+1\n@@ -4,3 +5,3 @@\n a\n-x\n+y\n b\n",
            Err("fits in 2 places"),
        ),
        (
            "h\n0\n0\n1\na\nx\na\nx\n",
            "@@ -2,2 +2,2 @@\n 0\n-1\n+2\n@@ -4,2 +4,2 @@\n a\n-x\n+y\n",
            Ok("h\n0\n0\n2\na\ny\na\nx\n"),
        ),
        ("1\n2\n", "@@ -2,0 +3 @@\n+3\n", Ok("1\n2\n3\n")),
        ("1\n2\n", "@@ -7,0 +8 @@\n+3\n", Err("does not say at which line to add")),
        ("1\n2\n", "@@ -1 +1 @@\n 1\n", Err("line 3 of the patch: the hunk changes nothing")),
        ("1\n2\n", "@@ -1 +1 @@\n-1\n+one\nnext\n", Err("line 6 of the patch: a line of a hunk begins with")),
        ("  1\n", "@@ -1 +1 @@\n-1\n+2\n", Ok("  2\n")),
        ("  0 \n  1\n", "@@\n 0\n-1\n+2\n+ 3\n", Ok("  0 \n  2\n   3\n")),
        ("\u{2018}0\u{2019}\n1\n", "@@\n '0'\n-1\n+2\n", Ok("\u{2018}0\u{2019}\n2\n")),
        // The line number decides between equal places only.
        (
            " 1\n0\n 1\n",
            "@@ -1 +1 @@\n-1\n+2\n",
            Err("fits nowhere exactly, and in 2 places (from lines 1, 3)"),
        ),
    ];
    for (before, hunks, expected) in rows {
        match (patched(before, hunks), expected) {
            (Ok(after), Ok(expected)) => assert_eq!(after, expected, "{hunks}"),
            (Err(why), Err(expected)) => assert!(why.contains(expected), "{hunks}: {why}"),
            (found, _) => panic!("{hunks}: {found:?}"),
        }
    }
}

#[test]
fn the_end_of_a_file_and_its_line_breaks_stay() {
    let none = "\\ No newline at end of file\n";
    let rows = [
        ("1\n2", "@@ -1,2 +1,2 @@\n 1\n-2\n+two\n".to_owned(), "1\ntwo"),
        ("1\n2", format!("@@ -1,2 +1,2 @@\n 1\n-2\n{none}+two\n"), "1\ntwo\n"),
        ("1\n2\n", format!("@@ -1,2 +1,2 @@\n 1\n-2\n+two\n{none}"), "1\ntwo"),
        ("1\n2", format!("@@ -1,2 +1,2 @@\n-1\n+one\n 2\n{none}"), "one\n2"),
        ("1\r\n2\r\n", "@@ -1,2 +1,3 @@\n 1\n-2\n+two\n+3\n".to_owned(), "1\r\ntwo\r\n3\r\n"),
        ("1\r\n2\r\n", "@@ -1,2 +1,2 @@\n 1\r\n-2\r\n+two\r\n".to_owned(), "1\r\ntwo\r\n"),
        ("1\r\n2\n", "@@ -1,2 +1,2 @@\n 1\r\n-2\n+two\n".to_owned(), "1\r\ntwo\n"),
        ("-- a\n", "@@ -1 +1 @@\n--- a\n+++ b\n".to_owned(), "++ b\n"),
    ];
    for (before, hunks, after) in rows {
        assert_eq!(patched(before, &hunks).as_deref(), Ok(after), "{before:?} {hunks}");
    }
}

#[test]
fn a_patch_that_can_not_be_applied_is_refused_with_the_reason() {
    let stage = Stage::new(&[("a", "1\n"), ("b", "2\n")]);
    stage.link("link", "a");
    stage.read(&["a", "b"]);
    let rows = [
        ("", "it names no file"),
        ("@@ -1 +1 @@\n-1\n+2\n", "line 1 of the patch: a hunk has no file names above it"),
        ("diff --git a/a b/c\ncopy from a\ncopy to c\n", "line 2 of the patch: copies are not known"),
        ("diff --git a/p b/p\nGIT binary patch\n", "line 2 of the patch: only texts"),
        ("diff --git a/p b/p\nnew file mode 120000\n", "no links or submodules"),
        ("--- /dev/null\n+++ /dev/null\n", "both names are /dev/null"),
        ("--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n", "`a` is there already"),
        ("diff --git a/a b/b\nrename from a\nrename to b\n", "`b` is there already"),
        ("--- a/c\n+++ b/c\n@@ -1 +1 @@\n-1\n+2\n", "cannot patch `c`: nothing is there"),
        ("--- a/link\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n", "is a link: delete or move it with a command"),
        ("--- a/a\n+++ /dev/null\n@@ -0,0 +1 @@\n+2\n", "does not take all of its lines"),
        ("--- a\n+++ a\n@@ -1 +1 @@\n-1\n+2\n--- a\n+++ a\n@@ -1 +1 @@\n-2\n+3\n", "names `a` twice"),
        (
            "--- a/../../outside/x\n+++ b/../../outside/x\n@@\n-1\n+2\n",
            "is outside of the conversation's folders",
        ),
    ];
    for (text, why) in rows {
        let refused = stage.no("patch", &patch(text));
        assert!(refused.contains(why), "{text}: {refused}");
    }
    assert_eq!((stage.text("a").as_deref(), stage.text("b").as_deref()), (Some("1\n"), Some("2\n")));
}

#[test]
fn names_are_read_as_git_and_diff_write_them() {
    let stage = Stage::new(&[("grüße", "1\n"), ("two words", "1\n"), ("a/x", "1\n"), ("plain", "1\n")]);
    stage.read(&["grüße", "two words", "a/x", "plain"]);
    let text = "Words before.\n\n--- \"a/gr\\303\\274\\303\\237e\"\n+++ \"b/gr\\303\\274\\303\\237e\"\n@@ -1 +1 @@\n-1\n+2\n\
                --- a/two words\t2026-01-01\n+++ b/two words\t2026-01-01\n@@ -1 +1 @@\n-1\n+2\n\n\
                --- a/x\n+++ a/x\n@@ -1 +1 @@\n-1\n+2\n\
                --- plain\r\n+++ plain\r\n@@ -1 +1 @@\r\n-1\n+2\n-- \n2.40\n";
    assert_eq!(
        stage.ok("patch", &patch(text)),
        "changed grüße\nchanged two words\nchanged a/x\nchanged plain"
    );
}

/// The file `a` after such hunks without line numbers; or why they do not match.
fn enveloped(before: &str, hunks: &str) -> Result<String, String> {
    let stage = Stage::new(&[("a", before)]);
    stage.read(&["a"]);
    let text = format!("*** Begin Patch\n*** Update File: a\n{hunks}*** End Patch\n");
    let output = stage.run("patch", &patch(&text));
    match output.written.is_empty() {
        true => Err(output.content),
        false => Ok(stage.text("a").unwrap()),
    }
}

#[test]
fn the_format_of_other_agents_changes_makes_deletes_and_moves_files() {
    let stage = Stage::new(&[("change", "one\ntwo\n"), ("gone", "bye\n"), ("old", "a\nb\n")]);
    stage.read(&["change", "gone", "old"]);
    let text = "<<'EOF'\n*** Begin Patch\n*** Add File: new/file\n+a\n+\n*** Update File: change\n@@\n one\n-two\n+2\n\n\
                *** Delete File: gone\n*** Update File: old\n*** Move to: moved\n@@ a\n-b\n+c\n*** End Patch\nEOF\n";
    let said = "made new/file\nchanged change\ndeleted gone\nmoved old to moved";
    assert_eq!(stage.ok("patch", &patch(text)), said);
    assert_eq!(stage.names(), ["change", "moved", "new/", "new/file"]);
    let texts = ["change", "moved", "new/file"].map(|name| stage.text(name).unwrap());
    assert_eq!(texts, ["one\n2\n", "a\nc\n", "a\n\n"]);
}

#[test]
fn hunks_without_numbers_are_found_by_their_lines() {
    let two = "fn a\n  x\nfn b\n  x\nfn c\n  x\n";
    let rows = [
        ("1\n2\n3\n", " 1\n-2\n+two\n", Ok("1\ntwo\n3\n")),
        ("1\n2\n3\n", "@@\n-1\n+one\n@@\n-3\n+three\n", Ok("one\n2\nthree\n")),
        (two, "@@\n-  x\n+  y\n", Err("fits in 3 places (from lines 2, 4, 6)")),
        (two, "@@ fn b\n-  x\n+  y\n", Ok("fn a\n  x\nfn b\n  y\nfn c\n  x\n")),
        (two, "@@ fn b\n@@ fn c\n-x\n+y\n", Ok("fn a\n  x\nfn b\n  x\nfn c\n  y\n")),
        (two, "@@ fn d\n-  x\n+  y\n", Err("the line `fn d` after its `@@` is not in the file")),
        ("f\nx\nf\nx\n", "@@ f\n-x\n+y\n", Err("fits in 2 places")),
        ("x\ny\nx\n", "@@\n-x\n+z\n*** End of File\n", Ok("x\ny\nz\n")),
        // Lines alone are added at the end, but not below another line.
        ("1\n2\n", "@@\n+3\n", Ok("1\n2\n3\n")),
        ("1\n2\n", "@@ 1\n+3\n", Err("does not say at which line to add")),
        ("1\n", "@@\n 1\n", Err("line 3 of the patch: the hunk changes nothing")),
        ("1\n", "", Err("it changes nothing in `a`")),
        ("1\n", "@@\n-1\n+2\nnext\n", Err("line 6 of the patch: a line of a hunk begins with")),
        ("1\n", "*** Rename File: b\n", Err("line 3 of the patch: it is not a line of this format here")),
        // Typographic dashes and white space at the ends of lines.
        ("import x  # a \u{2013} b\u{2011}c\n", "@@\n-import x  # a - b-c\n+import y\n", Ok("import y\n")),
        ("1 \n2\n", "@@\n 1\n-2\n+two\n", Ok("1 \ntwo\n")),
    ];
    for (before, hunks, expected) in rows {
        match (enveloped(before, hunks), expected) {
            (Ok(after), Ok(expected)) => assert_eq!(after, expected, "{hunks}"),
            (Err(why), Err(expected)) => assert!(why.contains(expected), "{hunks}: {why}"),
            (found, _) => panic!("{hunks}: {found:?}"),
        }
    }
    let stage = Stage::new(&[]);
    let rows = [
        ("*** Begin Patch\n*** Delete File: a\n", "its last line, `*** End Patch`, is missing"),
        ("*** Begin Patch\n*** End Patch\n", "it names no file"),
        (
            "*** Begin Patch\n*** Add File: b\nx\n*** End Patch\n",
            "line 3 of the patch: each line of a new file",
        ),
        ("*** Begin Patch\n+x\n*** End Patch\n", "line 2 of the patch: the header of a file must come first"),
    ];
    for (text, why) in rows {
        let refused = stage.no("patch", &patch(text));
        assert!(refused.contains(why), "{text}: {refused}");
    }
}
