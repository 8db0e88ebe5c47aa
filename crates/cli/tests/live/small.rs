//! Small outputs and replies: exit codes, refusals, and remedies.

use std::process::Stdio;

use super::harness::{World, error, out};
use super::prompt;

/// The output of a command that ends with this exit code.
fn ends(world: &World, arguments: &[&str], code: i32) -> String {
    let output = world.run(arguments);
    let said = out(&output) + &error(&output);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
    said
}

#[test]
fn trial_16_a_reader_of_a_backup_that_closes_the_pipe_is_no_failure() {
    let world = World::talking();
    let mut child = world
        .command(&["backup", "-"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), error(&output).as_str()), (Some(0), ""));
}

#[test]
fn trial_23_a_full_export_is_used_in_another_folder_only_on_request() {
    let theirs = World::working(&[]);
    theirs.does(&["ask", "one apple"]);
    let file = theirs.home().join("talk.jsonl");
    let file = file.to_str().expect("UTF-8");
    theirs.does(&["export", "--full", "--output", file]);
    let ours = World::new();
    let said = ends(&ours, &["import", file], 4);
    let other = theirs.folder().display().to_string();
    assert!(
        said.contains(&format!("its conversations work in the folder {other}"))
            && said.contains("--keep-folder"),
        "{said}"
    );
    assert_eq!(ours.json(&["list", "--all"])["conversations"], serde_json::json!([]), "nothing is imported");
    ours.does(&["import", "--keep-folder", file]);
    assert_eq!(ours.json(&["list", "--all"])["conversations"][0]["folder"], other);
    let data = ours.home().join("another");
    let there = theirs.with_data(&data);
    there.does(&["import", file]);
}

#[test]
fn trial_17_a_default_model_that_no_endpoint_has_is_not_set() {
    let world = World::new();
    world.settings("[local]\nfind = false\n");
    let before = std::fs::read_to_string(world.config()).expect("read");
    let said = ends(&world, &["config", "set", "model.default", "nope/x"], 2);
    assert!(said.contains("model.default names an endpoint that is not there; there are demo, "), "{said}");
    assert_eq!(std::fs::read_to_string(world.config()).expect("read"), before);
    world.does(&["config", "set", "endpoint.nope.base_url", "http://127.0.0.1:9/v1"]);
    assert!(said.contains("hint: write PROVIDER/MODEL, such as "), "{said}");
    assert_eq!(world.does(&["config", "set", "model.default", "nope/x"]), "model.default = nope/x\n");
    ends(&world, &["config", "unset", "endpoint.nope.base_url"], 2);
    assert_eq!(world.does(&["config", "get", "model.default"]), "nope/x\n");
}

#[test]
fn trial_17_a_section_lists_its_settings() {
    let world = World::new();
    for (section, has) in [
        ("files", "files.retention_days, files.quota_mb"),
        ("model.usual", "model.usual.anthropic, "),
        ("endpoint", "endpoint.NAME.base_url, "),
        ("face.keys", "face.keys.NAME"),
    ] {
        // The hint is text also for programs.
        let told = ends(&world, &["--json", "config", "get", section], 2);
        assert!(told.contains(&format!("\"hint\":\"its settings are {has}")), "{told}");
        let said = ends(&world, &["config", "get", section], 2);
        assert!(
            said.contains(&format!("its settings are {has}")) && !said.contains("did you mean"),
            "{said}"
        );
    }
}

#[test]
fn hint_about_a_setting_names_the_command_also_for_programs() {
    let world = World::new();
    let told = ends(&world, &["--json", "config", "get", "qqq"], 2);
    assert!(told.contains("\"hint\":\"`retake config` lists every setting\""), "{told}");
}

#[test]
fn trial_15_fewer_steps_than_requested_are_no_full_success() {
    let world = World::talking();
    let said = ends(&world, &["undo", "50"], 4);
    assert!(said.contains("undid 2 of 50 steps") && said.contains("there is nothing more to undo"), "{said}");
    ends(&world, &["--json", "redo", "3"], 4);
    ends(&world, &["undo", "2"], 0);
}

#[test]
fn trial_15_a_step_that_stops_at_a_conflict_shows_a_hint() {
    let world = World::working(&[("a", "one\n")]);
    world.exec("echo two > a");
    world.write("a", "mine\n");
    world.exec("echo new > b");
    let said = ends(&world, &["undo", "2"], 4);
    assert!(said.contains("undid 1 of 2 steps") && said.contains("the next step is refused: "), "{said}");
    assert!(said.contains("hint: `retake plan undo` shows the next step"), "{said}");
}

#[test]
fn trial_16_a_folder_in_the_place_of_a_file_is_reported() {
    let world = World::talking();
    for arguments in [&["import", "."][..], &["export", "-o", "./"]] {
        let said = ends(&world, arguments, 2);
        assert!(said.contains("hint: it is a folder; name a file"), "{said}");
    }
    world.write("file", "");
    for arguments in [&["import", "file/x"][..], &["export", "-o", "file/x"]] {
        let said = ends(&world, arguments, 2);
        assert!(said.contains("hint: a part of its path is a file"), "{said}");
    }
}

#[test]
fn trial_17_invalid_input_is_refused_with_a_next_step() {
    let world = World::talking();
    for (arguments, hint) in [
        (&["hide", "--range", "t1"][..], "hint: name its first and its last message"),
        (&["undo", "--head", "x"], "hint: plans, receipts and the list of operations show heads"),
        (&["erase", "--matching", "", "--yes"], "hint: name them, such as t2, or give a text"),
        (&["undo", "--request-id", "a b"], "an id has 1 to 128 ASCII letters"),
    ] {
        let said = ends(&world, arguments, 2);
        assert!(said.contains(hint), "{arguments:?}: {said}");
    }
}

#[test]
fn trial_17_no_tip_suggests_sending_an_option_as_message() {
    let world = World::new();
    let said = ends(&world, &["ask", "--head", "0.1", "hello"], 2);
    assert!(said.contains("unexpected argument '--head'") && !said.contains("-- --head"), "{said}");
    let said = ends(&world, &["search", "rm", "-rf", "build"], 2);
    assert!(said.contains("-- 'rm -rf build'"), "{said}");
}

#[test]
fn trial_17_a_server_that_is_added_or_removed_is_named() {
    let world = World::new();
    let said = world.does(&["mcp", "add", "time", "--", "true"]);
    assert!(said.starts_with("added time to ") && said.ends_with("mcp.json\n"), "{said}");
    let said = world.does(&["mcp", "remove", "time"]);
    assert!(said.starts_with("removed time from "), "{said}");
}

#[test]
fn trial_14_messages_that_are_no_list_are_refused_with_the_reason() {
    let world = World::new();
    world.write("m.json", "{\"messages\":7}");
    let said = ends(&world, &["import", "m.json"], 2);
    assert!(said.contains("its “messages” is not a list: ["), "{said}");
}

#[test]
fn trial_16_lines_that_arrive_in_a_burst_are_no_answer() {
    let world = World::working(&[("a", "one\n")]);
    world.exec("echo two > a");
    let pty = world.converse();
    prompt(&pty);
    pty.send("/rewind t1\r");
    pty.shows("letter:");
    pty.reads_keys();
    pty.send("y\rls -l\r");
    pty.shows("these lines came at once");
    pty.reads_keys();
    pty.send("\r");
    pty.shows("that is not one of the answers");
    pty.until("the question again", |screen| screen.trim_end().ends_with("\nletter:"));
    pty.reads_keys();
    pty.send("n\r");
    prompt(&pty);
    assert_eq!(world.read("a").as_deref(), Some("two\n"));
}

/// Piped input is always text: only a person at a terminal gives commands.
#[test]
fn trial_15_piped_input_is_never_a_command() {
    let world = World::talking();
    let before = world.texts();
    for (arguments, lines) in [
        (&["--plain", "-c"][..], "/undo\n/erase t1\n!touch made\n"),
        (&["-c"], "/undo"),
        (&["ask", "-"], "/rewind t1\ny\n"),
    ] {
        let output = world.pipe(arguments, lines);
        assert!(output.status.success(), "{}", error(&output));
        let said = world.texts();
        assert_eq!(said[said.len() - 2].trim_end(), lines.trim_end(), "{arguments:?}");
        assert_eq!(said[..before.len()], before, "{arguments:?}");
    }
    assert_eq!(world.read("made"), None);
    let help = world.does(&["--help"]);
    assert!(help.contains("Text from a pipe is one prompt"), "{help}");
}

#[test]
fn trial_15_a_conversation_without_a_title_is_shown_by_its_id() {
    let world = World::new();
    world.does(&["new"]);
    let said = ends(&world, &["say", "--role", "tool", "figs"], 0)
        + &ends(&world, &["new"], 0)
        + &ends(&world, &["fork"], 0)
        + &ends(&world, &["tree"], 0)
        + &ends(&world, &["search", "figs"], 0);
    assert!(said.contains(", the last one of this folder") && said.contains("figs"), "{said}");
    assert!(!said.contains("“”"), "{said}");
}

/// An empty search gets the same error in every form.
#[test]
fn trial_14_a_search_without_words_shows_a_hint() {
    let world = World::talking();
    for arguments in [&["search", ""][..], &["search", " "], &["search", "--source", "ada"], &["search"]] {
        let said = ends(&world, arguments, 2);
        assert!(
            said.contains("the search has no word to look for") && said.contains("hint: give a word"),
            "{said}"
        );
    }
    let said = ends(&world, &["search", "NOT", "milk"], 2);
    assert!(said.contains("only says what to leave out") && said.contains("hint: add a word"), "{said}");
}

#[test]
fn trial_17_a_tree_is_shown_page_by_page_on_request() {
    let world = World::talking();
    for _ in 0..2 {
        world.does(&["rewind", "t2"]);
        world.does(&["ask", "again"]);
    }
    let whole = world.json(&["tree"]);
    assert_eq!((whole["branches"].as_array().map(Vec::len), &whole["more"]), (Some(3), &false.into()));
    let first = world.json(&["tree", "--limit", "2"]);
    let last = first["branches"][1]["leaf"].as_str().expect("a leaf");
    let rest = world.json(&["tree", "--after", last]);
    assert_eq!((&first["more"], &rest["branches"][0]), (&true.into(), &whole["branches"][2]));
    let shown = world.does(&["tree", "--limit", "2"]);
    assert!(shown.ends_with(&format!("… more: --after {last}\n")), "{shown}");
    let folders = world.json(&["workspace", "list", "--limit", "1"]);
    assert_eq!(folders["more"], false, "{folders}");
}

#[test]
fn a_changed_setting_is_printed_with_its_new_value() {
    let world = World::new();
    let set = ["config", "set", "retry.tries", "7"];
    assert_eq!(world.does(&set), "retry.tries = 7\n");
    assert_eq!(world.json(&set)["set"], "7");
    assert_eq!(
        world.does(&["config", "set", "face.keys.rewind", "[\"f5\"]"]),
        "face.keys.rewind = [\"f5\"]\n"
    );
    let unset = ["config", "unset", "retry.tries"];
    let default = world.does(&unset);
    assert!(default.starts_with("retry.tries is unset; it is now "), "{default}");
    assert!(default.contains(world.does(&["config", "get", "retry.tries"]).trim()), "{default}");
    assert!(world.does(&["config", "unset", "model.default"]).ends_with("its built-in default is used\n"));
}
