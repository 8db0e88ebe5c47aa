//! Requests about hooks. Must never return a secret.

use retake_engine::outbox::{HookShown, HookState as State};
use retake_wire::{Hook, HookApprove, HookOrigin, HookRevoke, HookState, Hooks, HooksOf, Problem, Reply};

use super::absolute;
use crate::InProcess;
use crate::convert::{problem, shown_problem};

impl InProcess {
    pub(super) async fn hooks_list(&self, of: HooksOf) -> Result<Reply, Problem> {
        let shown = self.engine.hooks(absolute(&of.folder)?).await.map_err(problem)?;
        let hooks = shown.hooks.into_iter().map(hook).collect();
        let file_problems = shown.problems.into_iter().map(shown_problem).collect();
        Ok(Reply::Hooks(Hooks { hooks, file_problems }))
    }

    pub(super) async fn hook_approve(&self, approve: HookApprove) -> Result<Reply, Problem> {
        let HookApprove { folder, name, entry } = approve;
        self.engine.approve_hook(absolute(&folder)?, name, entry).await.map_err(problem)?;
        self.hooks_list(HooksOf { folder }).await
    }

    pub(super) async fn hook_revoke(&self, revoke: HookRevoke) -> Result<Reply, Problem> {
        let HookRevoke { folder, name } = revoke;
        self.engine.revoke_hook(absolute(&folder)?, name).await.map_err(problem)?;
        self.hooks_list(HooksOf { folder }).await
    }
}

fn hook(shown: HookShown) -> Hook {
    let (state, problem) = match shown.state {
        State::Set => (HookState::Set, None),
        State::NeedsApproval => (HookState::NeedsApproval, None),
        State::Changed => (HookState::Changed, None),
        State::Missing => (HookState::Missing, None),
        State::Incomplete(error) => (HookState::Incomplete, Some(shown_problem(error))),
    };
    Hook {
        name: shown.name,
        origin: if shown.is_of_folder { HookOrigin::Folder } else { HookOrigin::Settings },
        state,
        problem,
        events: shown.events,
        command: shown.command,
        address: shown.address,
        texts: shown.texts,
        network: shown.network,
        write: shown.write,
        variable: shown.variable,
        timeout_s: shown.limit.as_secs(),
        keep_trying_s: shown.keep_trying.as_secs(),
        entry: shown.digest,
    }
}
