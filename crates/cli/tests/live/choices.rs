//! Choices for single files and hunks, with the real program: as arguments, and in the conversation. Must never touch a folder
//! that is not its own.

use super::harness::{World, error, out, shows};
use crate::term::pty::Pty;

/// A text of 20 numbered lines, some of them replaced.
fn text(lines: &[(usize, &str)]) -> String {
    let line = |number| match lines.iter().find(|(at, _)| *at == number) {
        Some((_, word)) => format!("{word}\n"),
        None => format!("{number}\n"),
    };
    (1..=20).map(line).collect()
}

/// Two calls have changed a file in three places and created another one and a binary one; another author has changed `mine`.
fn changed() -> World {
    let world = World::working(&[("a", &text(&[])), ("b", "one\n"), ("mine", "mine\n")]);
    world.exec("sed -i 's/^2$/two/; s/^10$/ten/' a; echo two > b; printf '\\0x' > made");
    world.write("mine", "mine, changed\n");
    world.exec("sed -i 's/^19$/nineteen/' a");
    world
}

#[test]
fn hunks_have_numbers_and_can_be_chosen() {
    let world = changed();
    let seen = world.transcript(&[
        &["plan", "rewind", "t1", "--diff"],
        &["plan", "rewind", "t1", "--choose", "a=hunks:1,3", "--diff"],
        &["plan", "rewind", "t1", "--choose", "a=hunks:2"],
        &["plan", "rewind", "t1", "--choose", "a=hunks:9"],
        &["plan", "rewind", "t1", "--choose", "made=hunks:1"],
        &["plan", "rewind", "t1", "--choose", "b=hunks:2"],
        &["plan", "rewind", "t1", "--choose", "mine=hunks:1"],
        &["undo", "2", "--choose", "a=hunks:1"],
        &["rewind", "t1", "--choose", "a=hunks:2"],
    ]);
    shows!(seen);
    assert_eq!(world.read("a"), Some(text(&[(2, "two"), (19, "nineteen")])));
    assert_eq!((world.read("b").as_deref(), world.read("made")), (Some("one\n"), None));
    world.does(&["undo"]);
    assert_eq!(world.read("a"), Some(text(&[(2, "two"), (10, "ten"), (19, "nineteen")])));
    let plan = world.json(&["plan", "rewind", "t1", "--choose", "a=hunks:3,1,3", "--diff"]);
    let a = &plan["files"]["paths"][0];
    assert_eq!(
        (&a["verdict"], &a["part"], &a["hunks"]),
        (&"part".into(), &serde_json::json!([1, 3]), &3.into())
    );
    world.does(&["rewind", "t1", "--choose", "a=hunks:1,2,3"]);
    assert_eq!(world.read("a"), Some(text(&[])));
}

#[test]
fn a_choice_that_a_file_does_not_have_is_named_with_those_that_it_has() {
    let world = World::working(&[("n", "one\n")]);
    world.exec("echo two > n");
    world.write("n", "mine\n");
    let output = world.run(&["rewind", "t1", "--choose", "n=merge"]);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let said = error(&output);
    assert!(said.contains("merge is not possible for n"), "{said}");
    assert!(said.contains("--choose PATH=disk|yours|checkpoint|skip|hunks:N,N"), "{said}");
    assert_eq!(world.read("n").as_deref(), Some("mine\n"));
}

#[test]
fn a_conflict_shows_its_hunks() {
    let world = changed();
    world.write("a", &world.read("a").expect("it").replace("two\n", "mine\n"));
    shows!(world.transcript(&[&["plan", "rewind", "t1"], &["plan", "rewind", "t1", "--diff"]]));
    world.does(&["rewind", "t1", "--choose", "a=hunks:2,3"]);
    assert_eq!(world.read("a"), Some(text(&[(2, "mine")])));
}

#[test]
fn a_conflict_of_a_file_name_that_is_not_utf_8_can_be_resolved() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let world = World::working(&[("a", "one\n")]);
    world.exec(r"echo two > a; echo x > $(printf '\377=\376')");
    let odd = world.folder().join(OsStr::from_bytes(b"\xff=\xfe"));
    assert!(odd.exists());
    let mut command = world.command(&["rewind", "t1", "--choose"]);
    let output = command.arg(OsStr::from_bytes(b"\xff=\xfe=skip")).output().expect("it starts");
    assert!(output.status.success(), "{}", error(&output));
    assert!(odd.exists(), "it was left as it is");
    assert_eq!(world.read("a").as_deref(), Some("one\n"));
}

#[test]
fn the_line_conversation_asks_for_each_file() {
    let world = changed();
    world.write("b", "mine\n");
    let pty = world.converse();
    let prompt = || {
        pty.until("the prompt", |screen| screen.trim_end().ends_with("\n>"));
        pty.reads_keys();
    };
    let asks = || {
        pty.until("the answers", |screen| screen.trim_end().ends_with("\nletter:"));
        pty.reads_keys();
    };
    let chooses = || {
        pty.until("the question", |screen| screen.trim_end().ends_with("\nchoose>"));
        pty.reads_keys();
    };
    prompt();
    // A conflict needs a choice.
    pty.send("/rewind t1\r");
    pty.shows("choose for the files in conflict first");
    asks();
    pty.send("s\r");
    chooses();
    pty.shows("  1 b: skip, disk, checkpoint, yours");
    pty.shows("  2 a: checkpoint, disk, merge, skip, hunks:1,2,3");
    // An invalid line and an impossible choice are reported; a number alone shows the lines.
    pty.send("7=disk\r");
    pty.shows("is not the number of a file above");
    chooses();
    pty.send("2=hunks:4\r");
    pty.shows("can't choose hunks of a: it has 3 hunks");
    chooses();
    pty.send("2\r");
    pty.shows("+10");
    chooses();
    pty.send("1=disk 2=hunks:1,3\r");
    pty.shows("a: hunks 1, 3 of 3");
    asks();
    // The person changes their mind and leaves with an empty line.
    pty.send("s\r");
    chooses();
    pty.shows("b [disk]");
    pty.shows("a [hunks:1,3]");
    pty.send("\r");
    asks();
    pty.send("y\r");
    pty.shows("rewound:");
    // The old text is in the line; it is removed to type a command.
    pty.until("the old words", |screen| screen.trim_end().ends_with("\n> do it"));
    pty.reads_keys();
    pty.send("\x15");
    prompt();
    assert_eq!(world.read("a"), Some(text(&[(10, "ten")])));
    assert_eq!((world.read("b").as_deref(), world.read("made")), (Some("mine\n"), None));
    assert_eq!(world.read("mine").as_deref(), Some("mine, changed\n"));
    pty.send("/undo\r");
    pty.shows("/redo brings it back");
    prompt();
    assert_eq!(world.read("a"), Some(text(&[(2, "two"), (10, "ten"), (19, "nineteen")])));
}

/// A command has changed `a` and `b`, and another author `b` since: it is in conflict.
fn in_conflict() -> World {
    let world = World::working(&[("a", "one\n"), ("b", "one\n")]);
    world.exec("echo two > a; echo two > b");
    world.write("b", "mine\n");
    world
}

/// Waits until the line ends with this, and keys are read.
fn line_is(pty: &Pty, line: &str) {
    pty.until(line, |screen| screen.trim_end().ends_with(line));
    pty.reads_keys();
}

#[test]
fn a_person_chooses_for_conflicts_of_an_undo_or_a_drop() {
    for (command, done) in [("/undo", "undid "), ("/undo 3", "undid "), ("/drop t1", "dropped: ")] {
        let world = in_conflict();
        let both = || [world.read("a").expect("a"), world.read("b").expect("b")];
        let pty = world.converse();
        line_is(&pty, "\n>");
        pty.send(format!("{command}\r"));
        pty.shows("you or another program changed a file too: b");
        pty.shows("choose for the files in conflict first");
        line_is(&pty, "\nletter:");
        pty.send("\r");
        pty.shows("nothing has changed");
        line_is(&pty, "\n>");
        assert_eq!(both(), ["two\n", "mine\n"], "{command}");
        pty.send(format!("{command}\r"));
        line_is(&pty, "\nletter:");
        pty.send("s\r");
        line_is(&pty, "\nchoose>");
        pty.send("1=disk\r");
        line_is(&pty, "\nletter:");
        pty.send("y\r");
        pty.shows(done);
        pty.until("it", |_| both() == ["one\n", "mine\n"]);
    }
}

#[test]
fn a_person_chooses_for_restored_files_in_conflict() {
    let world = in_conflict();
    let pty = world.converse();
    line_is(&pty, "\n>");
    pty.send("/restore a b to t1\r");
    line_is(&pty, "\nchoose>");
    pty.send("1=checkpoint\r");
    pty.shows("Restore them? [y/N]");
    pty.reads_keys();
    pty.send("y");
    pty.shows("put back");
    line_is(&pty, "\n>");
    assert_eq!((world.read("a").as_deref(), world.read("b").as_deref()), (Some("one\n"), Some("one\n")));
}

#[test]
fn an_edit_in_the_line_conversation_applies_the_shown_plan_or_asks_again() {
    let world = World::working(&[("a", "one\n"), ("b", "one\n")]);
    world.exec("echo two > a; echo two > b");
    let both = || [world.read("a").expect("a"), world.read("b").expect("b")];
    let pty = world.converse();
    line_is(&pty, "\n>");
    pty.send("/edit t1\r");
    line_is(&pty, "\nedit> do it");
    world.write("b", "mine\n");
    pty.send(" again\r");
    pty.shows("files have changed since the plan was shown");
    pty.shows("1 file in conflict: you choose");
    line_is(&pty, "\nedit> do it again");
    assert_eq!(both(), ["two\n", "mine\n"], "another plan than the one that was shown is not applied");
    // Nobody has read the new plan so soon: the first Enter is ignored. A key shows that it was read.
    pty.send("\x1b[F\r");
    pty.shows("Send it with");
    line_is(&pty, "\nletter:");
    pty.send("s\r");
    line_is(&pty, "\nchoose>");
    pty.send("1=disk\r");
    line_is(&pty, "\nletter:");
    pty.send("y\r");
    line_is(&pty, "\nedit> do it again");
    assert_eq!(both(), ["two\n", "mine\n"]);
    pty.send("\x1b[F\r");
    pty.shows("the old words stay as a branch");
    line_is(&pty, "\n>");
    assert_eq!(both(), ["one\n", "mine\n"]);
}

/// A file written by a command, and a folder with other content that another author has put in its place.
fn folder_in_place() -> World {
    let world = World::working(&[("sw", "one\n"), ("b", "one\n")]);
    world.exec("echo two > sw; echo two > b");
    std::fs::remove_file(world.folder().join("sw")).expect("removed");
    std::fs::create_dir_all(world.folder().join("sw/deep")).expect("made");
    world.write("sw/in", "mine\n");
    world.write("sw/deep/in", "mine too\n");
    world
}

#[test]
fn a_folder_in_the_place_of_a_file_is_replaced_if_a_person_chooses_so() {
    let world = folder_in_place();
    let all = || ["sw", "sw/in", "sw/deep/in", "b"].map(|name| world.read(name));
    let now = all();
    assert!(!world.run(&["rewind", "t1"]).status.success(), "nothing is chosen");
    let kept = world.run(&["rewind", "t1", "--exact", "--choose", "sw/in=skip"]);
    assert!(!kept.status.success() && all() == now, "what is named stays, and is in the way: {kept:?}");
    for choice in
        [&["--exact"][..], &["--choose", "sw=checkpoint"], &["--exact", "--choose", "sw/in=checkpoint"]]
    {
        let plan = world.does(&[&["plan", "rewind", "t1"], choice].concat());
        assert!(plan.contains("- sw/in") && plan.contains("- sw/deep/in"), "{choice:?}: {plan}");
        world.does(&[&["rewind", "t1"], choice].concat());
        assert_eq!(all(), [Some("one\n".to_owned()), None, None, Some("one\n".to_owned())], "{choice:?}");
        world.does(&["undo"]);
        assert_eq!(all(), now, "{choice:?}");
        world.does(&["redo"]);
        assert_eq!(all(), [Some("one\n".to_owned()), None, None, Some("one\n".to_owned())], "{choice:?}");
        world.does(&["undo"]);
        assert_eq!(all(), now, "{choice:?}");
    }
}

#[test]
fn replacing_a_folder_is_not_offered_where_it_is_not_possible() {
    let world = folder_in_place();
    std::fs::create_dir(world.folder().join("sw/.git")).expect("made");
    world.write("sw/.git/mine", "mine\n");
    let plan = world.json(&["plan", "rewind", "t1"]);
    let paths = plan["files"]["paths"].as_array().expect("paths");
    let sw = paths.iter().find(|path| path["path"] == "sw").expect("it");
    let offered = sw["choices"].as_array().expect("choices");
    assert!(!offered.contains(&"checkpoint".into()) && offered.contains(&"skip".into()), "{sw}");
    assert!(sw["why"].as_str().expect("why").contains("move it elsewhere"), "{sw}");
    let refused = world.run(&["rewind", "t1", "--exact"]);
    assert!(
        !refused.status.success() && error(&refused).contains("move what is in sw elsewhere"),
        "{refused:?}"
    );
    assert_eq!(world.read("sw/in").as_deref(), Some("mine\n"));
}

#[test]
fn the_plan_of_several_steps_names_the_step_that_would_be_refused() {
    let world = World::working(&[("f1", "one\n"), ("f2", "one\n"), ("f3", "one\n")]);
    for name in ["f1", "f2", "f3"] {
        world.exec(&format!("echo two > {name}"));
    }
    world.write("f2", "mine\n");
    let all = || ["f1", "f2", "f3"].map(|name| world.read(name).expect("it"));
    let plan = world.does(&["plan", "undo", "3"]);
    assert!(plan.contains("1 of 3 steps would be done, and the next one is refused: f2: "), "{plan}");
    assert!(plan.contains("or only the steps before are done"), "{plan}");
    assert_eq!(world.json(&["plan", "undo", "3"])["steps"]["done"], 1);
    let short = world.run(&["undo", "3", "--request-id", "three"]);
    assert_eq!(short.status.code(), Some(4), "{short:?}");
    assert!(out(&short).contains("undid 1 of 3 steps"), "{short:?}");
    assert_eq!(all(), ["two\n", "mine\n", "one\n"]);
    let again = world.run(&["undo", "3", "--request-id", "three"]);
    assert_eq!(again.status.code(), Some(4), "a retry says the same: {again:?}");
    let plan = world.does(&["plan", "undo", "2"]);
    assert!(plan.contains("or nothing is done") && !plan.contains("would be done"), "{plan}");
    assert_eq!(world.run(&["undo", "2"]).status.code(), Some(4));
    assert_eq!(all(), ["two\n", "mine\n", "one\n"]);
    let nothing = world.run(&["undo", "9", "--choose", "f2=disk", "--choose", "f4=disk"]);
    assert!(error(&nothing).contains("nothing in the plan is called f4"), "{nothing:?}");
    assert_eq!(all(), ["two\n", "mine\n", "one\n"]);
    let done = world.run(&["undo", "9", "--choose", "f2=disk"]);
    assert_eq!(done.status.code(), Some(4), "fewer, as there are no more: {done:?}");
    assert!(out(&done).contains("there is nothing more to undo"), "{done:?}");
    assert_eq!(all(), ["one\n", "mine\n", "one\n"]);
}

#[test]
fn a_person_chooses_for_a_file_that_one_step_creates_and_the_next_removes() {
    let world = World::working(&[]);
    world.exec("echo one > x");
    world.exec("rm x");
    world.write("x", "mine\n");
    assert_eq!(world.run(&["undo", "2"]).status.code(), Some(4));
    let nothing = world.run(&["undo", "2", "--choose", "y=disk"]);
    assert!(error(&nothing).contains("nothing in the plan is called y"), "{nothing:?}");
    let done = world.does(&["undo", "2", "--choose", "x=disk"]);
    assert!(done.contains(": 6 messages"), "{done}");
    assert_eq!(world.read("x").as_deref(), Some("mine\n"));
}
