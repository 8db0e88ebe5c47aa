//! Processes that calls have left running. Their further changes cannot be reverted. So a step that reverts such a call
//! offers to end them first, and checks that they are gone before anything else happens.

use std::time::Duration;

use retake_core::{Action, ConversationId, EffectState, Pos, Remedy};
use retake_store::OpenCall;
use retake_tools::processes;
use rustix::process::Pid;

use super::blocking;
use crate::Engine;
use crate::error::{EngineError, Kind, Result};
use crate::log::LogFailure as _;

/// How long processes have to end after they were signalled.
pub(super) const TO_END: Duration = Duration::from_secs(3);

/// The most entries between a command and its result.
const BEHIND: u64 = 16;

impl Engine {
    /// The calls that an action reverts and whose processes still run.
    pub(super) async fn jobs(
        &self,
        conversation: ConversationId,
        action: &Action,
    ) -> Result<Vec<(OpenCall, Vec<Pid>)>> {
        let running = self.store().wanted(conversation, action.clone()).await?.running;
        let jobs = running.into_iter().map(|call| {
            let pids = processes::alive(&call.id);
            (call, pids)
        });
        Ok(jobs.filter(|(_, pids)| !pids.is_empty()).collect())
    }

    /// The ids of those of these calls of an earlier process that have no result: they were interrupted.
    pub(super) async fn cut_off(&self, calls: &[OpenCall]) -> Result<Vec<String>> {
        let began = self.store().began(calls.iter().map(|call| call.id.clone()).collect()).await?;
        let mut cut_off = Vec::new();
        for (call, began) in calls.iter().zip(began) {
            let has_ended = match began {
                Some((_, state)) => state != EffectState::Begun,
                // Commands that a person runs are not in the ledger.
                None => self.has_result(call).await,
            };
            if !has_ended {
                cut_off.push(call.id.clone());
            }
        }
        Ok(cut_off)
    }

    /// Whether the result of a command follows it. An entry that cannot be read is no result.
    async fn has_result(&self, call: &OpenCall) -> bool {
        let Ok(meta) = self.store().meta(call.conversation, call.entry).await else { return false };
        for behind in 1..=BEHIND {
            let next = Pos { seq: meta.pos.seq + behind, ..meta.pos };
            let Ok(next) = self.store().entry_id(call.conversation, next).await else { return false };
            let answers = self.store().meta(call.conversation, next).await.map(|meta| meta.answers);
            if answers.is_ok_and(|answers| answers == Some(meta.pos)) {
                return true;
            }
        }
        false
    }

    /// Ends the processes of calls that an action reverts. Without `stop`, refuses if there are any.
    pub(super) async fn without_jobs(
        &self,
        conversation: ConversationId,
        action: &Action,
        stop: bool,
    ) -> Result<()> {
        let jobs = self.jobs(conversation, action).await?;
        if jobs.is_empty() {
            return Ok(());
        }
        if !stop {
            let pids: Vec<String> =
                jobs.iter().flat_map(|(_, pids)| pids).map(|pid| pid.as_raw_nonzero().to_string()).collect();
            let what = match pids.as_slice() {
                [one] => format!("process {one}, which a command taken back has started, still runs"),
                _ => {
                    format!("processes that commands taken back have started still run: {}", pids.join(", "))
                }
            };
            return Err(EngineError::new(Kind::Refused, "still_running", what)
                .with("what", "taken_back")
                .with("pids", numbers(&pids))
                .remedies([Remedy::EndJobs, Remedy::WithoutFiles]));
        }
        for (call, _) in &jobs {
            self.end_processes(&call.id).await?;
        }
        Ok(())
    }

    /// Ends what these calls of a subagent left running: nobody could look after it.
    pub(crate) async fn end_jobs_of(&self, calls: Vec<String>) {
        if calls.is_empty() {
            return;
        }
        let living =
            blocking(processes::calls).await.or_log("jobs of a subagent are not found").unwrap_or_default();
        let ends = calls.iter().filter(|call| living.contains(*call)).map(|call| self.end_processes(call));
        for ended in futures::future::join_all(ends).await {
            ended.or_log("a job of a subagent still runs");
        }
    }

    /// Ends the processes of a call, and checks that they are gone.
    async fn end_processes(&self, call: &str) -> Result<()> {
        for force in [false, true] {
            processes::stop(None, call, force);
            let id = call.to_owned();
            if blocking(move || processes::wait_gone(&id, TO_END)).await? {
                return Ok(());
            }
        }
        let pids: Vec<String> =
            processes::alive(call).iter().map(|pid| pid.as_raw_nonzero().to_string()).collect();
        let what = format!("can't end the processes {} that a command has started", pids.join(", "));
        Err(EngineError::new(Kind::Refused, "still_running", what)
            .with("what", "not_ended")
            .with("pids", numbers(&pids)))
    }
}

fn numbers(pids: &[String]) -> Vec<u64> {
    pids.iter().filter_map(|pid| pid.parse().ok()).collect()
}
