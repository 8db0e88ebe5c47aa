//! Commands that continue in the background.

use std::sync::Arc;

use retake_core::{CallTarget, EffectClass, Mode, Permission, Ruling, ToolOutcome};
use retake_tools::{Output, ShellConfig, Tool, processes, shell_tools};
use serde_json::{Value, json};

use crate::stage::{Stage, config, tool, until};

/// A conversation with jobs.
struct Jobs {
    stage: Stage,
    tools: Vec<Arc<dyn Tool>>,
    started: Vec<String>,
}

impl Jobs {
    fn new(config: ShellConfig) -> Self {
        Self { stage: Stage::quick(), tools: shell_tools(config), started: Vec::new() }
    }

    async fn call(&self, name: &str, arguments: Value) -> Output {
        self.stage.call(&tool(&self.tools, name), arguments).await
    }

    /// Starts a job that continues, and returns its id.
    async fn start(&mut self, command: &str) -> String {
        let output = self.call("shell", json!({ "command": command, "background": true })).await;
        assert!(output.lives && output.outcome == ToolOutcome::Ok, "{output:?}");
        let call = output.facts[0].key.strip_prefix("job/").expect("a job").to_owned();
        let id = call[call.len() - 8..].to_owned();
        assert!(output.content.contains(&format!("[it goes on as job {id}: ")), "{output:?}");
        self.started.push(call);
        id
    }

    /// The same for a job with an input.
    async fn start_with_input(&mut self, command: &str) -> String {
        let given = json!({ "command": command, "background": true, "input": true });
        let output = self.call("shell", given).await;
        assert!(output.lives, "{output:?}");
        self.started.push(self.stage.last_call());
        let call = self.stage.last_call();
        call[call.len() - 8..].to_owned()
    }

    /// Waits for a job; returns the outcome and the notes at the end of the output.
    async fn waits(&self, arguments: Value) -> (ToolOutcome, String) {
        let output = self.call("job_output", arguments).await;
        let notes = output.content.lines().filter(|line| line.starts_with('['));
        let notes = notes.map(|line| line.split_once(';').map_or(line, |(line, _)| line));
        (output.outcome, notes.collect::<Vec<_>>().join(" "))
    }

    async fn shows(&self, id: &str, words: &str) {
        let shown = async || self.call("job_output", json!({ "id": id })).await.content.contains(words);
        until(words, shown).await;
    }

    async fn list(&self) -> String {
        self.call("job_list", json!({})).await.content
    }
}

/// The facts of jobs came with the conversation, and may be forged.
#[tokio::test]
async fn only_the_file_that_a_job_printed_to_is_read_as_its_output() {
    let jobs = Jobs::new(config());
    let (root, spools) = (jobs.stage.root(), jobs.stage.spool.parent().expect("a folder").to_owned());
    std::fs::write(root.join("key"), "secret").expect("written");
    std::fs::write(root.join("imported1.log"), "secret").expect("written");
    std::fs::create_dir_all(&jobs.stage.spool).expect("a folder");
    for name in ["other.log", "imported1.log"] {
        std::fs::write(jobs.stage.spool.join(name), "secret").expect("written");
    }
    std::fs::remove_file(jobs.stage.spool.join("imported1.log")).expect("removed");
    std::os::unix::fs::symlink(root.join("key"), jobs.stage.spool.join("imported1.log")).expect("a link");
    let up = spools.join("x/../../").join(root.file_name().expect("a name")).join("imported1.log");
    let own = jobs.stage.spool.join("imported1.log");
    for log in [root.join("key"), root.join("imported1.log"), jobs.stage.spool.join("other.log"), up, own] {
        let fact = json!({ "command": "cargo test", "log": log }).to_string();
        jobs.stage.host.facts.lock().expect("free").insert("job/imported1".to_owned(), fact);
        let output = jobs.call("job_output", json!({ "id": "imported1" })).await;
        assert_eq!(output.outcome, ToolOutcome::Failed, "{log:?}: {output:?}");
        assert!(!output.content.contains("secret"), "{log:?}: {output:?}");
    }
}

#[tokio::test]
async fn a_job_goes_on_until_it_is_stopped() {
    let mut jobs = Jobs::new(config());
    assert_eq!(jobs.list().await, "There are no jobs.");
    let id = jobs.start("echo up; while :; do echo tick >&2; sleep 0.05; done").await;
    assert_eq!(
        jobs.list().await,
        format!("{id} · running · echo up; while :; do echo tick >&2; sleep 0.05; done")
    );
    jobs.shows(&id, "up\ntick\ntick\n").await;
    let stopped = jobs.call("job_stop", json!({ "id": id })).await;
    assert_eq!(stopped.content, format!("job {id} is ended; all its processes are gone"));
    assert!(processes::alive(&jobs.started[0]).is_empty());
    assert_eq!(jobs.list().await, "There are no jobs.");
    let again = jobs.call("job_stop", json!({ "id": id })).await;
    assert_eq!(again.outcome, ToolOutcome::Failed);
    assert!(again.content.contains("there is no job"), "{again:?}");
}

#[tokio::test]
async fn a_job_outlives_the_process_that_started_it() {
    let started = std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut jobs = Jobs::new(config());
        runtime.block_on(jobs.start("while :; do echo tick; sleep 0.05; done"));
        jobs
    });
    let jobs = started.join().unwrap();
    let log = jobs.stage.spool.join(format!("{}.log", jobs.started[0]));
    let before = std::fs::metadata(&log).unwrap().len();
    until("the log grows", async || std::fs::metadata(&log).unwrap().len() > before + 50).await;
}

#[tokio::test]
async fn a_command_that_fails_at_once_is_no_job() {
    let jobs = Jobs::new(config());
    let line = json!({ "command": "echo bad >&2; exit 7", "background": true });
    let output = tool(&jobs.tools, "shell").call(Stage::new().prepare(line)).await;
    assert!(!output.lives && output.facts.is_empty(), "{output:?}");
    assert_eq!(output.outcome, ToolOutcome::Failed);
    assert_eq!(output.content, "bad\n[it has ended already, with exit code 7: there is no job]");
}

#[tokio::test]
async fn the_end_of_a_job_is_recorded() {
    let mut jobs = Jobs::new(config());
    let id = jobs.start("sleep 1; exit 4").await;
    until("it ends", async || jobs.list().await.contains("ended with exit code 4")).await;
    let stopped = jobs.call("job_stop", json!({ "id": id })).await;
    assert_eq!(stopped.content, format!("job {id} had ended already"));
}

#[tokio::test]
async fn a_job_that_ignores_sigterm_is_killed() {
    let mut jobs = Jobs::new(config());
    let id = jobs.start("trap '' TERM; setsid bash -c 'while :; do sleep 1000; done'").await;
    assert_eq!(jobs.call("job_stop", json!({ "id": id })).await.outcome, ToolOutcome::Ok);
}

#[tokio::test]
async fn a_job_does_not_fill_the_disk() {
    let mut jobs = Jobs::new(ShellConfig { log: 1 << 20, ..config() });
    let id = jobs.start("seq 1 1000000; echo $? > done; sleep 1000").await;
    until("it was not held up", async || jobs.stage.root().join("done").exists()).await;
    let log = jobs.stage.spool.join(format!("{}.log", jobs.started[0]));
    assert_eq!(std::fs::metadata(log).unwrap().len(), 1 << 20);
    let shown = jobs.call("job_output", json!({ "id": id })).await;
    assert!(shown.content.len() < 32 << 10 && shown.content.contains("is running"), "{}", shown.content);
}

#[tokio::test]
async fn any_part_of_the_output_of_a_job_can_be_read() {
    let mut jobs = Jobs::new(config());
    let id = jobs.start("seq 1 5; printf 'last €'; sleep 1000").await;
    jobs.shows(&id, "last €").await;
    let part = async |arguments: Value| jobs.call("job_output", arguments).await.content;
    let said = |from: u32| format!("\n[job {id} is running; bytes {from} to 18 of 18; go on with from: 18]");
    assert_eq!(part(json!({ "id": id })).await, format!("1\n2\n3\n4\n5\nlast €{}", said(0)));
    assert_eq!(part(json!({ "id": id, "tail": 2 })).await, format!("5\nlast €{}", said(8)));
    assert_eq!(part(json!({ "id": id, "tail": 99 })).await, format!("1\n2\n3\n4\n5\nlast €{}", said(0)));
    assert_eq!(part(json!({ "id": id, "from": 8 })).await, format!("5\nlast €{}", said(8)));
    assert_eq!(part(json!({ "id": id, "from": 99 })).await, said(18).trim_start());
}

#[tokio::test]
async fn a_job_is_waited_for_until_it_ends_prints_or_prints_a_text() {
    use ToolOutcome::{Failed, Ok};
    let mut jobs = Jobs::new(config());
    // The clock of the tools is ten times as fast: each wait has three seconds.
    let slow = jobs.start("echo begun; until test -e go; do sleep 0.02; done; printf rea; sleep 0.3; echo dy; until test -e end; do sleep 0.02; done; exit 5").await;
    let wait = |what: &str| json!({ "id": slow, "wait": what, "wait_s": 30 });
    let over = |note: &str| (Failed, format!("[{note}] [job {slow} is running"));
    assert_eq!(jobs.waits(wait("output")).await, over("the 30 s are over"));
    let text = |text: &str| json!({ "id": slow, "wait": "text", "text": text, "wait_s": 600 });
    assert_eq!(
        jobs.waits(text("begun")).await,
        (Ok, format!("[it has printed “begun”] [job {slow} is running"))
    );
    // What was printed before `from` does not count.
    let later = json!({ "id": slow, "wait": "text", "text": "begun", "from": 3, "wait_s": 10 });
    assert_eq!(jobs.waits(later).await, over("the 10 s are over"));
    let printed = json!({ "id": slow, "wait": "output", "from": 0 });
    assert_eq!(jobs.waits(printed).await.0, Ok);
    let go = async |name: &str| {
        std::fs::write(jobs.stage.root().join(name), "").expect("written");
    };
    let (ready, ()) = tokio::join!(jobs.waits(text("ready")), go("go"));
    assert_eq!(ready, (Ok, format!("[it has printed “ready”] [job {slow} is running")));
    let (end, ()) = tokio::join!(jobs.waits(json!({ "id": slow, "wait": "end", "wait_s": 600 })), go("end"));
    assert_eq!(end, (Ok, format!("[it has ended] [job {slow} is ended with exit code 5")));
    // The job is gone.
    assert_eq!(jobs.waits(wait("end")).await.0, Ok);
    let note = format!("[it has ended, and never printed “more”] [job {slow} is ended with exit code 5");
    assert_eq!(jobs.waits(text("more")).await, (Failed, note));
    let note = format!("[it has ended, and printed nothing more] [job {slow} is ended with exit code 5");
    assert_eq!(jobs.waits(wait("output")).await, (Failed, note));
    let unknown = jobs.call("job_output", json!({ "id": "other", "wait": "end" })).await;
    assert_eq!((unknown.outcome, unknown.content.contains("there is no job other")), (Failed, true));
}

#[tokio::test]
async fn the_end_of_a_job_whose_output_is_not_kept_can_be_waited_for() {
    let mut jobs = Jobs::new(config());
    let leaves = "(until test -e end; do sleep 0.02; done) >/dev/null 2>&1 &";
    let output = jobs.call("shell", json!({ "command": leaves })).await;
    assert!(output.content.contains("still run, as job"), "{output:?}");
    jobs.started.push(jobs.stage.last_call());
    let call = jobs.stage.last_call();
    let id = &call[call.len() - 8..];
    for what in [json!({ "id": id, "wait": "output" }), json!({ "id": id, "wait": "text", "text": "a" })] {
        let refused = jobs.call("job_output", what).await;
        assert_eq!(refused.content, "what this job prints is not kept: wait for its end with `wait: end`");
    }
    std::fs::write(jobs.stage.root().join("end"), "").expect("written");
    let (outcome, said) = jobs.waits(json!({ "id": id, "wait": "end", "wait_s": 600 })).await;
    assert!(outcome == ToolOutcome::Ok && said.starts_with("[it has ended] [job "), "{said}");
}

#[tokio::test]
async fn a_stop_ends_a_wait_and_leaves_the_job_alone() {
    let mut jobs = Jobs::new(config());
    let id = jobs.start("sleep 1000").await;
    for arguments in [json!({ "id": id, "wait": "end" }), json!({ "id": id, "wait": "text", "text": "x" })] {
        let (waited, ()) = tokio::join!(jobs.waits(arguments), async { jobs.stage.stop() });
        let note = format!("[the wait was stopped by the test] [job {id} is running");
        assert_eq!(waited, (ToolOutcome::Failed, note));
    }
    assert!(!processes::alive(&jobs.started[0]).is_empty());
}

#[tokio::test]
async fn arguments_of_a_wait_that_contradict_each_other_are_refused() {
    let jobs = Jobs::new(config());
    for arguments in [
        json!({ "id": "a", "wait": "text" }),
        json!({ "id": "a", "wait": "end", "text": "x" }),
        json!({ "id": "a", "text": "x" }),
        json!({ "id": "a", "wait_s": 3 }),
    ] {
        let intent = tool(&jobs.tools, "job_output").intent(&arguments, jobs.stage.root(), &jobs.stage.roots);
        assert!(intent.is_err(), "{arguments}");
    }
    let shell = json!({ "command": "cat", "input": true });
    assert!(tool(&jobs.tools, "shell").intent(&shell, jobs.stage.root(), &jobs.stage.roots).is_err());
}

#[tokio::test]
async fn a_job_reads_what_is_written_to_it_until_its_input_is_closed() {
    let mut jobs = Jobs::new(config());
    let id = jobs
        .start_with_input("while read -r line; do echo \"got $line\"; done; echo closed; sleep 1000")
        .await;
    let said = async |arguments: Value| jobs.call("job_input", arguments).await;
    let written = said(json!({ "id": id, "text": "one\ntwo\n" })).await;
    assert_eq!(
        (written.outcome, written.content),
        (ToolOutcome::Ok, format!("8 of 8 bytes were written to job {id}"))
    );
    jobs.shows(&id, "got one\ngot two\n").await;
    let closed = said(json!({ "id": id, "text": "three\n", "close": true })).await;
    assert_eq!(closed.content, format!("6 of 6 bytes were written to job {id}; its input is closed"));
    jobs.shows(&id, "got three\nclosed").await;
    until("nothing is taken any more", async || {
        let more = said(json!({ "id": id, "text": "four\n" })).await;
        more.content == format!("the input of job {id} is closed; 0 of 5 bytes were written")
    })
    .await;
    jobs.call("job_stop", json!({ "id": id })).await;
    assert!(said(json!({ "id": id, "text": "x" })).await.content.contains("there is no job"));
}

#[tokio::test]
async fn a_job_that_cannot_take_input_is_reported() {
    let mut jobs = Jobs::new(config());
    let said = async |jobs: &Jobs, id: &str, text: &str| {
        let output = jobs.call("job_input", json!({ "id": id, "text": text })).await;
        assert_eq!(output.outcome, ToolOutcome::Failed, "{output:?}");
        output.content
    };
    let without = jobs.start("sleep 1000").await;
    assert!(said(&jobs, &without, "x").await.contains("has no input"));
    let deaf = jobs.start_with_input("sleep 1000").await;
    let text = "x".repeat(1 << 20);
    let content = said(&jobs, &deaf, &text).await;
    assert!(content.starts_with(&format!("job {deaf} does not read its input; ")), "{content}");
    assert!(content.ends_with(" of 1048576 bytes were written"), "{content}");
    let gone = jobs.start_with_input("read -r line; exit 3").await;
    jobs.call("job_input", json!({ "id": gone, "text": "x\n" })).await;
    until("it ends", async || jobs.list().await.contains("ended with exit code 3")).await;
    assert_eq!(
        said(&jobs, &gone, "x").await,
        format!("job {gone} has ended with exit code 3; nothing was written")
    );
    let (stopped, ()) = tokio::join!(said(&jobs, &deaf, &text), async { jobs.stage.stop() });
    assert_eq!(stopped, "stopped by the test; 0 of 1048576 bytes were written");
}

#[test]
fn writing_to_a_job_is_an_effect_that_needs_an_approval_as_a_command_does() {
    let tools = shell_tools(config());
    let intent =
        |arguments: Value| tool(&tools, "job_input").intent(&arguments, "/w".as_ref(), &["/w".into()]);
    let write = intent(json!({ "id": "a1", "text": "rm -r b\nls\n" })).expect("an intent");
    assert_eq!((write.class, write.line.as_str()), (EffectClass::External, "write to job a1: rm -r b …"));
    assert_eq!(write.touches, [CallTarget::Command("rm -r b\nls\n".into())]);
    assert_eq!(write.detail.as_deref(), Some("rm -r b\nls\n"));
    let close = intent(json!({ "id": "a1", "close": true })).expect("an intent");
    assert_eq!((close.class, close.line.as_str()), (EffectClass::External, "close the input of job a1"));
    assert!(intent(json!({ "id": "a1" })).is_err());
    for mode in [Mode::Ask, Mode::AllowEdits] {
        let permission = Permission { mode, rules: Vec::new() };
        for intent in [&write, &close] {
            let ruling = permission.settle("job_input", intent, &["/w".into()]).ruling();
            assert_eq!(ruling, Ruling::Ask, "{mode:?} {intent:?}");
        }
    }
}
