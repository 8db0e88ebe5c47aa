//! Commands that continue in the background.

use std::sync::Arc;

use retake_core::ToolOutcome;
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
