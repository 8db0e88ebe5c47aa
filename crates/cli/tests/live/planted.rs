//! What a folder or a command plants in git's own folder. Anything that would run at the person's next commit is reported at
//! once, and before and after a step back. Anything that would run in a reading command does nothing, and nobody is delayed.

use std::fs;
use std::process::Command;

use rustix::process::Signal;
use serde_json::json;

use super::harness::{World, out, runs, signal, until};
use super::model::{Answer, Model, call, shell, words};

#[test]
fn trial_27_a_planted_hook_is_reported_in_card_plan_and_receipt_and_can_be_reverted() {
    let model = Model::start();
    let world = model.world(&[("a", "a\n")]);
    // A sandbox with namespaces would prevent it.
    let settings = fs::read_to_string(world.config()).expect("there are settings");
    world.settings(&format!("{settings}sandbox = false\n"));
    let git = |arguments: &[&str]| {
        let done =
            Command::new("git").args(arguments).current_dir(world.folder()).output().expect("git is there");
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "-q"]);
    let config = fs::read(world.folder().join(".git/config")).expect("there");
    let line = "echo b > a; mkdir -p .git/hooks; echo 'touch ran' > .git/hooks/pre-commit; git config core.fsmonitor ./evil";
    let told = model.turn(&world, "go", vec![shell(line), words("done")]);
    let called = told.iter().find(|event| event["event"] == "called").expect("a call");
    let card = called["shown"].as_str().expect("words");
    for name in [
        ".git/hooks/pre-commit (new; git runs it; to put it back: retake files put-back --remove /",
        ".git/config (changed;",
    ] {
        assert!(card.contains(name), "{card}");
    }
    let shown = world.does(&["show", "t1"]) + &world.json(&["log"]).to_string();
    assert!(shown.contains(".git/hooks/pre-commit (new;"), "the card keeps it: {shown}");
    let plan = world.json(&["plan", "rewind", "t1"]).to_string();
    assert!(plan.contains(".git/hooks/pre-commit (new;") && plan.contains(".git/config (changed;"), "{plan}");
    let receipt = world.does(&["rewind", "t1"]);
    assert_eq!(world.read("a").as_deref(), Some("a\n"));
    assert!(
        receipt.contains("stays as it is") && receipt.contains(".git/hooks/pre-commit (new;"),
        "{receipt}"
    );
    for how in card.split("to put it back: ").skip(1) {
        let line = how.split(")").next().expect("a command");
        let words =
            Command::new("sh").args(["-c", &format!("printf '%s\n' {line}")]).output().expect("it runs");
        let words = String::from_utf8(words.stdout).expect("UTF-8");
        let words: Vec<&str> = words.lines().collect();
        assert_eq!(words[..3], ["retake", "files", "put-back"], "{line}");
        world.does(&words[1..]);
    }
    assert!(!world.folder().join(".git/hooks/pre-commit").exists());
    assert_eq!(fs::read(world.folder().join(".git/config")).expect("there"), config);
    let told = model.turn(&world, "again", vec![shell("echo c > a; git add a"), words("done")]);
    let called = told.iter().find(|event| event["event"] == "called").expect("a call");
    assert!(!called["shown"].as_str().expect("words").contains("git runs"), "{called}");
}

/// Runs git in a folder of the world.
fn git(world: &World, arguments: &[&str]) {
    let done =
        Command::new("git").args(arguments).current_dir(world.folder()).output().expect("git is there");
    assert!(done.status.success(), "{done:?}");
}

/// The output about a call.
fn card(model: &Model, world: &World, answer: Answer) -> String {
    let told = model.turn(world, "go", vec![answer, words("done")]);
    let called = told.iter().find(|event| event["event"] == "called").expect("a call");
    called["shown"].as_str().expect("words").to_owned()
}

#[test]
fn trial_27_planted_files_in_nested_repositories_and_by_jobs_are_reported() {
    let model = Model::start();
    // Its owner stays alive between turns.
    let world = model.world(&[("a", "a\n")]).with("RETAKE_IDLE_S", "60");
    let settings = fs::read_to_string(world.config()).expect("there are settings");
    world.settings(&format!("{settings}sandbox = false\n"));
    git(&world, &["init", "-q"]);
    git(&world, &["init", "-q", "deep/sub"]);
    git(&world, &["config", "core.hooksPath", "own"]);
    fs::create_dir(world.folder().join("own")).expect("made");
    world.write("own/pre-push", "true\n");
    let told = card(
        &model,
        &world,
        shell(
            "echo b > a; mkdir -p deep/sub/.git/hooks; echo evil > deep/sub/.git/hooks/x; echo evil > own/pre-push; git init -q made",
        ),
    );
    assert!(
        told.contains(
            "deep/sub/.git/hooks/x (new; git runs it; to put it back: retake files put-back --remove /"
        ),
        "{told}"
    );
    assert!(told.contains("reads as settings were changed: own/pre-push (changed; git runs it)"), "{told}");
    assert!(!told.contains("made/.git"), "who makes a repository is told nothing of it: {told}");
    let told = card(&model, &world, shell("mkdir -p made/.git/hooks; echo evil > made/.git/hooks/y"));
    assert!(told.contains("made/.git/hooks/y (new; git runs it"), "{told}");
    let job = world.waits_for("go") + "; mkdir -p .git/hooks; echo evil > .git/hooks/post-commit";
    let told = card(&model, &world, call("shell", json!({"command": job, "background": true})));
    assert!(!told.contains("git runs"), "{told}");
    fs::write(world.home().join("go"), "").expect("written");
    super::harness::until("the job is over", || world.json(&["status"])["jobs"] == 0);
    let plan = world.json(&["plan", "rewind", "t1"]).to_string();
    assert!(
        plan.contains(".git/hooks/post-commit stays as it is now") && plan.contains("new; git runs it"),
        "{plan}"
    );
    let told = card(&model, &world, shell("echo c > a"));
    assert!(told.contains(".git/hooks/post-commit (new; git runs it"), "{told}");
    let told = card(&model, &world, shell("echo d > a"));
    assert!(!told.contains("git runs"), "once: {told}");
    world.run(&["stop"]);
}

/// Without its HEAD, `.git` is no repository to git, and the folder around it may be one.
#[test]
fn trial_27_git_init_in_the_workspace_is_reported_and_reverted() {
    let model = Model::start();
    let world = model.world(&[("a", "a\n")]);
    git(&world, &["init", "-q"]);
    let line = "echo b > a; mv .git/HEAD .git/old; mkdir objects refs; echo ref: refs/heads/main > HEAD; \
                printf '[core]\\nbare = false\\nworktree = .\\nfsmonitor = ./evil\\n' > config";
    let told = card(&model, &world, shell(line));
    assert!(told.contains("reads as settings were changed: config (new; git does what it says)"), "{told}");
    let told = card(&model, &world, shell("echo '[alias]' >> config"));
    assert!(told.contains("config (changed; git does what it says"), "{told}");
    let receipt = world.does(&["rewind", "t1"]);
    assert!(!world.folder().join("config").exists(), "{receipt}");
    assert_eq!(world.read("a").as_deref(), Some("a\n"), "{receipt}");
}

#[test]
fn trial_27_repositories_below_the_workspace_are_protected_in_namespaces() {
    let model = Model::start();
    let world = model.world(&[("a", "a\n"), ("shared.settings", "[a]\n")]).with("RETAKE_IDLE_S", "60");
    git(&world, &["init", "-q"]);
    git(&world, &["init", "-q", "deep/sub"]);
    git(&world, &["config", "include.path", "../shared.settings"]);
    if !world.does(&["doctor"]).contains("namespaces hold commands") {
        world.run(&["stop"]);
        return;
    }
    for plant in ["echo evil > deep/sub/.git/hooks/x", "echo evil > shared.settings"] {
        let told = card(
            &model,
            &world,
            shell(&format!("echo b > a; mkdir -p deep/sub/.git/hooks; {plant} && echo planted")),
        );
        assert!(told.contains("Read-only file system") && !told.contains("planted\n"), "{plant}: {told}");
    }
    // Another call changes and removes what a call has created.
    card(&model, &world, shell("git init -q made"));
    let told = card(&model, &world, shell("git -C made config a.b c && rm -rf made && echo gone"));
    assert!(told.contains("gone\n"), "{told}");
    world.run(&["stop"]);
}

/// Whatever replaces git's own files: the call ends, and so does the owner.
#[test]
fn trial_24_a_pipe_in_the_place_of_a_repository_causes_no_delay() {
    let model = Model::start();
    let world = model.world(&[("a", "a\n")]);
    let pipe = |path: &str| {
        let made = Command::new("mkfifo").arg(world.folder().join(path)).status();
        assert!(made.expect("mkfifo is there").success(), "{path}");
    };
    let calls = || {
        for line in ["ls", "env true; ls"] {
            let told = model.turn(&world, "go", vec![shell(line), words("done")]);
            let called = told.iter().find(|event| event["event"] == "called").expect("a call");
            assert!(called["shown"].as_str().expect("words").contains("a\n"), "{line}: {called}");
        }
    };
    pipe(".git");
    calls();
    fs::remove_file(world.folder().join(".git")).expect("removed");
    fs::create_dir(world.folder().join("g")).expect("made");
    fs::write(world.folder().join(".git"), "gitdir: g\n").expect("written");
    pipe("g/gitdir");
    calls();
    fs::remove_file(world.folder().join(".git")).expect("removed");
    fs::create_dir(world.folder().join(".git")).expect("made");
    pipe(".git/config");
    std::os::unix::fs::symlink("/dev/zero", world.folder().join("g/config")).expect("linked");
    fs::create_dir(world.folder().join(".git/modules")).expect("made");
    fs::rename(world.folder().join("g"), world.folder().join(".git/modules/g")).expect("moved");
    calls();
    world.run(&["stop"]);
    until("the owner has ended", || world.owners().is_empty());
}

/// Reading commands run without approval even in plan mode, in which nothing may be written; so does a program that the
/// repository names for them, which can do nothing.
#[test]
fn trial_22_in_plan_mode_a_hostile_repository_runs_nothing_that_writes() {
    let model = Model::start();
    let world = model.world(&[("a", "a\n"), ("evil", "#!/bin/sh\necho ran >&2\necho x > written\n")]);
    let line = "chmod +x evil && git init -q && git config core.fsmonitor ./evil";
    let made = Command::new("sh").args(["-c", line]).current_dir(world.folder()).output().expect("it runs");
    assert!(made.status.success(), "{made:?}");
    model.then(vec![shell("git status --short"), words("done")]);
    let asked = world.run(&["--json", "ask", "--mode", "plan", "what has changed?"]);
    assert_eq!(asked.status.code(), Some(0), "nothing was refused: {asked:?}");
    let told = out(&asked);
    let shown = |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("JSON")["shown"].clone();
    let shown = told.lines().map(shown).find(serde_json::Value::is_string).expect("a call").to_string();
    assert!(shown.contains("?? a\\n"), "git has answered: {shown}");
    assert!(shown.contains("ran\\n"), "the program was started: {shown}");
    assert_eq!(world.read("written"), None);
    // It could have.
    let status = Command::new("git").args(["status", "--short"]).current_dir(world.folder()).output();
    assert!(status.expect("git is there").status.success() && world.read("written").is_some());
}

/// A folder whose ignore rules, in files of the largest permitted size, take a capture many seconds.
fn ruled(world: &World, megabytes: usize) {
    let rules: String = (0..80_000).map(|at| format!("x{at}*y{at}z\n")).collect();
    let rules = &rules[..(1 << 20) - 1];
    for at in 0..megabytes {
        let folder = world.folder().join(format!("sub{at}"));
        fs::create_dir_all(folder.join("kept")).expect("made");
        fs::write(folder.join(".gitignore"), format!("{rules}{at}")).expect("written");
    }
}

/// A capture of 51 MB of rules takes time, but delays nobody else.
#[test]
fn trial_24_other_clients_are_answered_and_sigterm_works_while_a_hostile_repository_is_captured() {
    let world = World::working(&[("a", "a\n")]).with("RETAKE_IDLE_S", "600").with("RETAKE_WAIT_MS", "20000");
    ruled(&world, 51);
    let mut busy = world.command(&["exec", "--", "true"]).spawn().expect("it starts");
    until("it is at work", || {
        world.json(&["status"])["running"].as_array().is_some_and(|running| running.len() == 1)
    });
    let other = world.home().join("other");
    fs::create_dir(&other).expect("made");
    let does = |arguments: &[&str]| {
        let done = world.command(arguments).current_dir(&other).output().expect("it runs");
        assert!(done.status.success(), "{arguments:?}: {done:?}");
    };
    for command in
        [&["new"][..], &["ask", "one apple"], &["exec", "--", "true"], &["rewind", "t1"], &["list"]]
    {
        does(command);
        assert!(busy.try_wait().expect("asked").is_none(), "it was no longer at work: {command:?}");
    }
    let owner = world.json(&["status"])["pid"].to_string();
    signal(&owner, Signal::TERM);
    until("it ends", || !runs(&owner));
    until("whoever waited is told", || busy.try_wait().expect("asked").is_some());
    does(&["list"]);
    world.run(&["stop"]);
}
