//! `retake-bench`: measures what users wait for. For development only; must never touch a user's data directory.

mod ask;
mod busy;
mod files;
mod gateway;
mod memory;
mod outbox;
mod report;
mod sample_tree;
mod samples;
mod server;
mod start;
mod store;
mod text;
mod tui;
mod turn;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Parser, Subcommand};

/// Measures what users wait for.
#[derive(Debug, Parser)]
#[command(version, about)]
struct Arguments {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Debug, Subcommand)]
enum Bench {
    /// The store, on a fresh data directory that is removed afterwards.
    Store(StoreArguments),
    /// Captures and restores of a folder's copy, beside git doing the same.
    Files(FilesArguments),
    /// A turn with a model and tools that take no time: what remains is Retake's own time.
    Turn(TurnArguments),
    /// An owner with many clients and subscribers at once, over its socket.
    Server(ServerArguments),
    /// An owner during a long rewind: how fast it replies to other requests.
    Busy(BusyArguments),
    /// `retake ask` as a process of its own, with a running owner and with one that it starts.
    Ask(AskArguments),
    /// The terminal client, drawn into memory, in a long conversation of a real owner.
    Tui(TuiArguments),
    /// Deliveries to hooks: their number in a second, their delay, and what they cost a message and a rewind.
    Outbox(OutboxArguments),
    /// A chat whose platform takes no time: messages in a second, and rewinds with posts.
    Gateway(GatewayArguments),
    /// What a turn recalls, with facts in few and in many conversations.
    Memory(MemoryArguments),
    /// Creates a folder like a source tree, the same each time, for measurements.
    Tree(TreeArguments),
}

/// The arguments of `store`.
#[derive(Clone, Debug, clap::Args)]
struct StoreArguments {
    /// Entries of the measured conversation.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(100..=100_000_000))]
    entries: u64,
    /// Concurrent writers, each waiting for its receipt before the next say.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    writers: u64,
    /// Prints one JSON object instead of a table.
    #[arg(long)]
    json: bool,
    /// The folder for the data directory.
    #[arg(long, default_value = ".")]
    dir: PathBuf,
    /// Measures each of these lengths and prints how the first compares with the others.
    #[arg(long, value_delimiter = ',', num_args = 1.., conflicts_with = "entries")]
    compare: Vec<u64>,
}

/// The arguments of `files`.
#[derive(Clone, Debug, clap::Args)]
struct FilesArguments {
    /// The folder to measure with. It is copied, never written to.
    #[arg(long)]
    tree: PathBuf,
    /// Prints one JSON object instead of a table.
    #[arg(long)]
    json: bool,
    /// The folder for the copy [default: the parent of the tree, on the same disk]
    #[arg(long)]
    dir: Option<PathBuf>,
    /// The number of repetitions; medians are shown.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(5..=1000))]
    runs: u64,
    /// Measures only rewinds with the whole program: some minutes instead of half an hour.
    #[arg(long)]
    rewinds: bool,
}

/// The arguments of `turn`.
#[derive(Clone, Debug, clap::Args)]
struct TurnArguments {
    /// Files in the agent's folder.
    #[arg(long, default_value_t = 50_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    files: u64,
    /// Entries of the long conversation whose memory is measured.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    entries: u64,
    /// The number of turns of each kind; medians are shown.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(3..=100_000))]
    runs: u64,
    /// Prints one JSON object instead of a table.
    #[arg(long)]
    json: bool,
    /// The folder for all files.
    #[arg(long, default_value = ".")]
    dir: PathBuf,
}

/// The arguments of `server`.
#[derive(Clone, Debug, clap::Args)]
struct ServerArguments {
    /// The number of requests of each kind per client.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(2..=100_000))]
    runs: u64,
    /// Turns of the long conversation.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(20..=1_000_000))]
    turns: u64,
    /// The number of subscribers of one conversation.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    subscribers: u64,
    /// The number of idle conversations.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    conversations: u64,
    /// Prints one JSON object instead of a table.
    #[arg(long)]
    json: bool,
    /// The folder for the data directory.
    #[arg(long, default_value = ".")]
    dir: PathBuf,
}

/// The arguments of `busy`.
#[derive(Clone, Debug, clap::Args)]
struct BusyArguments {
    /// Files that the rewind removes.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    files: u64,
    /// Prints one JSON object instead of a table.
    #[arg(long)]
    json: bool,
    /// The folder for all files.
    #[arg(long, default_value = ".")]
    dir: PathBuf,
}

/// The arguments of `ask`.
#[derive(Clone, Debug, clap::Args)]
struct AskArguments {
    /// The number of runs of each command; medians are shown.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(2..=10_000))]
    runs: u64,
    /// The measured program [default: `retake` beside this one]
    #[arg(long)]
    retake: Option<PathBuf>,
    /// Prints one JSON object instead of a table.
    #[arg(long)]
    json: bool,
    /// The folder for all files.
    #[arg(long, default_value = ".")]
    dir: PathBuf,
}

/// The arguments of `tui`.
#[derive(Clone, Debug, clap::Args)]
struct TuiArguments {
    /// Turns of the conversation.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(20..=1_000_000))]
    turns: u64,
    /// The number of keys pressed during an answer.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(5..=100_000))]
    keys: u64,
    /// Words per second of the model meanwhile.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    words: u64,
    /// The program whose start is measured [default: `retake` beside this one, if it exists]
    #[arg(long)]
    retake: Option<PathBuf>,
    /// Prints one JSON object instead of a table.
    #[arg(long)]
    json: bool,
    /// The folder for the data directory.
    #[arg(long, default_value = ".")]
    dir: PathBuf,
}

/// The arguments of `outbox`.
#[derive(Clone, Debug, clap::Args)]
struct OutboxArguments {
    /// Messages that wait while a rewind is measured.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(10..=1_000_000))]
    items: u64,
    /// The number of repetitions; medians are shown.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(5..=100_000))]
    runs: u64,
    /// Prints one JSON object instead of a table.
    #[arg(long)]
    json: bool,
    /// The folder for the data directories.
    #[arg(long, default_value = ".")]
    dir: PathBuf,
}

/// The arguments of `gateway`.
#[derive(Clone, Debug, clap::Args)]
struct GatewayArguments {
    /// Messages that arrive one after the other.
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u64).range(5..=100_000))]
    messages: u64,
    /// The most posts of a rewind: 10, 100 or 1,000.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(10..=1000))]
    most: u64,
    /// Prints one JSON object instead of a table.
    #[arg(long)]
    json: bool,
    /// The folder for the data directory.
    #[arg(long, default_value = ".")]
    dir: PathBuf,
}

/// The arguments of `memory`.
#[derive(Clone, Debug, clap::Args)]
struct MemoryArguments {
    /// Conversations that remember a fact, beside the measurement with ten of them.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(10..=1_000_000))]
    conversations: u64,
    /// The number of repetitions; medians are shown.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u64).range(5..=100_000))]
    runs: u64,
    /// Prints one JSON object instead of a table.
    #[arg(long)]
    json: bool,
    /// The folder for the data directories.
    #[arg(long, default_value = ".")]
    dir: PathBuf,
}

/// The arguments of `tree`.
#[derive(Clone, Debug, clap::Args)]
struct TreeArguments {
    /// The number of files.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    files: u64,
    /// The folder; it must be empty or not exist.
    #[arg(long)]
    to: PathBuf,
}

/// A folder of its own, which is removed with its value.
fn own_folder(dir: &Path) -> anyhow::Result<tempfile::TempDir> {
    tempfile::Builder::new()
        .prefix("retake-bench-")
        .tempdir_in(dir)
        .with_context(|| format!("cannot make a folder in {}; choose another one with --dir", dir.display()))
}

fn main() -> ExitCode {
    let done = match Arguments::parse().bench {
        Bench::Store(arguments) => run(&arguments),
        Bench::Files(arguments) => run_files(&arguments),
        Bench::Turn(arguments) => {
            turn::run(&arguments.dir, arguments.files, arguments.entries, arguments.runs)
                .and_then(|report| print(&report, arguments.json))
        }
        Bench::Server(arguments) => server::run(&arguments).and_then(|report| print(&report, arguments.json)),
        Bench::Busy(arguments) => busy::run(&arguments).and_then(|report| print(&report, arguments.json)),
        Bench::Ask(arguments) => ask::run(&arguments).and_then(|report| print(&report, arguments.json)),
        Bench::Tui(arguments) => tui::run(&arguments).and_then(|report| print(&report, arguments.json)),
        Bench::Gateway(arguments) => {
            gateway::run(&arguments).and_then(|report| print(&report, arguments.json))
        }
        Bench::Outbox(arguments) => outbox::run(&arguments).and_then(|report| print(&report, arguments.json)),
        Bench::Memory(arguments) => memory::run(&arguments).and_then(|report| print(&report, arguments.json)),
        Bench::Tree(arguments) => sample_tree::make(&arguments.to, arguments.files),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Standard error may be closed.
            let _ = writeln!(io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &StoreArguments) -> anyhow::Result<()> {
    let lengths = match arguments.compare.as_slice() {
        [] => vec![arguments.entries],
        lengths => lengths.to_vec(),
    };
    let reports = store::run(&arguments.dir, &lengths, arguments.writers)?;
    let text = match (arguments.json, reports.as_slice()) {
        (true, [report]) => report.json().to_string(),
        (true, reports) => report::compared(reports).to_string(),
        (false, reports) => report::table(reports),
    };
    writeln!(io::stdout(), "{text}")?;
    Ok(())
}

fn run_files(arguments: &FilesArguments) -> anyhow::Result<()> {
    let (report, missing) = files::run(arguments)?;
    for what in missing {
        writeln!(io::stderr(), "warning: {what}")?;
    }
    print(&report, arguments.json)
}

/// Prints a report as a table, or as one JSON object.
fn print(report: &report::Report, json: bool) -> anyhow::Result<()> {
    let text = if json { report.json().to_string() } else { report::table(std::slice::from_ref(report)) };
    writeln!(io::stdout(), "{text}")?;
    Ok(())
}
