//! Changes of a command and its child processes, and their changes after it has returned (spec `rewind.md`, case 5).

use retake_engine::FileOptions;

use super::Yard;

/// Waits for a condition that another process makes true.
async fn until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..2000 {
        if is_so() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    panic!("never: {what}");
}

/// A job controlled by files, which reports with files: `go` makes it write, `stop` ends it.
const JOB: &str = "(until [ -e ../stop ]; do [ -e ../go ] && echo job > a && rm ../go; sleep 0.01; done) \
                   > /dev/null 2>&1 &";

/// A turn whose command leaves a job, which writes into `a` later.
async fn with_job() -> Yard {
    let yard = Yard::with(&[("a", "one\n"), ("b", "one\n")]).await;
    yard.run(JOB).await;
    yard
}

impl Yard {
    /// Has the job write.
    async fn job_writes(&self) {
        std::fs::write(self.path("../go"), "").expect("written");
        until("the job writes", || !self.path("../go").exists()).await;
    }

    /// Ends the job, and waits for its end.
    async fn job_ends(&self) {
        std::fs::write(self.path("../stop"), "").expect("written");
        let id = self.engine.kept().open_calls().await.expect("calls")[0].id.clone();
        until("the job ends", || !alive(&id)).await;
    }

    /// The lines of all calls with changes.
    async fn calls(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (_, entry) in self.engine.kept().deltas(self.id).await.expect("deltas") {
            let called = self.engine.called(self.id, entry).await.expect("it is there");
            lines.extend(called.asked.into_iter().map(|asked| asked.arguments));
        }
        lines
    }

    /// The turns whose calls a plan would revert, for each path.
    async fn blamed(&self, turn: &str) -> Vec<String> {
        let plan = self.plan(self.rewind(turn).await, FileOptions::default()).await;
        let deltas = self.engine.kept().deltas(self.id).await.expect("deltas");
        let mut told = Vec::new();
        for path in plan.files.into_iter().flat_map(|folder| folder.plan.paths) {
            for out in &path.out {
                let (_, entry) = deltas.iter().find(|(line, _)| line.id == *out).expect("it is there");
                let shown =
                    self.engine.kept().shown(self.id, *entry).await.expect("it").expect("it is there");
                let turn = shown.entry.expect("sound").meta.totals.turns;
                told.push(format!("{} {:?} t{turn}", path.path, path.verdict));
            }
        }
        told
    }
}

/// Whether a process of a call is running.
fn alive(call: &str) -> bool {
    let mark = format!("RETAKE_CALL={call}");
    let processes = std::fs::read_dir("/proc").expect("processes");
    processes.flatten().any(|process| {
        let environ = std::fs::read(process.path().join("environ")).unwrap_or_default();
        environ.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes())
    })
}

#[tokio::test]
async fn rewind_case_05_what_a_command_changes_by_any_means_is_taken_back() {
    for script in [
        "echo two > a",
        "sed -i s/one/two/ a",
        "sh -c 'sh -c \"echo two > a\"'",
        "echo 'echo two > a' > build.sh; sh build.sh; rm build.sh",
        "echo two > b; mv b a",
        "(echo two > a) & wait",
    ] {
        let yard = Yard::with(&[("a", "one\n"), ("b", "one\n")]).await;
        let before = yard.all();
        yard.run(script).await;
        assert_eq!(yard.read("a").as_deref(), Some("two\n"), "{script}");
        yard.back("t1").await;
        assert_eq!(yard.all(), before, "{script}");
    }
}

#[tokio::test]
async fn rewind_case_05_what_a_job_changes_after_its_call_is_kept_and_the_call_named() {
    let yard = with_job().await;
    yard.run("echo two > b").await;
    yard.job_writes().await;
    assert_eq!(yard.blamed("t2").await, ["b Kept t2"], "it is not known who wrote while the job ran");
    yard.job_ends().await;
    assert_eq!(yard.blamed("t1").await, ["a Kept t1", "b Kept t2"]);
    assert_eq!(yard.uncertain("t1").await, ["a Job", "b Job"]);
    let named = yard.calls().await;
    assert!(named.iter().all(|line| line.contains(r#"["sh","-c","#)), "{named:?}");
    assert!(named.iter().any(|line| line.contains("../go")), "{named:?}");
    yard.back("t1").await;
    assert_eq!(yard.read("a").as_deref(), Some("job\n"), "it is kept");
    yard.undo().await;
    assert_eq!(yard.blamed("t1").await, ["a Kept t1", "b Kept t2"]);
}

#[tokio::test]
async fn changes_of_a_job_during_a_stop_of_the_owner_are_its_own_after_a_restart() {
    let yard = with_job().await;
    let yard = yard.restarted().await;
    yard.job_writes().await;
    yard.job_ends().await;
    let yard = yard.restarted().await;
    assert_eq!(yard.blamed("t1").await, ["a Kept t1"]);
    assert_eq!(yard.uncertain("t1").await, ["a Job"], "its call had a result");
    assert!(yard.engine.kept().open_calls().await.expect("calls").is_empty(), "it has ended");
    yard.write("a", "mine\n");
    yard.run("echo three > b").await;
    assert_eq!(yard.blamed("t2").await, ["b Revert t2"], "a call is alone again");
}

#[tokio::test]
async fn another_conversations_job_makes_a_change_ambiguous_in_both() {
    let yard = with_job().await;
    let other = yard.another().await;
    other.run("echo two > b").await;
    assert_eq!(other.blamed("t1").await, ["b Kept t1"]);
    yard.job_ends().await;
    assert_eq!(yard.blamed("t1").await, ["b Kept t1"], "it may have been the job");
}

#[tokio::test]
async fn processes_of_a_rewound_call_are_ended_first() {
    let yard = with_job().await;
    yard.run("echo two > b").await;
    let (action, before) = (yard.rewind("t1").await, yard.all());
    let plan = yard.plan(action.clone(), FileOptions::default()).await;
    assert_eq!(plan.running.iter().map(|running| running.processes > 0).collect::<Vec<_>>(), [true]);
    assert!(yard.plan(yard.rewind("t2").await, FileOptions::default()).await.running.is_empty(), "it stays");
    let refused = yard.apply(action.clone(), FileOptions::default()).await.expect_err("refused");
    assert_eq!((refused.code, yard.turns().await, yard.all()), ("still_running", 2, before));
    let id = yard.engine.kept().open_calls().await.expect("calls")[0].id.clone();
    yard.apply(action, FileOptions { stop: true, ..FileOptions::default() }).await.expect("done");
    assert!(!alive(&id) && yard.engine.kept().open_calls().await.expect("calls").is_empty());
    assert_eq!(yard.turns().await, 0);
    yard.undo().await;
    assert_eq!(yard.read("b").as_deref(), Some("two\n"));
}

#[tokio::test]
async fn a_process_that_does_not_want_to_end_is_made_to() {
    let yard = Yard::with(&[("a", "one\n")]).await;
    yard.run("(trap '' TERM; while :; do sleep 0.01; done) > /dev/null 2>&1 &").await;
    let id = yard.engine.kept().open_calls().await.expect("calls")[0].id.clone();
    assert!(alive(&id));
    let options = FileOptions { stop: true, ..FileOptions::default() };
    yard.apply(yard.rewind("t1").await, options).await.expect("done");
    assert!(!alive(&id));
}

#[tokio::test]
async fn a_conversation_alone_goes_back_beside_what_still_runs() {
    let yard = with_job().await;
    yard.apply(yard.rewind("t1").await, super::scope(retake_engine::Scope::Conversation))
        .await
        .expect("done");
    yard.job_writes().await;
    assert_eq!(yard.turns().await, 0);
    yard.job_ends().await;
}
