//! Requests about the owner itself.

use retake_engine::JobAtWork;
use retake_wire::{Problem, ProblemKind, Reply, reply};

use crate::InProcess;
use crate::convert::own_problem;

/// The most jobs that are named.
const MOST_JOBS: usize = 100;

impl InProcess {
    pub(super) async fn status(&self) -> reply::Status {
        let living = self.engine.living_jobs().await;
        let at_work =
            |job: JobAtWork| reply::JobAtWork { job: job.call, command: job.command, pids: job.pids };
        let jobs_at_work =
            self.engine.jobs_at_work().await.into_iter().take(MOST_JOBS).map(at_work).collect();
        reply::Status {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            data_dir: self.owner_info.data_dir.display().to_string(),
            address: self.owner_info.address.get().map(ToString::to_string),
            since_ms: self.owner_info.since_ms,
            serves: self.owner_info.serves(),
            running: self.engine.running().iter().map(ToString::to_string).collect(),
            following: self.hub.following(),
            mode: Some(crate::agent::mode(self.engine.permission_for_all().mode)),
            config_file: Some(self.owner_info.config_file.display().to_string()),
            protocol: retake_wire::PROTOCOL,
            clients: self.present.clients() as u64,
            beside: reply::Beside {
                jobs: living as u64,
                jobs_at_work,
                gateways: self.gateway_states().await,
            },
            idle: reply::IdleEnd {
                idle_s: self.present.idle().map(|idle| idle.as_secs()),
                ends_ms: self.ends_ms(living),
            },
        }
    }

    /// The gateways that this process runs, and those that have an account now.
    async fn gateway_states(&self) -> Vec<reply::GatewayState> {
        let mut states = self.owner_info.gateways.borrow().clone();
        // Without the leases, what runs here is still known.
        for (account, holder) in self.engine.chat_holders().await.unwrap_or_default() {
            match states.get_mut(&account) {
                Some(state) => state.holder = Some(holder),
                None => {
                    let state = reply::GatewayState { holder: Some(holder), ..Default::default() };
                    states.insert(account, state);
                }
            }
        }
        states.into_iter().map(|(account, state)| reply::GatewayState { account, ..state }).collect()
    }

    pub(super) fn stop(&self) -> Result<Reply, Problem> {
        if self.owner_info.tell_to_stop() {
            return Ok(Reply::Done);
        }
        Err(own_problem(ProblemKind::Refused, "not_serving", &[("pid", std::process::id().into())]))
    }
}
