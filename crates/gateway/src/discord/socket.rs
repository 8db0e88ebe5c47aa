//! The gateway's socket: hello, heartbeat, identify, resume, and what an end of the connection means. It hands events over, and never
//! waits for what becomes of them. Must never close with 1000 or 1001: they end the session \[D\].

use std::time::Duration;

use futures::{SinkExt as _, StreamExt as _};
use rustls::crypto::ring;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_websockets::{ClientBuilder, CloseCode, Limits, MaybeTlsStream, Message, WebSocketStream};

use crate::failure::{Failure, Refused};

/// How long a connection, and then each step up to the beginning of a session may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// The longest payload. A guild's can have megabytes.
const LONGEST: usize = 32 * 1024 * 1024;

/// The shortest pause between heartbeats that we accept.
const SHORTEST: Duration = Duration::from_millis(20);

/// Our code for the end of a connection. The session stays \[D\].
const CLOSE: u16 = 4_000;

/// Guilds, messages in guilds and in direct messages \[D\].
const INTENTS: u64 = 1 << 0 | 1 << 9 | 1 << 12;

/// The content of messages that do not mention us \[D\].
const CONTENT: u64 = 1 << 15;

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// How a connection begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Begin {
    /// A new session.
    Identify {
        /// Whether we may read messages that do not mention us.
        reads_content: bool,
    },
    /// A session continues after this event.
    Resume { session: String, sequence: u64 },
}

/// An event.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Dispatch {
    pub(super) sequence: u64,
    pub(super) name: String,
    pub(super) data: Value,
}

/// How a connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The session can be resumed.
    Resume,
    /// The session is over.
    SessionLost,
    /// We are refused.
    Failed(Failure),
}

/// Connects and hands events over, until the connection ends.
pub(super) async fn run(address: &str, token: &str, begin: &Begin, events: mpsc::Sender<Dispatch>) -> End {
    let Some(socket) = connect(address).await else { return End::Failed(Failure::Unreachable) };
    let sequence = match begin {
        Begin::Identify { .. } => None,
        Begin::Resume { sequence, .. } => Some(*sequence),
    };
    let mut connection = Connection { socket, events, sequence, is_begun: false };
    let end = match connection.hello(token, begin).await {
        Some(pause) => connection.listen(pause).await,
        None => End::Resume,
    };
    match end {
        // Nothing came of it, so trying at once again makes no sense.
        End::Resume if !connection.is_begun => End::Failed(Failure::Unreachable),
        end => end,
    }
}

async fn connect(address: &str) -> Option<Socket> {
    // The library requires a provider of encryption. One that is installed already stays.
    drop(ring::default_provider().install_default());
    let address = format!("{}/?v=10&encoding=json", address.trim_end_matches('/'));
    let builder = ClientBuilder::new().uri(&address).ok()?;
    let builder = builder.limits(Limits::default().max_payload_len(Some(LONGEST)));
    let (socket, _) = timeout(PATIENCE, builder.connect()).await.ok()?.ok()?;
    Some(socket)
}

struct Connection {
    socket: Socket,
    events: mpsc::Sender<Dispatch>,
    /// The last event that arrived.
    sequence: Option<u64>,
    /// Whether the session began.
    is_begun: bool,
}

impl Connection {
    /// Waits for the greeting and begins. Returns the pause between heartbeats.
    async fn hello(&mut self, token: &str, begin: &Begin) -> Option<Duration> {
        let hello = loop {
            let message = timeout(PATIENCE, self.socket.next()).await.ok()??.ok()?;
            if let Some(text) = message.as_text() {
                break serde_json::from_str::<Value>(text).ok()?;
            }
        };
        let pause = hello["d"]["heartbeat_interval"].as_u64().filter(|_| hello["op"].as_u64() == Some(10))?;
        let first = match begin {
            Begin::Identify { reads_content } => json!({"op": 2, "d": {
                "token": token,
                "intents": INTENTS | if *reads_content { CONTENT } else { 0 },
                "properties": {"os": std::env::consts::OS, "browser": "retake", "device": "retake"},
            }}),
            Begin::Resume { session, sequence } => {
                json!({"op": 6, "d": {"token": token, "session_id": session, "seq": sequence}})
            }
        };
        self.say(&first).await?;
        Some(Duration::from_millis(pause).max(SHORTEST))
    }

    async fn listen(&mut self, pause: Duration) -> End {
        // The first heartbeat comes after a random part of the pause [D].
        let mut beat = Box::pin(sleep(pause.mul_f64(fastrand::f64())));
        let mut start = Box::pin(sleep(PATIENCE));
        let mut is_answered = true;
        loop {
            let message = tokio::select! {
                () = &mut beat => {
                    // Without an answer to the last one, the connection is dead [D].
                    if !is_answered || self.beat().await.is_none() {
                        return self.close().await;
                    }
                    is_answered = false;
                    beat = Box::pin(sleep(pause));
                    continue;
                }
                () = &mut start, if !self.is_begun => return self.close().await,
                message = self.socket.next() => message,
            };
            let Some(Ok(message)) = message else { return End::Resume };
            if let Some((code, _)) = message.as_close() {
                return meaning(u16::from(code));
            }
            let payload = message.as_text().and_then(|text| serde_json::from_str::<Value>(text).ok());
            let Some(payload) = payload else { continue };
            let operation = payload["op"].as_u64();
            let is_resumable = payload["d"].as_bool() == Some(true);
            if operation == Some(0) && self.dispatch(payload).is_some() {
                continue;
            }
            match operation {
                // Too many events wait. The session is resumed after the last one that was handled.
                Some(0) => return self.close().await,
                Some(1) if self.beat().await.is_none() => return End::Resume,
                // The platform asks us to connect again [D].
                Some(7) => return self.close().await,
                Some(9) if is_resumable => return self.close().await,
                Some(9) => return End::SessionLost,
                Some(11) => is_answered = true,
                _ => {}
            }
        }
    }

    /// Hands an event over, if there is room for it.
    fn dispatch(&mut self, mut payload: Value) -> Option<()> {
        let (Some(sequence), Some(name)) = (payload["s"].as_u64(), payload["t"].as_str()) else {
            return Some(());
        };
        self.sequence = Some(sequence);
        // A new session begins with an event, and a resumed one with those that we missed [D].
        self.is_begun = true;
        let name = name.to_owned();
        self.events.try_send(Dispatch { sequence, name, data: payload["d"].take() }).ok()
    }

    async fn beat(&mut self) -> Option<()> {
        let beat = json!({"op": 1, "d": self.sequence});
        self.say(&beat).await
    }

    async fn say(&mut self, payload: &Value) -> Option<()> {
        timeout(PATIENCE, self.socket.send(Message::text(payload.to_string()))).await.ok()?.ok()
    }

    async fn close(&mut self) -> End {
        let code = CloseCode::try_from(CLOSE).expect("BUG: 4000 is a code for applications");
        // It is closed in any case.
        drop(timeout(PATIENCE, self.socket.send(Message::close(Some(code), ""))).await);
        End::Resume
    }
}

/// What a code of the platform means \[D\].
fn meaning(code: u16) -> End {
    match code {
        4_004 => End::Failed(Failure::BadToken),
        // A wrong sequence; the session timed out.
        4_007 | 4_009 => End::SessionLost,
        // Sharding, the version of the API, or intents.
        4_010..=4_013 => End::Failed(Failure::Refused(Refused::Other)),
        // An intent that nobody switched on for us.
        4_014 => End::Failed(Failure::Refused(Refused::NotPermitted)),
        _ => End::Resume,
    }
}

#[cfg(test)]
mod tests {
    use super::{End, meaning};
    use crate::failure::{Failure, Refused};

    #[test]
    fn code_of_a_close_says_whether_the_session_is_over() {
        let rows = [
            (1_000, End::Resume),
            (4_000, End::Resume),
            (4_004, End::Failed(Failure::BadToken)),
            (4_007, End::SessionLost),
            (4_008, End::Resume),
            (4_009, End::SessionLost),
            (4_012, End::Failed(Failure::Refused(Refused::Other))),
            (4_014, End::Failed(Failure::Refused(Refused::NotPermitted))),
        ];
        for (code, end) in rows {
            assert_eq!(meaning(code), end, "{code}");
        }
    }
}
