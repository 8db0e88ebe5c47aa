//! Calls to Slack's Web API. A token goes to the configured address and to Slack's host for files, and nowhere else. Failures are made
//! of error codes only.

use std::time::Duration;

use reqwest::{Client, Response, Url};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use crate::failure::{Failure, Refused};
use crate::http::{self, Answer};

/// The host from which files are fetched and to which they are uploaded \[D\].
const FILES: &str = "files.slack.com";

/// The wait for a 429 that names none.
const WAIT: Duration = Duration::from_secs(1);

/// An app in a workspace.
#[derive(Debug)]
pub(super) struct Api {
    client: Client,
    base: Url,
    bot: SecretString,
    app: SecretString,
}

/// A form of a method. Values that are no text are JSON \[D\].
pub(super) type Form = Vec<(&'static str, String)>;

impl Api {
    pub(super) fn new(base: &str, bot: SecretString, app: SecretString) -> Result<Self, Failure> {
        let base = Url::parse(base).map_err(|_| Failure::Unreadable)?;
        Ok(Self { client: http::client()?, base, bot, app })
    }

    /// Calls a method as the bot.
    pub(super) async fn call(&self, method: &str, form: &Form) -> Result<Value, Failure> {
        Ok(self.answer(method, form, &self.bot).await?.json)
    }

    /// Who the bot is, and its scopes, if the answer has them.
    pub(super) async fn test(&self) -> Result<(Value, Option<String>), Failure> {
        let answer = self.answer("auth.test", &Form::new(), &self.bot).await?;
        let scopes = answer.headers.get("x-oauth-scopes").and_then(|scopes| scopes.to_str().ok());
        let scopes = scopes.map(str::to_owned);
        Ok((answer.json, scopes))
    }

    /// The address of a new socket. It holds a secret.
    pub(super) async fn open(&self) -> Result<SecretString, Failure> {
        let answer = self.answer("apps.connections.open", &Form::new(), &self.app).await?;
        let address = answer.json["url"].as_str().ok_or(Failure::Unreadable)?;
        let is_safe = address.starts_with("wss://") || (self.is_plain() && address.starts_with("ws://"));
        if is_safe { Ok(address.into()) } else { Err(Failure::Unreadable) }
    }

    /// Whether the app token has the form of one \[D\].
    pub(super) fn has_app_token(&self) -> bool {
        self.app.expose_secret().starts_with("xapp-")
    }

    /// Uploads bytes to an address that the API gave. No token goes there.
    pub(super) async fn upload(&self, address: &str, bytes: Vec<u8>) -> Result<(), Failure> {
        let address = self.own(address)?;
        let answer = http::answer(self.client.post(address).body(bytes).timeout(http::FILE)).await?;
        match answer.status {
            200 => Ok(()),
            429 => Err(wait(&answer)),
            500.. => Err(Failure::Unknown),
            _ => Err(Failure::Refused(Refused::Other)),
        }
    }

    /// The bytes of a file at an address of a message, which is untrusted.
    pub(super) async fn download(&self, address: &str, most: u64, is_page: bool) -> Result<Vec<u8>, Failure> {
        let address = self.own(address)?;
        let request = self.client.get(address).bearer_auth(self.bot.expose_secret());
        let sent = request.timeout(http::FILE).send().await.map_err(|error| http::failure(&error))?;
        match sent.status().as_u16() {
            200 => {}
            404 | 410 => return Err(Failure::NotFound),
            429 => return Err(Failure::Wait { wait: WAIT, bucket: None }),
            500.. => return Err(Failure::Unknown),
            // Without the scope, the answer leads to a page for people [U].
            _ => return Err(Failure::Refused(Refused::NotPermitted)),
        }
        if is_html(&sent) && !is_page {
            return Err(Failure::Refused(Refused::NotPermitted));
        }
        if sent.content_length().is_some_and(|length| length > most) {
            return Err(Failure::Refused(Refused::TooLong));
        }
        match http::bytes(sent, usize::try_from(most).unwrap_or(usize::MAX)).await {
            Err(Failure::Unreadable) => Err(Failure::Refused(Refused::TooLong)),
            bytes => bytes,
        }
    }

    /// An address, if it is of the configured host or of Slack's host for files.
    fn own(&self, address: &str) -> Result<Url, Failure> {
        let address = Url::parse(address).map_err(|_| Failure::Unreadable)?;
        let is_files = address.scheme() == "https" && address.host_str() == Some(FILES);
        let is_own = address.origin() == self.base.origin();
        if is_files || is_own { Ok(address) } else { Err(Failure::Refused(Refused::Other)) }
    }

    /// Whether the configured address is without encryption, as of a server for tests.
    fn is_plain(&self) -> bool {
        self.base.scheme() == "http"
    }

    async fn answer(&self, method: &str, form: &Form, token: &SecretString) -> Result<Answer, Failure> {
        let mut address = self.base.clone();
        address.set_path(&format!("{}/api/{method}", self.base.path().trim_end_matches('/')));
        let request = self.client.post(address).bearer_auth(token.expose_secret()).form(form);
        let answer = http::answer(request).await?;
        match answer.json["ok"].as_bool() {
            _ if answer.status == 429 => Err(wait(&answer)),
            Some(true) => Ok(answer),
            Some(false) => Err(of_error(&answer)),
            None if answer.status >= 500 => Err(Failure::Unknown),
            None => Err(Failure::Unreadable),
        }
    }
}

fn is_html(response: &Response) -> bool {
    let kind = response.headers().get(reqwest::header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/html"))
}

/// `Retry-After`, in seconds \[D\].
fn wait(answer: &Answer) -> Failure {
    Failure::Wait { wait: answer.retry_after().unwrap_or(WAIT), bucket: None }
}

/// The meaning of an error code \[D\].
fn of_error(answer: &Answer) -> Failure {
    match answer.json["error"].as_str().unwrap_or_default() {
        "ratelimited" | "rate_limited" | "message_limit_exceeded" => wait(answer),
        "account_inactive"
        | "invalid_auth"
        | "not_allowed_token_type"
        | "not_authed"
        | "token_expired"
        | "token_revoked" => Failure::BadToken,
        "file_deleted" | "file_not_found" | "message_not_found" | "thread_not_found" => Failure::NotFound,
        "access_denied"
        | "cannot_reply_to_message"
        | "cant_delete_file"
        | "cant_delete_message"
        | "cant_update_message"
        | "channel_not_found"
        | "channel_type_not_supported"
        | "compliance_exports_prevent_deletion"
        | "ekm_access_denied"
        | "enterprise_is_restricted"
        | "is_archived"
        | "is_inactive"
        | "missing_scope"
        | "no_permission"
        | "not_in_channel"
        | "org_login_required"
        | "restricted_action"
        | "restricted_action_non_threadable_channel"
        | "restricted_action_read_only_channel"
        | "restricted_action_thread_only_channel"
        | "team_access_not_granted"
        | "user_is_restricted"
        | "user_not_in_channel" => Failure::Refused(Refused::NotPermitted),
        "restricted_action_thread_locked" => Failure::Refused(Refused::ClosedThread),
        "edit_window_closed" => Failure::Refused(Refused::TooOld),
        "msg_blocks_too_long" | "msg_too_long" => Failure::Refused(Refused::TooLong),
        "invalid_blocks" | "invalid_blocks_format" => Failure::Refused(Refused::BadFormat),
        // Some of it may have been done [D].
        "fatal_error" | "internal_error" | "request_timeout" | "service_unavailable" => Failure::Unknown,
        _ => Failure::Refused(Refused::Other),
    }
}
