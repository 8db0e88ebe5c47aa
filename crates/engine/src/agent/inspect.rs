//! The agent's state for people: its to-do list, jobs and usage. Read from the path each time, so it always matches the
//! conversation. Must never change the conversation; it only ends a job on request.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use retake_core::{ConversationId, Fact, PageRequest, Projection, Reading, Role, Usage};
use retake_tools::{code_of, is_log_of, processes};
use serde_json::Value;

use crate::Engine;
use crate::error::{EngineError, Kind, Result};

/// The most bytes of a job's output in one reading.
const MOST: u64 = 32 << 10;

/// How long a job has to end after it was signalled.
const TO_END: Duration = Duration::from_secs(3);

/// The most entries in one reading.
const PAGE: usize = 500;

/// A task of the to-do list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Todo {
    /// Its text.
    pub text: String,
    /// Its state.
    pub state: TodoState,
}

/// The state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TodoState {
    /// Not started.
    Pending,
    /// In progress.
    Doing,
    /// Done.
    Done,
}

/// A background command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobShown {
    /// The call.
    pub call: String,
    /// The command.
    pub command: String,
    /// Whether any of its processes runs.
    pub running: bool,
    /// When it started, if its file system knows when its log was created.
    pub since: Option<SystemTime>,
    /// Its exit code, if known.
    pub code: Option<i32>,
    /// The size of its stored output; none if no output is stored.
    pub printed: Option<u64>,
    log: Option<PathBuf>,
}

/// A part of a job's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobPrinted {
    /// The job.
    pub job: JobShown,
    /// Where the text begins, in bytes.
    pub from: u64,
    /// The text.
    pub text: String,
    /// Where the text ends, in bytes.
    pub to: u64,
}

/// The usage of the answers of one model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Used {
    /// The model.
    pub model: String,
    /// The number of answers.
    pub answers: u64,
    /// The number of answers without a known usage.
    pub unknown: u64,
    /// The sum of the known usage.
    pub usage: Usage,
    /// Their cost in US dollars, if it is known for each answer.
    pub cost: Option<f64>,
}

/// The content of a fact about a job.
struct JobFact {
    command: String,
    log: Option<PathBuf>,
}

/// The to-do list in a fact; none if another version wrote it in another form.
fn items(list: &str) -> Option<Vec<Todo>> {
    let list: Value = serde_json::from_str(list).ok()?;
    let item = |item: &Value| {
        let state = match item["state"].as_str()? {
            "pending" => TodoState::Pending,
            "doing" => TodoState::Doing,
            "done" => TodoState::Done,
            _ => return None,
        };
        Some(Todo { text: item["text"].as_str()?.to_owned(), state })
    };
    list.as_array()?.iter().map(item).collect()
}

/// The prefix of keys of facts about jobs.
pub(crate) const JOBS: &str = "job/";

/// The call whose job a fact describes.
pub(super) fn job_of(fact: &Fact) -> Option<&str> {
    fact.key.strip_prefix(JOBS)
}

/// The job that a fact describes.
fn noted(fact: &str) -> Option<JobFact> {
    let fact: Value = serde_json::from_str(fact).ok()?;
    Some(JobFact {
        command: fact["command"].as_str()?.to_owned(),
        log: fact["log"].as_str().map(PathBuf::from),
    })
}

impl Engine {
    /// The agent's to-do list on the path.
    pub async fn todo(&self, conversation: ConversationId) -> Result<Vec<Todo>> {
        let list = self.store().fact(conversation, "todo".to_owned()).await?;
        Ok(list.and_then(|list| items(&list)).unwrap_or_default())
    }

    /// The background jobs on the path. With `before`, only jobs that began before it.
    ///
    /// # Errors
    ///
    /// No job has that name, or several jobs have it.
    pub async fn jobs_of(&self, conversation: ConversationId, before: Option<&str>) -> Result<Vec<JobShown>> {
        let facts = self.store().facts(conversation, JOBS.to_owned()).await?;
        let mut jobs = self.jobs_of_facts(facts).await?;
        if let Some(name) = before {
            jobs.truncate(job_named(&jobs, name)?);
        }
        Ok(jobs)
    }

    /// The jobs in these facts, in their current state.
    async fn jobs_of_facts(&self, facts: Vec<Fact>) -> Result<Vec<JobShown>> {
        let spool = self.parts().agent.as_ref().map(|config| config.spool.clone()).unwrap_or_default();
        let jobs = facts.iter().filter_map(|fact| Some((job_of(fact)?.to_owned(), noted(&fact.value)?)));
        let jobs: Vec<_> = jobs.collect();
        aside(move || jobs.into_iter().map(|(call, noted)| look(call, noted, &spool)).collect()).await
    }

    /// The commands of jobs that came back to the path and have ended without success, most likely by a rewind: no step
    /// starts a process again.
    pub(crate) async fn ended_since(
        &self,
        conversation: ConversationId,
        before: &[Fact],
    ) -> Result<Vec<String>> {
        let known: Vec<String> = before.iter().filter_map(|fact| job_of(fact)).map(str::to_owned).collect();
        let facts = self.store().facts(conversation, JOBS.to_owned()).await?;
        if facts.iter().filter_map(job_of).eq(known.iter()) {
            return Ok(Vec::new());
        }
        let jobs = self.jobs_of_facts(facts).await?.into_iter();
        let new = jobs.filter(|job| !known.contains(&job.call));
        Ok(new.filter(|job| !job.running && job.code != Some(0)).map(|job| job.command).collect())
    }

    /// A part of a job's output: from a byte on, or its end.
    pub async fn job_output(
        &self,
        conversation: ConversationId,
        name: &str,
        from: Option<u64>,
    ) -> Result<JobPrinted> {
        let job = self.job(conversation, name).await?;
        aside(move || printed(job, from)).await?
    }

    /// Ends a job with all its processes.
    pub async fn job_stop(&self, conversation: ConversationId, name: &str) -> Result<()> {
        let job = self.job(conversation, name).await?;
        let call = job.call.clone();
        let gone = aside(move || {
            processes::stop(None, &call, false);
            processes::wait_gone(&call, TO_END) || processes::end(None, &call)
        });
        if gone.await? {
            return Ok(());
        }
        let what = format!("can't end the job `{}`: some of its processes don't end", job.command);
        Err(EngineError::new(Kind::Refused, "still_running", what)
            .with("job", job.call)
            .with("command", job.command))
    }

    /// The job with this name. A unique beginning or end of its call's name is enough.
    async fn job(&self, conversation: ConversationId, name: &str) -> Result<JobShown> {
        let mut jobs = self.jobs_of(conversation, None).await?;
        let at = job_named(&jobs, name)?;
        Ok(jobs.swap_remove(at))
    }

    /// The usage of the answers on the path and of their subagents, by model, in the order of their first answers.
    pub async fn used(
        &self,
        conversation: ConversationId,
        cost: impl Fn(&str, &Usage) -> Option<f64>,
    ) -> Result<Vec<Used>> {
        let mut all = self.used_by(conversation, &cost).await?;
        for (_, subagent) in self.store().subagents(conversation).await? {
            for used in self.used_by(subagent.id, &cost).await? {
                match all.iter_mut().find(|known| known.model == used.model) {
                    Some(known) => known.join(&used),
                    None => all.push(used),
                }
            }
        }
        Ok(all)
    }

    /// The same without subagents.
    async fn used_by(
        &self,
        conversation: ConversationId,
        cost: impl Fn(&str, &Usage) -> Option<f64>,
    ) -> Result<Vec<Used>> {
        let mut all: Vec<Used> = Vec::new();
        let reading = Reading::now(Projection::Timeline);
        let mut before = None;
        loop {
            let page = PageRequest { before, after: None, limit: PAGE };
            let page = self.store().page(conversation, reading, page).await?;
            let entries: Vec<_> = page.entries.into_iter().filter_map(|shown| shown.entry.ok()).collect();
            before = entries.first().map(|entry| entry.meta.id);
            for entry in entries.iter().rev().filter(|entry| entry.meta.role == Role::Assistant) {
                let at = all.iter().position(|used| used.model == entry.author).unwrap_or(all.len());
                if at == all.len() {
                    all.push(Used { model: entry.author.clone(), cost: Some(0.0), ..Used::default() });
                }
                // The path is read from its end, so the first answer is read last.
                let mut used = all.remove(at);
                used.add(entry.usage.as_ref(), &cost);
                all.push(used);
            }
            if !page.earlier || before.is_none() {
                all.reverse();
                return Ok(all);
            }
        }
    }
}

impl Used {
    fn add(&mut self, usage: Option<&Usage>, cost: impl Fn(&str, &Usage) -> Option<f64>) {
        self.answers += 1;
        let usage = usage.copied().unwrap_or_default();
        self.unknown += u64::from(usage == Usage::default());
        self.sum(&usage);
        self.cost = self.cost.zip(cost(&self.model, &usage)).map(|(all, one)| all + one);
    }

    /// Adds the usage of other answers of this model.
    fn join(&mut self, other: &Self) {
        self.answers += other.answers;
        self.unknown += other.unknown;
        self.sum(&other.usage);
        self.cost = self.cost.zip(other.cost).map(|(all, one)| all + one);
    }

    fn sum(&mut self, usage: &Usage) {
        let sum = |a: Option<u64>, b: Option<u64>| a.map_or(b, |a| Some(a + b.unwrap_or(0)));
        self.usage.input_tokens = sum(self.usage.input_tokens, usage.input_tokens);
        self.usage.cached_input_tokens = sum(self.usage.cached_input_tokens, usage.cached_input_tokens);
        self.usage.output_tokens = sum(self.usage.output_tokens, usage.output_tokens);
    }
}

/// The place of a named job in a list.
fn job_named(jobs: &[JobShown], name: &str) -> Result<usize> {
    let is_named = |job: &JobShown| job.call.starts_with(name) || job.call.ends_with(name);
    let mut named = (0..jobs.len()).filter(|at| !name.is_empty() && is_named(&jobs[*at]));
    match (named.next(), named.next()) {
        (Some(at), None) => Ok(at),
        (None, _) => {
            Err(EngineError::new(Kind::NotFound, "no_job", format!("there is no job {name:?}"))
                .with("job", name))
        }
        _ => Err(EngineError::new(Kind::NotFound, "several_jobs", format!("several jobs are {name:?}"))
            .with("job", name)),
    }
}

/// The current state of a job. Reads only its own call's log in the spool.
fn look(call: String, noted: JobFact, spool: &Path) -> JobShown {
    let log = noted.log.filter(|log| is_log_of(spool, &call, log));
    let meta = log.as_ref().and_then(|log| std::fs::metadata(log).ok());
    JobShown {
        running: !processes::alive(&call).is_empty(),
        since: meta.as_ref().and_then(|meta| meta.created().ok()),
        code: log.as_deref().and_then(code_of),
        printed: meta.map(|meta| meta.len()),
        command: noted.command,
        call,
        log,
    }
}

fn printed(job: JobShown, from: Option<u64>) -> Result<JobPrinted> {
    let (id, command) = (job.call.clone(), job.command.clone());
    let fail = |error: std::io::Error| {
        let what = format!("can't read what the job `{command}` has printed");
        let failure = EngineError::new(Kind::Storage, "no_output", what)
            .with("what", "unreadable")
            .with("job", id.as_str())
            .with("command", command.as_str());
        EngineError { cause: Some(Arc::new(error)), ..failure }
    };
    let Some(log) = &job.log else {
        let what = format!("what the job `{command}` prints is not kept");
        return Err(EngineError::new(Kind::NotFound, "no_output", what)
            .with("what", "not_kept")
            .with("job", id)
            .with("command", command));
    };
    let mut file = std::fs::File::open(log).map_err(fail)?;
    let len = file.metadata().map_err(fail)?.len();
    let from = from.unwrap_or_else(|| len.saturating_sub(MOST)).min(len);
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(from)).map_err(fail)?;
    file.take(MOST).read_to_end(&mut bytes).map_err(fail)?;
    let to = from + bytes.len() as u64;
    Ok(JobPrinted { text: String::from_utf8_lossy(&bytes).into_owned(), from, to, job })
}

/// Runs blocking work on another thread.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    let done = retake_tools::blocking(work).await;
    done.map_err(|error| {
        EngineError::new(Kind::Storage, "aborted", format!("the work on jobs broke off: {error}"))
            .with("what", "jobs")
            .with("detail", error.to_string())
    })
}
