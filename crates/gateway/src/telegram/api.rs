//! Calls to the Telegram Bot API. Every address has the token in it, so no address leaves this file. The descriptions of errors are
//! only used to classify them, and go nowhere.

use std::time::Duration;

use reqwest::multipart::Form;
use reqwest::{Client, RequestBuilder};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use crate::failure::{Failure, Refused};
use crate::http::{self, Answer};

/// The wait for a 429 that names none.
const WAIT: Duration = Duration::from_secs(1);

/// An account of the Bot API.
#[derive(Debug)]
pub(super) struct Api {
    client: Client,
    base: String,
    token: SecretString,
}

/// What a call failed with, before it is known what the call was for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum CallError {
    /// The platform answered an edit that the text is the same already.
    NotModified,
    /// The chat has another id now. Nothing can be written under this one.
    Migrated,
    /// The platform rejected this request (400).
    Rejected(Failure),
    /// Anything else.
    Failed(Failure),
}

impl From<Failure> for CallError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        match error {
            CallError::NotModified => Self::Refused(Refused::Other),
            CallError::Migrated => Self::Refused(Refused::NotPermitted),
            CallError::Rejected(failure) | CallError::Failed(failure) => failure,
        }
    }
}

impl Api {
    pub(super) fn new(base: &str, token: SecretString) -> Result<Self, Failure> {
        Ok(Self { client: http::client()?, base: base.trim_end_matches('/').to_owned(), token })
    }

    /// Calls a method. Returns the field `result`, which can be `null`.
    pub(super) async fn call(&self, method: &str, arguments: &Value) -> Result<Value, CallError> {
        read(self.post(method).json(arguments)).await
    }

    /// Calls a method that answers after so long at the latest.
    pub(super) async fn poll(
        &self,
        method: &str,
        arguments: &Value,
        time: Duration,
    ) -> Result<Value, CallError> {
        read(self.post(method).json(arguments).timeout(time)).await
    }

    /// Calls a method with a file.
    pub(super) async fn upload(&self, method: &str, form: Form) -> Result<Value, CallError> {
        read(self.post(method).multipart(form).timeout(http::FILE)).await
    }

    /// The bytes of a file. `path` is what `getFile` answered: it is untrusted.
    pub(super) async fn download(&self, path: &str, most: u64) -> Result<Vec<u8>, Failure> {
        let is_plain = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['\\', '?', '#', '%']);
        if !path.split('/').all(is_plain) {
            return Err(Failure::Unreadable);
        }
        let address = format!("{}/file/bot{}/{path}", self.base, self.token.expose_secret());
        let sent = self
            .client
            .get(address)
            .timeout(http::FILE)
            .send()
            .await
            .map_err(|error| http::failure(&error))?;
        match sent.status().as_u16() {
            200 => {}
            404 => return Err(Failure::NotFound),
            status => return Err(of_status(status, "")),
        }
        if sent.content_length().is_some_and(|length| length > most) {
            return Err(Failure::Refused(Refused::TooLong));
        }
        let too_long = |failure| match failure {
            Failure::Unreadable => Failure::Refused(Refused::TooLong),
            other => other,
        };
        http::bytes(sent, usize::try_from(most).unwrap_or(usize::MAX)).await.map_err(too_long)
    }

    fn post(&self, method: &str) -> RequestBuilder {
        self.client.post(format!("{}/bot{}/{method}", self.base, self.token.expose_secret()))
    }
}

async fn read(request: RequestBuilder) -> Result<Value, CallError> {
    let mut answer = http::answer(request).await?;
    match answer.json["ok"].as_bool() {
        Some(true) => Ok(answer.json["result"].take()),
        Some(false) => Err(refusal(&answer)),
        // An error of a server in front of the Bot API has no form. The call may have reached the Bot API.
        None if answer.status == 429 => Err(wait(&answer).into()),
        None if answer.status >= 500 => Err(Failure::Unknown.into()),
        None => Err(Failure::Unreadable.into()),
    }
}

/// Why the Bot API refused. Its test servers answer refusals with status 200, so the code in the body comes first \[T\].
fn refusal(answer: &Answer) -> CallError {
    let code = answer.json["error_code"].as_u64().and_then(|code| u16::try_from(code).ok());
    let parameters = &answer.json["parameters"];
    if parameters["migrate_to_chat_id"].is_i64() {
        return CallError::Migrated;
    }
    let description = answer.json["description"].as_str().unwrap_or_default().to_ascii_lowercase();
    match code.unwrap_or(answer.status) {
        429 => wait(answer).into(),
        400 if description.contains("message is not modified") => CallError::NotModified,
        400 => CallError::Rejected(of_description(&description)),
        status => of_status(status, &description).into(),
    }
}

/// `parameters.retry_after` in seconds \[S\].
fn wait(answer: &Answer) -> Failure {
    let stated = answer.json["parameters"]["retry_after"].as_f64();
    let stated = stated.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    Failure::Wait { wait: stated.or_else(|| answer.retry_after()).unwrap_or(WAIT), bucket: None }
}

fn of_status(status: u16, description: &str) -> Failure {
    match status {
        // An unknown token is 401. Without the form of a token, the address is unknown, which is 404, like an unknown method [S].
        404 if description.contains("method not found") => Failure::Refused(Refused::Other),
        401 | 404 => Failure::BadToken,
        403 => Failure::Refused(Refused::NotPermitted),
        // Another poller, or a webhook [S].
        409 => Failure::Occupied,
        413 => Failure::Refused(Refused::TooLong),
        429 => Failure::Wait { wait: WAIT, bucket: None },
        500.. => Failure::Unknown,
        _ => Failure::Refused(Refused::Other),
    }
}

/// The beginnings and parts of the descriptions that Bot API server and TDLib have for a 400, in lower case \[S\]. The first row that
/// fits decides.
const DESCRIPTIONS: &[(&str, Failure)] = &[
    ("message to delete not found", Failure::NotFound),
    ("message to edit not found", Failure::NotFound),
    ("message_id_invalid", Failure::NotFound),
    ("wrong file_id", Failure::NotFound),
    ("file is temporarily unavailable", Failure::NotFound),
    ("message can't be deleted", Failure::Refused(Refused::NotPermitted)),
    ("message can't be edited", Failure::Refused(Refused::NotPermitted)),
    ("not enough rights", Failure::Refused(Refused::NotPermitted)),
    ("have no rights", Failure::Refused(Refused::NotPermitted)),
    ("administrator rights", Failure::Refused(Refused::NotPermitted)),
    ("chat_admin_required", Failure::Refused(Refused::NotPermitted)),
    ("chat_write_forbidden", Failure::Refused(Refused::NotPermitted)),
    ("chat not found", Failure::Refused(Refused::NotPermitted)),
    ("message_too_long", Failure::Refused(Refused::TooLong)),
    ("caption_too_long", Failure::Refused(Refused::TooLong)),
    ("message is too long", Failure::Refused(Refused::TooLong)),
    ("caption is too long", Failure::Refused(Refused::TooLong)),
    ("file is too big", Failure::Refused(Refused::TooLong)),
    ("query is too old", Failure::Refused(Refused::TooOld)),
    ("can't parse entities", Failure::Refused(Refused::BadFormat)),
    ("entity_", Failure::Refused(Refused::BadFormat)),
    ("entities_", Failure::Refused(Refused::BadFormat)),
    ("topic_closed", Failure::Refused(Refused::ClosedThread)),
    ("topic_deleted", Failure::Refused(Refused::ClosedThread)),
    ("message thread not found", Failure::Refused(Refused::ClosedThread)),
];

fn of_description(description: &str) -> Failure {
    let row = DESCRIPTIONS.iter().find(|(part, _)| description.contains(part));
    row.map_or(Failure::Refused(Refused::Other), |(_, failure)| failure.clone())
}
