//! Rooms that are replaced by new ones. Must never move a conversation to a room that the old room does not name itself.

use reqwest::Method;
use serde_json::{Value, json};

use super::Matrix;
use super::api::answer;
use crate::failure::Failure;

impl Matrix {
    /// Joins the room that replaces an old one, if it lets us in. Otherwise its people have to invite us.
    pub(super) async fn follow_tombstone(&self, event: &Value) -> Result<(), Failure> {
        let successor = event["content"]["replacement_room"].as_str().filter(|room| room.starts_with('!'));
        let server = event["sender"].as_str().and_then(|sender| Some(sender.split_once(':')?.1));
        let (Some(room), Some(server)) = (successor, server) else { return Ok(()) };
        // A server does not know rooms of other servers [D].
        let request = self.api.request(Method::POST, &["client", "v3", "join", room]);
        match answer(request.query(&[("via", server)]).json(&json!({}))).await {
            Err(wait @ Failure::Wait { .. }) => Err(wait),
            Err(failure) => {
                tracing::warn!(reason = %failure, "the room that replaces an old one could not be joined");
                Ok(())
            }
            Ok(_) => Ok(()),
        }
    }

    /// The room that this one replaces. Both must say so: anybody can make a room that names an old one.
    pub(super) async fn predecessor(&self, room: &str) -> Result<Option<String>, Failure> {
        let create = self.state_or_nothing(room, "m.room.create").await?;
        let Some(old) = create["content"]["predecessor"]["room_id"].as_str() else { return Ok(None) };
        if !old.starts_with('!') {
            return Ok(None);
        }
        let tombstone = self.state_or_nothing(old, "m.room.tombstone").await?;
        let is_named = tombstone["content"]["replacement_room"].as_str() == Some(room);
        Ok(is_named.then(|| old.to_owned()))
    }

    async fn state_or_nothing(&self, room: &str, kind: &str) -> Result<Value, Failure> {
        match self.state(room, kind, "").await {
            Ok(event) => Ok(event.unwrap_or_default()),
            Err(Failure::Refused(_)) => Ok(Value::Null),
            Err(failure) => Err(failure),
        }
    }
}
