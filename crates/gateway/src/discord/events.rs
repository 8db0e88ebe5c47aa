//! Messages and presses as the owner gets them, read from Discord's objects. Missing and odd fields are tolerated. Must never act.

use retake_wire::chat::{Addressed, Audience, Inbound, InboundFile, InboundMessage, Person, Place};
use serde_json::{Map, Value};

use super::snowflake;

/// The types of messages that people write: plain ones and replies. The others report joins, pins and the like \[D\].
const WRITTEN: [u64; 2] = [0, 19];

/// The type of a reference to a forwarded message \[D\].
const FORWARD: u64 = 1;

/// The flag of a recorded voice message \[D\].
const IS_VOICE: u64 = 1 << 13;

/// The type of an interaction with a button \[D\].
const COMPONENT: u64 = 3;

/// Where a message stands.
#[derive(Clone, Debug)]
pub(super) struct Where {
    pub(super) place: Place,
    pub(super) audience: Audience,
}

/// A message of somebody else, if it has content that we know.
pub(super) fn message(message: &Value, at: Where, me: &str) -> Option<InboundMessage> {
    let id = message["id"].as_str()?;
    let person = author(message)?;
    let kind = message["type"].as_u64().unwrap_or(0);
    if person.id == me || !WRITTEN.contains(&kind) {
        return None;
    }
    let reference = &message["message_reference"];
    let is_forward = reference["type"].as_u64() == Some(FORWARD);
    // The content of a forward is in its snapshot [D].
    let content = if is_forward { &message["message_snapshots"][0]["message"] } else { message };
    let said = content["content"].as_str().unwrap_or_default();
    let attached = files(content, message);
    if said.trim().is_empty() && attached.is_empty() {
        return None;
    }
    let text = if is_forward { said } else { without_mention(said, me) };
    let addressed = match at.audience {
        Audience::Private => Addressed::Mention,
        Audience::Shared if is_forward => Addressed::No,
        Audience::Shared => addressed(message, said, me),
    };
    Some(InboundMessage {
        place: at.place,
        audience: at.audience,
        message: id.to_owned(),
        person,
        sent_ms: snowflake::time_ms(id)?,
        text: text.to_owned(),
        addressed,
        reply_to: reference["message_id"].as_str().filter(|_| kind == 19).map(str::to_owned),
        album: None,
        is_forward,
        attached,
    })
}

/// The time of the last edit of a message. Updates without an edit, such as those of embeds, do not change it \[D\].
pub(super) fn edited(message: &Value) -> Option<&str> {
    // An update without content is not one of the wording.
    message["edited_timestamp"].as_str().filter(|_| message["content"].is_string())
}

/// A digest of the wording: two messages with the same one say the same.
pub(super) fn wording(message: &InboundMessage) -> u64 {
    let mut digest = blake3::Hasher::new();
    digest.update(message.text.as_bytes());
    for file in &message.attached {
        // The address changes with each delivery, the id does not.
        let id = file.handle.split(' ').nth(2).unwrap_or_default();
        digest.update(b"\0").update(id.as_bytes());
    }
    let bytes = *digest.finalize().as_bytes();
    u64::from_le_bytes(std::array::from_fn(|at| bytes[at]))
}

/// A press of one of our buttons.
pub(super) fn pressed(interaction: &Value, place: Place) -> Option<Inbound> {
    if interaction["type"].as_u64() != Some(COMPONENT) {
        return None;
    }
    // The person who pressed: never the author of the post. In a guild it is the member's user [D].
    let member = &interaction["member"];
    let user = if member["user"].is_object() { &member["user"] } else { &interaction["user"] };
    Some(Inbound::Pressed {
        place,
        post: interaction["message"]["id"].as_str()?.to_owned(),
        person: person(user, member)?,
        button: interaction["data"]["custom_id"].as_str()?.to_owned(),
        answer_to: format!("{} {}", interaction["id"].as_str()?, interaction["token"].as_str()?),
    })
}

fn author(message: &Value) -> Option<Person> {
    let mut author = person(&message["author"], &message["member"])?;
    // A webhook is a program, whatever its author says [D].
    author.is_bot |= message["webhook_id"].is_string();
    Some(author)
}

fn person(user: &Value, member: &Value) -> Option<Person> {
    let names = [&member["nick"], &user["global_name"], &user["username"]];
    let name = names.into_iter().filter_map(Value::as_str).find(|name| !name.is_empty());
    Some(Person {
        id: user["id"].as_str().filter(|id| snowflake::number(id).is_some())?.to_owned(),
        name: name.unwrap_or_default().to_owned(),
        is_bot: user["bot"].as_bool().unwrap_or(false),
    })
}

fn addressed(message: &Value, said: &str, me: &str) -> Addressed {
    let is_me = |user: &Value| user["id"].as_str() == Some(me);
    // A reply mentions the author of the other message, too, if its author did not switch that off. So the text decides first.
    if said.contains(&format!("<@{me}>")) || said.contains(&format!("<@!{me}>")) {
        Addressed::Mention
    } else if is_me(&message["referenced_message"]["author"]) {
        Addressed::Reply
    } else if message["mentions"].as_array().is_some_and(|users| users.iter().any(is_me)) {
        Addressed::Mention
    } else {
        Addressed::No
    }
}

/// The text without mentions of the bot at its beginning.
fn without_mention<'a>(text: &'a str, me: &str) -> &'a str {
    let mentions = [format!("<@{me}>"), format!("<@!{me}>")];
    let mut rest = text.trim_start();
    let mut is_removed = false;
    while let Some(after) = mentions.iter().find_map(|mention| rest.strip_prefix(mention.as_str())) {
        rest = after.trim_start_matches([',', ':']).trim_start();
        is_removed = true;
    }
    if is_removed { rest } else { text }
}

/// The attached files. What is needed to fetch one: channel, message, its own id, and the address, which expires \[D\].
fn files(content: &Value, message: &Value) -> Vec<InboundFile> {
    let is_voice = content["flags"].as_u64().unwrap_or(0) & IS_VOICE != 0;
    let ids = [&message["channel_id"], &message["id"]].map(|id| id.as_str().unwrap_or_default());
    let read = |file: &Map<String, Value>| {
        let text = |name: &str| file.get(name).and_then(Value::as_str);
        let (id, address) = (text("id")?, text("url")?);
        Some(InboundFile {
            handle: format!("{} {} {id} {address}", ids[0], ids[1]),
            name: text("filename").map(str::to_owned),
            media_type: text("content_type").map(str::to_owned),
            size: file.get("size").and_then(Value::as_u64),
            is_voice,
        })
    };
    let files = content["attachments"].as_array().into_iter().flatten();
    files.filter_map(|file| read(file.as_object()?)).collect()
}

#[cfg(test)]
mod tests;
