//! Commands that run to their end, or are ended.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::Arc;

use retake_core::{CallTarget, EffectClass, Fact, ToolOutcome};
use retake_testkit::again;
use retake_tools::{Output, ShellConfig, Tool, shell_tools};
use serde_json::json;

use crate::stage::{Stage, config, tool};

/// A user who owns nothing.
const NOBODY: u32 = 65_534;

fn shell(config: ShellConfig) -> Arc<dyn Tool> {
    tool(&shell_tools(config), "shell")
}

async fn run(stage: &Stage, command: &str) -> Output {
    stage.call(&shell(config()), json!({ "command": command })).await
}

#[tokio::test]
async fn output_is_in_order_and_followed_by_the_end() {
    use ToolOutcome::{Failed, Ok};
    let rows = [
        ("echo a; echo b >&2; echo c", "a\nb\nc\n[exit code 0]", Ok),
        ("printf 'no end'; exit 3", "no end\n[it ended with exit code 3]", Failed),
        ("true", "[exit code 0]", Ok),
        ("cat; read x; echo ${x:-nothing}", "nothing\n[exit code 0]", Ok),
        ("kill -9 $$", "[it was ended by signal 9]", Failed),
        ("echo $TERM $PAGER $GIT_TERMINAL_PROMPT; ulimit -c", "dumb cat 0\n0\n[exit code 0]", Ok),
        ("for i in 1 2; do\necho $i\ndone", "1\n2\n[exit code 0]", Ok),
        ("echo \"it's\" 'q'; echo $#", "it's q\n1\n[exit code 0]", Ok),
        ("trap 'echo bye' EXIT; echo hi", "hi\nbye\n[exit code 0]", Ok),
        ("set -e; false; echo never", "[it ended with exit code 1]", Failed),
    ];
    let stage = Stage::new();
    for (command, content, outcome) in rows {
        let output = run(&stage, command).await;
        assert_eq!((output.content.as_str(), output.outcome), (content, outcome), "{command}");
        assert_eq!(output.facts, []);
    }
    assert_eq!(std::fs::read_dir(&stage.spool).unwrap().count(), 0, "nothing is left of what is short");
}

#[tokio::test]
async fn an_invalid_command_is_refused_with_the_reason() {
    let stage = Stage::new();
    let output = run(&stage, "echo (").await;
    assert!(
        output.content.contains("syntax error") && output.content.ends_with("[it ended with exit code 2]"),
        "{output:?}"
    );
    let tool = shell(config());
    for arguments in [json!({}), json!({ "command": 1 }), json!({ "command": "a", "shout": true })] {
        let why = tool.intent(&arguments, stage.root(), &stage.roots).unwrap_err();
        assert!(why.starts_with("the arguments are not valid"), "{why}");
        assert_eq!(stage.call(&tool, arguments).await.outcome, ToolOutcome::Failed);
    }
    assert!(tool.intent(&json!({ "command": " " }), stage.root(), &stage.roots).is_err());
}

#[tokio::test]
async fn the_effects_of_a_command_are_known_before_it_runs() {
    let stage = Stage::new();
    let tool = shell(config());
    let intent = |arguments| tool.intent(&arguments, stage.root(), &stage.roots).unwrap();
    let read = intent(json!({ "command": "ls -l" }));
    assert_eq!((read.class, read.line.as_str(), read.detail), (EffectClass::None, "$ ls -l", None));
    let make = intent(json!({ "command": "make\u{1b}[2J\nrm -r x", "description": "builds" }));
    assert_eq!((make.class, make.line.as_str()), (EffectClass::External, r"$ make\u{1b}[2J …"));
    assert_eq!(make.detail.as_deref(), Some("builds\nmake\u{1b}[2J\nrm -r x"));
    assert_eq!(make.touches, [CallTarget::Command("make\u{1b}[2J\nrm -r x".into())]);
    assert_ne!(intent(json!({ "command": "ls", "background": true })).class, EffectClass::None);
    assert!(!tool.is_parallel());
}

#[tokio::test]
async fn the_shell_keeps_its_folder_between_calls() {
    let mut stage = Stage::new();
    let second = stage.root().with_file_name("second");
    std::fs::create_dir_all(second.join("in")).unwrap();
    stage.roots.push(second.clone());
    let cwd = |value: &str| vec![Fact::new("cwd", value)];
    assert_eq!(run(&stage, "mkdir -p 'a b/c'; cd 'a b/c'").await.facts, cwd("a b/c"));
    assert!(run(&stage, "pwd").await.content.contains("/work/a b/c\n"));
    assert_eq!(run(&stage, "cd ..; exit 4").await.facts, cwd("a b"));
    assert_eq!(
        run(&stage, "cd c; exec true").await.facts,
        [],
        "a command that replaces the shell leaves no note"
    );
    assert_eq!(run(&stage, "cd ../../second/in").await.facts, cwd(&second.join("in").display().to_string()));
    assert!(run(&stage, "pwd").await.content.contains("/second/in\n"));
    let out = run(&stage, "cd /; pwd").await;
    assert!(
        out.content.starts_with("/\n") && out.content.contains("/ is outside of the workspace"),
        "{out:?}"
    );
    assert_eq!(out.facts, cwd(""));
    assert_eq!(run(&stage, "pwd").await.content, format!("{}\n[exit code 0]", stage.root().display()));
}

#[tokio::test]
async fn a_shell_leaves_a_folder_that_was_removed() {
    let stage = Stage::new();
    assert_eq!(run(&stage, "mkdir a; cd a").await.facts, [Fact::new("cwd", "a")]);
    std::fs::remove_dir(stage.root().join("a")).unwrap();
    let output = run(&stage, "pwd").await;
    assert!(output.content.starts_with(&format!("{}\n", stage.root().display())), "{output:?}");
    assert!(output.content.contains("is no longer a folder"), "{output:?}");
    assert_eq!(output.facts, [Fact::new("cwd", "")]);
}

#[tokio::test]
async fn long_output_is_truncated_and_stored_whole_on_disk() {
    let stage = Stage::new();
    let output = run(&stage, "seq 1 20000").await;
    assert_eq!(output.outcome, ToolOutcome::Ok);
    assert!(output.content.len() < 32 << 10, "{}", output.content.len());
    assert!(output.content.starts_with("1\n2\n") && output.content.contains("\n19999\n20000\n[exit code 0]"));
    let cut = output.content.lines().find(|line| line.contains("left out")).unwrap();
    let shown = output.content.lines().filter(|line| line.parse::<u32>().is_ok()).count();
    assert!(cut.contains(&format!(" {} lines left out", 20000 - shown)), "{cut}, shown {shown}");
    let log = cut.split("the whole is in ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
    let whole: String = (1..=20000).map(|number| format!("{number}\n")).collect();
    assert_eq!(std::fs::read_to_string(log).unwrap(), whole);
}

#[tokio::test]
async fn gigabytes_fill_neither_memory_nor_disk() {
    let stage = Stage::new();
    let tool = shell(ShellConfig { log: 1 << 20, ..config() });
    let output = stage.call(&tool, json!({ "command": "yes 0123456789 | head -c 2147483648" })).await;
    assert_eq!(output.outcome, ToolOutcome::Ok, "{}", output.content);
    assert!(output.content.len() < 32 << 10);
    assert!(output.content.contains("the rest was dropped"));
    let log = std::fs::read_dir(&stage.spool).unwrap().flatten().next().unwrap();
    assert_eq!(log.metadata().unwrap().len(), 1 << 20);
    assert!(stage.told().len() < 64 << 20, "told {}", stage.told().len());
    assert!(stage.told().contains("bytes not shown"));
}

#[tokio::test]
async fn terminal_control_sequences_are_removed_from_output() {
    let stage = Stage::new();
    let command =
        r"printf '\033[2J\033]0;owned\007\033]52;c;eA==\033\\red\033[31m\033[0m\n1%%\r100%%\r\n\x9b\a\b'";
    let output = run(&stage, command).await;
    assert_eq!(output.content, "red\n100%\n\u{fffd}\n[exit code 0]");
    assert!(
        !stage.told().contains(|char: char| char.is_control() && !"\n\r\t".contains(char)),
        "{:?}",
        stage.told()
    );
}

#[tokio::test]
async fn no_character_is_cut_on_the_way() {
    let stage = Stage::new();
    let command =
        "printf '\\xe2'; sleep 0.3; printf '\\x82\\xac'; for i in $(seq 3000); do printf 'ä€😀'; done";
    let output = run(&stage, command).await;
    let text = format!("€{}", "ä€😀".repeat(3000));
    assert_eq!(stage.told(), text);
    assert_eq!(output.content, format!("{text}\n[exit code 0]"));
}

#[tokio::test]
async fn a_command_ends_at_its_time_limit() {
    let stage = Stage::new();
    let line =
        json!({ "command": "echo begun; setsid sleep 1000 & sleep 1000 | sleep 1000", "timeout_s": 1 });
    let output = stage.call(&shell(config()), line).await;
    assert_eq!(output.outcome, ToolOutcome::Failed);
    assert!(output.content.starts_with("begun\n"), "{output:?}");
    assert!(output.content.contains("[its time limit has passed"), "{output:?}");
    assert!(output.content.contains("all its processes are gone]"), "{output:?}");
}

#[tokio::test]
async fn a_command_that_ignores_sigterm_is_killed() {
    let stage = Stage::quick();
    let line = json!({ "command": "trap '' TERM; echo deaf; while :; do sleep 1000; done", "timeout_s": 5 });
    let output = stage.call(&shell(config()), line).await;
    assert!(
        output.content.starts_with("deaf\n") && output.content.contains("processes are gone"),
        "{output:?}"
    );
}

#[tokio::test]
async fn a_person_stops_a_command() {
    let stage = Stage::new();
    let tool = shell(config());
    let stop = async {
        stage.hears("ready").await;
        stage.stop();
    };
    let (output, ()) = tokio::join!(stage.call(&tool, json!({ "command": "echo ready; sleep 1000" })), stop);
    assert_eq!(output.outcome, ToolOutcome::Failed);
    // The shell may have reported the termination of its child.
    let is_said = output.content.contains("\n[stopped by the test; all its processes are gone]");
    assert!(output.content.starts_with("ready\n") && is_said, "{output:?}");
}

#[tokio::test]
async fn a_command_that_starts_too_many_processes_is_ended() {
    let stage = Stage::new();
    let tool = shell(ShellConfig { processes: 64, ..config() });
    // Doubles until there are 511 processes, all ignoring signals, so that only the limit protects the machine.
    let bomb =
        "trap '' TERM; f() { if [ $1 -gt 0 ]; then f $(($1 - 1)) & f $(($1 - 1)) & fi; sleep 1000; }; f 8";
    let output = stage.call(&tool, json!({ "command": bomb, "timeout_s": 10 })).await;
    assert_eq!(output.outcome, ToolOutcome::Failed);
    // A user at the kernel's limit gets no more until the time is over.
    let ended = ["[it had started too many processes", "Resource temporarily unavailable"];
    assert!(ended.iter().any(|words| output.content.contains(words)), "{output:?}");
    assert!(output.content.contains("all its processes are gone]"), "{output:?}");
}

/// Set for a test run among processes of the same user that it does not see.
const AMONG_OTHERS: &str = "RETAKE_TEST_AMONG_OTHERS";

#[tokio::test]
async fn trial_01_a_user_with_many_processes_outside_of_the_container_runs_commands() {
    if std::env::var_os(AMONG_OTHERS).is_none() {
        return among_others(
            "shell::trial_01_a_user_with_many_processes_outside_of_the_container_runs_commands",
        );
    }
    let stage = Stage::new();
    let tool = shell(ShellConfig { processes: 8, ..config() });
    let output = stage.call(&tool, json!({ "command": "ls / | head -1; echo on", "timeout_s": 40 })).await;
    assert!(output.outcome == ToolOutcome::Ok && output.content.contains("on\n"), "{output:?}");
}

/// Runs a test again as a plain user in a container, with forty processes of that user outside.
fn among_others(test: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).expect("open");
    let mut command = Command::new("unshare");
    command.args(["--map-current-user", "--keep-caps", "--mount", "--pid", "--fork", "--kill-child"]);
    let others = "for i in $(seq 40); do sleep 1000 & done; unshare --pid --fork --mount-proc \"$0\" \"$@\"";
    command.args(["sh", "-c", others]).env(AMONG_OTHERS, "1");
    let myself = again::this_program();
    if rustix::process::geteuid().is_root() {
        command.arg(again::for_everybody(&myself, folder.path())).uid(NOBODY).gid(NOBODY);
    } else {
        command.arg(myself);
    }
    again::again(command, test);
}

#[tokio::test]
async fn a_process_that_a_command_leaves_running_is_a_job() {
    let stage = Stage::new();
    let output = run(&stage, "sleep 1000 & echo on").await;
    assert!(output.lives && output.outcome == ToolOutcome::Ok, "{output:?}");
    assert!(output.content.contains("[1 of its processes still run, as job "), "{output:?}");
    let tools = shell_tools(config());
    let id = output.facts[0].key.strip_prefix("job/").unwrap();
    let shown = stage.call(&tool(&tools, "job_output"), json!({ "id": id })).await;
    assert!(shown.content.contains("is not kept"), "{shown:?}");
    let stopped = stage.call(&tool(&tools, "job_stop"), json!({ "id": id })).await;
    assert_eq!((stopped.outcome, stopped.facts[0].value.as_str()), (ToolOutcome::Ok, ""));
    assert!(retake_tools::processes::alive(id).is_empty());
}
