//! Identical calls in a row: they are refused, and a run that goes on with them ends.

use retake_core::Mode;
use retake_engine::{NotRun, Outcome, RunEvent};
use retake_testkit::{ModelOutput, calls, words};
use serde_json::{Value, json};

use super::Desk;

/// So many answers with this call, then words.
fn loops(times: usize, tool: &str, arguments: &Value) -> Vec<Vec<ModelOutput>> {
    let calls = (0..times).map(|_| calls(&[(tool, arguments.clone())]));
    calls.chain([words("done")]).collect()
}

/// Runs a loop of one call; returns how often the call ran, how often it was refused, and the error of the run.
async fn turn(desk: &Desk, tool: &str, arguments: Value) -> (usize, usize, Option<&'static str>) {
    let (ended, told) = desk.turn("try", loops(8, tool, &arguments)).await;
    let refused = told.iter().filter(|line| line.contains("was made 3 times in a row")).count();
    let ran = told.iter().filter(|line| line.starts_with('→')).count() - refused;
    assert_eq!(ended.outcome == Outcome::Interrupted, ended.error.is_some());
    (ran, refused, ended.error.map(|error| error.code))
}

#[tokio::test]
async fn an_identical_call_in_a_row_is_refused_and_then_the_run_ends() {
    let again = Some("repeated_calls");
    for (tool, arguments, expected) in [
        ("list", json!({}), (3, 3, again)),
        ("read", json!({ "path": "missing" }), (3, 3, again)),
        ("no_such", json!({}), (3, 3, again)),
        ("shell", json!({ "command": "exit 3" }), (3, 3, again)),
        // Its result changes, or the files do.
        ("shell", json!({ "command": "echo x >> n; wc -l < n" }), (8, 0, None)),
        ("shell", json!({ "command": "echo x >> n" }), (8, 0, None)),
        // It looks at something that goes on.
        ("job_list", json!({}), (8, 0, None)),
    ] {
        let desk = Desk::new(Mode::AllowAll).await;
        assert_eq!(turn(&desk, tool, arguments.clone()).await, expected, "{tool} {arguments}");
    }
}

#[tokio::test]
async fn a_denied_call_is_asked_about_three_times_at_most() {
    let desk = Desk::new(Mode::Ask).await;
    loops(4, "write", &json!({ "path": "n", "content": "x" }))
        .into_iter()
        .for_each(|answer| desk.script.then(answer));
    let events = desk.say("write").await;
    let mut asked = 0;
    let mut deny = |_: &_| {
        asked += 1;
        Some(retake_engine::Decision::Deny(None))
    };
    let (ended, told) = desk.follow(events, &mut deny).await;
    assert_eq!((asked, ended.outcome), (3, Outcome::Succeeded), "{told:?}");
}

#[tokio::test]
async fn the_model_and_clients_get_the_reason_of_a_refused_repeat() {
    use futures::StreamExt as _;
    let desk = Desk::new(Mode::AllowAll).await;
    loops(4, "list", &json!({})).into_iter().for_each(|answer| desk.script.then(answer));
    let events: Vec<RunEvent> = desk.say("list").await.collect().await;
    let reasons = events.into_iter().filter_map(|event| match event {
        RunEvent::Called(ended) => ended.not_run,
        _ => None,
    });
    let reasons: Vec<NotRun> = reasons.collect();
    assert!(matches!(&reasons[..], [NotRun::Refused(retake_core::CallRefusal::Repeated(3))]), "{reasons:?}");
    let asked = format!("{:?}", desk.script.asked().messages.last());
    assert!(asked.contains("do something else") && asked.contains("job_output"), "{asked}");
    // A new message begins a new count.
    let (ended, told) = desk.turn("again", loops(3, "list", &json!({}))).await;
    assert!(ended.error.is_none() && !told.iter().any(|line| line.contains("in a row")), "{told:?}");
}
