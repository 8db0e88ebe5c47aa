//! The gateway's socket: hello, identify, resume, heartbeats, and what a session missed [D gateway]. Must never forget a session that
//! the client did not close with 1000 or 1001.

use std::sync::{Arc, Mutex, PoisonError};

use futures::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_websockets::{CloseCode, Message};

use super::world::{GUILDS, MESSAGE_CONTENT, World};
use crate::events::Events;
use crate::socket::Socket;

/// The flags of an application that may read content [D application].
const READS_CONTENT: u64 = 1 << 18 | 1 << 19;

/// What a test makes all sockets do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Nothing yet.
    None,
    /// Close with this code.
    Close(u16),
    /// Ask the client to connect again.
    Reconnect,
}

/// A session: its events in order. The sequence of an event is its position, counted from one.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) intents: u64,
    events: Events,
}

impl Session {
    pub(super) fn deliver(&self, name: &str, data: &Value) {
        self.events.deliver(json!({"t": name, "d": data}));
    }

    /// Delivers the last event of this name again.
    pub(super) fn redeliver(&self, name: &str) {
        let is_it = |position: &usize| {
            self.events.get(*position).is_some_and(|event| event["t"].as_str() == Some(name))
        };
        if let Some(position) = (0..self.events.len()).rev().find(is_it) {
            self.events.redeliver(position);
        }
    }
}

/// How a connection ends.
enum Close {
    /// With this code.
    Code(u16),
    /// The session is invalid.
    Invalid,
    /// It is gone already.
    Gone,
}

/// Serves one connection.
pub(super) async fn serve(world: Arc<Mutex<World>>, mut orders: watch::Receiver<Order>, mut socket: Socket) {
    orders.mark_unchanged();
    let close = talk(&world, &mut orders, &mut socket).await;
    let last = match close {
        Close::Code(code) => {
            Message::close(Some(CloseCode::try_from(code).expect("BUG: a test has a wrong code")), "")
        }
        Close::Invalid => Message::text(json!({"op": 9, "d": false}).to_string()),
        Close::Gone => return,
    };
    drop(socket.send(last).await);
    // The client closes, too.
    while let Some(Ok(message)) = socket.next().await {
        if message.is_close() {
            return;
        }
    }
}

async fn talk(world: &Mutex<World>, orders: &mut watch::Receiver<Order>, socket: &mut Socket) -> Close {
    let heartbeat = locked(world).live.heartbeat_ms;
    if say(socket, &json!({"op": 10, "d": {"heartbeat_interval": heartbeat}})).await.is_none() {
        return Close::Gone;
    }
    let (id, mut position) = loop {
        let Some(payload) = hear(socket).await else { return Close::Gone };
        match payload["op"].as_u64() {
            Some(1) if say(socket, &json!({"op": 11})).await.is_none() => return Close::Gone,
            Some(1) => {}
            Some(2) => match locked(world).identify(&payload["d"]) {
                Ok(id) => break (id, 0),
                Err(code) => return Close::Code(code),
            },
            Some(6) => match locked(world).resume(&payload["d"]) {
                Some(session) => break session,
                None => return Close::Invalid,
            },
            // Anything else before a session: not authenticated [D].
            _ => return Close::Code(4_003),
        }
    };
    let Some(events) = locked(world).live.sessions.get(&id).map(|session| session.events.clone()) else {
        return Close::Invalid;
    };
    loop {
        tokio::select! {
            event = events.wait_for(position) => {
                position += 1;
                let payload = json!({"op": 0, "s": position, "t": event["t"], "d": event["d"]});
                if say(socket, &payload).await.is_none() {
                    return Close::Gone;
                }
            }
            changed = orders.changed() => {
                let order = changed.map_or(Order::Close(1_001), |()| *orders.borrow_and_update());
                match order {
                    Order::None => {}
                    Order::Close(code) => return Close::Code(code),
                    Order::Reconnect if say(socket, &json!({"op": 7, "d": null})).await.is_none() => return Close::Gone,
                    Order::Reconnect => {}
                }
            }
            message = socket.next() => {
                let Some(Ok(message)) = message else { return Close::Gone };
                if let Some((code, _)) = message.as_close() {
                    let code = u16::from(code);
                    let mut world = locked(world);
                    world.control.begin("close", json!({"code": code}));
                    // The session ends [D].
                    if [1_000, 1_001].contains(&code) {
                        world.live.sessions.remove(&id);
                    }
                    return Close::Gone;
                }
                let beats = message.as_text().and_then(|text| serde_json::from_str::<Value>(text).ok());
                let is_beat = beats.is_some_and(|payload| payload["op"].as_u64() == Some(1));
                let is_mute = locked(world).live.is_mute;
                if is_beat && !is_mute && say(socket, &json!({"op": 11})).await.is_none() {
                    return Close::Gone;
                }
            }
        }
    }
}

impl World {
    /// Begins a session. Returns its id, or the code to close with.
    fn identify(&mut self, data: &Value) -> Result<String, u16> {
        let intents = data["intents"].as_u64().unwrap_or(0);
        self.control.begin("identify", json!({"intents": intents}));
        if data["token"].as_str() != Some(&self.token) {
            return Err(4_004);
        }
        // An intent that nobody switched on [D].
        if intents & MESSAGE_CONTENT != 0 && self.flags & READS_CONTENT == 0 {
            return Err(4_014);
        }
        self.live.identifies_left = self.live.identifies_left.saturating_sub(1);
        let id = format!("session{}", self.id());
        let session = Session { intents, events: Events::default() };
        // Guilds come as unavailable ones, and then one by one [D ready].
        let own: Vec<String> = self.own_guilds();
        let unavailable: Vec<Value> = own.iter().map(|id| json!({"id": id, "unavailable": true})).collect();
        session.deliver(
            "READY",
            &json!({
                "v": 10, "user": self.users.get(&self.me), "guilds": unavailable, "session_id": id,
                "resume_gateway_url": self.base.replacen("http", "ws", 1), "session_type": "normal",
                "application": {"id": self.application, "flags": self.flags},
            }),
        );
        for guild in own.iter().filter(|_| intents & GUILDS != 0) {
            session.deliver("GUILD_CREATE", &self.whole_guild(guild));
        }
        self.live.sessions.insert(id.clone(), session);
        Ok(id)
    }

    /// The guilds of our bot.
    pub(super) fn own_guilds(&self) -> Vec<String> {
        let is_in = |guild: &&String| self.guilds[guild.as_str()].members.contains_key(&self.me);
        self.guilds.keys().filter(is_in).cloned().collect()
    }

    /// Continues a session: its id, and the position of the first event that was missed. After these, it says so [D resumed].
    fn resume(&mut self, data: &Value) -> Option<(String, usize)> {
        let (id, sequence) = (data["session_id"].as_str()?, data["seq"].as_u64()?);
        self.control.begin("resume", json!({"session": id, "sequence": sequence}));
        let session = self.live.sessions.get(id).filter(|_| data["token"].as_str() == Some(&self.token))?;
        session.deliver("RESUMED", &json!({}));
        Some((id.to_owned(), usize::try_from(sequence).ok()?))
    }
}

async fn say(socket: &mut Socket, payload: &Value) -> Option<()> {
    socket.send(Message::text(payload.to_string())).await.ok()
}

/// The next payload. None, when the client is gone.
async fn hear(socket: &mut Socket) -> Option<Value> {
    loop {
        let message = socket.next().await?.ok()?;
        if message.is_close() {
            return None;
        }
        if let Some(text) = message.as_text() {
            return serde_json::from_str(text).ok();
        }
    }
}

fn locked(world: &Mutex<World>) -> std::sync::MutexGuard<'_, World> {
    world.lock().unwrap_or_else(PoisonError::into_inner)
}
