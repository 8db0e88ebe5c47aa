//! All tests in one run. Failed tests run once more, by themselves: a test of a real terminal may fail on a slow machine.
//! Nothing is hidden: a test that passed only the second time is named at the end. Must never accept a test that fails twice.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write};
use std::process::{Command, Stdio};

use anyhow::Context as _;

use crate::root;

/// The most failed tests that run once more. More of them are no accident.
const MOST: usize = 3;

/// The outcome of a run of tests.
#[derive(Default)]
struct Outcome {
    failed: BTreeSet<String>,
    passed: usize,
    is_good: bool,
}

/// Runs the tests with a command for these arguments, and returns whether all is well.
pub(crate) fn run(
    arguments: &[&str],
    command: impl Fn() -> Command,
    out: &mut dyn Write,
) -> anyhow::Result<bool> {
    let first = listen(command().args(arguments), out)?;
    if first.is_good || first.failed.is_empty() || first.failed.len() > MOST {
        return Ok(first.is_good);
    }
    let names = first.failed.iter().map(String::as_str);
    writeln!(out, "» once more, each by itself: {}", names.clone().collect::<Vec<_>>().join(", "))?;
    let again = ["--", "--exact", "--test-threads=1"].into_iter().chain(names);
    let second = listen(command().args(arguments).args(again), out)?;
    let is_good = second.is_good && second.passed >= first.failed.len();
    if is_good {
        writeln!(out, "\nThese tests failed at first, and passed when they ran again. Find out why:")?;
        first.failed.iter().try_for_each(|name| writeln!(out, "  {name}"))?;
    }
    Ok(is_good)
}

/// Runs a command, shows its output, and records the results of tests.
fn listen(command: &mut Command, out: &mut dyn Write) -> anyhow::Result<Outcome> {
    out.flush()?;
    let starting = |command: &Command| format!("starting {command:?}");
    let mut child =
        command.current_dir(root()).stdout(Stdio::piped()).spawn().with_context(|| starting(command))?;
    let mut outcome = Outcome::default();
    let mut lines = BufReader::new(child.stdout.take().context("its output")?);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        out.write_all(&line)?;
        out.flush()?;
        outcome.note(&String::from_utf8_lossy(&line));
        line.clear();
    }
    outcome.is_good = child.wait()?.success();
    Ok(outcome)
}

impl Outcome {
    fn note(&mut self, line: &str) {
        let Some(rest) = line.trim_end().strip_prefix("test ") else { return };
        if let Some(name) = rest.strip_suffix(" ... FAILED") {
            self.failed.insert(name.to_owned());
        } else if rest.ends_with(" ... ok") {
            self.passed += 1;
        }
    }
}
