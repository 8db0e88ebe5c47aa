//! The log of requests: operation, conversation, request id, outcome and time. Must never log anything else of a request or of a
//! reply: both contain texts.

use std::fmt;

use retake_core::RequestId;
use retake_wire::{Follow, Problem, Request, Run};
use tracing::field::Empty;
use tracing::{Instrument as _, Span, info_span};

use crate::InProcess;

/// A result that no client gets.
pub(crate) trait LogFailure<T> {
    /// The value. An error is logged with its meaning.
    fn or_log(self, meaning: &'static str) -> Option<T>;
}

impl<T> LogFailure<T> for Result<T, Problem> {
    fn or_log(self, meaning: &'static str) -> Option<T> {
        // The cause of a failure of the store was logged when the engine's error became a problem.
        self.inspect_err(|problem| tracing::warn!(code = &*problem.code, meaning)).ok()
    }
}

/// The span of a request, and whether it gets a line of its own: reads and drafts are sent with each key press.
pub(crate) fn of_request(request: &mut Request) -> (Span, bool) {
    let action: Option<&str> = match request {
        Request::Plan(it) => Some((&it.action).into()),
        Request::Apply(it) => Some((&it.action).into()),
        _ => None,
    };
    let operation = <&str>::from(&*request);
    let id = request.request_id().and_then(|id| known_id(id.as_deref()));
    let span = info_span!("request", operation, action, conversation = Empty, request = id);
    (span, !request.only_reads() && request.holder().is_none())
}

/// The span of a run's request.
pub(crate) fn of_run(run: &Run) -> Span {
    let id = known_id(run.request_id.as_deref());
    let action = <&str>::from(&run.start);
    info_span!("request", operation = "run", action, conversation = Empty, request = id)
}

/// The span of a subscription.
pub(crate) fn of_follow(follow: &Follow) -> Span {
    let operation = if follow.conversation.is_some() { "follow" } else { "follow_list" };
    info_span!("request", operation, conversation = Empty)
}

/// Records in the current span the conversation of a request.
pub(crate) fn names(conversation: &impl fmt::Display) {
    Span::current().record("conversation", tracing::field::display(conversation));
}

impl InProcess {
    /// Carries out a request in its span, and logs its outcome.
    pub(crate) async fn logged<T>(
        &self,
        span: Span,
        is_line: bool,
        work: impl Future<Output = Result<T, Problem>>,
    ) -> Result<T, Problem> {
        let began = self.engine.now().0;
        let done = work.instrument(span.clone()).await;
        let ms = self.engine.now().0.saturating_sub(began);
        let outcome = done.as_ref().map_or_else(|problem| &*problem.code, |_| "done");
        match is_line {
            true => tracing::info!(parent: &span, outcome, ms, "done with a request"),
            false => tracing::debug!(parent: &span, outcome, ms, "done with a request"),
        }
        done
    }
}

/// A valid request id.
fn known_id(text: Option<&str>) -> Option<String> {
    text.and_then(|text| text.parse::<RequestId>().ok()).map(|id| id.to_string())
}

#[cfg(test)]
mod tests {
    use retake_wire::request::{ConversationTarget, SetArchived};
    use retake_wire::{Action, Request, RunStart};

    fn name(of: impl Into<&'static str>) -> &'static str {
        of.into()
    }

    #[test]
    fn names_of_variants_are_those_of_the_api_and_hold_no_field() {
        assert_eq!(name(Request::Status), "status");
        assert_eq!(
            name(Request::SetArchived(SetArchived { conversation: "secret".into(), archived: true })),
            "set_archived"
        );
        assert_eq!(name(Request::Info(ConversationTarget { conversation: "secret".into() })), "info");
        assert_eq!(name(RunStart::Retry { entry: "secret".into() }), "retry");
        assert_eq!(name(Action::Label { entry: "secret".into(), name: None }), "label");
    }
}
