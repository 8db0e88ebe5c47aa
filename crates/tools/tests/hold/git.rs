//! What git would run on the person's next command can't be planted by a command: hooks and settings.

use std::path::{Path, PathBuf};
use std::process::Command;

use retake_core::ToolOutcome;
use retake_tools::Network;

use super::stand::{Ground, How, everywhere};
use crate::stage::Stage;

/// Runs git as the person does.
fn git(folder: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"])
        .args(arguments);
    let output =
        git.current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").output().expect("git is there");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
}

/// A repository with a remote, and a commit.
fn repository(stage: &Stage) {
    let root = stage.root();
    let remote = root.with_file_name("remote");
    git(root.parent().expect("a folder"), &["init", "-q", "--bare", "-b", "main", "remote"]);
    git(root, &["init", "-q", "-b", "main"]);
    git(root, &["commit", "-qm", "one", "--allow-empty"]);
    git(root, &["remote", "add", "origin", &remote.to_string_lossy()]);
    git(root, &["push", "-q", "origin", "main", "main:other"]);
    git(root, &["fetch", "-q"]);
}

fn ground(how: How, more: impl FnOnce(&Stage)) -> Ground {
    Ground::with(how, Network::Ask, |stage, sandbox| {
        repository(stage);
        sandbox.write.push(stage.root().with_file_name("remote"));
        more(stage);
    })
}

/// All that names programs, or leads to what does, below folders.
fn state(folders: &[PathBuf]) -> Vec<(PathBuf, Vec<u8>)> {
    let names = ["config", "config.worktree", "hooks", "info/attributes", "commondir", "gitdir"];
    let mut state = Vec::new();
    for path in folders.iter().flat_map(|folder| names.map(|name| folder.join(name))) {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).expect("a folder").flatten();
            state
                .extend(entries.map(|entry| (entry.path(), std::fs::read(entry.path()).unwrap_or_default())));
        } else if let Ok(text) = std::fs::read(&path) {
            state.push((path, text));
        }
    }
    state.sort();
    state
}

/// Ways to plant something in a repository that a word stands for.
const PLANTS: [&str; 14] = [
    "printf '#!/bin/sh\\ntouch planted\\n' > REPO/hooks/post-commit && chmod +x REPO/hooks/post-commit",
    "git --git-dir REPO config core.hooksPath /tmp/hooks",
    "echo x >> REPO/config",
    "echo x > REPO/new && mv -f REPO/new REPO/config",
    "rm -f REPO/config",
    "mv REPO/hooks REPO/old && mkdir REPO/hooks",
    "rm -rf REPO/hooks",
    "rmdir REPO/hooks",
    "ln -s /tmp REPO/hooks",
    "mkdir REPO/hooks && touch REPO/hooks/pre-commit",
    "mv REPO REPO.old && cp -r REPO.old REPO && echo x >> REPO/config",
    "cd REPO && echo x > hooks/pre-commit",
    "cd REPO && echo x >> ./config",
    "unshare -Urm sh -c 'umount REPO/config; echo x >> REPO/config'",
];

#[tokio::test]
async fn trial_27_commands_plant_nothing_in_hooks_and_settings_in_namespaces() {
    let test = "hold::git::trial_27_commands_plant_nothing_in_hooks_and_settings_in_namespaces";
    everywhere(test, async |how| {
        for has_hooks in [true, false] {
            let ground = ground(how, |stage| {
                let hooks = stage.root().join(".git/hooks");
                if !has_hooks && hooks.exists() {
                    std::fs::remove_dir_all(hooks).expect("no hooks");
                } else if has_hooks {
                    std::fs::create_dir_all(hooks).expect("hooks");
                }
            });
            let repository = ground.stage.root().join(".git");
            let before = state(std::slice::from_ref(&repository));
            for plant in PLANTS {
                let output = ground.run(&plant.replace("REPO", ".git")).await;
                if how == How::Namespaces {
                    assert_eq!(output.outcome, ToolOutcome::Failed, "{plant}: {}", output.content);
                    assert_eq!(
                        state(std::slice::from_ref(&repository)),
                        before,
                        "{plant}: {}",
                        output.content
                    );
                    assert_eq!(repository.join("hooks").exists(), has_hooks, "{plant}");
                }
            }
            // What can't be prevented there is not said to be.
            let is_changed = state(std::slice::from_ref(&repository)) != before;
            assert_eq!(is_changed, how == How::WithoutNamespaces, "{how:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn trial_27_submodules_and_worktrees_are_held_too() {
    let test = "hold::git::trial_27_submodules_and_worktrees_are_held_too";
    everywhere(test, async |how| {
        if how == How::WithoutNamespaces {
            return;
        }
        let mut ground = ground(how, |stage| {
            let remote = stage.root().with_file_name("remote");
            git(stage.root(), &["submodule", "--quiet", "add", &remote.to_string_lossy(), "deep/sub"]);
            git(stage.root(), &["worktree", "add", "-q", "../tree"]);
            git(stage.root(), &["config", "extensions.worktreeConfig", "true"]);
        });
        let main = ground.stage.root().join(".git");
        let folders = [main.clone(), main.join("modules/deep/sub"), main.join("worktrees/tree")];
        let before = state(&folders);
        for plant in PLANTS {
            let output = ground.run(&plant.replace("REPO", ".git/modules/deep/sub")).await;
            assert_eq!(output.outcome, ToolOutcome::Failed, "{plant}: {}", output.content);
            assert_eq!(state(&folders), before, "{plant}: {}", output.content);
        }
        for plant in
            ["echo x > .git/worktrees/tree/commondir", "git config --worktree a.b c", "mv .git/modules x"]
        {
            let output = ground.run(plant).await;
            assert_eq!(output.outcome, ToolOutcome::Failed, "{plant}: {}", output.content);
            assert_eq!(state(&folders), before, "{plant}: {}", output.content);
        }
        // From the worktree, whose repository lies elsewhere.
        let tree = ground.stage.root().with_file_name("tree");
        ground.stage.roots = vec![tree.clone()];
        let repository = main.to_string_lossy().into_owned();
        for plant in PLANTS {
            let output = ground.run(&plant.replace("REPO", &repository)).await;
            assert_eq!(output.outcome, ToolOutcome::Failed, "{plant}: {}", output.content);
            assert_eq!(state(&folders), before, "{plant}: {}", output.content);
        }
        let link = std::fs::read(tree.join(".git")).expect("a link");
        ground.run("echo 'gitdir: /tmp/evil' > .git; rm -f .git; mv .git x").await;
        assert_eq!(std::fs::read(tree.join(".git")).expect("a link"), link);
        ground
            .prints("git -c user.name=a -c user.email=a@b -c maintenance.auto=false commit -q --allow-empty -m y && git log -1")
            .await;
    })
    .await;
}

#[tokio::test]
async fn trial_27_git_does_its_work_and_a_refused_setting_is_explained() {
    let test = "hold::git::trial_27_git_does_its_work_and_a_refused_setting_is_explained";
    everywhere(test, async |how| {
        let ground = ground(how, |_| ());
        let as_somebody = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; ";
        let branch = "git rev-parse --abbrev-ref HEAD";
        for (command, printed) in [
            ("echo x > file && git add file && git commit -qm two && git log --oneline | wc -l", "2"),
            (&*format!("git checkout -q -b x origin/other && {branch}"), "x"),
            (&*format!("git switch -q main && {branch}"), "main"),
            (&*format!("git checkout -q other && {branch}"), "other"),
            ("git switch -q main && git push -q -u origin main; git rev-parse main origin/main | uniq | wc -l", "1"),
            ("echo y > file && git stash -q && git stash pop -q && cat file", "y"),
            ("git commit -qam three && git rebase -q HEAD~1 && git reset -q --hard HEAD~1 && cat file", "x"),
            ("git branch -q y && git branch -q -m y z; git branch -q -D z && git tag t && git gc -q && echo ok", "ok"),
        ] {
            let all = ground.run(&format!("{as_somebody}{command}")).await;
            let mut lines = all.content.lines().rev();
            let last = lines.find(|line| !line.starts_with('[')).map(str::to_owned);
            assert_eq!(last.as_deref(), Some(printed), "{how:?}: {command}: {}", all.content);
        }
        if how == How::Namespaces {
            ground.refuses("git config a.b c", "`retake exec`").await;
            ground.refuses("touch .git/hooks/post-commit", "`retake exec`").await;
        }
    })
    .await;
}

/// What a command adds to a repository makes nothing of it writable, and hinders no command.
#[tokio::test]
async fn trial_27_made_up_submodules_and_links_open_nothing() {
    let test = "hold::git::trial_27_made_up_submodules_and_links_open_nothing";
    everywhere(test, async |how| {
        if how == How::WithoutNamespaces {
            return;
        }
        let ground = ground(how, |stage| {
            let remote = stage.root().with_file_name("remote");
            git(stage.root(), &["submodule", "--quiet", "add", &remote.to_string_lossy(), "sub"]);
        });
        let outside = ground.stage.root().with_file_name("outside");
        std::fs::create_dir_all(&outside).expect("a folder");
        std::fs::write(outside.join("config"), "# worktreeconfig\n").expect("a file");
        let main = ground.stage.root().join(".git");
        let folders = [main.clone(), main.join("modules/sub")];
        let before = state(&folders);
        let plant = "(cd .git/modules/sub; echo x > hooks/post-commit; echo y >> config)";
        ground.run("mv .git/modules/sub/HEAD .git/modules/sub/HEADx").await;
        ground.run(plant).await;
        ground.run("mv .git/modules/sub/HEADx .git/modules/sub/HEAD").await;
        assert_eq!(state(&folders), before);
        let many = "for i in $(seq 700); do mkdir .git/modules/0$i && : > .git/modules/0$i/HEAD; done; ";
        let link = format!(
            "mkdir -p .git/worktrees; ln -s {0} .git/worktrees/x; ln -s {0} .git/modules/00",
            outside.display()
        );
        ground.prints(&format!("{many}{link}")).await;
        ground.prints("echo on").await;
        ground.run(plant).await;
        assert_eq!(state(&folders), before);
        assert_eq!(std::fs::read_dir(&outside).expect("there").count(), 1, "nothing is made there");
        // Pipes and endless files hold nobody up.
        let module = main.join("modules/pipe");
        std::fs::create_dir(&module).expect("a folder");
        std::fs::write(module.join("HEAD"), "").expect("a file");
        std::os::unix::fs::symlink("/dev/zero", module.join("config")).expect("a link");
        let made = std::process::Command::new("mkfifo").arg(main.join("modules/0700/config")).status();
        assert!(made.expect("mkfifo is there").success());
        ground.prints("echo on").await;
    })
    .await;
}

/// What a supervisor has made to mount on goes with the call; what a person has put in its place meanwhile stays.
#[tokio::test]
async fn trial_27_what_a_person_writes_during_a_call_stays() {
    let test = "hold::git::trial_27_what_a_person_writes_during_a_call_stays";
    everywhere(test, async |how| {
        let ground = ground(how, |stage| git(stage.root(), &["config", "extensions.worktreeConfig", "true"]));
        let root = ground.stage.root();
        let own = root.join(".git/config.worktree");
        let writes = async {
            crate::stage::until("the call is there", async || root.join("begun").exists()).await;
            std::fs::write(root.join("new"), "[a]\nb = c\n").expect("written");
            std::fs::rename(root.join("new"), &own).expect("renamed");
            std::fs::write(root.join("done"), "").expect("written");
        };
        let call = ground.prints("touch begun; until [ -e done ]; do sleep 0.05; done");
        tokio::join!(writes, call);
        assert_eq!(std::fs::read_to_string(&own).expect("it is there"), "[a]\nb = c\n", "{how:?}");
    })
    .await;
}
