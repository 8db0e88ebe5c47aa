//! What a client that leaves says of the outbox: deliveries for hooks that could not be delivered yet.

use std::time::Duration;

use retake_wire::reply::Outbox;
use retake_wire::{Client, Reply, Request};

/// How long a client that leaves waits for the owner.
const PATIENCE: Duration = Duration::from_millis(500);

/// A line about deliveries that failed so far; none if there are none. Those that are only on their way do not count.
pub(crate) async fn line(client: &dyn Client) -> Option<String> {
    match tokio::time::timeout(PATIENCE, client.call(Request::Outbox)).await {
        Ok(Ok(Reply::Outbox(outbox))) => of(&outbox),
        // An owner that does not answer has nothing to say here.
        _ => None,
    }
}

fn of(outbox: &Outbox) -> Option<String> {
    let failed = outbox
        .items
        .iter()
        .filter(|item| item.attempts > 0 && item.last_result.is_some() && item.failure.is_none());
    let mut names: Vec<&str> = failed.map(|item| item.destination.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    (!names.is_empty()).then(|| {
        let names = names.join(", ");
        format!("not delivered yet: events for {names}; `retake outbox list` says why")
    })
}

#[cfg(test)]
mod tests {
    use retake_wire::reply::{OutboxFailure, OutboxItem};

    use super::*;

    fn item(destination: &str, attempts: u32, last: Option<&str>) -> OutboxItem {
        OutboxItem {
            id: format!("{destination}-1"),
            destination: destination.to_owned(),
            configured: true,
            conversation: "c".to_owned(),
            changes: 1,
            next_ms: Some(1),
            attempts,
            since_ms: None,
            failure: None,
            last_result: last.map(str::to_owned),
        }
    }

    #[test]
    fn deliveries_that_failed_are_named_and_those_on_their_way_are_not() {
        let of = |items| of(&Outbox { items, changed: None });
        assert_eq!(of(vec![item("a", 0, None), item("b", 1, None)]), None);
        // What was passed over is not delivered any more: the list and `doctor` have it.
        let passed = OutboxItem { failure: Some(OutboxFailure::Refused), ..item("a", 1, Some("HTTP 400")) };
        assert_eq!(of(vec![passed]), None);
        let one = of(vec![item("a", 2, Some("HTTP 503"))]).expect("a line");
        assert_eq!(one, "not delivered yet: events for a; `retake outbox list` says why");
        let two = of(vec![
            item("a", 2, Some("x")),
            item("a", 1, Some("x")),
            item("b", 9, Some("x")),
            item("a", 1, Some("x")),
        ]);
        assert_eq!(two.expect("a line"), "not delivered yet: events for a, b; `retake outbox list` says why");
    }
}
