//! Jobs: commands that continue in the background. A job consists of a fact of the conversation and of its log file, so that
//! it is the same job after a restart. No state is kept in memory. A job must never be reported as ended while one of its
//! processes runs.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use retake_core::{Fact, Intent, ToolOutcome};
use rustix::fs::OFlags;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::follow::{self, CommandLaunch, Started};
use super::script::{Spool, code_of, is_log_of};
use super::stand::StartFolder;
use super::waiting::{Wait, WaitFor};
use super::{Arguments, ShellTool, add_lines};
use crate::arguments;
use crate::call::{Call, Output, Piece};
use crate::files::PathBase;
use crate::input_frames;
use crate::own::{OwnTool, read_only_intent};
use crate::spooled_output::{BOUND, plain, whole};

/// The prefix of keys of jobs.
const KEY: &str = "job/";

/// How long a job is watched for an early failure.
const EARLY: Duration = Duration::from_secs(1);

/// The number of characters of a call's id in its job's name for people.
const SHORT: usize = 8;

/// What a fact says of a job.
#[derive(Deserialize, Serialize)]
struct Job {
    command: String,
    /// What it prints; nothing where that is not kept.
    log: Option<PathBuf>,
}

/// A job that the conversation knows of.
pub(super) struct RecordedJob {
    pub(super) call: String,
    job: Job,
}

impl RecordedJob {
    async fn all(of: &Call) -> Vec<Self> {
        let facts = of.host.facts(KEY).await;
        let spools = of.spool.parent().unwrap_or(&of.spool);
        let known = |fact: Fact| {
            let call = fact.key.strip_prefix(KEY)?.to_owned();
            let mut job: Job = serde_json::from_str(&fact.value).ok()?;
            job.log = job.log.filter(|log| is_log_of(spools, &call, log));
            Some(Self { call, job })
        };
        facts.into_iter().filter_map(known).collect()
    }

    pub(super) async fn of(call: &Call, id: &str) -> Result<Self, String> {
        let mut all = Self::all(call).await;
        all.retain(|known| !id.is_empty() && (known.call == id || known.call.ends_with(id)));
        match all.len() {
            0 => Err(format!("there is no job {id}; job_list names those there are")),
            1 => Ok(all.remove(0)),
            _ => Err(format!("the ids of several jobs end in {id}; give more of the id")),
        }
    }

    /// Whether it still runs, or how it ended.
    pub(super) async fn state(&self) -> String {
        match follow::alive(&self.call).await {
            0 => self.code().map_or("ended".to_owned(), |code| format!("ended with exit code {code}")),
            _ => "running".to_owned(),
        }
    }

    /// The file that it prints to.
    pub(super) fn log(&self) -> Option<&Path> {
        self.job.log.as_deref()
    }

    fn code(&self) -> Option<i32> {
        code_of(self.job.log.as_ref()?)
    }
}

/// The name of a job for people and models.
pub(super) fn short(call: &str) -> &str {
    let from = call.char_indices().rev().nth(SHORT - 1).map_or(0, |(at, _)| at);
    &call[from..]
}

/// The fact of a job.
pub(super) fn fact(call: &Call, command: &str, log: Option<PathBuf>) -> Fact {
    let job = Job { command: command.to_owned(), log };
    let value = serde_json::to_string(&job).expect("BUG: a job is JSON");
    Fact::new(format!("{KEY}{}", call.id), value)
}

/// The note on processes that a command left running.
pub(super) fn left(call: &Call, living: usize) -> String {
    let id = short(&call.id);
    format!(
        "[{living} of its processes still run, as job {id}; what they print from now on is lost: end them with job_stop, or \
         start such a command with `background`]"
    )
}

impl ShellTool {
    /// Starts a job; returns after an early failure, or while it runs.
    pub(super) async fn background(&self, call: &Call, given: &Arguments) -> std::io::Result<Output> {
        let (command, net) = (given.command.as_str(), self.config.network.of(given.network));
        let stand = StartFolder::of(call).await;
        let spool = Spool::open(&call.spool, &call.id)?;
        let log = crate::kept::options().create(true).append(true).open(&spool.log)?;
        let input = match (given.input, &self.config.supervisor) {
            (true, Some(_)) => Some(input_frames::create(&spool.log)?),
            (true, None) => return Err(std::io::Error::other("without a supervisor, no job has an input")),
            (false, _) => None,
        };
        let job = Some(self.config.log);
        let line = CommandLaunch { job, input, net, ..self.line(command, &stand.folder) };
        let Started { mut child, group } = line.start(call, &spool, log.into()).await?;
        let mut early = call.host.sleep(EARLY);
        let (is_stopped, goes_on) = tokio::select! {
            biased;
            () = call.host.stopped() => (true, false),
            _ = child.wait() => (false, false),
            () = &mut early => (false, true),
        };
        if is_stopped {
            follow::end(call, child.id()).await;
        }
        if let Some(Ok(group)) = group
            && goes_on
            && !group.is_joined()
        {
            group.leave();
        }
        let known = RecordedJob {
            call: call.id.clone(),
            job: Job { command: command.to_owned(), log: Some(spool.log) },
        };
        let mut output = started(call, known, is_stopped).await;
        let has_failed = output.outcome == ToolOutcome::Failed && !is_stopped;
        let closed = if has_failed { self.was_closed(net, &output.content) } else { None };
        add_lines(&mut output.content, [closed, stand.remark]);
        Ok(output)
    }
}

/// The note on a job that was just started.
async fn started(call: &Call, known: RecordedJob, is_stopped: bool) -> Output {
    let printed = read(&known.job, LogPart::End).map_or_else(|error| error, |read| read.text);
    if !printed.is_empty() {
        call.host.tell(Piece { text: printed.clone() }).await;
    }
    let mut output = Output::ok(printed);
    let living = follow::alive(&known.call).await;
    output.lives = living > 0;
    let id = short(&call.id);
    let said = if living > 0 {
        output.facts.push(fact(call, &known.job.command, known.job.log));
        format!("[it goes on as job {id}: job_output shows what it prints, job_stop ends it]")
    } else {
        let code = known.code();
        output.outcome = if code == Some(0) { ToolOutcome::Ok } else { ToolOutcome::Failed };
        match code {
            _ if is_stopped => format!("[{}]", call.host.stopped_by()),
            Some(code) => format!("[it has ended already, with exit code {code}: there is no job]"),
            None => "[it has ended already: there is no job]".to_owned(),
        }
    };
    add_lines(&mut output.content, [Some(said)]);
    output
}

/// What of a log is wanted.
enum LogPart {
    /// The end.
    End,
    /// So many lines of the end.
    Lines(usize),
    /// What comes from a byte on.
    From(u64),
}

/// What was read of a log.
struct Excerpt {
    text: String,
    from: u64,
    to: u64,
    len: u64,
}

/// Opens the log of a job; neither waits nor follows a link.
pub(super) fn open(log: &Path) -> std::io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed();
    File::options().read(true).custom_flags(flags).open(log)
}

/// Reads a part of a job's output, up to the limit for the model.
fn read(job: &Job, slice: LogPart) -> Result<Excerpt, String> {
    let Some(log) = &job.log else { return Err("[what it prints is not kept]".to_owned()) };
    let fail = |error: std::io::Error| format!("[can't read {}: {error}]", log.display());
    let mut file = open(log).map_err(fail)?;
    let len = file.metadata().map_err(fail)?.len();
    let mut from = match slice {
        LogPart::From(from) => from.min(len),
        LogPart::End | LogPart::Lines(_) => len.saturating_sub(BOUND as u64),
    };
    file.seek(SeekFrom::Start(from)).map_err(fail)?;
    let mut bytes = Vec::new();
    file.take(BOUND as u64).read_to_end(&mut bytes).map_err(fail)?;
    let start = match slice {
        LogPart::From(_) => 0,
        LogPart::End if from == 0 => 0,
        LogPart::End => memchr::memchr(b'\n', &bytes).map_or(0, |end| end + 1),
        LogPart::Lines(lines) => {
            let ends = memchr::memrchr_iter(b'\n', bytes.strip_suffix(b"\n").unwrap_or(&bytes));
            ends.take(lines.max(1)).nth(lines.max(1) - 1).map_or(0, |end| end + 1)
        }
    };
    bytes.truncate(whole(&bytes));
    let to = from + bytes.len() as u64;
    from += start as u64;
    Ok(Excerpt { text: plain(&bytes[start.min(bytes.len())..]), from, to, len: len.max(to) })
}

/// Which part of what a job printed.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OutputArguments {
    /// The id of the job, from `shell` or `job_list`.
    id: String,
    /// The byte to begin at, as the last answer named it. Default: the end of the output is shown.
    from: Option<u64>,
    /// Show only this number of lines from the end.
    tail: Option<usize>,
    /// Wait first: until it ends (`end`), prints something after the byte `from` or after now (`output`), or prints `text` after the
    /// byte `from` or at any time (`text`).
    wait: Option<WaitFor>,
    /// The text that `wait: text` waits for.
    text: Option<String>,
    /// The time limit of the wait in seconds, at most 600. Default: 60.
    wait_s: Option<u64>,
}

/// A job to be ended.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StopArguments {
    /// The id of the job, from `shell` or `job_list`.
    id: String,
}

/// Nothing.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListArguments {}

/// Reads what a job printed.
pub(super) struct JobOutput;

/// Ends a job.
pub(super) struct JobStop;

/// Lists the jobs.
pub(super) struct JobList;

#[async_trait]
impl OwnTool for JobOutput {
    type Arguments = OutputArguments;
    const NAME: &'static str = "job_output";
    const ABOUT: &'static str = "Shows the output of a background job so far, and whether it still runs.";
    const MAY_REPEAT: bool = true;

    fn intent(&self, given: OutputArguments, _: &PathBase) -> Result<Intent, String> {
        let id = arguments::line(&given.id);
        let line = match Wait::of(given.wait, given.text, given.wait_s)? {
            Some(_) => format!("wait for job {id}"),
            None => format!("read the output of job {id}"),
        };
        Ok(read_only_intent(line, Vec::new()))
    }

    async fn call(&self, call: Call, given: OutputArguments) -> Result<Output, String> {
        let known = RecordedJob::of(&call, &given.id).await?;
        let wait = Wait::of(given.wait, given.text, given.wait_s)?;
        let mut from = given.from;
        let mut waited = None;
        if known.log().is_none() && wait.as_ref().is_some_and(Wait::is_for_output) {
            return Err("what this job prints is not kept: wait for its end with `wait: end`".to_owned());
        }
        if let Some(wait) = &wait {
            from = wait.from(known.log(), from);
            waited = Some(wait.wait(&call, &known.call, known.log(), from).await);
        }
        // Checked first: output before its end is then included.
        let state = known.state().await;
        let slice = match (from, given.tail) {
            (Some(from), _) => LogPart::From(from),
            (None, Some(lines)) => LogPart::Lines(lines),
            (None, None) => LogPart::End,
        };
        let id = short(&known.call);
        let (text, more) = match (known.log(), &wait) {
            (None, Some(_)) => (String::new(), format!("[job {id} is {state}; what it prints is not kept]")),
            _ => {
                let Excerpt { text, from, to, len } = read(&known.job, slice)?;
                let more =
                    format!("[job {id} is {state}; bytes {from} to {to} of {len}; go on with from: {to}]");
                (text, more)
            }
        };
        let mut output = Output::ok(text);
        let said = wait.zip(waited).map(|(wait, waited)| {
            if !wait.is_met(waited) {
                output.outcome = ToolOutcome::Failed;
            }
            wait.said(waited, call.host.stopped_by())
        });
        add_lines(&mut output.content, [said, Some(more)]);
        Ok(output)
    }
}

#[async_trait]
impl OwnTool for JobStop {
    type Arguments = StopArguments;
    const NAME: &'static str = "job_stop";
    const ABOUT: &'static str = "Stops a background job with all its processes.";
    const IS_PARALLEL: bool = false;

    fn intent(&self, given: StopArguments, _: &PathBase) -> Result<Intent, String> {
        Ok(read_only_intent(format!("end job {}", arguments::line(&given.id)), Vec::new()))
    }

    async fn call(&self, call: Call, given: StopArguments) -> Result<Output, String> {
        let known = RecordedJob::of(&call, &given.id).await?;
        let (id, before) = (short(&known.call), follow::alive(&known.call).await);
        if !follow::end_processes(call.host.as_ref(), &known.call, None).await {
            return Err(format!("job {id} can't be ended: some of its processes don't end"));
        }
        if let Some(log) = known.log() {
            // Most jobs have none.
            let _ = std::fs::remove_file(input_frames::path_of(log));
        }
        let said = match before {
            0 => format!("job {id} had ended already"),
            _ => format!("job {id} is ended; all its processes are gone"),
        };
        Ok(Output { facts: vec![Fact::new(format!("{KEY}{}", known.call), "")], ..Output::ok(said) })
    }
}

#[async_trait]
impl OwnTool for JobList {
    type Arguments = ListArguments;
    const NAME: &'static str = "job_list";
    const ABOUT: &'static str = "Lists the background jobs, and whether each still runs.";
    const MAY_REPEAT: bool = true;

    fn intent(&self, _: ListArguments, _: &PathBase) -> Result<Intent, String> {
        Ok(read_only_intent("list the jobs".to_owned(), Vec::new()))
    }

    async fn call(&self, call: Call, _: ListArguments) -> Result<Output, String> {
        let mut lines = Vec::new();
        for known in RecordedJob::all(&call).await {
            let state = known.state().await;
            lines.push(format!("{} · {state} · {}", short(&known.call), arguments::line(&known.job.command)));
        }
        Ok(if lines.is_empty() { Output::ok("There are no jobs.") } else { Output::ok(lines.join("\n")) })
    }
}
