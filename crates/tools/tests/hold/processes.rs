//! No process of a call escapes: it is found, counted and ended, whatever it drops.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use retake_core::ToolOutcome;
use retake_tools::{Network, processes};
use serde_json::json;

use super::stand::{Ground, everywhere};
use crate::stage::until;

/// Ways in which a process drops its mark, group, session and parent.
const ESCAPES: [&str; 4] = [
    "env -i setsid sleep NUMBER",
    "(env -i setsid sh -c 'setsid sleep NUMBER & exit')",
    "env -i RETAKE_SUPERVISOR=2:CALL RETAKE_CALL=other setsid sleep NUMBER",
    "env -i RETAKE_SUPERVISOR=1:CALL setsid sh -c 'RETAKE_SUPERVISOR=2:CALL sleep NUMBER'",
];

/// Whether a process with this sleep is running, under any name.
fn sleeps(number: u32) -> bool {
    let number = number.to_string();
    let is_it = |entry: std::fs::DirEntry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let mut words = line.split(|byte| *byte == 0);
        words.next() == Some(b"sleep") && words.next() == Some(number.as_bytes())
    };
    std::fs::read_dir("/proc").expect("processes").flatten().any(is_it)
}

/// A sleep that no other test uses.
fn number(ground: &Ground, which: u32) -> u32 {
    let name = ground.stage.root().to_string_lossy().into_owned();
    let sum = name.bytes().fold(7_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    1_000_000 + (sum % 1_000_000) * 8 + which
}

#[tokio::test]
async fn trial_26_a_process_that_drops_its_mark_group_and_session_is_a_job_and_is_ended() {
    let test =
        "hold::processes::trial_26_a_process_that_drops_its_mark_group_and_session_is_a_job_and_is_ended";
    everywhere(test, async |how| {
        let ground = Ground::new(how, Network::Ask);
        for (which, escape) in (0..).zip(ESCAPES) {
            let number = number(&ground, which);
            let command = escape.replace("NUMBER", &number.to_string()).replace("CALL", "\"$RETAKE_CALL\"");
            let output = ground.run(&format!("{{ {command}; }} >/dev/null 2>&1 & echo on; sleep 0.3")).await;
            assert!(output.lives, "{how:?}: {command}: {}", output.content);
            assert!(sleeps(number), "{how:?}: {command}");
            let job = output.facts[0].key.strip_prefix("job/").expect("a job").to_owned();
            let listed = ground.call("job_list", json!({})).await.content;
            assert!(listed.contains("running"), "{how:?}: {command}: {listed}");
            let stopped = ground.call("job_stop", json!({ "id": job })).await;
            assert!(stopped.content.ends_with("is ended; all its processes are gone"), "{}", stopped.content);
            assert!(!sleeps(number), "{how:?}: {command}");
        }
    })
    .await;
}

#[tokio::test]
async fn trial_26_all_processes_have_ended_when_their_end_is_reported() {
    let test = "hold::processes::trial_26_all_processes_have_ended_when_their_end_is_reported";
    everywhere(test, async |how| {
        let ground = Ground::new(how, Network::Ask);
        let number = number(&ground, 7);
        let deaf = format!("env -i setsid sh -c 'trap \"\" TERM; sleep {number}' & sleep 1000");
        let output = ground.call("shell", json!({ "command": deaf, "timeout_s": 1 })).await;
        assert_eq!(output.outcome, ToolOutcome::Failed);
        assert!(output.content.contains("all its processes are gone]"), "{how:?}: {}", output.content);
        assert!(!sleeps(number), "{how:?}");
        // The supervisors have ended, too.
        let id = ground.stage.last_call();
        let rest = format!("2:{id}").into_bytes();
        let bears = |entry: std::fs::DirEntry| {
            let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            environment.windows(rest.len()).any(|piece| piece == rest)
        };
        assert!(!std::fs::read_dir("/proc").expect("processes").flatten().any(bears), "{how:?}");
    })
    .await;
}

#[tokio::test]
async fn trial_26_a_command_ends_with_its_shell_while_its_other_processes_go_on() {
    let test = "hold::processes::trial_26_a_command_ends_with_its_shell_while_its_other_processes_go_on";
    everywhere(test, async |how| {
        let ground = Ground::new(how, Network::Ask);
        for (command, said) in [
            ("exit 7", "[it ended with exit code 7]"),
            ("exit 255", "[it ended with exit code 255]"),
            ("kill -KILL $$", "[it was ended by signal 9]"),
            ("kill -PIPE $$", "[it was ended by signal 13]"),
            ("kill -SEGV $$", "[it was ended by signal 11]"),
            ("kill -TERM $$", "[it was ended by signal 15]"),
            ("exec sh -c 'exit 3'", "[it ended with exit code 3]"),
        ] {
            ground.refuses(command, said).await;
        }
        let began = ground.run("sleep 1000 & exit 5").await;
        assert!(began.lives && began.content.contains("[it ended with exit code 5]"), "{}", began.content);
        let id = ground.stage.last_call();
        // Like a later owner finds it: only by the call's id.
        let alive = processes::alive(&id);
        assert_eq!(alive.len(), 1, "{how:?}");
        let line = Path::new("/proc").join(alive[0].to_string()).join("cmdline");
        let sleeps = async || std::fs::read(&line).is_ok_and(|line| line == b"sleep\x001000\x00");
        until("it is the sleep", sleeps).await;
        processes::stop(None, &id, false);
        assert!(processes::wait_gone(&id, Duration::from_secs(10)), "{how:?}");
        until("it is gone", async || processes::alive(&id).is_empty()).await;
    })
    .await;
}

#[tokio::test]
async fn trial_20_a_command_reaches_no_shared_memory_or_queue_of_other_programs() {
    let test = "hold::processes::trial_20_a_command_reaches_no_shared_memory_or_queue_of_other_programs";
    everywhere(test, async |how| {
        let ground = Ground::new(how, Network::On);
        let name = format!("/retake-{}", number(&ground, 0));
        let mut other = Command::new("python3");
        other.args(["-c", include_str!("sharing.py"), &name]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut other = other.spawn().expect("another program");
        let mut ids = String::new();
        BufReader::new(other.stdout.take().expect("a pipe")).read_line(&mut ids).expect("its numbers");
        let ids: Vec<&str> = ids.split_whitespace().chain([name.as_str()]).collect();
        assert!(!ids.contains(&"-1"), "{ids:?}");
        ground.can_not(include_str!("shared.py"), &ids).await;
        drop(other.stdin.take());
        assert!(other.wait().expect("it ends").success());
    })
    .await;
}

/// Its first thread ends, and another one continues.
const HEADLESS: &str = "import ctypes, os, platform, threading, time
threading.Thread(target=time.sleep, args=(1000,)).start()
open('on', 'w').close()
ctypes.CDLL(None).syscall(60 if platform.machine() == 'x86_64' else 93, 0)";

#[tokio::test]
async fn trial_26_a_process_whose_first_thread_has_ended_is_a_job_and_is_ended() {
    let test = "hold::processes::trial_26_a_process_whose_first_thread_has_ended_is_a_job_and_is_ended";
    everywhere(test, async |how| {
        let ground = Ground::new(how, Network::Ask);
        std::fs::write(ground.stage.root().join("headless.py"), HEADLESS).expect("written");
        let output =
            ground.run("python3 headless.py >/dev/null 2>&1 & until [ -e on ]; do sleep 0.05; done").await;
        assert!(output.lives, "{how:?}: {}", output.content);
        let id = ground.stage.last_call();
        let alive = processes::alive(&id);
        assert_eq!(alive.len(), 1, "{how:?}");
        let process = Path::new("/proc").join(alive[0].to_string());
        until("the first thread of the program has ended", async || {
            let status = std::fs::read_to_string(process.join("stat")).unwrap_or_default();
            // Not its supervisor's group, with which it does not end.
            status.contains("(python3") && status.contains(") Z ")
        })
        .await;
        assert!(processes::calls().contains(&id), "{how:?}");
        assert!(processes::end(None, &id), "{how:?}");
        until("it is gone", async || processes::alive(&id).is_empty() && !process.exists()).await;
    })
    .await;
}
