//! Receiving: one session over several connections, and what was written while there was none. An event counts as handled when the
//! inbox has it; the cursor is recorded when it is durable. Must never take history of a new place for messages to us.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use reqwest::Url;
use retake_wire::chat::{Inbound, InboundMessage, Place};
use serde_json::Value;
use tokio::sync::mpsc;

use super::channels::{Channel, channel_of};
use super::events::{self, Where};
use super::session::{Next, Session};
use super::socket::{self, Begin, Dispatch, End};
use super::{Discord, post, snowflake};
use crate::adapter::Inbox;
use crate::failure::{Failure, Refused};

/// How often a session is resumed at once. Then the caller decides when to go on.
const RESUMED: usize = 16;

/// The most events that wait to be handled.
const WAITING: usize = 4_096;

/// The most pages of missed messages of one place.
const PAGES: usize = 100;

/// How many wordings are remembered, to tell an edit from an update without one.
const REMEMBERED: usize = 4_096;

impl Discord {
    pub(super) async fn receive_events(&self, cursor: Option<&str>, inbox: &dyn Inbox) -> Failure {
        for _ in 0..RESUMED {
            match self.connection(cursor, inbox).await {
                Ok(End::Resume) => {}
                Ok(End::SessionLost) => {
                    self.session.lose();
                    // The platform asks for a random time of 1 to 5 s before a new session [D].
                    let wait = Duration::from_millis(fastrand::u64(1_000..5_000));
                    return Failure::Wait { wait, bucket: None };
                }
                Ok(End::Failed(failure)) => {
                    // The intents may have been switched off: they are read again.
                    self.forget_me();
                    return failure;
                }
                Err(failure) => return failure,
            }
        }
        Failure::Unreachable
    }

    async fn connection(&self, cursor: Option<&str>, inbox: &dyn Inbox) -> Result<End, Failure> {
        let me = self.me().await?;
        let (address, begin) = match self.session.next(cursor) {
            Next::Resume { address, session, sequence } => {
                (self.accepted(&address), Begin::Resume { session, sequence })
            }
            Next::Identify => (self.start().await?, Begin::Identify { reads_content: me.reads_content }),
        };
        let (sender, mut waiting) = mpsc::channel(WAITING);
        let connected = socket::run(&address, self.rest.token(), &begin, sender);
        let handled = async {
            // An earlier connection ended before this was done. What comes now is newer.
            if matches!(begin, Begin::Resume { .. }) && !self.session.is_caught_up() {
                self.catch_up(&me.id, inbox).await?;
            }
            while let Some(event) = waiting.recv().await {
                self.handle(event, &me.id, inbox).await?;
            }
            Ok(())
        };
        tokio::pin!(connected, handled);
        // The socket is served while events are handled: heartbeats must not wait.
        tokio::select! {
            end = &mut connected => {
                // What arrived is handled before the next connection.
                handled.await?;
                Ok(end)
            }
            failed = &mut handled => failed.map(|()| End::Resume),
        }
    }

    /// The address for a new session, if one may begin. There are 1,000 a day \[D\].
    async fn start(&self) -> Result<String, Failure> {
        let start = self.rest.get("gateway/bot").await?;
        let limit = &start["session_start_limit"];
        if limit["remaining"].as_u64() == Some(0) {
            let wait = Duration::from_millis(limit["reset_after"].as_u64().unwrap_or(0));
            return Err(Failure::Wait { wait, bucket: None });
        }
        Ok(start["url"].as_str().map_or_else(|| self.gateway.clone(), |address| self.accepted(address)))
    }

    /// An address of the gateway, if our token may go there. The platform's hosts are below one domain; another one is replaced.
    fn accepted(&self, address: &str) -> String {
        let is_sibling = |own: &Url, other: &Url| {
            let domain = own.host_str().and_then(|host| host.strip_prefix("gateway."));
            let start = domain.and_then(|domain| other.host_str()?.strip_suffix(domain));
            start.is_some_and(|start| start.ends_with('.'))
        };
        let is_ours = |own: &Url, other: &Url| {
            own.scheme() == other.scheme()
                && own.port() == other.port()
                && (own.host_str() == other.host_str() || is_sibling(own, other))
        };
        match (Url::parse(&self.gateway), Url::parse(address)) {
            (Ok(own), Ok(other)) if is_ours(&own, &other) => {
                let port = other.port().map(|port| format!(":{port}")).unwrap_or_default();
                format!("{}://{}{port}", other.scheme(), other.host_str().unwrap_or_default())
            }
            _ => self.gateway.clone(),
        }
    }

    async fn handle(&self, event: Dispatch, me: &str, inbox: &dyn Inbox) -> Result<(), Failure> {
        let Dispatch { sequence, name, data } = event;
        let mut is_stored = false;
        match name.as_str() {
            "READY" => {
                let guilds = data["guilds"].as_array().into_iter().flatten();
                self.channels.begin(guilds.filter_map(|guild| guild["id"].as_str()));
                self.session.begin(Session::read(&data, sequence).ok_or(Failure::Unreadable)?);
                self.catch_up(me, inbox).await?;
            }
            "MESSAGE_CREATE" => is_stored = self.written(&data, me, inbox).await?,
            "MESSAGE_UPDATE" => is_stored = self.edited(&data, me, inbox).await?,
            "MESSAGE_DELETE" | "MESSAGE_DELETE_BULK" => is_stored = self.recalled(&data, inbox).await?,
            "INTERACTION_CREATE" => is_stored = self.pressed(&data, inbox).await?,
            _ => is_stored = self.changed(&name, &data, sequence, inbox).await?,
        }
        let cursor = self.session.handled(sequence);
        if let Some(cursor) = cursor.filter(|_| is_stored || name == "READY") {
            inbox.advance(&cursor).await?;
        }
        Ok(())
    }

    /// Hands over what was written in the bound places while there was no session, as if it came now.
    async fn catch_up(&self, me: &str, inbox: &dyn Inbox) -> Result<(), Failure> {
        for (place, last) in inbox.places().await {
            if place.account != self.account {
                continue;
            }
            // A place without a last message starts at its newest: its history is not for us.
            let Some(last) = last else { continue };
            match self.missed(&place, last, me, inbox).await {
                Err(Failure::NotFound | Failure::Refused(Refused::NotPermitted)) => {
                    let key = format!("gone:{}:{}", channel_of(&place), self.session.tag());
                    inbox.arrived(&key, Inbound::Membership { place, is_member: false }).await?;
                }
                // An id that is none: there is nothing to read.
                Err(Failure::Refused(_)) => tracing::warn!("A bound place cannot be read"),
                read => read?,
            }
        }
        self.session.caught_up();
        Ok(())
    }

    async fn missed(&self, place: &Place, last: String, me: &str, inbox: &dyn Inbox) -> Result<(), Failure> {
        let channel = channel_of(place);
        let known = self.channel(channel).await?;
        let mut after = last;
        for _ in 0..PAGES {
            let page = post::page(&self.rest, channel, &after).await?;
            for message in &page {
                self.arrived(message, &known, me, inbox).await?;
            }
            match page.last().and_then(|last| last["id"].as_str()) {
                Some(last) if page.len() >= post::PAGE => last.clone_into(&mut after),
                _ => break,
            }
        }
        Ok(())
    }

    async fn written(&self, message: &Value, me: &str, inbox: &dyn Inbox) -> Result<bool, Failure> {
        match self.channel_of_event(message).await? {
            Some(channel) => self.arrived(message, &channel, me, inbox).await,
            None => Ok(false),
        }
    }

    async fn arrived(
        &self,
        value: &Value,
        channel: &Channel,
        me: &str,
        inbox: &dyn Inbox,
    ) -> Result<bool, Failure> {
        let Some(message) = self.message(value, channel, me) else { return Ok(false) };
        self.wordings.changed(&message);
        let key = format!("create:{}", message.message);
        inbox.arrived(&key, Inbound::Message(message)).await?;
        Ok(true)
    }

    async fn edited(&self, value: &Value, me: &str, inbox: &dyn Inbox) -> Result<bool, Failure> {
        let Some(time) = events::edited(value) else { return Ok(false) };
        let Some(channel) = self.channel_of_event(value).await? else { return Ok(false) };
        let Some(message) = self.message(value, &channel, me) else { return Ok(false) };
        if !self.wordings.changed(&message) {
            return Ok(false);
        }
        let key = format!("update:{}:{}", message.message, time.get(..40).unwrap_or(time));
        inbox.arrived(&key, Inbound::Edited(message)).await?;
        Ok(true)
    }

    fn message(&self, value: &Value, channel: &Channel, me: &str) -> Option<InboundMessage> {
        let at = Where { place: channel.place(&self.account), audience: channel.audience() };
        events::message(value, at, me)
    }

    async fn recalled(&self, data: &Value, inbox: &dyn Inbox) -> Result<bool, Failure> {
        let Some(channel) = self.channel_of_event(data).await? else { return Ok(false) };
        let many = data["ids"].as_array().into_iter().flatten();
        let ids = std::iter::once(&data["id"]).chain(many).filter_map(Value::as_str);
        let mut is_stored = false;
        for id in ids.filter(|id| snowflake::number(id).is_some()) {
            // The platform does not say who deleted it.
            let place = channel.place(&self.account);
            let event = Inbound::Recalled { place, message: id.to_owned(), by: None };
            inbox.arrived(&format!("delete:{id}"), event).await?;
            is_stored = true;
        }
        Ok(is_stored)
    }

    async fn pressed(&self, interaction: &Value, inbox: &dyn Inbox) -> Result<bool, Failure> {
        let Some(channel) = self.channel_of_event(interaction).await? else { return Ok(false) };
        let Some(event) = events::pressed(interaction, channel.place(&self.account)) else {
            return Ok(false);
        };
        let (Inbound::Pressed { answer_to, .. }, Some(id)) = (&event, interaction["id"].as_str()) else {
            return Ok(false);
        };
        let (key, answer_to) = (format!("press:{id}"), answer_to.clone());
        inbox.arrived(&key, event).await?.durable().await?;
        // Stored, so it counts. If this fails, the person sees a failure and may press again.
        if self.defer(&answer_to).await.is_err() {
            tracing::debug!("A press could not be taken over");
        }
        Ok(true)
    }

    /// Channels and guilds that come and go.
    async fn changed(
        &self,
        name: &str,
        data: &Value,
        sequence: u64,
        inbox: &dyn Inbox,
    ) -> Result<bool, Failure> {
        let id = data["id"].as_str().unwrap_or_default();
        match name {
            "CHANNEL_CREATE" | "CHANNEL_UPDATE" | "THREAD_CREATE" | "THREAD_UPDATE" => {
                self.learn(std::iter::once(data), None);
            }
            "THREAD_LIST_SYNC" => self.learn(items(&data["threads"]), data["guild_id"].as_str()),
            "CHANNEL_DELETE" | "THREAD_DELETE" => {
                self.channels.forget(id);
                let is_gone = |place: &Place| place.chat == id || place.thread.as_deref() == Some(id);
                return self.memberships(&is_gone, false, sequence, inbox).await;
            }
            "GUILD_CREATE" if data["unavailable"].as_bool() != Some(true) => {
                self.learn(items(&data["channels"]).chain(items(&data["threads"])), Some(id));
                if self.channels.joined(id) {
                    let is_in = |place: &Place| {
                        let channel = self.channels.get(&place.chat);
                        channel.is_some_and(|channel| channel.guild.as_deref() == Some(id))
                    };
                    return self.memberships(&is_in, true, sequence, inbox).await;
                }
            }
            // An outage is no removal [D].
            "GUILD_DELETE" if data["unavailable"].as_bool() != Some(true) => {
                let gone = self.channels.left(id);
                return self.memberships(&|place| gone.contains(&place.chat), false, sequence, inbox).await;
            }
            _ => {}
        }
        Ok(false)
    }

    async fn memberships(
        &self,
        is_meant: &(dyn Fn(&Place) -> bool + Sync),
        is_member: bool,
        sequence: u64,
        inbox: &dyn Inbox,
    ) -> Result<bool, Failure> {
        let mut is_stored = false;
        for (place, _) in inbox.places().await {
            if place.account == self.account && is_meant(&place) {
                // The same when the session is resumed before this event, and another one the next time.
                let key = format!("member:{}:{}:{sequence}", channel_of(&place), self.session.tag());
                inbox.arrived(&key, Inbound::Membership { place, is_member }).await?;
                is_stored = true;
            }
        }
        Ok(is_stored)
    }

    fn learn<'a>(&self, channels: impl Iterator<Item = &'a Value>, guild: Option<&str>) {
        for channel in channels.filter_map(|channel| Channel::read(channel, guild)) {
            self.channels.learn(channel);
        }
    }

    /// The channel of an event. None, if it cannot be known any more.
    async fn channel_of_event(&self, data: &Value) -> Result<Option<Channel>, Failure> {
        let Some(id) = data["channel_id"].as_str().filter(|id| snowflake::number(id).is_some()) else {
            return Ok(None);
        };
        if data["guild_id"].as_str().is_none() && self.channels.get(id).is_none() {
            // Only direct messages, and what is shown to one person, have no guild [D].
            return Ok(Some(Channel { id: id.to_owned(), guild: None, parent: None }));
        }
        match self.channel(id).await {
            Ok(channel) => Ok(Some(channel)),
            Err(Failure::NotFound | Failure::Refused(_)) => Ok(None),
            Err(failure) => Err(failure),
        }
    }
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The last known wordings of messages.
#[derive(Debug, Default)]
pub(super) struct Wordings {
    known: Mutex<(HashMap<String, u64>, VecDeque<String>)>,
}

impl Wordings {
    /// Remembers the wording. Says whether it is another one than before.
    fn changed(&self, message: &InboundMessage) -> bool {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (wordings, order) = &mut *known;
        let wording = events::wording(message);
        let before = wordings.insert(message.message.clone(), wording);
        if before.is_none() {
            order.push_back(message.message.clone());
        }
        while order.len() > REMEMBERED {
            let oldest = order.pop_front();
            oldest.map(|oldest| wordings.remove(&oldest));
        }
        before != Some(wording)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Discord, DiscordConfig};

    #[test]
    fn token_goes_only_to_hosts_of_the_gateway() {
        let discord = Discord::new(DiscordConfig::new("a", "t".to_owned().into())).unwrap();
        let own = "wss://gateway.discord.gg";
        let sibling = "wss://gateway-us-east1-b.discord.gg";
        for (address, expected) in [(own, own), (sibling, sibling), ("wss://gateway.discord.gg/?v=10", own)] {
            assert_eq!(discord.accepted(address), expected);
        }
        let odd = [
            "ws://gateway-us-east1-b.discord.gg",
            "wss://evil.example",
            "wss://evildiscord.gg",
            "wss://gateway.discord.gg.evil.example",
            "wss://gateway.discord.gg@evil.example",
            "wss://gateway.discord.gg:444",
            "wss://evil.example/.discord.gg",
            "x",
            "",
        ];
        for address in odd {
            assert_eq!(discord.accepted(address), own, "{address}");
        }
    }
}
