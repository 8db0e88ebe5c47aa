//! An owner under load: requests over its Unix socket, subscribers of one conversation, idle conversations. Clients and owner are
//! one process, so memory counts both ends. Works in a folder of its own that is removed afterwards.

mod desk;

use std::path::Path;
use std::time::Instant;

use futures::future::try_join_all;
use retake_wire::{Action, Request};

use crate::ServerArguments;
use crate::report::Report;
use crate::samples::{at, median};
use crate::store::memory;
use desk::Client;

pub(crate) use desk::{Desk, failed, receipt};

/// The numbers of concurrent clients.
const CROWDS: [u64; 3] = [1, 16, 64];

/// Turns of a short conversation.
const SHORT: u64 = 20;

/// Measures everything.
pub(crate) fn run(arguments: &ServerArguments) -> anyhow::Result<Report> {
    let dir = &arguments.dir;
    let folder = crate::own_folder(dir)?;
    let mut report = Report::default();
    report.text("version", env!("CARGO_PKG_VERSION"));
    report.count("runs", arguments.runs);
    report.count("turns", arguments.turns);
    report.count("subscribers", arguments.subscribers);
    report.count("conversations", arguments.conversations);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(measure(arguments, folder.path(), &mut report))?;
    Ok(report)
}

async fn measure(arguments: &ServerArguments, folder: &Path, report: &mut Report) -> anyhow::Result<()> {
    desk::allow_many_sockets();
    let desk = Desk::open(folder).await?;
    for crowd in CROWDS {
        let clients = try_join_all((0..crowd).map(|_| desk.client(SHORT))).await?;
        requests(&clients, arguments.runs, report).await?;
    }
    fan_out(&desk, arguments.subscribers, report).await?;
    long(&desk, arguments, report).await?;
    let before = memory("VmRSS:")?;
    desk.create(arguments.conversations).await?;
    let grown = memory("VmRSS:")? - before;
    report.measure("idle_conversation_kb", grown * 1024.0 / arguments.conversations as f64);
    let clients = try_join_all((0..CROWDS[2]).map(|_| desk.client(SHORT))).await?;
    let rewinds = self::rewinds(&clients, arguments.runs).await?;
    report.add("many_apply_p50_us", at(&rewinds.times, 50));
    report.add("many_apply_p99_us", at(&rewinds.times, 99));
    desk.close().await;
    Ok(())
}

/// Long conversations: of one client, and of as many as the largest crowd, each in one of its own, compared with short ones. The
/// two alternate after an uncounted warm-up of each, so that neither has colder caches or the remaining work of the import.
async fn long(desk: &Desk, arguments: &ServerArguments, report: &mut Report) -> anyhow::Result<()> {
    let crowd = CROWDS[2];
    let clients = try_join_all((0..crowd).map(|_| desk.client(arguments.turns))).await?;
    let beside = try_join_all((0..crowd).map(|_| desk.client(SHORT))).await?;
    let alone = rewinds(&clients[..1], arguments.runs).await?;
    report.add("long_apply_p50_us", at(&alone.times, 50));
    report.add("long_apply_p99_us", at(&alone.times, 99));
    rewinds(&clients, 1).await?;
    rewinds(&beside, 1).await?;
    let (mut long, mut short) = (Vec::new(), Vec::new());
    for _ in 0..arguments.runs.div_ceil(TURN) {
        long.extend(rewinds(&clients, TURN).await?.times);
        short.extend(rewinds(&beside, TURN).await?.times);
    }
    for (name, times) in [("long", &long), ("short", &short)] {
        report.add(format!("{name}_apply_{crowd}_p50_us"), at(times, 50));
        report.add(format!("{name}_apply_{crowd}_p99_us"), at(times, 99));
    }
    report.measure("long_to_short_64_p50", at(&long, 50) / at(&short, 50));
    report.measure("long_to_short_64_p99", at(&long, 99) / at(&short, 99));
    Ok(())
}

/// Rewinds of each client before the other clients continue.
const TURN: u64 = 5;

/// The memory of a subscriber, both ends counted, and the time until the last one gets a new message: from its sending on, and
/// from the receipt on.
async fn fan_out(desk: &Desk, subscribers: u64, report: &mut Report) -> anyhow::Result<()> {
    let short = desk.client(SHORT).await?;
    let before = memory("VmRSS:")?;
    let mut crowd = desk.follow(short.conversation(), subscribers).await?;
    let grown = memory("VmRSS:")? - before;
    report.measure("subscriber_kb", grown * 1024.0 / subscribers as f64);
    let (mut sent, mut received) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let marker = format!("fan-out-{round}-");
        let start = Instant::now();
        short.say(&marker).await?;
        let receipt = Instant::now();
        try_join_all(crowd.iter_mut().map(|one| one.hears(&marker))).await?;
        sent.push(start.elapsed().as_secs_f64() * 1e6);
        received.push(receipt.elapsed().as_secs_f64() * 1e6);
    }
    report.measure("fan_out_us", median(sent));
    report.measure("fan_out_after_receipt_us", median(received));
    Ok(())
}

/// How many events each subscriber gets.
const ROUNDS: u64 = 5;

/// The waiting times in a crowd, in order, and the total duration.
struct WaitTimes {
    times: Vec<f64>,
    seconds: f64,
}

/// Every kind of request, by all clients at once, each in a conversation of its own.
async fn requests(clients: &[Client], runs: u64, report: &mut Report) -> anyhow::Result<()> {
    let crowd = clients.len();
    let mut tell = |name: &str, waited: &WaitTimes| {
        let rate = waited.times.len() as f64 / waited.seconds;
        report.add(format!("{name}_{crowd}_per_s"), rate);
        report.add(format!("{name}_{crowd}_p50_us"), at(&waited.times, 50));
        report.add(format!("{name}_{crowd}_p99_us"), at(&waited.times, 99));
    };
    // Does nothing: the least cost of a request and its reply, both ends in one process.
    tell("status", &at_once(clients, runs, |_| Request::Status).await?);
    tell("say", &at_once(clients, runs, Client::saying).await?);
    tell("targets", &at_once(clients, runs, Client::targets).await?);
    tell("plan", &at_once(clients, runs, |client| client.plan(client.rewind())).await?);
    tell("apply", &rewinds(clients, runs).await?);
    Ok(())
}

/// Rewinds; each is undone before the next one. The undo is part of the load but not of the times.
async fn rewinds(clients: &[Client], runs: u64) -> anyhow::Result<WaitTimes> {
    let start = Instant::now();
    let all = clients.iter().map(async |client| {
        let mut times = Vec::new();
        for _ in 0..runs {
            times.push(client.waits(client.apply(client.rewind())).await?);
            client.waits(client.apply(Action::Undo { count: 1 })).await?;
        }
        anyhow::Ok(times)
    });
    let times = try_join_all(all).await?.concat();
    // Each rewind and each undo is a request.
    Ok(WaitTimes { times, seconds: start.elapsed().as_secs_f64() / 2.0 })
}

async fn at_once(
    clients: &[Client],
    runs: u64,
    request: impl Fn(&Client) -> Request,
) -> anyhow::Result<WaitTimes> {
    let start = Instant::now();
    let all = clients.iter().map(async |client| {
        let mut times = Vec::new();
        for _ in 0..runs {
            times.push(client.waits(request(client)).await?);
        }
        anyhow::Ok(times)
    });
    let times = try_join_all(all).await?.concat();
    Ok(WaitTimes { times, seconds: start.elapsed().as_secs_f64() })
}

#[cfg(test)]
mod tests {
    use crate::ServerArguments;

    #[test]
    fn everything_is_measured() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().to_owned();
        let arguments =
            ServerArguments { runs: 2, turns: 30, subscribers: 5, conversations: 20, json: true, dir };
        let json = super::run(&arguments).unwrap().json();
        for name in [
            "status_64_p99_us",
            "say_1_per_s",
            "targets_16_p50_us",
            "plan_64_p99_us",
            "apply_64_p99_us",
            "long_apply_p99_us",
            "long_apply_64_p99_us",
            "long_to_short_64_p99",
            "subscriber_kb",
            "fan_out_us",
            "fan_out_after_receipt_us",
            "idle_conversation_kb",
            "many_apply_p99_us",
        ] {
            assert!(json.get(name).is_some_and(|value| value.is_number()), "{name}: {json}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
    }
}
