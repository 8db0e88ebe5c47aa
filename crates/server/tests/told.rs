//! The plan's information about calls and files: the author of a command, unknown effects, the counts, and why a file is
//! listed.

use std::sync::atomic::{AtomicBool, Ordering};

use retake_wire::reply::Plan;
use retake_wire::{
    Action, Choice, Choose, FileName, FileOptions, FilesPlan, MarkVerb, PathPlan, Request, Role, Verdict,
    request,
};

use super::whose::{turn, turns};
use super::world::{Desk, called, get, mark, plan, rewind, said};

async fn planned(desk: &Desk, id: &str, action: Action) -> Plan {
    get!(desk, Plan, plan(id, action))
}

async fn files(desk: &Desk, id: &str, action: Action) -> FilesPlan {
    planned(desk, id, action).await.files.expect("files")
}

/// Each path with this property.
fn those(plan: &FilesPlan, is: impl Fn(&PathPlan) -> bool) -> Vec<&str> {
    plan.paths.iter().filter(|path| is(path)).map(|path| path.name.path.as_str()).collect()
}

/// Records a call of a tool by the model.
async fn calls(desk: &Desk, id: &str, tool: &str, arguments: &str) {
    let part = called("c1", tool, arguments);
    let say = request::Say { parts: vec![part], ..said(id, Role::Assistant, "") };
    desk.does(Request::Say(say)).await;
}

#[tokio::test]
async fn command_of_a_person_is_shown_as_theirs() {
    let desk = Desk::new().await;
    let id = turns(&desk, &["true"]).await;
    let gone = planned(&desk, &id, rewind("t1")).await.timeline.gone;
    let told: Vec<_> = gone.iter().map(|line| (line.preview.as_str(), line.ran_by.is_some())).collect();
    assert_eq!(told, [("please true", false), ("$ sh -c true", true), ("[no output]", false)]);
    assert_eq!(gone[1].ran_by, desk.timeline(&id).await.1.into_iter().nth(1).map(|entry| entry.author));
    calls(&desk, &id, "shell", r#"{"command":"true"}"#).await;
    let gone = planned(&desk, &id, rewind("t1")).await.timeline.gone;
    assert_eq!((gone[3].preview.as_str(), &gone[3].ran_by), ("[calls shell]", &None), "the model's own");
}

#[tokio::test]
async fn failed_command_shows_its_exit() {
    let desk = Desk::new().await;
    let id = turns(&desk, &["echo 1; exit 3"]).await;
    let gone = planned(&desk, &id, rewind("t1")).await.timeline.gone;
    assert_eq!(gone[2].preview, "failed: it ended with exit code 3");
}

#[tokio::test]
async fn plan_says_that_effects_of_an_interrupted_call_are_unknown() {
    let desk = Desk::new().await;
    let (id, _) = desk.talk(&["one"]).await;
    calls(&desk, &id, "exec", r#"{"command":["make","it"]}"#).await;
    let not_known = "what `$ make it` did is not known: it was cut off before there was a result";
    let stays = async |action| planned(&desk, &id, action).await.stays;
    assert!(stays(rewind("t1")).await.iter().any(|line| line == not_known));
    desk.say(&id, Role::User, "two").await;
    assert!(stays(rewind("t1")).await.iter().any(|line| line == not_known), "also of an earlier turn");
    assert!(!stays(rewind("t2")).await.iter().any(|line| line == not_known), "it stays");
    // A call that had not started has done nothing.
    calls(&desk, &id, "shell", r#"{"command":"make it"}"#).await;
    assert!(!stays(rewind("t2")).await.iter().any(|line| line.contains("not known")));
}

#[tokio::test]
async fn file_kept_by_an_earlier_step_is_reported() {
    let desk = Desk::new().await;
    let id = turns(&desk, &["echo 1 > a", "echo 2 > b"]).await;
    assert!(those(&files(&desk, &id, rewind("t2")).await, |path| path.kept).is_empty());
    let name = FileName { path: "b".to_owned(), path_base64: None };
    let skips = FileOptions { choose: vec![Choose { name, choice: Choice::Skip }], ..FileOptions::default() };
    let rewound = request::Apply {
        conversation: id.clone(),
        action: rewind("t2"),
        head: None,
        since: false,
        files: skips,
        request_id: None,
    };
    desk.does(Request::Apply(rewound)).await;
    let plan = files(&desk, &id, rewind("t1")).await;
    assert_eq!(those(&plan, |_| true), ["a", "b"]);
    assert_eq!(those(&plan, |path| path.kept), ["b"]);
}

#[tokio::test]
async fn folders_removed_with_their_files_are_not_counted() {
    let desk = Desk::new().await;
    let id = turns(&desk, &["mkdir -p d/e; echo 1 > d/e/f; echo 1 > d/g; echo 1 > h; mkdir empty"]).await;
    let plan = files(&desk, &id, rewind("t1")).await;
    assert_eq!(those(&plan, |path| path.full_folder), ["d", "d/e"]);
    assert_eq!(plan.counts.deleted, 4);
    // Conflicts: a later turn changed all of it.
    turn(&desk, &id, "chmod 700 d d/e; echo 2 > d/e/f; echo 2 > d/g; echo 2 > h").await;
    let plan = files(&desk, &id, mark(MarkVerb::Drop, "t1")).await;
    let waits = |path: &PathPlan| path.verdict == Verdict::Conflict;
    assert_eq!(those(&plan, waits), ["d", "d/e", "d/e/f", "d/g", "h"]);
    assert_eq!(plan.conflicts, 3, "{:?}", plan.paths);
}

#[tokio::test]
async fn call_with_several_captures_is_counted_once() {
    let desk = Desk::new().await;
    let id = turns(&desk, &[]).await;
    let work = desk.file("work");
    let script = "echo 1 > a; while ! test -e go; do sleep 0.01; done; echo 2 > a; rm go";
    let seen = async {
        let mut looks = 0..6_000;
        while !work.join("a").exists() && looks.next().is_some() {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        let plan = files(&desk, &id, rewind("t1")).await;
        assert_eq!((plan.calls.len(), plan.calls[0].ended_ms), (1, None), "it runs");
        std::fs::write(work.join("go"), "").expect("written");
    };
    tokio::join!(turn(&desk, &id, script), seen);
    let plan = files(&desk, &id, rewind("t1")).await;
    assert_eq!(plan.calls.len(), 1, "{:?}", plan.calls);
    assert!(plan.paths.iter().all(|path| path.calls == [plan.calls[0].entry.clone()]), "{:?}", plan.paths);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plan_of_several_steps_captures_the_folder_once() {
    let desk = Desk::new().await;
    let id = turns(&desk, &["echo 1 > a", "echo 2 > a", "echo 3 > a", "echo 4 > a", "echo 5 > a"]).await;
    let captures = async || {
        let page = request::Page { conversation: id.clone(), before: None, limit: Some(50) };
        get!(desk, Captures, Request::FilesLog(page)).captures.len()
    };
    let before = captures().await;
    // Every capture finds something new.
    let (other, is_over) = (desk.file("work").join("other"), AtomicBool::new(false));
    let plan = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut number = 0_u64;
            while !is_over.load(Ordering::SeqCst) {
                number += 1;
                std::fs::write(&other, number.to_string()).expect("written");
            }
        });
        while !other.exists() {
            std::thread::yield_now();
        }
        let plan = tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(planned(&desk, &id, Action::Undo { count: 5 }))
        });
        is_over.store(true, Ordering::SeqCst);
        plan
    });
    assert_eq!(plan.steps.map(|steps| (steps.done, steps.asked)), Some((5, 5)));
    assert_eq!(captures().await, before + 1);
}
