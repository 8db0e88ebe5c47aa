//! All tests in one run: a few test programs at a time, because many tests wait. Their output is shown one program after the
//! other, always in the same order. Failed tests run once more, by themselves: a test of a real terminal may fail on a slow
//! machine. Nothing is hidden: a test that passed only the second time is named at the end. Must never accept a test that fails
//! twice, or a program that ends badly without naming a failed test.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use anyhow::Context as _;
use serde_json::Value;

use crate::{root, tools};

/// The most failed tests that run once more. More of them are no accident.
const MOST: usize = 3;

/// Test programs that run at the same time. While the last tests of one finish, the other uses the processors.
pub(crate) const TOGETHER: usize = 2;

/// A test program that cargo has built.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Suite {
    /// Unit tests run last: they are short, so that no processor is idle at the end.
    has_units: bool,
    /// Its source, which names it.
    source: PathBuf,
    executable: PathBuf,
    /// The folder of its package, where it runs.
    folder: PathBuf,
}

/// The outcome of a test program.
#[derive(Default)]
struct Outcome {
    failed: BTreeSet<String>,
    passed: usize,
    is_good: bool,
}

/// What a running test program reports.
enum Report {
    Line(Vec<u8>),
    End(anyhow::Result<Outcome>),
}

/// Lets cargo build the tests. Returns none if it could not; cargo says why.
pub(crate) fn built(cargo: &mut Command) -> anyhow::Result<Option<Vec<Suite>>> {
    cargo.args(["test", "--workspace", "--no-run", "--message-format=json-render-diagnostics"]);
    let done = cargo.current_dir(root()).stderr(Stdio::inherit()).output();
    let done = done.with_context(|| format!("starting {cargo:?}"))?;
    let said = String::from_utf8(done.stdout).context("reading the messages of cargo")?;
    let mut suites = said.lines().filter_map(Suite::of_message).collect::<Vec<_>>();
    suites.sort();
    Ok(done.status.success().then_some(suites))
}

/// Runs the tests, with more environment for each program, and returns whether all is well.
pub(crate) fn run(
    suites: &[Suite],
    more: &[(&'static str, String)],
    out: &mut dyn Write,
) -> anyhow::Result<bool> {
    let command = |suite: &Suite| {
        let mut command = suite.command();
        command.envs(more.iter().map(|(name, value)| (name, value)));
        command
    };
    let outcomes = together(suites, &command, out)?;
    let bad = suites.iter().zip(&outcomes).filter(|(_, outcome)| !outcome.is_good).collect::<Vec<_>>();
    let failed = bad.iter().flat_map(|(_, outcome)| &outcome.failed).map(String::as_str).collect::<Vec<_>>();
    for (suite, outcome) in &bad {
        let names = outcome.failed.iter().map(String::as_str).collect::<Vec<_>>();
        writeln!(out, "» failed: {}: {}", suite.source.display(), names.join(", "))?;
    }
    if bad.is_empty() || bad.iter().any(|(_, outcome)| outcome.failed.is_empty()) || failed.len() > MOST {
        return Ok(bad.is_empty());
    }
    writeln!(out, "» once more, each by itself: {}", failed.join(", "))?;
    let mut is_good = true;
    for (suite, first) in bad {
        let mut again = command(suite);
        again.args(["--exact", "--test-threads=1"]).args(&first.failed);
        let second = listen(&mut again, |line| out.write_all(&line).and_then(|()| out.flush()).is_ok())?;
        is_good &= second.is_good && second.passed >= first.failed.len();
    }
    if is_good {
        writeln!(out, "\nThese tests failed at first, and passed when they ran again. Find out why:")?;
        failed.iter().try_for_each(|name| writeln!(out, "  {name}"))?;
    }
    Ok(is_good)
}

/// Runs each program once, a few at a time.
fn together(
    suites: &[Suite],
    command: &(dyn Fn(&Suite) -> Command + Sync),
    out: &mut dyn Write,
) -> anyhow::Result<Vec<Outcome>> {
    let next = AtomicUsize::new(0);
    let (sender, reports) = channel();
    thread::scope(|scope| {
        for _ in 0..TOGETHER {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(suite) = suites.get(at) else { break };
                    let tell = |line| sender.send((at, Report::Line(line))).is_ok();
                    let end = listen(&mut command(suite), tell);
                    if sender.send((at, Report::End(end))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        in_order(suites, reports, out)
    })
}

/// Shows what the programs print: of the first one that has not ended at once, of the others when it is their turn. If this
/// returns early, the programs are ended, because nobody receives their reports.
fn in_order(
    suites: &[Suite],
    reports: Receiver<(usize, Report)>,
    out: &mut dyn Write,
) -> anyhow::Result<Vec<Outcome>> {
    let mut kept = vec![Vec::new(); suites.len()];
    let mut ends: Vec<Option<Outcome>> = suites.iter().map(|_| None).collect();
    let mut shown = 0;
    begin(suites.first(), out)?;
    for (at, report) in reports {
        match report {
            Report::Line(line) if at == shown => out.write_all(&line)?,
            Report::Line(line) => {
                if let Some(name) = failure(&String::from_utf8_lossy(&line)) {
                    let source = suites[at].source.display();
                    writeln!(out, "» {name} failed; the output of {source} follows")?;
                }
                kept[at].extend(line);
            }
            Report::End(end) => {
                ends[at] = Some(end?);
                while ends.get(shown).is_some_and(Option::is_some) {
                    shown += 1;
                    begin(suites.get(shown), out)?;
                    out.write_all(&kept.get_mut(shown).map(std::mem::take).unwrap_or_default())?;
                }
            }
        }
        out.flush()?;
    }
    ends.into_iter().collect::<Option<_>>().context("a test program did not run")
}

fn begin(suite: Option<&Suite>, out: &mut dyn Write) -> anyhow::Result<()> {
    if let Some(suite) = suite {
        writeln!(out, "» {} ({})", suite.source.display(), suite.executable.display())?;
    }
    Ok(())
}

/// Runs a command, passes on its output, and records the results of tests. The command is killed if nobody wants its output.
fn listen(command: &mut Command, mut tell: impl FnMut(Vec<u8>) -> bool) -> anyhow::Result<Outcome> {
    let starting = |command: &Command| format!("starting {command:?}");
    let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| starting(command))?;
    let mut outcome = Outcome::default();
    let mut lines = BufReader::new(child.stdout.take().context("its output")?);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        outcome.note(&String::from_utf8_lossy(&line));
        if !tell(std::mem::take(&mut line)) {
            child.kill()?;
            break;
        }
    }
    outcome.is_good = child.wait()?.success();
    Ok(outcome)
}

impl Suite {
    /// The test program that a message of cargo reports.
    fn of_message(line: &str) -> Option<Self> {
        let message: Value = serde_json::from_str(line).ok()?;
        let text = |path: &str| message.pointer(path)?.as_str().map(PathBuf::from);
        let is_test = message.pointer("/profile/test")?.as_bool()?;
        let executable = text("/executable").filter(|_| is_test)?;
        let folder = text("/manifest_path")?.parent()?.to_path_buf();
        let source = text("/target/src_path")?;
        let source = source.strip_prefix(root()).map(Path::to_path_buf).unwrap_or(source);
        let has_units = message.pointer("/target/kind/0")?.as_str()? != "test";
        Some(Self { has_units, source, executable, folder })
    }

    /// Starts it as cargo does.
    fn command(&self) -> Command {
        let mut command = tools::starting(&self.executable);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        command
    }
}

impl Outcome {
    fn note(&mut self, line: &str) {
        if let Some(name) = failure(line) {
            self.failed.insert(name.to_owned());
        } else if line.starts_with("test ") && line.trim_end().ends_with(" ... ok") {
            self.passed += 1;
        }
    }
}

/// The name of the test that failed, if the line says so.
fn failure(line: &str) -> Option<&str> {
    line.trim_end().strip_prefix("test ")?.strip_suffix(" ... FAILED")
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::{Outcome, Report, Suite, in_order};

    #[test]
    fn a_failure_in_a_program_whose_turn_has_not_come_is_named_at_once() {
        let suite = |name: &str| Suite {
            has_units: false,
            source: name.into(),
            executable: "program".into(),
            folder: "folder".into(),
        };
        let (sender, reports) = channel();
        let line =
            |at, text: &str| sender.send((at, Report::Line(format!("{text}\n").into()))).expect("received");
        let end = |at| sender.send((at, Report::End(Ok(Outcome::default())))).expect("received");
        line(0, "one begins");
        line(1, "test a ... FAILED");
        line(0, "one ends");
        end(2);
        end(0);
        line(1, "two ends");
        end(1);
        drop(sender);
        let mut out = Vec::new();
        let ends = in_order(&["one.rs", "two.rs", "three.rs"].map(suite), reports, &mut out)
            .expect("all have ended");
        assert_eq!(ends.len(), 3);
        let expected = "» one.rs (program)\none begins\n» a failed; the output of two.rs follows\none ends\n\
                        » two.rs (program)\ntest a ... FAILED\ntwo ends\n» three.rs (program)\n";
        assert_eq!(String::from_utf8(out).expect("text"), expected);
    }
}
