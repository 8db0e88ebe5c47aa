//! Where a plan of files is being carried out right now: who follows such a conversation is told nothing until it is done. Must never outlive the work: what can't be settled before the next start holds nobody up.

use retake_core::ConversationId;
use tokio::sync::watch;

use crate::engine::Engine;

/// The conversations in which a plan is open.
#[derive(Debug, Default)]
pub(crate) struct OpenPlans(watch::Sender<Vec<ConversationId>>);

impl OpenPlans {
    /// One more is open, while what comes back lives.
    pub(super) fn begin(&self, of: ConversationId) -> OpenPlan<'_> {
        self.0.send_modify(|open| open.push(of));
        OpenPlan { plans: self, of }
    }
}

/// A plan that is open.
#[must_use = "it is open only while this lives"]
pub(super) struct OpenPlan<'a> {
    plans: &'a OpenPlans,
    of: ConversationId,
}

impl Drop for OpenPlan<'_> {
    fn drop(&mut self) {
        self.plans.0.send_modify(|open| {
            if let Some(at) = open.iter().position(|of| *of == self.of) {
                open.swap_remove(at);
            }
        });
    }
}

impl Engine {
    /// Whether a plan of files is being carried out in a conversation. What is read before this says no has nothing of it that is
    /// not done.
    pub fn has_open_plan(&self, of: ConversationId) -> bool {
        self.files.plans.0.borrow().contains(&of)
    }

    /// Waits until none is.
    pub async fn plans_closed(&self, of: ConversationId) {
        // The sender lives as long as the engine.
        drop(self.files.plans.0.subscribe().wait_for(|open| !open.contains(&of)).await);
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn two_plans_are_closed_when_both_are() {
        let plans = OpenPlans::default();
        let of = ConversationId::new(Uuid::from_u128(1));
        let mut seen = plans.0.subscribe();
        let mut closed = || seen.wait_for(|open| !open.contains(&of)).now_or_never().is_some();
        let (one, other) = (plans.begin(of), plans.begin(of));
        drop(one);
        assert!(!closed());
        drop(other);
        assert!(closed());
    }
}
