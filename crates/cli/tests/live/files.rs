//! Files with the real program: commands change them, a rewind reverts them. Must never touch a folder that is not its own.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::process::Command;

use rustix::process::Signal;

use super::harness::{World, error, out, shows, signal};

/// A folder in which a command has changed everything that can be changed.
fn changed() -> World {
    let world = World::working(&[("a", "one\n"), ("gone", "dear\n"), ("mine", "mine\n")]);
    world.exec("echo two > a; echo new > made; rm gone");
    world
}

#[test]
fn rewind_case_14_without_a_terminal_a_rewind_takes_files_along_and_undo_brings_them_back() {
    let world = changed();
    let after = |world: &World| [world.read("a"), world.read("made"), world.read("gone")];
    let (then, now) = (
        [Some("one\n".to_owned()), None, Some("dear\n".to_owned())],
        [Some("two\n".to_owned()), Some("new\n".to_owned()), None],
    );
    assert_eq!(after(&world), now);
    world.does(&["plan", "rewind", "t1"]);
    assert_eq!(after(&world), now, "a plan changes nothing");
    for (verb, expected) in
        [(vec!["rewind", "t1"], &then), (vec!["undo"], &now), (vec!["redo"], &then), (vec!["undo"], &now)]
    {
        world.does(&verb);
        assert_eq!(&after(&world), expected, "{verb:?}");
    }
    assert_eq!(world.read("mine").as_deref(), Some("mine\n"));
}

#[test]
fn what_a_person_sees() {
    let world = changed();
    let lines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    world.write("both", lines);
    world.exec("sed -i s/2/two/ both; echo three > a");
    world.write("both", &world.read("both").expect("it").replace('8', "eight"));
    let first = world.transcript(&[
        &["plan", "rewind", "t1"],
        &["plan", "rewind", "t2", "--diff"],
        &["plan", "rewind", "t1", "--scope", "conversation"],
        &["plan", "rewind", "t1", "--scope", "files"],
        &["rewind", "t1"],
        &["undo"],
        &["exec", "--", "sh", "-c", "echo printed; exit 3"],
        &["exec", "--", "there-is-no-such-program"],
        &["exec"],
        &["hide", "@"],
        &["rewind", "t1", "--choose", "a=mine"],
        &["rewind", "t1", "--choose", "a=hunks:0"],
        &["rewind", "t1", "--scope", "conversation", "--exact"],
    ]);
    shows!(first);
}

#[test]
fn a_conflict_is_refused_until_a_person_chooses() {
    for (choice, expected) in
        [("disk", "mine\n"), ("yours", "mine\n"), ("checkpoint", "one\n"), ("skip", "mine\n")]
    {
        let world = changed();
        world.write("a", "mine\n");
        let refused = world.run(&["rewind", "t1"]);
        assert_eq!(refused.status.code(), Some(4));
        let said = error(&refused);
        assert!(
            said.contains("you or another program changed a file too: a") && said.contains("--choose"),
            "{said}"
        );
        assert!(world.read("made").is_some() && world.texts().len() == 3, "nothing has happened");
        let choose = format!("a={choice}");
        world.does(&["rewind", "t1", "--choose", &choose]);
        assert_eq!((world.read("a").as_deref(), world.read("made")), (Some(expected), None), "{choice}");
        world.does(&["undo"]);
        assert!(world.read("made").is_some());
    }
    let world = changed();
    world.write("a", "mine\n");
    world.does(&["rewind", "t1", "--exact"]);
    assert_eq!(world.read("a").as_deref(), Some("one\n"));
}

#[test]
fn a_step_on_messages_or_files_alone_is_shown() {
    let world = changed();
    let texts = world.texts().len();
    world.does(&["rewind", "t1", "--scope", "files"]);
    assert_eq!((world.read("a").as_deref(), world.texts().len()), (Some("one\n"), texts));
    world.does(&["undo"]);
    assert_eq!(world.read("a").as_deref(), Some("two\n"));
    world.does(&["rewind", "t1", "--scope", "conversation"]);
    assert_eq!((world.read("a").as_deref(), world.texts().len()), (Some("two\n"), 0));
}

#[test]
fn a_turn_is_dropped_from_the_middle_with_its_files() {
    let world = World::working(&[("a", "one\n"), ("b", "one\n")]);
    world.exec("echo two > a");
    world.exec("echo two > b");
    world.does(&["drop", "t1"]);
    assert_eq!((world.read("a").as_deref(), world.read("b").as_deref()), (Some("one\n"), Some("two\n")));
    assert_eq!(world.texts().len(), 3, "the turn is gone, the other one stays");
    world.does(&["undo"]);
    assert_eq!((world.read("a").as_deref(), world.texts().len()), (Some("two\n"), 6));
}

#[test]
fn a_plan_names_changed_files_also_if_they_are_removed_already() {
    let world = World::working(&[("old", "dear\n"), ("mine", "mine\n")]);
    world.exec("echo new > made; rm old");
    world.exec("rm made");
    world.write("mine", "changed\n");
    let plan = world.does(&["plan", "drop", "t1"]);
    assert!(plan.contains("re-creates 1 file\n") && plan.contains("  + old\n"), "{plan}");
    assert!(plan.contains("needs no change: 1 file\n    made, changed during `$ sh -c 'echo new"), "{plan}");
    assert!(plan.contains("leaves 1 file as you or others changed it\n    mine\n"), "{plan}");
    world.does(&["drop", "t1"]);
    assert_eq!([world.read("old").as_deref(), world.read("made").as_deref()], [Some("dear\n"), None]);
    let back = world.does(&["plan", "show", "t1"]);
    assert!(back.contains("shows 3 messages") && back.contains("  - old\n"), "{back}");
    world.does(&["show", "t1"]);
    assert_eq!(world.read("old"), None, "a turn is named though all of it is dropped");
}

#[test]
fn several_steps_go_one_at_a_time_and_a_repeated_request_does_none() {
    let world = World::working(&[("a", "one\n")]);
    world.exec("echo two > a");
    world.exec("echo three > a");
    let undo = ["undo", "2", "--request-id", "back"];
    let first = world.json(&undo);
    assert_eq!(first["steps"], serde_json::json!({"done": 2, "asked": 2}));
    assert_eq!(world.read("a").as_deref(), Some("one\n"));
    world.does(&["redo"]);
    assert_eq!(world.read("a").as_deref(), Some("two\n"));
    assert_eq!(world.json(&undo), first, "the same receipt");
    assert_eq!(world.read("a").as_deref(), Some("two\n"), "and nothing is done");
    // The second step back conflicts with another author's change: the first one is done, and reported.
    let world = World::working(&[("a", "one\n"), ("b", "one\n")]);
    world.exec("echo two > a");
    world.exec("echo two > b");
    world.write("a", "mine\n");
    let plan = world.json(&["plan", "undo", "99"]);
    assert_eq!((&plan["steps"]["done"], &plan["steps"]["asked"]), (&1.into(), &99.into()));
    assert!(
        world
            .does(&["plan", "undo", "99"])
            .contains("1 of 99 steps would be done, and the next one is refused: a: ")
    );
    let chosen = world.does(&["plan", "undo", "99", "--choose", "a=disk"]);
    assert!(chosen.contains("there are only 2 steps, of 99 asked for"), "{chosen}");
    let undo = ["undo", "2", "--request-id", "short"];
    let refused = |arguments: &[&str]| {
        let output = world.run(arguments);
        assert_eq!(output.status.code(), Some(4), "{output:?}");
        out(&output)
    };
    let told = || -> serde_json::Value {
        serde_json::from_str(&refused(&[&["--json"], &undo[..]].concat())).expect("a receipt")
    };
    let (short, again) = (told(), told());
    assert_eq!((&again["steps"]["done"], &again["operations"]), (&1.into(), &short["operations"]));
    assert!(again["steps"]["refused"].as_str().is_some_and(|why| why.contains("conflict")), "{again}");
    assert!(!refused(&undo).contains("nothing more"));
    assert_eq!((&short["steps"]["done"], &short["files"]["counts"]["reverted"]), (&1.into(), &1.into()));
    assert_eq!(short["operations"].as_array().map(Vec::len), Some(1));
    assert!(short["steps"]["refused"].as_str().is_some_and(|why| why.contains("another program")), "{short}");
    assert_eq!((world.read("a").as_deref(), world.read("b").as_deref()), (Some("mine\n"), Some("one\n")));
}

#[test]
fn a_repeated_request_does_not_run_its_command_again() {
    let world = World::working(&[]);
    let run = |script| world.run(&["exec", "--request-id", "once", "--", "sh", "-c", script]);
    let script = "echo printed; echo x >> count; exit 5";
    for _ in 0..2 {
        let output = run(script);
        assert_eq!(output.status.code(), Some(8), "{output:?}");
        assert!(out(&output).starts_with("printed\n"), "{output:?}");
        assert_eq!(world.read("count").as_deref(), Some("x\n"));
        assert_eq!(world.json(&["log"])["entries"].as_array().map(Vec::len), Some(3));
    }
    assert_eq!(run("true").status.code(), Some(4), "the id is of another command");
}

#[test]
fn exactly_the_shown_plan_is_applied() {
    let world = changed();
    let plan = world.json(&["plan", "rewind", "t1"]);
    let files = &plan["files"];
    assert_eq!(
        files["counts"],
        serde_json::json!({"reverted": 1, "deleted": 1, "recreated": 1, "merged": 0})
    );
    assert_eq!(files["paths"][0]["path"], "a");
    assert_eq!(files["paths"][0]["calls"].as_array().map(Vec::len), Some(1));
    assert_eq!(files["digest"].as_str().map(str::len), Some(32));
}

#[test]
fn foreign_changes_are_listed_and_a_checkpoint_has_a_name() {
    let world = changed();
    world.write("mine", "mine, changed\n");
    let made = world.json(&["checkpoint", "before lunch"]);
    let capture = &made["captures"][0];
    assert_eq!((&capture["name"], &capture["paths"]), (&"before lunch".into(), &serde_json::json!(["mine"])));
    let log = world.json(&["files", "log"]);
    assert_eq!(log["captures"][0], *capture, "{log}");
    let folders = world.json(&["workspace", "list"]);
    let folder = folders["workspaces"][0]["folder"].as_str().expect("a folder");
    assert_eq!(fs::canonicalize(folder).expect("it is there"), fs::canonicalize(world.folder()).expect("it"));
    assert_eq!(world.run(&["checkpoint", " "]).status.code(), Some(2));
}

#[test]
fn ctrl_c_stops_a_command_and_what_it_did_is_kept() {
    let world = World::working(&[]);
    let script = "echo x > made; echo started; while :; do sleep 0.05; done";
    let mut command = world.command(&["exec", "--say", "go", "--", "sh", "-c", script]);
    let mut child = command.spawn().expect("it starts");
    let mut printed = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    printed.read_line(&mut line).expect("it prints as it comes");
    assert_eq!(line, "started\n");
    let pid = child.id().to_string();
    signal(&pid, Signal::INT);
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    let log = world.json(&["log"]);
    assert_eq!(log["entries"][2]["interrupted"], true, "{log}");
    world.does(&["rewind", "t1"]);
    assert_eq!(world.read("made"), None);
}

/// Names with terminal control characters, and one that is not UTF-8.
const HOSTILE: [&[u8]; 5] =
    [b"\x1b]0;pwned\x07", b"a\x1b[2Jb", b"line\nbreak", "\u{202e}txt".as_bytes(), b"\xff\xfe"];

#[test]
fn file_names_are_never_interpreted_as_control_sequences() {
    let world = World::working(&[]);
    world.exec("true");
    let script = r#"for name in "$@"; do echo x > "$name"; done"#;
    let mut command = world.command(&["exec", "--say", "make them", "--", "sh", "-c", script, "sh"]);
    let output = command.args(HOSTILE.map(std::ffi::OsStr::from_bytes)).output().expect("it starts");
    // An argument that is not UTF-8 is refused before anything happens; the command creates that name itself.
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let valid = HOSTILE.iter().filter_map(|name| std::str::from_utf8(name).ok());
    let mut arguments = vec!["exec", "--say", "make them", "--", "sh", "-c", script, "sh"];
    arguments.extend(valid);
    world.does(&arguments);
    world.exec(r"echo x > $(printf '\377\376')");
    for verb in [
        vec!["plan", "rewind", "t2"],
        vec!["plan", "rewind", "t2", "--diff"],
        vec!["files", "status"],
        vec!["files", "diff", "--from", "t2"],
        vec!["plan", "files", "restore", ".", "--to", "t2", "--diff"],
        vec!["files", "restore", "\u{1b}[2J", "--to", "\u{1b}[2J"],
        vec!["files", "diff", "\u{202e}"],
        vec!["files", "restore", ".", "--to", "t2"],
        vec!["undo"],
        vec!["rewind", "t2"],
        vec!["undo"],
        vec!["rewind", "t2", "--choose", "\u{1b}[2J/../..=disk"],
        vec!["exec", "--", "ls"],
    ] {
        let mut coloured = vec!["--color", "always"];
        coloured.extend(&verb);
        let output = world.run(&coloured);
        let shown = out(&output) + &error(&output);
        assert_eq!(super::escapes::acts(&shown), None, "{verb:?}: {shown:?}");
    }
    let plan = world.does(&["plan", "rewind", "t2"]);
    for name in [r"\u{1b}]0;pwned\u{7}", r"line\nbreak", r"\u{202e}txt", r"\xff\xfe"] {
        assert!(plan.contains(name), "{name}: {plan}");
    }
    let names = world.json(&["plan", "rewind", "t2"]);
    let raw =
        names["files"]["paths"].as_array().expect("paths").iter().find(|path| !path["path_base64"].is_null());
    assert_eq!(raw.expect("one is not UTF-8")["path_base64"], "//4=");
    world.does(&["rewind", "t2"]);
    assert_eq!(fs::read_dir(world.folder()).expect("a folder").count(), 0);
}

#[test]
fn changed_files_outside_of_the_coverage_are_reported() {
    let world = World::working(&[]);
    let big = fs::File::create(world.folder().join("big")).expect("made");
    big.set_len(200 << 20).expect("large");
    assert!(Command::new("mkfifo").arg(world.folder().join("ff")).status().expect("mkfifo").success());
    world.exec("printf CHANGED >> big; rm ff");
    let said = "not covered, stays as it is: big (the file is over the limit), ff (neither a file, nor a";
    let plan = world.does(&["plan", "rewind", "t1"]);
    let told = plan.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains(&format!("! {said}")), "{plan}");
    assert!(
        told.contains("! no file changes that Retake keeps track of") && !told.contains("no command"),
        "{plan}"
    );
    let done = world.does(&["rewind", "t1"]);
    assert!(done.contains(said), "{done}");
    assert!(world.does(&["exec", "--help"]).contains("outside of the sandbox"));
}

#[test]
fn the_line_conversation_offers_the_scopes() {
    let world = changed();
    let pty = world.converse();
    let prompt = || {
        pty.until("the prompt", |screen| screen.trim_end().ends_with("\n>"));
        pty.reads_keys();
    };
    prompt();
    pty.send("/rewind t1\r");
    pty.shows("re-creates 1 file");
    pty.until("the question", |screen| screen.trim_end().ends_with("\nletter:"));
    pty.reads_keys();
    pty.send("f\r");
    pty.shows("files: 1 reverted, 1 deleted, 1 re-created");
    prompt();
    assert_eq!(world.read("a").as_deref(), Some("one\n"));
    pty.send("/undo\r");
    pty.shows("/redo brings it back");
    prompt();
    assert_eq!(world.read("a").as_deref(), Some("two\n"));
    pty.send("/diff\r");
    pty.shows("+one");
    prompt();
    pty.send("/checkpoint here\r");
    pty.shows("no file changed");
    prompt();
    pty.send("/drop t1\r");
    pty.shows("dropped: 3 messages");
    prompt();
    assert_eq!((world.read("a").as_deref(), world.read("made")), (Some("one\n"), None));
}

#[test]
fn trial_07_plan_and_refusal_report_a_step_that_changes_no_file() {
    let world = World::working(&[("b", "one\n")]);
    world.exec("echo two > b");
    world.write("b", "mine\n");
    let shown = ["show", "t1", "--scope", "files"];
    let skipped = ["drop", "t1", "--scope", "files", "--choose", "b=skip"];
    for (step, planned) in [(&shown[..], "it is already in this state"), (&skipped[..], "b: stays as it is")]
    {
        let plan = out(&world.run(&[&["plan"], step].concat()));
        assert!(plan.contains("nothing would change") && plan.contains(planned), "{plan}");
        let refused = world.run(step);
        assert_eq!(refused.status.code(), Some(4), "{}", out(&refused));
        assert!(error(&refused).contains("the files are already in this state"), "{}", error(&refused));
    }
    assert_eq!(world.read("b").as_deref(), Some("mine\n"));
}
