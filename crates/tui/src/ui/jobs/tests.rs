//! Tests of the background jobs, driven by keys and answers of a script. Must never ask a real owner.

use retake_wire::reply::{JobPrinted, Jobs as All};

use super::*;
use crate::ui::testing::{World, conversation, every_key, problem, sizes, themes};

fn job(id: &str, command: &str, running: bool, printed: u64) -> JobLine {
    let exit_code = (!running).then_some(1);
    let (job, command, printed) = (id.to_owned(), command.to_owned(), Some(printed));
    JobLine { job, command, running, exit_code, printed, ..JobLine::default() }
}

fn all(printed: u64) -> Reply {
    let server = job("call-2", "npm run dev -- --port 3000 # 漢字 \x1b[2J", true, printed);
    Reply::Jobs(All { jobs: vec![server, job("call-1", "cargo test", false, 1_234)], more: false })
}

fn owner(request: &Request) -> Option<Result<Reply, Problem>> {
    Some(Ok(match request {
        Request::Jobs(_) => all(40),
        Request::JobStop(_) => {
            Reply::Jobs(All { jobs: vec![job("call-2", "npm run dev", false, 40)], more: false })
        }
        Request::JobOutput(of) => {
            let text = "ready on port 3000\n\x1b[31mGET /\x1b[0m 200\n".to_owned();
            Reply::JobOutput(JobPrinted { job: job(&of.job, "npm run dev", true, 40), from: 0, text, to: 40 })
        }
        _ => return None,
    }))
}

fn opened() -> (Jobs, World) {
    let mut world = World { conversation: Some(conversation("c1", None, "a talk", 3)), ..World::default() };
    let mut jobs = Jobs::new();
    jobs.opened(&mut world.cx());
    (jobs, world)
}

fn filled() -> (Jobs, World) {
    let (mut jobs, mut world) = opened();
    world.answer(&mut jobs, owner);
    (jobs, world)
}

#[test]
fn jobs_in_every_size_and_theme() {
    let (mut jobs, _) = filled();
    insta::assert_snapshot!("few", sizes(&mut jobs));
    insta::assert_snapshot!("themes", themes(&mut jobs, 110, 8));
}

#[test]
fn loading_empty_and_failed_lists_are_shown() {
    let (mut jobs, mut world) = opened();
    insta::assert_snapshot!("loading", sizes(&mut jobs));
    world.answer(&mut jobs, |_| Some(Ok(Reply::Jobs(All::default()))));
    insta::assert_snapshot!("empty", sizes(&mut jobs));
    let (mut jobs, mut world) = opened();
    world.answer(&mut jobs, |_| Some(Err(problem("the jobs can't be listed"))));
    insta::assert_snapshot!("wrong", sizes(&mut jobs));
}

#[test]
fn a_job_is_stopped_by_a_second_key() {
    let (mut jobs, mut world) = filled();
    world.press(&mut jobs, "enter esc");
    assert!(world.wants.is_empty() && world.asked().is_empty(), "it only thinks better of it");
    world.press(&mut jobs, "enter enter");
    world.answer(&mut jobs, owner);
    assert!(jobs.rows.items().all(|job| !job.0.running));
    world.press(&mut jobs, "enter");
    assert!(matches!(world.wants.pop(), Some(PaneInstruction::Say(_))), "it has ended");
    world.press(&mut jobs, "esc");
    assert!(matches!(world.wants.pop(), Some(PaneInstruction::Close)));
}

#[test]
fn output_of_a_job_is_polled() {
    let (mut jobs, mut world) = filled();
    jobs.tick(&mut world.cx());
    assert_eq!(world.asked().len(), 0, "not so soon");
    world.passed_ms = AGAIN_MS;
    jobs.tick(&mut world.cx());
    let asked = world.asked();
    let [(ticket, Request::Jobs(_))] = asked.as_slice() else { panic!("{asked:?}") };
    jobs.replied(*ticket, Ok(all(80)), &mut world.cx());
    let asked = world.asked();
    assert!(matches!(asked.as_slice(), [(_, Request::JobOutput(_))]), "{asked:?}");
}

#[test]
fn the_other_half_takes_all_the_room_and_a_click_selects() {
    let (mut jobs, mut world) = filled();
    let _ = sizes(&mut jobs);
    jobs.clicked((5, 3).into(), &mut world.cx());
    assert_eq!(jobs.rows.selected().map(Row::key), Some("call-1"));
    world.answer(&mut jobs, owner);
    world.press(&mut jobs, "c a r g o up tab shift+down");
    jobs.changed(&mut world.cx());
    world.answer(&mut jobs, owner);
    insta::assert_snapshot!(sizes(&mut jobs));
}

#[test]
fn every_key_does_something() {
    let script = |request: &Request| match request {
        Request::Jobs(_) => {
            let jobs =
                (0..60).rev().map(|number| job(&format!("call-{number}"), "npm run dev", true, 9)).collect();
            Some(Ok(Reply::Jobs(All { jobs, more: false })))
        }
        Request::JobOutput(of) => {
            let text = (0..40).map(|line| format!("line {line}\n")).collect();
            let job = job(&of.job, "npm run dev", true, 9);
            Some(Ok(Reply::JobOutput(JobPrinted { job, from: 0, text, to: 40 })))
        }
        _ => owner(request),
    };
    let make = || {
        let (mut jobs, mut world) = opened();
        world.answer(&mut jobs, script);
        world.press(&mut jobs, "n down down down");
        world.answer(&mut jobs, script);
        let _ = sizes(&mut jobs);
        world.press(&mut jobs, "shift+down shift+down");
        (jobs, world)
    };
    every_key(make, &[]);
}
