//! Running work: processes that calls have left behind. What they may still change can't be taken back, so who takes a call
//! back is offered to end them first; they are verified gone before anything else happens.

use std::time::Duration;

use retake_core::{ConversationId, Hint, Remedy};
use retake_store::{Action, OpenCall};
use retake_tools::processes;
use rustix::process::Pid;

use super::blocking;
use crate::engine::Engine;
use crate::error::{EngineError, Kind, Result};

/// How long processes have to end after they were asked to.
pub(super) const TO_END: Duration = Duration::from_secs(3);

impl Engine {
    /// The calls that an action takes back and of which processes still run.
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

    /// Ends what the calls that an action takes back have left running; without `stop`, refuses where there is such.
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
            return Err(EngineError::new(Kind::Refused, "still_running", what).hint(Hint::new(
                "end them first with {}, or leave files as they are with {}",
                [Remedy::EndJobs, Remedy::WithoutFiles],
            )));
        }
        for (call, _) in &jobs {
            self.end_processes(call).await?;
        }
        Ok(())
    }

    /// Ends the processes of a call, and makes sure that they are gone.
    async fn end_processes(&self, call: &OpenCall) -> Result<()> {
        for force in [false, true] {
            processes::stop(None, &call.id, force);
            let id = call.id.clone();
            if blocking(move || processes::wait_gone(&id, TO_END)).await? {
                return Ok(());
            }
        }
        let pids: Vec<String> =
            processes::alive(&call.id).iter().map(|pid| pid.as_raw_nonzero().to_string()).collect();
        let what = format!("can't end the processes {} that a command has started", pids.join(", "));
        Err(EngineError::new(Kind::Refused, "still_running", what).hint("end them yourself, then try again"))
    }
}
