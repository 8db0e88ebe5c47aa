//! A pack whose process is killed at any moment, even during a collection or an erasure: it opens, and everything
//! acknowledged is there. The killed process is this test binary again; environment variables tell it what to do.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use retake_core::ContentHash;
use retake_worktree::{Objects, PackObjects, hash};

use super::{noise, on_disk, open};

/// The child's folder and work: `FIRST PUTS CLEANS`.
const DIR: &str = "RETAKE_OBJECTS_DIR";
const WORK: &str = "RETAKE_OBJECTS_WORK";
/// The number of kills.
const ROUNDS: &str = "RETAKE_CRASH_ROUNDS";
const ROUNDS_DEFAULT: u64 = 300;
/// Rounds per directory.
const ROUNDS_OF_DIRECTORY: u64 = 20;
/// Time limit for each step of a child.
const DEADLINE: Duration = Duration::from_secs(60);

/// The work of a writer: objects from this number on, the number of acknowledgements, with or without concurrent
/// cleaning.
#[derive(Clone, Copy)]
struct Work {
    first: u64,
    puts: u64,
    cleans: u64,
}

fn bytes_of(number: u64) -> Vec<u8> {
    noise(number, 20 + (number % 97) as usize * 9)
}

/// What a collection removes, if there is one.
fn is_dead(name: &ContentHash) -> bool {
    name.0[31].is_multiple_of(3)
}

/// What an erasure removes.
fn is_secret(name: &ContentHash) -> bool {
    name.0[31].is_multiple_of(9)
}

fn write(dir: &Path, work: Work) {
    let pack = open(dir);
    std::thread::scope(|scope| {
        if work.cleans > 0 {
            scope.spawn(|| clean(&pack, work));
        }
        for number in work.first..work.first.saturating_add(work.puts) {
            let guard = pack.guard();
            for part in 0..4 {
                pack.put(&bytes_of(number * 4 + part)).expect("put");
            }
            pack.sync().expect("synced");
            let mut out = std::io::stdout().lock();
            writeln!(out, "\nack {number}").and_then(|()| out.flush()).expect("a reader");
            drop(guard);
        }
    });
}

/// Collects and erases until the process is killed, or a given number of times.
fn clean(pack: &PackObjects, work: Work) {
    for round in 0..work.cleans {
        pack.collect(&pack.guard(), &|name| !is_dead(name), &mut |_, _| {}).expect("collected");
        if round % 4 == 1 {
            let names = (0..work.first * 4).map(|number| hash(&bytes_of(number)));
            let secret: Vec<_> = names.filter(is_secret).take(3).collect();
            pack.erase(&secret, &mut |_, _| {}).expect("erased");
        }
    }
}

fn told() -> Option<(PathBuf, Work)> {
    let dir = std::env::var_os(DIR)?;
    let work = std::env::var(WORK).ok()?;
    let numbers: Vec<u64> = work.split(' ').map(|number| number.parse().expect("a number")).collect();
    let [first, puts, cleans] = numbers.as_slice() else { panic!("{work}") };
    Some((dir.into(), Work { first: *first, puts: *puts, cleans: *cleans }))
}

fn child(dir: &Path, work: Work) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    command.args([
        "--exact",
        "objects::crash::every_acknowledged_object_is_there",
        "--nocapture",
        "--test-threads=1",
    ]);
    command.env(DIR, dir).env(WORK, format!("{} {} {}", work.first, work.puts, work.cleans));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    command.spawn().expect("started")
}

/// The numbers that a child acknowledges, until it ends. An incomplete line does not count.
fn acknowledged(child: &mut Child) -> Receiver<u64> {
    let (sender, numbers) = channel();
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    std::thread::spawn(move || {
        let mut line = String::new();
        while out.read_line(&mut line).is_ok_and(|read| read > 0) {
            if let Some(number) = line.strip_prefix("ack ").and_then(|line| line.strip_suffix('\n')) {
                // Nobody listens to a child whose test has failed.
                let _unheard = sender.send(number.parse().expect("a number"));
            }
            line.clear();
        }
    });
    numbers
}

/// Opens the pack of a killed process, and checks everything it acknowledged.
fn judge(dir: &Path, numbers: &[u64], cleaned: bool) {
    let pack = open(dir);
    for number in numbers.iter().flat_map(|number| number * 4..number * 4 + 4) {
        let bytes = bytes_of(number);
        let name = hash(&bytes);
        if !cleaned || !is_dead(&name) || pack.contains(&name) {
            assert_eq!(pack.get(&name).expect("what was acknowledged"), bytes);
        }
    }
    assert!(pack.check(&mut |_, _| {}).expect("checked").damaged.is_empty());
}

/// The writer itself. Started by another test it writes until it is killed; otherwise it runs to its end, and is
/// checked.
#[test]
fn every_acknowledged_object_is_there() {
    if let Some((dir, work)) = told() {
        return write(&dir, work);
    }
    let dir = tempfile::tempdir().unwrap();
    let mut numbers = Vec::new();
    for cleans in [0, 5] {
        let mut child = child(dir.path(), Work { first: numbers.len() as u64, puts: 40, cleans });
        let new: Vec<u64> = acknowledged(&mut child).iter().collect();
        assert!(child.wait().unwrap().success());
        assert_eq!(new.len(), 40);
        numbers.extend(new);
        judge(dir.path(), &numbers, cleans > 0);
    }
}

/// Kills a writer while it opens the pack, or shortly after some acknowledgements.
fn killed(rng: &mut fastrand::Rng, dir: &Path, work: Work) -> Vec<u64> {
    let mut child = child(dir, work);
    let numbers = acknowledged(&mut child);
    let wanted = if rng.u8(..8) == 0 { 0 } else { 1 + rng.usize(..12) };
    let mut told = Vec::new();
    while told.len() < wanted {
        told.push(numbers.recv_timeout(DEADLINE).expect("a writer that is not killed goes on"));
    }
    std::thread::sleep(Duration::from_micros(rng.u64(..if wanted == 0 { 20_000 } else { 6_000 })));
    child.kill().expect("killed");
    child.wait().expect("it ended");
    told.extend(numbers.iter());
    told
}

/// Kills writers on one directory in turn; returns the number of checked acknowledgements.
fn lane(seed: u64, rounds: u64, cleans: u64) -> usize {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut judged = 0;
    for first in (0..rounds).step_by(ROUNDS_OF_DIRECTORY as usize) {
        let dir = tempfile::tempdir().expect("a directory");
        let mut numbers: Vec<u64> = Vec::new();
        for _ in first..rounds.min(first + ROUNDS_OF_DIRECTORY) {
            // One may have been put without an acknowledgement.
            let next = numbers.last().map_or(0, |last| last + 2);
            numbers.extend(killed(&mut rng, dir.path(), Work { first: next, puts: u64::MAX, cleans }));
            judge(dir.path(), &numbers, cleans > 0);
        }
        judged += numbers.len();
        let pack = open(dir.path());
        let all = numbers.iter().flat_map(|number| number * 4..number * 4 + 4);
        let secret: Vec<_> = all.filter(|number| is_secret(&hash(&bytes_of(*number)))).collect();
        let names: Vec<_> = secret.iter().map(|number| hash(&bytes_of(*number))).collect();
        pack.erase(&names, &mut |_, _| {}).expect("erased");
        for number in secret.iter().step_by(5) {
            assert!(!on_disk(dir.path(), &bytes_of(*number)), "erased, whatever was cut off before");
        }
    }
    judged
}

#[test]
fn killed_at_any_moment_everything_acknowledged_is_there() {
    let rounds = std::env::var(ROUNDS).map_or(ROUNDS_DEFAULT, |rounds| rounds.parse().expect("a number"));
    let lanes = [(1, rounds / 2, 0), (2, rounds - rounds / 2, u64::MAX)];
    let lanes = lanes.map(|(seed, rounds, cleans)| std::thread::spawn(move || lane(seed, rounds, cleans)));
    let judged: usize = lanes.into_iter().map(|lane| lane.join().expect("a lane that holds")).sum();
    assert!(judged as u64 > rounds, "only {judged} acknowledgements in {rounds} rounds");
}
