//! The step: from runs and an input to the next runs and effects. It must do nothing itself.

use super::{
    Fence, MOST_WORDS, NewRun, Run, RunGround, RunNo, RunRefusal, RunState, Runs, STALE_AFTER_MS, Steer,
    Tail, Words,
};
use crate::id::Time;
use crate::path::Path;

/// An input for the runs of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunInput {
    /// A run is requested.
    Enqueue(NewRun, Time),
    /// The waiting messages, `.0`, are prepared to be sent as `.1`.
    Ready(Vec<Words>, Vec<Words>, Time),
    /// The waiting run is claimed.
    Claim(Time),
    /// The running one takes the messages of the one that waits to join it.
    Join(Fence, Time),
    /// The claim is renewed.
    Beat(Fence, Time),
    /// The running one must stop.
    Cancel(Time),
    /// The waiting one is withdrawn.
    Unqueue(Time),
    /// These waiting messages are withdrawn; the others wait on.
    Withdraw(Vec<Words>, Time),
    /// The running one has ended.
    End(Fence, RunEnding, Time),
    /// A new owner begins: a run of an earlier owner is over.
    Lost(Time),
    /// The tip moved: runs for the old tip are over. The path before it.
    Moved(Path, Time),
    /// Marks changed.
    Marked(Time),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnding {
    /// Its answer is stored.
    Succeeded,
    /// It failed, with this reason: a stable word.
    Failed(String),
    /// It was stopped.
    Canceled,
}

/// An effect to carry out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEffect {
    /// Append these messages, in the same transaction.
    Say(Words),
    /// Begin the run with this number and this fence.
    Start(RunNo, Fence),
    /// Stop the worker of the run with this fence.
    Stop(Fence),
}

/// The result of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stepped {
    /// The live runs after it.
    pub runs: Runs,
    /// Runs that it ended.
    pub over: Vec<Run>,
    /// The effects, in this order.
    pub effects: Vec<RunEffect>,
}

impl Runs {
    /// Makes a step. Total and pure; a refusal changes nothing.
    pub fn step(&self, input: RunInput, ground: &RunGround<'_>) -> Result<Stepped, RunRefusal> {
        let mut next = Stepped { runs: self.clone(), ..Stepped::default() };
        match input {
            RunInput::Enqueue(new, now) => next.enqueue(new, ground.tail, now)?,
            RunInput::Ready(waiting, ready, _) => match &mut next.runs.queued {
                Some(run) if run.words == waiting => run.words = ready,
                _ => return Err(RunRefusal::OtherWords),
            },
            RunInput::Claim(now) => next.claim(ground, now)?,
            RunInput::Join(fence, now) => next.join(fence, ground, now)?,
            RunInput::Beat(fence, now) => {
                let run = next.running(fence)?;
                run.beat = now;
                let stop = run.cancel.is_some();
                next.effects.extend(stop.then_some(RunEffect::Stop(fence)));
            }
            RunInput::Cancel(now) => next.cancel(now)?,
            RunInput::Unqueue(now) => {
                let run = next.runs.queued.take().ok_or(RunRefusal::NothingQueued)?;
                next.over(run, RunState::Canceled, Some("unqueued"), now);
            }
            RunInput::Withdraw(words, now) => {
                let run = next.runs.queued.take().ok_or(RunRefusal::NothingQueued)?;
                if !words.iter().all(|gone| run.words.contains(gone)) {
                    return Err(RunRefusal::OtherWords);
                }
                let tail = run.tail;
                next.part(run, |it| !words.contains(it), tail, (RunState::Canceled, "unqueued"), now);
            }
            RunInput::End(fence, how, now) => next.end(fence, how, ground, now)?,
            RunInput::Lost(now) => next.lost(ground.owner, now),
            RunInput::Moved(was, now) => next.moved(&was, ground, now),
            RunInput::Marked(now) => next.marked(ground, now),
        }
        Ok(next)
    }
}

impl Stepped {
    /// The running run, if this is its fence.
    fn running(&mut self, fence: Fence) -> Result<&mut Run, RunRefusal> {
        self.runs.running.as_mut().filter(|run| run.fence == fence).ok_or(RunRefusal::Fenced)
    }

    fn over(&mut self, run: Run, state: RunState, error: Option<&str>, now: Time) {
        let error = error.map(str::to_owned);
        self.over.push(Run { state, error, ended: Some(now), ..run });
    }

    /// Ends a waiting run, but for the messages that wait on: these are a run of their own.
    fn part(
        &mut self,
        mut run: Run,
        waits_on: impl Fn(&Words) -> bool,
        tail: Tail,
        (state, error): (RunState, &str),
        now: Time,
    ) {
        let words: Vec<Words> = run.words.extract_if(.., |words| waits_on(words)).collect();
        if !words.is_empty() {
            self.runs.last = RunNo(self.runs.last.0 + 1);
            self.runs.queued = Some(Run { no: self.runs.last, words, tail, ..run.clone() });
        }
        self.over(run, state, Some(error), now);
    }

    /// Ends a waiting run whose message is gone. A message of a chat answers no message that its author saw: it waits on.
    fn lose(&mut self, run: Run, why: (RunState, &str), now: Time) {
        let tail = Tail { entry: None, ..run.tail };
        self.part(run, |words| words.chat.is_some(), tail, why, now);
    }

    fn enqueue(&mut self, new: NewRun, tail: Tail, now: Time) -> Result<(), RunRefusal> {
        let NewRun { words, steer, seen, model } = new;
        match (&mut self.runs.queued, words) {
            (Some(_), None) => return Err(RunRefusal::Waiting),
            (Some(queued), Some(_)) if queued.words.len() >= MOST_WORDS => {
                return Err(RunRefusal::TooManyWords);
            }
            (Some(queued), Some(words)) => {
                // An answer to the current path answers these messages, too.
                if queued.words.is_empty() {
                    queued.tail = Tail { entry: seen, ..tail };
                }
                queued.words.push(words);
                queued.steer = steer;
                queued.model = model.or(queued.model.take());
            }
            (None, words) => {
                self.runs.last = RunNo(self.runs.last.0 + 1);
                let stands_on = if words.is_some() { Tail { entry: seen, ..tail } } else { tail };
                self.runs.queued = Some(Run {
                    no: self.runs.last,
                    state: RunState::Queued,
                    steer,
                    words: words.into_iter().collect(),
                    tail: stands_on,
                    model,
                    fence: Fence(0),
                    owner: 0,
                    created: now,
                    beat: now,
                    cancel: None,
                    ended: None,
                    error: None,
                });
            }
        }
        if steer == Steer::Interrupt && self.runs.running.is_some() {
            self.cancel(now)?;
        }
        Ok(())
    }

    fn claim(&mut self, ground: &RunGround<'_>, now: Time) -> Result<(), RunRefusal> {
        if self.runs.queued.is_none() {
            return Err(RunRefusal::NothingQueued);
        }
        if let Some(running) = self.runs.running.take() {
            if now.0.saturating_sub(running.beat.0) <= STALE_AFTER_MS {
                return Err(RunRefusal::Running);
            }
            self.effects.push(RunEffect::Stop(running.fence));
            self.over(running, RunState::Failed, Some("stale_running_run"), now);
        }
        let mut run = self.runs.queued.take().ok_or(RunRefusal::NothingQueued)?;
        if let Some(why) = skipped(&run, ground) {
            self.lose(run, (RunState::Skipped, why), now);
            let Some(others) = self.runs.queued.take() else { return Ok(()) };
            run = others;
        }
        self.runs.fence = Fence(self.runs.fence.0 + 1);
        self.effects.extend(std::mem::take(&mut run.words).into_iter().map(RunEffect::Say));
        self.effects.push(RunEffect::Start(run.no, self.runs.fence));
        self.runs.running = Some(Run {
            state: RunState::Running,
            tail: ground.tail,
            fence: self.runs.fence,
            owner: ground.owner,
            beat: now,
            ..run
        });
        Ok(())
    }

    fn join(&mut self, fence: Fence, ground: &RunGround<'_>, now: Time) -> Result<(), RunRefusal> {
        self.running(fence)?.beat = now;
        let joins = |run: &Run| run.steer == Steer::Join && !run.words.is_empty();
        let Some(mut run) = self.runs.queued.take_if(|run| joins(run)) else { return Ok(()) };
        if let Some(why) = skipped(&run, ground) {
            self.lose(run, (RunState::Skipped, why), now);
            let Some(others) = self.runs.queued.take() else { return Ok(()) };
            run = others;
        }
        self.effects.extend(std::mem::take(&mut run.words).into_iter().map(RunEffect::Say));
        self.over(run, RunState::Succeeded, Some("joined"), now);
        Ok(())
    }

    fn cancel(&mut self, now: Time) -> Result<(), RunRefusal> {
        let run = self.runs.running.as_mut().ok_or(RunRefusal::NothingRuns)?;
        // The first stop request counts.
        run.cancel.get_or_insert(now);
        let stop = RunEffect::Stop(run.fence);
        self.effects.push(stop);
        Ok(())
    }

    fn end(
        &mut self,
        fence: Fence,
        how: RunEnding,
        ground: &RunGround<'_>,
        now: Time,
    ) -> Result<(), RunRefusal> {
        self.running(fence)?;
        let run = self.runs.running.take().ok_or(RunRefusal::Fenced)?;
        match how {
            RunEnding::Succeeded => self.over(run, RunState::Succeeded, None, now),
            RunEnding::Failed(why) => self.over(run, RunState::Failed, Some(&why), now),
            RunEnding::Canceled => self.over(run, RunState::Canceled, Some("stopped"), now),
        }
        // The waiting run expects the entries of the running one.
        if let Some(queued) = self.runs.queued.as_mut().filter(|run| run.words.is_empty()) {
            queued.tail = ground.tail;
        }
        Ok(())
    }

    fn lost(&mut self, owner: u64, now: Time) {
        if let Some(run) = self.runs.running.take_if(|run| run.owner != owner) {
            self.over(run, RunState::Failed, Some("owner_lost"), now);
        }
    }

    fn moved(&mut self, was: &Path, ground: &RunGround<'_>, now: Time) {
        if let Some(run) = self.runs.running.take() {
            self.effects.push(RunEffect::Stop(run.fence));
            self.over(run, RunState::Canceled, Some("rewound"), now);
        }
        // What was gone before is returned to its author by the next run: after a crash nobody else listens.
        let left = |entry| was.contains(entry) && !(ground.on_path)(entry);
        if let Some(run) = self.runs.queued.take_if(|run| run.tail.entry.is_some_and(left)) {
            self.lose(run, (RunState::Canceled, "rewound"), now);
        }
    }

    fn marked(&mut self, ground: &RunGround<'_>, now: Time) {
        let hidden = |run: &mut Run| run.tail.entry.is_some_and(|entry| !(ground.mark)(entry).is_visible());
        if let Some(run) = self.runs.running.take_if(hidden) {
            self.effects.push(RunEffect::Stop(run.fence));
            self.over(run, RunState::Canceled, Some("message_hidden"), now);
        }
    }
}

/// Why a waiting run cannot run in the current state.
fn skipped(run: &Run, ground: &RunGround<'_>) -> Option<&'static str> {
    if run.words.is_empty() {
        return (run.tail != ground.tail).then_some("expected_last_message_mismatch");
    }
    let gone = run.tail.entry.is_some_and(|entry| !(ground.on_path)(entry));
    gone.then_some("seen_message_taken_back")
}
