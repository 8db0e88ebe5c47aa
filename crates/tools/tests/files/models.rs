//! Edits and patches compared with naive models of them.

use proptest::prelude::*;
use retake_core::ToolOutcome;
use serde_json::json;

use super::stage::Stage;

/// The result of edits: each old text must be there once, unless all are meant.
fn naive(text: &str, edits: &[(String, String, bool)]) -> Option<String> {
    let mut text = text.to_owned();
    for (old, new, all) in edits {
        let starts = (0..text.len()).filter(|at| text.get(*at..).is_some_and(|rest| rest.starts_with(old)));
        let many = starts.count();
        if old == new || many == 0 || (many > 1 && !all) {
            return None;
        }
        text = text.replace(old, new);
    }
    Some(text)
}

fn lines() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[ab ]{0,2}", 0..12)
}

fn joined(lines: &[String], ended: bool) -> String {
    let mut text = lines.join("\n");
    if ended && !lines.is_empty() {
        text.push('\n');
    }
    text
}

/// The elements of patches, and what only looks like one.
const PIECES: [&str; 22] = [
    "--- a/a",
    "+++ b/a",
    "--- /dev/null",
    "+++ /dev/null",
    "+++ b/c",
    "--- ",
    "+++ ",
    "--- \"a/\\303\\251\"",
    "+++ \"b/\\303\\251\"",
    "@@ -1,2 +1,2 @@",
    "@@",
    "@@ -0,0 +1 @@",
    " 1",
    "-2",
    "+é",
    "-1",
    "",
    "\\ No newline",
    "diff --git a/a b/a",
    "rename from a",
    "rename to c",
    "new file mode 100755",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn edits_do_what_a_naive_replacement_does(
        text in "[ab\n]{0,12}",
        edits in prop::collection::vec(("[ab\n]{1,3}", "[abc\n]{0,3}", any::<bool>()), 1..4),
    ) {
        let stage = Stage::new(&[("a", &text)]);
        stage.read(&["a"]);
        let given: Vec<_> =
            edits.iter().map(|(old, new, all)| json!({ "old": old, "new": new, "all": all })).collect();
        let output = stage.run("edit", &json!({ "path": "a", "edits": given }));
        let expected = naive(&text, &edits);
        prop_assert_eq!(output.outcome == ToolOutcome::Ok, expected.is_some(), "{}", output.content);
        prop_assert_eq!(stage.text("a"), Some(expected.unwrap_or(text)));
        prop_assert_eq!(stage.names(), ["a"]);
    }

    #[test]
    fn the_difference_of_two_texts_makes_one_of_the_other(
        before in lines(),
        after in lines(),
        ends in any::<(bool, bool)>(),
        radius in 1_usize..4,
    ) {
        let (before, after) = (joined(&before, ends.0), joined(&after, ends.1));
        prop_assume!(before != after);
        let stage = Stage::new(&[("a", &before)]);
        stage.read(&["a"]);
        let diff = similar::TextDiff::from_lines(&before, &after);
        let patch = diff.unified_diff().context_radius(radius).header("a/a", "b/a").to_string();
        let output = stage.run("patch", &json!({ "patch": patch }));
        prop_assert_eq!(output.outcome, ToolOutcome::Ok, "{}\n{}", patch, output.content);
        prop_assert_eq!(stage.text("a"), Some(after));
    }

    #[test]
    fn a_patch_changes_a_text_exactly_as_its_lines_say(
        before in lines(),
        hunk in prop::collection::vec(("[ +-]", "[ab ]{0,2}"), 1..5),
        start in 0_usize..14,
    ) {
        let text = joined(&before, true);
        let stage = Stage::new(&[("a", &text)]);
        stage.read(&["a"]);
        let side = |without: &str| -> Vec<String> {
            hunk.iter().filter(|(sign, _)| sign != without).map(|(_, line)| line.clone()).collect()
        };
        let (old, new) = (side("+"), side("-"));
        let body: String = hunk.iter().map(|(sign, line)| format!("{sign}{line}\n")).collect();
        let head = format!("@@ -{start},{} +{start},{} @@", old.len(), new.len());
        let patch = format!("--- a/a\n+++ b/a\n{head}\n{body}");
        let output = stage.run("patch", &json!({ "patch": patch }));
        let now = stage.text("a").unwrap();
        let places = (0..=before.len()).filter(|at| before[*at..].starts_with(&old));
        let possible: Vec<String> = places
            .map(|at| joined(&[&before[..at], &new, &before[at + old.len()..]].concat(), true))
            .collect();
        match output.written.is_empty() {
            true => prop_assert_eq!(now, text),
            false => prop_assert!(possible.contains(&now), "{patch}: {now:?}"),
        }
    }
    #[test]
    fn any_text_is_a_patch_or_is_refused(
        lines in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..14),
    ) {
        let stage = Stage::new(&[("a", "1\n2\n")]);
        stage.read(&["a"]);
        let output = stage.run("patch", &json!({ "patch": lines.join("\n") }));
        let left = ["a", "b/", "b/a", "b/c", "c", "é"];
        prop_assert!(stage.names().iter().all(|name| left.contains(&name.as_str())), "{:?}", stage.names());
        if output.outcome == ToolOutcome::Failed {
            prop_assert_eq!(stage.text("a"), Some("1\n2\n".to_owned()));
            prop_assert_eq!(stage.names(), ["a"]);
        }
    }
}
