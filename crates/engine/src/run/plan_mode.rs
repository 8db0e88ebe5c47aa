//! Plan mode: the model is told of it at the beginning of a turn, and it ends when a person approves the plan. Must never end it
//! otherwise, and never grant more than the person's usual mode.

use retake_core::{AskCause, CallRuling, ConversationId, Fact, Mode, Part};
use retake_tools::{MODE_FACT, PLAN_TOOL};

use super::drive::Driver;
use crate::Engine;
use crate::agent::PermissionChange;
use crate::error::Result;
use crate::log::LogFailure as _;

/// The value of the fact while the model knows of plan mode.
const PLAN: &str = "plan";

/// What the model is told in plan mode.
const BEGINS: &str = "Plan mode is on. You can read, search and ask, and every call that would change something is refused. Find out \
     what you need, and work out a plan. Then hand it over with `present_plan`: the person approves it, or says what to change. Do not \
     describe the plan in your answer only, and do not ask for approval in words.";

/// What it is told after plan mode has ended without a plan.
const ENDS: &str = "Plan mode is off. You can change things again, as the permissions allow.";

impl Engine {
    /// Stores what the model must know of plan mode, if the path does not say it. A run may have a mode of its own.
    pub(super) async fn note_mode(&self, conversation: ConversationId, own: Option<Mode>) -> Result<()> {
        if self.parts().agent.is_none() || self.folder_of(conversation).await?.is_none() {
            return Ok(());
        }
        let mode = match own {
            Some(mode) => mode,
            None => self.permission(conversation).await?.mode,
        };
        let given = self.store().unfolded_facts(conversation, MODE_FACT.to_owned()).await?;
        let is_told = given.iter().any(|fact| fact.key == MODE_FACT && fact.value == PLAN);
        let (text, value) = match (mode == Mode::Plan, is_told) {
            (true, false) => (BEGINS, PLAN),
            (false, true) => (ENDS, ""),
            _ => return Ok(()),
        };
        self.note(conversation, vec![Part::text(text), Part::Facts(vec![Fact::new(MODE_FACT, value)])]).await
    }

    /// The mode after plan mode: the person's usual one.
    fn mode_after_plan(&self) -> Mode {
        match self.permission_for_all().mode {
            Mode::Plan => Mode::Ask,
            usual => usual,
        }
    }
}

impl Driver {
    /// A plan was approved: the mode of the run and of the conversation is the usual one from now on.
    pub(super) async fn leave_plan_mode(&mut self) -> Result<()> {
        self.scene.leave_plan_mode();
        let conversation = self.claim.conversation();
        if self.engine.own_permission(conversation).await?.mode == Mode::Plan {
            let mode = Some(self.engine.mode_after_plan());
            let change = PermissionChange { mode, ..PermissionChange::default() };
            self.engine.set_permission(conversation, change).await?;
        }
        Ok(())
    }

    /// Whether a call hands over a plan that a person must approve.
    pub(super) fn is_plan(&self, key: &str) -> bool {
        let settled = self.calls.get(key).map(|ready| &ready.settled);
        matches!(settled, Some(CallRuling::Ask(AskCause::Plan)))
    }

    /// The same, for a person's yes. Plan mode goes on if its end cannot be stored.
    pub(super) async fn approve_plan(&mut self) {
        self.leave_plan_mode().await.or_log("plan mode does not end");
    }
}

/// In plan mode a plan always needs an approval, whatever the rules are.
pub(super) fn asked_about_plan(settled: CallRuling, tool: &str, mode: Mode) -> CallRuling {
    match settled {
        CallRuling::Allow | CallRuling::Ask(_) if tool == PLAN_TOOL && mode == Mode::Plan => {
            CallRuling::Ask(AskCause::Plan)
        }
        settled => settled,
    }
}
