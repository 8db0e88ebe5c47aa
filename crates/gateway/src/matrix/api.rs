//! The client-server API of Matrix: addresses, the token, and what an answer says about a call. Must never put an address, the token
//! or a text of the server into an error.

use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder, Url};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use crate::failure::{Failure, Refused};
use crate::http::{self, Answer};

/// The wait where a server refuses for its rate and does not say for how long.
const UNSTATED_WAIT: Duration = Duration::from_secs(5);

/// The longest wait that we believe.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// A homeserver, and our token for it.
#[derive(Debug)]
pub(super) struct Api {
    http: Client,
    base: Url,
    token: SecretString,
}

impl Api {
    /// # Errors
    /// `Refused(Other)` if the address is none, [`Failure::Unreachable`] if TLS cannot be set up.
    pub(super) fn new(homeserver: &str, token: SecretString) -> Result<Self, Failure> {
        let base = Url::parse(homeserver).ok().filter(|url| ["http", "https"].contains(&url.scheme()));
        let base = base.ok_or(Failure::Refused(Refused::Other))?;
        Ok(Self { http: http::client()?, base, token })
    }

    /// A request without the token. `path` are unescaped segments below `/_matrix`.
    pub(super) fn bare(&self, method: Method, path: &[&str]) -> RequestBuilder {
        let mut url = self.base.clone();
        url.path_segments_mut()
            .expect("BUG: an http address has a path")
            .pop_if_empty()
            .push("_matrix")
            .extend(path);
        self.http.request(method, url)
    }

    /// A request with the token.
    pub(super) fn request(&self, method: Method, path: &[&str]) -> RequestBuilder {
        self.bare(method, path).bearer_auth(self.token.expose_secret())
    }

    /// A request to any address, without the token.
    pub(super) fn elsewhere(&self, address: Url) -> RequestBuilder {
        self.http.get(address)
    }

    /// Reads something below `/_matrix/client/v3`. A lost answer changes nothing, so it is [`Failure::Unreachable`].
    ///
    /// # Errors
    /// As [`checked`] says.
    pub(super) async fn get(&self, path: &[&str], query: &[(&str, &str)]) -> Result<Value, Failure> {
        let request = self.request(Method::GET, &below_v3(path)).query(query);
        reading(answer(request).await)
    }

    /// Changes something below `/_matrix/client/v3`.
    ///
    /// # Errors
    /// As [`checked`] says.
    pub(super) async fn change(&self, method: Method, path: &[&str], body: &Value) -> Result<Value, Failure> {
        answer(self.request(method, &below_v3(path)).json(body)).await
    }
}

fn below_v3<'a>(path: &[&'a str]) -> Vec<&'a str> {
    ["client", "v3"].into_iter().chain(path.iter().copied()).collect()
}

/// The JSON of a successful answer.
///
/// # Errors
/// As [`checked`] says.
pub(super) async fn answer(request: RequestBuilder) -> Result<Value, Failure> {
    checked(http::answer(request).await?)
}

/// A call that reads has no effect that could be unknown.
pub(super) fn reading<T>(result: Result<T, Failure>) -> Result<T, Failure> {
    result.map_err(|failure| if failure == Failure::Unknown { Failure::Unreachable } else { failure })
}

/// The JSON of a successful answer.
///
/// # Errors
/// What the status and the error code say. An error of the server (5xx) does not say whether the call had an effect.
pub(super) fn checked(answer: Answer) -> Result<Value, Failure> {
    let code = answer.json["errcode"].as_str().unwrap_or_default();
    Err(match answer.status {
        200..=299 => return Ok(answer.json),
        // `Retry-After` in whole seconds, and `retry_after_ms`, which is deprecated and still sent [D][T].
        429 => Failure::Wait { wait: wait(&answer), bucket: None },
        401 => Failure::BadToken,
        // [D]
        403 if code == "M_USER_DEACTIVATED" => Failure::BadToken,
        403 => Failure::Refused(Refused::NotPermitted),
        404 if code == "M_NOT_FOUND" => Failure::NotFound,
        // The server does not have this endpoint [D].
        404 if code == "M_UNRECOGNIZED" => Failure::Refused(Refused::Other),
        // M_TOO_LARGE [T]. A proxy before the server says the same without a code.
        413 => Failure::Refused(Refused::TooLong),
        500.. => Failure::Unknown,
        // A server of Matrix always says a code [D]; something else answers here.
        _ if code.is_empty() => Failure::Unreadable,
        _ => Failure::Refused(Refused::Other),
    })
}

fn wait(answer: &Answer) -> Duration {
    let in_body = || Some(Duration::from_millis(answer.json["retry_after_ms"].as_u64()?));
    answer.retry_after().or_else(in_body).unwrap_or(UNSTATED_WAIT).min(LONGEST_WAIT)
}

#[cfg(test)]
mod tests {
    use reqwest::Method;
    use reqwest::header::{HeaderMap, HeaderValue, RETRY_AFTER};
    use secrecy::SecretString;
    use serde_json::{Value, json};

    use super::{Api, checked};
    use crate::failure::{Failure, Refused};
    use crate::http::Answer;

    fn failure(status: u16, header: Option<&'static str>, json: Value) -> Failure {
        let headers = header.map(|value| (RETRY_AFTER, HeaderValue::from_static(value)));
        checked(Answer { status, headers: HeaderMap::from_iter(headers), json }).unwrap_err()
    }

    #[test]
    fn every_answer_of_a_server_has_a_meaning() {
        let code = |code: &str| json!({ "errcode": code, "error": "a text" });
        let cases = [
            (401, code("M_UNKNOWN_TOKEN"), Failure::BadToken),
            (403, code("M_USER_DEACTIVATED"), Failure::BadToken),
            (403, code("M_FORBIDDEN"), Failure::Refused(Refused::NotPermitted)),
            (404, code("M_NOT_FOUND"), Failure::NotFound),
            (404, code("M_UNRECOGNIZED"), Failure::Refused(Refused::Other)),
            (404, Value::Null, Failure::Unreadable),
            (302, Value::Null, Failure::Unreadable),
            (413, code("M_TOO_LARGE"), Failure::Refused(Refused::TooLong)),
            (400, code("M_BAD_JSON"), Failure::Refused(Refused::Other)),
            (502, Value::Null, Failure::Unknown),
        ];
        for (status, json, expected) in cases {
            assert_eq!(failure(status, None, json), expected, "{status}");
        }
    }

    #[test]
    fn wait_is_read_from_the_header_first_and_never_absurd() {
        let limited = |ms: Value| json!({ "errcode": "M_LIMIT_EXCEEDED", "retry_after_ms": ms });
        for (header, body, seconds) in [
            (Some("7"), limited(json!(1000)), 7),
            (None, limited(json!(2000)), 2),
            (Some("soon"), limited(json!(-3)), 5),
            (Some("1e300"), Value::Null, 5),
            (Some("99999999"), Value::Null, 86_400),
        ] {
            let Failure::Wait { wait, bucket: None } = failure(429, header, body) else {
                panic!("{header:?}")
            };
            assert_eq!(wait.as_secs(), seconds, "{header:?}");
        }
    }

    #[test]
    fn identifiers_cannot_leave_their_segment_of_the_path() {
        let api = Api::new("http://127.0.0.1:1/base/", SecretString::from("t")).unwrap();
        let request = api.bare(Method::GET, &["client", "!a/../b?c#d%2F:e"]).build().unwrap();
        assert_eq!(
            request.url().as_str(),
            "http://127.0.0.1:1/base/_matrix/client/!a%2F..%2Fb%3Fc%23d%252F:e"
        );
    }
}
