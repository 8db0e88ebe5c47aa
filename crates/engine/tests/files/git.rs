//! Git changes of calls are reported and stay; so does what they check out or commit (spec `rewind.md`, case 21 and *Plan*).

use retake_core::{BlockingAuthor, Choice, GitFile, GitPlace, GitRemark, Verdict};
use retake_engine::{FileOptions, FolderRemark, Note};

use super::{Yard, choose};

/// A shell script with author names for git, independent of the machine's configuration.
fn script(script: &str) -> String {
    let names = "export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null \
                 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b;";
    format!("set -e; {names} {script}")
}

/// The remarks about the conversation's own folder, from notes of this kind only.
fn remarks(notes: Vec<Note>) -> Vec<FolderRemark> {
    let own = |note| match note {
        Note::InFolder { folder: None, remark } => remark,
        other => panic!("about something else: {other:?}"),
    };
    notes.into_iter().map(own).collect()
}

/// The command of a remark.
fn command(remark: &FolderRemark) -> Option<&str> {
    match remark {
        FolderRemark::Git(
            GitRemark::Head { command, .. }
            | GitRemark::BranchRemoved { command, .. }
            | GitRemark::BranchMoved { command, .. },
        ) => Some(command),
        FolderRemark::Git(
            GitRemark::BranchMade { command, .. }
            | GitRemark::WorktreeMade { command, .. }
            | GitRemark::WorktreeMoved { command, .. }
            | GitRemark::WorktreeHead { command, .. }
            | GitRemark::WorktreeRemoved { command, .. },
        )
        | FolderRemark::Submodule { command, .. }
        | FolderRemark::RepositoryMoved { command, .. }
        | FolderRemark::GitFile { file: GitFile { command, .. }, .. } => command.as_deref(),
        FolderRemark::Git(GitRemark::Stash) => Some("git stash list"),
        FolderRemark::Git(GitRemark::Staged) => Some("git restore --staged ."),
        _ => None,
    }
}

/// The remark that HEAD stays.
fn head(branch: &str, commit: String, command: &str) -> FolderRemark {
    let at = GitPlace { branch: Some(branch.to_owned()), commit: Some(commit) };
    FolderRemark::Git(GitRemark::Head { at, command: command.to_owned() })
}

/// The remark that a branch stays; its commits have no other name if no command removes it.
fn branch_made(branch: &str, is_head: bool, command: Option<&str>) -> FolderRemark {
    let (branch, command) = (branch.to_owned(), command.map(str::to_owned));
    FolderRemark::Git(GitRemark::BranchMade { branch, is_only_name: command.is_none(), is_head, command })
}

/// The remark that a worktree stays.
fn worktree_made(folder: &str, command: Option<String>) -> FolderRemark {
    let (folder, is_only_name) = (folder.to_owned(), command.is_none());
    FolderRemark::Git(GitRemark::WorktreeMade { folder, is_only_name, command })
}

impl Yard {
    /// Runs git as another author.
    pub(super) fn git(&self, text: &str) -> String {
        let done =
            std::process::Command::new("sh").args(["-c", &script(text)]).current_dir(self.path("")).output();
        let done = done.expect("a shell");
        assert!(done.status.success(), "{text}: {done:?}");
        String::from_utf8(done.stdout).expect("UTF-8").trim().to_owned()
    }

    async fn runs_git(&self, text: &str) {
        self.run(&script(text)).await;
    }

    /// Rewinds to before a turn, and then runs exactly the git commands of its plan.
    async fn back_by_advice(&self, turn: &str) {
        let stays = self.stays(turn).await;
        self.back(turn).await;
        let files = self.files();
        for command in stays.iter().filter_map(command) {
            self.git(command);
            assert_eq!(self.files(), files, "no file changes: {command}");
        }
    }

    /// HEAD and the branches.
    fn refs(&self) -> String {
        self.git("cat .git/HEAD; git for-each-ref --format='%(refname) %(objectname)'")
    }

    /// The files of the folder, without git's own.
    fn files(&self) -> String {
        let all = self.all();
        all.lines().filter(|line| !line.starts_with(".git/")).collect::<Vec<_>>().join("\n")
    }

    /// The git remarks of a plan.
    async fn stays(&self, turn: &str) -> Vec<FolderRemark> {
        remarks(self.plan(self.rewind(turn).await, FileOptions::default()).await.notes)
    }
}

/// A repository with two branches, which differ in `b` and in the existence of `c`.
async fn branches() -> Yard {
    let yard = Yard::with(&[("a", "one\n"), ("b", "one\n"), ("d/e", "one\n")]).await;
    yard.git("git init -qb main .; git add .; git commit -qm one; git checkout -qb two");
    yard.git(
        "echo two > b; echo two > c; git rm -q d/e; git add .; git commit -qm two; git checkout -q main",
    );
    yard
}

#[tokio::test]
async fn rewind_case_21_a_checkout_by_the_user_between_turns_is_not_taken_back() {
    let yard = branches().await;
    yard.run("echo agent > a").await;
    yard.git("git checkout -q two");
    yard.run("echo again > f").await;
    assert!(yard.stays("t1").await.is_empty(), "no command moved it");
    yard.back("t1").await;
    assert_eq!((yard.read("a").as_deref(), yard.read("b").as_deref()), (Some("one\n"), Some("two\n")));
    assert_eq!(yard.read("f"), None);
}

#[tokio::test]
async fn rewind_case_21_a_checkout_by_the_agent_stays_and_its_git_command_is_named() {
    let yard = branches().await;
    yard.runs_git("git checkout -q two; echo agent > a").await;
    assert_eq!(yard.verdicts("t1").await, ["a Revert", "b GitHas", "c GitHas", "d GitHas", "d/e GitHas"]);
    let at = yard.git("git rev-parse --short=12 HEAD");
    assert_eq!(yard.stays("t1").await, [head("two", at, "git switch main")]);
    let before = yard.all();
    yard.back("t1").await;
    assert_eq!((yard.read("a").as_deref(), yard.read("b").as_deref()), (Some("one\n"), Some("two\n")));
    assert_eq!(yard.git("git --no-optional-locks status --porcelain"), "", "what it was on that branch");
    yard.undo().await;
    assert_eq!(yard.all(), before);
    yard.apply(yard.rewind("t1").await, choose("b", Choice::Checkpoint)).await.expect("done");
    assert_eq!(yard.read("b").as_deref(), Some("one\n"), "who wants it has it");
    yard.undo().await;
    yard.back("t1").await;
    yard.git("git switch -q main");
    assert_eq!(yard.read("d/e").as_deref(), Some("one\n"));
}

#[tokio::test]
async fn rewind_case_21_what_the_user_saves_during_a_long_call_is_listed_under_it_and_can_be_had_back() {
    let yard = Yard::with(&[("a", "one\n"), ("mine", "one\n")]).await;
    let fifo = "mkfifo ../begun ../go; echo > ../begun; cat ../go; echo two > a; rm ../begun ../go";
    let begun = tokio::spawn({
        let path = yard.path("../begun");
        async move {
            while tokio::fs::metadata(&path).await.is_err() {
                tokio::task::yield_now().await;
            }
            tokio::fs::read(&path).await.expect("begun");
        }
    });
    let mut events = yard.started(fifo, Some("build")).await;
    begun.await.expect("begun");
    yard.write("mine", "saved\n");
    std::fs::write(yard.path("../go"), "").expect("told");
    while futures::StreamExt::next(&mut events).await.is_some() {}
    assert_eq!(yard.verdicts("t1").await, ["a Revert", "mine Revert"], "both during that call");
    yard.back("t1").await;
    assert_eq!(yard.read("mine").as_deref(), Some("one\n"));
    yard.undo().await;
    assert_eq!(yard.read("mine").as_deref(), Some("saved\n"), "nothing is lost");
    yard.apply(yard.rewind("t1").await, choose("mine", Choice::Skip)).await.expect("done");
    assert_eq!((yard.read("a").as_deref(), yard.read("mine").as_deref()), (Some("one\n"), Some("saved\n")));
}

#[tokio::test]
async fn committed_files_stay_and_uncommitted_ones_are_rewound() {
    let yard = branches().await;
    yard.run("echo agent > a; echo agent > new").await;
    yard.runs_git("git add a; git commit -qm agent").await;
    yard.runs_git("git branch other; git stash -q --include-untracked || true; git stash pop -q").await;
    assert_eq!(yard.verdicts("t1").await, ["a Revert", "new Delete"]);
    let (at, first) = (yard.git("git rev-parse --short=12 HEAD"), yard.git("git rev-parse --short=12 HEAD^"));
    let back = format!("git reset --soft {first}");
    assert_eq!(yard.stays("t1").await, [head("main", at, &back), branch_made("other", false, None)]);
    assert_eq!(yard.verdicts("t2").await.len(), 0);
    yard.back("t1").await;
    assert_eq!((yard.read("a").as_deref(), yard.read("new")), (Some("one\n"), None), "files are ours");
    let before = yard.files();
    yard.git(&format!("git reset -q --soft {first}"));
    assert_eq!(yard.files(), before);
    yard.undo().await;
    assert_eq!(yard.stays("t1").await.len(), 1, "HEAD is where it was");
}

#[tokio::test]
async fn a_change_that_a_checkout_threw_away_comes_back() {
    let yard = branches().await;
    yard.write("a", "mine, not committed\n");
    yard.runs_git("git checkout -qf two").await;
    yard.back("t1").await;
    assert_eq!(yard.read("a").as_deref(), Some("mine, not committed\n"), "git has no command for that");
    assert_eq!(yard.read("b").as_deref(), Some("two\n"));
}

#[tokio::test]
async fn files_are_rewound_where_somebody_else_has_committed_since() {
    let yard = branches().await;
    yard.runs_git("git checkout -q two").await;
    yard.git("git commit -q --allow-empty -m mine");
    assert!(yard.stays("t1").await.is_empty());
    let verdicts = yard.verdicts("t1").await;
    assert!(verdicts.contains(&"b Revert".to_owned()), "{verdicts:?}");
}

#[tokio::test]
async fn a_workspace_inside_a_repository_and_a_repository_that_a_command_makes() {
    let outer = Yard::with(&[("a", "one\n")]).await;
    outer.git("cd ..; echo data > .gitignore; git init -qb main .; git add .; git commit -qm one");
    outer.runs_git("echo two > a; git commit -qam two").await;
    assert_eq!(outer.verdicts("t1").await, ["a Revert"]);
    let made = Yard::with(&[("a", "one\n")]).await;
    made.runs_git("git init -qb main .; git add .").await;
    assert!(made.verdicts("t1").await.is_empty(), "what is git's is not covered");
    assert_eq!(made.stays("t1").await, [FolderRemark::Git(GitRemark::Repository)]);
    made.back("t1").await;
    assert!(made.path(".git/index").exists());
}

/// A repository, or one without a commit, in which `t1` writes `g` and each of these scripts is a turn.
async fn commits(first: &str, scripts: &[&str]) -> (Yard, Vec<String>) {
    let yard = Yard::with(&[("a", "one\n")]).await;
    yard.git(&format!("git init -qb master .; {first}"));
    yard.run("echo two > g").await;
    let mut refs = vec![String::new(), yard.refs()];
    for script in scripts {
        yard.runs_git(script).await;
        refs.push(yard.refs());
    }
    (yard, refs)
}

#[tokio::test]
async fn the_command_that_a_plan_names_changes_no_file_and_brings_head_and_branches_back() {
    const FIRST: &str = "git add .; git commit -qm one";
    const COMMIT: &str = "git add g; git commit -qm two";
    const MORE: &str = "echo three > h; git add h; git commit -qm three";
    const FEATURE: &str = "git switch -qc feature";
    let rows: [(&str, &[&str], &str); 9] = [
        (FIRST, &[COMMIT], "t2"),
        (FIRST, &[COMMIT, MORE], "t3"),
        (FIRST, &[COMMIT, MORE], "t2"),
        (FIRST, &[COMMIT, FEATURE], "t3"),
        (FIRST, &[COMMIT, FEATURE, MORE], "t4"),
        (FIRST, &["git switch -q --detach; git add g; git commit -qm two"], "t2"),
        ("", &[COMMIT], "t2"),
        ("", &[COMMIT, MORE], "t2"),
        ("", &[COMMIT, FEATURE], "t3"),
    ];
    for (first, scripts, turn) in rows {
        let (yard, refs) = commits(first, scripts).await;
        let last = yard.refs();
        let no: usize = turn[1..].parse().expect("a number");
        yard.back_by_advice(turn).await;
        let name = format!("{first:?} {scripts:?} {turn}");
        assert_ne!(yard.refs(), last, "{name}");
        assert_eq!(yard.refs(), refs[no - 1], "{name}");
        assert_eq!(yard.read("g").as_deref(), Some("two\n"), "{name}");
    }
}

#[tokio::test]
async fn a_plan_of_git_is_of_the_turns_that_it_takes_back_and_of_none_before() {
    let (yard, _) = commits("git add .; git commit -qm one", &["git add g; git commit -qm two"]).await;
    yard.back("t2").await;
    let was = yard.refs();
    yard.runs_git("git switch -qc feature").await;
    let stays = yard.stays("t2").await;
    let at = yard.git("git rev-parse --short=12 HEAD");
    assert_eq!(
        stays,
        [
            head("feature", at, "git switch master"),
            branch_made("feature", true, Some("git branch -D feature")),
        ]
    );
    yard.back_by_advice("t2").await;
    assert_eq!(yard.refs(), was);
    assert_eq!(yard.read("g").as_deref(), Some("two\n"), "it is still in the conversation");
}

#[tokio::test]
async fn a_branch_that_alone_has_commits_is_not_named_for_removal() {
    let script = "git switch -qc feature; git add g; git commit -qm two; git switch -q master";
    let (yard, _) = commits("git add .; git commit -qm one", &[script]).await;
    assert_eq!(yard.stays("t2").await, [branch_made("feature", false, None)]);
    let script = "git switch -qc feature; git add g; git commit -qm two";
    for first in ["", "git add .; git commit -qm one"] {
        let (yard, _) = commits(first, &[script]).await;
        yard.back_by_advice("t2").await;
        assert_eq!(yard.git("git symbolic-ref HEAD"), "refs/heads/master");
        assert!(yard.refs().contains("refs/heads/feature "), "{first:?}: the commit keeps its name");
        assert_eq!(yard.read("g").as_deref(), Some("two\n"));
    }
}

#[tokio::test]
async fn trial_10_folders_in_which_git_keeps_something_are_named_and_attributed_to_nobody() {
    let yard = branches().await;
    yard.runs_git("git init -q d2/sub; echo 1 > d2/sub/f").await;
    yard.runs_git("git worktree add -q tree two").await;
    let stays = [
        FolderRemark::Repository { folder: "d2/sub".to_owned() },
        worktree_made("tree", Some("git worktree remove --force tree".to_owned())),
    ];
    assert_eq!(yard.stays("t1").await, stays);
    let plan = super::own(yard.plan(yard.rewind("t1").await, FileOptions::default()).await);
    let kept = plan.paths.iter().filter(|path| path.verdict == Verdict::NotEmpty);
    let kept: Vec<_> = kept.map(|path| (path.path.to_string(), path.against)).collect();
    let of_git = |name: &str| (name.to_owned(), Some(BlockingAuthor::Git));
    assert_eq!(kept, [of_git("d2"), of_git("d2/sub"), of_git("tree")]);
    let done = yard.apply(yard.rewind("t1").await, FileOptions::default()).await.expect("done");
    assert_eq!(remarks(done.notes), stays, "the receipt says it again");
    assert_eq!((yard.read("d2/sub/f"), yard.path("tree/.git").exists()), (None, true));
    yard.git("git worktree remove --force tree");
    assert!(!yard.path("tree").exists());
}

#[tokio::test]
async fn trial_10_a_folder_that_holds_what_is_not_covered_is_not_said_to_be_somebody_elses() {
    let yard = Yard::with(&[]).await;
    yard.run("mkdir -p made/node_modules; echo 1 > made/node_modules/x").await;
    let plan = super::own(yard.plan(yard.rewind("t1").await, FileOptions::default()).await);
    let made: Vec<_> = plan.paths.iter().map(|path| (path.path.to_string(), path.against)).collect();
    assert_eq!(made, [("made".to_owned(), Some(BlockingAuthor::Uncovered))]);
}

/// A worktree outside of the folder, created by a turn in ways that matter to git. A plan names its commands first, and after
/// them the branch is gone.
#[tokio::test]
async fn trial_10_a_worktree_outside_of_the_folder_is_removed_before_its_branch() {
    for (script, options) in [
        ("git worktree add -q ../wto -b br", "--force"),
        ("git worktree add -q ../wto -b br; echo mine > ../wto/new", "--force"),
        ("git worktree add -q --lock ../wto -b br", "--force --force"),
        ("git worktree add -q ../wto -b br; rm -r ../wto", "--force"),
    ] {
        let yard = branches().await;
        let before = yard.refs();
        yard.run("echo one > first").await;
        yard.runs_git(script).await;
        let path = std::fs::canonicalize(yard.path("..")).expect("it is there").join("wto");
        let path = path.to_str().expect("UTF-8");
        let stays = [
            worktree_made(path, Some(format!("git worktree remove {options} {path}"))),
            branch_made("br", false, Some("git branch -D br")),
        ];
        assert_eq!(yard.stays("t2").await, stays, "{script}");
        let done = yard.apply(yard.rewind("t2").await, FileOptions::default()).await.expect("done");
        assert_eq!(remarks(done.notes), stays, "{script}: the receipt says it again");
        yard.undo().await;
        yard.back_by_advice("t1").await;
        assert_eq!(yard.refs(), before, "{script}");
        assert_eq!(yard.git("git worktree list").lines().count(), 1, "{script}");
        assert!(!yard.path("../wto").exists(), "{script}");
        yard.undo().await;
        assert_eq!(yard.stays("t1").await, [], "{script}: nothing of it stays");
    }
}

#[tokio::test]
async fn trial_10_changes_of_existing_worktrees_can_be_reverted_as_reported() {
    for script in [
        "git -C ../other switch -qc new",
        "cd ../other; echo two > a; git commit -qam two",
        "cd ../other; git switch -q --detach; echo two > a; git commit -qam two",
        "git worktree remove ../other",
        "git worktree remove ../other; git branch -qD three",
        "git worktree move ../other ../moved",
        "git worktree move ../other ../moved; git -C ../moved switch -qc new",
        "git worktree add -q ../wto two; git -C ../wto reset -q --soft main; git -C ../wto switch -qc new",
        "git switch -q --detach; git worktree add -q ../wto main",
    ] {
        let yard = branches().await;
        yard.git("git worktree add -q ../other -b three");
        let is = |yard: &Yard| yard.refs() + &yard.git("git worktree list | sort");
        let before = is(&yard);
        yard.runs_git(script).await;
        assert_ne!(is(&yard), before, "{script}");
        let stays = yard.stays("t1").await;
        yard.back_by_advice("t1").await;
        assert_eq!(is(&yard), before, "{script}: {stays:?}");
    }
}

#[tokio::test]
async fn trial_10_a_worktree_that_alone_has_commits_is_not_named_for_removal() {
    let yard = branches().await;
    yard.runs_git("git worktree add -q --detach ../wto; cd ../wto; echo two > a; git commit -qam two").await;
    let path = std::fs::canonicalize(yard.path("../wto")).expect("it is there");
    assert_eq!(yard.stays("t1").await, [worktree_made(path.to_str().expect("UTF-8"), None)]);
}

/// The person's repository in the folder `sub`, and a nested one below it.
async fn nested() -> Yard {
    let yard =
        Yard::with(&[("a", "one\n"), ("sub/f", "one\n"), ("sub/d/g", "two\n"), ("sub/in/h", "h\n")]).await;
    yard.git(
        "cd sub; git init -qb main .; git add f d; git commit -qm one; git init -q in; touch in/.git/mine",
    );
    yard
}

#[tokio::test]
async fn trial_10_a_repository_that_a_turn_moved_is_not_split_and_goes_back_with_the_command_that_is_named() {
    for (script, from, to) in [
        ("mv sub sub2", "sub", "sub2"),
        ("echo agent > a; mv sub sub2; echo new > sub2/new", "sub", "sub2"),
        ("mv sub sub2; echo agent >> sub2/f", "sub", "sub2"),
        ("mkdir -p x/y; mv sub x/y/sub", "sub", "x/y/sub"),
        ("mv sub 'a b'", "sub", "'a b'"),
    ] {
        let yard = nested().await;
        let before = yard.all();
        yard.run(script).await;
        let after = yard.all();
        let stays = yard.stays("t1").await;
        let back = format!("mv {to} {from}");
        let moved = stays.iter().filter(|note| matches!(note, FolderRemark::RepositoryMoved { .. }));
        assert_eq!(moved.filter_map(command).collect::<Vec<_>>(), [back], "{script}: {stays:?}");
        let removes = |command: &str| command.contains("remove") || command.contains("rm ");
        assert!(!stays.iter().filter_map(command).any(removes), "{script}: {stays:?}");
        let done = yard.apply(yard.rewind("t1").await, FileOptions::default()).await.expect("done");
        assert_eq!(remarks(done.notes), stays, "{script}: the receipt says it again");
        assert!(!yard.path("sub").exists(), "{script}: it is not split");
        yard.undo().await;
        assert_eq!(yard.all(), after, "{script}");
        yard.back("t1").await;
        yard.git(&format!("mv {to} {from}; rmdir -p x/y 2>/dev/null || true"));
        let new = script.contains("new") || script.contains("agent");
        assert!(new || yard.all() == before, "{script}: {}", yard.all());
        assert!(yard.path("sub/.git/HEAD").exists() && yard.path("sub/in/.git/mine").exists(), "{script}");
        assert_eq!(yard.git("git -C sub log --format=%s"), "one", "{script}");
    }
}

#[tokio::test]
async fn trial_10_a_repository_below_a_folder_that_a_turn_moved_is_moved_back_by_itself() {
    let yard = Yard::with(&[("o/x", "x\n"), ("o/sub/f", "one\n")]).await;
    yard.git("cd o/sub; git init -qb main .; git add .; git commit -qm one");
    let before = yard.all();
    yard.run("mv o p").await;
    let stays = yard.stays("t1").await;
    assert!(stays.iter().filter_map(command).any(|it| it == "mv p/sub o/sub"), "{stays:?}");
    yard.back("t1").await;
    assert_eq!(yard.read("o/x").as_deref(), Some("x\n"), "what is no repository's goes back");
    yard.git("mv p/sub o/sub; rmdir p");
    assert_eq!(yard.all(), before);
}

#[tokio::test]
async fn trial_10_a_repository_that_may_be_the_persons_is_not_named_for_removal() {
    for script in ["mv sub sub2; echo agent > sub2/f", "mv sub sub2; mkdir sub; echo agent > sub/x"] {
        let yard = Yard::with(&[("sub/f", "one\n")]).await;
        yard.git("cd sub; git init -qb main .; git add .; git commit -qm one");
        yard.run(script).await;
        let stays = yard.stays("t1").await;
        let is_sub2 = |note: &FolderRemark| matches!(note, FolderRemark::RepositoryMoved { folder, .. } | FolderRemark::RepositoryUncertain { folder, .. } if folder == "sub2");
        assert!(stays.iter().any(is_sub2), "{script}: {stays:?}");
        assert!(
            !stays.iter().any(|note| matches!(note, FolderRemark::Repository { .. })),
            "{script}: {stays:?}"
        );
    }
}

#[tokio::test]
async fn trial_10_a_worktree_in_the_folder_that_git_moved_is_not_split() {
    let yard = branches().await;
    yard.git("git worktree add -q tree two");
    let before = yard.all();
    yard.runs_git("git worktree move tree tree2").await;
    yard.back("t1").await;
    assert!(!yard.path("tree").exists(), "it is not split");
    yard.git("git worktree move tree2 tree");
    let is =
        |all: String| all.lines().filter(|line| !line.starts_with(".git/")).collect::<Vec<_>>().join("\n");
    assert_eq!(is(yard.all()), is(before));
}
