//! Files of the fake Slack: uploads and downloads. Must never give a file without the bot's token.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State as Held};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse as _, Response};
use serde_json::{Value, json};

use super::{Answered, BOT_TOKEN, Shared, USER, refused};

/// Takes the bytes of an upload. No token is needed there \[D\]; one that comes is an error of the caller.
pub(super) async fn upload(
    Held(shared): Held<Arc<Shared>>,
    Path(file): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let arguments = json!({ "file": file, "length": body.len() });
    let effect = || {
        let mut state = shared.state();
        let known = state.files.get_mut(&file).filter(|_| !headers.contains_key(header::AUTHORIZATION));
        known.map_or(StatusCode::BAD_REQUEST, |known| {
            known.bytes = Some(body.to_vec());
            StatusCode::OK
        })
    };
    let refusal = |refusal| refused("upload", refusal);
    shared.control.answer("upload", arguments, refusal, || effect().into_response()).await
}

/// Gives the bytes of a file to the bot. Anybody else gets a page to sign in, with status 200 \[U\].
pub(super) async fn download(
    Held(shared): Held<Arc<Shared>>,
    Path((file, _name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    let token = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_bot = token == format!("Bearer {BOT_TOKEN}");
    let effect = || match shared.state().files.get(&file) {
        _ if !is_bot => Html("<html>Sign in</html>").into_response(),
        Some(known) => {
            let kind = [(header::CONTENT_TYPE, known.media_type.clone())];
            (kind, known.bytes.clone().unwrap_or_default()).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    };
    let refusal = |refusal| refused("download", refusal);
    shared.control.answer("download", json!({ "file": file }), refusal, effect).await
}

/// The methods for files.
pub(super) fn run(shared: &Shared, method: &str, arguments: &Value) -> Option<Answered> {
    let text = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
    Some(match method {
        "files.getUploadURLExternal" => {
            let mut state = shared.state();
            let id = state.begin_file(&text("filename"), "application/octet-stream");
            Ok(json!({ "upload_url": format!("{}/upload/{id}", state.base), "file_id": id }))
        }
        "files.completeUploadExternal" => complete(shared, arguments),
        "files.info" => {
            let (state, id) = (shared.state(), text("file"));
            match state.files.get(&id) {
                None => Err("file_not_found"),
                Some(file) => {
                    let mut shares = json!({});
                    for (channel, ts) in &file.shares {
                        shares["public"][channel] = json!([{ "ts": ts }]);
                    }
                    Ok(json!({ "file": { "id": id, "name": file.name, "shares": shares } }))
                }
            }
        }
        "files.delete" => {
            let mut state = shared.state();
            state.files.remove(&text("file")).map_or(Err("file_not_found"), |_| Ok(json!({})))
        }
        _ => return None,
    })
}

/// Shares an uploaded file. The answer has no message \[D\].
fn complete(shared: &Shared, arguments: &Value) -> Answered {
    let channel = arguments["channel_id"].as_str().unwrap_or_default().to_owned();
    let id = arguments["files"][0]["id"].as_str().unwrap_or_default().to_owned();
    let mut state = shared.state();
    if !state.channels.contains_key(&channel) {
        return Err("channel_not_found");
    }
    if state.files.get(&id).is_none_or(|file| file.bytes.is_none()) {
        return Err("file_not_found");
    }
    let mut fields = json!({ "subtype": "file_share", "files": [{ "id": id }] });
    for (from, to) in [("initial_comment", "text"), ("thread_ts", "thread_ts")] {
        if let Some(value) = arguments.get(from) {
            fields[to] = value.clone();
        }
    }
    let now_ms = shared.control.now_ms();
    let event = state.add_message(&channel, USER, fields, now_ms);
    let ts = event["ts"].as_str().expect("BUG: a message has an id").to_owned();
    state.files.get_mut(&id).expect("BUG: it was there").shares.push((channel, ts));
    drop(state);
    shared.emit(event);
    Ok(json!({ "files": [{ "id": id }] }))
}
