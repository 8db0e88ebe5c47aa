//! Requests about the outbox.

use retake_core::OutboxFailure;
use retake_engine::outbox::OutboxLine;
use retake_wire::{Problem, Reply, reply, request};

use crate::InProcess;
use crate::convert::problem;

impl InProcess {
    pub(super) async fn outbox(&self) -> Result<Reply, Problem> {
        Ok(Reply::Outbox(reply::Outbox { items: self.outbox_items().await?, changed: None }))
    }

    pub(super) async fn outbox_retry(&self, named: request::OutboxItems) -> Result<Reply, Problem> {
        let changed = self.engine.retry_owed(names(named)).await.map_err(problem)?;
        let changed = Some(changed as u64);
        Ok(Reply::Outbox(reply::Outbox { items: self.outbox_items().await?, changed }))
    }

    pub(super) async fn outbox_drop(&self, named: request::OutboxItems) -> Result<Reply, Problem> {
        let changed = self.engine.drop_owed(names(named)).await.map_err(problem)?;
        let changed = Some(changed as u64);
        Ok(Reply::Outbox(reply::Outbox { items: self.outbox_items().await?, changed }))
    }

    pub(super) async fn outbox_items(&self) -> Result<Vec<reply::OutboxItem>, Problem> {
        let lines = self.engine.outbox().await.map_err(problem)?;
        Ok(lines.into_iter().map(item).collect())
    }
}

/// The named items; `None`: all.
fn names(named: request::OutboxItems) -> Option<Vec<String>> {
    (!named.all).then_some(named.items)
}

fn item(line: OutboxLine) -> reply::OutboxItem {
    reply::OutboxItem {
        id: line.id,
        destination: line.destination,
        configured: line.is_configured,
        conversation: line.conversation.to_string(),
        changes: line.behind,
        next_ms: line.due.filter(|_| line.is_configured).map(|time| time.0),
        attempts: line.attempts,
        since_ms: line.since.map(|time| time.0),
        failure: line.failure.map(failure),
        last_result: line.why,
    }
}

fn failure(failure: OutboxFailure) -> reply::OutboxFailure {
    match failure {
        OutboxFailure::AlreadyGone => reply::OutboxFailure::AlreadyGone,
        OutboxFailure::NotPermitted => reply::OutboxFailure::NotPermitted,
        OutboxFailure::TooOld => reply::OutboxFailure::TooOld,
        OutboxFailure::Refused => reply::OutboxFailure::Refused,
    }
}
