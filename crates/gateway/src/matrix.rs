//! The adapter for Matrix: a thin client of the client-server API. It reads rooms without encryption only, and says so in others. Must
//! never mention anybody in what it sends, and never lose track of the device: the server recognises a repeated request by it.

mod api;
mod content;
mod html;
mod inbound;
mod levels;
mod media;
mod mention;
mod receive;
mod room;
mod upgrade;

use std::time::Duration;

use async_trait::async_trait;
use reqwest::Method;
use retake_wire::chat::{InboundFile, Person, Place};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use self::api::Api;
use self::inbound::is_redacted;
use self::levels::Levels;
use crate::adapter::{Adapter, Deleted, Found, Identity, Inbox, Marker, Outgoing, Probe, Sent, SetupStep};
use crate::capabilities::{Capabilities, CommandPrefix, DeletionWindow, LengthUnit, Remains, Resend};
use crate::failure::{Failure, Refused};

/// What Matrix can do.
static CAPABILITIES: Capabilities = Capabilities {
    platform: "matrix",
    title: "Matrix",
    // Clients keep commands with a slash for themselves [U].
    commands: CommandPrefix::Bang,
    // The whole event has 65,536 bytes [D], and an edit with HTML holds the text four times. A body of 65,000 is refused [T].
    longest: 12_000,
    unit: LengthUnit::Bytes,
    // [D]. A server may refuse old ones (`redaction_allowed_period`, off by default [S]): with 403, as without permission.
    deletes: DeletionWindow::Always,
    // There is no endpoint for it [D].
    bulk: None,
    // The event stays without its content [D][T].
    remains: Remains::Stub,
    // A redaction of the original leaves them readable [D][T].
    edits_are_messages: true,
    // `m.replace` [D].
    edits: true,
    // Per device, kept for 24 h by Synapse [S][T]; an hour of margin. Then our key in the content [T].
    resend: &[Resend::Again(Duration::from_secs(23 * 60 * 60)), Resend::Find, Resend::Send],
    // Each edit is an event, and Synapse allows 0.2 a second [S][T].
    previews: [false, false],
    // [D]
    buttons: false,
    // [D]
    ephemeral: false,
    // Synapse allows a burst of 10, then 0.2 a second, of the whole account [S][T]. Its 429 says the rest.
    spacing: [Duration::from_secs(1), Duration::from_secs(1)],
};

/// How long others see that we write, if nothing follows, in milliseconds.
const TYPING_MS: u32 = 20_000;

/// How many pages `find` reads.
const MOST_PAGES: usize = 50;

/// How far our clock and the server's may differ.
const CLOCKS_MS: i64 = 5 * 60 * 1000;

/// An account on a homeserver.
#[derive(Clone, Debug)]
pub struct MatrixConfig {
    /// The name of the account in the settings.
    pub account: String,
    /// The address of the homeserver, such as `https://matrix.example.org`.
    pub homeserver: String,
    /// The access token.
    pub token: SecretString,
    /// The id of the token's device. With it, a token of another device is noticed: it would send messages twice.
    pub device: Option<String>,
    /// Which invitations to accept.
    pub invites: Invites,
    /// A message for encrypted rooms, sent when we join one or when a room becomes encrypted: that we cannot read there. `None` sends
    /// nothing.
    pub unreadable: Option<String>,
}

/// Which invitations to accept. Others are left open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Invites {
    /// All.
    #[default]
    Join,
    /// Those of these people, by their ids.
    From(Vec<String>),
    /// None.
    Ignore,
}

/// A new login.
#[derive(Clone, Debug)]
pub struct Login {
    /// Our id.
    pub user: String,
    /// The access token.
    pub token: SecretString,
    /// The id of its device. Keep it together with the token.
    pub device: String,
}

/// Logs in with a password. With the id of a device that was used before, repeated requests are recognised as before. Older
/// tokens of the device may end.
///
/// # Errors
/// [`Failure::BadToken`] if the password is wrong.
pub async fn login(
    homeserver: &str,
    user: &str,
    password: &SecretString,
    device: Option<&str>,
) -> Result<Login, Failure> {
    let api = Api::new(homeserver, SecretString::default())?;
    let mut body = json!({
        "type": "m.login.password",
        "identifier": { "type": "m.id.user", "user": user },
        "password": password.expose_secret(),
        "initial_device_display_name": "Retake",
    });
    if let Some(device) = device {
        body["device_id"] = json!(device);
    }
    let request = api.bare(Method::POST, &["client", "v3", "login"]).json(&body);
    let answer = match api::answer(request).await {
        Err(Failure::Refused(Refused::NotPermitted)) => return Err(Failure::BadToken),
        other => other?,
    };
    let text = |name: &str| answer[name].as_str().map(str::to_owned).ok_or(Failure::Unreadable);
    Ok(Login { user: text("user_id")?, token: text("access_token")?.into(), device: text("device_id")? })
}

/// The adapter.
#[derive(Debug)]
pub struct Matrix {
    account: String,
    device: Option<String>,
    invites: Invites,
    unreadable: Option<String>,
    api: Api,
    us: OnceCell<String>,
}

impl Matrix {
    /// An adapter of this account. Sends nothing yet.
    ///
    /// # Errors
    /// `Refused(Other)` if the address of the homeserver is none.
    pub fn new(config: MatrixConfig) -> Result<Self, Failure> {
        let MatrixConfig { account, homeserver, token, device, invites, unreadable } = config;
        let api = Api::new(&homeserver, token)?;
        Ok(Self { account, device, invites, unreadable, api, us: OnceCell::new() })
    }

    /// Our id. Asks once.
    async fn us(&self) -> Result<&str, Failure> {
        self.us.get_or_try_init(|| self.whoami()).await.map(String::as_str)
    }

    /// Our id, by the token. A token of another device is no token for us.
    async fn whoami(&self) -> Result<String, Failure> {
        let answer = self.api.get(&["account", "whoami"], &[]).await?;
        match (&self.device, answer["device_id"].as_str()) {
            (Some(kept), Some(device)) if kept != device => Err(Failure::BadToken),
            _ => answer["user_id"].as_str().map(str::to_owned).ok_or(Failure::Unreadable),
        }
    }

    /// The display name of a person.
    async fn name(&self, id: &str) -> Result<Option<String>, Failure> {
        match self.api.get(&["profile", id, "displayname"], &[]).await {
            Ok(answer) => Ok(answer["displayname"].as_str().map(str::to_owned)),
            Err(Failure::NotFound | Failure::Refused(_)) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// An event.
    async fn event(&self, room: &str, id: &str) -> Result<Value, Failure> {
        self.api.get(&["rooms", checked(room, '!')?, "event", checked(id, '$')?], &[]).await
    }

    /// Sends an event. The same number gives the same event.
    async fn put(&self, room: &str, kind: &str, number: &str, content: &Value) -> Result<String, Failure> {
        let path = ["rooms", checked(room, '!')?, "send", kind, number];
        let answer = self.api.change(Method::PUT, &path, content).await?;
        // The server accepted it, and we do not know its id.
        answer["event_id"].as_str().map(str::to_owned).ok_or(Failure::Unknown)
    }

    async fn put_message(&self, place: &Place, marker: &Marker, content: &Value) -> Result<Sent, Failure> {
        let id = self.put(&place.chat, "m.room.message", &marker.key, content).await?;
        // The answer has no time.
        Ok(Sent { ids: vec![id], sent_ms: None })
    }

    /// A state event, whole since version 1.16 of the specification, before that its content \[D\].
    async fn state(&self, room: &str, kind: &str, key: &str) -> Result<Option<Value>, Failure> {
        let path = ["rooms", checked(room, '!')?, "state", kind, key];
        match self.api.get(&path, &[("format", "event")]).await {
            Ok(event) if event["content"].is_object() && event["type"] == kind => Ok(Some(event)),
            Ok(content) => Ok(Some(json!({ "content": content }))),
            Err(Failure::NotFound) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    async fn levels(&self, place: &Place) -> Result<Levels, Failure> {
        let levels = self.state(&place.chat, "m.room.power_levels", "").await?;
        let create = self.state(&place.chat, "m.room.create", "").await?.unwrap_or_default();
        Ok(Levels { levels: levels.map(|mut event| event["content"].take()), create })
    }
}

/// An id, if it can be one: ids become parts of addresses.
fn checked(id: &str, sigil: char) -> Result<&str, Failure> {
    if id.starts_with(sigil) { Ok(id) } else { Err(Failure::Refused(Refused::Other)) }
}

#[async_trait]
impl Adapter for Matrix {
    fn capabilities(&self) -> &'static Capabilities {
        &CAPABILITIES
    }

    async fn identify(&self) -> Result<Identity, Failure> {
        let id = self.whoami().await?;
        let localpart = || id.trim_start_matches('@').split(':').next().unwrap_or_default().to_owned();
        let name = self.name(&id).await?.unwrap_or_else(localpart);
        let rooms = self.api.get(&["joined_rooms"], &[]).await?;
        let has_rooms = rooms["joined_rooms"].as_array().is_some_and(|rooms| !rooms.is_empty());
        let missing = if has_rooms { Vec::new() } else { vec![SetupStep::Invite] };
        Ok(Identity { id, name, missing })
    }

    async fn receive(&self, cursor: Option<String>, inbox: &dyn Inbox) -> Failure {
        receive::receive(self, cursor, inbox).await
    }

    async fn send(&self, place: &Place, post: &Outgoing, marker: &Marker) -> Result<Sent, Failure> {
        let content = match &post.file {
            None => content::message(place, post, marker)?,
            Some(file) => {
                let address = media::upload(&self.api, file).await?;
                content::file(place, post, file, &address, marker)?
            }
        };
        self.put_message(place, marker, &content).await
    }

    async fn edit(&self, place: &Place, id: &str, post: &Outgoing, marker: &Marker) -> Result<Sent, Failure> {
        let content = content::edit(id, post, marker)?;
        // The server accepts an edit of a message that is gone [T]: nobody would see it, and it would be readable.
        if is_redacted(&self.event(&place.chat, id).await?) {
            return Err(Failure::NotFound);
        }
        self.put_message(place, marker, &content).await
    }

    async fn delete(&self, place: &Place, id: &str) -> Result<Deleted, Failure> {
        // The same number each time, so that a repeated request makes no second event.
        let number = format!("redact{}", &blake3::hash(id.as_bytes()).to_hex()[..32]);
        let path = ["rooms", checked(&place.chat, '!')?, "redact", checked(id, '$')?, &number];
        match self.api.change(Method::PUT, &path, &json!({})).await {
            // A second redaction has the same answer [T].
            Ok(_) => Ok(Deleted::Emptied),
            Err(Failure::NotFound) => Ok(Deleted::AlreadyGone),
            Err(failure) => Err(failure),
        }
    }

    async fn delete_many(&self, _: &Place, _: &[String]) -> Result<(), Failure> {
        Err(Failure::Refused(Refused::Other))
    }

    async fn find(&self, place: &Place, marker: &Marker, since_ms: i64) -> Result<Found, Failure> {
        // Messages of threads are in the history of their room [D].
        let filter = json!({ "types": ["m.room.message"], "senders": [self.us().await?] }).to_string();
        let mut from = None;
        for _ in 0..MOST_PAGES {
            let mut query = vec![("dir", "b"), ("limit", "100"), ("filter", &filter)];
            query.extend(from.as_deref().map(|from: &str| ("from", from)));
            let page = self.api.get(&["rooms", checked(&place.chat, '!')?, "messages"], &query).await?;
            let chunk = page["chunk"].as_array().ok_or(Failure::Unreadable)?;
            let time = |event: &Value| event["origin_server_ts"].as_i64();
            if let Some(event) = chunk.iter().find(|event| content::marker(event) == Some(&marker.key)) {
                let id = event["event_id"].as_str().ok_or(Failure::Unreadable)?;
                return Ok(Found::Found(Sent { ids: vec![id.to_owned()], sent_ms: time(event) }));
            }
            let is_before =
                |event: &Value| time(event).is_some_and(|ms| ms < since_ms.saturating_sub(CLOCKS_MS));
            match page["end"].as_str() {
                Some(end) if from.as_deref() != Some(end) && !chunk.iter().any(is_before) => {
                    from = Some(end.to_owned());
                }
                _ => return Ok(Found::Absent),
            }
        }
        Ok(Found::CannotTell)
    }

    async fn probe(&self, place: &Place) -> Result<Probe, Failure> {
        let us = self.us().await?;
        let refused = |failure| match failure {
            // Who is not in the room does not see its state [D].
            Failure::Refused(Refused::NotPermitted) => Ok(Probe::NotPermitted),
            failure => Err(failure),
        };
        // Who was removed still sees the state of that time [D].
        let membership = match self.state(&place.chat, "m.room.member", us).await {
            Ok(event) => event.unwrap_or_default()["content"]["membership"].take(),
            Err(failure) => return refused(failure),
        };
        match self.levels(place).await {
            Ok(levels) if membership == "join" && levels.of(us) >= levels.for_redaction() => {
                Ok(Probe::Yes { bulk: false })
            }
            Ok(_) => Ok(Probe::NotPermitted),
            Err(failure) => refused(failure),
        }
    }

    async fn moderates(&self, place: &Place, person: &str) -> Result<bool, Failure> {
        let levels = self.levels(place).await?;
        let member = self.state(&place.chat, "m.room.member", person).await?.unwrap_or_default();
        Ok(member["content"]["membership"] == "join" && levels.of(person) >= levels.for_moderation())
    }

    async fn fetch(&self, file: &InboundFile, most: u64) -> Result<Vec<u8>, Failure> {
        media::download(&self.api, &file.handle, most).await
    }

    async fn whisper(&self, _: &Place, _: &Person, _: &str, _: Option<&str>) -> Result<(), Failure> {
        // No event is visible to one person only [D].
        Err(Failure::Refused(Refused::Other))
    }

    async fn typing(&self, place: &Place) -> Result<(), Failure> {
        let path = ["rooms", checked(&place.chat, '!')?, "typing", self.us().await?];
        let body = json!({ "typing": true, "timeout": TYPING_MS });
        self.api.change(Method::PUT, &path, &body).await.map(drop)
    }
}
