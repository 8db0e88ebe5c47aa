//! The routes of the REST API that the adapter and common clients use. Must never answer an unknown route.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Map, Value, json};

use super::body::{self, File};
use super::refused::{Answered, Refused, refusal, response};
use super::world::{World, object};

/// The longest body: the platform's limit for files is below \[D\].
const LONGEST: usize = 32 * 1024 * 1024;

/// A call of a method of the API.
struct Call {
    /// Its name in scripts and in the log of calls.
    name: &'static str,
    path: Vec<String>,
    query: Map<String, Value>,
    body: Value,
    files: Vec<File>,
}

/// Answers a request of the API: what is behind `/api/v10/`.
pub(super) async fn answer(world: Arc<Mutex<World>>, request: Request<Body>) -> Response {
    let (head, body) = request.into_parts();
    let Ok(bytes) = to_bytes(body, LONGEST).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let path: Vec<String> = head.uri.path().split('/').skip(3).map(str::to_owned).collect();
    let parts: Vec<&str> = path.iter().map(String::as_str).collect();
    let Some(name) = name(&head.method, &parts) else { return response(Err(Refused::NO_METHOD), "none") };
    let control = locked(&world).control.clone();
    let needs_token = !["callback", "followup"].contains(&name);
    if needs_token && !is_ours(&head.headers, &locked(&world).token) {
        control.begin(name, Value::Null);
        return response(Err(Refused::UNAUTHORIZED), name);
    }
    let Some((body, files)) = body::read(&head.headers, &bytes) else {
        return response(Err(Refused::form("body", "JSON_INVALID")), name);
    };
    let query = query(head.uri.query().unwrap_or_default());
    let arguments = json!({"path": path, "query": query, "body": body});
    let call = Call { name, path, query, body, files };
    let effect = || response(locked(&world).call(call), name);
    control.answer(name, arguments, |refused| refusal(refused, name), effect).await
}

/// The name of the method of a route.
fn name(method: &Method, path: &[&str]) -> Option<&'static str> {
    Some(match (method.as_str(), path) {
        ("GET", ["users", "@me"]) => "me",
        ("GET", ["users", "@me", "guilds"]) => "guilds",
        ("GET", ["applications" | "oauth2", ..]) if path.ends_with(&["@me"]) => "application",
        ("GET", ["gateway", "bot"]) => "gateway",
        ("GET", ["guilds", _]) => "guild",
        ("GET", ["guilds", _, "members", _]) => "member",
        ("GET", ["channels", _]) => "channel",
        ("PATCH", ["channels", _]) => "change_channel",
        ("POST", ["channels", _, "typing"]) => "typing",
        ("GET", ["channels", _, "messages"]) => "history",
        ("POST", ["channels", _, "messages"]) => "send",
        ("POST", ["channels", _, "messages", "bulk-delete"]) => "delete_many",
        ("GET", ["channels", _, "messages", _]) => "message",
        ("PATCH", ["channels", _, "messages", _]) => "edit",
        ("DELETE", ["channels", _, "messages", _]) => "delete",
        ("POST", ["interactions", _, _, "callback"]) => "callback",
        ("POST", ["webhooks", _, _]) => "followup",
        _ => return None,
    })
}

impl World {
    fn call(&mut self, call: Call) -> Answered {
        let Call { name, path, query, body, files } = call;
        let at = |position: usize| path.get(position).map_or("", String::as_str);
        match name {
            "me" => object(self.users[&self.me].clone()),
            "guilds" => {
                let named = |id: &String| json!({"id": id, "name": self.guilds[id].object["name"]});
                object(self.own_guilds().iter().map(named).collect())
            }
            "application" => object(self.application_object()),
            "gateway" => object(json!({
                "url": self.base.replacen("http", "ws", 1), "shards": 1,
                "session_start_limit": {
                    "total": 1_000, "remaining": self.live.identifies_left, "reset_after": 3_600_000, "max_concurrency": 1,
                },
            })),
            "guild" => {
                let is_in = self.own_guilds().iter().any(|id| id == at(1));
                let guild = self.guilds.get(at(1)).filter(|_| is_in).ok_or(Refused::UNKNOWN_GUILD)?;
                object(guild.object.clone())
            }
            "member" => object(self.member(at(1), at(3)).ok_or(Refused::UNKNOWN_MEMBER)?),
            "channel" => {
                self.require(at(1), 0)?;
                object(self.channels[at(1)].clone())
            }
            "change_channel" => self.change_channel(at(1), &body),
            "typing" => self.require(at(1), 0).map(|()| (204, Value::Null)),
            "history" => self.history(at(1), &query),
            "send" => self.create(at(1), &body, files),
            "delete_many" => self.delete_many(at(1), &body),
            "message" => self.one(at(1), at(3)),
            "edit" => self.edit(at(1), at(3), &body, files),
            "delete" => self.delete(at(1), at(3)),
            "callback" => self.call_back(at(1), at(2), &body),
            "followup" => self.follow_up(at(1), at(2), &body),
            _ => Err(Refused::NO_METHOD),
        }
    }

    fn application_object(&self) -> Value {
        let owner = self.users.values().next();
        json!({
            "id": self.application, "name": "retake", "description": "", "icon": null, "bot_public": false,
            "bot_require_code_grant": false, "verify_key": "00", "team": null, "owner": owner,
            "flags": self.flags, "tags": [], "summary": "",
        })
    }

    /// Changes a thread. To unarchive one that is not locked needs only the permission to send, anything else Manage Threads [D
    /// channel] or its creator [D threads].
    fn change_channel(&mut self, id: &str, body: &Value) -> Answered {
        use super::rules::{MANAGE_THREADS, SEND_MESSAGES, SEND_MESSAGES_IN_THREADS};
        self.require(id, 0)?;
        let Some(thread) = self.thread(id) else { return Err(Refused::MISSING_PERMISSION) };
        let unarchives = body["archived"].as_bool() == Some(false) && body["locked"].is_null();
        let can_write = self.has(id, SEND_MESSAGES) || self.has(id, SEND_MESSAGES_IN_THREADS);
        let is_creator = self.channels[id]["owner_id"].as_str() == Some(&self.me) && body["locked"].is_null();
        let may =
            self.has(id, MANAGE_THREADS) || !thread.is_locked && (is_creator || unarchives && can_write);
        if !may {
            return Err(Refused::MISSING_PERMISSION);
        }
        let mut changed = self.channels[id].clone();
        for name in ["archived", "locked"] {
            if let Some(value) = body[name].as_bool() {
                changed["thread_metadata"][name] = json!(value);
            }
        }
        self.channels.insert(id.to_owned(), changed.clone());
        self.deliver("THREAD_UPDATE", super::world::GUILDS, &changed);
        object(changed)
    }
}

/// A file of the server for files. Its address has a time at which it expires [D reference].
pub(super) fn file(world: &Mutex<World>, path: &str, query: &str) -> Response {
    let world = locked(world);
    let control = world.control.clone();
    control.begin("file", json!({"path": path}));
    let expires = query.strip_prefix("ex=").and_then(|time| i64::from_str_radix(time, 16).ok());
    let is_valid = expires.is_some_and(|expires| expires * 1_000 > control.now_ms());
    match world.files.get(path) {
        Some(file) if is_valid => {
            ([(header::CONTENT_TYPE, "application/octet-stream")], file.clone()).into_response()
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

fn is_ours(headers: &HeaderMap, token: &str) -> bool {
    headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()) == Some(&format!("Bot {token}"))
}

fn query(query: &str) -> Map<String, Value> {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), json!(value))).collect()
}

fn locked(world: &Mutex<World>) -> MutexGuard<'_, World> {
    world.lock().unwrap_or_else(PoisonError::into_inner)
}
