//! What commands plant in git's own folder, which runs at the person's next commit: it is told at once, and before and after a step back.

use std::fs;
use std::process::Command;

use super::model::{Model, shell, words};

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
