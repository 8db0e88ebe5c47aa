//! The reader of shell lines names exactly what bash starts. For every accepted line, real bash runs it in a folder with
//! hostile names and variables, without any program in its path. Bash then hands each program that it would start to a
//! function, which records it with its arguments. `RETAKE_SHELL_LINES` sets the number of random lines.

mod grammar;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use retake_core::{PlainCommand, PlainLine, WordKind, plain_line};

use self::grammar::Dice;

/// Lines of coding agents; a line end within one is written as `␤`.
const REAL: &str = include_str!("shell_line/real.txt");

/// Harmless builtins that are not recorded. `kill` is disabled, so that it is recorded like a program.
const BUILTINS: [&str; 11] =
    [":", "[", "cd", "echo", "exit", "false", "printf", "pwd", "test", "true", "type"];

/// Runs each of its arguments, and records what would be started, each process in a file of its own.
const SCRIPT: &str = r#"
command_not_found_handle() { builtin printf '%s\0' "$@" >"$NOTES/$number.$BASHPID"; }
enable -n kill
ulimit -t 20 -v 2000000
PATH=/nowhere
x='-v a[$(boom)]' HOME='/h a[$(boom)]' y=$'\n;boom'
number=0
for line; do
    number=$((number + 1))
    (eval "$line"; wait) </dev/null >/dev/null 2>&1
done
exit 0
"#;

/// File names that do harm if a pattern expands to an argument of a careless builtin.
const FILES: [&str; 5] = ["-v", "a[$(boom)]", "b", "%n", "PATH"];

/// The number of lines per bash process.
const CHUNK: usize = 64;

type Started = Vec<Vec<String>>;

/// What bash starts for each of these lines. It writes no file.
fn started(lines: &[String]) -> Vec<Started> {
    let folder = tempfile::tempdir().expect("a folder");
    let (work, notes) = (folder.path().join("work"), folder.path().join("notes"));
    std::fs::create_dir(&work).expect("a folder");
    FILES.iter().for_each(|name| std::fs::write(work.join(name), "").expect("a file"));
    std::fs::create_dir(&notes).expect("a folder");
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", SCRIPT, "bash"]).args(lines).current_dir(&work);
    bash.env_clear().env("NOTES", &notes).stdin(Stdio::null());
    let output = bash.output().expect("bash is there");
    assert!(output.status.success(), "{output:?}: {lines:#?}");
    assert_eq!(names(&work), names_given(), "a file was written by one of {lines:#?}");
    assert_eq!(names(folder.path()), ["notes", "work"], "a file was written by one of {lines:#?}");
    let mut all = vec![Started::new(); lines.len()];
    for entry in std::fs::read_dir(&notes).expect("a folder") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read(&path).expect("a note");
        let words = String::from_utf8_lossy(&text).split_terminator('\0').map(str::to_owned).collect();
        let number =
            path.file_stem().and_then(|name| name.to_str()?.parse::<usize>().ok()).expect("a number");
        all[number - 1].push(words);
    }
    all
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let size = |entry: &std::fs::DirEntry| entry.metadata().map_or(0, |found| found.len());
    let is_changed = |entry: &std::fs::DirEntry| {
        entry.path().parent().is_some_and(|at| at.ends_with("work")) && size(entry) > 0
    };
    let name = |entry: std::fs::DirEntry| {
        let sign = if is_changed(&entry) { " changed" } else { "" };
        entry.file_name().to_string_lossy().into_owned() + sign
    };
    let mut names: Vec<_> = entries.map(|entry| name(entry.expect("an entry"))).collect();
    names.sort();
    names
}

fn names_given() -> Vec<String> {
    let mut names = FILES.map(str::to_owned).to_vec();
    names.sort();
    names
}

/// Whether a started program is this named command.
fn is_named(named: &PlainCommand, started: &[String]) -> bool {
    let fixed = named.words.iter().take_while(|word| word.kind == WordKind::Fixed).count();
    let begins = started.len() >= fixed
        && named.words[..fixed].iter().zip(started).all(|(word, given)| word.text == *given);
    begins && (fixed < named.words.len() || started.len() == fixed)
}

/// The error: a program that was not named, or a named one that was not started although nothing can skip it.
fn difference(line: &str, plain: &PlainLine, started: &Started) -> Option<String> {
    let named: Vec<&PlainCommand> =
        plain.commands.iter().filter(|command| !BUILTINS.contains(&name(command))).collect();
    // The program of each of them: if words are unknown, several may be the same.
    let mut of = vec![None; named.len()];
    for program in 0..started.len() {
        if !claim(&named, started, program, &mut of, &mut vec![false; named.len()]) {
            return Some(format!("bash starts {:?}, which is not named: {plain:?}", started[program]));
        }
    }
    let left: Vec<&PlainCommand> =
        named.iter().zip(&of).filter(|(_, of)| of.is_none()).map(|(named, _)| *named).collect();
    let skips = |command: &PlainCommand| {
        name(command).contains('/')
            || !matches!(name(command), ":" | "echo" | "pwd" | "true") && BUILTINS.contains(&name(command))
    };
    let all = !line.contains("||") && !line.contains('&') && !plain.commands.iter().any(skips);
    (all && !left.is_empty()).then(|| format!("bash does not start {left:?}"))
}

/// Finds a named command for a program; may take over that of another program if that finds another one.
fn claim(
    named: &[&PlainCommand],
    started: &Started,
    program: usize,
    of: &mut Vec<Option<usize>>,
    seen: &mut Vec<bool>,
) -> bool {
    for at in 0..named.len() {
        if seen[at] || !is_named(named[at], &started[program]) {
            continue;
        }
        seen[at] = true;
        if of[at].is_none_or(|other| claim(named, started, other, of, seen)) {
            of[at] = Some(program);
            return true;
        }
    }
    false
}

fn name(command: &PlainCommand) -> &str {
    &command.words[0].text
}

/// Compares the reader with bash for the accepted lines; returns their number.
fn compare(lines: impl IntoIterator<Item = String>) -> usize {
    // A path that leaves the folder could start a program of this machine.
    let is_inside = |name: &str| !name.starts_with('/') && !name.contains("..");
    let is_safe = |plain: &PlainLine| plain.commands.iter().all(|command| is_inside(name(command)));
    let accepted = lines.into_iter().filter_map(|line| {
        // It can't be passed to bash.
        let plain = plain_line(&line).filter(|plain| is_safe(plain) && !plain.commands.is_empty())?;
        Some((line, plain))
    });
    // Each line once.
    let accepted: BTreeMap<String, PlainLine> = accepted.collect();
    let accepted: Vec<(String, PlainLine)> = accepted.into_iter().collect();
    let half = accepted.len().div_ceil(2).max(1);
    let wrong = std::thread::scope(|scope| {
        let run =
            |half: &'_ [(String, PlainLine)]| half.chunks(CHUNK).flat_map(differences).collect::<Vec<_>>();
        let threads: Vec<_> = accepted.chunks(half).map(|half| scope.spawn(move || run(half))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("it ends")).collect::<Vec<_>>()
    });
    assert!(wrong.is_empty(), "{} of {}: {:#?}", wrong.len(), accepted.len(), &wrong[..wrong.len().min(20)]);
    accepted.len()
}

fn differences(chunk: &[(String, PlainLine)]) -> Vec<String> {
    let lines: Vec<String> = chunk.iter().map(|(line, _)| line.clone()).collect();
    let all = chunk.iter().zip(started(&lines));
    all.filter_map(|((line, plain), started)| {
        Some(format!("{line:?}: {}", difference(line, plain, &started)?))
    })
    .collect()
}

fn real() -> Vec<String> {
    REAL.lines().map(|line| line.replace('␤', "\n")).collect()
}

/// The number of random lines.
fn count() -> usize {
    std::env::var("RETAKE_SHELL_LINES").ok().and_then(|count| count.parse().ok()).unwrap_or(5_000)
}

#[test]
fn trial_19_most_real_lines_are_accepted() {
    let real = real();
    assert!(real.len() >= 500, "{}", real.len());
    let refused: Vec<&String> = real.iter().filter(|line| plain_line(line).is_none()).collect();
    let rate = 100 - refused.len() * 100 / real.len();
    assert!(rate >= 90, "{rate} per cent of {} lines; not {refused:#?}", real.len());
}

#[test]
fn trial_19_bash_starts_only_the_named_programs_in_real_lines() {
    assert!(compare(real()) > 400);
}

#[test]
fn trial_19_bash_starts_only_the_named_programs_in_random_lines_of_its_grammar() {
    let mut dice = Dice::new(19);
    let count = count();
    let accepted = compare((0..count).map(|_| grammar::line(&mut dice)));
    assert!(accepted > count / 50, "only {accepted} of {count} were accepted");
}

#[test]
fn trial_19_bash_starts_only_the_named_programs_in_real_lines_with_changed_letters() {
    let (mut dice, real) = (Dice::new(20), real());
    let count = count();
    let changed = (0..count).map(|_| grammar::changed(&mut dice, &real));
    let accepted = compare(changed);
    assert!(accepted > count / 50, "only {accepted} of {count} were accepted");
}

/// Every short run of shell special characters, at every kind of place.
#[test]
fn trial_19_bash_starts_only_the_named_programs_with_special_characters_at_every_position() {
    let length = if count() > 100_000 { 3 } else { 2 };
    let lines = grammar::runs(length)
        .into_iter()
        .flat_map(|run| grammar::PLACES.map(|place| place.replace('◦', &run)));
    assert!(compare(lines) > 1000);
}
