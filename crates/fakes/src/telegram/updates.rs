//! Updates and the long poll of the fake Bot API. Must never lose an update that was not confirmed within a day.

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use axum::response::Response;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::{KEPT, Shared, answer, refused};
use crate::control::Fault;

/// The first update has this id.
const FIRST: i64 = 4001;

/// All updates. A change of the counter wakes the pending poll.
#[derive(Debug, Default)]
pub(super) struct Updates {
    queue: Mutex<Queue>,
    changes: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Queue {
    /// Everything that was ever delivered: the time, and the update.
    all: Vec<(i64, Value)>,
    /// The positions in `all` that are offered.
    offered: Vec<usize>,
    /// The positions that the next poll gets once more, although they were confirmed.
    again: Vec<usize>,
    /// The kinds that the last poll asked for.
    kinds: Vec<String>,
    polls: u64,
}

impl Updates {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(super) fn add(&self, kind: &str, content: Value, now_ms: i64) -> i64 {
        let mut queue = self.queue();
        let id = FIRST + i64::try_from(queue.all.len()).expect("BUG: too many updates");
        let mut update = json!({ "update_id": id });
        update[kind] = content;
        // The kinds that were not asked for are not stored [D].
        if queue.kinds.is_empty() || queue.kinds.iter().any(|asked| asked == kind) {
            let position = queue.all.len();
            queue.offered.push(position);
        }
        queue.all.push((now_ms, update));
        drop(queue);
        self.changes.send_modify(|changes| *changes += 1);
        id
    }

    pub(super) fn redeliver(&self, id: i64) {
        let mut queue = self.queue();
        let position = queue.all.iter().position(|(_, update)| update["update_id"] == id);
        let position = position.expect("BUG: there is no such update");
        queue.again.push(position);
        drop(queue);
        self.changes.send_modify(|changes| *changes += 1);
    }
}

impl Queue {
    /// What a poll gets. An offset confirms what is before it; one that is beyond the end is as if there was none \[S\].
    fn take(&mut self, offset: i64, limit: usize, now_ms: i64) -> Vec<Value> {
        let kept = i64::try_from(KEPT.as_millis()).expect("BUG: a day is short");
        let next = FIRST + i64::try_from(self.all.len()).expect("BUG: too many updates");
        let confirmed = if offset <= next { offset } else { 0 };
        let all = &self.all;
        self.offered.retain(|position| {
            let (time, update) = &all[*position];
            update["update_id"].as_i64() >= Some(confirmed) && now_ms - time < kept
        });
        let again = std::mem::take(&mut self.again);
        let positions = again.iter().chain(&self.offered).take(limit);
        positions.map(|position| self.all[*position].1.clone()).collect()
    }
}

/// Answers `getUpdates`. A second poll ends the first one with 409 \[S\].
pub(super) async fn get(shared: &Shared, arguments: Value) -> Response {
    let mut changes = shared.updates.changes.subscribe();
    let (offset, timeout) = (arguments["offset"].as_i64().unwrap_or(0), arguments["timeout"].as_u64());
    let limit = arguments["limit"].as_u64().and_then(|limit| usize::try_from(limit).ok()).unwrap_or(100);
    let kinds: Option<Vec<String>> = arguments["allowed_updates"]
        .as_array()
        .map(|kinds| kinds.iter().filter_map(|kind| kind.as_str().map(str::to_owned)).collect());
    match shared.control.begin("getUpdates", arguments) {
        Fault::Refuse(refusal) => return refused("getUpdates", refusal),
        Fault::RequestLost | Fault::AnswerLost => return crate::serving::lost(),
        Fault::Slow(time) => tokio::time::sleep(time).await,
        Fault::None => {}
    }
    let number = {
        let mut queue = shared.updates.queue();
        queue.polls += 1;
        if let Some(kinds) = kinds {
            queue.kinds = kinds;
        }
        queue.polls
    };
    shared.updates.changes.send_modify(|changes| *changes += 1);
    let polled = async {
        loop {
            changes.borrow_and_update();
            {
                let mut queue = shared.updates.queue();
                if queue.polls != number {
                    let why = "Conflict: terminated by other getUpdates request; make sure that only one bot \
                               instance is running";
                    return Err((409, why.to_owned(), Value::Null));
                }
                let found = queue.take(offset, limit, shared.control.now_ms());
                if !found.is_empty() {
                    return Ok(Value::from(found));
                }
            }
            if changes.changed().await.is_err() {
                return Ok(json!([]));
            }
        }
    };
    let timeout = Duration::from_secs(timeout.unwrap_or(0).min(50));
    answer(tokio::time::timeout(timeout, polled).await.unwrap_or_else(|_| Ok(json!([]))))
}
