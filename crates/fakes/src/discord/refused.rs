//! The errors of the API: status and code [D opcodes and status codes]. Must never have a code that the vendor does not list.

use axum::Json;
use axum::body::Body;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use crate::control::Refusal;

/// The answer of a method: status and object, or an error.
pub(super) type Answered = Result<(u16, Value), Refused>;

/// An error of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) status: u16,
    pub(super) code: u64,
    /// The field that is wrong, with the code of what is wrong.
    pub(super) field: Option<(&'static str, &'static str)>,
}

impl Refused {
    pub(super) const UNAUTHORIZED: Self = Self::new(401, 0);
    pub(super) const NO_METHOD: Self = Self::new(404, 0);
    pub(super) const UNKNOWN_CHANNEL: Self = Self::new(404, 10_003);
    pub(super) const UNKNOWN_GUILD: Self = Self::new(404, 10_004);
    pub(super) const UNKNOWN_MEMBER: Self = Self::new(404, 10_007);
    pub(super) const UNKNOWN_MESSAGE: Self = Self::new(404, 10_008);
    pub(super) const UNKNOWN_WEBHOOK: Self = Self::new(404, 10_015);
    pub(super) const UNKNOWN_INTERACTION: Self = Self::new(404, 10_062);
    pub(super) const ALREADY_ANSWERED: Self = Self::new(400, 40_060);
    pub(super) const MISSING_ACCESS: Self = Self::new(403, 50_001);
    pub(super) const DIRECT_CHANNEL: Self = Self::new(403, 50_003);
    pub(super) const OTHER_AUTHOR: Self = Self::new(403, 50_005);
    pub(super) const EMPTY: Self = Self::new(400, 50_006);
    pub(super) const MISSING_PERMISSION: Self = Self::new(403, 50_013);
    pub(super) const BAD_COUNT: Self = Self::new(400, 50_016);
    pub(super) const BAD_WEBHOOK_TOKEN: Self = Self::new(401, 50_027);
    pub(super) const TOO_OLD: Self = Self::new(400, 50_034);
    pub(super) const ARCHIVED: Self = Self::new(400, 50_083);
    pub(super) const NO_HISTORY: Self = Self::new(403, 160_002);
    pub(super) const LOCKED: Self = Self::new(403, 160_005);

    const fn new(status: u16, code: u64) -> Self {
        Self { status, code, field: None }
    }

    /// An invalid form body.
    pub(super) const fn form(field: &'static str, what: &'static str) -> Self {
        Self { status: 400, code: 50_035, field: Some((field, what)) }
    }

    /// The error in the platform's form. Its text is for people only: clients decide by the code.
    fn body(self) -> Value {
        let mut body = json!({"code": self.code, "message": format!("error {}", self.code)});
        if let Some((field, what)) = self.field {
            body["errors"] = json!({ field: {"_errors": [{"code": what, "message": what}]} });
        }
        body
    }
}

/// The response to a call, with the headers of its limits [D rate limits].
pub(super) fn response(answered: Answered, bucket: &str) -> Response {
    let (status, body) = match answered {
        Ok((status, body)) => (status, body),
        Err(refused) => (refused.status, refused.body()),
    };
    let status = StatusCode::from_u16(status).expect("BUG: not a status");
    let limits = limits(bucket, "4");
    match body {
        Value::Null => (status, limits).into_response(),
        body => (status, limits, Json(body)).into_response(),
    }
}

/// What a script of a test asks for, in the platform's form.
pub(super) fn refusal(refusal: Refusal, bucket: &str) -> Response {
    match refusal {
        Refusal::Wait(wait) => {
            let seconds = wait.as_secs_f64();
            let body =
                json!({"message": "You are being rate limited.", "retry_after": seconds, "global": false});
            let more = [
                (header::RETRY_AFTER, seconds.ceil().to_string()),
                (HeaderName::from_static("x-ratelimit-scope"), "user".to_owned()),
                // Without it, clients take the answer for one of the network in front of the platform.
                (header::VIA, "1.1 fake".to_owned()),
            ];
            (StatusCode::TOO_MANY_REQUESTS, limits(bucket, "0"), more, Json(body)).into_response()
        }
        Refusal::Status(status) => {
            let status = StatusCode::from_u16(status).expect("BUG: not a status");
            (status, Body::from("<html>a page that is not of the API</html>")).into_response()
        }
        Refusal::Forbidden => response(Err(Refused::MISSING_PERMISSION), bucket),
        Refusal::Gone => response(Err(Refused::UNKNOWN_MESSAGE), bucket),
    }
}

fn limits(bucket: &str, remaining: &str) -> [(HeaderName, String); 5] {
    let header = HeaderName::from_static;
    [
        (header("x-ratelimit-limit"), "5".to_owned()),
        (header("x-ratelimit-remaining"), remaining.to_owned()),
        (header("x-ratelimit-reset"), "0".to_owned()),
        (header("x-ratelimit-reset-after"), "0.001".to_owned()),
        (header("x-ratelimit-bucket"), format!("fake-{bucket}")),
    ]
}
