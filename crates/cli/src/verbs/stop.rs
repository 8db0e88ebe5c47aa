//! `retake stop`: stops the owner.

use std::time::Duration;

use clap::Args;
use retake_tui::hint::Audience;
use retake_wire::reply::JobAtWork;
use retake_wire::{ProblemKind, Reply, Request};

use super::RunVerb;
use crate::connection::{AWAY, LOST};
use crate::context::{Context, document};
use crate::error::{Result, expect_reply, problem};
use crate::owner::FoundOwner;
use crate::process_end::ProcessEnd;
use crate::term::safe;

/// How long the owner may take: it lets runs finish first, and stops them after a while.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often to check whether it can still be reached.
const LOOK: Duration = Duration::from_millis(50);

/// Stop the process that owns the conversations; runs have ten seconds to finish
#[derive(Debug, Args)]
pub(crate) struct Stop {}

impl RunVerb for Stop {
    const EXAMPLES: &'static [&'static str] = &["retake stop"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let Some(FoundOwner { client, process }) = cx.owner.find(cx.paths).await? else {
            let none = "no process owns the conversations now\n";
            return cx.print(&if cx.json { document(&Reply::Done) } else { none.to_owned() });
        };
        let status =
            expect_reply!(client.call(Request::Status).await.map_err(|it| Audience::Shell.word(it))?, Status);
        let gone = process.map(ProcessEnd::of);
        let jobs = status.beside.jobs_at_work.into_iter();
        let jobs: Vec<_> =
            jobs.map(|job| (job.pids.iter().copied().map(ProcessEnd::of).collect(), job)).collect();
        match client.call(Request::Stop).await {
            // It may have ended before the request or before its reply.
            Err(problem) if [AWAY, LOST].contains(&&*problem.code) => {}
            told => drop(told.map_err(|it| Audience::Shell.word(it))?),
        }
        let is_gone = match gone {
            Some(gone) => gone.wait_for(PATIENCE).await,
            None => tokio::time::timeout(PATIENCE, is_away(cx)).await.is_ok(),
        };
        if !is_gone {
            let what = format!(
                "the owner (process {}) has not stopped within {} seconds",
                status.pid,
                PATIENCE.as_secs()
            );
            return Err(problem(ProblemKind::Refused, "still_there", what).into());
        }
        // Background jobs outlive the owner.
        let left: Vec<JobAtWork> = jobs.into_iter().filter_map(|(ends, job)| still(ends, job)).collect();
        if !cx.json {
            return cx.print(&format!("stopped\n{}", describe(&left)));
        }
        let mut done = serde_json::to_value(&Reply::Done).expect("BUG: a reply is JSON");
        if !left.is_empty() {
            done["jobs"] = serde_json::to_value(&left).expect("BUG: jobs are JSON");
        }
        cx.print(&document(&done))
    }
}

/// A job, with those of its processes that have not ended.
fn still(ends: Vec<ProcessEnd>, mut job: JobAtWork) -> Option<JobAtWork> {
    let lives = |(pid, end): (u32, ProcessEnd)| (!end.has_ended()).then_some(pid);
    job.pids = job.pids.into_iter().zip(ends).filter_map(lives).collect();
    (!job.pids.is_empty()).then_some(job)
}

/// The jobs that continue, and how to stop them.
fn describe(left: &[JobAtWork]) -> String {
    let mut text = match left.len() {
        0 => return String::new(),
        1 => "1 background job continues:\n".to_owned(),
        count => format!("{count} background jobs continue:\n"),
    };
    for job in left {
        let pids = job.pids.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        text.push_str(&format!("  {} (`kill {pids}` stops it)\n", safe::line(&job.command)));
    }
    text.push_str("/jobs in the conversation lists them, and `/jobs stop ID` stops one\n");
    text
}

/// Waits until the owner cannot be reached: its process may be invisible, in another pid namespace.
async fn is_away(cx: &Context<'_>) {
    while cx.owner.find(cx.paths).await.is_ok_and(|found| found.is_some()) {
        tokio::time::sleep(LOOK).await;
    }
}
