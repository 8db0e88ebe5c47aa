//! `retake stop`: ends the owner.

use std::time::Duration;

use clap::Args;
use retake_wire::reply::JobAtWork;
use retake_wire::{ProblemKind, Reply, Request};

use crate::context::document;
use crate::error::{Result, problem};
use crate::gone::Gone;
use crate::owner::{Owner, Places, Reached};
use crate::term::safe;
use crate::ui::Ui;
use crate::watched::{AWAY, LOST};

/// How long it may take: what runs may end first, and what does not is stopped.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often it is looked whether it can still be reached.
const LOOK: Duration = Duration::from_millis(50);

/// End the process that owns the conversations; what runs may end first, for ten seconds
#[derive(Debug, Args)]
pub(crate) struct Stop {}

impl Stop {
    /// Does it.
    pub(crate) async fn run(self, owner: &dyn Owner, places: &Places, ui: &mut dyn Ui, json: bool) -> Result {
        let Some(Reached { client, process }) = owner.find(places).await? else {
            let text =
                if json { document(&Reply::Done) } else { "nobody owns the conversations now\n".to_owned() };
            return Ok(ui.print(&text)?);
        };
        let Reply::Status(status) = client.call(Request::Status).await? else {
            return Err(
                problem(ProblemKind::Internal, "strange_answer", "the owner does not say how it is").into()
            );
        };
        let gone = process.map(Gone::of);
        let jobs = status.jobs_at_work.into_iter();
        let jobs: Vec<_> = jobs.map(|job| (job.pids.iter().copied().map(Gone::of).collect(), job)).collect();
        match client.call(Request::Stop).await {
            // It may have ended before it could be told, or before it said so.
            Err(problem) if [AWAY, LOST].contains(&&*problem.code) => {}
            told => drop(told?),
        }
        let is_gone = match gone {
            Some(gone) => gone.within(PATIENCE).await,
            None => tokio::time::timeout(PATIENCE, is_away(owner, places)).await.is_ok(),
        };
        if !is_gone {
            let what = format!(
                "the owner (process {}) was told to stop, and is still there after {} seconds",
                status.pid,
                PATIENCE.as_secs()
            );
            return Err(problem(ProblemKind::Refused, "still_there", what).into());
        }
        // They outlive the owner.
        let left: Vec<JobAtWork> = jobs.into_iter().filter_map(|(ends, job)| still(ends, job)).collect();
        if !json {
            return Ok(ui.print(&format!("stopped\n{}", told(&left)))?);
        }
        let mut done = serde_json::to_value(&Reply::Done).expect("BUG: a reply is JSON");
        if !left.is_empty() {
            done["jobs"] = serde_json::to_value(&left).expect("BUG: jobs are JSON");
        }
        Ok(ui.print(&document(&done))?)
    }
}

/// A job, with those of its processes that have not ended.
fn still(ends: Vec<Gone>, mut job: JobAtWork) -> Option<JobAtWork> {
    let lives = |(pid, end): (u32, Gone)| (!end.is_over()).then_some(pid);
    job.pids = job.pids.into_iter().zip(ends).filter_map(lives).collect();
    (!job.pids.is_empty()).then_some(job)
}

/// What goes on, and how it is ended.
fn told(left: &[JobAtWork]) -> String {
    let mut text = match left.len() {
        0 => return String::new(),
        1 => "1 background job goes on:\n".to_owned(),
        count => format!("{count} background jobs go on:\n"),
    };
    for job in left {
        let pids = job.pids.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        text.push_str(&format!("  {} (`kill {pids}` ends it)\n", safe::line(&job.command)));
    }
    text.push_str("/jobs in its conversation shows one, and `/jobs stop ID` ends it\n");
    text
}

/// Waits until the owner can't be reached any more: all that can be known of one whose process is not seen here.
async fn is_away(owner: &dyn Owner, places: &Places) {
    while owner.find(places).await.is_ok_and(|found| found.is_some()) {
        tokio::time::sleep(LOOK).await;
    }
}
