//! The folder of the sample world: its captures, its differences, names with terminal control characters.

use retake_wire::reply::{
    Capture, Captures, Changed, Difference, Differences, FilesStatus, Job, State, Uncovered,
};
use retake_wire::{FileName, Grade, UncoveredCause};

use super::fixtures::{HERE, ago};

pub(super) fn captures() -> Captures {
    let capture = Capture {
        number: 2,
        time_ms: ago(3),
        name: Some("before \x1b[2J".to_owned()),
        changed: 2,
        paths: vec!["a".to_owned(), "\\u{1b}[2J".to_owned()],
    };
    let first = Capture { number: 1, name: None, changed: 0, paths: Vec::new(), ..capture.clone() };
    Captures { captures: vec![capture, first], more: true }
}

pub(super) fn status() -> FilesStatus {
    let changed = |path: &str, state| Changed {
        name: FileName { path: path.to_owned(), path_base64: None },
        state,
        grade: None,
        calls: Vec::new(),
        touched: false,
    };
    let call = |path, grade, touched| Changed {
        grade: Some(grade),
        calls: vec![HERE.to_owned()],
        touched,
        ..changed(path, State::Changed)
    };
    let folders = ["node_modules".to_owned(), "\\u{1b}[2J".to_owned()];
    FilesStatus {
        folder: "/home/ada/\x1b[2J".to_owned(),
        further: Vec::new(),
        gone_folders: Vec::new(),
        gone: Vec::new(),
        calls: vec![call("a", Grade::Seen, true), call("b\x1b[2J", Grade::Ambiguous, false)],
        others: vec![changed("mine", State::Made), changed("gone", State::Removed)],
        ahead: 1,
        behind: 2,
        uncovered: vec![Uncovered {
            cause: UncoveredCause::NodeModules,
            why: String::new(),
            count: 9,
            paths: folders.to_vec(),
        }],
        running: vec![Job { call: HERE.to_owned(), what: "sleep \x1b[2J 9".to_owned(), processes: 2 }],
    }
}

pub(super) fn differences() -> Differences {
    let file = |path: &str, diff: Option<&str>| Difference {
        name: FileName { path: path.to_owned(), path_base64: None },
        state: State::Changed,
        diff: diff.map(str::to_owned),
    };
    let text = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one \x1b[2J\n+two\n";
    let binary = "binary, 3 bytes before and 4 after\n";
    Differences { files: vec![file("a", Some(text)), file("b", Some(binary)), file("c", None)] }
}

/// Earlier prompts.
pub(super) fn history() -> retake_wire::reply::HistoryPage {
    let prompts = ["newest", "oldest"].map(str::to_owned).to_vec();
    retake_wire::reply::HistoryPage { prompts, earlier: None }
}
