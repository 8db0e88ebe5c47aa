//! Plan mode: a remark at the beginning of a turn says to the model that it is on. It ends when a person approves the plan. Must
//! never end it otherwise, and never grant more than the person's usual mode.

use retake_core::{ConversationId, Fact, Mode, Part};
use retake_tools::MODE_FACT;

use crate::Engine;
use crate::agent::PermissionChange;
use crate::error::Result;

/// The value of the fact while the model knows of plan mode.
const PLAN: &str = "plan";

/// The remark of its beginning.
const BEGINS: &str = "Plan mode is on. You can read, search and ask, and every call that would change something is refused. Find out \
     what you need, and work out a plan. Then hand it over with `present_plan`: the person approves it, or says what to change. Do not \
     describe the plan in your answer only, and do not ask for approval in words.";

/// The remark of its end, if it ended without a plan.
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

    /// A plan was approved: the mode of the conversation is the person's usual one from now on.
    pub(super) async fn leave_plan_mode(&self, conversation: ConversationId) -> Result<()> {
        if self.own_permission(conversation).await?.mode != Mode::Plan {
            return Ok(());
        }
        let mode = match self.permission_for_all().mode {
            Mode::Plan => Mode::Ask,
            usual => usual,
        };
        self.set_permission(conversation, PermissionChange { mode: Some(mode), ..Default::default() }).await
    }
}
