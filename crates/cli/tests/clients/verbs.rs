//! The verbs for scripts: their help, their requests, and their output.

use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::path::Path;

use insta::assert_snapshot;
use retake_wire::reply::{Conversations, Plan, TargetPage};
use retake_wire::{FilesPlan, Outcome, Problem, ProblemKind, Reply};

use super::files::files_plan;
use super::fixtures::{self, conversation, ended, overloaded, plan, started};
use super::scripted::{Act, Case};

/// Each command line with its results.
fn all(lines: &[&[&str]]) -> String {
    let seen: Vec<String> = lines
        .iter()
        .map(|arguments| {
            let seen = Case::script("from the pipe\n").see(arguments);
            format!("$ retake {}\n{seen}", arguments.join(" "))
        })
        .collect();
    seen.join("\n")
}

#[test]
fn help() {
    assert_snapshot!(all(&[&["-h"], &["--help"], &["--version"]]));
}

#[test]
fn help_of_verbs() {
    assert_snapshot!(all(&[
        &["say", "-h"],
        &["ask", "--help"],
        &["rewind", "-h"],
        &["undo", "-h"],
        &["plan", "-h"],
        &["plan", "hide", "-h"],
        &["log", "-h"],
        &["search", "-h"],
        &["export", "-h"],
        &["import", "--help"],
        &["config", "-h"],
    ]));
}

#[test]
fn the_manual_page() {
    assert_snapshot!(Case::script("").see(&["man"]));
}

#[test]
fn completions_know_every_verb() {
    for shell in ["bash", "zsh", "fish"] {
        let script = Case::script("").see(&["completions", shell]);
        for verb in ["rewind", "undo", "search", "doctor", "include"] {
            assert!(script.contains(verb), "{shell} does not know {verb}");
        }
    }
}

#[test]
fn saying() {
    assert_snapshot!(all(&[
        &["new", "--title", "Notes", "--request-id", "r1"],
        &["say", "hello", "there"],
        &["say", "-"],
        &[
            "say",
            "--role",
            "tool",
            "--json-content",
            r#"[{"type":"tool_result","call":"c1","content":"ok"}]"#
        ],
        &[
            "say",
            "--json-content",
            "\"a string\"",
            "--role",
            "assistant",
            "--author",
            "m",
            "--synthetic",
            "--observed"
        ],
        &[
            "say",
            "--time",
            "2026-02-01T10:00:00Z",
            "--platform-id",
            "p1",
            "--seen",
            "@",
            "--conversation",
            "0199a000",
            "x"
        ],
        &["say", "--json-content", r#"{"type":"nonsense"}"#],
    ]));
}

#[test]
fn asking() {
    assert_snapshot!(all(&[
        &["ask", "hello"],
        &["ask"],
        &["ask", "--new", "--model", "demo/echo", "--request-id", "r1", "hello"],
        &["--json", "ask", "--conversation", "0199a000", "hello"],
        &["retry"],
        &["retry", "t1", "--head", "12.6", "--model", "demo/echo"],
        &["edit", "t1", "other", "words"],
        &["edit", "--no-run", "t1", "other words"],
        &[],
        &["-c"],
    ]));
}

#[test]
fn a_question_in_an_empty_folder_begins_a_conversation() {
    let none = || {
        Reply::Conversations(Conversations { conversations: Vec::new(), more: false, ..Default::default() })
    };
    let ask = Case::script("").reply("list", Ok(none())).see(&["ask", "hello"]);
    let undo = Case::script("").reply("list", Ok(none())).see(&["undo"]);
    let go_on = Case::script("hello").reply("list", Ok(none())).see(&["-c"]);
    assert_snapshot!([ask, undo, go_on].join("\n"));
}

#[test]
fn answers_that_fail() {
    let failed = vec![started(), ended(Outcome::Failed, Some(overloaded()))];
    let text = retake_wire::RunEvent::Text { text: "Half".to_owned() };
    let cut = vec![started(), text, ended(Outcome::Interrupted, Some(overloaded()))];
    let stopped = vec![started(), ended(Outcome::RolledBack, None)];
    let seen = [
        Case::script("").run(Ok(failed.clone())).see(&["ask", "x"]),
        Case::script("").run(Ok(failed)).see(&["ask", "x", "--json"]),
        Case::script("").run(Ok(cut)).see(&["ask", "x"]),
        Case::script("").run(Ok(stopped)).interrupted("").see(&["ask", "x"]),
        Case::script("").run(Err(fixtures::stale())).see(&["retry", "--head", "1.1"]),
        Case::script("").run(Ok(vec![started()])).see(&["ask", "x"]),
    ];
    assert_snapshot!(seen.join("\n"));
}

#[test]
fn actions() {
    assert_snapshot!(all(&[
        &["rewind", "t1", "--head", "12.6", "--since", "--request-id", "r1"],
        &["undo"],
        &["undo", "3"],
        &["redo", "2", "--head", "12.6"],
        &["restore", "3.14"],
        &["restore", "0199a000-0004"],
        &["checkout", "start"],
        &["choose", "@", "2"],
        &["hide", "t1", "t2", "--seen", "normal"],
        &["show", "t1", "t2", "--range"],
        &["exclude", "t1"],
        &["include", "t1"],
        &["fold", "--summary", "in short", "--from", "t1", "--to", "t2"],
        &["unfold", "7"],
        &["label", "@", "good"],
        &["label", "@", "--remove"],
        &["title", "My", "notes"],
        &["title", "--remove"],
        &["archive"],
        &["archive", "--undo", "--conversation", "0199a000"],
        &["list", "--archived"],
        &["erase", "--yes", "t1"],
        &["erase", "--yes", "--matching", "secret"],
        &["fork", "t1", "--title", "Other"],
    ]));
}

#[test]
fn every_action_can_be_planned_with_the_same_words() {
    assert_snapshot!(all(&[
        &["--json", "plan", "undo", "2"],
        &["--json", "plan", "checkout", "0199a000-0004"],
        &["--json", "plan", "restore", "3.14"],
        &["--json", "plan", "edit", "t1"],
        &["--json", "plan", "erase", "--matching", "secret"],
        &["--json", "plan", "hide", "t1", "t2", "--range", "--conversation", "0199a000"],
        &["plan", "choose", "@"],
    ]));
}

#[test]
fn json_is_what_the_wire_says() {
    assert_snapshot!(all(&[
        &["--json", "list"],
        &["targets", "--json", "--limit", "2"],
        &["--json", "undo"],
        &["--json", "export"],
        &["--json", "config", "path"],
        &["--json", "config", "get", "model"],
    ]));
}

#[test]
fn several_conversations_in_a_folder() {
    let two = Reply::Conversations(Conversations {
        conversations: vec![conversation(), conversation()],
        more: true,
        ..Default::default()
    });
    assert_snapshot!(Case::script("").reply("list", Ok(two)).see(&["undo"]));
}

#[test]
fn reading() {
    assert_snapshot!(all(&[
        &["log", "--as", "export", "--at", "3.2", "--limit", "2", "--before", "t2", "--json"],
        &["log", "--as", "prompt", "--limit", "2"],
        &[
            "--json",
            "search",
            "notes",
            "AND",
            "spring*",
            "--role",
            "user",
            "--source",
            "ada",
            "--since",
            "2026-02-01T00:00:00Z",
            "--until",
            "2h",
            "--sort",
            "newest",
            "--limit",
            "5",
            "--offset",
            "5",
            "--include",
            "rewound,hidden",
            "--conversation",
            "0199a000",
        ],
        &["backup", "copy.db"],
        &["doctor", "--mend"],
        &["config"],
        &["config", "path"],
        &["config", "get", "model"],
        &["config", "set", "model", "demo/echo"],
        &["hidden"],
        &["hidden", "--json", "--limit", "3", "--before", "t2"],
    ]));
}

#[test]
fn missing_answers_are_requested_on_a_terminal() {
    let seen = [
        Case::terminal([Act::Answer(true)]).see(&["rewind", "t1"]),
        Case::terminal([Act::Answer(false)]).see(&["rewind", "t1"]),
        Case::terminal([]).see(&["rewind", "t1", "--yes"]),
        Case::terminal([Act::Answer(false)]).see(&["edit", "t1", "other", "words"]),
        Case::terminal([Act::Answer(true)]).see(&["edit", "t1", "other", "words"]),
        Case::terminal([Act::Answer(false)]).see(&["erase", "t1"]),
        Case::script("").see(&["erase", "t1"]),
    ];
    assert_snapshot!(seen.join("\n"));
}

#[test]
fn steps_that_take_something_back_show_their_plan_and_ask_on_a_terminal() {
    let mut seen = Vec::new();
    for line in [
        &["undo"][..],
        &["redo", "2"],
        &["restore", "3.14"],
        &["drop", "t2", "--scope", "files"],
        &["choose", "@", "2"],
    ] {
        seen.push(Case::terminal([Act::Answer(false)]).see(line));
        seen.push(Case::terminal([Act::Answer(true)]).see(line));
        // Nothing is asked: an answer would be left over.
        seen.push(Case::terminal([]).see(&[line, &["--yes"]].concat()));
        let script = Case::script("").see(line);
        assert!(!script.contains("[y/N]") && !script.contains("request: plan"), "{script}");
    }
    assert_snapshot!(seen.join("\n"));
}

/// Whoever says yes has seen this plan and no other one.
#[test]
fn a_yes_names_the_shown_plan_and_stops_what_it_shows() {
    let files = Some(FilesPlan { conflicts: 0, ..files_plan() });
    let shown = Plan { at_work: true, files, ..plan() };
    let seen = Case::terminal([Act::Answer(true)]).reply("plan", Ok(Reply::Plan(shown))).see(&["undo"]);
    let apply = seen.lines().find(|line| line.contains(r#""request":"apply""#)).expect("it is applied");
    let digest = format!(r#""seen":"{}""#, "d".repeat(32));
    for named in [&*digest, r#""head":"12.6""#, r#""stop":true"#] {
        assert!(apply.contains(named), "{named}: {apply}");
    }
}

#[test]
fn an_export_is_a_whole_file_or_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("notes.md");
    std::fs::write(&file, "old").expect("written");
    let name = file.display().to_string();
    let lost = Case::script("").reply("export", Err(overloaded()));
    let _ = lost.see(&["export", "-o", &name]);
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), "old");
    let seen = Case::script("").see(&["export", "-o", &name]);
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), "first\nsecond\n");
    let left = std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 1);
    assert_snapshot!(seen.replace(&name, "FILE"));
}

/// A pipe with a reader, so that its writer does not wait.
fn reader_of(pipe: &Path) -> File {
    let nonblock = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    OpenOptions::new().read(true).custom_flags(nonblock).open(pipe).expect("a reader")
}

#[test]
fn trial_16_an_export_goes_through_links_and_into_pipes() {
    let folder = tempfile::tempdir().expect("a folder");
    let [pipe, file, link, to_pipe] =
        ["pipe", "a.md", "link.md", "to_pipe.md"].map(|name| folder.path().join(name));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("it runs").success());
    symlink("pipe", &to_pipe).expect("linked");
    symlink("a.md", &link).expect("linked");
    for name in [&pipe, &to_pipe] {
        let mut reader = reader_of(&pipe);
        let _ = Case::script("").see(&["export", "-o", &name.display().to_string()]);
        let mut read = String::new();
        reader.read_to_string(&mut read).expect("text");
        assert_eq!(read, "first\nsecond\n");
    }
    for _ in 0..2 {
        let _ = Case::script("").see(&["export", "-o", &link.display().to_string()]);
        assert_eq!(std::fs::read_to_string(&file).expect("a file"), "first\nsecond\n");
        std::fs::write(&file, "old").expect("written");
    }
    let is_link = |path: &Path| std::fs::symlink_metadata(path).expect("there").is_symlink();
    assert!(is_link(&link) && is_link(&to_pipe));
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 4);
}

#[test]
fn importing() {
    let list = "[{\"content\":\"hi\",\n\"role\":\"user\"},{\"content\":\"ho\",\"role\":\"assistant\"}]";
    let seen = [
        Case::script(list).see(&["import", "-", "--title", "Old"]),
        Case::script("{\"a\":1}\n{\"b\":2}\n\n").see(&["import", "-"]),
        Case::script("{\"a\":1}\n{\"b\":\n").see(&["import", "-"]),
        Case::script("[1,").see(&["import", "-"]),
        Case::script("").see(&["import", "-"]),
        Case::script("").see(&["import", "/nowhere/x.jsonl"]),
    ];
    assert_snapshot!(seen.join("\n"));
}

/// Its id is printed for scripts, with a note that nothing was stored.
#[test]
fn trial_15_a_message_that_exists_already_is_not_reported_as_stored() {
    let say = |unchanged| {
        let there =
            retake_wire::reply::Receipt { unchanged, entries: vec![fixtures::id(7)], ..fixtures::receipt() };
        Case::script("").reply("say", Ok(Reply::Receipt(there))).see(&["say", "--platform-id", "p1", "x"])
    };
    let [first, again] = [false, true].map(say);
    assert!(!first.contains("Nothing was stored") && again.contains("Nothing was stored"), "{again}");
    assert!(first.contains(&fixtures::id(7)) && again.contains(&fixtures::id(7)), "{again}");
}

/// An error names the line of the file, and the report about the earlier ones is true.
#[test]
fn trial_17_a_conversation_among_several_that_can_not_be_imported_is_named_with_its_line() {
    let refused = || {
        Err(Problem {
            code: "bad_import".into(),
            kind: ProblemKind::Usage,
            message: "can't import: line 2: the role “x” is not known".to_owned(),
            hint: Some("nothing was imported; mend that place and import it again".into()),
            ..Problem::default()
        })
    };
    let two = "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}\n{\"messages\":[{\"role\":\"x\"}]}\n";
    let first = || Ok(Reply::Done);
    let seen = Case::script(two).reply("import_lines", first()).reply("import_lines", refused());
    let seen = seen.see(&["import", "-"]);
    assert!(seen.contains(r#""lines_before":1"#), "{seen}");
    let told =
        "conversation 2 of 2, which begins on line 2, cannot be imported; the one before it was imported\n";
    assert!(seen.contains(told) && seen.contains("--- exit 10"), "{seen}");
    assert!(seen.contains(&fixtures::id(7)) || seen.contains("0199a000"), "its id is printed: {seen}");
    assert!(seen.contains("import the file from that conversation on"), "{seen}");
    assert!(!seen.contains("nothing was imported"), "{seen}");
    let seen = Case::script(two).reply("import_lines", refused()).see(&["import", "-"]);
    let told = "conversation 1 of 2, which begins on line 1, cannot be imported; nothing was imported\n";
    assert!(seen.contains(told) && seen.contains("--- exit 2"), "{seen}");
    assert!(seen.contains("nothing was imported") && !seen.contains("before it"), "{seen}");
    // Whatever fails: code 4 would mean that nothing has changed.
    let taken = || {
        let problem = Problem { code: "exists".into(), kind: ProblemKind::Refused, ..refused().unwrap_err() };
        Err(problem)
    };
    let seen = Case::script(two).reply("import_lines", first()).reply("import_lines", taken());
    let seen = seen.see(&["import", "-"]);
    assert!(seen.contains("--- exit 10") && !seen.contains("nothing was imported"), "{seen}");
}

/// Half of a surrogate pair is no text: a replacement character takes its place, in any format of a
/// file.
#[test]
fn trial_17_half_of_a_surrogate_pair_stops_no_import() {
    for file in [
        r#"[{"role":"user","content":"a\ud83d"}]"#,
        r#"{"role":"user","content":"a\ud83d"}"#,
        r#"{"messages":[{"role":"user","content":"a\ud83d"}]}"#,
        r#"[{"messages":[{"role":"user","content":"a\ud83d"}]},{"messages":[{"role":"user","content":"b"}]}]"#,
    ] {
        let seen =
            Case::script(file).reply("import_lines", Ok(Reply::Done)).reply("import_lines", Ok(Reply::Done));
        let seen = seen.see(&["import", "-"]);
        assert!(seen.contains("--- exit 0"), "{file}: {seen}");
        assert!(seen.contains("a\u{fffd}") || seen.contains(r"a\\ufffd"), "{file}: {seen}");
    }
}

#[test]
fn trial_17_an_empty_list_is_reported() {
    for list in ["[]", " [\n]\n"] {
        let seen = Case::script(list).see(&["import", "-"]);
        assert!(seen.contains("there is nothing to import") && seen.contains("--- exit 2"), "{seen}");
        assert!(!seen.contains("import_start"), "{seen}");
    }
}

/// A page that is not the last names the command for the next one, and its limit.
#[test]
fn trial_17_targets_show_how_to_list_older_ones() {
    let all = fixtures::targets();
    let more = TargetPage { targets: all.targets[..1].to_vec(), more: true, ..all.clone() };
    let seen = Case::script("").reply("targets", Ok(Reply::Targets(more))).see(&["targets", "--limit", "1"]);
    assert!(seen.contains("… older: --before t2\n"), "{seen}");
    let seen = Case::script("").reply("targets", Ok(Reply::Targets(all))).see(&["targets", "--limit", "3"]);
    assert!(!seen.contains("… older"), "{seen}");
    for verb in ["targets", "ops", "list", "log", "hidden"] {
        for limit in ["0", "1001"] {
            let seen = Case::script("").see(&[verb, "--limit", limit]);
            assert!(seen.contains("give a whole number from 1 to 1000"), "{verb} {limit}: {seen}");
        }
    }
}
