//! The rules of messages: creating, editing, deleting and reading them, as the vendor documents them [D message]. Must never succeed
//! where the documents do not say so.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::body::File;
use super::refused::{Answered, Refused};
use super::rules::{
    MANAGE_MESSAGES, MENTION_EVERYONE, READ_MESSAGE_HISTORY, SEND_MESSAGES, SEND_MESSAGES_IN_THREADS,
    VIEW_CHANNEL,
};
use super::world::{Whisper, World, object, timestamp, visible};

/// How long a nonce is known: "past few minutes" \[D\]. Three are the fewest that this can mean.
const NONCE_MS: i64 = 3 * 60 * 1_000;

/// The oldest message of a bulk deletion: two weeks \[D\].
const BULK_MS: i64 = 14 * 86_400_000;

/// The longest content \[D\]. Which characters count is not said, so the strictest count holds.
const CONTENT: usize = 2_000;

/// The flags that a message may be created with, and that an edit may change \[D\].
const CREATE_FLAGS: u64 = 1 << 2 | 1 << 12;
const EDIT_FLAGS: u64 = 1 << 2;

/// How long an address of a file is valid. The vendor says only that it expires [D reference].
const FILE_MS: i64 = 24 * 3_600_000;

impl World {
    pub(super) fn create(&mut self, channel: &str, body: &Value, files: Vec<File>) -> Answered {
        let thread = self.channel(channel).map(|channel| channel["thread_metadata"].is_object())?;
        self.require(channel, if thread { SEND_MESSAGES_IN_THREADS } else { SEND_MESSAGES })?;
        self.require_writable(channel)?;
        if let Some(known) = self.known_nonce(channel, body)? {
            return object(known);
        }
        let mut fields = self.fields(channel, body, files)?;
        self.refer(channel, body, &mut fields)?;
        let flags = body["flags"].as_u64().unwrap_or(0);
        if flags & !CREATE_FLAGS != 0 {
            return Err(Refused::form("flags", "BASE_TYPE_BAD_INT"));
        }
        fields.insert("flags".into(), json!(flags));
        // Sending unarchives a thread, unless it is locked [D threads].
        if thread {
            self.channels
                .entry(channel.to_owned())
                .and_modify(|thread| thread["thread_metadata"]["archived"] = json!(false));
        }
        let (me, now) = (self.me.clone(), self.control.now_ms());
        let mut message = self.message(channel, &me, &fields);
        if let Some(nonce) = text(&body["nonce"]) {
            let id = message["id"].as_str().and_then(|id| id.parse().ok()).unwrap_or(0);
            self.nonces.insert((channel.to_owned(), nonce), (id, now));
            // The nonce is in the answer and in the event, not in the history [D message create].
            message["nonce"] = body["nonce"].clone();
        }
        self.deliver_message("MESSAGE_CREATE", channel, message.clone());
        object(message)
    }

    /// The message that has the same nonce, if the request asks for that [D: `enforce_nonce`].
    fn known_nonce(&self, channel: &str, body: &Value) -> Result<Option<Value>, Refused> {
        let Some(nonce) = text(&body["nonce"]) else { return Ok(None) };
        if nonce.chars().count() > 25 {
            return Err(Refused::form("nonce", "BASE_TYPE_MAX_LENGTH"));
        }
        let known = self.nonces.get(&(channel.to_owned(), nonce));
        let is_recent = |sent_ms: i64| self.control.now_ms() - sent_ms <= NONCE_MS;
        let known =
            known.filter(|(_, sent_ms)| is_recent(*sent_ms) && body["enforce_nonce"].as_bool() == Some(true));
        Ok(known.and_then(|(id, _)| self.stored(channel, &id.to_string()).ok().cloned()))
    }

    /// The fields of a message that creating and editing have in common, checked.
    fn fields(
        &mut self,
        channel: &str,
        body: &Value,
        files: Vec<File>,
    ) -> Result<Map<String, Value>, Refused> {
        let mut fields = Map::new();
        let content = body["content"].as_str().unwrap_or_default().trim();
        if content.encode_utf16().count() > CONTENT {
            return Err(Refused::form("content", "BASE_TYPE_MAX_LENGTH"));
        }
        if content.is_empty() && files.is_empty() && body["attachments"].as_array().is_none_or(Vec::is_empty)
        {
            return Err(Refused::EMPTY);
        }
        fields.insert("content".into(), json!(content));
        check_components(&body["components"])?;
        fields.insert(
            "components".into(),
            if body["components"].is_array() { body["components"].clone() } else { json!([]) },
        );
        let attachments: Vec<Value> = files.into_iter().map(|file| self.store(channel, file)).collect();
        fields.insert("attachments".into(), json!(attachments));
        self.mention(channel, content, &body["allowed_mentions"], &mut fields);
        Ok(fields)
    }

    /// Whom the content notifies. Without `allowed_mentions` all mentions do [D allowed mentions].
    fn mention(&self, channel: &str, content: &str, allowed: &Value, fields: &mut Map<String, Value>) {
        let parses = |kind: &str| match allowed["parse"].as_array() {
            Some(parse) => parse.iter().any(|it| it.as_str() == Some(kind)),
            None => allowed.is_null(),
        };
        let all = ["@everyone", "@here"].iter().any(|all| content.contains(all));
        let is_all = all && parses("everyone") && self.has(channel, MENTION_EVERYONE);
        fields.insert("mention_everyone".into(), json!(is_all));
        let is_named = |id: &String| content.contains(&format!("<@{id}>"));
        let named = self.users.iter().filter(|(id, _)| parses("users") && is_named(id));
        fields.insert("mentions".into(), named.map(|(_, user)| user.clone()).collect());
    }

    pub(super) fn store(&mut self, channel: &str, file: File) -> Value {
        let id = self.id();
        let path = format!("attachments/{channel}/{id}/{}", file.name.replace(['/', '\\'], "_"));
        let expires_ms = self.control.now_ms() + FILE_MS;
        let size = file.bytes.len();
        self.files.insert(path.clone(), file.bytes);
        let address = format!("{}/files/{path}?ex={:x}", self.base, expires_ms / 1_000);
        json!({
            "id": id.to_string(), "filename": file.name, "size": size, "url": address, "proxy_url": address,
            "content_type": file.media_type,
        })
    }

    /// The message that it replies to. `fail_if_not_exists` is true by default [D message reference].
    fn refer(&self, channel: &str, body: &Value, fields: &mut Map<String, Value>) -> Result<(), Refused> {
        let reference = &body["message_reference"];
        // Common clients send a number.
        let Some(id) = text(&reference["message_id"]) else { return Ok(()) };
        if !self.has(channel, READ_MESSAGE_HISTORY) {
            return Err(Refused::NO_HISTORY);
        }
        match self.stored(channel, &id) {
            Ok(message) => {
                let reference = json!({"type": 0, "message_id": id, "channel_id": channel});
                fields.insert("message_reference".into(), reference);
                fields.insert("referenced_message".into(), message.clone());
                fields.insert("type".into(), json!(19));
                Ok(())
            }
            Err(_) if reference["fail_if_not_exists"].as_bool() == Some(false) => Ok(()),
            Err(_) => Err(Refused::form("message_reference", "REPLIES_UNKNOWN_MESSAGE")),
        }
    }

    pub(super) fn edit(&mut self, channel: &str, id: &str, body: &Value, files: Vec<File>) -> Answered {
        self.require(channel, VIEW_CHANNEL)?;
        if self.stored(channel, id)?["author"]["id"].as_str() != Some(&self.me) {
            return Err(Refused::OTHER_AUTHOR);
        }
        self.require_writable(channel)?;
        // Nobody can edit messages in an archived thread [D threads].
        if self.thread(channel).is_some_and(|thread| thread.is_archived) {
            return Err(Refused::ARCHIVED);
        }
        let mut whole = self.stored(channel, id)?.clone();
        let mut asked = body.clone();
        // What is not named stays.
        for name in ["content", "components", "attachments"] {
            if asked[name].is_null() {
                asked[name] = whole[name].clone();
            }
        }
        let had_files = files.is_empty();
        let fields = self.fields(channel, &asked, files)?;
        for (name, value) in fields.into_iter().filter(|(name, _)| !had_files || name != "attachments") {
            whole[name.as_str()] = value;
        }
        if let Some(flags) = body["flags"].as_u64() {
            whole["flags"] = json!(whole["flags"].as_u64().unwrap_or(0) & !EDIT_FLAGS | flags & EDIT_FLAGS);
        }
        whole["edited_timestamp"] = json!(timestamp(self.control.now_ms()));
        self.replace(channel, id, whole.clone());
        self.deliver_message("MESSAGE_UPDATE", channel, whole.clone());
        object(whole)
    }

    pub(super) fn replace(&mut self, channel: &str, id: &str, message: Value) {
        let id = id.parse().unwrap_or(0);
        self.messages.entry(channel.to_owned()).or_default().insert(id, message);
    }

    pub(super) fn delete(&mut self, channel: &str, id: &str) -> Answered {
        self.require(channel, VIEW_CHANNEL)?;
        let is_own = self.stored(channel, id)?["author"]["id"].as_str() == Some(&self.me);
        if !is_own && self.guild_of(channel).is_none() {
            return Err(Refused::DIRECT_CHANNEL);
        }
        if !is_own && !self.has(channel, MANAGE_MESSAGES) {
            return Err(Refused::MISSING_PERMISSION);
        }
        self.require_deletable(channel)?;
        self.remove(channel, &[id.to_owned()]);
        Ok((204, Value::Null))
    }

    /// Removes messages, and tells the gateway.
    pub(super) fn remove(&mut self, channel: &str, ids: &[String]) {
        let messages = self.messages.entry(channel.to_owned()).or_default();
        for id in ids {
            messages.remove(&id.parse().unwrap_or(0));
        }
        match ids {
            [id] => self.deliver_message("MESSAGE_DELETE", channel, json!({"id": id, "channel_id": channel})),
            ids => self.deliver_message(
                "MESSAGE_DELETE_BULK",
                channel,
                json!({"ids": ids, "channel_id": channel}),
            ),
        }
    }

    pub(super) fn delete_many(&mut self, channel: &str, body: &Value) -> Answered {
        self.channel(channel)?;
        if self.guild_of(channel).is_none() {
            return Err(Refused::DIRECT_CHANNEL);
        }
        self.require(channel, MANAGE_MESSAGES)?;
        let ids: Vec<String> = body["messages"].as_array().into_iter().flatten().filter_map(text).collect();
        // Ids that do not exist count, too [D].
        if !(2..=100).contains(&ids.len()) {
            return Err(Refused::BAD_COUNT);
        }
        let once: BTreeSet<&String> = ids.iter().collect();
        let now = self.control.now_ms();
        let is_old = |id: &&String| id.parse().is_ok_and(|id: u64| now - time_ms(id) > BULK_MS);
        if once.len() != ids.len() || once.iter().any(is_old) {
            return Err(Refused::TOO_OLD);
        }
        // Whether archived threads allow it is not said.
        if self.thread(channel).is_some_and(|thread| thread.is_archived) {
            return Err(Refused::ARCHIVED);
        }
        self.remove(channel, &ids);
        Ok((204, Value::Null))
    }

    pub(super) fn history(&self, channel: &str, query: &Map<String, Value>) -> Answered {
        self.require(channel, VIEW_CHANNEL)?;
        // No other part of a query is needed, so none is answered.
        if query.keys().any(|name| !["after", "limit"].contains(&name.as_str())) {
            return Err(Refused::form("query", "UNKNOWN"));
        }
        let number = |name: &'static str| match query.get(name).and_then(Value::as_str) {
            Some(text) => {
                text.parse::<u64>().map(Some).map_err(|_| Refused::form(name, "NUMBER_TYPE_COERCE"))
            }
            None => Ok(None),
        };
        let (after, limit) = (number("after")?, number("limit")?.unwrap_or(50));
        if !(1..=100).contains(&limit) {
            return Err(Refused::form("limit", "NUMBER_TYPE_MAX"));
        }
        // Without the permission the history is empty [D].
        let messages = self.messages.get(channel).filter(|_| self.has(channel, READ_MESSAGE_HISTORY));
        let messages = messages.into_iter().flatten();
        let limit = usize::try_from(limit).unwrap_or(0);
        let mut page: Vec<(&u64, &Value)> = match after {
            // The nearest ones after the id.
            Some(after) => messages.filter(|(id, _)| **id > after).take(limit).collect(),
            None => messages.collect(),
        };
        // From newest to oldest [D].
        page.reverse();
        page.truncate(limit);
        let guild = self.guild_of(channel);
        let seen = |message: &Value| self.seen(message, guild);
        object(page.into_iter().map(|(_, message)| seen(message)).collect())
    }

    pub(super) fn one(&self, channel: &str, id: &str) -> Answered {
        self.require(channel, VIEW_CHANNEL | READ_MESSAGE_HISTORY)?;
        object(self.seen(self.stored(channel, id)?, self.guild_of(channel)))
    }

    /// A message as our application sees it over REST: the content is withheld as in events [D gateway].
    fn seen(&self, message: &Value, guild: Option<&str>) -> Value {
        let mut whole = message.clone();
        whole["guild_id"] = json!(guild);
        // The reviewed, and the unreviewed permission to read content [D application].
        let mut message = visible(&whole, self.flags & (1 << 18 | 1 << 19) != 0, &self.me);
        // Only events have it [D].
        message.as_object_mut().map(|message| message.remove("guild_id"));
        self.renewed(message)
    }

    /// The addresses of files are new ones each time [D reference].
    fn renewed(&self, mut message: Value) -> Value {
        for file in message["attachments"].as_array_mut().into_iter().flatten() {
            let path = file["url"].as_str().and_then(|url| url.split('?').next()).map(str::to_owned);
            let expires = (self.control.now_ms() + FILE_MS) / 1_000;
            file["url"] = json!(path.map(|path| format!("{path}?ex={expires:x}")));
        }
        message
    }

    /// The first answer to an interaction: within 3 s [D receiving and responding].
    pub(super) fn call_back(&mut self, id: &str, token: &str, body: &Value) -> Answered {
        let now = self.control.now_ms();
        let interaction =
            self.interactions.get_mut(token).filter(|it| it.id == id && now - it.at_ms <= 3_000);
        let interaction = interaction.ok_or(Refused::UNKNOWN_INTERACTION)?;
        if interaction.is_answered {
            return Err(Refused::ALREADY_ANSWERED);
        }
        match body["type"].as_u64() {
            Some(6) => {}
            Some(4) if body["data"]["flags"].as_u64().is_some_and(|flags| flags & 1 << 6 != 0) => {
                let text = body["data"]["content"].as_str().unwrap_or_default().to_owned();
                self.whispers.push(Whisper { user: interaction.user.clone(), text });
            }
            // No other one is used.
            _ => return Err(Refused::form("type", "BASE_TYPE_CHOICES")),
        }
        interaction.is_answered = true;
        Ok((204, Value::Null))
    }

    /// A further answer: within 15 minutes, after the first one [D receiving and responding].
    pub(super) fn follow_up(&mut self, application: &str, token: &str, body: &Value) -> Answered {
        let now = self.control.now_ms();
        let is_ours = application == self.application;
        let interaction = self.interactions.get(token).filter(|_| is_ours).ok_or(Refused::UNKNOWN_WEBHOOK)?;
        if now - interaction.at_ms > 15 * 60_000 {
            return Err(Refused::BAD_WEBHOOK_TOKEN);
        }
        if !interaction.is_answered {
            return Err(Refused::UNKNOWN_WEBHOOK);
        }
        if body["flags"].as_u64().is_none_or(|flags| flags & 1 << 6 == 0) {
            return Err(Refused::form("flags", "BASE_TYPE_CHOICES"));
        }
        let text = body["content"].as_str().unwrap_or_default().to_owned();
        self.whispers.push(Whisper { user: interaction.user.clone(), text });
        let id = self.id();
        object(json!({"id": id.to_string()}))
    }
}

/// At most five rows with at most five buttons, each with a label and an own id [D components].
fn check_components(components: &Value) -> Result<(), Refused> {
    let wrong = Refused::form("components", "BASE_TYPE_BAD_LENGTH");
    let rows = components.as_array().map_or(&[][..], Vec::as_slice);
    if rows.len() > 5 {
        return Err(wrong);
    }
    let mut ids = BTreeSet::new();
    for row in rows {
        let buttons = row["components"].as_array().ok_or(wrong)?;
        if row["type"].as_u64() != Some(1) || !(1..=5).contains(&buttons.len()) {
            return Err(wrong);
        }
        for button in buttons {
            let length = |name: &str| button[name].as_str().map_or(0, |text| text.chars().count());
            let is_new = ids.insert(button["custom_id"].as_str().unwrap_or_default());
            let is_right = (1..=100).contains(&length("custom_id")) && (1..=80).contains(&length("label"));
            if button["type"].as_u64() != Some(2) || !is_right || !is_new {
                return Err(wrong);
            }
        }
    }
    Ok(())
}

/// The text of an id or nonce, which may be a number, too \[D\].
fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned).or_else(|| value.as_u64().map(|number| number.to_string()))
}

/// The time of an id, in Unix milliseconds.
fn time_ms(id: u64) -> i64 {
    i64::try_from(id >> 22).unwrap_or(0) + 1_420_070_400_000
}
