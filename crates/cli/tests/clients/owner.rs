//! `retake serve`, `status` and `stop`, as a person sees them.

use retake_wire::reply::{Beside, IdleEnd, Status};
use retake_wire::{Problem, ProblemKind, Reply};

use super::scripted::{Case, status};

#[test]
fn the_owner_is_started_shown_and_stopped() {
    let alone = Status { address: None, running: Vec::new(), following: 0, serves: false, ..status() };
    let refused = Problem {
        code: "not_serving".into(),
        kind: ProblemKind::Refused,
        message: "this owner belongs to a terminal (process 4711000)".to_owned(),
        hint: Some("end it there".into()),
        ..Problem::default()
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

/// A running owner has read its settings already: a person who changes one gets a notice, and may stop it at
/// once.
#[test]
fn trial_17_a_changed_setting_names_the_owner_that_keeps_the_old_one() {
    let set = ["config", "set", "model.default", "demo"];
    let serves = || Case::script("").reply("status", Ok(Reply::Status(Status { serves: true, ..status() })));
    let seen = serves().see(&set);
    assert!(
        seen.contains("keeps its settings until it restarts") && seen.contains("`retake stop`"),
        "{seen}"
    );
    let seen = serves().see(&["config", "unset", "model.default", "--json"]);
    assert!(seen.contains(r#""restart":{"pid":4711000,"serves":true}"#), "{seen}");
    // An idle owner is replaced by the next command.
    let idle =
        || Status { idle: IdleEnd { idle_s: Some(60), ends_ms: None }, running: Vec::new(), ..status() };
    let seen = Case::script("").reply("status", Ok(Reply::Status(idle()))).see(&set);
    assert!(
        seen.contains("has nothing to do: the next command starts a new one with the new settings"),
        "{seen}"
    );
    let seen =
        Case::script("").reply("status", Ok(Reply::Status(idle()))).see(&[&set[..], &["--json"]].concat());
    assert!(!seen.contains("restart"), "{seen}");
    let busy = Status { beside: Beside { jobs: 1, ..Beside::default() }, ..idle() };
    let seen = Case::script("").reply("status", Ok(Reply::Status(busy))).see(&set);
    assert!(seen.contains("keeps its settings until it restarts"), "{seen}");
    let other = Status { config_file: Some("/etc/retake.toml".to_owned()), ..status() };
    let seen = Case::script("").reply("status", Ok(Reply::Status(other.clone()))).see(&set);
    assert!(seen.contains("uses another settings file: /etc/retake.toml"), "{seen}");
    let seen =
        Case::script("").reply("status", Ok(Reply::Status(other))).see(&[&set[..], &["--json"]].concat());
    assert!(!seen.contains("restart"), "{seen}");
    for other in [&["config", "set", "face.theme", "dark"][..], &["config", "get", "model.default"]] {
        let seen = serves().see(other);
        assert!(!seen.contains("The running owner"), "{seen}");
    }
}

/// Each client reads its settings at its start.
#[test]
fn a_changed_setting_of_the_ui_reports_when_it_takes_effect() {
    for set in [&["config", "set", "face.theme", "dark"][..], &["config", "unset", "face.theme"]] {
        let seen = Case::script("").see(set);
        assert!(seen.contains("that is open in a terminal keeps its settings"), "{seen}");
        assert!(seen.contains("The next one uses the new value."), "{seen}");
        let seen = Case::script("").see(&[set, &["--json"]].concat());
        assert!(seen.contains(r#""restart":"faces""#), "{seen}");
    }
}

/// Permissions are read before each decision: a change takes effect at once, without a restart.
#[test]
fn trial_17_a_changed_permission_is_reported_to_apply_from_now_on() {
    let serves = || Case::script("").reply("status", Ok(Reply::Status(Status { serves: true, ..status() })));
    for key in ["permissions.mode", "permissions.allow", "permissions.ask", "permissions.deny"] {
        let seen = serves().see(&["config", "unset", key]);
        assert!(
            seen.contains("The running owner (process 4711000) uses the new value from now on."),
            "{seen}"
        );
        assert!(!seen.contains("keeps its settings"), "{seen}");
        let seen = serves().see(&["config", "unset", key, "--json"]);
        assert!(!seen.contains("restart"), "{seen}");
    }
    for key in ["permissions.sandbox", "permissions.network"] {
        let seen = serves().see(&["config", "unset", key]);
        assert!(seen.contains("keeps its settings until it restarts"), "{seen}");
    }
}
