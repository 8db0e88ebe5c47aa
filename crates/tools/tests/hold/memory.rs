//! A command's memory is limited if the machine has control groups; time and sizes are always limited.

use std::path::{Path, PathBuf};

use retake_core::{SandboxFact, ToolOutcome};
use retake_testkit::again::may_mount;
use retake_tools::{Network, ShellConfig};
use serde_json::json;

use super::stand::{Ground, How, everywhere};
use crate::stage::{config, until};

/// The memory limit in these tests.
pub(crate) const MEMORY: u64 = 200_000_000;

/// A program that uses this many megabytes.
pub(crate) fn uses(megabytes: u32) -> String {
    format!(
        "python3 -c 'x = bytearray({megabytes} * 1000000); x[::4096] = x[1::4096]; print(len(x), flush=True); import time; time.sleep(0.5)'"
    )
}

/// Folders of control groups with this suffix.
fn groups(of: &str) -> Vec<PathBuf> {
    fn within(folder: &Path, of: &str, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                found.extend(entry.path().to_string_lossy().ends_with(of).then(|| entry.path()));
                within(&entry.path(), of, found);
            }
        }
    }
    let mut found = Vec::new();
    within(Path::new("/sys/fs/cgroup"), of, &mut found);
    found
}

/// Whether this user may create a control group that limits memory, checked in another way than in the code.
pub(crate) fn may_limit() -> bool {
    let folder = |mounted: &str, line: &str| {
        let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let own = groups.lines().find_map(|it| it.split_once(line).map(|(_, path)| path.to_owned()));
        own.map(|path| format!("{mounted}{path}/retake-test-{}", std::process::id()))
    };
    let makes = |folder: String| {
        let made = std::fs::create_dir(&folder).is_ok();
        let _ = std::fs::remove_dir(&folder);
        made
    };
    Path::new("/sys/fs/cgroup/memory").exists()
        && folder("/sys/fs/cgroup/memory", ":memory:").is_some_and(makes)
}

#[tokio::test]
async fn trial_26_a_command_gets_no_more_memory_than_it_may() {
    let test = "hold::memory::trial_26_a_command_gets_no_more_memory_than_it_may";
    everywhere(test, async |how| {
        let ground = Ground::set(how, ShellConfig { memory: MEMORY, ..config() }, |_, _| ());
        let is_held = ground.told.contains(&SandboxFact::MemoryLimited);
        assert_eq!(is_held, !ground.told.iter().any(|told| matches!(told, SandboxFact::MemoryUnlimited(_))));
        assert!(is_held || !may_limit(), "it could be held: {:?}", ground.told);
        assert_eq!(ground.prints(&uses(50)).await, "50000000", "{how:?}");
        let output = ground.run(&uses(400)).await;
        let is_ended = output.outcome == ToolOutcome::Failed;
        assert_eq!(is_ended, is_held, "{how:?}: {}", output.content);
        assert_eq!(output.content.contains("more than 200 MB of memory"), is_held, "{}", output.content);
        // Processes that are no children of the command count, too.
        let output = ground.run(&format!("for n in 1 2 3; do {} & done; wait", uses(90))).await;
        assert_eq!(output.content.contains("more than 200 MB of memory"), is_held, "{}", output.content);
        let id = ground.stage.last_call();
        // A later call removes it: its last process may take a moment to end.
        until("the group is gone", async || {
            ground.prints("echo on").await;
            groups(&id).is_empty()
        })
        .await;
    })
    .await;
}

/// The control groups of this machine are hidden here.
#[tokio::test]
async fn trial_26_without_control_groups_the_time_of_a_command_and_the_size_of_a_file_are_bounded() {
    const MOST: u64 = 64 << 30;
    if !may_mount(
        "hold::memory::trial_26_without_control_groups_the_time_of_a_command_and_the_size_of_a_file_are_bounded",
    ) {
        return;
    }
    let mut mount = std::process::Command::new("mount");
    let hidden = mount.args(["-t", "tmpfs", "-o", "ro", "none", "/sys/fs/cgroup"]).status();
    assert!(hidden.expect("mount is there").success());
    for how in [How::Namespaces, How::WithoutNamespaces] {
        let ground = Ground::new(how, Network::Ask);
        assert!(
            ground.told.iter().any(|told| matches!(told, SandboxFact::MemoryUnlimited(_))),
            "{:?}",
            ground.told
        );
        let limits = "python3 -c 'import resource as r; print(*r.getrlimit(r.RLIMIT_FSIZE)); m = r.RLIM_INFINITY; \
                      r.setrlimit(r.RLIMIT_FSIZE, (m, m)); print(\"raised\")' 2>&1 || true";
        let printed = ground.prints(limits).await;
        assert!(printed.starts_with(&format!("{MOST} {MOST}\n")), "{how:?}: {printed}");
        assert!(!printed.contains("raised"), "{how:?}: {printed}");
        ground.prints(&format!("truncate -s {MOST} big && rm big")).await;
        ground.refuses(&format!("truncate -s {} big", MOST + 1), "File size limit exceeded").await;
        let job =
            json!({ "command": format!("truncate -s {} big; echo $? > code", MOST + 1), "background": true });
        ground.call("shell", job).await;
        let code = ground.stage.root().join("code");
        crate::stage::until("it has ended", async || std::fs::metadata(&code).is_ok_and(|it| it.len() > 0))
            .await;
        assert_ne!(std::fs::read_to_string(code).expect("a file"), "0\n", "{how:?}");
        let endless =
            json!({ "command": "env true; trap '' TERM; while :; do sleep 1000; done", "timeout_s": 1 });
        let output = ground.call("shell", endless).await;
        assert!(output.content.contains("[its time limit has passed"), "{how:?}: {}", output.content);
    }
}
