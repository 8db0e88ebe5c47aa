//! The adapter for Slack: the Web API, and Socket Mode for events. A post has our key in its metadata, so a lost answer can be found.
//! Must never repeat a request whose answer was lost.

mod api;
mod event;
mod history;
mod mrkdwn;
mod post;
mod socket;
mod text;
mod ts;

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use retake_wire::chat::{Inbound, InboundFile, Person, Place};
use secrecy::SecretString;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::adapter::{
    Adapter, Deleted, Found, Identity, Inbox, Marker, Outgoing, Probe, Sent, SentFile, SetupStep,
};
use crate::capabilities::{Capabilities, CommandPrefix, DeletionWindow, LengthUnit, Remains, Resend};
use crate::failure::{Failure, Refused};
use api::{Api, Form};
use event::Reader;

/// The address of the Web API.
const BASE: &str = "https://slack.com";

/// What the bot needs: to post, to read what people write to it, to know their names, to exchange files \[D\].
const SCOPES: [&str; 9] = [
    "app_mentions:read",
    "channels:history",
    "chat:write",
    "files:read",
    "files:write",
    "groups:history",
    "im:history",
    "mpim:history",
    "users:read",
];

/// The most names of people that are remembered.
const NAMES: usize = 10_000;

static CAPABILITIES: Capabilities = Capabilities {
    platform: "slack",
    title: "Slack",
    // Slash commands carry no thread [U].
    commands: CommandPrefix::Mention,
    // The recommended length; text is truncated at 40,000 [D].
    longest: 4000,
    unit: LengthUnit::Chars,
    // The workspace decides [D].
    deletes: DeletionWindow::Policy,
    bulk: None,
    // A tombstone where replies hang on it [U].
    remains: Remains::StubWithReplies,
    edits_are_messages: false,
    edits: true,
    // The marker is in the metadata [D][T].
    resend: &[Resend::Find, Resend::Send],
    // `chat.startStream` needs methods of its own, which the trait does not have yet.
    previews: [true, true],
    buttons: true,
    ephemeral: true,
    // One per second in a channel, several hundred per minute in a workspace [D].
    spacing: [Duration::from_secs(1), Duration::from_millis(200)],
};

/// The settings of an account.
#[derive(Clone, Debug)]
pub struct SlackConfig {
    /// The name of the account in the settings.
    pub account: String,
    /// The bot token, `xoxb-…`.
    pub bot_token: SecretString,
    /// The app token for Socket Mode, `xapp-…`.
    pub app_token: SecretString,
    /// The address of the Web API, if it is not the usual one.
    pub base: Option<String>,
}

/// An app in a workspace of Slack.
#[derive(Debug)]
pub struct Slack {
    account: String,
    api: Api,
    us: OnceCell<Us>,
    /// Names of people, by id.
    names: Mutex<HashMap<String, String>>,
}

/// Our own account.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Us {
    user: String,
    bot: Option<String>,
    name: String,
}

impl Us {
    fn of(answer: &Value) -> Result<Self, Failure> {
        let text = |name: &str| answer[name].as_str().map(str::to_owned);
        let user = text("user_id").ok_or(Failure::Unreadable)?;
        Ok(Self { user, bot: text("bot_id"), name: text("user").unwrap_or_default() })
    }
}

impl Slack {
    /// An adapter of this account. Calls nothing yet.
    ///
    /// # Errors
    /// The address is none, or the HTTP client cannot be created on this machine.
    pub fn new(config: SlackConfig) -> Result<Self, Failure> {
        let base = config.base.as_deref().unwrap_or(BASE);
        let api = Api::new(base, config.bot_token, config.app_token)?;
        Ok(Self { account: config.account, api, us: OnceCell::new(), names: Mutex::default() })
    }

    async fn reader(&self) -> Result<Reader<'_>, Failure> {
        let us = self.us.get_or_try_init(async || Us::of(&self.api.test().await?.0)).await?;
        Ok(Reader { account: &self.account, us })
    }

    /// Adds the name of a person: events only have the id.
    async fn add_name(&self, event: &mut Inbound) {
        let (Inbound::Message(message) | Inbound::Edited(message)) = event else { return };
        let person = &mut message.person;
        if person.name.is_empty() {
            person.name = self.name_of(&person.id).await;
        }
    }

    /// A person's name, or the id while Slack does not say it.
    async fn name_of(&self, id: &str) -> String {
        let known = self.names().get(id).cloned();
        if let Some(name) = known {
            return name;
        }
        let Ok(answer) = self.api.call("users.info", &vec![("user", id.to_owned())]).await else {
            return id.to_owned();
        };
        let user = &answer["user"];
        let names = [
            &user["profile"]["display_name"],
            &user["profile"]["real_name"],
            &user["real_name"],
            &user["name"],
        ];
        let mut names = names.into_iter().filter_map(Value::as_str);
        let name = names.find(|name| !name.is_empty()).unwrap_or(id).to_owned();
        let mut known = self.names();
        if known.len() >= NAMES {
            known.clear();
        }
        known.insert(id.to_owned(), name.clone());
        name
    }

    fn names(&self) -> std::sync::MutexGuard<'_, HashMap<String, String>> {
        self.names.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    async fn send_text(&self, place: &Place, post: &Outgoing, marker: &Marker) -> Result<Sent, Failure> {
        let mut form = within(place);
        form.extend(post::content(post)?);
        form.push(("metadata", history::metadata(marker).to_string()));
        form.push(("unfurl_links", "false".to_owned()));
        form.push(("unfurl_media", "false".to_owned()));
        let answer = match self.api.call("chat.postMessage", &form).await {
            // It was accepted, but the answer cannot be read.
            Err(Failure::Unreadable) => return Err(Failure::Unknown),
            answer => answer?,
        };
        let id = answer["ts"].as_str().ok_or(Failure::Unknown)?;
        Ok(Sent { ids: vec![id.to_owned()], sent_ms: ts::ms(id) })
    }

    /// Uploads a file, shares it, and looks for its message: the answer has the id of the file only \[D\]. The file itself is deleted
    /// by its own id.
    async fn send_file(&self, place: &Place, post: &Outgoing, file: &SentFile) -> Result<Sent, Failure> {
        let wanted: Form = vec![("filename", file.name.clone()), ("length", file.bytes.len().to_string())];
        // Nothing is shared before the last call, so everything before it can be repeated.
        let repeatable = |failure| match failure {
            Failure::Unknown => Failure::Unreachable,
            other => other,
        };
        let answer = self.api.call("files.getUploadURLExternal", &wanted).await.map_err(repeatable)?;
        let address = answer["upload_url"].as_str().ok_or(Failure::Unreadable)?;
        let id = answer["file_id"].as_str().ok_or(Failure::Unreadable)?;
        self.api.upload(address, file.bytes.clone()).await.map_err(repeatable)?;
        let mut form: Form = vec![
            ("files", json!([{ "id": id, "title": file.name }]).to_string()),
            ("channel_id", place.chat.clone()),
        ];
        form.extend(place.thread.iter().map(|thread| ("thread_ts", thread.clone())));
        if !post.text.text.is_empty() {
            form.push(("initial_comment", mrkdwn::mrkdwn(&post.text)));
        }
        let shared = self.api.call("files.completeUploadExternal", &form).await;
        let is_lost = matches!(shared, Err(Failure::Unknown | Failure::Unreadable));
        if !is_lost {
            shared?;
        }
        match self.share_of(place, id).await {
            Some(message) => {
                let sent_ms = ts::ms(&message);
                Ok(Sent { ids: vec![message, id.to_owned()], sent_ms })
            }
            None if is_lost => Err(Failure::Unknown),
            None => Ok(Sent { ids: vec![id.to_owned()], sent_ms: None }),
        }
    }

    /// Whether something of a deleted message is left: Slack does not say so in its answer.
    async fn is_stub_left(&self, place: &Place, id: &str) -> bool {
        // Only the first message of a thread has replies.
        if place.thread.as_deref().is_some_and(|thread| thread != id) {
            return false;
        }
        let form: Form =
            vec![("channel", place.chat.clone()), ("ts", id.to_owned()), ("limit", "2".to_owned())];
        // The message is deleted: where nobody can tell about a stub, there is none for us.
        let Ok(answer) = self.api.call("conversations.replies", &form).await else { return false };
        let is_tombstone =
            |message: &Value| message["ts"] == *id && message["subtype"].as_str() == Some("tombstone");
        answer["messages"].as_array().is_some_and(|messages| messages.iter().any(is_tombstone))
    }
}

fn within(place: &Place) -> Form {
    let thread = place.thread.iter().map(|thread| ("thread_ts", thread.clone()));
    [("channel", place.chat.clone())].into_iter().chain(thread).collect()
}

fn of_message(place: &Place, id: &str) -> Form {
    vec![("channel", place.chat.clone()), ("ts", id.to_owned())]
}

/// Ids of files begin with `F` \[D\], ids of messages with a number.
fn is_file(id: &str) -> bool {
    id.starts_with('F')
}

#[async_trait]
impl Adapter for Slack {
    fn capabilities(&self) -> &'static Capabilities {
        &CAPABILITIES
    }

    async fn identify(&self) -> Result<Identity, Failure> {
        let (answer, scopes) = self.api.test().await?;
        let us = Us::of(&answer)?;
        let mut missing = Vec::new();
        if let Some(scopes) = scopes {
            let granted: Vec<&str> = scopes.split(',').map(str::trim).collect();
            let lacking = SCOPES.into_iter().filter(|scope| !granted.contains(scope));
            missing.extend(lacking.map(SetupStep::Scope));
        }
        if !self.api.has_app_token() {
            missing.push(SetupStep::Events);
        }
        Ok(Identity { id: us.user, name: us.name, missing })
    }

    async fn receive(&self, _cursor: Option<String>, inbox: &dyn Inbox) -> Failure {
        // Slack has no resume token: the places say where to go on.
        match self.receive_all(inbox).await {
            Ok(()) => Failure::Closed,
            Err(failure) => failure,
        }
    }

    async fn send(&self, place: &Place, post: &Outgoing, marker: &Marker) -> Result<Sent, Failure> {
        match &post.file {
            Some(file) => self.send_file(place, post, file).await,
            None => self.send_text(place, post, marker).await,
        }
    }

    async fn edit(
        &self,
        place: &Place,
        id: &str,
        post: &Outgoing,
        _marker: &Marker,
    ) -> Result<Sent, Failure> {
        if is_file(id) {
            return Err(Failure::Refused(Refused::Other));
        }
        let mut form = of_message(place, id);
        form.extend(post::content(post)?);
        self.api.call("chat.update", &form).await.map(|_| Sent::default())
    }

    async fn delete(&self, place: &Place, id: &str) -> Result<Deleted, Failure> {
        let deleted = if is_file(id) {
            self.api.call("files.delete", &vec![("file", id.to_owned())]).await
        } else {
            self.api.call("chat.delete", &of_message(place, id)).await
        };
        match deleted {
            Ok(_) if !is_file(id) && self.is_stub_left(place, id).await => Ok(Deleted::Emptied),
            Ok(_) => Ok(Deleted::Gone),
            Err(Failure::NotFound) => Ok(Deleted::AlreadyGone),
            Err(failure) => Err(failure),
        }
    }

    async fn delete_many(&self, _place: &Place, _ids: &[String]) -> Result<(), Failure> {
        Err(Failure::Refused(Refused::Batch))
    }

    async fn find(&self, place: &Place, marker: &Marker, since_ms: i64) -> Result<Found, Failure> {
        self.find_post(place, marker, since_ms).await
    }

    async fn probe(&self, place: &Place) -> Result<Probe, Failure> {
        match self.api.call("conversations.info", &vec![("channel", place.chat.clone())]).await {
            Ok(answer) => {
                let is = |field: &str| answer["channel"][field].as_bool() == Some(true);
                Ok(match () {
                    () if is("is_archived") => Probe::NotPermitted,
                    () if is("is_member") || is("is_im") => Probe::Yes { bulk: false },
                    () => Probe::Unknown,
                })
            }
            // Without the scope to read about channels, nobody knows.
            Err(Failure::Refused(_)) => Ok(Probe::Unknown),
            Err(failure) => Err(failure),
        }
    }

    async fn moderates(&self, _place: &Place, _person: &str) -> Result<bool, Failure> {
        // Whether a bot can learn who administrates a channel is not known [?].
        Ok(false)
    }

    async fn fetch(&self, file: &InboundFile, most: u64) -> Result<Vec<u8>, Failure> {
        if file.size.is_some_and(|size| size > most) {
            return Err(Failure::Refused(Refused::TooLong));
        }
        let is_page = file.media_type.as_deref().is_some_and(|kind| kind.starts_with("text/html"));
        self.api.download(&file.handle, most, is_page).await
    }

    async fn whisper(
        &self,
        place: &Place,
        person: &Person,
        text: &str,
        _answer_to: Option<&str>,
    ) -> Result<(), Failure> {
        // A press was answered when its envelope was acknowledged.
        if text.is_empty() {
            return Ok(());
        }
        let mut form = within(place);
        form.push(("user", person.id.clone()));
        form.push(("text", mrkdwn::escaped(text)));
        self.api.call("chat.postEphemeral", &form).await.map(drop)
    }

    async fn typing(&self, _place: &Place) -> Result<(), Failure> {
        // Bots have no such sign outside of assistant threads [D].
        Ok(())
    }
}
