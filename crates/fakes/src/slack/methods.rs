//! The methods of the fake Slack. Must never accept JSON where Slack takes a form only: methods that read do \[D\].

use serde_json::{Value, json};

use super::{Answered, BOT, Shared, USER, files};

/// Longer texts are truncated \[D\].
const LONGEST: usize = 40_000;

/// Carries out a method.
pub(super) fn run(shared: &Shared, method: &str, arguments: &Value) -> Answered {
    if let Some(answered) = files::run(shared, method, arguments) {
        return answered;
    }
    match method {
        "apps.connections.open" => {
            let state = shared.state();
            let usual = || format!("{}/socket?ticket=secret", state.base.replacen("http", "ws", 1));
            Ok(json!({ "url": state.socket.clone().unwrap_or_else(usual) }))
        }
        "auth.test" => Ok(json!({ "user_id": USER, "bot_id": BOT, "user": "retake", "team_id": "T1" })),
        "users.info" => {
            let id = arguments["user"].as_str().unwrap_or_default();
            Ok(
                json!({ "user": { "id": id, "name": id.to_lowercase(), "profile": { "display_name": format!("Name of {id}") } } }),
            )
        }
        "conversations.info" => {
            let found = channel(shared, arguments)?;
            Ok(json!({ "channel": shared.state().channels[&found] }))
        }
        "conversations.history" => history(shared, arguments, None),
        "conversations.replies" => {
            history(shared, arguments, Some(arguments["ts"].as_str().unwrap_or_default()))
        }
        "chat.postMessage" => post(shared, arguments),
        "chat.postEphemeral" => {
            channel(shared, arguments)?;
            Ok(json!({ "message_ts": "1.1" }))
        }
        "chat.update" => update(shared, arguments),
        "chat.delete" => delete(shared, arguments),
        _ => Err("unknown_method"),
    }
}

/// The channel, if it is there.
fn channel(shared: &Shared, arguments: &Value) -> Result<String, &'static str> {
    let id = arguments["channel"].as_str().unwrap_or_default();
    if shared.state().channels.contains_key(id) { Ok(id.to_owned()) } else { Err("channel_not_found") }
}

fn post(shared: &Shared, arguments: &Value) -> Answered {
    let id = channel(shared, arguments)?;
    let mut state = shared.state();
    let is = |field: &str| state.channels[&id][field] == true;
    if is("is_archived") {
        return Err("is_archived");
    }
    if !is("is_member") && !is("is_im") {
        return Err("not_in_channel");
    }
    let text: String = arguments["text"].as_str().unwrap_or_default().chars().take(LONGEST).collect();
    if text.is_empty() && arguments["blocks"].as_array().is_none_or(Vec::is_empty) {
        return Err("no_text");
    }
    let mut fields = json!({ "text": text });
    for name in ["blocks", "metadata", "thread_ts"] {
        if let Some(value) = arguments.get(name) {
            fields[name] = value.clone();
        }
    }
    let event = state.add_message(&id, USER, fields, shared.control.now_ms());
    drop(state);
    let ts = event["ts"].clone();
    shared.emit(event.clone());
    Ok(json!({ "channel": id, "ts": ts, "message": event }))
}

fn update(shared: &Shared, arguments: &Value) -> Answered {
    let id = channel(shared, arguments)?;
    let mut state = shared.state();
    let ts = arguments["ts"].as_str().unwrap_or_default().to_owned();
    let Some(message) = state.messages.get_mut(&(id.clone(), ts.clone())) else {
        return Err("message_not_found");
    };
    if message["user"] != USER {
        return Err("cant_update_message");
    }
    let previous = message.clone();
    // Without `blocks`, the old ones stay [D].
    for name in ["text", "blocks"] {
        if let Some(value) = arguments.get(name) {
            message[name] = value.clone();
        }
    }
    message["edited"] = json!({ "user": USER, "ts": ts });
    let changed = message.clone();
    drop(state);
    shared.emit(json!({
        "type": "message", "subtype": "message_changed", "channel": id, "ts": ts, "event_ts": ts,
        "message": changed, "previous_message": previous,
    }));
    Ok(json!({ "channel": id, "ts": ts }))
}

/// Only the bot's own messages \[D\]. A parent with replies leaves a tombstone, reported as a change; it goes with the last reply \[U\].
fn delete(shared: &Shared, arguments: &Value) -> Answered {
    let id = channel(shared, arguments)?;
    let mut state = shared.state();
    let ts = arguments["ts"].as_str().unwrap_or_default().to_owned();
    let key = (id.clone(), ts.clone());
    let Some(message) = state.messages.get(&key).cloned() else { return Err("message_not_found") };
    if message["subtype"] == "tombstone" {
        return Err("message_not_found");
    }
    if message["user"] != USER {
        return Err("cant_delete_message");
    }
    if !state.replies(&id, &ts).is_empty() {
        let tombstone = json!({
            "type": "message", "subtype": "tombstone", "user": "USLACKBOT", "hidden": true, "ts": ts, "thread_ts": ts,
            "text": "This message was deleted.",
        });
        state.messages.insert(key, tombstone.clone());
        drop(state);
        shared.emit(json!({
            "type": "message", "subtype": "message_changed", "channel": id, "event_ts": ts, "message": tombstone,
            "previous_message": message,
        }));
        return Ok(json!({ "channel": id, "ts": ts }));
    }
    state.messages.remove(&key);
    if let Some(root) = message["thread_ts"].as_str() {
        let key = (id.clone(), root.to_owned());
        let is_tombstone = state.messages.get(&key).is_some_and(|root| root["subtype"] == "tombstone");
        if is_tombstone && state.replies(&id, root).is_empty() {
            state.messages.remove(&key);
        }
    }
    drop(state);
    shared.emit(json!({
        "type": "message", "subtype": "message_deleted", "channel": id, "deleted_ts": ts, "event_ts": ts,
        "previous_message": message,
    }));
    Ok(json!({ "channel": id, "ts": ts }))
}

/// A channel's messages outside of threads, the newest first; or a thread's, the oldest first, always with its root \[D\].
fn history(shared: &Shared, arguments: &Value, thread: Option<&str>) -> Answered {
    let id = channel(shared, arguments)?;
    let state = shared.state();
    let text = |name: &str| arguments[name].as_str().unwrap_or_default();
    let limit: usize = text("limit").parse().unwrap_or(100);
    let is_there = |ts: &str, message: &Value| match thread {
        Some(root) => ts == root || (message["thread_ts"] == root && ts > text("oldest")),
        None => (message["thread_ts"].is_null() || message["thread_ts"] == ts) && ts > text("oldest"),
    };
    let mut found: Vec<Value> = state
        .messages
        .iter()
        .filter(|((at, ts), message)| *at == id && is_there(ts, message))
        .map(|(_, message)| message.clone())
        .collect();
    if thread.is_some() && found.is_empty() {
        return Err("thread_not_found");
    }
    if thread.is_none() {
        found.reverse();
    }
    // Metadata is left out unless it is asked for [D].
    if text("include_all_metadata") != "true" {
        found
            .iter_mut()
            .filter_map(Value::as_object_mut)
            .for_each(|message| drop(message.remove("metadata")));
    }
    let from: usize = text("cursor").parse().unwrap_or(0);
    let next = if from + limit < found.len() { (from + limit).to_string() } else { String::new() };
    let page: Vec<Value> = found.into_iter().skip(from).take(limit).collect();
    Ok(json!({
        "messages": page, "has_more": !next.is_empty(), "response_metadata": { "next_cursor": next },
    }))
}
