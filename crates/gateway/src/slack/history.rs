//! What was said while no socket was open, and where a post of ours is: both from the history. Must never read a place that is not
//! bound to a conversation as new messages.

use std::time::Duration;

use retake_wire::chat::Place;
use serde_json::{Value, json};

use super::api::{Api, Form};
use super::event::Keyed;
use super::{Slack, ts};
use crate::adapter::{Found, Inbox, Marker, Sent};
use crate::failure::Failure;
use crate::receipt::Receipt;

/// The type of our metadata. Its payload has our key.
const EVENT_TYPE: &str = "retake_post";

/// The messages of one call.
const PAGE: usize = 200;

/// The most calls for one place.
const PAGES: usize = 10;

/// How often we ask where a file was shared.
const SHARES: u32 = 5;

/// The time between two such questions.
const BETWEEN: Duration = Duration::from_secs(1);

/// How much earlier than our clock says a post may have been sent.
const CLOCK_MS: i64 = 60_000;

/// Messages of a place, oldest first.
#[derive(Debug, Default)]
struct History {
    messages: Vec<Value>,
    /// Whether there are more that were not read.
    has_more: bool,
}

/// The metadata of a post \[D\].
pub(super) fn metadata(marker: &Marker) -> Value {
    json!({ "event_type": EVENT_TYPE, "event_payload": { "key": marker.key } })
}

/// Reads what follows a message in a place.
async fn after(api: &Api, place: &Place, oldest: &str) -> Result<History, Failure> {
    let mut history = History::default();
    let mut cursor = String::new();
    for _ in 0..PAGES {
        let mut form: Form = vec![
            ("channel", place.chat.clone()),
            ("oldest", oldest.to_owned()),
            ("limit", PAGE.to_string()),
            ("include_all_metadata", "true".to_owned()),
        ];
        if !cursor.is_empty() {
            form.push(("cursor", cursor.clone()));
        }
        let method = match &place.thread {
            Some(thread) => {
                form.push(("ts", thread.clone()));
                "conversations.replies"
            }
            None => "conversations.history",
        };
        let answer = api.call(method, &form).await?;
        let messages = answer["messages"].as_array().ok_or(Failure::Unreadable)?;
        // The first message of a thread is always there [D]. A test server ignores `oldest` [T].
        let is_after =
            |message: &&Value| message["ts"].as_str().is_some_and(|at| ts::order(at) > ts::order(oldest));
        history.messages.extend(messages.iter().filter(is_after).cloned());
        answer["response_metadata"]["next_cursor"].as_str().unwrap_or_default().clone_into(&mut cursor);
        history.has_more = !cursor.is_empty();
        if cursor.is_empty() {
            break;
        }
    }
    // A channel's history has the newest first, a thread's replies the oldest [D].
    history.messages.sort_by(|one, other| key(one).cmp(&key(other)));
    Ok(history)
}

fn key(message: &Value) -> (usize, &str) {
    ts::order(message["ts"].as_str().unwrap_or_default())
}

impl Slack {
    /// Stores what was said in bound places since the last message that arrived from each. Slack redelivers nothing that we could
    /// rely on [?].
    pub(super) async fn fill_gap(&self, inbox: &dyn Inbox) -> Result<(), Failure> {
        for (place, last) in inbox.places().await {
            // A place that never heard anything begins with its next message.
            let Some(last) = last.filter(|_| place.account == self.account) else { continue };
            let history = loop {
                match after(&self.api, &place, &last).await {
                    Err(Failure::Wait { wait, .. }) => tokio::time::sleep(wait).await,
                    // The channel or its thread is not there any more, or not for us.
                    Err(Failure::NotFound | Failure::Refused(_)) => break History::default(),
                    Err(failure) => return Err(failure),
                    Ok(history) => break history,
                }
            };
            for message in history.messages {
                let read = self.reader().await?.message(&place.chat, &message);
                if let Some(keyed) = read {
                    // Within a place, everything is stored in order: the next gap begins after what is durable.
                    self.store(keyed, inbox).await?;
                }
            }
        }
        Ok(())
    }

    /// Puts an event into the inbox, with the name of its person.
    pub(super) async fn store(&self, (key, mut event): Keyed, inbox: &dyn Inbox) -> Result<Receipt, Failure> {
        self.add_name(&mut event).await;
        Ok(inbox.arrived(&key, event).await?)
    }

    /// Looks for a post with our key.
    pub(super) async fn find_post(
        &self,
        place: &Place,
        marker: &Marker,
        since_ms: i64,
    ) -> Result<Found, Failure> {
        let oldest = ts::of_ms(since_ms - CLOCK_MS);
        let history = match after(&self.api, place, &oldest).await {
            Err(Failure::NotFound) => History::default(),
            history => history?,
        };
        let us = self.reader().await?.us;
        let ours = history.messages.iter().filter(|message| {
            let (user, bot) = (message["user"].as_str(), message["bot_id"].as_str());
            user == Some(&us.user) || (bot.is_some() && bot == us.bot.as_deref())
        });
        let mut has_files = false;
        for message in ours {
            let metadata = &message["metadata"];
            let is_it = metadata["event_type"].as_str() == Some(EVENT_TYPE)
                && metadata["event_payload"]["key"].as_str() == Some(&marker.key);
            if let Some(id) = message["ts"].as_str().filter(|_| is_it) {
                return Ok(Found::Found(Sent { ids: vec![id.to_owned()], sent_ms: ts::ms(id) }));
            }
            has_files |= message["files"].as_array().is_some_and(|files| !files.is_empty());
        }
        // A shared file has no metadata [D]: one of ours could be the post.
        let is_certain = !history.has_more && !has_files;
        Ok(if is_certain { Found::Absent } else { Found::CannotTell })
    }

    /// The message in which a file of ours was shared there. Slack shares it after it answered \[D\].
    pub(super) async fn share_of(&self, place: &Place, file: &str) -> Option<String> {
        for attempt in 0..SHARES {
            if attempt > 0 {
                tokio::time::sleep(BETWEEN).await;
            }
            let answer = self.api.call("files.info", &vec![("file", file.to_owned())]).await;
            let Ok(answer) = answer else { continue };
            // By visibility, then by channel [D].
            let shares = answer["file"]["shares"].as_object().into_iter().flatten();
            let here = shares.filter_map(|(_, channels)| channels[&place.chat].get(0)?["ts"].as_str()).next();
            if let Some(id) = here {
                return Some(id.to_owned());
            }
        }
        None
    }
}
