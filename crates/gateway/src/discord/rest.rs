//! Calls of Discord's REST API, version 10, and what its errors mean. No text and no address of an answer leaves this file with an
//! error. Must never repeat a call.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, USER_AGENT};
use reqwest::{Client, Method, RequestBuilder};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use crate::failure::{Failure, Refused};
use crate::http;

/// How long we wait if the platform does not say how long.
const UNSAID: Duration = Duration::from_secs(5);

/// The bucket of the limits that hold for all calls of an account.
const GLOBAL: &str = "global";

/// The form that the platform asks of bots \[D\].
const AGENT: &str = concat!("DiscordBot (retake, ", env!("CARGO_PKG_VERSION"), ")");

/// The REST API with our token.
#[derive(Debug)]
pub(super) struct Rest {
    client: Client,
    base: String,
    token: SecretString,
}

impl Rest {
    pub(super) fn new(base: &str, token: SecretString) -> Result<Self, Failure> {
        Ok(Self { client: http::client()?, base: base.trim_end_matches('/').to_owned(), token })
    }

    pub(super) fn token(&self) -> &str {
        self.token.expose_secret()
    }

    /// A request with our token. `path` consists of fixed words and checked ids.
    pub(super) fn request(&self, method: Method, path: &str) -> Result<RequestBuilder, Failure> {
        let mut token =
            HeaderValue::from_str(&format!("Bot {}", self.token())).map_err(|_| Failure::BadToken)?;
        token.set_sensitive(true);
        Ok(self.bare(method, path).header(AUTHORIZATION, token))
    }

    /// A request without our token: those of interactions have a token of their own in the path \[D\].
    pub(super) fn bare(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}/{path}", self.base)).header(USER_AGENT, AGENT)
    }

    /// A request to another server: it gets no token.
    pub(super) fn elsewhere(&self, address: &str) -> RequestBuilder {
        self.client.get(address).header(USER_AGENT, AGENT)
    }

    pub(super) async fn get(&self, path: &str) -> Result<Value, Failure> {
        called(self.request(Method::GET, path)?, path).await
    }

    /// Calls a method, with a body unless that is null.
    pub(super) async fn call(&self, method: Method, path: &str, body: &Value) -> Result<Value, Failure> {
        let request = self.request(method, path)?;
        called(if body.is_null() { request } else { request.json(body) }, path).await
    }
}

/// Sends a request. `path` names the resource whose limits hold.
pub(super) async fn called(request: RequestBuilder, path: &str) -> Result<Value, Failure> {
    let answer = http::answer(request).await?;
    match answer.status {
        200..=299 => Ok(answer.json),
        429 => Err(wait(&answer, path)),
        _ => Err(meaning(answer.status, &answer.json)),
    }
}

/// What an error means, by status and code \[D\].
fn meaning(status: u16, json: &Value) -> Failure {
    match (status, json["code"].as_u64().unwrap_or(0)) {
        // Unknown channel, guild, member, message, user, webhook, interaction. With the channel, its messages are gone, too. The
        // token of a webhook, as which an interaction answers, is valid for 15 minutes.
        (_, 10_003 | 10_004 | 10_007 | 10_008 | 10_013 | 10_015 | 10_062 | 50_027) => Failure::NotFound,
        (401, _) => Failure::BadToken,
        // Missing access; message of another user; no messages to this person; missing permissions; system message.
        (_, 50_001 | 50_005 | 50_007 | 50_013 | 50_021) => Failure::Refused(Refused::NotPermitted),
        // A bulk deletion with too few or too many messages, or with one that is too old.
        (_, 50_016 | 50_034) => Failure::Refused(Refused::Batch),
        // The thread is archived, or locked.
        (_, 50_083 | 160_005) => Failure::Refused(Refused::ClosedThread),
        // Request entity too large.
        (413, _) | (_, 40_005) => Failure::Refused(Refused::TooLong),
        (_, 50_035) if is_too_long(&json["errors"]) => Failure::Refused(Refused::TooLong),
        (403, _) => Failure::Refused(Refused::NotPermitted),
        (404, _) => Failure::NotFound,
        // Also 502: it says that no server was available [D], but what is in between sends it, too [U].
        (500..=599, _) => Failure::Unknown,
        _ => Failure::Refused(Refused::Other),
    }
}

/// Whether the content is what was too long \[D\].
fn is_too_long(errors: &Value) -> bool {
    let errors = errors["content"]["_errors"].as_array();
    errors.is_some_and(|errors| {
        errors.iter().any(|error| error["code"].as_str() == Some("BASE_TYPE_MAX_LENGTH"))
    })
}

/// When to try again. A bucket holds for one channel, guild or webhook \[D\], so its id is a part of the bucket's name.
fn wait(answer: &http::Answer, path: &str) -> Failure {
    let header = |name: &str| text(&answer.headers, name);
    let said = answer.json["retry_after"].as_f64().and_then(|wait| Duration::try_from_secs_f64(wait).ok());
    let wait = said.or_else(|| answer.retry_after()).unwrap_or(UNSAID);
    let is_global =
        answer.json["global"].as_bool().unwrap_or(false) || header("x-ratelimit-global").is_some();
    let bucket = header("x-ratelimit-bucket").filter(|bucket| {
        bucket.len() <= 64
            && bucket.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    });
    // Blocks of the network in front of the platform name no bucket and hold for all calls [U].
    let is_global = is_global || !answer.json.is_object();
    let bucket = match bucket {
        _ if is_global => Some(GLOBAL.to_owned()),
        Some(bucket) => Some(format!("{bucket}:{}", path.split('/').nth(1).unwrap_or_default())),
        None => None,
    };
    Failure::Wait { wait, bucket }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
    use serde_json::{Value, json};

    use super::{meaning, wait};
    use crate::failure::{Failure, Refused};
    use crate::http::Answer;

    #[test]
    fn status_and_code_decide_what_an_error_means() {
        let refused = Failure::Refused;
        let rows = [
            (401, json!({"code": 0}), Failure::BadToken),
            (401, json!({"code": 50_027}), Failure::NotFound),
            (404, json!({"code": 10_008}), Failure::NotFound),
            (404, json!({"code": 10_003}), Failure::NotFound),
            (403, json!({"code": 50_001}), refused(Refused::NotPermitted)),
            (403, json!({"code": 50_013}), refused(Refused::NotPermitted)),
            (403, Value::Null, refused(Refused::NotPermitted)),
            (400, json!({"code": 50_034}), refused(Refused::Batch)),
            (400, json!({"code": 50_083}), refused(Refused::ClosedThread)),
            (403, json!({"code": 160_005}), refused(Refused::ClosedThread)),
            (413, json!({"code": 40_005}), refused(Refused::TooLong)),
            (
                400,
                json!({"code": 50_035, "errors": {"content": {"_errors": [{"code": "BASE_TYPE_MAX_LENGTH"}]}}}),
                refused(Refused::TooLong),
            ),
            (400, json!({"code": 50_035, "errors": []}), refused(Refused::Other)),
            (400, json!("text"), refused(Refused::Other)),
            (500, Value::Null, Failure::Unknown),
            (502, Value::Null, Failure::Unknown),
            (504, Value::Null, Failure::Unknown),
        ];
        for (status, json, expected) in rows {
            assert_eq!(meaning(status, &json), expected, "{status} {json}");
        }
    }

    /// Case 27: a wait holds for its bucket, and for nothing else.
    #[test]
    fn gateways_case_27_wait_names_the_bucket_of_its_channel() {
        type Row = (&'static [(&'static str, &'static str)], Value, u64, Option<&'static str>);
        let rows: [Row; 7] = [
            (
                &[("x-ratelimit-bucket", "abcd")],
                json!({"retry_after": 1.5, "global": false}),
                1_500,
                Some("abcd:7"),
            ),
            (
                &[("x-ratelimit-bucket", "abcd")],
                json!({"retry_after": 65, "global": true}),
                65_000,
                Some("global"),
            ),
            (&[("x-ratelimit-global", "true")], json!({"retry_after": 65}), 65_000, Some("global")),
            (&[], json!({"retry_after": 0.25}), 250, None),
            (&[("retry-after", "3")], json!({}), 3_000, None),
            (&[("retry-after", "600")], Value::Null, 600_000, Some("global")),
            (&[("x-ratelimit-bucket", "a b")], json!({"retry_after": "x"}), 5_000, None),
        ];
        for (headers, json, ms, bucket) in rows {
            let pairs = headers
                .iter()
                .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
            let headers: HeaderMap = pairs.collect();
            let expected =
                Failure::Wait { wait: Duration::from_millis(ms), bucket: bucket.map(str::to_owned) };
            assert_eq!(wait(&Answer { status: 429, headers, json }, "channels/7/messages"), expected);
        }
    }
}
