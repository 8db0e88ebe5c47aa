//! The adapter of Discord: REST and the gateway's socket, version 10. Facts are of the vendor's documentation where a comment says
//! \[D\]. A thread is a channel: its place is the channel with the thread, and calls go to the thread. Must never notify anybody by a
//! text.

mod channels;
mod delete;
mod events;
mod fetch;
mod markdown;
mod permissions;
mod post;
mod receive;
mod rest;
mod session;
mod snowflake;
mod socket;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use reqwest::Method;
use retake_wire::chat::{InboundFile, Person, Place};
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::adapter::{
    Adapter, Deleted, Found, Identity, Inbox, Marker, Outgoing, Probe, Sent, SetupStep, StyledText,
};
use crate::capabilities::{
    BulkDeletion, Capabilities, CommandPrefix, DeletionWindow, LengthUnit, Remains, Resend,
};
use crate::failure::Failure;

use channels::{Channels, channel_of};
use receive::Wordings;
use rest::Rest;
use snowflake::checked;

/// The flags of an application that may read all messages: with, and without a review by the platform \[D\].
const READS_CONTENT: u64 = 1 << 18 | 1 << 19;

static CAPABILITIES: Capabilities = Capabilities {
    platform: "discord",
    title: "Discord",
    // A slash opens the client's own list of commands [D].
    commands: CommandPrefix::Bang,
    // Characters [D]. UTF-16 units are never fewer.
    longest: markdown::LONGEST,
    unit: LengthUnit::Utf16,
    // Own messages at any age, without a permission [D].
    deletes: DeletionWindow::Always,
    // In guilds, with Manage Messages [D].
    bulk: Some(BulkDeletion {
        least: *delete::BULK.start(),
        most: *delete::BULK.end(),
        oldest: Duration::from_hours(14 * 24),
    }),
    // A thread that began at the message stays [D].
    remains: Remains::Nothing,
    // An edit has no message of its own [D].
    edits_are_messages: false,
    // Own messages at any age [D].
    edits: true,
    // The nonce is known for "past few minutes" [D]: we rely on three.
    resend: &[Resend::Again(Duration::from_mins(3)), Resend::Find, Resend::Send],
    // There are no drafts [D].
    previews: [true, true],
    // Message components [D].
    buttons: true,
    // As an answer to a press [D].
    ephemeral: true,
    // About five messages in 5 s for a channel [U]; 50 requests a second [D].
    spacing: [Duration::from_secs(1), Duration::from_millis(20)],
};

/// An account of Discord.
#[derive(Clone, Debug)]
pub struct DiscordConfig {
    /// The name of the account in the settings.
    pub account: String,
    /// The token of the bot.
    pub token: SecretString,
    /// The base of the REST API, with its version.
    pub rest: String,
    /// The address of the gateway.
    pub gateway: String,
    /// The servers with the attached files: `https://` and a host.
    pub files: Vec<String>,
}

impl DiscordConfig {
    /// An account at the platform's usual addresses.
    pub fn new(account: &str, token: SecretString) -> Self {
        Self {
            account: account.to_owned(),
            token,
            rest: "https://discord.com/api/v10".to_owned(),
            gateway: "wss://gateway.discord.gg".to_owned(),
            files: ["https://cdn.discordapp.com", "https://media.discordapp.net"].map(str::to_owned).into(),
        }
    }
}

/// The adapter. A wait says for which bucket it holds: `global` is the whole account, another one a route and a channel.
#[derive(Debug)]
pub struct Discord {
    account: String,
    gateway: String,
    files: Vec<String>,
    rest: Rest,
    me: Mutex<Option<Me>>,
    channels: Channels,
    session: session::State,
    wordings: Wordings,
}

/// Our account there.
#[derive(Clone, Debug)]
struct Me {
    id: String,
    name: String,
    application: String,
    reads_content: bool,
}

impl Discord {
    /// An adapter. It calls nothing yet.
    ///
    /// # Errors
    /// The TLS library cannot be set up.
    pub fn new(config: DiscordConfig) -> Result<Self, Failure> {
        let DiscordConfig { account, token, rest, gateway, files } = config;
        Ok(Self {
            account,
            gateway,
            files,
            rest: Rest::new(&rest, token)?,
            me: Mutex::default(),
            channels: Channels::default(),
            session: session::State::default(),
            wordings: Wordings::default(),
        })
    }

    /// Our account, asked for once.
    async fn me(&self) -> Result<Me, Failure> {
        let known = self.me.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match known {
            Some(me) => Ok(me),
            None => self.read_me().await,
        }
    }

    fn forget_me(&self) {
        *self.me.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    async fn read_me(&self) -> Result<Me, Failure> {
        let user = self.rest.get("users/@me").await?;
        let application = self.rest.get("applications/@me").await?;
        let text = |value: &Value| value.as_str().map(str::to_owned).ok_or(Failure::Unreadable);
        let me = Me {
            id: checked(&text(&user["id"])?)?.to_owned(),
            name: text(&user["username"])?,
            application: checked(&text(&application["id"])?)?.to_owned(),
            reads_content: application["flags"].as_u64().unwrap_or(0) & READS_CONTENT != 0,
        };
        *self.me.lock().unwrap_or_else(PoisonError::into_inner) = Some(me.clone());
        Ok(me)
    }
}

#[async_trait]
impl Adapter for Discord {
    fn capabilities(&self) -> &'static Capabilities {
        &CAPABILITIES
    }

    fn length(&self, text: &StyledText) -> usize {
        markdown::length(text)
    }

    async fn identify(&self) -> Result<Identity, Failure> {
        let me = self.read_me().await?;
        let mut missing = Vec::new();
        if !me.reads_content {
            missing.push(SetupStep::ReadMessages);
        }
        // Direct messages, too, need a guild in common [D].
        let guilds = self.rest.get("users/@me/guilds?limit=1").await?;
        if guilds.as_array().is_some_and(Vec::is_empty) {
            missing.push(SetupStep::Invite);
        }
        Ok(Identity { id: me.id, name: me.name, missing })
    }

    async fn receive(&self, cursor: Option<String>, inbox: &dyn Inbox) -> Failure {
        self.receive_events(cursor.as_deref(), inbox).await
    }

    async fn send(&self, place: &Place, post: &Outgoing, marker: &Marker) -> Result<Sent, Failure> {
        self.send_post(place, post, marker).await
    }

    async fn edit(&self, place: &Place, id: &str, post: &Outgoing, _: &Marker) -> Result<Sent, Failure> {
        self.edit_post(place, id, post).await
    }

    async fn delete(&self, place: &Place, id: &str) -> Result<Deleted, Failure> {
        self.delete_one(place, id).await
    }

    async fn delete_many(&self, place: &Place, ids: &[String]) -> Result<(), Failure> {
        self.delete_all(place, ids).await
    }

    fn digest(&self, post: &Outgoing) -> String {
        post::digest(&markdown::content(&post.text).unwrap_or_default())
    }

    async fn find(&self, place: &Place, marker: &Marker, since_ms: i64) -> Result<Found, Failure> {
        self.find_post(place, marker, since_ms).await
    }

    async fn probe(&self, place: &Place) -> Result<Probe, Failure> {
        self.probe_place(place).await
    }

    async fn moderates(&self, place: &Place, person: &str) -> Result<bool, Failure> {
        self.is_moderator(place, person).await
    }

    async fn fetch(&self, file: &InboundFile, most: u64) -> Result<Vec<u8>, Failure> {
        self.fetch_file(file, most).await
    }

    async fn whisper(
        &self,
        _: &Place,
        _: &Person,
        text: &str,
        answer_to: Option<&str>,
    ) -> Result<(), Failure> {
        self.show_to_one(text, answer_to).await
    }

    async fn typing(&self, place: &Place) -> Result<(), Failure> {
        let path = format!("channels/{}/typing", checked(channel_of(place))?);
        self.rest.call(Method::POST, &path, &json!({})).await.map(drop)
    }
}
