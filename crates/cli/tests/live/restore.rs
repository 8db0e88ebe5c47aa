//! Named files with the real program: their differences, and their restore. Must never touch a folder that is not its
//! own.

use super::harness::{World, error, shows};

/// A folder with a checkpoint, after which a command and a person have changed all kinds of things.
fn since_lunch() -> World {
    let world = World::working(&[("a", "one\n"), ("mine", "mine\n"), ("gone", "dear\n")]);
    world.exec("echo two > a");
    world.does(&["checkpoint", "before lunch"]);
    world.exec("echo three > a; echo new > made");
    world.write("mine", "mine, changed\n");
    world.write("new", "new\n");
    std::fs::remove_file(world.folder().join("gone")).expect("removed");
    world
}

fn all(world: &World) -> [Option<String>; 5] {
    ["a", "mine", "gone", "made", "new"].map(|name| world.read(name))
}

#[test]
fn a_restored_checkpoint_can_be_undone() {
    let world = since_lunch();
    let now = all(&world);
    world.does(&["files", "restore", ".", "--to", "before lunch"]);
    let then = ["two\n", "mine\n", "dear\n"].map(|text| Some(text.to_owned()));
    assert_eq!(all(&world)[..3], then);
    assert_eq!(all(&world)[3..], [None, Some("new\n".to_owned())], "what others made stays");
    assert_eq!(world.texts().len(), 6, "the conversation stays");
    world.does(&["undo"]);
    assert_eq!(all(&world), now);
    world.does(&["files", "restore", "a"]);
    assert_eq!(world.read("a").as_deref(), Some("two\n"), "before the last turn");
    world.does(&["files", "restore", "--to", "t1", "a", &world.folder().join("made").display().to_string()]);
    assert_eq!((world.read("a").as_deref(), world.read("made")), (Some("one\n"), None));
}

#[test]
fn the_screen_of_a_restore() {
    let world = since_lunch();
    let told = world.transcript(&[
        &["plan", "files", "restore", ".", "--to", "before lunch"],
        &["plan", "files", "restore", "a", "--diff"],
        &["files", "restore", "mine", "gone", "--to", "before lunch"],
        &["undo"],
        &["files", "restore", ".", "--to", "#2", "--exact"],
        &["files", "restore", ".", "--to", "before lunch"],
        &["ops"],
    ]);
    shows!(told);
}

#[test]
fn bad_names_are_refused_and_nothing_has_changed() {
    let world = since_lunch();
    world.does(&["checkpoint", "t1"]);
    let now = all(&world);
    let told = world.transcript(&[
        &["files"],
        &["files", "restore"],
        &["files", "restore", "nothing"],
        &["files", "restore", "../a"],
        &["files", "restore", "/etc/passwd"],
        &["files", "restore", ".git/config"],
        &["files", "restore", ""],
        &["files", "restore", "a", "--to", "after lunch"],
        &["files", "restore", "a", "--to", "#1"],
        &["files", "restore", "a", "--to", "#99999999999999999999"],
        &["files", "restore", "a", "--to", "99.99"],
        &["files", "restore", "a", "--to", "t1"],
        &["files", "restore", "a", "--to", ""],
        &["files", "restore", "mine"],
        &["files", "restore", "a", "--choose", "a=mine"],
        &["files", "restore", "a", "--scope", "files"],
        &["files", "restore", "a", "--head", "0.1"],
    ]);
    shows!(told);
    assert_eq!(all(&world), now);
}

#[test]
fn a_conflict_is_refused_until_a_person_chooses_and_a_request_is_done_once() {
    let world = since_lunch();
    world.write("a", "my own\n");
    let refused = world.run(&["files", "restore", "a"]);
    assert_eq!(refused.status.code(), Some(4));
    assert!(error(&refused).contains("--choose"), "{}", error(&refused));
    let once = ["files", "restore", "a", "--choose", "a=checkpoint", "--request-id", "once"];
    let first = world.json(&once);
    assert_eq!(world.read("a").as_deref(), Some("two\n"));
    world.write("a", "my own\n");
    assert_eq!(world.json(&once), first, "the same receipt, and nothing is done");
    assert_eq!(world.read("a").as_deref(), Some("my own\n"));
}

#[test]
fn the_line_conversation_restores_files() {
    let world = since_lunch();
    let now = all(&world);
    let pty = world.converse();
    let prompt = || {
        pty.until("the prompt", |screen| screen.trim_end().ends_with("\n>"));
        pty.reads_keys();
    };
    // Text further up is an earlier question.
    let asks = || {
        pty.until("the question", |screen| screen.trim_end().ends_with("Restore them? [y/N]"));
        pty.reads_keys();
    };
    prompt();
    pty.send("/restore a mine to before lunch\r");
    pty.shows("reverts 2 files");
    asks();
    pty.send("y");
    pty.shows("put back");
    prompt();
    assert_eq!((world.read("a").as_deref(), world.read("mine").as_deref()), (Some("two\n"), Some("mine\n")));
    pty.send("/undo\r");
    pty.shows("/redo brings it back");
    prompt();
    assert_eq!(all(&world), now);
    pty.send("/restore a\r");
    asks();
    pty.send("n");
    pty.shows("nothing has changed");
    prompt();
    pty.send("/restore nothing\r");
    pty.shows("there is no “nothing” in this folder");
    prompt();
    assert_eq!(all(&world), now);
}

#[test]
fn the_screen_of_status_and_diffs() {
    let world = since_lunch();
    world.write("a", "three\nmy own\n");
    std::fs::create_dir(world.folder().join("node_modules")).expect("made");
    std::fs::write(world.folder().join("mine"), b"\0\xff").expect("written");
    let told = world.transcript(&[
        &["files", "status"],
        &["files", "diff"],
        &["files", "diff", "--from", "before lunch", "a", "mine", "gone"],
        &["files", "diff", "--from", "t1", "--to", "t2"],
        &["files", "diff", "--from", "#2", "--to", "#2"],
        &["files", "diff", "nothing"],
        &["files", "diff", "node_modules"],
        &["files", "diff", "../a"],
        &["files", "diff", "--to", "after lunch"],
        &["files", "status", "--conversation", "00000000"],
    ]);
    shows!(told);
}

#[test]
fn a_diff_is_a_patch_in_a_pipe_and_has_colours_only_on_a_terminal() {
    let world = World::working(&[("make", "all:\n\tone\n")]);
    world.exec("printf 'all:\\n\\ttwo\\n' > make");
    let plain = world.does(&["files", "diff"]);
    assert!(plain.contains("-\tone") && plain.contains("+\ttwo") && !plain.contains('\x1b'), "{plain:?}");
    assert!(world.does(&["--color", "always", "files", "diff"]).contains("\x1b["));
    let diffs = world.json(&["files", "diff", "make"]);
    assert_eq!(
        (&diffs["files"][0]["path"], &diffs["files"][0]["state"]),
        (&"make".into(), &"changed".into())
    );
    let status = world.json(&["files", "status"]);
    assert_eq!((&status["calls"][0]["path"], &status["calls"][0]["grade"]), (&"make".into(), &"seen".into()));
}
