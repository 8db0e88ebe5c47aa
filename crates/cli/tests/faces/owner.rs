//! `retake serve`, `status` and `stop`, as a person sees them.

use retake_wire::reply::Status;
use retake_wire::{Problem, ProblemKind, Reply};

use super::fake::{Case, status};

#[test]
fn the_owner_is_told_shown_and_stopped() {
    let alone = Status { address: None, running: Vec::new(), following: 1, serves: false, ..status() };
    let refused = Problem {
        code: "not_serving".to_owned(),
        kind: ProblemKind::Refused,
        message: "this owner belongs to a terminal (process 4711)".to_owned(),
        hint: Some("end it there".into()),
        causes: Vec::new(),
        head: None,
    };
    let seen = [
        Case::script("").see(&["serve"]),
        Case::script("").see(&["serve", "--listen", "127.0.0.1:4117"]),
        Case::script("").see(&["serve", "--listen", "here"]),
        Case::script("").see(&["serve", "--json"]),
        Case::script("").see(&["status"]),
        Case::script("").reply("status", Ok(Reply::Status(alone))).see(&["status"]),
        Case::script("").see(&["status", "--json"]),
        Case::script("").see(&["stop"]),
        Case::script("").see(&["stop", "--json"]),
        Case::script("").reply("stop", Err(refused)).see(&["stop"]),
    ];
    insta::assert_snapshot!(seen.join("\n"));
}
