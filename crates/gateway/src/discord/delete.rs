//! Deletions, also in archived threads, and what we may delete. A thread is archived again after it was opened for a deletion. Must
//! never open a locked thread.

use reqwest::Method;
use retake_wire::chat::Place;
use serde_json::{Value, json};

use super::Discord;
use super::channels::{Channel, channel_of};
use super::permissions::{Permissions, Rules};
use super::snowflake::checked;
use crate::adapter::{Deleted, Probe};
use crate::failure::{Failure, Refused};

/// The fewest and the most ids of a bulk deletion \[D\].
pub(super) const BULK: std::ops::RangeInclusive<usize> = 2..=100;

impl Discord {
    pub(super) async fn delete_one(&self, place: &Place, id: &str) -> Result<Deleted, Failure> {
        let path = format!("channels/{}/messages/{}", checked(channel_of(place))?, checked(id)?);
        match self.in_open_thread(place, Method::DELETE, &path, &Value::Null).await {
            Ok(_) => Ok(Deleted::Gone),
            Err(Failure::NotFound) => Ok(Deleted::AlreadyGone),
            Err(failure) => Err(failure),
        }
    }

    pub(super) async fn delete_all(&self, place: &Place, ids: &[String]) -> Result<(), Failure> {
        let mut once: Vec<&str> = ids.iter().map(|id| checked(id)).collect::<Result<_, _>>()?;
        once.sort_unstable();
        once.dedup();
        // One id twice, too few or too many: the platform refuses all of them [D].
        if once.len() != ids.len() || !BULK.contains(&once.len()) {
            return Err(Failure::Refused(Refused::Batch));
        }
        let path = format!("channels/{}/messages/bulk-delete", checked(channel_of(place))?);
        self.in_open_thread(place, Method::POST, &path, &json!({"messages": ids})).await.map(drop)
    }

    /// Makes a call. If the thread is archived [D: 50083], opens it for the call.
    async fn in_open_thread(
        &self,
        place: &Place,
        method: Method,
        path: &str,
        body: &Value,
    ) -> Result<Value, Failure> {
        let call = || self.rest.call(method.clone(), path, body);
        let closed = match call().await {
            Err(closed @ Failure::Refused(Refused::ClosedThread)) => closed,
            answer => return answer,
        };
        let thread = format!("channels/{}", checked(channel_of(place))?);
        let state = &self.rest.get(&thread).await?["thread_metadata"];
        if state["locked"].as_bool() != Some(false) || state["archived"].as_bool() != Some(true) {
            return Err(closed);
        }
        self.rest.call(Method::PATCH, &thread, &json!({"archived": false})).await?;
        let answer = call().await;
        // The thread archives itself after its time in any case [D]. So this must not hide what became of the call.
        let archived = self.rest.call(Method::PATCH, &thread, &json!({"archived": true})).await;
        if archived.is_err() {
            tracing::debug!("A thread stays open until it archives itself");
        }
        answer
    }

    pub(super) async fn probe_place(&self, place: &Place) -> Result<Probe, Failure> {
        let channel = checked(channel_of(place))?;
        let known = match self.read_channel(channel).await {
            Ok(known) => known,
            Err(Failure::Refused(Refused::NotPermitted) | Failure::NotFound) => {
                return Ok(Probe::NotPermitted);
            }
            Err(failure) => return Err(failure),
        };
        if known.guild.is_none() {
            return Ok(Probe::Yes { bulk: false });
        }
        // Our own posts need no permission [D], only several at once do.
        let me = self.me().await?.id;
        let bulk = self.permissions(channel, &me).await?.manages_messages();
        Ok(Probe::Yes { bulk })
    }

    /// Whether a person may delete other people's messages.
    pub(super) async fn is_moderator(&self, place: &Place, person: &str) -> Result<bool, Failure> {
        let channel = checked(channel_of(place))?;
        if self.channel(channel).await?.guild.is_none() {
            return Ok(false);
        }
        match self.permissions(channel, checked(person)?).await {
            Ok(permissions) => Ok(permissions.manages_messages()),
            // No member of the guild.
            Err(Failure::NotFound) => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// The permissions of a user in a channel of a guild, as they are now.
    pub(super) async fn permissions(&self, channel: &str, user: &str) -> Result<Permissions, Failure> {
        let mut object = self.rest.get(&format!("channels/{}", checked(channel)?)).await?;
        let known = Channel::read(&object, None).ok_or(Failure::Unreadable)?;
        if let Some(parent) = &known.parent {
            object = self.rest.get(&format!("channels/{}", checked(parent)?)).await?;
        }
        let guild = known.guild.ok_or(Failure::Unreadable)?;
        let guild = format!("guilds/{}", checked(&guild)?);
        let member = self.rest.get(&format!("{guild}/members/{}", checked(user)?)).await?;
        let guild = self.rest.get(&guild).await?;
        Ok(Permissions::of(user, Rules { guild: &guild, member: &member, channel: &object }))
    }

    /// A channel, asked for if it is not known.
    pub(super) async fn channel(&self, id: &str) -> Result<Channel, Failure> {
        match self.channels.get(id) {
            Some(known) => Ok(known),
            None => self.read_channel(id).await,
        }
    }

    async fn read_channel(&self, id: &str) -> Result<Channel, Failure> {
        let object = self.rest.get(&format!("channels/{}", checked(id)?)).await?;
        let channel = Channel::read(&object, None).ok_or(Failure::Unreadable)?;
        self.channels.learn(channel.clone());
        Ok(channel)
    }
}
