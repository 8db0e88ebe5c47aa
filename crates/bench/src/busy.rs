//! An owner during a long rewind: how fast it replies to other requests. The rewind removes as many files as its turn created.
//! Works in a folder of its own that is removed afterwards.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, bail};
use futures::StreamExt as _;
use retake_wire::request::{Apply, ConversationTarget, Create, Plan};
use retake_wire::{
    Action, Client as _, FileOptions, HttpClient, Permit, Problem, Request, Run, RunEvent, RunStart,
};

use crate::BusyArguments;
use crate::report::Report;
use crate::samples::at;
use crate::server::{Desk, failed, receipt};

/// Measures everything.
pub(crate) fn run(arguments: &BusyArguments) -> anyhow::Result<Report> {
    let dir = &arguments.dir;
    let folder = crate::own_folder(dir)?;
    let mut report = Report::default();
    report.text("version", env!("CARGO_PKG_VERSION"));
    report.count("files", arguments.files);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(measure(arguments, folder.path(), &mut report))?;
    Ok(report)
}

async fn measure(arguments: &BusyArguments, folder: &Path, report: &mut Report) -> anyhow::Result<()> {
    let desk = Desk::open(folder).await?;
    let http = desk.http()?;
    let large = begin(&http, &folder.join("large")).await?;
    let other = begin(&http, &folder.join("other")).await?;
    let files = format!("mkdir d && cd d && seq -f f%g {} | xargs touch", arguments.files);
    exec(&http, &large, &files).await?;
    exec(&http, &other, "true").await?;
    for (name, action) in
        [("rewind", Action::Rewind { entry: "t1".into() }), ("undo", Action::Undo { count: 1 })]
    {
        let apply = Request::Apply(Apply {
            conversation: large.clone(),
            action,
            head: None,
            since: false,
            files: FileOptions::default(),
            request_id: None,
        });
        let applying = desk.http()?;
        let start = Instant::now();
        let applied = tokio::spawn(async move { applying.call(apply).await });
        // It waits until no folder is in use, and must not delay others meanwhile.
        let (erasing, erase) = (desk.http()?, plan_of_erasure(&other));
        let erased = tokio::spawn(async move { erasing.call(erase).await });
        let (mut status, mut stop, mut command) = (Vec::new(), Vec::new(), Vec::new());
        while !applied.is_finished() {
            status.push(time(http.call(Request::Status)).await?);
            // There is no run to stop: this measures the time until that reply.
            stop.push(
                time(http.call(Request::Cancel(ConversationTarget { conversation: other.clone() }))).await?,
            );
            stop.push(
                time(http.call(Request::Cancel(ConversationTarget { conversation: large.clone() }))).await?,
            );
            let began = Instant::now();
            exec(&http, &other, "true").await?;
            command.push(began.elapsed().as_secs_f64() * 1e3);
        }
        applied.await?.map_err(failed)?;
        report.add(format!("{name}_s"), start.elapsed().as_secs_f64());
        erased.await?.map_err(failed)?;
        for (what, times) in [("status", &status), ("stop", &stop), ("command_elsewhere", &command)] {
            report.add(format!("{name}_{what}_p50_ms"), at(times, 50));
            report.add(format!("{name}_{what}_p99_ms"), at(times, 99));
            report.add(format!("{name}_{what}_max_ms"), at(times, 100));
        }
    }
    desk.close().await;
    Ok(())
}

/// A plan to erase a text that does not exist.
fn plan_of_erasure(conversation: &str) -> Request {
    Request::Plan(Plan {
        conversation: conversation.to_owned(),
        action: Action::Erase { entries: Vec::new(), matching: Some("not in any message".into()) },
        files: FileOptions::default(),
        diff: false,
    })
}

/// Milliseconds until the reply. Any refusal but that nothing runs is an error of the benchmark.
async fn time<T>(call: impl Future<Output = Result<T, Problem>>) -> anyhow::Result<f64> {
    let start = Instant::now();
    match call.await {
        Err(problem) if &*problem.code != "not_running" => Err(failed(problem)),
        Ok(_) | Err(_) => Ok(start.elapsed().as_secs_f64() * 1e3),
    }
}

/// A new conversation in a new folder.
async fn begin(http: &HttpClient, folder: &Path) -> anyhow::Result<String> {
    std::fs::create_dir(folder)?;
    let folder = Some(folder.to_str().context("a folder whose name is UTF-8")?.to_owned());
    Ok(receipt(http.call(Request::Create(Create { folder, ..Create::default() })).await)?.conversation)
}

/// Runs a command to its end, in a turn of its own.
async fn exec(http: &HttpClient, conversation: &str, script: &str) -> anyhow::Result<()> {
    let command = ["sh", "-c", script].map(str::to_owned).to_vec();
    let run = Run {
        conversation: conversation.to_owned(),
        folder: None,
        start: RunStart::Exec { command, say: Some("go on".into()) },
        model: None,
        head: None,
        permit: Permit::default(),
        files: FileOptions::default(),
        request_id: None,
    };
    let mut events = http.run(run).await.map_err(failed)?;
    while let Some(event) = events.next().await {
        if let RunEvent::Ended(ended) = event {
            return match ended.problem {
                Some(problem) => Err(failed(problem)),
                None => Ok(()),
            };
        }
    }
    bail!("the command's events ended before it did")
}
