//! `retake workspace`, as a person sees it.

use retake_wire::reply::{LostCalls, NotCovered, Pruned, Workspace, WorkspaceShown};
use retake_wire::request::PruneHow;
use retake_wire::{Problem, ProblemCode, UncoveredCause};

use super::fixtures::{HERE, NOW};
use super::scripted::{Act, Case};

pub(super) fn folder() -> WorkspaceShown {
    WorkspaceShown {
        workspace: Workspace {
            number: 1,
            folder: "/home/ada/\x1b[2J".to_owned(),
            created_ms: NOW - 9 * 60_000,
        },
        problem: Some(Problem {
            code: ProblemCode::NoWorkspace,
            message: "the workspace's folder /home/ada is not there".to_owned(),
            ..Problem::default()
        }),
        away: None,
        conversations: vec![HERE.to_owned()],
        captures: 3,
        checkpoints: vec!["before lunch".to_owned()],
        calls: 12,
        versions: 40,
        bytes: 1_234_567,
        unsettled: false,
        max_file: 67_108_864,
        max_ignored: 1_048_576,
        not_covered: 2,
        examples: vec![NotCovered {
            path: "target".to_owned(),
            cause: UncoveredCause::Ignored,
            why: String::new(),
        }],
    }
}

pub(super) fn pruned(how: PruneHow) -> Pruned {
    let calls = vec!["0199a3b2-7c3e-7000-8000-000000000003".to_owned()];
    let let_go = vec![LostCalls { conversation: HERE.to_owned(), calls }];
    Pruned {
        how,
        captures: 4,
        versions: 7,
        freed: 2_500_000,
        size: 900_000,
        quota: 800_000,
        let_go,
        damaged: 0,
    }
}

#[test]
fn a_folder_is_shown_and_forgotten_only_after_an_explicit_yes() {
    let seen = [
        Case::script("").see(&["workspace", "show"]),
        Case::script("").see(&["workspace", "show", "3", "--json"]),
        Case::terminal([Act::Answer(true)]).see(&["workspace", "forget", "../other/"]),
        Case::terminal([Act::Answer(false)]).see(&["workspace", "forget", "1"]),
        Case::script("").see(&["workspace", "forget", "1"]),
        Case::script("").see(&["workspace", "forget", "1", "--yes"]),
    ];
    insta::assert_snapshot!(seen.join("\n"));
}

#[test]
fn data_for_rewinds_is_released_only_after_an_explicit_yes() {
    let seen = [
        Case::script("").see(&["workspace", "prune", "--dry-run"]),
        Case::script("").see(&["workspace", "prune"]),
        Case::script("").see(&["workspace", "prune", "--to-quota"]),
        Case::script("").see(&["workspace", "prune", "--to-quota", "--yes"]),
        Case::terminal([Act::Answer(false)]).see(&["workspace", "prune", "--to-quota"]),
        Case::script("").see(&["workspace", "prune", "--dry-run", "--json"]),
    ];
    insta::assert_snapshot!(seen.join("\n"));
}
