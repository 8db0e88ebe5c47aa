//! The commands of `cargo xtask`: each is a function that reports what it does, does it, and returns whether all is well. It
//! decides nothing itself; the checks do.

use std::io::{Read as _, Seek as _, Write};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;

use crate::tools::{self, CARGO_DENY, MDBOOK};
use crate::{
    Checkout, Finding, case_map, count, cycles, language, mutants, picture, report, root, suite, tidy,
};

/// The same random sequences in each run of all tests: a run can be repeated, and a failure comes from a change. `cargo test` and
/// `cargo xtask long` use new ones.
const SEQUENCES: &str = "PROPTEST_RNG_SEED";
const USUAL: &str = "20261122";

/// Concurrent tests per processor, of all test programs that run at the same time. Most tests of programs and terminals wait.
const THREADS: &str = "RUST_TEST_THREADS";
const PER_PROCESSOR: usize = 2;

/// Time limit for a download.
const TO_FETCH: Duration = Duration::from_secs(120);

const HOUR: Duration = Duration::from_secs(60 * 60);

/// The model of files runs for an hour.
const FILES: &str = "files::model::files_and_conversation_agree_with_a_model_that_copies_maps";

/// What else a long run does: the test, and the variable that says how much.
const LONG: [(&str, &str, (&str, &str)); 10] = [
    (
        "the model of conversations, in SQLite",
        "model::sqlite_agrees_with_a_model_that_copies_lists",
        ("PROPTEST_CASES", "2000"),
    ),
    (
        "the model of captures",
        "capture::model::captures_agree_with_reading_everything",
        ("PROPTEST_CASES", "2000"),
    ),
    (
        "the model of captures, with a watch that is wrong",
        "capture::model::a_wrong_watch_costs_only_time",
        ("PROPTEST_CASES", "2000"),
    ),
    (
        "the model of conversations, in memory",
        "model::memory_agrees_with_a_model_that_copies_lists",
        ("PROPTEST_CASES", "2000"),
    ),
    (
        "the rules of the formats of providers",
        "providers::rules::trial_13_every_request_keeps_the_rules_of_its_format",
        ("PROPTEST_CASES", "2000"),
    ),
    (
        "writers of the store that are killed",
        "crash::store_case_23_killed_at_any_moment",
        ("RETAKE_CRASH_ROUNDS", "2000"),
    ),
    (
        "a conversation of a million entries (case 26 of the specification of the store)",
        "scale::store_case_26_an_operation_costs_the_same_in_a_long_conversation",
        ("RETAKE_SCALE_ENTRIES", "1000000"),
    ),
    (
        "the model of the API",
        "history::concurrent_requests_are_linearised_and_done_once",
        ("RETAKE_MODEL_OPERATIONS", "100000"),
    ),
    (
        "random requests that fit the API document",
        "live::document::every_reply_is_one_that_the_document_promises",
        ("RETAKE_API_EXAMPLES", "200"),
    ),
    (
        "random shell lines against bash",
        "shell_line::trial_19_bash_starts",
        ("RETAKE_SHELL_LINES", "1500000"),
    ),
];

const USAGE: &str = "\
usage: cargo xtask COMMAND
  test     get the tools that tests start, build, run all tests; run those that failed once more
  long     run the model of files for an hour, and those of conversations, captures and formats of
           providers on 2,000 new random sequences each;
           kill 2,000 writers of the store; measure a conversation of a million entries; run the model of the API for
           100,000 operations, 200 random requests of each kind, and three million random shell lines against bash
  tidy     check headers, budgets, the dependency table, documents (also: cargo tidy)
  language [CRATE]
           list texts and doc comments that are not plain English
  cycles [CRATE]
           list modules that use each other in a cycle
  cases    print the map from the cases of docs/spec to tests
  count [CHECKOUT]
           count the statements of each crate, without tests; in another checkout, to compare two versions
  mutants [--file PATH] [--shard K/N]
           change core in one place at a time, and say which changes core's tests do not notice
  deny     check licences, bans and sources of dependencies; and security advisories, where their database can be had
  docs     build the guide as a web site in target/guide
  picture  run `retake` in a terminal and draw the README's picture of it";

/// Runs one command and returns whether all is well.
///
/// # Errors
/// Why the command could not be run.
pub fn run(arguments: &[String], out: &mut dyn Write) -> anyhow::Result<bool> {
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["test"] => test(out),
        ["long"] => long(out),
        ["tidy"] => print_findings(&tidy(&Checkout::read(&root())?)?, out),
        ["language", krate @ ..] if krate.len() < 2 => {
            print_findings(&language(&Checkout::read(&root())?, krate.first().copied()), out)
        }
        ["cycles", krate @ ..] if krate.len() < 2 => {
            for line in cycles(&Checkout::read(&root())?, krate.first().copied()) {
                writeln!(out, "{line}")?;
            }
            Ok(true)
        }
        ["cases"] => print_cases(out),
        ["count", folder @ ..] if folder.len() < 2 => {
            let checkout = folder.first().map_or_else(root, PathBuf::from);
            write!(out, "{}", count(&Checkout::read(&checkout)?))?;
            Ok(true)
        }
        ["mutants", options @ ..] => mutants::run(options, (SEQUENCES, USUAL), out),
        ["deny"] => deny(out),
        ["docs"] => docs(out),
        ["picture"] => picture::remake(&root(), out).map(|()| true),
        ["help" | "--help" | "-h"] => {
            writeln!(out, "{USAGE}")?;
            Ok(true)
        }
        _ => anyhow::bail!("unknown command `{}`\n{USAGE}", arguments.join(" ")),
    }
}

fn docs(out: &mut dyn Write) -> anyhow::Result<bool> {
    let mdbook = tools::ensure_tool(&MDBOOK, out)?;
    let built = Command::new(&mdbook).args(["build", "docs"]).current_dir(root()).status();
    let is_built = built.with_context(|| format!("starting {}", mdbook.display()))?.success();
    if is_built {
        writeln!(out, "the guide is in {}", root().join("target/guide/index.html").display())?;
    }
    Ok(is_built)
}

fn test(out: &mut dyn Write) -> anyhow::Result<bool> {
    tools::packages_for_tests("cargo xtask test", out)?;
    writeln!(out, "» building, and getting the tools that the tests start")?;
    // Most of the time, an installation waits for the network.
    let mut said = Vec::new();
    let (are_ready, suites) = std::thread::scope(|scope| {
        let ready = scope.spawn(|| tools::for_tests(&mut said));
        let suites = out.flush().map_err(Into::into).and_then(|()| suite::built(&mut tools::cargo()));
        (ready.join(), suites)
    });
    out.write_all(&said)?;
    are_ready.map_err(|_| anyhow::anyhow!("the installation of the tools panicked"))??;
    let Some(suites) = suites? else { return Ok(false) };
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = (PER_PROCESSOR * processors).div_ceil(suite::TOGETHER);
    let more = [(SEQUENCES, USUAL.to_owned()), (THREADS, threads.to_string())];
    let more: Vec<_> = more.into_iter().filter(|(name, _)| std::env::var_os(name).is_none()).collect();
    suite::run(&suites, &more, out)
}

#[expect(clippy::disallowed_methods, reason = "this machine's time; there is no engine here")]
fn now() -> Instant {
    Instant::now()
}

/// The model tests, for longer than any change could wait.
fn long(out: &mut dyn Write) -> anyhow::Result<bool> {
    tools::packages_for_tests("cargo xtask long", out)?;
    tools::for_tests(out)?;
    let began = now();
    while began.elapsed() < HOUR {
        let minutes = began.elapsed().as_secs() / 60;
        writeln!(out, "» the model of files, {minutes} of 60 minutes")?;
        if !model(FILES, ("PROPTEST_CASES", "1000"), out)? {
            return Ok(false);
        }
    }
    for (what, test, amount) in LONG {
        writeln!(out, "» {what}")?;
        if !model(test, amount, out)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn model(test: &str, (name, value): (&str, &str), out: &mut dyn Write) -> anyhow::Result<bool> {
    let mut command = tools::cargo();
    step(command.args(["test", "--workspace", "--", test]).env(name, value).env_remove(SEQUENCES), out)
}

fn deny(out: &mut dyn Write) -> anyhow::Result<bool> {
    let tool = tools::ensure_tool(&CARGO_DENY, out)?;
    let check = |what: &[&str], out: &mut dyn Write| {
        step(Command::new(&tool).args(["--workspace", "check"]).args(what), out)
    };
    let are_allowed = check(&["licenses", "bans", "sources"], out)?;
    let mut fetch = Command::new(&tool);
    fetch.args(["--workspace", "fetch", "db"]).current_dir(root());
    match fetched(&mut fetch, TO_FETCH) {
        Ok(()) => Ok(check(&["--disable-fetch", "advisories"], out)? && are_allowed),
        Err(why) => {
            let said = "security advisories were not checked, because their database can't be had";
            writeln!(out, "deny: {said}: {why}\ndeny: with a network, run `cargo xtask deny` again")?;
            Ok(are_allowed)
        }
    }
}

/// Runs a command that downloads something, with a time limit. Returns the reason of a failure in one line.
fn fetched(command: &mut Command, patience: Duration) -> Result<(), String> {
    let began = now();
    let output = tempfile::tempfile().map_err(|error| error.to_string())?;
    let said = output.try_clone().map_err(|error| error.to_string())?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said).process_group(0);
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let status = loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) => break status,
            None if began.elapsed() < patience => std::thread::sleep(Duration::from_millis(50)),
            None => {
                // Its child processes end with it. Through the shell: a small system has no program `kill`.
                let line = format!("kill -KILL -{}", child.id());
                Command::new("sh").args(["-c", &line]).status().map_err(|error| error.to_string())?;
                child.wait().map_err(|error| error.to_string())?;
                return Err(format!("nothing came within {} seconds", patience.as_secs()));
            }
        }
    };
    if status.success() {
        return Ok(());
    }
    let mut text = String::new();
    let mut output = output;
    let read = output.rewind().and_then(|()| output.read_to_string(&mut text));
    let last = text.lines().rfind(|line| !line.trim().is_empty()).filter(|_| read.is_ok());
    Err(last.map_or_else(|| status.to_string(), |line| line.trim().to_owned()))
}

fn print_findings(found: &[Finding], out: &mut dyn Write) -> anyhow::Result<bool> {
    for finding in found {
        writeln!(out, "{finding}")?;
    }
    match found.len() {
        0 => writeln!(out, "tidy")?,
        count => writeln!(out, "{count} to mend")?,
    }
    Ok(found.is_empty())
}

fn print_cases(out: &mut dyn Write) -> anyhow::Result<bool> {
    let maps = case_map(&Checkout::read(&root())?)?;
    write!(out, "{}", report(&maps))?;
    Ok(maps.iter().all(crate::CaseMap::is_met))
}

fn step(command: &mut Command, out: &mut dyn Write) -> anyhow::Result<bool> {
    out.flush()?;
    let status = command.current_dir(root()).status();
    Ok(status.with_context(|| format!("starting {command:?}"))?.success())
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::Duration;

    use super::{FILES, LONG, fetched, now, run};
    use crate::root;

    #[test]
    fn a_long_run_takes_tests_that_are_there() {
        let files = [
            "engine/tests/files/model.rs",
            "store/tests/model.rs",
            "worktree/tests/capture/model.rs",
            "worktree/tests/capture/model.rs",
            "store/tests/model.rs",
            "engine/tests/providers/rules.rs",
            "store/tests/crash.rs",
            "store/tests/scale.rs",
            "server/tests/history.rs",
            "cli/tests/live/document.rs",
            "tools/tests/shell_line.rs",
        ];
        let tests = [FILES].into_iter().chain(LONG.map(|(_, test, _)| test));
        for (test, file) in tests.zip(files) {
            let name = test.rsplit("::").next().unwrap();
            let text = std::fs::read_to_string(root().join("crates").join(file)).unwrap();
            assert!(text.contains(&format!("fn {name}")), "{test}");
        }
        assert_eq!(LONG.len() + 1, files.len());
    }

    #[test]
    fn an_unknown_command_gets_the_usage() {
        let mut out = Vec::new();
        let error = run(&["tset".to_owned()], &mut out).unwrap_err().to_string();
        assert!(error.starts_with("unknown command `tset`\nusage:"), "{error}");
        assert!(run(&["help".to_owned()], &mut out).unwrap());
        assert!(String::from_utf8(out).unwrap().starts_with("usage:"));
    }

    #[test]
    fn trial_30_what_can_not_be_fetched_is_given_up_and_says_why() {
        let sh = |line: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", line]);
            command
        };
        let long = Duration::from_secs(60);
        assert_eq!(fetched(&mut sh("true"), long), Ok(()));
        let why = fetched(&mut sh("echo no host >&2; echo; exit 3"), long);
        assert_eq!(why, Err("no host".to_owned()));
        assert_eq!(fetched(&mut sh("exit 3"), long), Err("exit status: 3".to_owned()));
        let began = now();
        let why = fetched(&mut sh("sleep 1000 & sleep 1000"), Duration::from_millis(300));
        assert_eq!(why, Err("nothing came within 0 seconds".to_owned()));
        assert!(began.elapsed() < long);
    }
}
