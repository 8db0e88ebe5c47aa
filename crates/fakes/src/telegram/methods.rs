//! The methods of the fake Bot API. Must never accept a `parse_mode`: our adapter makes entities.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::state::State;
use super::{Answered, BOT};

/// The longest text and caption, in UTF-16 code units \[D\].
const LONGEST: [(&str, usize, &str); 2] = [
    ("text", 4096, "Bad Request: message is too long"),
    ("caption", 1024, "Bad Request: message caption is too long"),
];

/// How long messages can be deleted \[D\], also by administrators \[S\].
const WINDOW: Duration = Duration::from_secs(48 * 60 * 60);

/// The largest file that a bot can fetch \[U\].
const LARGEST_FILE: usize = 20 * 1024 * 1024;

/// Carries out a method.
pub(super) fn run(state: &mut State, method: &str, arguments: &Value, now_ms: i64) -> Answered {
    match method {
        "getMe" => Ok(json!({
            "id": BOT,
            "is_bot": true,
            "first_name": "Retake",
            "username": "retake_bot",
            "can_read_all_group_messages": state.reads_all,
        })),
        "sendMessage" => send(state, arguments, "text", now_ms),
        "sendDocument" => send(state, arguments, "caption", now_ms),
        "editMessageText" => edit(state, arguments, "text"),
        "editMessageCaption" => edit(state, arguments, "caption"),
        "deleteMessage" => delete(state, arguments, now_ms),
        "deleteMessages" => delete_many(state, arguments, now_ms),
        "sendChatAction" => writable(state, arguments).map(|_| json!(true)),
        "answerCallbackQuery" => {
            let known = arguments["callback_query_id"].as_str().is_some_and(|id| state.queries.remove(id));
            let why = "Bad Request: query is too old and response timeout expired or query ID is invalid";
            if known { Ok(json!(true)) } else { bad(why) }
        }
        "getChatMember" => {
            let chat = known(state, arguments)?;
            let user = arguments["user_id"].as_i64().unwrap_or_default();
            let member = state.members.get(&(chat, user)).cloned();
            member.map_or_else(|| bad("Bad Request: user not found"), Ok)
        }
        "getFile" => {
            let id = arguments["file_id"].as_str().unwrap_or_default();
            match state.files.get(id) {
                Some((_, bytes)) if bytes.len() > LARGEST_FILE => bad("Bad Request: file is too big"),
                Some((path, bytes)) => {
                    Ok(json!({ "file_id": id, "file_size": bytes.len(), "file_path": path }))
                }
                None => bad("Bad Request: wrong file_id or the file is temporarily unavailable"),
            }
        }
        _ => Err((404, "Not Found: method not found".into(), Value::Null)),
    }
}

fn bad<T>(description: &str) -> Result<T, (u16, String, Value)> {
    Err((400, description.to_owned(), Value::Null))
}

/// The chat, if it is there and the bot was not removed from it \[S\].
fn known(state: &State, arguments: &Value) -> Result<i64, (u16, String, Value)> {
    let chat = arguments["chat_id"].as_i64().unwrap_or_default();
    if !state.chats.contains_key(&chat) {
        return bad("Bad Request: chat not found");
    }
    match state.members.get(&(chat, BOT)).and_then(|member| member["status"].as_str()) {
        Some("kicked") => {
            Err((403, "Forbidden: bot was kicked from the supergroup chat".into(), Value::Null))
        }
        Some("left") | None => {
            Err((403, "Forbidden: bot is not a member of the supergroup chat".into(), Value::Null))
        }
        Some(_) => Ok(chat),
    }
}

/// The chat, if it can be written to: a group that became a supergroup cannot \[S\].
fn writable(state: &State, arguments: &Value) -> Result<i64, (u16, String, Value)> {
    let chat = known(state, arguments)?;
    if let Some(to) = state.migrated.get(&chat) {
        let why = "Bad Request: group chat was upgraded to a supergroup chat";
        return Err((400, why.into(), json!({ "migrate_to_chat_id": to })));
    }
    match arguments["message_thread_id"].as_i64() {
        Some(topic) if state.closed.contains(&(chat, topic)) => bad("Bad Request: TOPIC_CLOSED"),
        _ => Ok(chat),
    }
}

/// What a post has of the arguments.
fn content(arguments: &Value, field: &str) -> Result<Map<String, Value>, (u16, String, Value)> {
    let text = arguments[field].as_str().unwrap_or_default();
    if arguments.get("parse_mode").is_some() {
        return bad("Bad Request: can't parse entities: a test refuses markup");
    }
    if field == "text" && text.trim().is_empty() {
        return bad("Bad Request: message text is empty");
    }
    for (name, most, why) in LONGEST {
        if name == field && text.encode_utf16().count() > most {
            return bad(why);
        }
    }
    let entities = if field == "text" { "entities" } else { "caption_entities" };
    for entity in arguments[entities].as_array().into_iter().flatten() {
        check_entity(text, entity)?;
    }
    let names = [field, entities, "reply_markup", "document", "message_thread_id", "link_preview_options"];
    let given = names.into_iter().filter_map(|name| Some((name.to_owned(), arguments.get(name)?.clone())));
    Ok(given.collect())
}

/// What happens with entities that do not fit the text is not known [?].
fn check_entity(text: &str, entity: &Value) -> Result<(), (u16, String, Value)> {
    let units: Vec<u16> = text.encode_utf16().collect();
    let number = |name: &str| entity[name].as_u64().and_then(|number| usize::try_from(number).ok());
    let part = number("offset").zip(number("length")).and_then(|(at, length)| units.get(at..at + length));
    match part.map(String::from_utf16) {
        Some(Ok(part)) if !part.is_empty() => Ok(()),
        _ => bad("Bad Request: ENTITY_BOUNDS_INVALID"),
    }
}

fn send(state: &mut State, arguments: &Value, field: &str, now_ms: i64) -> Answered {
    let chat = writable(state, arguments)?;
    let mut fields = content(arguments, field)?;
    if let Some(reply) = arguments["reply_parameters"]["message_id"].as_i64() {
        match state.messages.get(&(chat, reply)) {
            Some(message) => drop(fields.insert("reply_to_message".into(), message.clone())),
            None if arguments["reply_parameters"]["allow_sending_without_reply"] == true => {}
            None => return bad("Bad Request: message to be replied not found"),
        }
    }
    Ok(state.add_message(chat, BOT, Value::Object(fields), now_ms))
}

fn edit(state: &mut State, arguments: &Value, field: &str) -> Answered {
    let chat = known(state, arguments)?;
    let fields = content(arguments, field)?;
    let id = arguments["message_id"].as_i64().unwrap_or_default();
    let Some(message) = state.messages.get_mut(&(chat, id)) else {
        return bad("Bad Request: message to edit not found");
    };
    if message["from"]["id"] != BOT {
        return bad("Bad Request: message can't be edited");
    }
    // The keyboard goes if none is given [D].
    let names = [field, "entities", "caption_entities", "reply_markup"];
    let is_given = |name: &str| fields.get(name).filter(|value| **value != json!([]));
    if names.iter().all(|name| message.get(*name).filter(|value| **value != json!([])) == is_given(name)) {
        return bad(
            "Bad Request: message is not modified: specified new message content and reply markup are exactly the same \
             as a current content and reply markup of the message",
        );
    }
    let message = message.as_object_mut().expect("BUG: a message is an object");
    message.remove("reply_markup");
    message.extend(fields);
    Ok(Value::Object(message.clone()))
}

/// Why a message cannot be deleted, if it cannot \[D\]\[S\].
fn keeps(state: &State, chat: i64, message: &Value, now_ms: i64) -> bool {
    let sent_ms = message["date"].as_i64().unwrap_or_default() * 1000;
    let is_old = now_ms - sent_ms > i64::try_from(WINDOW.as_millis()).expect("BUG: two days are short");
    let member = state.members.get(&(chat, BOT));
    let is_admin = member.is_some_and(|member| member["can_delete_messages"] == true);
    let is_ours = message["from"]["id"] == BOT;
    is_old || !(is_ours || is_admin || state.chats[&chat]["type"] == "private")
}

fn delete(state: &mut State, arguments: &Value, now_ms: i64) -> Answered {
    let chat = writable(state, arguments)?;
    let id = arguments["message_id"].as_i64().unwrap_or_default();
    match state.messages.get(&(chat, id)) {
        None => bad("Bad Request: message to delete not found"),
        Some(message) if keeps(state, chat, message, now_ms) => bad("Bad Request: message can't be deleted"),
        Some(_) => {
            state.messages.remove(&(chat, id));
            Ok(json!(true))
        }
    }
}

/// 1 to 100 ids; missing ones are skipped \[S\]. One that cannot be deleted fails the whole batch here: whether it does is not known [?].
fn delete_many(state: &mut State, arguments: &Value, now_ms: i64) -> Answered {
    let chat = writable(state, arguments)?;
    let ids: Vec<i64> =
        arguments["message_ids"].as_array().into_iter().flatten().filter_map(Value::as_i64).collect();
    if ids.is_empty() || ids.len() > 100 {
        return bad("Bad Request: message identifiers are not specified");
    }
    let there: Vec<_> = ids.into_iter().filter(|id| state.messages.contains_key(&(chat, *id))).collect();
    if there.iter().any(|id| keeps(state, chat, &state.messages[&(chat, *id)], now_ms)) {
        return bad("Bad Request: message can't be deleted");
    }
    for id in there {
        state.messages.remove(&(chat, id));
    }
    Ok(json!(true))
}
