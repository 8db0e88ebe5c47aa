//! A fake Telegram Bot API. Each rule names its source: \[S\] the source of Bot API server 10.0, \[D\] the vendor's documentation. Where
//! the outcome is not known [?], the fake refuses. It must never limit rates by itself: the exact limits are not stated.

mod methods;
mod state;
mod updates;

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{FromRequest as _, Multipart, Path, Request, State as Held};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Map, Value, json};

use crate::control::{Control, Refusal};
use crate::serving::Serving;
use state::State;

/// The token of the bot.
pub const TOKEN: &str = "110201543:a-token-that-nobody-may-see";

/// The user id of the bot.
pub const BOT: i64 = 110_201_543;

/// A running fake.
#[derive(Debug)]
pub struct Telegram {
    serving: Serving,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    control: Control,
    state: Mutex<State>,
    updates: updates::Updates,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// What a method answers: its result, or an error with code, description and parameters.
type Answered = Result<Value, (u16, String, Value)>;

impl Telegram {
    /// Starts a Telegram without chats.
    pub async fn start() -> Self {
        let shared = Arc::new(Shared {
            control: Control::default(),
            state: Mutex::default(),
            updates: updates::Updates::default(),
        });
        let routes = Router::new()
            .route("/{bot}/{method}", post(call))
            .route("/file/{bot}/{*path}", get(file))
            .with_state(Arc::clone(&shared));
        Self { serving: Serving::start(routes, shared.control.clone()).await, shared }
    }

    /// Its address.
    pub fn base(&self) -> String {
        self.serving.base()
    }

    /// Ends it, and waits until nothing listens any more.
    pub async fn end(self) {
        self.serving.end().await;
    }

    /// What a test controls.
    pub fn control(&self) -> &Control {
        &self.shared.control
    }

    /// Adds a chat such as `{"id": -5, "type": "group"}`. The bot is a member of it.
    pub fn add_chat(&self, chat: Value) {
        self.shared.state().add_chat(chat);
    }

    /// Sets a membership, such as `{"status": "administrator"}`. The user 0 stands for the bot.
    pub fn set_member(&self, chat: i64, user: i64, member: Value) {
        let user = if user == 0 { BOT } else { user };
        self.shared.state().members.insert((chat, user), member);
    }

    /// Makes a supergroup of a group: the chat has the id `to` from now on.
    pub fn migrate(&self, from: i64, to: i64) {
        self.shared.state().migrated.insert(from, to);
    }

    /// Closes a topic.
    pub fn close_topic(&self, chat: i64, topic: i64) {
        self.shared.state().closed.insert((chat, topic));
    }

    /// Lets the bot read all messages of groups, or not.
    pub fn set_reads_all(&self, reads_all: bool) {
        self.shared.state().reads_all = reads_all;
    }

    /// Adds a file that can be fetched.
    pub fn add_file(&self, id: &str, path: &str, bytes: Vec<u8>) {
        self.shared.state().files.insert(id.to_owned(), (path.to_owned(), bytes));
    }

    /// The next calls of this method are refused with this code and description, one call for each.
    pub fn refuse(&self, method: &str, code: u16, description: &str) {
        self.shared.state().refusals.push((method.to_owned(), code, description.to_owned()));
    }

    /// A person writes. The fields complete or replace those of a plain message. Returns the id of the message and of the update.
    pub fn says(&self, chat: i64, person: i64, fields: Value) -> (i64, i64) {
        let now_ms = self.shared.control.now_ms();
        let message = self.shared.state().add_message(chat, person, fields, now_ms);
        let id = message["message_id"].as_i64().expect("BUG: a message has an id");
        (id, self.update("message", message))
    }

    /// Delivers an update of a kind. Returns its id.
    pub fn update(&self, kind: &str, content: Value) -> i64 {
        self.shared.updates.add(kind, content, self.shared.control.now_ms())
    }

    /// Delivers an update once more, with the same id.
    pub fn redeliver(&self, update: i64) {
        self.shared.updates.redeliver(update);
    }

    /// A message that is there.
    pub fn message(&self, chat: i64, message: i64) -> Option<Value> {
        self.shared.state().messages.get(&(chat, message)).cloned()
    }

    /// The ids of the bot's messages that are there, oldest first.
    pub fn posts(&self, chat: i64) -> Vec<i64> {
        let state = self.shared.state();
        let is_ours = |message: &Value| message["from"]["id"] == BOT;
        let ours = state.messages.iter().filter(|((at, _), message)| *at == chat && is_ours(message));
        ours.map(|((_, id), _)| *id).collect()
    }

    /// Somebody else deletes a message. Bots are not told \[D\].
    pub fn forget(&self, chat: i64, message: i64) {
        self.shared.state().messages.remove(&(chat, message));
    }

    /// The id of a callback query that can be answered.
    pub fn open_query(&self, id: &str) {
        self.shared.state().queries.insert(id.to_owned());
    }
}

async fn call(
    Held(shared): Held<Arc<Shared>>,
    Path((bot, method)): Path<(String, String)>,
    request: Request,
) -> Response {
    // An unknown token is 401 [S].
    if bot.strip_prefix("bot") != Some(TOKEN) {
        return answer(Err((401, "Unauthorized".into(), Value::Null)));
    }
    let Some(arguments) = arguments(request).await else {
        return answer(Err((400, "Bad Request: can't parse the request".into(), Value::Null)));
    };
    if method == "getUpdates" {
        return updates::get(&shared, arguments).await;
    }
    let effect = || {
        let (mut state, now_ms) = (shared.state(), shared.control.now_ms());
        answer(match state.take_refusal(&method) {
            Some((code, description)) => Err((code, description, Value::Null)),
            None => methods::run(&mut state, &method, &arguments, now_ms),
        })
    };
    let refusal = |refusal| refused(&method, refusal);
    shared.control.answer(&method, arguments.clone(), refusal, effect).await
}

/// The form that the Bot API gives a refusal \[S\].
fn refused(method: &str, refusal: Refusal) -> Response {
    match refusal {
        Refusal::Wait(time) => {
            let description = format!("Too Many Requests: retry after {}", time.as_secs());
            answer(Err((429, description, json!({ "retry_after": time.as_secs() }))))
        }
        Refusal::Status(status) => StatusCode::from_u16(status).expect("BUG: not a status").into_response(),
        Refusal::Forbidden => {
            answer(Err((403, "Forbidden: bot was blocked by the user".into(), Value::Null)))
        }
        Refusal::Gone => {
            let what = if method.starts_with("edit") { "edit" } else { "delete" };
            answer(Err((400, format!("Bad Request: message to {what} not found"), Value::Null)))
        }
    }
}

fn answer(answered: Answered) -> Response {
    let (status, body) = match answered {
        Ok(result) => (200, json!({ "ok": true, "result": result })),
        Err((code, description, parameters)) => {
            let mut body = json!({ "ok": false, "error_code": code, "description": description });
            if !parameters.is_null() {
                body["parameters"] = parameters;
            }
            (code, body)
        }
    };
    (StatusCode::from_u16(status).expect("BUG: not a status"), axum::Json(body)).into_response()
}

/// The arguments: JSON, or a form whose values are JSON where they are no text \[D\]. A file is its length.
async fn arguments(request: Request) -> Option<Value> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if !kind.is_some_and(|kind| kind.starts_with("multipart/form-data")) {
        let body = Bytes::from_request(request, &()).await.ok()?;
        return serde_json::from_slice(&body).ok();
    }
    let mut form = Multipart::from_request(request, &()).await.ok()?;
    let mut fields = Map::new();
    while let Some(field) = form.next_field().await.ok()? {
        let name = field.name()?.to_owned();
        let file_name = field.file_name().map(str::to_owned);
        let media_type = field.content_type().map(str::to_owned);
        let bytes = field.bytes().await.ok()?;
        let value = match file_name {
            Some(file) => json!({ "file_name": file, "mime_type": media_type, "file_size": bytes.len() }),
            None => {
                let text = String::from_utf8(bytes.to_vec()).ok()?;
                let is_text = ["caption", "text"].contains(&name.as_str());
                let parsed = serde_json::from_str(&text).ok().filter(|_| !is_text);
                parsed.unwrap_or(Value::String(text))
            }
        };
        fields.insert(name, value);
    }
    Some(Value::Object(fields))
}

async fn file(Held(shared): Held<Arc<Shared>>, Path((bot, path)): Path<(String, String)>) -> Response {
    if bot.strip_prefix("bot") != Some(TOKEN) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let found = shared.state().files.values().find(|(at, _)| *at == path).map(|(_, bytes)| bytes.clone());
    let effect = || found.map_or_else(|| StatusCode::NOT_FOUND.into_response(), IntoResponse::into_response);
    let refusal = |refusal| refused("file", refusal);
    shared.control.answer("file", json!({ "path": path }), refusal, effect).await
}

/// How long the Bot API keeps updates: 24 hours \[S\].
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);
