//! `cargo xtask test` and `deny` as a person runs them, on a machine that consists of a few scripts.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Records the call.
const NOTES: &str = "echo \"${0##*/} $*\" >> \"$HOME/calls\"";
/// The same, and builds everything but the tests.
const NOTES_AND_FAIL: &str = "echo \"${0##*/} $*\" >> \"$HOME/calls\"; [ \"$1\" != test ]";
/// Creates a folder with a pip, like `python3 -m venv`.
const VENV: &str = "case \"$2\" in venv) /bin/mkdir -p \"$3/bin\"; printf '#!/bin/sh\\n' > \"$3/bin/pip\"; /bin/chmod 755 \
                    \"$3/bin/pip\";; esac";

/// A machine with only these commands, on which all tests fail.
fn xtask_test(commands: &[(&str, &str)]) -> (Output, TempDir) {
    xtask_test_with("exit 1", commands)
}

/// The same, with a script as the tests.
fn xtask_test_with(tests: &str, commands: &[(&str, &str)]) -> (Output, TempDir) {
    let home = tempfile::tempdir().expect("a folder");
    let seed = "[ -z \"$PROPTEST_RNG_SEED\" ] || echo \"with $PROPTEST_RNG_SEED\" >> \"$HOME/calls\"";
    let builds = "case \"$*\" in *--no-run) exit 0;; esac";
    let cargo = format!("{NOTES}; {seed}; [ \"$1\" != test ] && exit; {builds}; {tests}");
    let all: Vec<_> = [("cargo", cargo.as_str())].iter().chain(commands).copied().collect();
    (xtask("test", home.path(), &all).output().expect("it starts"), home)
}

/// A command of `cargo xtask` on a machine with these commands.
fn xtask(what: &str, home: &Path, commands: &[(&str, &str)]) -> Command {
    let bin = home.join("bin");
    fs::create_dir(&bin).expect("made");
    commands.iter().for_each(|(name, script)| script_at(&bin.join(name), script));
    let mut xtask = Command::new(env!("CARGO_BIN_EXE_retake-xtask"));
    xtask.arg(what).env("HOME", home).env("PATH", &bin).env("CARGO", bin.join("cargo"));
    xtask.env("RETAKE_TEST_TOOLS", home.join("tools/bin")).env_remove("PROPTEST_RNG_SEED");
    xtask
}

fn script_at(path: &Path, script: &str) {
    fs::write(path, format!("#!/bin/sh\n{script}\n")).expect("written");
    fs::set_permissions(path, Permissions::from_mode(0o755)).expect("set");
}

#[test]
fn trial_01_all_missing_packages_are_named_at_once_with_the_command_that_installs_them() {
    let (output, home) = xtask_test(&[("git", ""), ("id", "echo 1000"), ("apt-get", NOTES)]);
    let error = String::from_utf8(output.stderr).expect("text");
    assert!(!output.status.success(), "{error}");
    assert!(
        error.contains("these packages are missing: tmux strace python3-venv gopls golang-go\n"),
        "{error}"
    );
    assert!(error.contains("sudo apt-get install -y tmux strace python3-venv gopls golang-go\n"), "{error}");
    assert!(error.ends_with("then run again: cargo xtask test\n"), "{error}");
    assert!(!home.path().join("calls").exists(), "a plain user installs nothing");
}

#[test]
fn trial_01_root_gets_all_missing_packages_in_one_installation() {
    let (output, home) = xtask_test(&[("git", ""), ("id", "echo 0"), ("apt-get", NOTES)]);
    let error = String::from_utf8(output.stderr).expect("text");
    assert!(
        error.contains("these packages are missing: tmux strace python3-venv gopls golang-go\n"),
        "{error}"
    );
    let calls = fs::read_to_string(home.path().join("calls")).expect("calls");
    assert_eq!(
        calls,
        "apt-get install -y --no-install-recommends tmux strace python3-venv gopls golang-go\n"
    );
}

#[test]
fn trial_01_a_crate_whose_tests_fail_does_not_hide_the_others() {
    let (output, home) = xtask_test(&ALL);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "the tests failed: {error}");
    let calls = fs::read_to_string(home.path().join("calls")).unwrap_or_else(|_| panic!("no calls: {error}"));
    // The tools are installed beside the build, so in any order.
    let (first, calls): (Vec<_>, Vec<_>) =
        calls.lines().partition(|call| call.starts_with("cargo install") || call.ends_with("--no-run"));
    assert_eq!(first.len(), 2, "{first:?}");
    let expected = ["cargo test --workspace --no-fail-fast", "with 20261122"];
    assert_eq!(calls, expected, "the same sequences each time: {error}");
}

/// Everything that a machine needs for the tests.
const ALL: [(&str, &str); 10] = [
    ("git", ""),
    ("tmux", ""),
    ("strace", ""),
    ("id", "echo 1000"),
    ("python3", VENV),
    ("gopls", ""),
    ("go", ""),
    ("rust-analyzer", ""),
    ("npm", ""),
    ("node", ""),
];

/// These tests fail at first, and end like this when they run again.
fn failing(names: &[&str], again: &str) -> (Output, Vec<String>) {
    let failed: Vec<_> = names.iter().map(|name| format!("echo 'test {name} ... FAILED'")).collect();
    let tests = format!("case \"$*\" in *--exact*) {again};; *) {}; exit 101;; esac", failed.join("; "));
    let (output, home) = xtask_test_with(&tests, &ALL);
    let calls = fs::read_to_string(home.path().join("calls")).expect("calls");
    let of_tests = |call: &&str| call.starts_with("cargo test") && !call.ends_with("--no-run");
    (output, calls.lines().filter(of_tests).map(str::to_owned).collect())
}

#[test]
fn a_test_that_passes_when_it_runs_again_stops_nothing_and_is_named() {
    let (output, calls) =
        failing(&["one::fact", "two::fact"], "echo 'test one::fact ... ok'; echo 'test two::fact ... ok'");
    let said = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{said}");
    let again = "cargo test --workspace --no-fail-fast -- --exact --test-threads=1 one::fact two::fact";
    assert_eq!(calls, ["cargo test --workspace --no-fail-fast", again]);
    let end = "failed at first, and passed when they ran again. Find out why:\n  one::fact\n  two::fact\n";
    assert!(said.ends_with(end), "{said}");
}

#[test]
fn a_test_that_fails_twice_or_does_not_run_again_stops_the_run() {
    for again in ["echo 'test one::fact ... FAILED'; exit 101", "echo 'running 0 tests'"] {
        let (output, calls) = failing(&["one::fact"], again);
        assert_eq!((output.status.success(), calls.len()), (false, 2), "{again}");
    }
}

#[test]
fn tests_that_do_not_compile_do_not_run() {
    let home = tempfile::tempdir().expect("a folder");
    let commands: Vec<_> = ALL.into_iter().chain([("cargo", NOTES_AND_FAIL)]).collect();
    assert!(!xtask("test", home.path(), &commands).output().expect("it starts").status.success());
    let calls = fs::read_to_string(home.path().join("calls")).expect("calls");
    let tests: Vec<_> = calls.lines().filter(|call| call.starts_with("cargo test")).collect();
    assert_eq!(tests, ["cargo test --workspace --no-run"]);
}

#[test]
fn more_than_a_few_tests_that_fail_do_not_run_again() {
    let (output, calls) = failing(&["a", "b", "c", "d"], "exit 0");
    assert_eq!((output.status.success(), calls.len()), (false, 1));
}

/// The output of `cargo xtask deny`, and whether all is well; the tool has these results for its checks, its database and
/// its advisories.
fn deny(checks: &str, database: &str, advisories: &str) -> (String, bool) {
    let home = tempfile::tempdir().expect("a folder");
    let tools = home.path().join("tools/bin");
    fs::create_dir_all(&tools).expect("made");
    let known = format!(
        "*advisories) {advisories};; *' fetch db') {database};; *'bans sources') {checks};; *) exit 9;;"
    );
    script_at(&tools.join("cargo-deny"), &format!("case \"$*\" in {known} esac"));
    let output = xtask("deny", home.path(), &[("cargo", "")]).output().expect("it starts");
    let said = String::from_utf8(output.stdout).expect("text");
    let of_deny = said.lines().filter(|line| !line.starts_with("tools: ")).map(|line| format!("{line}\n"));
    (of_deny.collect(), output.status.success())
}

#[test]
fn trial_30_deny_says_when_it_could_not_check_advisories_and_fails_on_what_it_finds() {
    let none = "echo >&2; echo 'can not reach the host' >&2; exit 1";
    let said = "deny: security advisories were not checked, because their database can't be had: can not reach the host\n\
                deny: with a network, run `cargo xtask deny` again\n";
    assert_eq!(deny("true", none, "exit 9"), (said.to_owned(), true), "what could be checked is well");
    assert_eq!(deny("exit 1", none, "exit 9"), (said.to_owned(), false));
    assert_eq!(deny("true", "true", "true"), (String::new(), true));
    assert_eq!(deny("true", "true", "exit 1"), (String::new(), false), "an advisory is known");
    assert_eq!(deny("exit 1", "true", "true"), (String::new(), false));
}

#[test]
fn missing_language_servers_are_installed_or_named() {
    let without = |name: &str| ALL.into_iter().filter(|(own, _)| *own != name).collect::<Vec<_>>();
    let (output, home) = xtask_test(&[without("npm"), vec![("npm", NOTES)]].concat());
    let calls = fs::read_to_string(home.path().join("calls")).expect("calls");
    assert!(calls.contains("npm install --no-audit --no-fund --prefix"), "{calls}: {output:?}");
    let (output, _) = xtask_test(&[without("npm"), vec![("npm", "exit 1")]].concat());
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("pyright 1.1.414 could not be installed"), "{error}");
    let (output, _) = xtask_test(&without("rust-analyzer"));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("`rustup component add rust-analyzer`"), "{error}");
}
