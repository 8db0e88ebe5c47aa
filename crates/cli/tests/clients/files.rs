//! A plan for files: every verdict, two calls, and names with terminal control characters. Only data.

use retake_wire::{
    AfterChoice, AuthorKind, BlockingAuthor, CallLine, Choice, ChoiceOutcome, FileCounts, FileName,
    FilesOfOthers, FilesPlan, Grade, PathCause, PathChange, PathHunks, PathPlan, UncoveredCause, Verdict,
};

use super::fixtures::{ago, id};

/// A path that a call has changed.
fn path(name: &str, verdict: Verdict, grade: Grade, calls: &[u32]) -> PathPlan {
    PathPlan {
        name: FileName { path: name.to_owned(), path_base64: None },
        verdict,
        cause: None,
        why: None,
        grade,
        calls: calls.iter().map(|number| id(*number)).collect(),
        choices: vec![Choice::Checkpoint, Choice::Disk, Choice::Skip],
        hunks: Default::default(),
        renamed: None,
        diff: None,
        theirs: false,
        full_folder: false,
        kept: false,
        against: None,
        outcomes: Vec::new(),
    }
}

/// The changes of files by two calls, and their state since.
pub(super) fn files_plan() -> FilesPlan {
    let call = |number, line: &str, lasted: i64| CallLine {
        entry: id(number),
        line: line.to_owned(),
        began_ms: Some(ago(40)),
        ended_ms: Some(ago(40) + lasted),
        turn: None,
    };
    let seen = |name, verdict, calls: &[u32]| path(name, verdict, Grade::Seen, calls);
    let after = |choice, becomes, turn| AfterChoice {
        choice,
        becomes,
        turn: Some(turn),
        call: Some(id(3)),
        partly: false,
        words: String::new(),
    };
    let by = BlockingAuthor { whose: AuthorKind::Later, turn: Some(3), call: None };
    let conflict = PathPlan {
        cause: Some(PathCause::Clash { by, change: PathChange::SamePlace, uncertain: false }),
        outcomes: vec![
            after(Choice::Skip, ChoiceOutcome::Stays, 3),
            after(Choice::Checkpoint, ChoiceOutcome::Before, 1),
        ],
        hunks: PathHunks { count: Some(7), part: Vec::new() },
        ..seen("clash", Verdict::Conflict, &[3])
    };
    let cause = Some(PathCause::NotCovered {
        cause: UncoveredCause::Recorded { detail: "it is over \x1b[2J64 MiB".to_owned() },
    });
    FilesPlan {
        digest: "d".repeat(32),
        counts: FileCounts { reverted: 3, deleted: 1, recreated: 1, merged: 1 },
        conflicts: 1,
        left: 3,
        paths: vec![
            path("edited", Verdict::Revert, Grade::Written, &[4, 3]),
            seen("made \x1b[2J", Verdict::Delete, &[3]),
            seen("folder", Verdict::Recreate, &[]),
            seen("both", Verdict::Merge, &[4]),
            PathPlan {
                hunks: PathHunks { count: Some(4), part: vec![1, 3] },
                ..seen("some", Verdict::Part, &[4, 3])
            },
            PathPlan { kept: true, ..seen("plain", Verdict::Revert, &[3]) },
            conflict,
            seen("same", Verdict::Unchanged, &[3]),
            PathPlan { full_folder: true, ..path("whole", Verdict::Ambiguous, Grade::Ambiguous, &[3]) },
            path("whole/whose", Verdict::Ambiguous, Grade::Ambiguous, &[3]),
            seen("full", Verdict::NotEmpty, &[3]),
            PathPlan { cause, ..seen("large", Verdict::NotCovered, &[3]) },
        ],
        calls: vec![call(3, "make \x1b[2Jall", 600_000), call(4, "edit edited", 300)],
        others: FilesOfOthers { changed: 2, paths: vec!["mine".to_owned(), "\\u{1b}[2J".to_owned()] },
    }
}
