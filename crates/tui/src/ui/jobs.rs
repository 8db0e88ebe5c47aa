//! Background commands: their output while they print, and a way to stop them. Must never stop one at the first key.

#[cfg(test)]
mod tests;

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use retake_wire::reply::JobLine;
use retake_wire::request::{JobOutput, JobTarget, Jobs as Listed, LARGEST_PAGE};
use retake_wire::{Problem, Reply, Request};

use super::keymap::{Command, Context};
use super::msg::{PaneInstruction, Ticket};
use super::pane::{Cx, Pane, PaneContext};
use super::pane_frame::{PaneFrame, told};
use super::preview::Preview;
use super::rows::{InputEffect, Order, Row, RowSpans, Rows};
use super::theme::Paint;
use crate::render::{agent, words};
use crate::text::time;

/// How often they are requested again while one runs, in milliseconds.
const AGAIN_MS: i64 = 1_000;

/// The jobs of the tab's conversation.
#[derive(Debug)]
pub(crate) struct Jobs {
    rows: Rows<Job>,
    loading: Option<Ticket>,
    loaded_ms: i64,
    wrong: Option<Problem>,
    /// The job that a second press stops.
    armed: Option<String>,
    preview: Preview,
}

#[derive(Debug)]
struct Job(JobLine);

impl Row for Job {
    fn key(&self) -> &str {
        &self.0.job
    }

    fn fields(&self) -> Vec<String> {
        vec![self.0.command.clone(), agent::state(&self.0)]
    }
}

impl Jobs {
    /// The jobs.
    pub(crate) fn new() -> Self {
        Self {
            rows: Rows::new(Order::Kept),
            loading: None,
            loaded_ms: 0,
            wrong: None,
            armed: None,
            preview: Preview::default(),
        }
    }

    fn load(&mut self, cx: &mut Cx<'_>) {
        self.loading = Some(cx.ask(Request::Jobs(Listed {
            conversation: cx.id(),
            limit: Some(LARGEST_PAGE),
            before: None,
        })));
    }

    fn look(&mut self, cx: &mut Cx<'_>) {
        let Some(Job(job)) = self.rows.selected() else { return self.preview.say("") };
        let version = 2 * job.printed.unwrap_or(0) + u64::from(job.running);
        let conversation = cx.id();
        let ask = || Request::JobOutput(JobOutput { conversation, job: job.job.clone(), from: None });
        self.preview.look(&job.job, version, ask, cx);
    }

    fn accept(&mut self, cx: &mut Cx<'_>) {
        let Some(Job(job)) = self.rows.selected() else { return };
        if !job.running {
            return cx.want(PaneInstruction::Say(format!("it does not run: {}", agent::state(job))));
        }
        if self.armed.as_ref() != Some(&job.job) {
            self.armed = Some(job.job.clone());
            return;
        }
        let stop = JobTarget { conversation: cx.id(), job: job.job.clone() };
        self.armed = None;
        self.loading = Some(cx.ask(Request::JobStop(stop)));
    }
}

impl Pane for Jobs {
    fn context(&self) -> Context {
        Context::Pane
    }

    fn opened(&mut self, cx: &mut Cx<'_>) {
        self.load(cx);
    }

    fn command(&mut self, command: Command, cx: &mut Cx<'_>) {
        match command {
            Command::Accept => self.accept(cx),
            Command::Close if self.armed.take().is_none() => cx.want(PaneInstruction::Close),
            Command::Other | Command::DetailUp | Command::DetailDown => self.preview.command(command),
            _ => {
                self.armed = None;
                self.rows.command(command);
                self.look(cx);
            }
        }
    }

    fn typed(&mut self, text: &str, cx: &mut Cx<'_>) {
        self.armed = None;
        self.rows.typed(text);
        self.look(cx);
    }

    fn replied(&mut self, ticket: Ticket, reply: Result<Reply, Problem>, cx: &mut Cx<'_>) {
        let Some(reply) = self.preview.replied(ticket, reply) else { return self.look(cx) };
        if self.loading.take_if(|asked| *asked == ticket).is_none() {
            return;
        }
        self.loaded_ms = cx.now_ms;
        match reply {
            Ok(Reply::Jobs(jobs)) => {
                self.wrong = None;
                self.rows.set(jobs.jobs.into_iter().map(Job));
                self.look(cx);
            }
            Ok(_) => {}
            Err(problem) if self.rows.is_empty() => self.wrong = Some(problem),
            Err(problem) => cx.want(PaneInstruction::Complain(Box::new(problem))),
        }
    }

    fn changed(&mut self, cx: &mut Cx<'_>) {
        self.load(cx);
    }

    fn tick(&mut self, cx: &mut Cx<'_>) {
        let runs = self.rows.items().any(|job| job.0.running);
        if runs && self.loading.is_none() && cx.now_ms - self.loaded_ms >= AGAIN_MS {
            self.load(cx);
        }
    }

    fn clicked(&mut self, at: Position, cx: &mut Cx<'_>) {
        match self.rows.clicked(at) {
            InputEffect::Moved => {
                self.armed = None;
                self.look(cx);
            }
            InputEffect::Taken | InputEffect::Nothing | InputEffect::Filtered => {}
        }
    }

    fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, brush: &PaneContext<'_>) {
        let stop = if self.armed.is_some() { "again stops it" } else { "stop it" };
        let mut keys = Vec::new();
        if let Some(Job(job)) = self.rows.selected() {
            keys.extend(job.running.then_some((Command::Accept, stop)));
            keys.push((Command::Other, "what it printed"));
        }
        let about = "commands in the background, newest first";
        let body = PaneFrame { title: "Jobs", about, keys: &keys }.draw(frame, area, brush);
        if let Some(list) = self.preview.beside(frame, body, brush) {
            let nothing = "no background command was started here";
            let empty = told(self.wrong.as_ref(), self.loading.is_some(), nothing);
            let armed = self.armed.as_deref();
            self.rows.draw(frame, list, brush, &empty, |Job(job), ink| {
                draw(job, armed == Some(&job.job), ink, brush.now_ms);
            });
        }
    }
}

fn draw(job: &JobLine, armed: bool, ink: &mut RowSpans<'_>, now_ms: i64) {
    let (sign, paint) = match (armed, job.running) {
        (true, _) => ("✗ ", Paint::Warn),
        (false, true) => ("● ", Paint::Good),
        (false, false) => ("  ", Paint::Plain),
    };
    ink.text(sign, paint);
    let room = ink.room();
    let (printed, state) = match room {
        60.. => (16, 22),
        36.. => (0, 16),
        _ => (0, 0),
    };
    ink.field_column(0, room.saturating_sub(printed + state), Paint::Plain);
    if state > 0 {
        ink.space(2);
        ink.field_column(1, state - 2, if job.running { Paint::Good } else { Paint::Dim });
    }
    let since = job.since_ms.filter(|_| job.running);
    let about = match (since, job.printed) {
        (Some(since_ms), _) => format!("for {}", time::lasted((now_ms - since_ms).max(0))),
        (None, Some(bytes)) => format!("{} bytes", words::number(bytes)),
        (None, None) => String::new(),
    };
    ink.column_right(&about, printed, Paint::Dim);
}
