//! `cargo xtask test` and `deny` as a person runs them, on a machine that consists of a few scripts.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Records the call.
const NOTES: &str = "echo \"${0##*/} $*\" >> \"$HOME/calls\"";
/// Creates a folder with a pip, like `python3 -m venv`.
const VENV: &str = "case \"$2\" in venv) /bin/mkdir -p \"$3/bin\"; printf '#!/bin/sh\\n' > \"$3/bin/pip\"; /bin/chmod 755 \
                    \"$3/bin/pip\";; esac";

/// A machine with only these commands, on which all tests fail.
fn xtask_test(commands: &[(&str, &str)]) -> (Output, TempDir) {
    xtask_test_with(&["exit 1"], commands)
}

/// The same, with these scripts as test programs.
fn xtask_test_with(programs: &[&str], commands: &[(&str, &str)]) -> (Output, TempDir) {
    let home = tempfile::tempdir().expect("a folder");
    let mut messages = String::from("{\"reason\":\"build-script-executed\"}\n");
    for (number, script) in programs.iter().enumerate() {
        let package = home.path().join(format!("{number}"));
        fs::create_dir(&package).expect("made");
        script_at(&package.join("program"), script);
        let message = serde_json::json!({
            "manifest_path": package.join("Cargo.toml"), "executable": package.join("program"), "profile": {"test": true},
            "target": {"kind": ["test"], "src_path": package.join("tests/runner.rs")},
        });
        messages += &format!("{message}\n");
    }
    fs::write(home.path().join("messages"), messages).expect("written");
    let builds = "[ \"$1\" != test ] || while read -r line; do echo \"$line\"; done < \"$HOME/messages\"";
    let cargo = format!("{NOTES}; {builds}");
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
    let program = "echo \"ran with $PROPTEST_RNG_SEED in ${PWD##*/}\"; exit 1";
    let (output, home) = xtask_test_with(&[program; 3], &ALL);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "the tests failed: {error}");
    let calls = fs::read_to_string(home.path().join("calls")).unwrap_or_else(|_| panic!("no calls: {error}"));
    // The tools are installed beside the build, so in any order.
    let mut calls: Vec<_> = calls.lines().collect();
    calls.sort_unstable();
    assert_eq!(calls.len(), 2, "{calls:?}");
    assert!(calls[0].starts_with("cargo install"), "{calls:?}");
    assert!(calls[1].starts_with("cargo test --workspace --no-run"), "{calls:?}");
    let said = String::from_utf8(output.stdout).expect("text");
    let ran: Vec<_> = said.lines().filter(|line| line.starts_with("ran ")).collect();
    let expected = [0, 1, 2].map(|number| format!("ran with 20261122 in {number}"));
    assert_eq!(ran, expected, "the same sequences each time: {said}");
}

#[test]
fn two_test_programs_run_at_a_time_and_their_output_is_shown_one_after_the_other() {
    let first = "echo first begins; while [ ! -e ../second ]; do :; done; echo first ends";
    let second = "echo second begins; echo 'test a ... FAILED'; : > ../second; exit 101";
    let (output, _) = xtask_test_with(&[first, second, "echo third"], &ALL);
    let said = String::from_utf8(output.stdout).expect("text");
    let at = |text: &str| said.find(text).unwrap_or_else(|| panic!("{text} is not in {said}"));
    let places = ["first begins", "first ends", "second begins", "test a ... FAILED", "third", "» failed: "];
    assert!(places.map(at).is_sorted(), "{said}");
}

#[test]
fn a_test_program_that_names_no_failed_test_is_not_run_again() {
    let other =
        "case \"$*\" in *--exact*) echo 'test a ... ok';; *) echo 'test a ... FAILED'; exit 101;; esac";
    let (output, _) = xtask_test_with(&["kill -KILL $$", other], &ALL);
    let said = String::from_utf8(output.stdout).expect("text");
    assert!(!output.status.success() && !said.contains("once more"), "{said}");
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

/// These tests of two programs fail at first, and end like this when they run again. Returns what ran.
fn failing(names: [&[&str]; 2], again: &str) -> (Output, Vec<String>) {
    let programs = names.map(|names| {
        let failed: Vec<_> =
            names.iter().map(|name| format!("echo 'test {name} ... FAILED'; code=101")).collect();
        let first = format!("code=0; {}; exit $code", [vec![":".to_owned()], failed].concat().join("; "));
        let notes = "echo \"${PWD##*/} $*\" >> \"$HOME/ran\"";
        format!("{notes}; case \"$*\" in *--exact*) {again};; *) {first};; esac")
    });
    let (output, home) = xtask_test_with(&programs.each_ref().map(String::as_str), &ALL);
    let ran = fs::read_to_string(home.path().join("ran")).expect("what ran");
    (output, ran.lines().map(str::to_owned).collect())
}

#[test]
fn a_test_that_passes_when_it_runs_again_stops_nothing_and_is_named() {
    let again = "for name; do case $name in --*) ;; *) echo \"test $name ... ok\";; esac; done";
    for (names, expected) in [
        ([&["one::fact", "two::fact"][..], &[]], &["0 --exact --test-threads=1 one::fact two::fact"][..]),
        (
            [&["one::fact"], &["two::fact"]],
            &["0 --exact --test-threads=1 one::fact", "1 --exact --test-threads=1 two::fact"],
        ),
    ] {
        let (output, ran) = failing(names, again);
        let said = String::from_utf8(output.stdout).expect("text");
        assert!(output.status.success(), "{said}");
        assert_eq!(&ran[2..], expected);
        let end =
            "failed at first, and passed when they ran again. Find out why:\n  one::fact\n  two::fact\n";
        assert!(said.ends_with(end), "{said}");
    }
}

#[test]
fn a_test_that_fails_twice_or_does_not_run_again_stops_the_run() {
    for again in ["echo 'test one::fact ... FAILED'; exit 101", "echo 'running 0 tests'"] {
        let (output, ran) = failing([&["one::fact"], &[]], again);
        assert_eq!((output.status.success(), ran.len()), (false, 3), "{again}");
    }
}

#[test]
fn tests_that_do_not_compile_do_not_run() {
    let (output, home) = xtask_test_with(&[": > ../ran"], &ALL);
    assert!(output.status.success() && home.path().join("ran").exists());
    let fails = "while read -r line; do echo \"$line\"; done < \"$HOME/messages\"; [ \"$1\" != test ]";
    let commands: Vec<_> = ALL.into_iter().chain([("cargo", fails)]).collect();
    let (output, home) = xtask_test_with(&[": > ../ran"], &commands);
    assert!(!output.status.success() && !home.path().join("ran").exists());
}

#[test]
fn more_than_a_few_tests_that_fail_do_not_run_again() {
    let (output, ran) = failing([&["a", "b"], &["c", "d"]], "exit 0");
    assert_eq!((output.status.success(), ran.len()), (false, 2));
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
