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

/// A text without white space, and with plain quotes.
fn loose(text: &str) -> String {
    text.split_whitespace().collect::<String>().replace(['\u{201c}', '\u{201d}'], "\"")
}

/// Whether a text became another by one replacement, when white space and the kind of quotes do not count.
fn is_one_replacement(before: &str, after: &str, old: &str, new: &str) -> bool {
    let cuts = |text: &str| (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect::<Vec<_>>();
    let fits = |from: usize, to: usize| {
        let (head, tail) = (&before[..from], &before[to..]);
        let middle = after.strip_prefix(head).and_then(|rest| rest.strip_suffix(tail));
        loose(&before[from..to]) == loose(old) && middle.is_some_and(|middle| loose(middle) == loose(new))
    };
    let cuts = cuts(before);
    cuts.iter().any(|from| cuts.iter().any(|to| from <= to && fits(*from, *to)))
}

/// How a copy of lines differs from them: what is before each, what is after each, and the kind of its quotes.
type Difference = (&'static str, &'static str, bool);

fn difference() -> impl Strategy<Value = Difference> {
    (prop::sample::select(vec!["", "  ", "\t"]), prop::sample::select(vec!["", " ", "\t "]), any::<bool>())
}

fn copy(lines: &[String], (before, after, typographic): Difference) -> String {
    let copied = lines.iter().map(|line| match line.is_empty() {
        true => format!("{after}\n"),
        false => format!("{before}{line}{after}\n"),
    });
    let copied: String = copied.collect();
    if typographic { copied.replace('"', "\u{201c}") } else { copied }
}

/// Lines of a call: the first one is not empty.
fn call_lines() -> impl Strategy<Value = Vec<String>> {
    ("[ab\"]{1,3}", prop::collection::vec("( {0,2}[ab\"]{1,2})?", 0..4))
        .prop_map(|(first, rest)| [vec![first], rest].concat())
}

/// The elements of patches, and what only looks like one.
const PIECES: [&str; 28] = [
    "*** Begin Patch",
    "*** End Patch",
    "*** Update File: a",
    "*** Add File: c",
    "*** Delete File: a",
    "*** Move to: c",
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
    fn an_edit_is_plain_or_changes_one_place_that_is_alike(
        text in "[ab \t\n\"\u{201c}]{0,12}",
        old in "[ab \t\n\"]{1,5}",
        new in "[ac \n\"]{0,4}",
    ) {
        prop_assume!(old != new);
        let stage = Stage::new(&[("a", &text)]);
        stage.read(&["a"]);
        let output = stage.run("edit", &json!({ "path": "a", "edits": [{ "old": old, "new": new }] }));
        let now = stage.text("a").unwrap();
        let many = (0..text.len()).filter(|at| text.get(*at..).is_some_and(|rest| rest.starts_with(&old))).count();
        match (many, output.outcome) {
            (1, outcome) => {
                prop_assert_eq!(outcome, ToolOutcome::Ok);
                prop_assert_eq!(now, text.replacen(&old, &new, 1));
            }
            (0, ToolOutcome::Ok) => {
                let said = output.content.contains("did not match exactly") || now == text;
                prop_assert!(said, "{}", output.content);
                prop_assert!(is_one_replacement(&text, &now, &old, &new), "{text:?} {now:?}");
            }
            (_, outcome) => {
                prop_assert_eq!(outcome, ToolOutcome::Failed);
                prop_assert_eq!(now, text);
            }
        }
    }

    #[test]
    fn a_copy_of_lines_is_edited_if_it_is_the_only_one(
        old in call_lines(),
        new in call_lines(),
        differences in prop::array::uniform2(difference()),
        filler in prop::collection::vec("z{0,2}", 0..3),
    ) {
        let given = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        let (old_text, new_text) = (given(&old), given(&new));
        prop_assume!(loose(&old_text) != loose(&new_text));
        let filler = given(&filler);
        let edit = json!({ "path": "a", "edits": [{ "old": old_text, "new": new_text }] });
        let first = copy(&old, differences[0]);
        let text = format!("{filler}y\n{first}y\n{filler}");
        let stage = Stage::new(&[("a", &text)]);
        stage.read(&["a"]);
        // A second occurrence within the first one is another place.
        if loose(&text).matches(&loose(&old_text)).count() == 1 {
            let said = stage.ok("edit", &edit);
            let now = stage.text("a").unwrap();
            let middle = now.strip_prefix(&format!("{filler}y\n")).unwrap();
            let middle = middle.strip_suffix(&format!("y\n{filler}")).unwrap();
            prop_assert_eq!(loose(middle), loose(&new_text));
            let indented = middle.lines().filter(|line| !line.trim().is_empty());
            if said.contains("indentation") {
                prop_assert!(indented.into_iter().all(|line| line.starts_with(differences[0].0)), "{now:?}");
            }
            prop_assert_eq!(said.contains("did not match exactly"), !text.contains(&old_text), "{}", said);
        }
        // Two copies that differ from the call alike: the call means both.
        let both = format!("{text}{}y\n", copy(&old, differences[0]));
        stage.put("a", &both);
        stage.read(&["a"]);
        stage.no("edit", &edit);
        prop_assert_eq!(stage.text("a"), Some(both));
        // Of two others, the one that is more alike is meant, or none.
        let both = format!("{text}{}y\n", copy(&old, differences[1]));
        stage.put("a", &both);
        stage.read(&["a"]);
        stage.run("edit", &edit);
        let now = stage.text("a").unwrap();
        prop_assert!(now == both || is_one_replacement(&both, &now, &old_text, &new_text), "{now:?}");
    }

    #[test]
    fn a_patch_and_its_reverse_leave_the_file_as_it_was(
        old in call_lines(),
        new in call_lines(),
        difference in difference(),
        filler in prop::collection::vec("z{0,2}", 0..3),
    ) {
        prop_assume!(old != new);
        let filler: String = filler.iter().map(|line| format!("{line}\n")).collect();
        let before = format!("{filler}y\n{}y\n{filler}", copy(&old, difference));
        let stage = Stage::new(&[("a", &before)]);
        stage.read(&["a"]);
        let lines = |sign: &str, lines: &[String]| lines.iter().map(|line| format!("{sign}{line}\n")).collect::<String>();
        let patch = format!("--- a/a\n+++ b/a\n@@\n{}{}", lines("-", &old), lines("+", &new));
        let output = stage.run("patch", &json!({ "patch": patch }));
        let after = stage.text("a").unwrap();
        if output.outcome == ToolOutcome::Failed {
            prop_assert_eq!(&after, &before);
        }
        let diff = similar::TextDiff::from_lines(&after, &before);
        let back = diff.unified_diff().header("a/a", "b/a").to_string();
        if !back.is_empty() {
            stage.ok("patch", &json!({ "patch": back }));
        }
        prop_assert_eq!(stage.text("a"), Some(before));
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
        before in prop::collection::vec("[ab]{0,2}", 0..12),
        hunk in prop::collection::vec(("[ +-]", "[ab]{0,2}"), 1..5),
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
