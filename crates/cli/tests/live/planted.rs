//! What commands plant in git's own folder, which runs at the person's next commit: it is told at once, and before and after a step back.

use std::fs;
use std::process::Command;

use serde_json::json;

use super::model::{Answer, Model, call, shell, words};
use super::world::World;

#[test]
fn trial_27_a_planted_hook_is_told_in_card_plan_and_receipt_and_can_be_put_back() {
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
    for name in [".git/hooks/pre-commit (new; git runs it; to put it back: rm --", ".git/config (changed;"] {
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
        assert!(Command::new("sh").args(["-c", line]).status().expect("it runs").success(), "{line}");
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

/// What is told of a call.
fn card(model: &Model, world: &World, answer: Answer) -> String {
    let told = model.turn(world, "go", vec![answer, words("done")]);
    let called = told.iter().find(|event| event["event"] == "called").expect("a call");
    called["shown"].as_str().expect("words").to_owned()
}

#[test]
fn trial_27_what_is_planted_in_repositories_below_and_by_jobs_is_told() {
    let model = Model::start();
    // Its owner lives on between turns.
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
    assert!(told.contains("deep/sub/.git/hooks/x (new; git runs it; to put it back: rm --"), "{told}");
    assert!(told.contains("told by what was changed: own/pre-push (changed; git runs it)"), "{told}");
    assert!(!told.contains("made/.git"), "who makes a repository is told nothing of it: {told}");
    let told = card(&model, &world, shell("mkdir -p made/.git/hooks; echo evil > made/.git/hooks/y"));
    assert!(told.contains("made/.git/hooks/y (new; git runs it"), "{told}");
    let job = world.waits_for("go") + "; mkdir -p .git/hooks; echo evil > .git/hooks/post-commit";
    let told = card(&model, &world, call("shell", json!({"command": job, "background": true})));
    assert!(!told.contains("git runs"), "{told}");
    fs::write(world.home().join("go"), "").expect("written");
    super::world::until("the job is over", || world.json(&["status"])["jobs"] == 0);
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

#[test]
fn trial_27_repositories_below_the_workspace_are_held_in_namespaces() {
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
    // What a call has made, another one changes and removes.
    card(&model, &world, shell("git init -q made"));
    let told = card(&model, &world, shell("git -C made config a.b c && rm -rf made && echo gone"));
    assert!(told.contains("gone\n"), "{told}");
    world.run(&["stop"]);
}

/// Whatever lies in the place of what git keeps there: the call ends, and so does the owner.
#[test]
fn trial_24_a_pipe_in_the_place_of_a_repository_holds_nobody_up() {
    let model = Model::start();
    let world = model.world(&[("a", "a\n")]);
    let pipe = |path: &str| {
        let made = Command::new("mkfifo").arg(world.folder().join(path)).status();
        assert!(made.expect("mkfifo is there").success(), "{path}");
    };
    let runs = || {
        for line in ["ls", "env true; ls"] {
            let told = model.turn(&world, "go", vec![shell(line), words("done")]);
            let called = told.iter().find(|event| event["event"] == "called").expect("a call");
            assert!(called["shown"].as_str().expect("words").contains("a\n"), "{line}: {called}");
        }
    };
    pipe(".git");
    runs();
    fs::remove_file(world.folder().join(".git")).expect("removed");
    fs::create_dir(world.folder().join("g")).expect("made");
    fs::write(world.folder().join(".git"), "gitdir: g\n").expect("written");
    pipe("g/gitdir");
    runs();
    fs::remove_file(world.folder().join(".git")).expect("removed");
    fs::create_dir(world.folder().join(".git")).expect("made");
    pipe(".git/config");
    std::os::unix::fs::symlink("/dev/zero", world.folder().join("g/config")).expect("linked");
    fs::create_dir(world.folder().join(".git/modules")).expect("made");
    fs::rename(world.folder().join("g"), world.folder().join(".git/modules/g")).expect("moved");
    runs();
    world.run(&["stop"]);
    super::world::until("the owner has ended", || world.owners().is_empty());
}
