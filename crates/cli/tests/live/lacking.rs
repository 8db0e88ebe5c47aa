//! The output of `retake doctor` on machines without some sandbox features: the features are disabled for the program and its
//! children.

use serde_json::Value;

use super::detached::shell;
use super::harness::{World, out};

/// No pid namespaces.
const NO_NAMESPACES: &str = "echo 0 > /proc/sys/user/max_pid_namespaces";

/// No control groups.
const NO_GROUPS: &str = "mount -t tmpfs -o ro none /sys/fs/cgroup";

/// The output of a verb without this feature, as text and as JSON.
fn without(world: &World, lack: &str, verb: &str) -> (String, Value) {
    let run = |arguments: &str| {
        // A user namespace has limits of its own, which end with it.
        let script = format!("exec unshare -Urm sh -ec '{lack}; exec \"$@\"' sh \"$1\" {arguments}");
        let output = shell(world, &script).output().expect("it runs");
        assert!(output.status.success(), "this needs namespaces of users, or {verb} failed: {output:?}");
        out(&output)
    };
    (run(verb), serde_json::from_str(&run(&format!("--json {verb}"))).expect("JSON"))
}

/// Both have this text, as a line and as an item; or neither has.
fn says(told: &(String, Value), words: &str) -> bool {
    let of_text = told.0.lines().any(|line| line.starts_with("sandbox: ") && line.contains(words));
    let items = told.1["sandbox"].as_array().expect("sentences");
    let of_json = items.iter().any(|item| item.as_str().expect("text").contains(words));
    assert_eq!(of_text, of_json, "{words}: {told:?}");
    of_text
}

#[test]
fn trial_26_doctor_reports_missing_limits_where_no_control_group_can_be_made() {
    let world = World::new();
    let told = without(&world, NO_GROUPS, "doctor");
    assert!(says(&told, "the memory of commands is not limited: "), "{told:?}");
    for is_bounded in ["their time", "their number of processes", "the size of their output and of each file"]
    {
        assert!(says(&told, is_bounded), "{told:?}");
    }
    assert!(!says(&told, "control groups limit"), "{told:?}");
}

#[test]
fn trial_23_doctor_reports_that_names_of_key_files_are_visible_to_commands_without_namespaces() {
    let words = "patterns of names such as *.pem keep files from the file tools, not from commands";
    let world = World::new();
    let told = without(&world, NO_NAMESPACES, "doctor");
    assert!(says(&told, words) && says(&told, "commands have no namespaces of their own: "), "{told:?}");
    let told = (world.does(&["doctor"]), world.json(&["doctor"]));
    assert_ne!(says(&told, words), says(&told, "namespaces hold commands"), "{told:?}");
}
