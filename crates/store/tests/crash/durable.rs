//! The meaning of an acknowledgement. The system calls of a writer show that each was printed only after a sync of
//! its log file, and that writers share syncs.

use std::path::Path;
use std::process::Command;

use super::writer::Work;
use super::{child, lines};

/// The least number of appends per sync.
const SHARED: usize = 4;

/// The effect of a system call, in order.
#[derive(Debug)]
enum Call {
    /// Bytes were written to the log file.
    Logged(String),
    /// The sync of a file was complete here; whether it is the log file.
    Synced { log: bool },
    /// The write of an acknowledgement began.
    Told(String),
}

/// Runs a writer that only appends, and returns its actions from a trace of its system calls.
fn traced(tasks: u64, requests: u64) -> Vec<Call> {
    let found = Command::new("strace").arg("-V").output();
    assert!(
        found.is_ok_and(|tried| tried.status.success()),
        "strace is not installed; `cargo xtask test` does it"
    );
    let dir = tempfile::tempdir().expect("a directory");
    let trace = dir.path().join("trace");
    let file = trace.to_str().expect("a path in UTF-8");
    let calls = "trace=fsync,fdatasync,write,pwrite64,writev,pwritev";
    let strace = ["strace", "-f", "-y", "-s", "8192", "-e", calls, "-o", file];
    let work = Work { round: 7, tasks, requests, says_only: true };
    let mut writer = child(&strace, &dir.path().join("data"), work);
    let told: Vec<String> = lines(&mut writer).iter().collect();
    assert!(writer.wait().expect("it ends").success(), "strace could not follow the writer");
    assert_eq!(told.last().map(String::as_str), Some("done"));
    let calls = read(&trace);
    let acknowledged =
        calls.iter().filter(|call| matches!(call, Call::Told(line) if line.contains("ack say")));
    assert_eq!(acknowledged.count() as u64, tasks * requests, "the trace has every acknowledgement");
    calls
}

/// A call interrupted by others is in the trace twice: at its start and at its end.
fn read(trace: &Path) -> Vec<Call> {
    let trace = std::fs::read(trace).expect("a trace");
    let mut open: Vec<(String, bool)> = Vec::new();
    let mut calls = Vec::new();
    for line in String::from_utf8_lossy(&trace).lines() {
        let Some((thread, call)) = line.split_once(' ') else { continue };
        let call = call.trim_start();
        let log = call.split_once('>').is_some_and(|(file, _)| file.ends_with("-wal"));
        if call.starts_with("fsync(") || call.starts_with("fdatasync(") {
            match call.contains("<unfinished") {
                true => open.push((thread.to_owned(), log)),
                false if call.ends_with("= 0") => calls.push(Call::Synced { log }),
                false => {}
            }
        } else if call.contains("sync resumed>") {
            let at = open.iter().position(|(other, _)| other == thread).expect("it has begun");
            let (_, log) = open.remove(at);
            if call.ends_with("= 0") {
                calls.push(Call::Synced { log });
            }
        } else if call.starts_with("write(1<") {
            calls.push(Call::Told(call.to_owned()));
        } else if log {
            calls.push(Call::Logged(call.to_owned()));
        }
    }
    calls
}

/// The word of an acknowledgement.
fn word(line: &str) -> Option<&str> {
    let (_, said) = line.split_once("ack say ")?;
    said.split_once('=')?.1.split("\\n").next()
}

/// Each acknowledgement comes after the end of a sync of the log that followed the write of its words.
fn each_is_durable_before_it_is_told(calls: &[Call]) {
    for (told, call) in calls.iter().enumerate() {
        let Call::Told(line) = call else { continue };
        let Some(word) = word(line) else { continue };
        let text = format!("{word} all plain");
        let holds = |call: &Call| matches!(call, Call::Logged(bytes) if bytes.contains(&text));
        let logged = calls[..told].iter().position(holds);
        let logged = logged.unwrap_or_else(|| panic!("{word} was told before it was written"));
        let synced = calls[logged..told].iter().any(|call| matches!(call, Call::Synced { log: true }));
        assert!(synced, "{word} was told before it was synced");
    }
}

/// The number of syncs of any file between the first acknowledgement and the last.
fn syncs(calls: &[Call]) -> usize {
    let told = |call: &Call| matches!(call, Call::Told(line) if word(line).is_some());
    let first = calls.iter().position(told).expect("an acknowledgement");
    let last = calls.iter().rposition(told).expect("an acknowledgement");
    calls[first..last].iter().filter(|call| matches!(call, Call::Synced { .. })).count()
}

#[test]
fn acknowledgement_follows_the_sync_that_makes_it_durable() {
    let calls = traced(1, 50);
    each_is_durable_before_it_is_told(&calls);
    assert!(syncs(&calls) >= 49, "one writer, who waits for each: a sync for each");
}

#[test]
fn eight_writers_share_their_syncs() {
    let (writers, requests) = (8, 50);
    let calls = traced(writers, requests);
    each_is_durable_before_it_is_told(&calls);
    let (syncs, appends) = (syncs(&calls), (writers * requests) as usize);
    assert!(syncs * SHARED <= appends, "{syncs} syncs for {appends} appends");
}
