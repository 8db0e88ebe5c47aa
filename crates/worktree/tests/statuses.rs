//! The state of a git repository, compared with what git itself says.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::mpsc;
use std::time::Duration;

use proptest::prelude::*;
use retake_worktree::{ChangedPaths, GitStatus, NoGitStatus, Upstream};

/// Longer than any test needs.
const PATIENCE: Duration = Duration::from_secs(20);

struct Repository {
    dir: tempfile::TempDir,
}

impl Repository {
    /// With one commit of these files.
    fn new(files: &[&str]) -> Self {
        let it = Self { dir: tempfile::tempdir().unwrap() };
        it.git(&["init", "-q", "-b", "main"]);
        files.iter().for_each(|name| it.write(name, "one\n"));
        it.git(&["add", "-A"]);
        it.git(&["commit", "-q", "--allow-empty", "-m", "Add the first\n\nwith a body"]);
        it
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    #[track_caller]
    fn git(&self, arguments: &[&str]) -> String {
        let out = self.run_git(arguments);
        assert!(out.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    }

    fn run_git(&self, arguments: &[&str]) -> Output {
        Command::new("git")
            .arg("-C")
            .arg(self.dir.path())
            .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"])
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .output()
            .unwrap()
    }

    fn status(&self, below: &str, most: usize) -> Result<GitStatus, NoGitStatus> {
        let ignored = self.path("ignored");
        let ignores = Box::new(move |path: &Path, _| path == ignored);
        GitStatus::read(&self.path(below), most, PATIENCE, ignores)
    }

    fn changed(&self) -> Vec<String> {
        self.status("", usize::MAX).unwrap().changed.unwrap().first
    }

    /// The changed paths as git names them.
    fn told_by_git(&self) -> Vec<String> {
        let told = self.git(&["-c", "status.renames=false", "status", "--porcelain", "-z"]);
        told.split_terminator('\0').map(str::to_owned).collect()
    }
}

#[test]
fn branch_upstream_and_last_commit_are_read() {
    let origin = Repository::new(&["a"]);
    let it = Repository::new(&[]);
    let from = origin.dir.path().to_str().unwrap();
    it.git(&["remote", "add", "origin", from]);
    it.git(&["fetch", "-q"]);
    it.git(&["reset", "-q", "--hard", "origin/main"]);
    it.git(&["branch", "-q", "-u", "origin/main"]);
    for name in ["b", "c"] {
        it.git(&["commit", "-q", "--allow-empty", "-m", name]);
    }
    origin.git(&["commit", "-q", "--allow-empty", "-m", "theirs"]);
    it.git(&["fetch", "-q"]);
    it.write("below/d", "new\n");
    for below in ["", "below"] {
        let status = it.status(below, 9).unwrap();
        let upstream = Upstream { name: "origin/main".into(), ahead: 2, behind: 1 };
        let id = it.git(&["rev-parse", "--short=8", "HEAD"]).trim().to_owned();
        let changed = ChangedPaths { first: vec!["?? below/".into()], count: 1 };
        let (branch, commit) = (Some("main".to_owned()), Some((id, "c".to_owned())));
        assert_eq!(status, GitStatus { branch, commit, upstream: Some(upstream), changed: Some(changed) });
    }
    it.git(&["checkout", "-q", "--detach"]);
    let status = it.status("", 9).unwrap();
    assert_eq!((status.branch, status.upstream), (None, None));
    let subject = |it: &Repository| it.status("", 9).unwrap().commit.map(|(_, subject)| subject);
    assert_eq!(subject(&origin).as_deref(), Some("theirs"));
    assert_eq!(subject(&Repository::new(&[])).as_deref(), Some("Add the first"));
}

#[test]
fn repository_without_commits_or_a_folder_without_one_has_no_commit() {
    let it = Repository { dir: tempfile::tempdir().unwrap() };
    assert_eq!(it.status("", 9), Err(NoGitStatus::NoRepository));
    it.git(&["init", "-q", "-b", "main"]);
    it.write("a", "one\n");
    let status = it.status("", 9).unwrap();
    assert_eq!((status.branch.as_deref(), status.commit), (Some("main"), None));
    assert_eq!(it.changed(), ["?? a"]);
}

#[test]
fn only_the_first_paths_are_named_and_all_are_counted() {
    let it = Repository::new(&["a", "b"]);
    it.write("b", "two\n");
    (0..30).for_each(|n| it.write(&format!("new{n:02}"), ""));
    it.write("ignored", "");
    let changed = it.status("", 3).unwrap().changed.unwrap();
    assert_eq!(
        changed,
        ChangedPaths { first: vec![" M b".into(), "?? new00".into(), "?? new01".into()], count: 31 }
    );
}

#[test]
fn nothing_that_a_repository_configures_is_run() {
    let it = Repository::new(&["a.txt", "b.txt"]);
    let mark = it.path(".git/mark");
    let script = it.path(".git/script");
    fs::write(&script, format!("#!/bin/sh\ntouch '{}'\ncat\n", mark.display())).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let script = script.to_str().unwrap();
    for key in [
        "core.fsmonitor",
        "filter.x.clean",
        "filter.x.smudge",
        "filter.x.process",
        "core.pager",
        "diff.external",
    ] {
        it.git(&["config", key, script]);
    }
    for hook in ["post-index-change", "fsmonitor-watchman", "post-checkout"] {
        fs::copy(script, it.path(&format!(".git/hooks/{hook}"))).unwrap();
    }
    it.write(".gitattributes", "*.txt filter=x\n");
    it.write("a.txt", "two\n");
    assert_eq!(it.changed(), [" M a.txt", "?? .gitattributes"]);
    assert!(!mark.exists(), "it ran something");
    it.git(&["status"]);
    assert!(mark.exists(), "git itself runs it");
}

#[test]
fn a_worktree_elsewhere_is_not_read() {
    let it = Repository::new(&["a"]);
    let other = tempfile::tempdir().unwrap();
    fs::write(other.path().join("secret"), "").unwrap();
    it.git(&["config", "core.worktree", other.path().to_str().unwrap()]);
    assert_eq!(it.status("", 9), Err(NoGitStatus::Unread));
    it.git(&["config", "core.worktree", "/"]);
    assert_eq!(it.status("", 9), Err(NoGitStatus::Unread));
}

#[test]
fn search_that_takes_too_long_is_left_out() {
    let it = Repository::new(&["a"]);
    it.write("new", "");
    let (_keep, never) = mpsc::channel::<()>();
    let ignores = Box::new(move |_: &Path, _| never.recv().is_ok());
    let status = GitStatus::read(it.dir.path(), 9, Duration::from_millis(500), ignores).unwrap();
    assert_eq!((status.branch.as_deref(), status.changed), (Some("main"), None));
}

/// A change of the files or of the index.
#[derive(Clone, Debug)]
enum Step {
    Write(usize, u8),
    Remove(usize),
    Link(usize),
    Mode(usize),
    Touch(usize),
    Add(usize),
    Commit,
    Folder(usize),
}

const NAMES: [&str; 6] = ["a", "b.c", "b/c", "b/d/e", "z z", "ä"];

fn step() -> impl Strategy<Value = Step> {
    let name = 0..NAMES.len();
    prop_oneof![
        4 => (name.clone(), 0..3_u8).prop_map(|(name, text)| Step::Write(name, text)),
        2 => name.clone().prop_map(Step::Remove),
        1 => name.clone().prop_map(Step::Link),
        1 => name.clone().prop_map(Step::Mode),
        1 => name.clone().prop_map(Step::Touch),
        3 => name.clone().prop_map(Step::Add),
        1 => Just(Step::Commit),
        1 => name.prop_map(Step::Folder),
    ]
}

fn take(it: &Repository, step: &Step) {
    let clear = |name: &str| {
        let _ = fs::remove_file(it.path(name)).or_else(|_| fs::remove_dir_all(it.path(name)));
    };
    match step {
        Step::Write(name, text) => {
            clear(NAMES[*name]);
            it.write(NAMES[*name], &"x".repeat(usize::from(*text)));
        }
        Step::Remove(name) => clear(NAMES[*name]),
        Step::Link(name) => {
            clear(NAMES[*name]);
            fs::create_dir_all(it.path(NAMES[*name]).parent().unwrap()).unwrap();
            symlink("x", it.path(NAMES[*name])).unwrap();
        }
        Step::Mode(name) => {
            let file = it.path(NAMES[*name]);
            if file.symlink_metadata().is_ok_and(|found| found.is_file()) {
                fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        Step::Touch(name) => {
            if let Ok(bytes) = fs::read(it.path(NAMES[*name])) {
                fs::write(it.path(NAMES[*name]), bytes).unwrap();
            }
        }
        Step::Add(name) => {
            // Refused where nothing has this name.
            it.run_git(&["add", "-A", "--", NAMES[*name]]);
        }
        Step::Commit => {
            it.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
        }
        Step::Folder(name) => {
            clear(NAMES[*name]);
            it.write(&format!("{}/new", NAMES[*name]), "");
        }
    }
}

#[test]
fn a_linked_folder_is_not_followed() {
    let it = Repository::new(&["a", "b/c"]);
    let other = tempfile::tempdir().unwrap();
    fs::write(other.path().join("c"), "one\n").unwrap();
    fs::remove_dir_all(it.path("b")).unwrap();
    symlink(other.path(), it.path("b")).unwrap();
    let mut ours = it.changed();
    let mut theirs = it.told_by_git();
    ours.sort();
    theirs.sort();
    assert_eq!(ours, theirs);
    assert_eq!(ours, [" D b/c", "?? b"]);
}

#[test]
fn a_large_file_with_a_new_time_is_not_changed() {
    let it = Repository::new(&["a"]);
    it.write("large", &"x".repeat(9 << 20));
    it.git(&["add", "-A"]);
    it.git(&["commit", "-q", "-m", "large"]);
    let file = fs::File::options().write(true).open(it.path("large")).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(it.changed(), [""; 0]);
    it.write("large", &"y".repeat(9 << 20));
    assert_eq!(it.changed(), [" M large"]);
}

#[test]
fn the_paths_of_a_sparse_index_are_left_out() {
    let it = Repository::new(&["a", "in/b", "out/c"]);
    it.git(&["sparse-checkout", "init", "--cone", "--sparse-index"]);
    it.git(&["sparse-checkout", "set", "in"]);
    let status = it.status("", 9).unwrap();
    assert_eq!((status.branch.as_deref(), status.changed), (Some("main"), None));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn changed_paths_are_those_that_git_names(steps in prop::collection::vec(step(), 1..12)) {
        let it = Repository::new(&["a", "b/c", "b/d/e"]);
        for step in &steps {
            take(&it, step);
        }
        // Asked first: git writes new times into the index.
        let ours = it.changed();
        let mut theirs = it.told_by_git();
        let mut sorted = ours.clone();
        sorted.sort();
        theirs.sort();
        prop_assert_eq!(sorted, theirs, "{:?}", steps);
        prop_assert_eq!(it.changed(), ours);
    }
}
