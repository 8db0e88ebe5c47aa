//! The commands of `cargo xtask`: each one a function that says what it does, does it, and says whether all is well.
//! Nothing here judges; the checks do.

use std::io::Write;
use std::process::Command;

use anyhow::Context as _;

use crate::tools::{self, CARGO_DENY};
use crate::{Tree, case_map, picture, report, root, tidy};

const USAGE: &str = "\
usage: cargo xtask COMMAND
  test     get the tools that tests start, build, run all tests
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
    tools::for_tests(out)?;
    Ok(cargo(&["build", "--workspace", "--bins"], out)? && cargo(&["test", "--workspace"], out)?)
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
    use super::run;

    #[test]
    fn an_unknown_command_gets_the_usage() {
        let mut out = Vec::new();
        let error = run(&["tset".to_owned()], &mut out).unwrap_err().to_string();
        assert!(error.starts_with("unknown command `tset`\nusage:"), "{error}");
        assert!(run(&["help".to_owned()], &mut out).unwrap());
        assert!(String::from_utf8(out).unwrap().starts_with("usage:"));
    }
}
