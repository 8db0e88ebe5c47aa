//! The output of a command is stored up to a limit, which it can't bypass.

use std::process::Command;

use retake_testkit::again::{again, this_program};
use retake_tools::Network;
use serde_json::json;

use super::stand::{Ground, everywhere};
use crate::stage::until;

/// The limit in these tests.
const CAP: u64 = 1 << 16;

#[tokio::test]
async fn trial_26_no_command_exceeds_the_limit_of_its_output() {
    let test = "hold::output::trial_26_no_command_exceeds_the_limit_of_its_output";
    everywhere(test, async |how| {
        let ground = Ground::new(how, Network::Ask);
        let spool = ground.stage.spool.clone();
        // By its name, and by the descriptors of its writers.
        let more = "for f in SPOOL/*.log /proc/[0-9]*/fd/*; do { head -c 300000 /dev/zero >> $f; } 2>/dev/null; done; \
                    head -c 300000 /dev/zero; echo done > done; sleep 1000"
            .replace("SPOOL", &spool.to_string_lossy());
        let output = ground.call("shell", json!({ "command": more, "background": true })).await;
        assert!(output.lives, "{how:?}: {}", output.content);
        until("it is done", async || ground.stage.root().join("done").exists()).await;
        let log = spool.join(format!("{}.log", ground.stage.last_call()));
        assert_eq!(std::fs::metadata(log).expect("a log").len(), CAP, "{how:?}");
    })
    .await;
}

#[tokio::test]
async fn trial_26_a_job_s_exit_code_is_known_however_it_ends() {
    let test = "hold::output::trial_26_a_job_s_exit_code_is_known_however_it_ends";
    everywhere(test, async |how| {
        let ground = Ground::new(how, Network::Ask);
        for (command, said) in [
            ("exec sh -c 'sleep 1.5; exit 3'", "ended with exit code 3"),
            ("trap : EXIT; sleep 1.5; exit 4", "ended with exit code 4"),
            ("sleep 1.5; kill -KILL $$", "ended with exit code 137"),
        ] {
            let output = ground.call("shell", json!({ "command": command, "background": true })).await;
            assert!(output.lives, "{how:?}: {}", output.content);
            let id = ground.stage.last_call();
            let shown = async || ground.call("job_output", json!({ "id": id.as_str() })).await.content;
            until("it ends", async || shown().await.contains(said)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_confined_job_is_written_to_and_waited_for() {
    let test = "hold::output::a_confined_job_is_written_to_and_waited_for";
    everywhere(test, async |how| {
        let ground = Ground::new(how, Network::Ask);
        let command = "read -r line; echo \"got $line\"; cat >/dev/null; exit 6";
        let given = json!({ "command": command, "background": true, "input": true });
        let output = ground.call("shell", given).await;
        assert!(output.lives, "{how:?}: {}", output.content);
        let id = ground.stage.last_call();
        let written = ground.call("job_input", json!({ "id": id.as_str(), "text": "one\n" })).await;
        assert!(written.content.starts_with("4 of 4 bytes"), "{how:?}: {}", written.content);
        let wait = json!({ "id": id.as_str(), "wait": "text", "text": "got one" });
        let waited = ground.call("job_output", wait).await;
        assert!(waited.content.contains("[it has printed “got one”]"), "{how:?}: {}", waited.content);
        ground.call("job_input", json!({ "id": id.as_str(), "close": true })).await;
        let ended = ground.call("job_output", json!({ "id": id.as_str(), "wait": "end" })).await;
        assert!(ended.content.contains("ended with exit code 6"), "{how:?}: {}", ended.content);
    })
    .await;
}

/// The peak memory of this process, in MiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the state of this process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("its peak");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") >> 10
}

/// The command can write the shell's final note itself, at any length.
#[tokio::test]
async fn trial_26_a_huge_note_fills_no_memory() {
    const AGAIN: &str = "RETAKE_TEST_HUGE_NOTE";
    let test = "hold::output::trial_26_a_huge_note_fills_no_memory";
    if std::env::var_os(AGAIN).is_none() {
        // The memory of other tests must not count.
        let mut command = Command::new(this_program());
        command.env(AGAIN, "1");
        return again(command, test);
    }
    everywhere(test, async |how| {
        let ground = Ground::new(how, Network::Ask);
        let huge = format!(
            "for f in {}/*.end; do truncate -s 1G $f; done; trap - EXIT",
            ground.stage.spool.display()
        );
        let before = peak();
        let output = ground.run(&huge).await;
        assert!(output.facts.is_empty(), "{how:?}: {}", output.content);
        assert!(peak() - before < 100, "{how:?}: the note took {} MiB", peak() - before);
    })
    .await;
}
