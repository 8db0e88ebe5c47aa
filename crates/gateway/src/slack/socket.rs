//! Socket Mode: events over a WebSocket. An envelope is acknowledged only after its event is durable. Must never log an address: it
//! holds a secret.

use std::collections::VecDeque;
use std::time::Duration;

use futures::stream::FuturesUnordered;
use futures::{SinkExt as _, StreamExt as _};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_websockets::{ClientBuilder, Limits, MaybeTlsStream, Message, WebSocketStream};

use super::Slack;
use crate::adapter::Inbox;
use crate::failure::{Failure, Refused};
use crate::receipt::{InboxClosed, Receipt};

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(20);

/// How often we ask whether the other end is there.
const PING: Duration = Duration::from_secs(30);

/// How many pings without any sign of life end a connection.
const MISSED: u32 = 3;

/// The least time between two connections.
const PAUSE: Duration = Duration::from_secs(1);

/// How long a socket that Slack replaces waits for events that are not durable. What it does not acknowledge comes again.
const LAST: Duration = Duration::from_secs(3);

/// The longest envelope, in bytes.
const LONGEST: usize = 4 * 1024 * 1024;

type Stream = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// What ends a connection without a failure: Slack wants another one.
struct Refresh;

/// What an envelope is.
enum Taken {
    /// An event, or nothing for us.
    Event(Receipt),
    Refresh,
}

/// The id of an envelope, as soon as its event is durable.
async fn durable(id: String, mut receipt: Receipt) -> Result<String, InboxClosed> {
    receipt.durable().await.map(|()| id)
}

/// A connected socket.
struct Socket {
    stream: Stream,
    ping: tokio::time::Interval,
    missed: u32,
}

impl Socket {
    async fn open(slack: &Slack) -> Result<Self, Failure> {
        let address = slack.api.open().await?;
        let builder = ClientBuilder::new()
            .uri(address.expose_secret())
            .map_err(|_| Failure::Unreadable)?
            .limits(Limits::default().max_payload_len(Some(LONGEST)));
        let connected = tokio::time::timeout(CONNECT, builder.connect()).await;
        let (stream, _) = connected.map_err(|_| Failure::Unreachable)?.map_err(|_| Failure::Unreachable)?;
        let mut ping = tokio::time::interval(PING);
        ping.reset();
        Ok(Self { stream, ping, missed: 0 })
    }

    /// The next envelope. Can be dropped while it waits.
    async fn next(&mut self) -> Result<Value, Failure> {
        loop {
            tokio::select! {
                message = self.stream.next() => {
                    let message = message.ok_or(Failure::Unreachable)?.map_err(|_| Failure::Unreachable)?;
                    self.missed = 0;
                    if message.is_close() {
                        return Err(Failure::Unreachable);
                    }
                    // What is no JSON says nothing.
                    let envelope = message.as_text().and_then(|text| serde_json::from_str(text).ok());
                    if let Some(envelope) = envelope {
                        return Ok(envelope);
                    }
                }
                _ = self.ping.tick() => {
                    self.missed += 1;
                    if self.missed > MISSED {
                        return Err(Failure::Unreachable);
                    }
                    self.stream.send(Message::ping("")).await.map_err(|_| Failure::Unreachable)?;
                }
            }
        }
    }

    async fn acknowledge(&mut self, id: &str) -> Result<(), Failure> {
        let answer = json!({ "envelope_id": id }).to_string();
        self.stream.send(Message::text(answer)).await.map_err(|_| Failure::Unreachable)
    }
}

impl Slack {
    /// Receives until it fails. When Slack asks for another connection, there is one.
    pub(super) async fn receive_all(&self, inbox: &dyn Inbox) -> Result<(), Failure> {
        loop {
            let pause = tokio::time::sleep(PAUSE);
            let Refresh = self.receive_once(inbox).await?;
            pause.await;
        }
    }

    async fn receive_once(&self, inbox: &dyn Inbox) -> Result<Refresh, Failure> {
        // First the socket, then the history: so nothing is missed in between. What comes over the socket waits until the older
        // messages are stored.
        let mut socket = Socket::open(self).await?;
        let mut waiting = VecDeque::new();
        {
            let filling = self.fill_gap(inbox);
            tokio::pin!(filling);
            loop {
                // After this, nothing comes any more but the end of the connection.
                let is_ending = waiting.back().is_some_and(|last: &Value| last["type"] == "disconnect");
                tokio::select! {
                    biased;
                    filled = &mut filling => break filled?,
                    envelope = socket.next(), if !is_ending => waiting.push_back(envelope?),
                }
            }
        }
        // Envelopes that wait until their events are durable. Meanwhile, others are received.
        let mut open = FuturesUnordered::new();
        loop {
            let envelope = match waiting.pop_front() {
                Some(envelope) => envelope,
                None => tokio::select! {
                    biased;
                    Some(id) = open.next() => {
                        let id: String = id?;
                        socket.acknowledge(&id).await?;
                        continue;
                    }
                    envelope = socket.next() => envelope?,
                },
            };
            match self.take(&envelope, inbox).await? {
                Taken::Event(receipt) => {
                    if let Some(id) = envelope["envelope_id"].as_str() {
                        open.push(durable(id.to_owned(), receipt));
                    }
                }
                Taken::Refresh => break,
            }
        }
        // The socket still takes what is durable soon.
        let last = async {
            while let Some(id) = open.next().await {
                let id: String = id?;
                socket.acknowledge(&id).await?;
            }
            Ok::<_, Failure>(())
        };
        tokio::time::timeout(LAST, last).await.unwrap_or(Ok(()))?;
        Ok(Refresh)
    }

    async fn take(&self, envelope: &Value, inbox: &dyn Inbox) -> Result<Taken, Failure> {
        let payload = &envelope["payload"];
        let reader = self.reader().await?;
        let event = match envelope["type"].as_str() {
            Some("disconnect") => {
                // `link_disabled`: Socket Mode was switched off [D]. All others want a new connection.
                let is_off = envelope["reason"].as_str() == Some("link_disabled");
                return if is_off {
                    Err(Failure::Refused(Refused::NotPermitted))
                } else {
                    Ok(Taken::Refresh)
                };
            }
            Some("events_api") => reader.event(&payload["event"]),
            Some("interactive") => reader.press(payload),
            _ => None,
        };
        Ok(Taken::Event(match event {
            Some(event) => self.store(event, inbox).await?,
            None => Receipt::durable_now(),
        }))
    }
}
