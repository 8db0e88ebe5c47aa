//! The commands of `cargo xtask`: each one a function that says what it does, does it, and says whether all is well.
//! Nothing here judges; the checks do.

use std::io::Write;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use crate::tools::{self, CARGO_DENY};
use crate::{Tree, case_map, picture, report, root, suite, tidy};

/// The same random sequences in each run of all tests, so that it can be repeated and a change is not blamed for what it did not do.
/// `cargo test` and `cargo xtask long` take new ones.
const SEQUENCES: &str = "PROPTEST_RNG_SEED";
const USUAL: &str = "20261122";

const HOUR: Duration = Duration::from_secs(60 * 60);

/// The tests that a long run takes.
const FILES: &str = "files::model::files_and_conversation_agree_with_a_model_that_copies_maps";
const LINES: &str = "shell_line::trial_19_bash_starts";
const API: &str = "history::what_clients_do_at_once_is_done_one_after_the_other_and_once";

const USAGE: &str = "\
usage: cargo xtask COMMAND
  test     get the tools that tests start, build, run all tests; run those that failed once more
  long     run the model of files for an hour, then that of the API for 100,000 operations, with new random sequences, and
           three million random shell lines against bash
  tidy     check headers, budgets, the dependency table, documents (also: cargo tidy)
  cases    print the map from the cases of docs/spec to tests
  deny     check licences, bans and sources of dependencies
  picture  run `retake` in a terminal and draw the README's picture of it";

/// Runs one command and says whether all is well.
///
/// # Errors
/// What kept the command from being done.
pub fn run(arguments: &[String], out: &mut dyn Write) -> anyhow::Result<bool> {
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["test"] => test(out),
        ["long"] => long(out),
        ["tidy"] => print_findings(out),
        ["cases"] => print_cases(out),
        ["deny"] => deny(out),
        ["picture"] => picture::remake(&root(), out).map(|()| true),
        ["help" | "--help" | "-h"] => {
            writeln!(out, "{USAGE}")?;
            Ok(true)
        }
        _ => anyhow::bail!("unknown command `{}`\n{USAGE}", arguments.join(" ")),
    }
}

fn test(out: &mut dyn Write) -> anyhow::Result<bool> {
    tools::for_tests("cargo xtask test", out)?;
    if !cargo(&["build", "--workspace", "--bins"], out)? {
        return Ok(false);
    }
    // One crate whose tests fail does not hide the others.
    let arguments = ["test", "--workspace", "--no-fail-fast"];
    writeln!(out, "» cargo {}", arguments.join(" "))?;
    let command = || {
        let mut tests = tools::cargo();
        if std::env::var_os(SEQUENCES).is_none() {
            tests.env(SEQUENCES, USUAL);
        }
        tests
    };
    suite::run(&arguments, command, out)
}

/// The models, for as long as no change waits for.
#[expect(clippy::disallowed_methods, reason = "an hour of this machine's time; there is no engine here")]
fn long(out: &mut dyn Write) -> anyhow::Result<bool> {
    tools::for_tests("cargo xtask long", out)?;
    let began = Instant::now();
    while began.elapsed() < HOUR {
        let minutes = began.elapsed().as_secs() / 60;
        writeln!(out, "» the model of files, {minutes} of 60 minutes")?;
        if !model(FILES, ("PROPTEST_CASES", "1000"), out)? {
            return Ok(false);
        }
    }
    writeln!(out, "» the model of the API")?;
    if !model(API, ("RETAKE_MODEL_OPERATIONS", "100000"), out)? {
        return Ok(false);
    }
    writeln!(out, "» random shell lines against bash")?;
    model(LINES, ("RETAKE_SHELL_LINES", "1500000"), out)
}

fn model(test: &str, (name, value): (&str, &str), out: &mut dyn Write) -> anyhow::Result<bool> {
    let mut command = tools::cargo();
    step(command.args(["test", "--workspace", "--", test]).env(name, value).env_remove(SEQUENCES), out)
}

fn deny(out: &mut dyn Write) -> anyhow::Result<bool> {
    let tool = tools::ensure_tool(&CARGO_DENY, out)?;
    let mut command = Command::new(tool);
    command.args(["--workspace", "check", "licenses", "bans", "sources"]);
    step(&mut command, out)
}

fn print_findings(out: &mut dyn Write) -> anyhow::Result<bool> {
    let found = tidy(&Tree::read(&root())?)?;
    for finding in &found {
        writeln!(out, "{finding}")?;
    }
    match found.len() {
        0 => writeln!(out, "tidy")?,
        count => writeln!(out, "{count} to mend")?,
    }
    Ok(found.is_empty())
}

fn print_cases(out: &mut dyn Write) -> anyhow::Result<bool> {
    let maps = case_map(&Tree::read(&root())?)?;
    write!(out, "{}", report(&maps))?;
    Ok(maps.iter().all(crate::CaseMap::is_met))
}

fn cargo(arguments: &[&str], out: &mut dyn Write) -> anyhow::Result<bool> {
    writeln!(out, "» cargo {}", arguments.join(" "))?;
    step(tools::cargo().args(arguments), out)
}

fn step(command: &mut Command, out: &mut dyn Write) -> anyhow::Result<bool> {
    out.flush()?;
    let status = command.current_dir(root()).status();
    Ok(status.with_context(|| format!("starting {command:?}"))?.success())
}

#[cfg(test)]
mod tests {
    use super::{API, FILES, LINES, run};
    use crate::root;

    #[test]
    fn a_long_run_takes_tests_that_are_there() {
        for (test, file) in [
            (FILES, "engine/tests/files/model.rs"),
            (API, "server/tests/history.rs"),
            (LINES, "tools/tests/shell_line.rs"),
        ] {
            let name = test.rsplit("::").next().unwrap();
            let text = std::fs::read_to_string(root().join("crates").join(file)).unwrap();
            assert!(text.contains(&format!("fn {name}")), "{test}");
        }
    }

    #[test]
    fn an_unknown_command_gets_the_usage() {
        let mut out = Vec::new();
        let error = run(&["tset".to_owned()], &mut out).unwrap_err().to_string();
        assert!(error.starts_with("unknown command `tset`\nusage:"), "{error}");
        assert!(run(&["help".to_owned()], &mut out).unwrap());
        assert!(String::from_utf8(out).unwrap().starts_with("usage:"));
    }
}
