//! A fake Slack: the Web API and Socket Mode. Each rule names its source: \[D\] the vendor's documentation, \[U\] users. Where the outcome
//! is not known [?], the fake does nothing: it redelivers no envelope by itself. It must never limit rates by itself.

mod files;
mod methods;
mod sockets;
mod state;

use std::sync::{Arc, Mutex, MutexGuard};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, Request, State as Held};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

use crate::control::{Control, Refusal};
use crate::events::Events;
use crate::serving::Serving;
use state::State;

/// The bot token.
pub const BOT_TOKEN: &str = "xoxb-1-a-token-that-nobody-may-see";

/// The app token.
pub const APP_TOKEN: &str = "xapp-1-a-token-that-nobody-may-see";

/// The user id of the bot.
pub const USER: &str = "UBOT";

/// The bot id of the bot.
pub const BOT: &str = "BBOT";

/// A running fake.
#[derive(Debug)]
pub struct Slack {
    serving: Serving,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    control: Control,
    state: Mutex<State>,
    /// Envelopes without their ids.
    events: Events,
    sockets: sockets::Sockets,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Sends an event of the Events API to the open socket. Without one, it is lost [?].
    fn emit(&self, event: Value) -> usize {
        let id = format!("Ev{}", self.events.len());
        let payload = json!({ "type": "event_callback", "event_id": id, "event": event });
        self.events
            .deliver(json!({ "type": "events_api", "payload": payload, "accepts_response_payload": false }))
    }
}

/// What a method answers: its fields, or an error code.
type Answered = Result<Value, &'static str>;

impl Slack {
    /// Starts a Slack without channels. The bot has these scopes.
    pub async fn start(scopes: &[&str]) -> Self {
        let shared = Arc::new(Shared {
            control: Control::default(),
            state: Mutex::new(State { scopes: scopes.join(","), ..State::default() }),
            events: Events::default(),
            sockets: sockets::Sockets::default(),
        });
        let routes = Router::new()
            .route("/api/{method}", post(call))
            .route("/socket", get(socket))
            .route("/upload/{file}", post(files::upload))
            .route("/files/{file}/{name}", get(files::download))
            .with_state(Arc::clone(&shared));
        let serving = Serving::start(routes, shared.control.clone()).await;
        shared.state().base = serving.base();
        Self { serving, shared }
    }

    /// Its address.
    pub fn base(&self) -> String {
        self.serving.base()
    }

    /// What a test controls.
    pub fn control(&self) -> &Control {
        &self.shared.control
    }

    /// Names another address for sockets.
    pub fn set_socket(&self, address: &str) {
        self.shared.state().socket = Some(address.to_owned());
    }

    /// Adds a channel with the bot. Ids of direct messages begin with `D`.
    pub fn add_channel(&self, id: &str) {
        let is_im = id.starts_with('D');
        let channel = json!({ "id": id, "is_im": is_im, "is_member": !is_im, "is_archived": false });
        self.shared.state().channels.insert(id.to_owned(), channel);
    }

    /// Sets a field of a channel.
    pub fn set_channel(&self, id: &str, field: &str, value: Value) {
        let mut state = self.shared.state();
        state.channels.get_mut(id).expect("BUG: there is no such channel")[field] = value;
    }

    /// The next call of this method is refused with this error code.
    pub fn refuse(&self, method: &str, code: &'static str) {
        self.shared.state().refusals.push((method.to_owned(), code));
    }

    /// A person writes. The fields complete or replace those of a plain message. Returns its id and the position of its event.
    pub fn says(&self, channel: &str, person: &str, fields: Value) -> (String, usize) {
        let now_ms = self.shared.control.now_ms();
        let event = self.shared.state().add_message(channel, person, fields, now_ms);
        let ts = event["ts"].as_str().expect("BUG: a message has an id").to_owned();
        (ts, self.shared.emit(event))
    }

    /// Delivers an event of the Events API. Returns its position.
    pub fn event(&self, event: Value) -> usize {
        self.shared.emit(event)
    }

    /// Delivers a press on a button, or another payload of interactive parts. Returns its position.
    pub fn interactive(&self, payload: Value) -> usize {
        self.shared.events.deliver(json!({ "type": "interactive", "payload": payload }))
    }

    /// Delivers the envelope at a position once more, with a number of attempts \[D\].
    pub fn redeliver(&self, position: usize) {
        let mut envelope = self.shared.events.get(position).expect("BUG: there is no such event");
        envelope["retry_attempt"] = 1.into();
        envelope["retry_reason"] = "timeout".into();
        self.shared.events.deliver(envelope);
    }

    /// Asks the open socket to be replaced \[D\], and closes it.
    pub fn disconnect(&self, reason: &str) {
        self.shared.sockets.disconnect(reason);
    }

    /// Closes the open socket without a word.
    pub fn cut(&self) {
        self.shared.sockets.disconnect("");
    }

    /// A message that is there.
    pub fn message(&self, channel: &str, ts: &str) -> Option<Value> {
        self.shared.state().messages.get(&(channel.to_owned(), ts.to_owned())).cloned()
    }

    /// The ids of the bot's messages that are there, oldest first.
    pub fn posts(&self, channel: &str) -> Vec<String> {
        let state = self.shared.state();
        let ours =
            state.messages.iter().filter(|((at, _), message)| at == channel && message["user"] == USER);
        ours.map(|((_, ts), _)| ts.clone()).collect()
    }

    /// All messages of a channel that are there, also tombstones, oldest first.
    pub fn messages(&self, channel: &str) -> Vec<Value> {
        let state = self.shared.state();
        state
            .messages
            .iter()
            .filter(|((at, _), _)| at == channel)
            .map(|(_, message)| message.clone())
            .collect()
    }

    /// Adds a file that a person shared. Returns its address.
    pub fn add_file(&self, name: &str, media_type: &str, bytes: Vec<u8>) -> String {
        self.shared.state().add_file(name, media_type, bytes)
    }
}

async fn call(
    Held(shared): Held<Arc<Shared>>,
    Path(method): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let arguments = form(&body);
    let token = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let token = token.trim_start_matches("Bearer ").to_owned();
    let effect = || {
        let is_app = method == "apps.connections.open";
        let answered = match token.as_str() {
            BOT_TOKEN if is_app => Err("not_allowed_token_type"),
            APP_TOKEN if !is_app => Err("not_allowed_token_type"),
            BOT_TOKEN | APP_TOKEN => {
                let refused = shared.state().take_refusal(&method);
                refused.map_or_else(|| methods::run(&shared, &method, &arguments), Err)
            }
            _ => Err("invalid_auth"),
        };
        answer(&shared, answered)
    };
    let refusal = |refusal| refused(&method, refusal);
    shared.control.answer(&method, arguments.clone(), refusal, effect).await
}

/// The fields of a form. Those that are JSON arrays or objects are read \[D\].
fn form(body: &[u8]) -> Value {
    let mut fields = Map::new();
    let decoded = |part: &str| {
        let spaced = part.replace('+', " ");
        percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
    };
    let body = String::from_utf8_lossy(body);
    for (name, text) in body.split('&').filter_map(|pair| pair.split_once('=')) {
        let (name, text) = (decoded(name), decoded(text));
        let parsed = serde_json::from_str::<Value>(&text).ok();
        let is_read = ["blocks", "metadata", "files"].contains(&name.as_str());
        let value = parsed.filter(|_| is_read).unwrap_or(Value::String(text));
        fields.insert(name, value);
    }
    Value::Object(fields)
}

/// The form that Slack gives a refusal \[D\].
fn refused(method: &str, refusal: Refusal) -> Response {
    match refusal {
        Refusal::Wait(time) => {
            let wait = HeaderValue::from(time.as_secs());
            let body = json!({ "ok": false, "error": "ratelimited" });
            (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, wait)], axum::Json(body)).into_response()
        }
        Refusal::Status(status) => StatusCode::from_u16(status).expect("BUG: not a status").into_response(),
        Refusal::Forbidden => {
            let code = if method == "chat.delete" { "cant_delete_message" } else { "restricted_action" };
            axum::Json(json!({ "ok": false, "error": code })).into_response()
        }
        Refusal::Gone => axum::Json(json!({ "ok": false, "error": "message_not_found" })).into_response(),
    }
}

fn answer(shared: &Shared, answered: Answered) -> Response {
    let body = match answered {
        Ok(mut fields) => {
            fields["ok"] = true.into();
            fields
        }
        Err(code) => json!({ "ok": false, "error": code }),
    };
    let scopes = HeaderValue::from_str(&shared.state().scopes).expect("BUG: scopes are a header value");
    ([("x-oauth-scopes", scopes)], axum::Json(body)).into_response()
}

async fn socket(Held(shared): Held<Arc<Shared>>, request: Request<Body>) -> Response {
    let control = shared.control.clone();
    crate::socket::accept(&control, request, move |socket| sockets::serve(shared, socket))
}
