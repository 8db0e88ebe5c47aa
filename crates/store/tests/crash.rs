//! A store whose process is killed at any moment (`spec/store.md`, case 23). It opens again, everything
//! acknowledged is there, nothing is there in part, and counters and search agree with the state.
//!
//! The killed process is this test binary again; environment variables tell it what to write and where.

mod durable;
mod judge;
mod writer;

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use fastrand::Rng;

use writer::Work;

/// The child's directory and work: `ROUND TASKS REQUESTS SAYS_ONLY`.
const DIR: &str = "RETAKE_CRASH_DIR";
const WORK: &str = "RETAKE_CRASH_WORK";

/// The number of kills. `cargo xtask long` makes more of them.
const ROUNDS: &str = "RETAKE_CRASH_ROUNDS";
const ROUNDS_DEFAULT: u64 = 240;
/// Rounds per directory.
const ROUNDS_OF_DIRECTORY: u64 = 20;
/// Concurrent directories.
const LANES: u64 = 4;

/// Time limit for each step of a child.
const DEADLINE: Duration = Duration::from_secs(60);

/// The directory and the work of this process.
fn told() -> Option<(PathBuf, Work)> {
    let dir = std::env::var_os(DIR)?;
    let work = std::env::var(WORK).ok()?;
    let numbers: Vec<u64> = work.split(' ').map(|number| number.parse().expect("a number")).collect();
    let [round, tasks, requests, says_only] = numbers.as_slice() else { panic!("{work}") };
    let work = Work { round: *round, tasks: *tasks, requests: *requests, says_only: *says_only == 1 };
    Some((dir.into(), work))
}

/// This binary again, as a writer; `under` is a command that runs it.
fn child(under: &[&str], dir: &Path, work: Work) -> Child {
    let myself = std::env::current_exe().expect("a path");
    let mut words = under.iter().map(std::ffi::OsStr::new).chain([myself.as_os_str()]);
    let mut command = Command::new(words.next().expect("a program"));
    command.args(words).args([
        "--exact",
        "crash::what_a_writer_says_is_there",
        "--nocapture",
        "--test-threads=1",
    ]);
    let Work { round, tasks, requests, says_only } = work;
    command.env(DIR, dir).env(WORK, format!("{round} {tasks} {requests} {}", u8::from(says_only)));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    command.spawn().expect("started")
}

/// The lines that a child writes, until it ends. An incomplete line does not count.
fn lines(child: &mut Child) -> Receiver<String> {
    let (sender, lines) = channel();
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    std::thread::spawn(move || {
        let mut line = String::new();
        while out.read_line(&mut line).is_ok_and(|read| read > 0) {
            if let Some(line) = line.strip_prefix("ack ").and_then(|line| line.strip_suffix('\n')) {
                // Nobody listens to a child whose test has failed.
                drop(sender.send(line.to_owned()));
            }
            line.clear();
        }
    });
    lines
}

fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build();
    runtime.expect("a runtime").block_on(work)
}

/// The writer itself. Started by another test it writes until it is killed; otherwise it runs to its end, and its
/// output is checked.
#[test]
fn what_a_writer_says_is_there() {
    if let Some((dir, work)) = told() {
        return run(writer::write(&dir, work, writer::to_stdout));
    }
    let dir = tempfile::tempdir().expect("a directory");
    let mut old = Vec::new();
    for round in 0..2 {
        let mut child = child(&[], dir.path(), Work { round, tasks: 4, requests: 40, says_only: false });
        let new: Vec<String> = lines(&mut child).iter().collect();
        assert!(child.wait().expect("it ends").success());
        assert_eq!(new.last().map(String::as_str), Some("done"));
        run(judge::judge(dir.path(), &old, &new));
        old.extend(new);
    }
}

/// Starts a writer and kills it: while it opens the store, or shortly after some acknowledgements.
fn killed(rng: &mut Rng, dir: &Path, round: u64) -> Vec<String> {
    let mut child = child(&[], dir, Work { round, tasks: 6, requests: u64::MAX, says_only: false });
    let lines = lines(&mut child);
    let wanted = if rng.u8(..8) == 0 { 0 } else { 1 + rng.usize(..24) };
    let mut told: Vec<String> = Vec::new();
    while told.len() < wanted {
        told.push(lines.recv_timeout(DEADLINE).expect("a writer that is not killed goes on"));
    }
    std::thread::sleep(Duration::from_micros(rng.u64(..if wanted == 0 { 30_000 } else { 6_000 })));
    child.kill().expect("killed");
    child.wait().expect("it ended");
    told.extend(lines.iter());
    told
}

/// Kills writers on one directory in turn; returns the number of checked acknowledgements.
fn lane(seed: u64, rounds: u64) -> usize {
    let mut rng = Rng::with_seed(seed);
    let mut judged = 0;
    for first in (0..rounds).step_by(ROUNDS_OF_DIRECTORY as usize) {
        let dir = tempfile::tempdir().expect("a directory");
        let mut old = Vec::new();
        for round in first..rounds.min(first + ROUNDS_OF_DIRECTORY) {
            let new = killed(&mut rng, dir.path(), seed * 1_000_000 + round);
            run(judge::judge(dir.path(), &old, &new));
            old.extend(new);
        }
        judged += old.len();
    }
    judged
}

#[test]
fn store_case_23_killed_at_any_moment() {
    let rounds = std::env::var(ROUNDS).map_or(ROUNDS_DEFAULT, |rounds| rounds.parse().expect("a number"));
    let share = move |lane: u64| rounds / LANES + u64::from(lane < rounds % LANES);
    let lanes: Vec<_> =
        (0..LANES).map(|number| std::thread::spawn(move || lane(number + 1, share(number)))).collect();
    let judged: usize = lanes.into_iter().map(|lane| lane.join().expect("a lane that holds")).sum();
    assert!(judged as u64 > rounds, "only {judged} acknowledgements in {rounds} rounds");
}
