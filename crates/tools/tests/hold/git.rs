//! A command can't plant programs that git would run on the person's next command: hooks and settings.

use std::path::{Path, PathBuf};
use std::process::Command;

use retake_core::ToolOutcome;
use retake_tools::Network;

use super::stand::{Ground, How, everywhere};
use crate::stage::Stage;

/// Runs git like the person.
pub(super) fn git(folder: &Path, arguments: &[&str]) {
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

/// Everything below folders that names programs, or leads to something that does.
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

/// Ways to plant something in a repository, whose path replaces a word.
const PLANTS: [&str; 17] = [
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
    "mkdir -p REPO/info; echo '* filter=x' > REPO/info/attributes",
    "mkdir -p REPO/info; mv REPO/info REPO/x && mkdir REPO/info && echo x > REPO/info/attributes",
    "mkdir -p REPO/info; mv -T REPO/info REPO/y; mkdir REPO/z && echo x > REPO/z/attributes && mv -T REPO/z REPO/info",
    // In parentheses: the next one begins where a command leaves the shell.
    "(cd REPO && echo x > hooks/pre-commit)",
    "(cd REPO && echo x >> ./config)",
    "unshare -Urm sh -c 'umount REPO/config; echo x >> REPO/config'",
];

#[tokio::test]
async fn trial_27_commands_plant_nothing_in_hooks_and_settings_in_namespaces() {
    let test = "hold::git::trial_27_commands_plant_nothing_in_hooks_and_settings_in_namespaces";
    everywhere(test, async |how| {
        for has_hooks in [true, false] {
            let ground = ground(how, |stage| {
                let hooks = stage.root().join(".git/hooks");
                if !has_hooks {
                    for none in [&hooks, &hooks.with_file_name("info")] {
                        let _ = std::fs::remove_dir_all(none);
                        assert!(!none.exists(), "{none:?}");
                    }
                    // Binary content is read, too.
                    let config = hooks.with_file_name("config");
                    let text = std::fs::read(&config).expect("settings");
                    std::fs::write(config, [&text[..], b"# \xff\n"].concat()).expect("settings");
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
            // Changes that can't be prevented there are not reported as prevented.
            let is_changed = state(std::slice::from_ref(&repository)) != before;
            assert_eq!(is_changed, how == How::WithoutNamespaces, "{how:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn trial_27_submodules_and_worktrees_are_protected_too() {
    let test = "hold::git::trial_27_submodules_and_worktrees_are_protected_too";
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
        // From the worktree, whose repository is elsewhere.
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
        let as_somebody = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=maintenance.auto GIT_CONFIG_VALUE_0=false; ";
        let branch = "git rev-parse --abbrev-ref HEAD";
        for (command, printed) in [
            ("echo x > file && git add file && git -c maintenance.auto=false commit -qm two && git log --oneline | wc -l", "2"),
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

/// What a command adds to a repository makes nothing of it writable, and blocks no command.
#[tokio::test]
async fn trial_27_forged_submodules_and_links_open_nothing() {
    let test = "hold::git::trial_27_forged_submodules_and_links_open_nothing";
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
        // Pipes and endless files delay nothing, if there are few enough submodules to check.
        let [endless, pipe] = ["endless", "pipe"].map(|name| main.join("modules").join(name));
        for module in [&endless, &pipe] {
            std::fs::create_dir(module).expect("a folder");
            std::fs::write(module.join("HEAD"), "").expect("a file");
        }
        std::os::unix::fs::symlink("/dev/zero", endless.join("config")).expect("a link");
        let made = std::process::Command::new("mkfifo").arg(pipe.join("config")).status();
        assert!(made.expect("mkfifo is there").success());
        ground.prints("echo on").await;
        for module in [&endless, &pipe] {
            std::fs::remove_dir_all(module).expect("removed");
        }
        let many = "for i in $(seq 700); do mkdir .git/modules/0$i && : > .git/modules/0$i/HEAD; done; ";
        let link = format!(
            "mkdir -p .git/worktrees; ln -s {0} .git/worktrees/x; ln -s {0} .git/modules/00",
            outside.display()
        );
        ground.prints(&format!("{many}{link}")).await;
        let listed = ground.prints(&format!("ls {}", outside.display())).await;
        assert_eq!(listed, "config", "nothing is made there while a call lives");
        ground.run(plant).await;
        assert_eq!(state(&folders), before);
        assert_eq!(std::fs::read_dir(&outside).expect("there").count(), 1, "nothing is made there");
    })
    .await;
}

/// What a supervisor created to mount on is removed with the call; what a person has put in its place meanwhile
/// stays.
#[tokio::test]
async fn trial_27_a_persons_write_during_a_call_stays() {
    let test = "hold::git::trial_27_a_persons_write_during_a_call_stays";
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
        let call = ground.prints("touch begun; until [ -e done ] || ! [ -e begun ]; do sleep 0.05; done");
        tokio::join!(writes, call);
        assert_eq!(std::fs::read_to_string(&own).expect("it is there"), "[a]\nb = c\n", "{how:?}");
    })
    .await;
}

/// No planted file changes anything in this repository, which may have others below it.
async fn stays_as_it_is(ground: &Ground, repository: &Path) {
    let folders = [repository.to_owned()];
    let (name, before) = (repository.to_string_lossy(), state(&folders));
    for plant in PLANTS {
        let output = ground.run(&plant.replace("REPO", &name)).await;
        assert_eq!(output.outcome, ToolOutcome::Failed, "{name}: {plant}: {}", output.content);
        assert_eq!(state(&folders), before, "{name}: {plant}: {}", output.content);
    }
}

#[tokio::test]
async fn trial_27_a_writable_repository_above_the_workspace_is_protected() {
    let test = "hold::git::trial_27_a_writable_repository_above_the_workspace_is_protected";
    everywhere(test, async |how| {
        if how == How::WithoutNamespaces {
            return;
        }
        let above = |stage: &Stage| stage.root().with_file_name("open").join("above");
        let mut ground = Ground::with(how, Network::Ask, |stage, sandbox| {
            sandbox.write.push(stage.root().with_file_name("open"));
            std::fs::create_dir_all(above(stage).join("a/sub")).expect("folders");
            git(&above(stage), &["init", "-q"]);
        });
        let above = above(&ground.stage);
        ground.stage.roots = vec![above.join("a/sub")];
        stays_as_it_is(&ground, &above.join(".git")).await;
        let folder = above.with_file_name("moved");
        let output = ground.run(&format!("mv {} {}", above.display(), folder.display())).await;
        assert!(output.outcome == ToolOutcome::Failed && above.exists(), "{}", output.content);
    })
    .await;
}

#[tokio::test]
async fn trial_27_a_repository_below_the_workspace_is_protected_once_it_is_known() {
    let test = "hold::git::trial_27_a_repository_below_the_workspace_is_protected_once_it_is_known";
    everywhere(test, async |how| {
        if how == How::WithoutNamespaces {
            return;
        }
        let mut ground = ground(how, |stage| {
            let nested = stage.root().join("deep/nested");
            std::fs::create_dir_all(&nested).expect("a folder");
            git(&nested, &["init", "-q"]);
            std::fs::write(stage.root().join("more.settings"), "[a]\n").expect("settings");
        });
        let root = ground.stage.root().to_owned();
        ground.stage.held =
            vec![root.join("deep/nested/.git"), root.join("more.settings"), root.join("gone/.git"), "/etc/passwd".into()];
        stays_as_it_is(&ground, &root.join("deep/nested/.git")).await;
        let output = ground.run("mv deep deeper && cp -r deeper deep && echo x > deep/nested/.git/hooks/x").await;
        assert_eq!(output.outcome, ToolOutcome::Failed, "{}", output.content);
        for plant in ["echo x >> more.settings", "rm -f more.settings", "mv more.settings x"] {
            let output = ground.run(plant).await;
            assert_eq!(output.outcome, ToolOutcome::Failed, "{plant}: {}", output.content);
        }
        assert_eq!(std::fs::read(root.join("more.settings")).expect("settings"), b"[a]\n");
        ground.prints("cd deep/nested && echo x > file && git add file && git -c maintenance.auto=false -c user.name=a -c user.email=a@b commit -qm x").await;
    })
    .await;
}

#[tokio::test]
async fn trial_27_a_repository_elsewhere_is_protected_and_a_forged_one_opens_nothing() {
    let test = "hold::git::trial_27_a_repository_elsewhere_is_protected_and_a_forged_one_opens_nothing";
    everywhere(test, async |how| {
        if how == How::WithoutNamespaces {
            return;
        }
        let mut ground = ground(how, |stage| {
            let apart = stage.root().with_file_name("apart");
            std::fs::create_dir(&apart).expect("a folder");
            git(&apart, &["init", "-q", "--separate-git-dir", &stage.root().join("own").to_string_lossy()]);
            let module = stage.root().with_file_name("remote").to_string_lossy().into_owned();
            git(stage.root(), &["submodule", "--quiet", "add", &module, "sub"]);
            git(stage.root(), &["worktree", "add", "-q", "../tree"]);
            git(stage.root(), &["config", "extensions.worktreeConfig", "true"]);
        });
        let root = ground.stage.root().to_owned();
        let apart = root.with_file_name("apart");
        ground.stage.roots = vec![apart.clone(), root.clone()];
        stays_as_it_is(&ground, &root.join("own")).await;
        let link = std::fs::read(apart.join(".git")).expect("a link");
        ground.run(&format!("cd {} && {{ rm -f .git; mv .git x; echo x > .git; }}", apart.display())).await;
        assert_eq!(std::fs::read(apart.join(".git")).expect("a link"), link);
        // A submodule as a workspace, whose repository is inside that of another one.
        ground.stage.roots = vec![root.join("sub"), root.clone()];
        stays_as_it_is(&ground, &root.join(".git/modules/sub")).await;
        // Settings of only a worktree.
        ground.stage.roots = vec![root.with_file_name("tree")];
        ground.run("git config --worktree core.fsmonitor x").await;
        ground.run(&format!("echo x > {}/.git/worktrees/tree/config.worktree", root.display())).await;
        assert!(!root.join(".git/worktrees/tree/config.worktree").exists());
        // A link to a place that must not be written.
        let outside = root.with_file_name("outside");
        std::fs::create_dir_all(&outside).expect("a folder");
        std::fs::write(outside.join("config"), "").expect("a file");
        std::fs::remove_file(apart.join(".git")).expect("removed");
        ground.stage.roots = vec![apart];
        ground.prints(&format!("echo 'gitdir: {}' > .git", outside.display())).await;
        let hook =
            format!("mkdir {0}/hooks; echo x > {0}/hooks/pre-commit; echo x > {0}/config", outside.display());
        ground.run(&hook).await;
        assert_eq!(std::fs::read_dir(&outside).expect("there").count(), 1, "nothing is made there");
        assert_eq!(std::fs::read(outside.join("config")).expect("there"), b"");
    })
    .await;
}
