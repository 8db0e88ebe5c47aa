//! What programs of the settings do after an edit belongs to the call, and is undone with it.

use retake_core::Mode;
use retake_tools::{AfterEdit, FileNames, Formatter, ShellConfig};
use serde_json::json;

use super::{Action, Desk, calls, words};

/// A formatter for files that no other test has.
pub(super) fn after(shell: ShellConfig) -> AfterEdit {
    let formatter = Formatter {
        name: "tidy".to_owned(),
        files: FileNames::new(&["*.formatted".to_owned()]).expect("a pattern"),
        command: ["sh", "-c", "sed -i s/one/two/ \"$1\"; echo 1 > beside", "sh"].map(str::to_owned).to_vec(),
    };
    AfterEdit { formatters: vec![formatter], shell, ..AfterEdit::default() }
}

#[tokio::test]
async fn changes_of_a_formatter_belong_to_the_edit_and_are_undone_with_it() {
    let desk = Desk::new(Mode::AllowEdits).await;
    desk.write("a.formatted", "0\n");
    let read = calls(&[("read", json!({ "path": "a.formatted" }))]);
    desk.turn("look", vec![read, words("seen")]).await;
    let edit = calls(&[("edit", json!({ "path": "a.formatted", "edits": [{ "old": "0", "new": "one" }] }))]);
    let (_, told) = desk.turn("edit", vec![edit, words("done")]).await;
    assert_eq!(desk.read("a.formatted").as_deref(), Some("two\n"), "{told:?}");
    assert_eq!(desk.read("beside").as_deref(), Some("1\n"));
    assert!(told[1].ends_with("[2]"), "both files belong to the call: {told:?}");
    // The next edit needs no other read.
    let again =
        calls(&[("edit", json!({ "path": "a.formatted", "edits": [{ "old": "two", "new": "one, two" }] }))]);
    desk.turn("again", vec![again, words("done")]).await;
    assert_eq!(desk.read("a.formatted").as_deref(), Some("two, two\n"));
    desk.apply(Action::Undo(1)).await;
    assert_eq!(desk.read("a.formatted").as_deref(), Some("two\n"));
    desk.apply(Action::Undo(1)).await;
    assert_eq!((desk.read("a.formatted").as_deref(), desk.read("beside")), (Some("0\n"), None));
}
