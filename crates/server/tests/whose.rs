//! Whose work stands in the way of a plan, in words and as data, and steps that are refused though all of them together are not.

use futures::StreamExt as _;
use retake_wire::reply::Plan;
use retake_wire::{
    Action, AuthorKind, ChoiceOutcome, FileCounts, FilesPlan, MarkVerb, PathPlan, Request, Run, RunEvent,
    RunStart, Verdict,
};

use super::world::{Desk, apply, get, mark, plan, rewind};

/// A conversation in a folder, with turns that each run a shell command there; returns its id.
pub(super) async fn turns(desk: &Desk, scripts: &[&str]) -> String {
    let work = desk.file("work");
    std::fs::create_dir_all(&work).expect("made");
    let id = desk.create(None, work.to_str()).await;
    for script in scripts {
        turn(desk, &id, script).await;
    }
    id
}

pub(super) async fn turn(desk: &Desk, id: &str, script: &str) {
    let run = Run {
        conversation: id.to_owned(),
        folder: None,
        start: RunStart::Exec {
            command: ["sh", "-c", script].map(str::to_owned).to_vec(),
            say: Some(format!("please {script}")),
        },
        files: Default::default(),
        model: None,
        head: None,
        permit: Default::default(),
        request_id: None,
    };
    let mut run = desk.client.run(run).await.expect("started");
    while let Some(event) = run.next().await {
        if let RunEvent::Ended(ended) = event {
            assert!(ended.problem.is_none(), "{ended:?}");
        }
    }
}

async fn planned(desk: &Desk, id: &str, action: Action) -> Plan {
    get!(desk, Plan, plan(id, action))
}

/// The only path of a plan that is left alone.
fn left(plan: Plan) -> PathPlan {
    let left = |path: &PathPlan| matches!(path.verdict, Verdict::Conflict | Verdict::NotEmpty);
    plan.files.expect("files").paths.into_iter().find(left).expect("one is left alone")
}

/// Why a path waits, and its state after each choice.
fn told(path: &PathPlan) -> String {
    let why = path.why.clone().expect("why");
    let outcomes = path.outcomes.iter().map(|after| format!("; {:?}: {}", after.choice, after.words));
    why + &outcomes.collect::<String>()
}

#[tokio::test]
async fn change_of_a_later_turn_names_that_turn() {
    let desk = Desk::new().await;
    let id = turns(&desk, &["echo 1 > a", "true", "echo 3 > a"]).await;
    let path = left(planned(&desk, &id, mark(MarkVerb::Drop, "t1")).await);
    assert_eq!(
        told(&path),
        "t3 changed this file later; Skip: stays as t3 left it, undecided: a later step asks again; \
         Disk: stays as t3 left it and counts as yours: not asked again"
    );
    let against = path.against.expect("whose");
    assert_eq!((against.whose, against.turn), (AuthorKind::Later, Some(3)));
    assert!(against.call.is_some_and(|call| path.calls.iter().all(|own| *own != call)));
    assert_eq!(path.outcomes[0].becomes, ChoiceOutcome::Stays);
    // One turn and one other author.
    std::fs::write(desk.file("work").join("a"), "mine\n").expect("written");
    let path = left(planned(&desk, &id, Action::Undo { count: 1 }).await);
    assert_eq!(
        told(&path),
        "you or another program changed the same place; Skip: stays as it is now, undecided: a later step asks again; \
         Disk: stays as it is now and counts as yours: not asked again; \
         Checkpoint: as t1 left it; undo brings back what it is now; \
         Yours: stays as it is now and counts as yours: not asked again"
    );
    assert_eq!(path.against.expect("whose").whose, AuthorKind::Hand);
}

#[tokio::test]
async fn showing_a_turn_again_reports_files_made_meanwhile() {
    let desk = Desk::new().await;
    let id = turns(&desk, &["echo 1 > new; mkdir d; echo 1 > d/x", "true"]).await;
    desk.apply(&id, mark(MarkVerb::Drop, "t1")).await;
    turn(&desk, &id, "echo 3 > new").await;
    let path = left(planned(&desk, &id, mark(MarkVerb::Show, "t1")).await);
    assert!(told(&path).starts_with("t3 made it later; "), "{}", told(&path));
    assert!(!told(&path).contains("somebody"), "{}", told(&path));
    // Also files that keep a folder.
    let id = turns(&desk, &["mkdir -p e; echo 1 > e/x", "echo 2 > e/y"]).await;
    let path = left(planned(&desk, &id, mark(MarkVerb::Drop, "t1")).await);
    assert_eq!((path.name.path.as_str(), told(&path).as_str()), ("e", "t2 put something into it"));
}

#[tokio::test]
async fn step_that_would_be_refused_alone_is_reported() {
    let desk = Desk::new().await;
    let id = turns(&desk, &["true", "echo 1 > a", "echo 2 > a"]).await;
    let undo = |count| Action::Undo { count };
    assert_eq!(planned(&desk, &id, undo(2)).await.steps.expect("steps").refused, None);
    // Another program removes it: all steps together lead to exactly that, the first one alone does not.
    std::fs::remove_file(desk.file("work").join("a")).expect("removed");
    let steps = planned(&desk, &id, undo(2)).await.steps.expect("steps");
    assert_eq!((steps.done, steps.asked), (0, 2));
    assert_eq!(steps.refused.as_deref(), Some("a: you or another program removed it"));
    let refused = desk.refused(apply(&id, undo(2))).await;
    assert_eq!(refused.code, "conflict", "as the plan says");
    assert_eq!(desk.info(&id).await.counts.turns, 3);
}

/// Rewinds exactly, whatever others wrote.
async fn exactly(desk: &Desk, id: &str, turn: &str) {
    let Request::Apply(mut back) = apply(id, rewind(turn)) else { unreachable!("it applies") };
    back.files.exact = true;
    desk.does(Request::Apply(back)).await;
}

/// The files of a plan, and the counts of its receipt.
async fn plan_and_receipt(desk: &Desk, id: &str, action: Action) -> (FilesPlan, FileCounts) {
    let planned = planned(desk, id, action.clone()).await.files.expect("files");
    let done = desk.apply(id, action).await.files.expect("files").counts;
    (planned, done)
}

#[tokio::test]
async fn restored_content_is_not_attributed_to_others() {
    let desk = Desk::new().await;
    let work = desk.file("work");
    let id = turns(&desk, &["echo hello > a", "echo 1 > r", "echo 2 > r"]).await;
    std::fs::write(work.join("a"), "by hand\n").expect("written");
    std::fs::write(work.join("mine"), "mine\n").expect("written");
    turn(&desk, &id, "echo again > a").await;
    let others = async |action| planned(&desk, &id, action).await.files.expect("files").others;
    assert_eq!(others(mark(MarkVerb::Drop, "t3")).await.paths, ["mine"], "a call has written it since");
    exactly(&desk, &id, "t4").await;
    std::fs::write(work.join("a"), "hello\n").expect("written");
    assert_eq!(others(mark(MarkVerb::Drop, "t3")).await.paths, ["mine"], "it is as t1 left it");
    std::fs::write(work.join("a"), "by hand again\n").expect("written");
    assert_eq!(others(mark(MarkVerb::Drop, "t3")).await.paths, ["a", "mine"]);
}

#[tokio::test]
async fn plan_and_receipt_count_the_same_with_a_manual_edit() {
    let desk = Desk::new().await;
    let id = turns(&desk, &["echo 1 > a; echo 1 > b; mkdir -p d; echo 1 > d/x", "echo 2 > a"]).await;
    std::fs::write(desk.file("work").join("a"), "by hand\n").expect("written");
    exactly(&desk, &id, "t2").await;
    let (plan, done) = plan_and_receipt(&desk, &id, Action::Undo { count: 1 }).await;
    assert_eq!(plan.counts, done);
    assert_eq!((done.merged, done.reverted), (1, 0));
    assert_eq!(plan.paths[0].verdict, Verdict::Merge, "it brings back what a hand wrote, and says so");
    std::fs::write(desk.file("work").join("a"), "2\n").expect("written");
    let (plan, done) = plan_and_receipt(&desk, &id, rewind("t1")).await;
    assert_eq!((plan.counts, done.deleted), (done, 3), "a folder that goes with its files is none of them");
    assert!(plan.paths.iter().any(|path| path.name.path == "d"), "but is listed");
    let (plan, done) = plan_and_receipt(&desk, &id, Action::Undo { count: 1 }).await;
    assert_eq!((plan.counts, done.recreated), (done, 3));
}
