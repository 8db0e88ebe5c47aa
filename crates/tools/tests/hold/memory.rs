//! A command gets no more memory than it may have, where the machine has control groups.

use std::path::{Path, PathBuf};

use retake_core::ToolOutcome;
use retake_tools::ShellConfig;

use super::stand::{Ground, everywhere};
use crate::stage::{config, until};

/// So much may be used in these tests.
pub(crate) const MEMORY: u64 = 200_000_000;

/// A program that uses so many megabytes.
pub(crate) fn uses(megabytes: u32) -> String {
    format!(
        "python3 -c 'x = bytearray({megabytes} * 1000000); x[::4096] = x[1::4096]; print(len(x), flush=True); import time; time.sleep(0.5)'"
    )
}

/// Folders of control groups whose name ends so.
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

/// Whether this user may make a control group that limits memory, looked at in another way than the code does.
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
        let is_held = ground.told.iter().any(|told| told.starts_with("control groups limit the memory"));
        assert_eq!(
            is_held,
            !ground.told.iter().any(|told| told.contains("memory of commands is not limited: "))
        );
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
        // It goes with a later call: its last process may take a moment to end.
        until("the group is gone", async || {
            ground.prints("echo on").await;
            groups(&id).is_empty()
        })
        .await;
    })
    .await;
}
